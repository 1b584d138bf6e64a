//! Fahey's conjecture: the frequency of a pile's height falls exponentially with the height, so the length of a game
//! can be told from the heights that its first pieces see (Fahey 2003; Thiery & Scherrer 2009, section 6).
//!
//! ```text
//!     frequency(h) = exp(intercept + slope h)      h from the first that is on the slope to the last that is not rare
//!     pieces a game = 1 / frequency(H + 1)         the frequency of piles that do not fit
//!     lines a game = 4 / 10 pieces                 four cells a piece, ten a line
//! ```

use dropwise_core::well::WIDTH;

use crate::stats::median;

/// A height seen less often tells little.
const RARE: u64 = 10;

/// The slope begins where a height is at most this part as frequent as the most frequent one.
const ON_THE_SLOPE: f64 = 0.1;

/// Of a piece.
const CELLS: f64 = 4.0;

/// The straight line through the logarithms of the frequencies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fit {
    /// Where it would cross height 0.
    pub intercept: f64,
    /// By how much the logarithm falls a row; negative.
    pub slope: f64,
    /// The first and last height that it goes by.
    pub heights: (usize, usize),
}

impl Fit {
    /// Fits the line to how often each height was seen; none if fewer than three heights are on the slope. Each height
    /// counts as its logarithm is known: in proportion to how often it was seen.
    pub fn of(counts: &[u64]) -> Option<Fit> {
        let all: f64 = counts.iter().map(|&count| count as f64).sum();
        let most = *counts.iter().max()?;
        let peak = counts.iter().position(|&count| count == most)?;
        let on_slope = |&h: &usize| counts[h] as f64 <= ON_THE_SLOPE * most as f64;
        let first = (peak..counts.len()).find(on_slope)?;
        let heights: Vec<usize> = (first..counts.len()).take_while(|&h| counts[h] >= RARE).collect();
        if heights.len() < 3 {
            return None;
        }
        let logarithm = |h: usize| (counts[h] as f64 / all).ln();
        let weigh = |f: &dyn Fn(usize) -> f64| {
            let sum: f64 = heights.iter().map(|&h| counts[h] as f64 * f(h)).sum();
            sum / heights.iter().map(|&h| counts[h] as f64).sum::<f64>()
        };
        let (x, y) = (weigh(&|h| h as f64), weigh(&logarithm));
        let slope = weigh(&|h| (h as f64 - x) * (logarithm(h) - y)) / weigh(&|h| (h as f64 - x).powi(2));
        Some(Fit { intercept: y - slope * x, slope, heights: (first, *heights.last()?) })
    }

    /// How frequent the line says a height is.
    pub fn frequency(&self, height: f64) -> f64 {
        (self.intercept + self.slope * height).exp()
    }

    /// The height at which the line says that piles are as rare as games of so many lines end.
    pub fn end(&self, lines: f64) -> f64 {
        ((CELLS / WIDTH as f64 / lines).ln() - self.intercept) / self.slope
    }

    /// The mean lines of a game on a board of so many rows, by the conjecture.
    pub fn lines(&self, rows: usize) -> f64 {
        CELLS / WIDTH as f64 / self.frequency((rows + 1) as f64)
    }
}

/// What several samples predict: the middle one, and those at a tenth from either end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Predictions {
    /// How many samples allow one.
    pub samples: usize,
    /// The one in the middle.
    pub median: f64,
    /// A tenth are lower.
    pub low: f64,
    /// A tenth are higher.
    pub high: f64,
}

impl Predictions {
    /// The predictions of samples of heights on a board of so many rows; none if no sample allows one.
    pub fn of<'a>(samples: impl Iterator<Item = &'a [u64]>, rows: usize) -> Option<Predictions> {
        let mut lines: Vec<f64> = samples.filter_map(|counts| Some(Fit::of(counts)?.lines(rows))).collect();
        lines.sort_by(f64::total_cmp);
        let tenth = lines.len() / 10;
        let (low, high) = (*lines.get(tenth)?, *lines.get(lines.len() - 1 - tenth)?);
        Some(Predictions { samples: lines.len(), median: median(&lines), low, high })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exponential_slope_is_found() {
        // A quarter as often each row, from a billion at height 3 on.
        let counts: Vec<u64> = (0..18).map(|h| if h < 3 { 1000 } else { 4u64.pow(18 - h) }).collect();
        let fit = Fit::of(&counts).unwrap();
        assert!((fit.slope + 4f64.ln()).abs() < 1e-9, "{fit:?}");
        assert_eq!(fit.heights, (5, 16), "the first is too frequent, the last too rare");
        assert!((fit.end(fit.lines(20)) - 21.0).abs() < 1e-9);
        let all: u64 = counts.iter().sum();
        let frequency = 4f64.powi(-3) / all as f64;
        assert!((fit.lines(20) * frequency / 0.4 - 1.0).abs() < 1e-6);
    }

    #[test]
    fn where_there_is_no_slope_there_is_no_fit() {
        for counts in [&[][..], &[5], &[0, 0, 0], &[100, 20], &[1000, 100, 50, 9, 9], &[7; 20]] {
            assert_eq!(Fit::of(counts), None, "{counts:?}");
        }
    }

    #[test]
    fn predictions_are_put_in_order() {
        let sample = |factor: u64| [100_000, 10_000, 1_000, 100 * factor];
        let samples: Vec<[u64; 4]> = (1..=10).map(sample).collect();
        let predictions = Predictions::of(samples.iter().map(|sample| &sample[..]), 5).unwrap();
        assert_eq!(predictions.samples, 10);
        assert!(predictions.low < predictions.median && predictions.median < predictions.high);
        assert_eq!(Predictions::of([].into_iter(), 5), None);
    }
}
