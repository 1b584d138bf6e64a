//! What is kept of a batch of games: one line of JSON in a data file.
//!
//! ```text
//!     row        the row's name when it was played, for people
//!     key        a digest of all that determines the games: Row::key
//!     games      first game, and the one after the last
//!     lines      sum over the games          squares    sum of their squares, in quotes: it can exceed 64 bits
//!     min, max   fewest and most lines       pieces     pieces placed
//!     deeper     pieces for which rescue looked deeper
//!     capped     games broken off at the row's limit
//!     seconds    of one core
//!     digest     of all games' moves
//!     histogram  [bucket, games] by lines: Histogram
//!     heights    how often the pile was 0, 1, 2, ... rows high after a piece; only where the row asks for it
//! ```

use std::fmt;
use std::ops::Range;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::histogram::{Histogram, bucket};

/// A number written as 16 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hex(pub u64);

impl fmt::Display for Hex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl Serialize for Hex {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Hex {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Hex, D::Error> {
        let text = String::deserialize(deserializer)?;
        let digits = text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let number = digits.then(|| u64::from_str_radix(&text, 16).ok()).flatten();
        number.map(Hex).ok_or_else(|| serde::de::Error::custom("expected 16 hexadecimal digits"))
    }
}

mod quoted {
    use super::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(number: &u128, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(number)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u128, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// A batch of games of one row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// The row's name when it was played.
    pub row: String,
    /// A digest of all that determines the games.
    pub key: Hex,
    /// Which games.
    pub games: (u64, u64),
    /// Lines of all games.
    pub lines: u64,
    /// The sum of the squares of the games' lines.
    #[serde(with = "quoted")]
    pub squares: u128,
    /// Fewest lines.
    pub min: u64,
    /// Most lines.
    pub max: u64,
    /// Pieces placed.
    pub pieces: u64,
    /// Pieces for which rescue looked deeper.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub deeper: u64,
    /// Games that were broken off at the row's limit.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub capped: u64,
    /// Seconds of one core.
    pub seconds: f64,
    /// Of all games' moves.
    pub digest: Hex,
    /// The games by their lines.
    pub histogram: Histogram,
    /// How often the pile was so high after a piece, from 0 on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub heights: Vec<u64>,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Record {
    /// Which games.
    pub fn range(&self) -> Range<u64> {
        self.games.0..self.games.1
    }

    /// Checks that the numbers belong together.
    ///
    /// # Errors
    /// What does not.
    pub fn check(&self) -> Result<(), String> {
        let (first, end) = self.games;
        let games = end.checked_sub(first).filter(|&games| games > 0).ok_or("it has no games")?;
        if self.histogram.len() != games {
            return Err(format!("it has {games} games, but {} in its histogram", self.histogram.len()));
        }
        if self.histogram.ends() != Some((bucket(self.min), bucket(self.max))) {
            return Err("its histogram does not end at its min and max".into());
        }
        let (n, lines) = (u128::from(games), u128::from(self.lines));
        let mean_fits = n * u128::from(self.min) <= lines && lines <= n * u128::from(self.max);
        let squares_fit = n.checked_mul(self.squares).is_some_and(|squares| squares >= lines * lines);
        if !mean_fits || !squares_fit {
            return Err("its sums of lines are impossible".into());
        }
        if !self.seconds.is_finite() || self.seconds < 0.0 || self.deeper > self.pieces || self.capped > games
        {
            return Err("its counts are impossible".into());
        }
        if !self.heights.is_empty()
            && self.heights.iter().try_fold(0u64, |sum, &count| sum.checked_add(count)) != Some(self.pieces)
        {
            return Err("its heights are not those of its pieces".into());
        }
        Ok(())
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A record of these scores.
    pub(crate) fn record(key: u64, first: u64, scores: &[u64]) -> Record {
        let mut histogram = Histogram::default();
        scores.iter().for_each(|&score| histogram.add(score));
        Record {
            row: "bcts 10x10".into(),
            key: Hex(key),
            games: (first, first + scores.len() as u64),
            lines: scores.iter().sum(),
            squares: scores.iter().map(|&score| u128::from(score) * u128::from(score)).sum(),
            min: *scores.iter().min().unwrap(),
            max: *scores.iter().max().unwrap(),
            pieces: scores.iter().sum::<u64>() / 2 * 5,
            deeper: 0,
            capped: 0,
            seconds: 0.5,
            digest: Hex(dropwise_core::game::digest(scores.iter().copied())),
            histogram,
            heights: vec![],
        }
    }

    #[test]
    fn a_record_survives_its_line() {
        let mut record = record(7, 30, &[5, 1 << 40, 0, 1 << 60, 1 << 60, 1 << 60, 1 << 60]);
        for (deeper, heights) in [(0, vec![]), (3, vec![record.pieces])] {
            record.deeper = deeper;
            record.heights = heights;
            let line = serde_json::to_string(&record).unwrap();
            assert_eq!(serde_json::from_str::<Record>(&line).unwrap(), record);
            assert_eq!(record.check(), Ok(()));
        }
    }

    #[test]
    fn numbers_that_do_not_belong_together_are_refused() {
        let good = record(7, 0, &[5, 50, 500]);
        let spoils: [fn(&mut Record); 8] = [
            |record| record.games = (3, 3),
            |record| record.games = (0, 4),
            |record| record.max = 1000,
            |record| record.lines = 5000,
            |record| record.squares = 1,
            |record| record.seconds = f64::NAN,
            |record| record.deeper = record.pieces + 1,
            |record| record.heights = vec![1],
        ];
        for (i, spoil) in spoils.into_iter().enumerate() {
            let mut bad = good.clone();
            spoil(&mut bad);
            assert!(bad.check().is_err(), "{i}");
        }
    }
}
