//! Scores counted in buckets whose width grows with the score: below 1 % of it, so that a median and a picture of the
//! distribution come from sums alone.
//!
//! Up to 128 every score has its bucket; above, each doubling has 128 of equal width. All of it is integers, so the
//! same scores give the same buckets on every machine.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Each doubling has two to this power buckets.
const FINE: u32 = 7;

/// How many scores are in each bucket; empty buckets are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Vec<(u32, u64)>", into = "Vec<(u32, u64)>")]
pub struct Histogram {
    counts: BTreeMap<u32, u64>,
}

impl From<Vec<(u32, u64)>> for Histogram {
    fn from(pairs: Vec<(u32, u64)>) -> Histogram {
        Histogram { counts: pairs.into_iter().collect() }
    }
}

impl From<Histogram> for Vec<(u32, u64)> {
    fn from(histogram: Histogram) -> Vec<(u32, u64)> {
        histogram.counts.into_iter().collect()
    }
}

/// The bucket of a score.
pub fn bucket(score: u64) -> u32 {
    let doublings = (u64::BITS - score.leading_zeros()).saturating_sub(FINE + 1);
    (doublings << FINE) + (score >> doublings) as u32
}

/// The smallest score of a bucket.
fn start(bucket: u32) -> f64 {
    let doublings = (bucket >> FINE).saturating_sub(1);
    f64::from(bucket - (doublings << FINE)) * f64::from(doublings).exp2()
}

/// The scores in the middle of a bucket.
fn middle(bucket: u32) -> f64 {
    (start(bucket) + start(bucket + 1) - 1.0) / 2.0
}

impl Histogram {
    /// Takes in one more score.
    pub fn add(&mut self, score: u64) {
        *self.counts.entry(bucket(score)).or_default() += 1;
    }

    /// Takes in another's scores.
    pub fn merge(&mut self, other: &Histogram) {
        for (&bucket, &count) in &other.counts {
            let sum = self.counts.entry(bucket).or_default();
            *sum = sum.saturating_add(count);
        }
    }

    /// How many scores.
    pub fn len(&self) -> u64 {
        self.counts.values().fold(0, |sum, &count| sum.saturating_add(count))
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// The first and the last bucket in which there is a score.
    pub fn ends(&self) -> Option<(u32, u32)> {
        Some((*self.counts.first_key_value()?.0, *self.counts.last_key_value()?.0))
    }

    /// The score in the middle, to 1 %; none if there are none.
    pub fn median(&self) -> Option<f64> {
        let n = self.len();
        let at = |rank: u64| {
            let mut below = 0;
            let found = self.counts.iter().find(|&(_, &count)| {
                below += count;
                below > rank
            });
            found.map(|(&bucket, _)| middle(bucket))
        };
        Some(f64::midpoint(at(n.checked_sub(1)? / 2)?, at(n / 2)?))
    }

    /// The share of scores that are at least so large, one point a bucket: (where the bucket starts, share).
    pub fn survival(&self) -> Vec<(f64, f64)> {
        let n = self.len() as f64;
        let mut left = self.len();
        let mut points = Vec::with_capacity(self.counts.len() + 1);
        for (&bucket, &count) in &self.counts {
            points.push((start(bucket), left as f64 / n));
            left -= count;
        }
        points
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_in_order_without_gaps_and_narrow() {
        let mut last = bucket(0);
        assert_eq!(last, 0);
        for score in 1..100_000u64 {
            let here = bucket(score);
            assert!(here == last || here == last + 1, "{score}");
            assert!(start(here) <= score as f64 && (score as f64) < start(here + 1), "{score}");
            last = here;
        }
        for score in [1 << 20, 123_456_789, u64::MAX / 3, u64::MAX] {
            let here = bucket(score);
            assert!((middle(here) / score as f64 - 1.0).abs() < 0.005, "{score}");
            assert!((start(here + 1) - start(here)) / start(here) < 0.01);
        }
    }

    #[test]
    fn the_median_is_right_to_one_percent() {
        let scores: Vec<u64> = (0..1001).map(|i| i * i * i).collect();
        let mut histogram = Histogram::default();
        scores.iter().for_each(|&score| histogram.add(score));
        assert!((histogram.median().unwrap() / scores[500] as f64 - 1.0).abs() < 0.01);
        assert_eq!(Histogram::default().median(), None);
        let mut two = Histogram::default();
        two.add(3);
        two.add(6);
        assert_eq!(two.median(), Some(4.5));
        assert_eq!(two.survival(), [(3.0, 1.0), (6.0, 0.5)]);
    }

    #[test]
    fn merging_is_adding_all() {
        let (mut a, mut b, mut both) = (Histogram::default(), Histogram::default(), Histogram::default());
        for score in 0..1000 {
            if score % 3 == 0 {
                a.add(score)
            } else {
                b.add(score)
            }
            both.add(score);
        }
        a.merge(&b);
        assert_eq!(a, both);
        assert_eq!((a.len(), a.ends()), (1000, Some((0, bucket(999)))));
    }
}
