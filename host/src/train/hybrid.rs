//! A genetic algorithm, then noisy cross-entropy: Nguyen Cong Thanh, Huynh Thanh Duc Anh, Le Trung Hieu, Agus Sentosa
//! Hermawan and Do Andre Khoi Nguyen, "Learning to play Tetris with big data" (CS3243 group 39, 2018).
//!
//! The genetic algorithm starts from quasi-random points and gives the cross-entropy method a good sample: the mean and
//! the deviation of its last population. All vectors have length 1.
//!
//! The report does not tell how its genetic algorithm breeds. Here the best tenth stays; each child takes each weight
//! from either of two parents, of whom each is the better of two members drawn at random; a tenth of the weights of
//! children is mutated.

use serde::{Deserialize, Serialize};

use super::cross_entropy::{CrossEntropy, CrossEntropyConfig, Noise, moments};
use super::sample::{below, chance, normalise, normals, ranking};
use super::{IterationRng, Optimiser};

/// What the hybrid starts from.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct HybridConfig {
    /// How many weights a gene has.
    pub dimension: usize,
    /// Genes a generation, in both parts: 100.
    #[serde(default = "default_population")]
    pub population: usize,
    /// Generations of the genetic algorithm. The report ran it for an hour; its table of times has 20.
    #[serde(default = "default_generations")]
    pub generations: u64,
    /// The share of the genes that survives in the genetic algorithm: 0.1.
    #[serde(default = "a_tenth")]
    pub elite: f64,
    /// The probability with which a weight of a child is mutated: 0.1.
    #[serde(default = "a_tenth")]
    pub mutation: f64,
    /// The deviation of a mutation: 0.2.
    #[serde(default = "default_step")]
    pub step: f64,
    /// The share of the genes that shape the next distribution of the cross-entropy method: 0.1.
    #[serde(default = "a_tenth")]
    pub rho: f64,
    /// The noise of the cross-entropy method: the report's.
    #[serde(default = "default_noise")]
    pub noise: Noise,
}

fn default_population() -> usize {
    100
}

fn default_generations() -> u64 {
    20
}

fn a_tenth() -> f64 {
    0.1
}

fn default_step() -> f64 {
    0.2
}

fn default_noise() -> Noise {
    Noise::Cs3243
}

impl HybridConfig {
    /// The report's settings for a number of weights.
    pub fn new(dimension: usize) -> HybridConfig {
        HybridConfig {
            dimension,
            population: default_population(),
            generations: default_generations(),
            elite: a_tenth(),
            mutation: a_tenth(),
            step: default_step(),
            rho: a_tenth(),
            noise: default_noise(),
        }
    }
}

/// The genes, and from the second part on the distribution.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub struct Hybrid {
    config: HybridConfig,
    generation: u64,
    /// The genetic algorithm's genes, once told of the fittest first; empty before the first iteration.
    genes: Vec<Vec<f64>>,
    cross_entropy: Option<CrossEntropy>,
}

impl Hybrid {
    /// A search that has learned nothing.
    ///
    /// # Panics
    /// If there are no weights, fewer than two genes, no generations, or a share is not in (0, 1].
    pub fn new(config: HybridConfig) -> Hybrid {
        assert!((1..=PRIMES.len()).contains(&config.dimension), "1 to {} weights", PRIMES.len());
        assert!(config.population >= 2, "a child has two parents");
        assert!(config.generations > 0, "the genetic algorithm gives the sample");
        for share in [config.elite, config.rho] {
            assert!(share > 0.0 && share <= 1.0, "a share is above 0 and at most 1");
        }
        assert!((0.0..=1.0).contains(&config.mutation), "mutation is a probability");
        Hybrid { config, generation: 0, genes: Vec::new(), cross_entropy: None }
    }

    /// Whether the genetic algorithm is done.
    pub fn is_in_second_part(&self) -> bool {
        self.cross_entropy.is_some()
    }

    fn breed(&self, rng: &mut IterationRng) -> Vec<Vec<f64>> {
        let HybridConfig { dimension, population, elite, mutation, step, .. } = self.config;
        let mut next: Vec<Vec<f64>> =
            self.genes[..((elite * population as f64) as usize).clamp(1, population)].to_vec();
        while next.len() < population {
            // The genes are ranked: the better of two is the one with the smaller index.
            let mut parent = || below(rng, population).min(below(rng, population));
            let (mother, father) = (parent(), parent());
            let mut child: Vec<f64> = (0..dimension)
                .map(|i| self.genes[if chance(rng, 0.5) { mother } else { father }][i])
                .collect();
            let steps = normals(rng, dimension);
            for (weight, z) in child.iter_mut().zip(steps) {
                if chance(rng, mutation) {
                    *weight += step * z;
                }
            }
            normalise(&mut child);
            next.push(child);
        }
        next
    }
}

