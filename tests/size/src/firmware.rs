//! How much of the device the whole firmware takes, section by section, and that what must run from RAM does.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use object::read::elf::{ElfFile32, FileHeader, SectionHeader};
use object::{Endianness, Object, ObjectSection, ObjectSymbol, elf};

use crate::{RAM_START, TARGET, code};

/// The boards, as the firmware's cargo features name them.
const BOARDS: [&str; 4] = ["pico-oled", "picosystem", "pico-lcd-1.3", "thumby"];

/// What must run from RAM, with all it calls: the loops of firmware/src/think.rs, and embassy-rp's handler in which core 1
/// waits while core 0 has taken the flash over to write to it.
const HOT: [(&str, &str); 3] = [
    ("the turbo loop", "think6sprint"),
    ("the bench's loop", "think4race"),
    ("core 1's wait for the flash", "SIO_IRQ_PROC1"),
];

/// What it may call outside RAM: what ends it for good.
const COLD: [&str; 3] = ["panicking", "expect_failed", "slice_index_fail"];

/// Bytes of flash and of RAM.
type Size = [u64; 2];

/// Sections by their names.
type Sections = BTreeMap<String, Size>;

/// Prints the sizes of every board's firmware, and how they differ from those of a commit. Returns whether what is hot
/// runs from RAM.
pub(crate) fn print(against: Option<&str>) -> Result<bool, Box<dyn Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let program = env::current_exe()?;
    let target = program.ancestors().nth(2).ok_or("cargo puts programs two folders deep")?;
    let before = match against {
        Some(commit) if is_unchanged(&root, commit)? => {
            println!("What the firmware is made of is as it was at {commit}.");
            BTreeMap::new()
        }
        Some(commit) => at_commit(&root, commit, &target.join("size"))?,
        None => BTreeMap::new(),
    };
    let mut in_ram = true;
    for board in BOARDS {
        let data = fs::read(build(&root, board, target)?)?;
        let file = ElfFile32::<Endianness>::parse(&*data)?;
        let sections = sections(&file)?;
        let old = before.get(board);
        let change = if old.is_some() { "  and their change" } else { "" };
        println!("{board:15} {:>10} {:>10}{change}", "flash", "RAM");
        let mut total = [0, 0];
        for (name, size) in &sections {
            println!("  {name:13} {}", row(*size, old.and_then(|old| old.get(name).copied())));
            total = [total[0] + size[0], total[1] + size[1]];
        }
        let old_total =
            old.map(|old| old.values().fold([0, 0], |sum, size| [sum[0] + size[0], sum[1] + size[1]]));
        println!("  {:13} {}", "all", row(total, old_total));
        for (what, entry) in HOT {
            for name in outside_ram(&file, entry).map_err(|error| format!("{what}: {error}"))? {
                println!("  {what} calls {name} in flash");
                in_ram = false;
            }
        }
    }
    Ok(in_ram)
}

fn row(size: Size, old: Option<Size>) -> String {
    let mut row = String::new();
    for value in size {
        row += &if value == 0 { format!("{:>10} ", "-") } else { format!("{value:>10} ") };
    }
    if let Some(old) = old {
        for (value, old) in size.into_iter().zip(old) {
            let change = value as i64 - old as i64;
            row += &if change == 0 { format!("{:>8}", "=") } else { format!("{change:>+8}") };
        }
    }
    row.trim_end().to_owned()
}

/// Builds a board's firmware, in the folder where `cargo firmware` does, which has most of it compiled already; returns the
/// linked program. The next board's takes its place.
fn build(root: &Path, board: &str, target: &Path) -> Result<PathBuf, Box<dyn Error>> {
    let status = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args([
            "build",
            "--release",
            "--locked",
            "--quiet",
            "--package",
            "dropwise-firmware",
            "--target",
            TARGET,
        ])
        .args(["--no-default-features", "--features", board, "--target-dir"])
        .arg(target)
        .current_dir(root)
        .status()?;
    if !status.success() {
        return Err(format!(
            "the firmware for {board} does not build; is the target there? rustup target add {TARGET}"
        )
        .into());
    }
    Ok(target.join(TARGET).join("release/firmware"))
}

