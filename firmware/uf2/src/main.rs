//! Builds the firmware of a board and makes its UF2 file, to be dragged onto the drive that the board shows in its
//! boot loader: `cargo uf2 --board picosystem`.

mod image;
mod uf2;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::{env, fs};

use clap::{Parser, ValueEnum};

use crate::image::Image;

const TARGET: &str = "thumbv6m-none-eabi";

/// Builds the firmware of a board and makes the UF2 file that is dragged onto it
#[derive(Parser)]
#[command(name = "cargo uf2", bin_name = "cargo uf2")]
struct Arguments {
    /// The board
    #[arg(long, value_enum, default_value_t = Board::PicoOled)]
    board: Board,
    /// The file to write [default: dropwise-BOARD.uf2 in the target folder]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Convert this ELF file instead of building one
    #[arg(long, value_name = "FILE")]
    elf: Option<PathBuf>,
}

/// The boards, as the firmware's cargo features name them.
#[derive(Clone, Copy, ValueEnum)]
enum Board {
    PicoOled,
    Picosystem,
    #[value(name = "pico-lcd-1.3")]
    PicoLcd13,
    Thumby,
}

impl Board {
    fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let board = arguments.board.name();
    let target = target_folder();
    let elf = match &arguments.elf {
        Some(elf) => elf.clone(),
        None => build(&board, &target)?,
    };
    let data = fs::read(&elf).map_err(|error| format!("cannot read {}: {error}", elf.display()))?;
    let image = Image::from_elf(&data).map_err(|error| format!("{}: {error}", elf.display()))?;
    let file = uf2::write(&image);
    // What a boot loader would make of it must be the program, byte for byte.
    if uf2::read(&file)? != image {
        return Err("the file does not hold the program; please report this".into());
    }
    let out = arguments.out.clone().unwrap_or_else(|| target.join(format!("dropwise-{board}.uf2")));
    fs::write(&out, &file).map_err(|error| format!("cannot write {}: {error}", out.display()))?;
    eprintln!("{} bytes of program in {} blocks", image.len(), file.len() / uf2::BLOCK);
    println!("{}", out.display());
    Ok(())
}

/// Where cargo puts what it builds.
fn target_folder() -> PathBuf {
    let chosen = env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    chosen.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target"))
}

/// Builds the firmware and returns the ELF file. The next board's takes its place.
fn build(board: &str, target: &Path) -> Result<PathBuf, Box<dyn Error>> {
    let status = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["build", "--release", "--package", "dropwise-firmware", "--target", TARGET])
        .args(["--no-default-features", "--features", board, "--target-dir"])
        .arg(target)
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."))
        .status()?;
    if !status.success() {
        return Err(
            format!("the firmware does not build; is the target there? rustup target add {TARGET}").into()
        );
    }
    Ok(target.join(TARGET).join("release/firmware"))
}
