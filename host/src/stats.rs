//! The statistics of a number of games.
//!
//! Scores are close to exponentially distributed: the standard deviation is about as large as the mean. The interval
//! of the mean is the normal approximation with the sample's standard deviation,
//!
//! ```text
//!     mean +- 1.96 sd / sqrt(n)      sd^2 = sum (x - mean)^2 / (n - 1)
//! ```
//!
//! so for exponential scores it is about +-2/sqrt(n) of the mean: 20 % for 100 games, 2 % for 10,000. Below some
//! thirty games it is too narrow and too symmetric; for a single game there is none.
//!
//! The scores come in the order of the games, and are added up in that order. So the numbers are the same, to the
//! last bit, whatever the number of threads.

use serde::Serialize;

/// How many standard errors hold 95 % of a normal distribution.
pub(crate) const NORMAL_95: f64 = 1.959_963_984_540_054;

/// A sample's summary.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// The mean.
    pub mean: f64,
    /// Lower end of the mean's 95 % interval; none for a single game.
    pub ci95_low: Option<f64>,
    /// Upper end of the mean's 95 % interval; none for a single game.
    pub ci95_high: Option<f64>,
    /// The smallest.
    pub min: u64,
    /// The one in the middle, or the mean of the two there.
    pub median: f64,
    /// The largest.
    pub max: u64,
    /// The sample's standard deviation; none for a single game.
    pub sd: Option<f64>,
}

impl Summary {
    /// Summarises scores; none if there are none.
    ///
    /// ```
    /// use host::stats::Summary;
    ///
    /// let summary = Summary::of(&[1, 2, 3, 6]).unwrap();
    /// assert_eq!((summary.mean, summary.median), (3.0, 2.5));
    /// assert_eq!((summary.min, summary.max), (1, 6));
    /// assert!((summary.sd.unwrap() - (14.0f64 / 3.0).sqrt()).abs() < 1e-12);
    /// assert_eq!(Summary::of(&[]), None);
    /// ```
    pub fn of(scores: &[u64]) -> Option<Summary> {
        let mut sorted = scores.to_vec();
        sorted.sort_unstable();
        let (&min, &max) = (sorted.first()?, sorted.last()?);
        let n = sorted.len();
        let median = (sorted[(n - 1) / 2] as f64 + sorted[n / 2] as f64) / 2.0;
        let sum: u128 = scores.iter().map(|&score| u128::from(score)).sum();
        let mean = sum as f64 / n as f64;
        let squares: f64 = scores.iter().map(|&score| (score as f64 - mean).powi(2)).sum();
        let sd = (n > 1).then(|| (squares / (n - 1) as f64).sqrt());
        let half = sd.map(|sd| NORMAL_95 * sd / (n as f64).sqrt());
        Some(Summary {
            mean,
            ci95_low: half.map(|half| mean - half),
            ci95_high: half.map(|half| mean + half),
            min,
            median,
            max,
            sd,
        })
    }

    /// Half the width of the mean's interval; none for a single game.
    pub fn half_width(&self) -> Option<f64> {
        self.ci95_high.map(|high| high - self.mean)
    }
}

/// The number in the middle of sorted ones, or the mean of the two there; not a number if there is none.
///
/// ```
/// use host::stats::median;
/// assert_eq!(median(&[1.0, 2.0, 9.0]), 2.0);
/// assert_eq!(median(&[1.0, 2.0, 4.0, 9.0]), 3.0);
/// ```
pub fn median(sorted: &[f64]) -> f64 {
    let n = sorted.len();
    if n == 0 { f64::NAN } else { f64::midpoint(sorted[(n - 1) / 2], sorted[n / 2]) }
}

/// A mean and its interval kept up as games end, for the display: the order in which games end is not fixed, so no
/// result is made of it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Running {
    n: u64,
    mean: f64,
    squares: f64,
}

impl Running {
    /// Takes in one more score (Welford's update).
    pub fn add(&mut self, score: u64) {
        self.n += 1;
        let off = score as f64 - self.mean;
        self.mean += off / self.n as f64;
        self.squares += off * (score as f64 - self.mean);
    }

    /// How many scores.
    pub fn len(&self) -> u64 {
        self.n
    }

    /// Whether there is none yet.
    pub fn is_empty(&self) -> bool {
        self.n == 0
    }

    /// The mean so far.
    pub fn mean(&self) -> f64 {
        self.mean
    }

    /// Half the width of the mean's 95 % interval, once there are two scores.
    pub fn half_width(&self) -> Option<f64> {
        let n = self.n as f64;
        (self.n > 1).then(|| NORMAL_95 * (self.squares / (n - 1.0) / n).sqrt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_game_has_no_interval() {
        let summary = Summary::of(&[7]).unwrap();
        assert_eq!((summary.mean, summary.median, summary.min, summary.max), (7.0, 7.0, 7, 7));
        assert_eq!((summary.sd, summary.ci95_low, summary.ci95_high), (None, None, None));
    }

    #[test]
    fn the_interval_is_the_documented_one() {
        let scores: Vec<u64> = (0..100).map(|i| i * i).collect();
        let summary = Summary::of(&scores).unwrap();
        let half = 1.96 * summary.sd.unwrap() / 10.0;
        assert!((summary.half_width().unwrap() / half - 1.0).abs() < 1e-3);
        assert!((summary.mean - summary.ci95_low.unwrap() - summary.half_width().unwrap()).abs() < 1e-9);
        assert_eq!(summary.median, (49.0 * 49.0 + 50.0 * 50.0) / 2.0);
    }

    #[test]
    fn running_and_final_agree() {
        let scores = [5, 0, 1_000_000, 77, 12_345];
        let mut running = Running::default();
        scores.iter().for_each(|&score| running.add(score));
        let summary = Summary::of(&scores).unwrap();
        assert!((running.mean() - summary.mean).abs() < 1e-6);
        assert!((running.half_width().unwrap() - summary.half_width().unwrap()).abs() < 1e-6);
        assert_eq!(running.len(), 5);
    }

    #[test]
    fn the_largest_scores_do_not_overflow() {
        let summary = Summary::of(&[u64::MAX, u64::MAX]).unwrap();
        assert_eq!((summary.mean, summary.sd), (u64::MAX as f64, Some(0.0)));
    }
}
