//! Learning curves: `curves/NAME.jsonl`, the `metrics.jsonl` of a training run.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::output::Failure;
use crate::train::run::Row as Iteration;

/// The runs in a folder, in the order of their names; one that does not exist has none.
///
/// # Errors
/// If a file is not a run's metrics.
pub fn read(folder: &Path) -> Result<Vec<(String, Vec<Iteration>)>, Failure> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(vec![]),
        entries => entries.map_err(|error| cannot_read(folder, &error))?,
    };
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
    paths.sort();
    paths.iter().map(|path| read_file(path)).collect()
}

fn read_file(path: &Path) -> Result<(String, Vec<Iteration>), Failure> {
    let text = fs::read_to_string(path).map_err(|error| cannot_read(path, &error))?;
    let parse = |(number, line): (usize, &str)| {
        serde_json::from_str(line).map_err(|error| {
            Failure::input(format_args!("{}:{}: not a run's metrics: {error}", path.display(), number + 1))
        })
    };
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    Ok((name, text.lines().enumerate().map(parse).collect::<Result<_, _>>()?))
}

fn cannot_read(path: &Path, error: &io::Error) -> Failure {
    Failure::input(format_args!("cannot read {}: {error}", path.display()))
}
