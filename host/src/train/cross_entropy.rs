//! The noisy cross-entropy method: I. Szita and A. Lorincz, "Learning Tetris using the noisy cross-entropy method"
//! (2006), as C. Thiery and B. Scherrer repeat it in "Construction d'un joueur artificiel pour Tetris" (2009).
//!
//! Candidates are drawn from a normal distribution without correlations. The best of them give the next mean and
//! variance; noise is added to the variance, because without it the distribution collapses on a bad player.

use std::f64::consts::PI;

use serde::{Deserialize, Serialize};

use super::sample::{normalise, normals, ranking};
use super::{IterationRng, Optimiser};

/// What is added to the variance in iteration t, counted from 0.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq)]
#[serde(rename_all = "snake_case")]
pub enum Noise {
    /// Nothing: the plain cross-entropy method.
    None,
    /// The same always: 4 in both papers, and the most reliable one in Thiery and Scherrer's.
    Constant(f64),
    /// max(start - t per_iteration, 0): 5 and 0.1 in both papers.
    Linear {
        /// At first.
        start: f64,
        /// Less by this in each iteration.
        per_iteration: f64,
    },
    /// start ratio^t, which Thiery and Scherrer propose but did not try.
    Geometric {
        /// At first.
        start: f64,
        /// Times this in each iteration.
        ratio: f64,
    },
    /// exp(-(t + 100) / (10 pi)), for weights of length 1: the CS3243 hybrid's.
    Cs3243,
}

impl Noise {
    /// Szita and Lorincz's decreasing noise, max(5 - t / 10, 0).
    pub const DECREASING: Noise = Noise::Linear { start: 5.0, per_iteration: 0.1 };

    /// The noise of an iteration, counted from 0.
    ///
    /// ```
    /// use host::train::cross_entropy::Noise;
    /// assert_eq!(Noise::DECREASING.at(0), 5.0);
    /// assert_eq!(Noise::DECREASING.at(20), 3.0);
    /// assert_eq!(Noise::DECREASING.at(60), 0.0);
    /// ```
    pub fn at(self, iteration: u64) -> f64 {
        let t = iteration as f64;
        match self {
            Noise::None => 0.0,
            Noise::Constant(noise) => noise,
            Noise::Linear { start, per_iteration } => (start - t * per_iteration).max(0.0),
            Noise::Geometric { start, ratio } => start * libm::pow(ratio, t),
            Noise::Cs3243 => libm::exp(-(t + 100.0) / (10.0 * PI)),
        }
    }
}

/// What a cross-entropy search starts from.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct CrossEntropyConfig {
    /// The first mean, a weight for each feature; zeros in both papers.
    pub mean: Vec<f64>,
    /// The first variance of each weight; 100 in both papers.
    pub variance: Vec<f64>,
    /// Candidates an iteration: 100 in both papers.
    #[serde(default = "default_population")]
    pub population: usize,
    /// The share of the candidates that shape the next distribution: 0.1 in both papers.
    #[serde(default = "default_rho")]
    pub rho: f64,
    /// The noise; constant at 4 by default.
    #[serde(default = "default_noise")]
    pub noise: Noise,
    /// Whether candidates are scaled to length 1 after they are drawn; not in either paper.
    #[serde(default)]
    pub normalise: bool,
}

fn default_population() -> usize {
    100
}

fn default_rho() -> f64 {
    0.1
}

fn default_noise() -> Noise {
    Noise::Constant(4.0)
}

impl CrossEntropyConfig {
    /// Thiery and Scherrer's settings for a number of weights.
    pub fn new(dimension: usize) -> CrossEntropyConfig {
        CrossEntropyConfig {
            mean: vec![0.0; dimension],
            variance: vec![100.0; dimension],
            population: default_population(),
            rho: default_rho(),
            noise: default_noise(),
            normalise: false,
        }
    }
}

/// The distribution and how it learns.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub struct CrossEntropy {
    config: CrossEntropyConfig,
    iteration: u64,
    mean: Vec<f64>,
    variance: Vec<f64>,
    candidates: Vec<Vec<f64>>,
}

