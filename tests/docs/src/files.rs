//! The project's files.

use std::fs;
use std::path::{Path, PathBuf};

/// Folders that hold nothing of ours: built, fetched or made by running.
const FOREIGN: [&str; 7] = [".git", "target", "node_modules", "runs", "corpus", "artifacts", "coverage"];

/// The project's folder.
///
/// # Panics
/// Never: this crate lies two folders deep in it.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("two folders deep")
}

/// The files whose names end so, relative to the project's folder.
///
/// # Panics
/// If a folder cannot be read.
pub fn ending_in(endings: &[&str]) -> Vec<PathBuf> {
    let (mut open, mut found) = (vec![root().to_path_buf()], vec![]);
    while let Some(folder) = open.pop() {
        let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        for entry in entries {
            let entry = entry.unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
            let (path, name) = (entry.path(), entry.file_name());
            let name = name.to_string_lossy();
            if path.is_dir() {
                if !FOREIGN.contains(&&*name) {
                    open.push(path);
                }
            } else if endings.iter().any(|ending| name.ends_with(ending)) {
                found.push(path.strip_prefix(root()).unwrap_or(&path).to_path_buf());
            }
        }
    }
    found.sort();
    found
}
