//! The command `host`, for tests that type it.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The program, built from the sources as they are, as the firmware is.
///
/// # Panics
/// If it does not build.
pub fn host() -> &'static Path {
    static HOST: OnceLock<PathBuf> = OnceLock::new();
    HOST.get_or_init(|| {
        let target = crate::firmware::target_folder();
        let status = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
            .args(["build", "--locked", "--quiet", "--package", "host", "--target-dir"])
            .arg(&target)
            .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."))
            .status();
        assert!(status.is_ok_and(|status| status.success()), "host does not build: see above");
        target.join("debug/host")
    })
}
