//! What a release consists of, in one folder: firmware for every board, the host program with its manual and its
//! completions, the players' weights, and the checksums of all of it.

use std::env::consts::EXE_SUFFIX;
use std::fs;
use std::io::Error;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::shell::{Outcome, command, root, run, sh, stdout, target};
use crate::step::{BOARDS, TARGET, target_installed};

/// Shells that there are completions for, and the files' names.
const SHELLS: [(&str, &str); 3] = [("bash", "host.bash"), ("zsh", "_host"), ("fish", "host.fish")];

/// Makes the folder anew.
pub(crate) fn make() -> Outcome {
    let folder = target().join(concat!("dropwise-", env!("CARGO_PKG_VERSION")));
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(|error| told("cannot remove", &folder, &error))?;
    }
    for part in ["firmware", "players", "completions"] {
        let part = folder.join(part);
        fs::create_dir_all(&part).map_err(|error| told("cannot make", &part, &error))?;
    }
    firmware(&folder.join("firmware"))?;
    host(&folder)?;
    for file in ["LICENSE-MIT", "LICENSE-APACHE", "CHANGELOG.md"] {
        copy(&root().join(file), &folder.join(file))?;
    }
    checksums(&folder)?;
    println!("{}", folder.display());
    Ok(())
}

/// A UF2 file for people without a probe and an ELF file for those with one, for every board.
fn firmware(folder: &Path) -> Outcome {
    target_installed()?;
    for board in BOARDS {
        let uf2 = folder.join(format!("dropwise-{board}.uf2"));
        run(command("cargo uf2 --board").args([board, "--out"]).arg(&uf2))?;
        // Where `cargo uf2` leaves what it has built the file from; the next board's takes its place.
        let elf = target().join(TARGET).join("release/firmware");
        copy(&elf, &folder.join(format!("dropwise-{board}.elf")))?;
    }
    Ok(())
}

/// The program, what it can tell of itself, and every player that is built in.
fn host(folder: &Path) -> Outcome {
    sh("cargo build --release --locked --package host")?;
    let name = format!("host{EXE_SUFFIX}");
    let program = folder.join(&name);
    copy(&target().join("release").join(&name), &program)?;
    let tell = |arguments: &[&str]| stdout(Command::new(&program).args(arguments).current_dir(root()));
    run(Command::new(&program).args(["man", "--out"]).arg(folder.join("man")))?;
    for (shell, file) in SHELLS {
        write(&folder.join("completions").join(file), &tell(&["completions", shell])?)?;
    }
    let players = tell(&["players", "--json"])?;
    for player in players.lines() {
        let player: Value = serde_json::from_str(player).map_err(|error| format!("{error} in {player}"))?;
        let name = player["name"].as_str().ok_or_else(|| format!("a player without a name: {player}"))?;
        let file = folder.join("players").join(format!("{name}.toml"));
        run(Command::new(&program).args(["players", name, "--save"]).arg(file))?;
    }
    Ok(())
}

/// SHA256SUMS, as `sha256sum --check` reads it.
fn checksums(folder: &Path) -> Outcome {
    let mut files = vec![];
    walk(folder, &mut files)?;
    files.sort();
    let mut sums = String::new();
    for file in files {
        let bytes = fs::read(&file).map_err(|error| told("cannot read", &file, &error))?;
        let name = file.strip_prefix(folder).unwrap_or(&file).display();
        let digest: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        sums += &format!("{digest}  {name}\n");
    }
    write(&folder.join("SHA256SUMS"), &sums)
}

fn walk(folder: &Path, files: &mut Vec<PathBuf>) -> Outcome {
    let failed = |error| told("cannot list", folder, &error);
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.is_dir() {
            walk(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}

fn copy(from: &Path, to: &Path) -> Outcome {
    fs::copy(from, to).map(|_| ()).map_err(|error| told("cannot copy", from, &error))
}

fn write(file: &Path, text: &str) -> Outcome {
    fs::write(file, text).map_err(|error| told("cannot write", file, &error))
}

fn told(what: &str, path: &Path, error: &Error) -> String {
    format!("{what} {}: {error}", path.display())
}