/// The sections that take flash or RAM, by name.
fn sections(file: &ElfFile32<'_, Endianness>) -> Result<Sections, Box<dyn Error>> {
    let endian = file.elf_header().endian()?;
    let mut sections = BTreeMap::new();
    for section in file.sections() {
        let header = section.elf_section_header();
        if header.sh_flags(endian) & elf::SHF_ALLOC != elf::SHF_ALLOC || section.size() == 0 {
            continue;
        }
        let flash = if header.sh_type(endian) == elf::SHT_NOBITS { 0 } else { section.size() };
        let ram = if section.address() >= RAM_START { section.size() } else { 0 };
        sections.insert(section.name()?.to_owned(), [flash, ram]);
    }
    // Core 0's stack is a region of its own, without a section.
    let address = |name: &str| file.symbol_by_name(name).map_or(0, |symbol| symbol.address());
    sections.insert("stack 0".to_owned(), [0, address("_stack_start") - address("_stack_end")]);
    Ok(sections)
}

/// The functions in flash that one in RAM can come to.
fn outside_ram(file: &ElfFile32<'_, Endianness>, entry: &str) -> Result<Vec<String>, Box<dyn Error>> {
    let functions = code::functions(file)?;
    let mut in_ram = functions.range(RAM_START..);
    let (&start, _) = in_ram.find(|(_, function)| function.name.contains(entry)).ok_or("it is not in RAM")?;
    let (mut open, mut seen, mut outside) = (vec![start], BTreeSet::new(), Vec::new());
    while let Some(address) = open.pop() {
        let function = functions.get(&address).ok_or_else(|| format!("{address:#x} is no function"))?;
        if !seen.insert(address) || COLD.iter().any(|cold| function.name.contains(cold)) {
            continue;
        }
        if let Some(at) = function.indirect {
            return Err(format!("{} calls through a pointer at {at:#x}", function.name).into());
        }
        if address < RAM_START {
            outside.push(function.name.clone());
        } else {
            open.extend(&function.calls);
        }
    }
    Ok(outside)
}

/// Whether what the firmware is made of is the same at a commit.
fn is_unchanged(root: &Path, commit: &str) -> Result<bool, Box<dyn Error>> {
    let status = Command::new("git")
        .args(["diff", "--quiet", commit, "--"])
        .args(["core", "firmware", "memory.x", "Cargo.toml", "Cargo.lock", ".cargo"])
        .current_dir(root)
        .status()?;
    match status.code() {
        Some(code @ 0..=1) => Ok(code == 0),
        _ => Err(format!("git does not know the commit {commit}").into()),
    }
}

/// The sections of every board's firmware at a commit; of none if the commit has no firmware. Built in a folder of its own:
/// cargo tells the members of a workspace by their places in it, and would mix the two.
fn at_commit(
    root: &Path,
    commit: &str,
    output: &Path,
) -> Result<BTreeMap<&'static str, Sections>, Box<dyn Error>> {
    let (tree, archive) = (output.join("tree"), output.join("tree.tar"));
    if tree.exists() {
        fs::remove_dir_all(&tree)?;
    }
    fs::create_dir_all(&tree)?;
    let packed = Command::new("git")
        .args(["archive", "--output"])
        .arg(&archive)
        .arg(commit)
        .current_dir(root)
        .status()?;
    if !packed.success() {
        return Err(format!("git does not know the commit {commit}").into());
    }
    // With new times: cargo would take older files for those that it compiled the last time.
    if !Command::new("tar").arg("-xmf").arg(&archive).current_dir(&tree).status()?.success() {
        return Err(format!("cannot unpack {}", archive.display()).into());
    }
    let mut sizes = BTreeMap::new();
    if tree.join("firmware").is_dir() {
        for board in BOARDS {
            let data = fs::read(build(&tree, board, output)?)?;
            sizes.insert(board, sections(&ElfFile32::<Endianness>::parse(&*data)?)?);
        }
    }
    Ok(sizes)
}