impl CrossEntropy {
    /// A search that has learned nothing.
    ///
    /// # Panics
    /// If mean and variance differ in length or have none, a variance is negative or not finite, there are no
    /// candidates, or rho is not in (0, 1].
    pub fn new(config: CrossEntropyConfig) -> CrossEntropy {
        assert!(!config.mean.is_empty(), "a candidate has at least one weight");
        assert_eq!(config.mean.len(), config.variance.len(), "a variance for each weight");
        assert!(config.variance.iter().all(|v| *v >= 0.0 && v.is_finite()), "variances are not negative");
        assert!(config.population > 0, "an iteration has candidates");
        assert!(config.rho > 0.0 && config.rho <= 1.0, "rho is a share");
        CrossEntropy {
            iteration: 0,
            mean: config.mean.clone(),
            variance: config.variance.clone(),
            candidates: Vec::new(),
            config,
        }
    }

    /// The same search with the noise of a later iteration next.
    pub(super) fn noisy_from(self, iteration: u64) -> CrossEntropy {
        CrossEntropy { iteration, ..self }
    }

    /// The variance of each weight, noise included.
    pub fn variance(&self) -> &[f64] {
        &self.variance
    }
}

impl Optimiser for CrossEntropy {
    fn ask(&mut self, rng: &mut IterationRng) -> Vec<Vec<f64>> {
        let n = self.mean.len();
        self.candidates = (0..self.config.population)
            .map(|_| {
                let drawn = normals(rng, n);
                let mut candidate: Vec<f64> =
                    (0..n).map(|i| self.mean[i] + self.variance[i].sqrt() * drawn[i]).collect();
                if self.config.normalise {
                    normalise(&mut candidate);
                }
                candidate
            })
            .collect();
        self.candidates.clone()
    }

    /// # Panics
    /// If the number of scores is not that of the candidates.
    fn tell(&mut self, fitness: &[f64]) {
        assert_eq!(fitness.len(), self.candidates.len(), "one fitness for each candidate");
        let mut best = ranking(fitness);
        best.truncate(self.parents());
        let noise = self.config.noise.at(self.iteration);
        let (mean, variance) = moments(best.iter().map(|&index| &self.candidates[index][..]));
        (self.mean, self.variance) = (mean, variance.into_iter().map(|v| v + noise).collect());
        self.iteration += 1;
        self.candidates.clear();
    }

    fn favourite(&self) -> Vec<f64> {
        self.mean.clone()
    }

    /// The mean deviation of the weights.
    fn spread(&self) -> f64 {
        self.variance.iter().map(|v| v.sqrt()).sum::<f64>() / self.variance.len() as f64
    }

    /// floor(rho N), but at least one.
    fn parents(&self) -> usize {
        // 0.29 * 100 is 28.999...: what is an integer but for rounding counts as one.
        ((self.config.rho * self.config.population as f64 + 1e-9) as usize).clamp(1, self.config.population)
    }
}

/// The mean and the variance of each coordinate, the latter about that mean and over the number of vectors.
pub(super) fn moments<'a>(vectors: impl Iterator<Item = &'a [f64]> + Clone) -> (Vec<f64>, Vec<f64>) {
    let count = vectors.clone().count() as f64;
    let dimension = vectors.clone().next().map_or(0, <[f64]>::len);
    let (mut mean, mut variance) = (vec![0.0; dimension], vec![0.0; dimension]);
    for vector in vectors.clone() {
        for (m, x) in mean.iter_mut().zip(vector) {
            *m += x / count;
        }
    }
    for vector in vectors {
        for ((v, m), x) in variance.iter_mut().zip(&mean).zip(vector) {
            *v += (x - m) * (x - m) / count;
        }
    }
    (mean, variance)
}

#[cfg(test)]
mod tests {
    use super::super::sample::tests::{continues_from_a_checkpoint, rng};
    use super::super::sample::{norm, uniform};
    use super::*;

    /// How good a vector truly is: a player's skill falls off steeply with the distance from the goal.
    fn skill(x: &[f64]) -> f64 {
        let square: f64 = x.iter().enumerate().map(|(i, x)| (x - 20.0 - 3.0 * i as f64).powi(2)).sum();
        1e6 / (1.0 + square)
    }

