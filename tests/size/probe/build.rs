//! Lets the linker find memory.x.

use std::env;

fn main() {
    let here = env::var("CARGO_MANIFEST_DIR").expect("cargo tells where the package is");
    println!("cargo:rustc-link-search={here}");
    println!("cargo:rerun-if-changed=memory.x");
    println!("cargo:rerun-if-changed=build.rs");
}
