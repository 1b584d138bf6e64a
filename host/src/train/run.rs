//! A training run on disk: a folder that a run can be continued from, whatever happened to the program.
//!
//! ```text
//!     runs/NAME/
//!       config.toml     what is learned and how: Config
//!       metrics.jsonl   one line an iteration: Row
//!       checkpoint      the optimiser after the last complete iteration: Checkpoint
//!       weights.toml    the player that was chosen, once the run has ended
//!       curve.svg       the run as a picture
//! ```
//!
//! An iteration is on disk when its checkpoint is. The metrics are appended and synced first, then the checkpoint is
//! written aside, synced and renamed; it says how long the metrics were. So a program that ends anywhere leaves the
//! checkpoint of a complete iteration and at most some metrics too many, which are cut off before going on.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use dropwise_core::game::digest;
use serde::{Deserialize, Serialize};

use super::config::Config;
use super::learner::Learner;
use super::race::Limit;
use crate::output::Failure;
use crate::weights::{Weights, write_aside};

/// The names of a run's files.
pub const CONFIG: &str = "config.toml";
/// One line an iteration.
pub const METRICS: &str = "metrics.jsonl";
/// The optimiser after the last complete iteration.
pub const CHECKPOINT: &str = "checkpoint";
/// The player that was chosen.
pub const WEIGHTS: &str = "weights.toml";
/// The run as a picture.
pub const CURVE: &str = "curve.svg";

/// The version of the checkpoint's format, which is that of the optimisers' states.
pub const CHECKPOINT_VERSION: u32 = 1;

/// What a checkpoint's first line starts with; then come its version, its length in bytes and its checksum.
const MAGIC: &str = "dropwise-checkpoint";

/// What is known after an iteration: a line of `metrics.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The iteration, from 1.
    pub iteration: u64,
    /// Seconds of training so far.
    pub seconds: f64,
    /// Pieces placed by candidates so far.
    pub pieces: u64,
    /// Games played by candidates so far.
    pub games: u64,
    /// Games that races have spared so far.
    pub games_spared: u64,
    /// The fittest, the middle and the least fit candidate.
    pub fitness: [f64; 3],
    /// The favourite's mean lines on games of its own.
    pub mean: f64,
    /// Lower end of its 95 % interval; none for a single game.
    pub ci95_low: Option<f64>,
    /// Upper end of its 95 % interval; none for a single game.
    pub ci95_high: Option<f64>,
    /// How far the candidates are spread.
    pub spread: f64,
    /// The favourite.
    pub weights: Vec<f64>,
    /// Of the games' moves.
    pub digest: String,
}

/// All that it takes to go on after an iteration.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Checkpoint {
    /// Complete iterations.
    pub iteration: u64,
    /// Seconds of training so far.
    pub seconds: f64,
    /// Pieces placed by candidates so far.
    pub pieces: u64,
    /// Games played by candidates so far.
    pub games: u64,
    /// Games that races have spared so far.
    pub games_spared: u64,
    /// How long the metrics are, in bytes.
    pub metrics: u64,
    /// The games a race may last, if candidates race.
    pub race_limit: Option<Limit>,
    /// The last favourites, the newest last.
    pub favourites: Vec<Vec<f64>>,
    /// The optimiser.
    pub learner: Learner,
}

impl Checkpoint {
    /// Before the first iteration.
    pub fn start(config: &Config) -> Checkpoint {
        Checkpoint {
            iteration: 0,
            seconds: 0.0,
            pieces: 0,
            games: 0,
            games_spared: 0,
            metrics: 0,
            race_limit: config.race.as_ref().map(Limit::new),
            favourites: vec![],
            learner: config.method.start(),
        }
    }