impl Optimiser for Hybrid {
    fn ask(&mut self, rng: &mut IterationRng) -> Vec<Vec<f64>> {
        if let Some(cross_entropy) = &mut self.cross_entropy {
            return cross_entropy.ask(rng);
        }
        self.genes = if self.genes.is_empty() {
            let points = halton(rng, self.config.dimension, self.config.population);
            points
                .into_iter()
                .map(|point| {
                    let mut gene: Vec<f64> = point.into_iter().map(|x| 2.0 * x - 1.0).collect();
                    normalise(&mut gene);
                    gene
                })
                .collect()
        } else {
            self.breed(rng)
        };
        self.genes.clone()
    }

    /// # Panics
    /// If the number of scores is not that of the genes.
    fn tell(&mut self, fitness: &[f64]) {
        if let Some(cross_entropy) = &mut self.cross_entropy {
            return cross_entropy.tell(fitness);
        }
        assert_eq!(fitness.len(), self.genes.len(), "one fitness for each gene");
        self.genes = ranking(fitness).into_iter().map(|index| self.genes[index].clone()).collect();
        self.generation += 1;
        if self.generation >= self.config.generations {
            let (mean, variance) = moments(self.genes.iter().map(|gene| &gene[..]));
            // The report draws generation g from N(mean, variance + Z(g)), the first with Z(0).
            let noise = self.config.noise;
            let config = CrossEntropyConfig {
                mean,
                variance: variance.into_iter().map(|v| v + noise.at(0)).collect(),
                population: self.config.population,
                rho: self.config.rho,
                noise,
                normalise: true,
            };
            self.cross_entropy = Some(CrossEntropy::new(config).noisy_from(1));
        }
    }

    /// The fittest gene of the last generation, then the mean of the distribution.
    fn favourite(&self) -> Vec<f64> {
        match &self.cross_entropy {
            Some(cross_entropy) => cross_entropy.favourite(),
            None => self.genes.first().cloned().unwrap_or_else(|| vec![0.0; self.config.dimension]),
        }
    }

    /// The mean deviation of the weights.
    fn spread(&self) -> f64 {
        match &self.cross_entropy {
            Some(cross_entropy) => cross_entropy.spread(),
            None if self.genes.is_empty() => 1.0,
            None => {
                let (_, variance) = moments(self.genes.iter().map(|gene| &gene[..]));
                variance.iter().map(|v| v.sqrt()).sum::<f64>() / variance.len() as f64
            }
        }
    }

    /// Tournaments look at the rank of every gene; half of them is what a race can usefully tell apart.
    fn parents(&self) -> usize {
        match &self.cross_entropy {
            Some(cross_entropy) => cross_entropy.parents(),
            None => self.config.population.div_ceil(2),
        }
    }
}

/// The bases of the Halton sequence.
const PRIMES: [u64; 32] = [
    2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97, 101, 103,
    107, 109, 113, 127, 131,
];

/// The first points of a randomised Halton sequence in the unit cube (A. Owen, "A randomized Halton algorithm in R",
/// 2017): coordinate i of point k has the digits of k in the i-th prime, mirrored at the point, each digit position with
/// a random permutation of its own. Unscrambled, coordinates of large bases would be almost proportional to each other.
///
/// # Panics
/// If there are more than 32 dimensions.
pub fn halton(rng: &mut IterationRng, dimension: usize, count: usize) -> Vec<Vec<f64>> {
    let mut points = vec![vec![0.0; dimension]; count];
    for (coordinate, &base) in PRIMES[..dimension].iter().enumerate() {
        let mut place = 1.0 / base as f64;
        let mut divisor = 1;
        // Beyond 2^-40 further digits change nothing that matters, and u64 cannot overflow.
        while place > 1.0 / (1u64 << 40) as f64 {
            let mut permutation: Vec<u64> = (0..base).collect();
            for last in (1..permutation.len()).rev() {
                permutation.swap(last, below(rng, last + 1));
            }
            for (k, point) in points.iter_mut().enumerate() {
                let digit = k as u64 / divisor % base;
                point[coordinate] += permutation[digit as usize] as f64 * place;
            }
            place /= base as f64;
            divisor *= base;
        }
    }
    points
}

