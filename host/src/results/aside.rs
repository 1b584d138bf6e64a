//! Long games that are under way when measuring stops: `data/SECTION.aside`, a line a game, written anew each time.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::sitting::Aside;
use crate::output::Failure;
use crate::weights::write_aside;

fn path(folder: &Path, section: &str) -> PathBuf {
    folder.join(format!("{section}.aside"))
}

/// The games of a section that were put aside; none if there is no such file.
///
/// # Errors
/// If the file cannot be read or a line of it is no game.
pub fn read(folder: &Path, section: &str) -> Result<Vec<Aside>, Failure> {
    let path = path(folder, section);
    let text = match fs::read_to_string(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(vec![]),
        text => {
            text.map_err(|error| Failure::input(format_args!("cannot read {}: {error}", path.display())))?
        }
    };
    let game = |(number, line): (usize, &str)| {
        serde_json::from_str(line).map_err(|error| {
            Failure::input(format_args!(
                "{}:{number}: {error}; delete the file, and its games are played from the start",
                path.display()
            ))
        })
    };
    (1..).zip(text.lines()).map(game).collect()
}

/// Writes the games of a section; without any there is no file.
///
/// # Errors
/// If the file system says no. What was there before is still there.
pub fn write<'a>(
    folder: &Path,
    section: &str,
    games: impl Iterator<Item = &'a Aside>,
) -> Result<(), Failure> {
    let path = path(folder, section);
    let lines = games.map(|game| serde_json::to_string(game).map(|line| line + "\n"));
    let text = lines.collect::<Result<String, _>>().map_err(Failure::input)?;
    let written = if !text.is_empty() {
        write_aside(&path, text.as_bytes())
    } else if path.exists() {
        fs::remove_file(&path)
    } else {
        Ok(())
    };
    written.map_err(|error| {
        Failure::input(format_args!(
            "cannot write {}: {error}; what was measured before is safe. Make room, then go on",
            path.display()
        ))
    })
}
