//! What is kept of a training for the study: how long every game was.
//!
//! A file of JSON lines: the first one is the [`Head`], the others are bouts in the order in which they were played.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::output::Failure;
use crate::together;
use crate::train::race::RaceConfig;
use crate::weights::write_aside;

/// What was recorded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Head {
    /// For a table.
    pub title: String,
    /// The command that recorded it.
    pub command: String,
    /// How fast one core was.
    pub pace: Pace,
}

/// Pieces a second of one core, by the games that it plays side by side, in rising order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Pace(pub Vec<(usize, f64)>);

impl Pace {
    /// The same for any number of games.
    pub fn constant(rate: f64) -> Pace {
        Pace(vec![(1, rate), (together::PLENTY, rate)])
    }

    /// The most games that are played side by side.
    pub fn seats(&self) -> usize {
        self.0.last().map_or(1, |&(seats, _)| seats)
    }

    /// With so many games; what lies between two that were measured is a straight line over the logarithm.
    pub fn of(&self, games: usize) -> f64 {
        let after = self.0.partition_point(|&(seats, _)| seats < games.max(1));
        let (high, fast) = self.0[after.min(self.0.len() - 1)];
        let (low, slow) = self.0[after.min(self.0.len() - 1).saturating_sub(1)];
        if games >= high || low == high {
            return fast;
        }
        let share = (games.max(1) as f64 / low as f64).ln() / (high as f64 / low as f64).ln();
        slow + (fast - slow) * share
    }

    /// The best.
    pub fn best(&self) -> f64 {
        self.0.iter().map(|&(_, rate)| rate).fold(0.0, f64::max)
    }

    fn is_possible(&self) -> bool {
        let rises = self.0.windows(2).all(|pair| pair[0].0 < pair[1].0);
        self.0.first().is_some_and(|&(seats, _)| seats == 1)
            && rises
            && self.0.iter().all(|&(_, rate)| rate > 0.0 && rate.is_finite())
    }
}

/// The games of a bout.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bout {
    /// Seconds that rank 0 thinks before it, alone.
    pub think: f64,
    /// Whether it is a race.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub race: Option<Rules>,
    /// Pieces of each game, arm by arm.
    pub pieces: Vec<Vec<u64>>,
    /// Lines of each game, where a race goes by them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<Vec<u64>>,
}

/// The rules of a race.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rules {
    /// Its bounds.
    pub config: RaceConfig,
    /// How many are sought.
    pub mu: usize,
    /// The most games of an arm.
    pub limit: u32,
}

/// A training as a study needs it.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    /// What it is.
    pub head: Head,
    /// Its bouts.
    pub bouts: Vec<Bout>,
}

impl Bout {
    /// Checks that the numbers belong together.
    fn check(&self) -> Result<(), String> {
        let games = self.pieces.first().map_or(0, Vec::len);
        if games == 0 || self.pieces.iter().any(|line| line.len() != games) {
            return Err("each arm needs as many games as the others".into());
        }
        if !(0.0..1e6).contains(&self.think) {
            return Err("its thinking takes an impossible time".into());
        }
        if let Some(Rules { limit, .. }) = self.race {
            let shape =
                self.lines.len() == self.pieces.len() && self.lines.iter().all(|line| line.len() == games);
            if !shape || limit == 0 || limit as usize > games {
                return Err("a race needs the lines of all games up to its limit".into());
            }
        }
        Ok(())
    }
}

impl Trace {
    /// Reads a file.
    ///
    /// # Errors
    /// If it cannot be read, or is not a trace.
    pub fn read(path: &Path) -> Result<Trace, Failure> {
        let bad = |line: usize, what: &dyn std::fmt::Display| {
            Failure::input(format_args!("{}:{line}: not a recorded training: {what}", path.display()))
        };
        let text = fs::read_to_string(path)
            .map_err(|error| Failure::input(format_args!("cannot read {}: {error}", path.display())))?;
        let mut lines = text.lines().enumerate().map(|(number, line)| (number + 1, line));
        let (number, first) = lines.next().ok_or_else(|| bad(1, &"it is empty"))?;
        let head: Head = serde_json::from_str(first).map_err(|error| bad(number, &error))?;
        if !head.pace.is_possible() {
            return Err(bad(number, &"its pace is impossible"));
        }
        let bout = |(number, line): (usize, &str)| {
            let bout: Bout = serde_json::from_str(line).map_err(|error| bad(number, &error))?;
            bout.check().map_err(|what| bad(number, &what))?;
            Ok(bout)
        };
        let bouts = lines.map(bout).collect::<Result<Vec<Bout>, Failure>>()?;
        if bouts.is_empty() { Err(bad(2, &"it has no bouts")) } else { Ok(Trace { head, bouts }) }
    }

    /// Writes a file, whole or not at all.
    ///
    /// # Errors
    /// If the file system says no.
    pub fn write(&self, path: &Path) -> Result<(), Failure> {
        let mut lines = vec![serde_json::to_string(&self.head).map_err(Failure::input)?];
        for bout in &self.bouts {
            lines.push(serde_json::to_string(bout).map_err(Failure::input)?);
        }
        write_aside(path, (lines.join("\n") + "\n").as_bytes())
            .map_err(|error| Failure::input(format_args!("cannot write {}: {error}", path.display())))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::train::race::Bound;

    /// Arms whose games have these pieces; lines are a fifth of them.
    pub(crate) fn bout(pieces: &[&[u64]], limit: Option<u32>) -> Bout {
        let config = RaceConfig { bound: Bound::Tetris, ..RaceConfig::default() };
        Bout {
            think: 0.0,
            race: limit.map(|limit| Rules { config, mu: 1, limit }),
            pieces: pieces.iter().map(|line| line.to_vec()).collect(),
            lines: pieces.iter().map(|line| line.iter().map(|pieces| pieces / 5).collect()).collect(),
        }
    }

    #[test]
    fn a_pace_lies_between_those_that_were_measured() {
        let pace = Pace(vec![(1, 100.0), (4, 200.0), (16, 800.0)]);
        assert_eq!([1, 4, 16, 99].map(|games| pace.of(games)), [100.0, 200.0, 800.0, 800.0]);
        assert!((pace.of(2) - 150.0).abs() < 1e-9 && (pace.of(8) - 500.0).abs() < 1e-9);
        assert_eq!((pace.seats(), pace.best()), (16, 800.0));
        assert_eq!(Pace(vec![(1, 7.0)]).of(5), 7.0);
    }

    #[test]
    fn a_trace_survives_its_file_and_nonsense_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trace.jsonl");
        let head =
            Head { title: "two".into(), command: "host cluster record".into(), pace: Pace(vec![(1, 1e6)]) };
        let trace =
            Trace { head, bouts: vec![bout(&[&[10, 20], &[5, 7]], None), bout(&[&[9], &[8]], Some(1))] };
        trace.write(&path).unwrap();
        assert_eq!(Trace::read(&path).unwrap(), trace);
        let good = fs::read_to_string(&path).unwrap();
        for (from, to) in [
            ("[5,7]", "[5]"),
            ("\"limit\":1", "\"limit\":2"),
            ("1000000.0", "0.0"),
            ("{\"think\"", "{\"thin\""),
        ] {
            fs::write(&path, good.replace(from, to)).unwrap();
            let message = format!("{:?}", Trace::read(&path).unwrap_err());
            assert!(message.contains("not a recorded training"), "{from}: {message}");
        }
        fs::write(&path, "").unwrap();
        assert!(Trace::read(&path).is_err());
    }
}
