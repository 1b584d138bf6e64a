//! What the emulator needs.

use std::env;
use std::path::Path;
use std::process::{Command, Stdio};

/// The target that firmware is built for.
pub(crate) const TARGET: &str = "thumbv6m-none-eabi";

/// The package and its version, as package-lock.json has them.
const PACKAGE: &str = "node_modules/rp2040js/package.json";
const VERSION: &str = "\"version\": \"1.4.1\"";

/// Node's major version that the packages ask for.
const NODE: u32 = 18;

/// What is missing for the emulator to run, and how to get it.
pub fn missing() -> Option<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    match node_version() {
        None => return Some("Node is not installed. Run tests/emulator/setup".into()),
        Some(major) if major < NODE => {
            return Some(format!(
                "Node is version {major}, and the emulator needs {NODE}. Run tests/emulator/setup"
            ));
        }
        Some(_) => {}
    }
    if !std::fs::read_to_string(folder.join(PACKAGE)).is_ok_and(|text| text.contains(VERSION)) {
        return Some("the package rp2040js 1.4.1 is not installed. Run tests/emulator/setup".into());
    }
    if Command::new("socat").arg("-V").output().is_err() {
        return Some("socat is not installed. Run tests/emulator/setup".into());
    }
    if !has_target() {
        return Some(format!("the target is not installed. Run: rustup target add {TARGET}"));
    }
    None
}

fn node_version() -> Option<u32> {
    let output = Command::new("node").arg("--version").output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    text.trim().strip_prefix('v')?.split('.').next()?.parse().ok()
}

/// Whether the compiler has a library for the target.
fn has_target() -> bool {
    let output = Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()))
        .args(["--print", "target-libdir", "--target", TARGET])
        .stderr(Stdio::null())
        .output();
    output.is_ok_and(|output| Path::new(String::from_utf8_lossy(&output.stdout).trim()).exists())
}