    /// Learns from single games, whose lines are distributed exponentially.
    fn learn(noise: Noise, iterations: u64) -> CrossEntropy {
        let mut search = CrossEntropy::new(CrossEntropyConfig { noise, ..CrossEntropyConfig::new(8) });
        let mut games = rng(77);
        for iteration in 0..iterations {
            let told: Vec<f64> = search
                .ask(&mut rng(iteration))
                .iter()
                .map(|x| -skill(x) * libm::log(1.0 - uniform(&mut games)))
                .collect();
            search.tell(&told);
        }
        search
    }

    #[test]
    fn without_noise_it_collapses_and_with_constant_noise_it_does_not() {
        let without = learn(Noise::None, 80);
        let with = learn(Noise::Constant(4.0), 80);
        assert!(without.spread() < 0.1, "{}", without.spread());
        assert!(with.spread() >= 2.0, "{}", with.spread());
        assert!(
            skill(&with.favourite()) > 5.0 * skill(&without.favourite()),
            "{} with noise, {} without",
            skill(&with.favourite()),
            skill(&without.favourite())
        );
    }

    #[test]
    fn decreasing_noise_ends_in_a_point() {
        let search = learn(Noise::DECREASING, 130);
        assert!(search.spread() < 0.1, "{}", search.spread());
        assert!(learn(Noise::DECREASING, 30).spread() > 1.0);
    }

    #[test]
    fn the_noises_are_the_papers() {
        assert_eq!(Noise::None.at(3), 0.0);
        assert_eq!(Noise::Constant(4.0).at(1000), 4.0);
        assert_eq!(Noise::DECREASING.at(10), 4.0);
        assert_eq!(Noise::Geometric { start: 8.0, ratio: 0.5 }.at(3), 1.0);
        assert!((Noise::Cs3243.at(0) - (-100.0 / (10.0 * PI)).exp()).abs() < 1e-15);
        assert!((Noise::Cs3243.at(0) - 0.0415).abs() < 1e-4);
    }

    #[test]
    fn the_best_tenth_gives_mean_and_variance() {
        let config = CrossEntropyConfig { noise: Noise::Constant(0.5), ..CrossEntropyConfig::new(2) };
        let mut search = CrossEntropy::new(config);
        let asked = search.ask(&mut rng(1));
        assert_eq!((asked.len(), search.parents()), (100, 10));
        // The first ten are the best.
        search.tell(&(0..100).map(|i| -f64::from(i)).collect::<Vec<_>>());
        for k in 0..2 {
            let mean = asked[..10].iter().map(|x| x[k]).sum::<f64>() / 10.0;
            let variance = asked[..10].iter().map(|x| (x[k] - mean).powi(2)).sum::<f64>() / 10.0;
            assert!((search.favourite()[k] - mean).abs() < 1e-12);
            assert!((search.variance()[k] - variance - 0.5).abs() < 1e-12);
        }
    }

    #[test]
    fn candidates_are_scaled_when_asked() {
        let mut search =
            CrossEntropy::new(CrossEntropyConfig { normalise: true, ..CrossEntropyConfig::new(5) });
        assert!(search.ask(&mut rng(1)).iter().all(|x| (norm(x) - 1.0).abs() < 1e-12));
    }

    #[test]
    fn rho_is_rounded_down_but_not_by_a_hair() {
        let parents = |population, rho| {
            let config = CrossEntropyConfig { population, rho, ..CrossEntropyConfig::new(1) };
            CrossEntropy::new(config).parents()
        };
        assert_eq!((parents(100, 0.29), parents(10, 0.01), parents(7, 1.0), parents(15, 0.1)), (29, 1, 7, 1));
    }

    #[test]
    fn continues_bit_for_bit() {
        for noise in [Noise::None, Noise::Constant(4.0), Noise::DECREASING, Noise::Cs3243] {
            let config = CrossEntropyConfig { noise, ..CrossEntropyConfig::new(6) };
            continues_from_a_checkpoint(CrossEntropy::new(config), 15, skill);
        }
    }
}
