//! How fast a row's games are played where nothing else is: `results/paces.jsonl`, a line a row.
//!
//! Games of many rows are played side by side, where none has a time of its own. So a thread plays those of one row alone
//! for some seconds, and the second half counts: by then games are long, and books know some of them.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::clock::Clock;
use super::measure;
use super::record::Hex;
use super::row::Row;
use super::sitting::{Batch, Sitting};
use crate::output::Failure;
use crate::weights::write_aside;

/// Mostly more games than are played in the time.
const MANY: u64 = 10_000;

/// What a thread placed in some time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pace {
    /// The row's [name](Row::name).
    pub row: String,
    /// The row's [key](Row::key).
    pub key: Hex,
    /// Pieces placed.
    pub pieces: u64,
    /// Seconds that the thread worked.
    pub seconds: f64,
}

impl Pace {
    /// Pieces per second.
    pub fn rate(&self) -> f64 {
        self.pieces as f64 / self.seconds
    }

    /// Plays games of a row for so long, unless all end before or it is told to stop; its books take at most so many
    /// bytes. None if it was stopped.
    pub fn measure(row: &Row, time: Duration, memory: usize, stop: impl Fn() -> bool) -> Option<Pace> {
        // As many as a thread can have in play, however few the row wants: with fewer it is slower.
        let many = Row { games: row.games.max(MANY), ..row.clone() };
        let batches: Vec<Batch<'_>> =
            many.missing(&[]).into_iter().map(|games| Batch { row, games }).collect();
        let is_sociable = batches.iter().all(Batch::is_sociable);
        let sitting = is_sociable.then(|| Sitting::new(&batches, vec![], 1, memory));
        let clock = Clock::start();
        let half = time.as_secs_f64() / 2.0;
        let pieces = Cell::new(0);
        let at_half: Cell<Option<(u64, f64)>> = Cell::new(None);
        let is_stopped = Cell::new(false);
        let placed = |more| {
            pieces.set(pieces.get() + more);
            let seconds = clock.seconds();
            if seconds >= half && at_half.get().is_none() {
                at_half.set(Some((pieces.get(), seconds)));
            }
            is_stopped.set(stop());
            is_stopped.get() || seconds >= 2.0 * half
        };
        match &sitting {
            Some(sitting) => sitting.play(placed, |_, _| {}, |_| {}),
            None => {
                for batch in &batches {
                    if measure::play(row, batch.games.clone(), placed).is_none() {
                        break;
                    }
                }
            }
        }
        // Games that end before half of the time count as a whole, and so does a time that is over at the first look.
        let (before, begun) = at_half.get().filter(|half| half.0 < pieces.get()).unwrap_or((0, 0.0));
        let (pieces, seconds) = (pieces.get() - before, clock.seconds() - begun);
        let pace = Pace { row: row.name(), key: row.key(), pieces, seconds: (seconds * 1e6).round() / 1e6 };
        (!is_stopped.get() && pace.is_possible()).then_some(pace)
    }

    fn is_possible(&self) -> bool {
        self.pieces > 0 && self.seconds.is_finite() && self.seconds > 0.0
    }
}

/// The paces of some rows, by their keys.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Paces(BTreeMap<Hex, Pace>);

fn path(folder: &Path) -> PathBuf {
    folder.join("paces.jsonl")
}

impl Paces {
    /// Those that a folder has; none if it has no such file.
    ///
    /// # Errors
    /// If the file cannot be read, or a line of it is no pace.
    pub fn read(folder: &Path) -> Result<Paces, Failure> {
        let path = path(folder);
        let text = match fs::read_to_string(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Paces::default()),
            text => {
                text.map_err(|error| Failure::input(format_args!("cannot read {}: {error}", path.display())))?
            }
        };
        let pace = |(number, line): (usize, &str)| {
            let bad = |what: &dyn std::fmt::Display| {
                Failure::input(format_args!(
                    "{}:{number}: {what}; take the line out, and measure it again with --pace",
                    path.display()
                ))
            };
            let pace: Pace = serde_json::from_str(line).map_err(|error| bad(&error))?;
            if !pace.is_possible() {
                return Err(bad(&"it is no pace"));
            }
            Ok((pace.key, pace))
        };
        (1..).zip(text.lines()).map(pace).collect::<Result<_, Failure>>().map(Paces)
    }

    /// Writes them all.
    ///
    /// # Errors
    /// If the file system says no. What was there before is still there.
    pub fn write(&self, folder: &Path) -> Result<(), Failure> {
        let path = path(folder);
        let mut paces: Vec<&Pace> = self.0.values().collect();
        paces.sort_by(|a, b| a.row.cmp(&b.row));
        let lines = paces.into_iter().map(|pace| serde_json::to_string(pace).map(|line| line + "\n"));
        let text = lines.collect::<Result<String, _>>().map_err(Failure::input)?;
        write_aside(&path, text.as_bytes())
            .map_err(|error| Failure::input(format_args!("cannot write {}: {error}", path.display())))
    }

    /// Adds a pace, in place of an older one of the same row.
    pub fn add(&mut self, pace: Pace) {
        self.0.insert(pace.key, pace);
    }

    /// Pieces per second of a row, if they were measured.
    pub fn rate(&self, key: Hex) -> Option<f64> {
        self.0.get(&key).map(Pace::rate)
    }
}

#[cfg(test)]
mod tests {
    use super::super::row::tests::row;
    use super::super::variant::Variant;
    use super::*;

    #[test]
    fn every_kind_of_row_has_a_pace() {
        let plain = row("bcts", 6, 2_000, 100);
        let mut ahead = plain.clone();
        ahead.options.lookahead = 1;
        let varied = Row { variant: Some(Variant::Unchanged), ..plain.clone() };
        let short = row("bcts", 4, 3, 3);
        for row in [plain, ahead, varied, short] {
            let pace = Pace::measure(&row, Duration::from_millis(40), 0, || false).unwrap();
            assert_eq!((&pace.row, pace.key), (&row.name(), row.key()));
            assert!(pace.rate() > 0.0, "{pace:?}");
            assert_eq!(Pace::measure(&row, Duration::from_millis(40), 0, || true), None);
        }
    }

    #[test]
    fn paces_are_kept_the_last_of_each_row() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(Paces::read(folder.path()).unwrap(), Paces::default());
        let pace = |key, pieces| Pace { row: format!("row {key}"), key: Hex(key), pieces, seconds: 0.5 };
        let mut paces = Paces::default();
        [pace(1, 10), pace(2, 20), pace(1, 30)].into_iter().for_each(|pace| paces.add(pace));
        paces.write(folder.path()).unwrap();
        let read = Paces::read(folder.path()).unwrap();
        assert_eq!(read, paces);
        assert_eq!([1, 2, 3].map(|key| read.rate(Hex(key))), [Some(60.0), Some(40.0), None]);
    }

    #[test]
    fn a_bad_line_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let good = r#"{"row":"a","key":"0000000000000001","pieces":1,"seconds":0.5}"#;
        for bad in ["nonsense", &good.replace(":1,", ":0,"), &good.replace("0.5", "0.0")] {
            fs::write(path(folder.path()), format!("{good}\n{bad}\n")).unwrap();
            let Err(Failure::Input(told)) = Paces::read(folder.path()) else { panic!("{bad}") };
            assert!(told.contains("paces.jsonl:2: ") && told.contains("--pace"), "{told}");
        }
    }
}
