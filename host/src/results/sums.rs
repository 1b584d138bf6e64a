//! What the records of a row add up to.

use super::histogram::Histogram;
use super::record::Record;
use crate::stats::{NORMAL_95, Summary};

/// The sums over a number of records. Integers, so their order does not matter.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sums {
    /// Games.
    pub games: u64,
    /// Lines.
    pub lines: u128,
    squares: u128,
    min: u64,
    max: u64,
    /// Pieces placed.
    pub pieces: u64,
    /// Pieces for which rescue looked deeper.
    pub deeper: u64,
    /// Games broken off.
    pub capped: u64,
    /// The games by their lines.
    pub histogram: Histogram,
    /// How often the pile was so high after a piece.
    pub heights: Vec<u64>,
}

impl Sums {
    /// Adds up records.
    pub fn of<'a>(records: impl IntoIterator<Item = &'a Record>) -> Sums {
        let mut sums = Sums::default();
        for record in records {
            sums.min = if sums.games == 0 { record.min } else { sums.min.min(record.min) };
            sums.max = sums.max.max(record.max);
            let (first, end) = record.games;
            sums.games = sums.games.saturating_add(end - first);
            sums.lines = sums.lines.saturating_add(record.lines.into());
            sums.squares = sums.squares.saturating_add(record.squares);
            sums.pieces = sums.pieces.saturating_add(record.pieces);
            sums.deeper = sums.deeper.saturating_add(record.deeper);
            sums.capped = sums.capped.saturating_add(record.capped);
            sums.histogram.merge(&record.histogram);
            sums.heights.resize(sums.heights.len().max(record.heights.len()), 0);
            sums.heights
                .iter_mut()
                .zip(&record.heights)
                .for_each(|(sum, &count)| *sum = sum.saturating_add(count));
        }
        sums
    }

    /// Mean, interval, median and the rest; none if there are no games.
    pub fn summary(&self) -> Option<Summary> {
        let n = self.games as f64;
        let mean = (self.games > 0).then(|| self.lines as f64 / n)?;
        // In integers, where they are large enough, as the two terms are nearly equal.
        let scaled = u128::from(self.games)
            .checked_mul(self.squares)
            .zip(self.lines.checked_mul(self.lines))
            .map_or_else(
                || (n * self.squares as f64 - (self.lines as f64).powi(2)).max(0.0),
                |(squares, square)| squares.saturating_sub(square) as f64,
            );
        let sd = (self.games > 1).then(|| (scaled / n / (n - 1.0)).sqrt());
        let half = sd.map(|sd| NORMAL_95 * sd / n.sqrt());
        Some(Summary {
            mean,
            ci95_low: half.map(|half| mean - half),
            ci95_high: half.map(|half| mean + half),
            min: self.min,
            median: self.histogram.median()?,
            max: self.max,
            sd,
        })
    }

    /// How many times another's mean this mean is, and the 95 % interval of that: the two means' relative errors are
    /// taken as independent, and the logarithm of the ratio as normal. Games of the same seed have the same pieces, but
    /// two players part after a few of them, and their scores have nothing to do with each other.
    pub fn ratio(&self, base: &Sums) -> Option<Ratio> {
        let (ours, theirs) = (self.summary()?, base.summary()?);
        let relative = |summary: &Summary| summary.half_width().map(|half| half / summary.mean);
        let times = (theirs.mean > 0.0 && ours.mean > 0.0).then(|| ours.mean / theirs.mean)?;
        let width = relative(&ours)?.hypot(relative(&theirs)?).exp();
        Some(Ratio { times, low: times / width, high: times * width })
    }
}

/// How many times as good.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// The ratio of the means.
    pub times: f64,
    /// Lower end of its 95 % interval.
    pub low: f64,
    /// Upper end of its 95 % interval.
    pub high: f64,
}

#[cfg(test)]
mod tests {
    use super::super::record::tests::record;
    use super::*;

    #[test]
    fn sums_say_what_the_scores_say() {
        let scores: Vec<u64> = (0..1000u64).map(|i| i * i * 1001 % 77_777).collect();
        let (a, b) = scores.split_at(300);
        let (a, b) = (record(1, 0, a), record(1, 300, b));
        let sums = Sums::of([&a, &b]);
        assert_eq!(sums, Sums::of([&b, &a]));
        let (ours, law) = (sums.summary().unwrap(), Summary::of(&scores).unwrap());
        assert_eq!((ours.mean, ours.min, ours.max), (law.mean, law.min, law.max));
        assert!((ours.sd.unwrap() / law.sd.unwrap() - 1.0).abs() < 1e-12);
        assert!((ours.half_width().unwrap() / law.half_width().unwrap() - 1.0).abs() < 1e-9);
        assert!((ours.median / law.median - 1.0).abs() < 0.01);
        assert_eq!((sums.games, sums.pieces), (1000, a.pieces + b.pieces));
        assert_eq!(Sums::default().summary(), None);
    }

    #[test]
    fn a_ratio_has_an_interval() {
        let (a, b) = (Sums::of([&record(1, 0, &[190, 210])]), Sums::of([&record(1, 0, &[95, 105])]));
        let ratio = a.ratio(&b).unwrap();
        assert_eq!(ratio.times, 2.0);
        // Half widths are 1.96 * 10 / 200 of each mean.
        let width = (2.0f64.sqrt() * 1.96 * 10.0 / 200.0).exp();
        assert!(
            (ratio.high / (2.0 * width) - 1.0).abs() < 1e-4 && (ratio.low / (2.0 / width) - 1.0).abs() < 1e-4
        );
        assert_eq!(a.ratio(&Sums::of([&record(1, 0, &[3])])), None, "one game has no interval");
    }
}