    /// As it stands in its file.
    ///
    /// # Errors
    /// If the state cannot be written down.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Failure> {
        let state = postcard::to_allocvec(self).map_err(Failure::input)?;
        let sum = checksum(&state);
        let mut bytes = format!("{MAGIC} {CHECKPOINT_VERSION} {} {sum:016x}\n", state.len()).into_bytes();
        bytes.extend(state);
        Ok(bytes)
    }

    /// Reads what [`Checkpoint::to_bytes`] wrote.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn from_bytes(bytes: &[u8]) -> Result<Checkpoint, String> {
        const DAMAGED: &str = "it is cut off or damaged";
        let end = bytes.iter().take(128).position(|&byte| byte == b'\n');
        let head = end.and_then(|end| std::str::from_utf8(&bytes[..end]).ok());
        let (Some(end), Some(head)) = (end, head) else { return Err(DAMAGED.into()) };
        let mut words = head.split(' ');
        if words.next() != Some(MAGIC) {
            return Err("it is not a checkpoint".into());
        }
        let version = words.next().and_then(|word| word.parse::<u32>().ok()).ok_or(DAMAGED)?;
        if version != CHECKPOINT_VERSION {
            return Err(format!(
                "it has version {version}, but this program reads version {CHECKPOINT_VERSION}; resume with the program \
                 that wrote it"
            ));
        }
        let length = words.next().and_then(|word| word.parse::<usize>().ok()).ok_or(DAMAGED)?;
        let sum = words.next().and_then(|word| u64::from_str_radix(word, 16).ok()).ok_or(DAMAGED)?;
        let state = &bytes[end + 1..];
        if state.len() != length || checksum(state) != sum || words.next().is_some() {
            return Err(DAMAGED.into());
        }
        let (checkpoint, rest) =
            postcard::take_from_bytes(state).map_err(|error| format!("{DAMAGED}: {error}"))?;
        if rest.is_empty() { Ok(checkpoint) } else { Err(DAMAGED.into()) }
    }
}

fn checksum(bytes: &[u8]) -> u64 {
    digest(bytes.iter().map(|&byte| u64::from(byte)))
}

/// A run's folder, held by this program alone.
#[derive(Debug)]
pub struct Run {
    /// What it is called.
    pub name: String,
    folder: PathBuf,
    /// What it learns and how.
    pub config: Config,
    metrics: File,
}

impl Run {
    /// Begins a run. The folder appears with all that a resumption needs, or not at all.
    ///
    /// # Errors
    /// If there is a run of this name, or the file system says no.
    pub fn create(parent: &Path, name: &str, config: Config) -> Result<(Run, Checkpoint), Failure> {
        check_name(name)?;
        let folder = parent.join(name);
        let told = |error: io::Error| cannot_write(&folder, &error);
        let exists = || {
            Failure::input(format_args!(
                "there is a run {} already; nothing was changed. Go on with it by `host train --resume {name}`, or choose \
                 another --name",
                folder.display()
            ))
        };
        if folder.symlink_metadata().is_ok() {
            return Err(exists());
        }
        fs::create_dir_all(parent).map_err(told)?;
        let aside = parent.join(format!(".{name}.{}.tmp", std::process::id()));
        let checkpoint = Checkpoint::start(&config);
        let fill = || -> Result<(), Failure> {
            fs::create_dir(&aside).map_err(told)?;
            let text = toml::to_string(&config).map_err(Failure::input)?;
            write_aside(&aside.join(CONFIG), text.as_bytes()).map_err(told)?;
            File::create(aside.join(METRICS)).and_then(|file| file.sync_all()).map_err(told)?;
            write_aside(&aside.join(CHECKPOINT), &checkpoint.to_bytes()?).map_err(told)?;
            sync_folder(&aside).map_err(told)?;
            // Renaming a folder replaces an empty one only, and that holds nothing to lose.
            fs::rename(&aside, &folder).map_err(|error| match error.kind() {
                io::ErrorKind::DirectoryNotEmpty | io::ErrorKind::AlreadyExists => exists(),
                _ => told(error),
            })?;
            sync_folder(parent).map_err(told)
        };
        fill().inspect_err(|_| {
            // The first error is the one to tell; what is left behind is only clutter.
            let _ = fs::remove_dir_all(&aside);
        })?;
        let metrics = lock(&folder)?;
        Ok((Run { name: name.to_owned(), folder, config, metrics }, checkpoint))
    }

