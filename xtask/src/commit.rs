//! The commit that a change is compared with.

use std::fs;
use std::path::{Path, PathBuf};

use crate::shell::{Outcome, command, printed, root, run, succeeds};

/// What is not committed yet is compared with the last commit, a commit with the one before; the first one with nothing.
pub(crate) fn base() -> Option<String> {
    let base = if succeeds("git diff --quiet HEAD") { "HEAD~1" } else { "HEAD" };
    let commit = printed(&format!("git rev-parse --short --verify --quiet {base}^{{commit}}")).ok()?;
    Some(commit.trim().to_owned())
}

/// Whether these files are the same at a commit.
pub(crate) fn is_unchanged(commit: &str, files: &str) -> bool {
    succeeds(&format!("git diff --quiet {commit} -- {files}"))
}

/// The project as it was at a commit, in a folder of its own.
pub(crate) fn checked_out(commit: &str, folder: &Path) -> Outcome<PathBuf> {
    let tree = folder.join("tree");
    if tree.exists() {
        fs::remove_dir_all(&tree).map_err(|error| format!("cannot remove {}: {error}", tree.display()))?;
    }
    run(command("git clone --quiet --shared --no-checkout").arg(root()).arg(&tree))?;
    run(command("git checkout --quiet --detach").arg(commit).current_dir(&tree))?;
    Ok(tree)
}