#[cfg(test)]
mod tests {
    use super::super::sample::tests::{continues_from_a_checkpoint, rng};
    use super::super::sample::{norm, uniform};
    use super::*;

    #[test]
    fn each_interval_holds_its_share_of_halton_points() {
        for (coordinate, &base) in PRIMES[..8].iter().enumerate() {
            let cells = (base * base) as usize;
            let mut counts = vec![0; cells];
            for point in halton(&mut rng(4), 8, 3 * cells) {
                assert!(point.iter().all(|x| (0.0..1.0).contains(x)));
                counts[(point[coordinate] * cells as f64 + 1e-7) as usize] += 1;
            }
            assert!(counts.iter().all(|&count| count == 3), "base {base}: {counts:?}");
        }
    }

    /// The largest difference between the share of points in a box at the origin and its volume, over a grid of boxes.
    fn discrepancy(points: &[Vec<f64>], i: usize, j: usize) -> f64 {
        let mut worst: f64 = 0.0;
        for a in 1..=20 {
            for b in 1..=20 {
                let (a, b) = (f64::from(a) / 20.0, f64::from(b) / 20.0);
                let inside = points.iter().filter(|p| p[i] < a && p[j] < b).count();
                worst = worst.max((inside as f64 / points.len() as f64 - a * b).abs());
            }
        }
        worst
    }

    #[test]
    fn halton_points_are_spread_more_evenly_than_random_ones() {
        let (mut even, mut random) = (0.0, 0.0);
        for seed in 0..10 {
            let mut rng = rng(seed);
            let points = halton(&mut rng, 8, 200);
            let others: Vec<Vec<f64>> =
                (0..200).map(|_| (0..8).map(|_| uniform(&mut rng)).collect()).collect();
            // Neighbouring bases, the small and the large ones.
            for (i, j) in [(0, 1), (1, 2), (3, 4), (6, 7)] {
                even += discrepancy(&points, i, j);
                random += discrepancy(&others, i, j);
            }
        }
        assert!(even < 0.7 * random, "{even} against {random}");
    }

    /// The angle to a hidden direction.
    fn cosine(x: &[f64]) -> f64 {
        let goal: Vec<f64> = (0..x.len()).map(|i| 1.0 - 0.4 * i as f64).collect();
        x.iter().zip(&goal).map(|(x, g)| x * g).sum::<f64>() / norm(x) / norm(&goal)
    }

    #[test]
    fn both_parts_learn_and_all_genes_have_length_one() {
        let mut search = Hybrid::new(HybridConfig::new(8));
        for iteration in 0..60 {
            assert_eq!(search.is_in_second_part(), iteration >= 20);
            let asked = search.ask(&mut rng(iteration));
            assert_eq!(asked.len(), 100);
            assert!(asked.iter().all(|x| (norm(x) - 1.0).abs() < 1e-12));
            search.tell(&asked.iter().map(|x| cosine(x)).collect::<Vec<_>>());
            if iteration == 19 {
                assert!(cosine(&search.favourite()) > 0.95, "{}", cosine(&search.favourite()));
            }
        }
        assert!(cosine(&search.favourite()) > 0.99, "{}", cosine(&search.favourite()));
    }

    #[test]
    fn the_second_part_starts_from_the_moments_of_the_first() {
        let config = HybridConfig { generations: 1, population: 10, ..HybridConfig::new(3) };
        let mut search = Hybrid::new(config);
        let asked = search.ask(&mut rng(1));
        search.tell(&[0.0; 10]);
        let (mean, variance) = moments(asked.iter().map(|x| &x[..]));
        assert_eq!(search.favourite().len(), 3);
        assert!(search.favourite().iter().zip(&mean).all(|(a, b)| (a - b).abs() < 1e-12));
        let found = search.cross_entropy.as_ref().unwrap().variance();
        assert!(found.iter().zip(&variance).all(|(a, b)| (a - b - Noise::Cs3243.at(0)).abs() < 1e-12));
    }

    #[test]
    fn continues_bit_for_bit() {
        let config = HybridConfig { generations: 6, population: 20, ..HybridConfig::new(8) };
        continues_from_a_checkpoint(Hybrid::new(config), 14, cosine);
    }
}