    /// Goes on with a run after its last complete iteration.
    ///
    /// # Errors
    /// If there is none of this name, another program trains it, or its files are not what they were.
    pub fn resume(parent: &Path, name: &str) -> Result<(Run, Checkpoint), Failure> {
        check_name(name)?;
        let folder = parent.join(name);
        if !folder.is_dir() {
            return Err(Failure::input(format_args!(
                "there is no run {}; `host train --list` lists them, --runs DIR looks elsewhere",
                folder.display()
            )));
        }
        let config = read_config(&folder)?;
        let mut metrics = lock(&folder)?;
        let path = folder.join(CHECKPOINT);
        let bytes = fs::read(&path).map_err(|error| cannot_read(&path, &error))?;
        let bad = |what: &str| {
            Failure::input(format_args!(
                "cannot go on from {}: {what}; nothing was changed. To start over, train under another --name",
                path.display()
            ))
        };
        let checkpoint = Checkpoint::from_bytes(&bytes).map_err(|what| bad(&what))?;
        let length = metrics.metadata().map_err(|error| cannot_read(&folder.join(METRICS), &error))?.len();
        if length < checkpoint.metrics {
            return Err(bad("metrics.jsonl is shorter than it was when the checkpoint was written"));
        }
        metrics
            .set_len(checkpoint.metrics)
            .and_then(|()| metrics.seek(SeekFrom::End(0)).map(|_| ()))
            .map_err(|error| cannot_write(&folder, &error))?;
        Ok((Run { name: name.to_owned(), folder, config, metrics }, checkpoint))
    }

    /// Where it is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Takes down an iteration: its row, then its checkpoint.
    ///
    /// # Errors
    /// If the file system says no. What was complete before is still there, and can be resumed.
    pub fn record(&mut self, row: &Row, checkpoint: &mut Checkpoint) -> Result<(), Failure> {
        let mut line = serde_json::to_string(row).map_err(Failure::input)?;
        line.push('\n');
        let written = self.metrics.write_all(line.as_bytes()).and_then(|()| self.metrics.sync_data());
        written.map_err(|error| self.interrupted(&error))?;
        checkpoint.metrics += line.len() as u64;
        write_aside(&self.folder.join(CHECKPOINT), &checkpoint.to_bytes()?)
            .and_then(|()| sync_folder(&self.folder))
            .map_err(|error| self.interrupted(&error))
    }

    fn interrupted(&self, error: &io::Error) -> Failure {
        Failure::input(format_args!(
            "cannot write to {}: {error}; the run is safe up to its last complete iteration. Make room, then `host train \
             --resume {}`",
            self.folder.display(),
            self.name
        ))
    }

    /// The rows so far.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn rows(&self) -> Result<Vec<Row>, Failure> {
        read_rows(&self.folder)
    }

    /// The chosen player, if the run has ended.
    ///
    /// # Errors
    /// If there is a file but no weights in it.
    pub fn weights(&self) -> Result<Option<Weights>, Failure> {
        read_weights(&self.folder)
    }

    /// Writes the chosen player.
    ///
    /// # Errors
    /// If the file system says no.
    pub fn write_weights(&self, weights: &Weights) -> Result<(), Failure> {
        weights.write(&self.folder.join(WEIGHTS)).map_err(Failure::input)
    }

    /// Writes the picture.
    ///
    /// # Errors
    /// If the file system says no.
    pub fn write_curve(&self, svg: &str) -> Result<(), Failure> {
        write_aside(&self.folder.join(CURVE), svg.as_bytes()).map_err(|error| self.interrupted(&error))
    }
}

fn cannot_write(folder: &Path, error: &io::Error) -> Failure {
    Failure::input(format_args!(
        "cannot write the run {}: {error}; choose another place with --runs DIR",
        folder.display()
    ))
}

