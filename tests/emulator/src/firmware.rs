//! The firmware: built as a user builds it, once a board, and taken apart.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::{env, fs};

use defmt_decoder::Table;
use object::read::elf::{ElfFile32, ProgramHeader};
use object::{Endianness, Object, ObjectSymbol};

use crate::board::Board;
use crate::setup::TARGET;

/// Flash as the cores see it.
const FLASH: u32 = 0x1000_0000;

/// A linked program.
pub struct Firmware {
    /// Where in the flash what belongs.
    pub(crate) parts: Vec<(u32, Vec<u8>)>,
    symbols: HashMap<String, u32>,
    pub(crate) logs: &'static Table,
}

static BUILT: Mutex<Option<HashMap<Board, &'static Firmware>>> = Mutex::new(None);

impl Firmware {
    /// The firmware for a board, from the sources as they are.
    ///
    /// # Panics
    /// If it does not build.
    pub fn of(board: Board) -> &'static Firmware {
        // A panic in here says why; whoever comes next tries again.
        let mut built = BUILT.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let built = built.get_or_insert_with(HashMap::new);
        built.entry(board).or_insert_with(|| Box::leak(Box::new(Firmware::read(&build(board)))))
    }

    /// A program from its ELF file.
    ///
    /// # Panics
    /// If it cannot be read, or has no logs by defmt.
    pub fn read(path: &Path) -> Firmware {
        let data = fs::read(path).unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()));
        let parts = |error| -> ! { panic!("{} is no ELF file for the chip: {error}", path.display()) };
        let elf = ElfFile32::<Endianness>::parse(&*data).unwrap_or_else(|error| parts(error));
        let endian = elf.endian();
        let parts = elf
            .elf_program_headers()
            .iter()
            .filter(|header| header.p_type(endian) == object::elf::PT_LOAD && header.p_filesz(endian) > 0)
            .map(|header| {
                let bytes = header.data(endian, &*data).expect("a segment lies within its file");
                (header.p_paddr(endian) - FLASH, bytes.to_vec())
            })
            .collect();
        let symbols = elf
            .symbols()
            .filter_map(|symbol| Some((symbol.name().ok()?.to_owned(), symbol.address() as u32)))
            .collect();
        let table = Table::parse(&data).ok().flatten();
        let table = table.unwrap_or_else(|| panic!("{} has no table of logs (defmt)", path.display()));
        Firmware { parts, symbols, logs: Box::leak(Box::new(table)) }
    }

    /// The address of a symbol.
    ///
    /// # Panics
    /// If there is none of this name.
    pub fn address(&self, symbol: &str) -> u32 {
        self.find(symbol).unwrap_or_else(|| panic!("the firmware has no symbol {symbol}"))
    }

    /// The address of a symbol, if there is one.
    pub fn find(&self, symbol: &str) -> Option<u32> {
        self.symbols.get(symbol).copied()
    }

    /// The addresses of the symbols whose name contains this: names of functions are mangled.
    pub fn find_all(&self, part: &str) -> Vec<u32> {
        let named = self.symbols.iter().filter(|(name, _)| name.contains(part));
        named.map(|(_, address)| *address).collect()
    }
}

/// Builds the firmware where `cargo firmware` does, which has most of it compiled already.
fn build(board: Board) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let target = target_folder();
    let status = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["build", "--release", "--locked", "--quiet", "--package", "dropwise-firmware"])
        .args(["--target", TARGET, "--no-default-features", "--features", board.name(), "--target-dir"])
        .arg(&target)
        .current_dir(root)
        .env("DEFMT_LOG", "info")
        .status();
    let built = status.is_ok_and(|status| status.success());
    assert!(built, "the firmware for {} does not build: see above", board.name());
    // The next board's takes the same place.
    let linked = target.join(TARGET).join("release/firmware");
    let kept = own_folder().join(format!("{}.elf", board.name()));
    fs::copy(&linked, &kept).unwrap_or_else(|error| panic!("cannot copy {}: {error}", linked.display()));
    kept
}

/// Where this crate leaves files, in cargo's target folder.
pub(crate) fn own_folder() -> PathBuf {
    let folder = target_folder().join("emulator");
    fs::create_dir_all(&folder).unwrap_or_else(|error| panic!("cannot make {}: {error}", folder.display()));
    folder
}

/// Cargo's target folder: this program runs from debug/deps or the like in it.
pub(crate) fn target_folder() -> PathBuf {
    let program = env::current_exe().expect("a program knows where it is");
    program.ancestors().nth(3).expect("cargo puts tests three folders deep").to_path_buf()
}
