//! How much of the device the playing core needs: `cargo run -p dropwise-size` (with the target thumbv6m-none-eabi
//! installed); and the whole firmware, section by section: `cargo run -p dropwise-size -- --firmware`, with
//! `--against COMMIT` beside those of another commit.
//!
//! For the core it links the probes in `probe/` for thumbv6m-none-eabi at opt-level 3 and reads the linked program:
//!
//! - flash: every section that is loaded, code, constants and the first values of variables;
//! - RAM: variables, plus the deepest stack there can be (see [`stack`]).
//!
//! Exits with 1 if a probe needs more than its limits, or if what must run from RAM in the firmware does not.

mod code;
mod firmware;
mod stack;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::{env, fs};

use object::read::elf::{ElfFile32, FileHeader, SectionHeader};
use object::{Endianness, Object, ObjectSection, elf};

const TARGET: &str = "thumbv6m-none-eabi";
const PROBES: [&str; 2] = ["bcts", "any"];

/// What the core may need of the device: see the project's goals.
const FLASH_LIMIT: u64 = 64 * 1024;
const RAM_LIMIT: u64 = 4 * 1024;

/// Where RAM begins: probe/memory.x.
const RAM_START: u64 = 0x2000_0000;

struct Needs {
    flash: u64,
    variables: u64,
    stack: u64,
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let fits = match arguments[..] {
        [] => core_fits()?,
        ["--firmware"] => firmware::print(None)?,
        ["--firmware", "--against", commit] => firmware::print(Some(commit))?,
        _ => return Err("usage: dropwise-size [--firmware [--against COMMIT]]".into()),
    };
    Ok(if fits { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Prints what the playing core needs, and says whether it fits.
fn core_fits() -> Result<bool, Box<dyn Error>> {
    let folder = build()?;
    println!(
        "{:6} {:>8} {:>10} {:>7} {:>7}   of {FLASH_LIMIT} flash, {RAM_LIMIT} RAM",
        "probe", "flash", "variables", "stack", "RAM"
    );
    let mut fits = true;
    for probe in PROBES {
        let needs = measure(&folder.join(probe))?;
        let ram = needs.variables + needs.stack;
        fits &= needs.flash < FLASH_LIMIT && ram < RAM_LIMIT;
        println!("{probe:6} {:>8} {:>10} {:>7} {ram:>7}", needs.flash, needs.variables, needs.stack);
    }
    if !fits {
        eprintln!("error: the playing core no longer fits");
    }
    Ok(fits)
}

/// Builds the probes and returns the folder they are in.
fn build() -> Result<PathBuf, Box<dyn Error>> {
    let probe = Path::new(env!("CARGO_MANIFEST_DIR")).join("probe");
    let output = probe.join("target");
    let status = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["build", "--release", "--locked", "--quiet", "--target", TARGET, "--target-dir"])
        .arg(&output)
        .current_dir(&probe)
        // Takes the place of whatever the configuration says of this target.
        .env("RUSTFLAGS", "-C link-arg=-Tlink.x -C link-arg=--nmagic")
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .status()?;
    if !status.success() {
        return Err(
            format!("the probes do not build; is the target there? rustup target add {TARGET}").into()
        );
    }
    Ok(output.join(TARGET).join("release"))
}

fn measure(path: &Path) -> Result<Needs, Box<dyn Error>> {
    let data = fs::read(path)?;
    let file = ElfFile32::<Endianness>::parse(&*data)?;
    let endian = file.elf_header().endian()?;
    let (mut flash, mut variables) = (0, 0);
    for section in file.sections() {
        let header = section.elf_section_header();
        let flags = header.sh_flags(endian);
        if flags & elf::SHF_ALLOC != elf::SHF_ALLOC {
            continue;
        }
        if header.sh_type(endian) != elf::SHT_NOBITS {
            flash += section.size();
        }
        if section.address() >= RAM_START {
            variables += section.size();
        }
    }
    // A measurement of nothing would fit every limit.
    if flash < 1024 {
        return Err(format!("{} holds no program", path.display()).into());
    }
    Ok(Needs { flash, variables, stack: stack::deepest(&file, "main")? })
}
