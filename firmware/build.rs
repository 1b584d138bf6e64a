//! Tells the linker how a program for the RP2040 is laid out. Said here and not in `.cargo/config.toml`, so that
//! `RUSTFLAGS` in somebody's environment cannot silently take it away.

use std::env;
use std::path::Path;

fn main() {
    let here = env::var("CARGO_MANIFEST_DIR").expect("cargo tells where the package is");
    let root = Path::new(&here).parent().expect("the firmware lies in the project");
    println!("cargo:rustc-link-search={}", root.display());
    println!("cargo:rerun-if-changed={}", root.join("memory.x").display());
    println!("cargo:rerun-if-changed=build.rs");
    // cortex-m-rt's layout, which includes memory.x; embassy-rp's boot stage; defmt's table of strings. `--nmagic`:
    // sections need not start on pages.
    for argument in ["--nmagic", "-Tlink.x", "-Tlink-rp.x", "-Tdefmt.x"] {
        println!("cargo:rustc-link-arg-bins={argument}");
    }
}