fn cannot_read(path: &Path, error: &io::Error) -> Failure {
    Failure::input(format_args!("cannot read {}: {error}; is it a run's folder?", path.display()))
}

/// A name is one folder's, and visible.
fn check_name(name: &str) -> Result<(), Failure> {
    let plain = |c: char| c.is_alphanumeric() || "-_.+".contains(c);
    if name.is_empty() || name.len() > 100 || name.starts_with('.') || !name.chars().all(plain) {
        return Err(Failure::input(format_args!(
            "'{name}' cannot name a run; a name has 1 to 100 letters, digits, '-', '_', '+' or '.', and does not start \
             with '.'"
        )));
    }
    Ok(())
}

/// A rename is on disk when its folder is.
fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

/// Opens the metrics, and keeps other programs from training the same run.
fn lock(folder: &Path) -> Result<File, Failure> {
    let path = folder.join(METRICS);
    let opened = File::options().read(true).append(true).open(&path);
    let file = opened.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => cannot_read(&path, &error),
        _ => cannot_write(folder, &error),
    })?;
    match file.try_lock() {
        Err(fs::TryLockError::WouldBlock) => Err(Failure::input(format_args!(
            "{} is being trained by another program; wait for it, or choose another --name",
            folder.display()
        ))),
        // A file system without locks is not a reason not to train.
        Ok(()) | Err(fs::TryLockError::Error(_)) => Ok(file),
    }
}

/// Reads a run's configuration.
///
/// # Errors
/// If it is not one.
pub fn read_config(folder: &Path) -> Result<Config, Failure> {
    let path = folder.join(CONFIG);
    let text = fs::read_to_string(&path).map_err(|error| cannot_read(&path, &error))?;
    let config: Config = toml::from_str(&text).map_err(|error| {
        Failure::input(format_args!("{} is not a run's configuration: {}", path.display(), error.message()))
    })?;
    config.check()?;
    Ok(config)
}

/// Reads a run's rows. A last line that was cut off is not one.
///
/// # Errors
/// If they cannot be read.
pub fn read_rows(folder: &Path) -> Result<Vec<Row>, Failure> {
    let path = folder.join(METRICS);
    let mut text = String::new();
    File::open(&path)
        .and_then(|mut file| file.read_to_string(&mut text))
        .map_err(|error| cannot_read(&path, &error))?;
    let complete = text.rfind('\n').map_or("", |end| &text[..end]);
    let parse = |(number, line): (usize, &str)| {
        serde_json::from_str(line).map_err(|error| {
            Failure::input(format_args!("{}:{}: not a run's metrics: {error}", path.display(), number + 1))
        })
    };
    complete.lines().enumerate().map(parse).collect()
}

/// The chosen player of a run's folder, if the run has ended.
///
/// # Errors
/// If there is a file but no weights in it.
pub fn read_weights(folder: &Path) -> Result<Option<Weights>, Failure> {
    let path = folder.join(WEIGHTS);
    if !path.exists() {
        return Ok(None);
    }
    Weights::read(&path).map(Some).map_err(Failure::input)
}

/// The runs in a folder, in the order of their names.
///
/// # Errors
/// If the folder cannot be read; one that does not exist has no runs.
pub fn list(parent: &Path) -> Result<Vec<String>, Failure> {
    let entries = match fs::read_dir(parent) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(vec![]),
        entries => entries.map_err(|error| cannot_read(parent, &error))?,
    };
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| check_name(name).is_ok() && parent.join(name).join(CONFIG).is_file())
        .collect();
    names.sort();
    Ok(names)
}

/// A name that no run has: this one, or with a number after it.
pub fn free_name(parent: &Path, wanted: &str) -> String {
    let free = |name: &String| parent.join(name).symlink_metadata().is_err();
    let numbered = (2u64..).map(|number| format!("{wanted}-{number}"));
    std::iter::once(wanted.to_owned()).chain(numbered).find(free).unwrap_or_else(|| wanted.to_owned())
}
