//! A steady-state genetic algorithm after D. Whitley's Genitor: L. Flom and C. Robinson, "Using a genetic algorithm to
//! weight an evaluation function for Tetris" (2004).
//!
//! A chromosome is a string of bits, read as 32-bit floats of IEEE 754, one a weight. In each iteration two parents make
//! one child; the child and a mutated copy of it join the population, and the two worst leave it. A member is played
//! once, when it joins.
//!
//! Some strings are read as infinite or as no number; a player cannot be made of those. Such a weight is read as 0:
//! its feature is ignored. The bits stay as they are and take part in crossover.

use rand_core::Rng;
use serde::{Deserialize, Serialize};

use super::sample::{below, chance, ranking, uniform};
use super::{IterationRng, Optimiser};

/// How two parents make a child.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Crossover {
    /// Each bit from either parent, with equal chance.
    Uniform,
    /// The bits before a random point from one parent, those after it from the other.
    OnePoint,
    /// Half of the bits that differ, chosen at random, from the other parent: as far from both as can be (Eshelman's
    /// half uniform crossover).
    Hux,
    /// One point, chosen between the first and the last bit that differ, so that the child is neither parent unless
    /// they differ in one bit at most (Booker's reduced surrogate).
    ReducedSurrogate,
}

/// How parents are chosen.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq)]
#[serde(rename_all = "snake_case")]
pub enum Selection {
    /// Every member as likely: Flom and Robinson's.
    Random,
    /// By rank, the best member `bias` times as likely as the median: Whitley's, with 1.5.
    Rank {
        /// More than 1, at most 2.
        bias: f64,
    },
}

/// What a Genitor starts from.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct GenitorConfig {
    /// How many weights a chromosome has.
    pub dimension: usize,
    /// Members. The paper does not tell how many it had: 100.
    #[serde(default = "default_population")]
    pub population: usize,
    /// How two parents make a child: uniformly, as the paper settled on.
    #[serde(default = "default_crossover")]
    pub crossover: Crossover,
    /// How parents are chosen: at random, as in the paper.
    #[serde(default = "default_selection")]
    pub selection: Selection,
    /// The probability with which a bit of the copy flips. The paper does not tell it: 0.01.
    #[serde(default = "default_mutation")]
    pub mutation: f64,
}

fn default_population() -> usize {
    100
}

fn default_crossover() -> Crossover {
    Crossover::Uniform
}

fn default_selection() -> Selection {
    Selection::Random
}

fn default_mutation() -> f64 {
    0.01
}

impl GenitorConfig {
    /// The defaults for a number of weights.
    pub fn new(dimension: usize) -> GenitorConfig {
        GenitorConfig {
            dimension,
            population: default_population(),
            crossover: default_crossover(),
            selection: default_selection(),
            mutation: default_mutation(),
        }
    }
}

/// A member: its bits, a word a weight, and how fit it was when it joined.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
struct Member {
    bits: Vec<u32>,
    fitness: f64,
}

/// The population, the best member first.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub struct Genitor {
    config: GenitorConfig,
    members: Vec<Member>,
    /// Asked about, not yet told of.
    candidates: Vec<Vec<u32>>,
}

/// The weights that a chromosome stands for.
///
/// ```
/// use host::train::genitor::weights;
/// assert_eq!(weights(&[(-1.5f32).to_bits(), f32::NAN.to_bits(), f32::INFINITY.to_bits()]), [-1.5, 0.0, 0.0]);
/// ```
pub fn weights(bits: &[u32]) -> Vec<f64> {
    bits.iter()
        .map(|&word| {
            let weight = f32::from_bits(word);
            if weight.is_finite() { f64::from(weight) } else { 0.0 }
        })
        .collect()
}

impl Genitor {
    /// A search that has no members yet: the first iteration draws and plays the whole population.
    ///
    /// # Panics
    /// If there are no weights, fewer than two members, or mutation is no probability.
    pub fn new(config: GenitorConfig) -> Genitor {
        assert!(config.dimension > 0, "a candidate has at least one weight");
        assert!(config.population >= 2, "a child has two parents");
        assert!((0.0..=1.0).contains(&config.mutation), "mutation is a probability");
        Genitor { config, members: Vec::new(), candidates: Vec::new() }
    }

    /// The fitness of the best, the middle and the worst member; None before the first iteration.
    pub fn levels(&self) -> Option<[f64; 3]> {
        let last = self.members.len().checked_sub(1)?;
        Some([0, last / 2, last].map(|index| self.members[index].fitness))
    }

    fn parent(&self, rng: &mut IterationRng) -> usize {
        match self.config.selection {
            Selection::Random => below(rng, self.members.len()),
            Selection::Rank { bias } => rank_biased(rng, self.members.len(), bias),
        }
    }
}

/// A rank, 0 the best, by Whitley's linear bias.
fn rank_biased(rng: &mut IterationRng, ranks: usize, bias: f64) -> usize {
    let u = uniform(rng);
    // The inverse of the cumulative distribution whose density falls linearly from `bias` to 2 - bias.
    let share = if bias > 1.0 {
        (bias - (bias * bias - 4.0 * (bias - 1.0) * u).max(0.0).sqrt()) / (2.0 * (bias - 1.0))
    } else {
        u
    };
    ((share * ranks as f64) as usize).min(ranks - 1)
}

/// The child of two parents.
fn cross(rng: &mut IterationRng, crossover: Crossover, a: &[u32], b: &[u32]) -> Vec<u32> {
    let bits = 32 * a.len();
    let differs = |bit: usize| (a[bit / 32] ^ b[bit / 32]) >> (bit % 32) & 1 == 1;
    let mut child = a.to_vec();
    // Bits are numbered from the lowest of the first weight.
    let mut from_b = |bit: usize| {
        child[bit / 32] = (child[bit / 32] & !(1 << (bit % 32))) | (b[bit / 32] & 1 << (bit % 32));
    };
    match crossover {
        Crossover::Uniform => {
            return a
                .iter()
                .zip(b)
                .map(|(a, b)| {
                    let mask = rng.next_u32();
                    (a & mask) | (b & !mask)
                })
                .collect();
        }
        Crossover::OnePoint => {
            let point = 1 + below(rng, bits - 1);
            (point..bits).for_each(&mut from_b);
        }
        Crossover::Hux => {
            let mut differing: Vec<usize> = (0..bits).filter(|&bit| differs(bit)).collect();
            // Half of them, by the first half of a shuffle; of an odd number the larger half or the smaller.
            let half = (differing.len() + below(rng, 2)) / 2;
            for taken in 0..half {
                let drawn = taken + below(rng, differing.len() - taken);
                differing.swap(taken, drawn);
                from_b(differing[taken]);
            }
        }
        Crossover::ReducedSurrogate => {
            let differing: Vec<usize> = (0..bits).filter(|&bit| differs(bit)).collect();
            if differing.len() > 1 {
                let point = differing[1 + below(rng, differing.len() - 1)];
                (point..bits).for_each(&mut from_b);
            }
        }
    }
    child
}

/// A copy, each bit flipped with the given probability.
fn mutate(rng: &mut IterationRng, probability: f64, bits: &[u32]) -> Vec<u32> {
    bits.iter()
        .map(|&word| (0..32).fold(word, |word, bit| word ^ (u32::from(chance(rng, probability)) << bit)))
        .collect()
}

impl Optimiser for Genitor {
    /// The whole population at first; then a child and its mutated copy.
    fn ask(&mut self, rng: &mut IterationRng) -> Vec<Vec<f64>> {
        self.candidates = if self.members.is_empty() {
            (0..self.config.population)
                .map(|_| (0..self.config.dimension).map(|_| rng.next_u32()).collect())
                .collect()
        } else {
            let mother = self.parent(rng);
            let mut father = self.parent(rng);
            while father == mother {
                father = self.parent(rng);
            }
            let (mother, father) = (&self.members[mother].bits, &self.members[father].bits);
            let child = cross(rng, self.config.crossover, mother, father);
            let copy = mutate(rng, self.config.mutation, &child);
            vec![child, copy]
        };
        self.candidates.iter().map(|bits| weights(bits)).collect()
    }

    /// # Panics
    /// If the number of scores is not that of the candidates.
    fn tell(&mut self, fitness: &[f64]) {
        assert_eq!(fitness.len(), self.candidates.len(), "one fitness for each candidate");
        let joining = self.candidates.drain(..).zip(fitness).map(|(bits, &fitness)| Member {
            bits,
            // A checkpoint cannot hold what is not finite.
            fitness: if fitness.is_nan() { f64::MIN } else { fitness.clamp(f64::MIN, f64::MAX) },
        });
        self.members.extend(joining);
        let all: Vec<f64> = self.members.iter().map(|member| member.fitness).collect();
        // Of equals, who was there first ranks first.
        self.members =
            ranking(&all).into_iter().take(self.config.population).map(|i| self.members[i].clone()).collect();
    }

    /// The best member.
    fn favourite(&self) -> Vec<f64> {
        self.members.first().map_or(vec![0.0; self.config.dimension], |member| weights(&member.bits))
    }

    /// The share of bits in which members differ: the mean over all bits of twice the rarer value's share; 1 when
    /// random, 0 when all members are alike. Weights that span the range of floats have no useful deviation.
    fn spread(&self) -> f64 {
        if self.members.is_empty() {
            return 1.0;
        }
        let bits = 32 * self.config.dimension;
        let rarer: usize = (0..bits)
            .map(|bit| {
                let ones = self.members.iter().filter(|m| m.bits[bit / 32] >> (bit % 32) & 1 == 1).count();
                ones.min(self.members.len() - ones)
            })
            .sum();
        2.0 * rarer as f64 / (bits * self.members.len()) as f64
    }

    /// Every candidate counts: its fitness stays with it.
    fn parents(&self) -> usize {
        if self.members.is_empty() { self.config.population } else { 2 }
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample::tests::{continues_from_a_checkpoint, rng};
    use super::*;

    const ALL: [Crossover; 4] =
        [Crossover::Uniform, Crossover::OnePoint, Crossover::Hux, Crossover::ReducedSurrogate];

    fn distance(a: &[u32], b: &[u32]) -> u32 {
        a.iter().zip(b).map(|(a, b)| (a ^ b).count_ones()).sum()
    }

    fn random(rng: &mut IterationRng) -> Vec<u32> {
        (0..3).map(|_| rng.next_u32()).collect()
    }

    #[test]
    fn every_bit_of_a_child_is_a_parents() {
        let mut rng = rng(1);
        for crossover in ALL {
            for _ in 0..200 {
                let (a, b) = (random(&mut rng), random(&mut rng));
                let child = cross(&mut rng, crossover, &a, &b);
                for ((c, a), b) in child.iter().zip(&a).zip(&b) {
                    assert_eq!((c ^ a) & (c ^ b), 0);
                }
                assert_eq!(cross(&mut rng, crossover, &a, &a), a);
            }
        }
    }

    #[test]
    fn a_child_of_hux_stands_halfway_between_its_parents() {
        let mut rng = rng(2);
        for _ in 0..200 {
            let (a, b) = (random(&mut rng), random(&mut rng));
            let child = cross(&mut rng, Crossover::Hux, &a, &b);
            assert!(distance(&child, &a).abs_diff(distance(&child, &b)) <= 1);
            assert_eq!(distance(&child, &a) + distance(&child, &b), distance(&a, &b));
        }
    }

    #[test]
    fn a_reduced_surrogate_is_never_a_parent_and_one_point_may_be() {
        let mut rng = rng(3);
        let a = random(&mut rng);
        // Parents alike but for a few bits, as at the end of a search.
        let b = vec![a[0] ^ 1 << 7, a[1] ^ 1 << 3 ^ 1 << 30, a[2]];
        let parents = |rng: &mut IterationRng, crossover| {
            (0..300).filter(|_| [&a, &b].contains(&&cross(rng, crossover, &a, &b))).count()
        };
        assert_eq!(parents(&mut rng, Crossover::ReducedSurrogate), 0);
        assert_eq!(parents(&mut rng, Crossover::Hux), 0);
        assert!(parents(&mut rng, Crossover::OnePoint) > 50);
        // It has one point: what comes from a is a head, what comes from b is a tail, in the differing bits.
        let children: std::collections::BTreeSet<Vec<u32>> =
            (0..300).map(|_| cross(&mut rng, Crossover::ReducedSurrogate, &a, &b)).collect();
        let heads = [vec![a[0], b[1], b[2]], vec![a[0], a[1] ^ 1 << 30, b[2]]];
        assert_eq!(children, heads.into_iter().collect());
    }

    #[test]
    fn mutation_flips_the_share_it_is_told() {
        let mut rng = rng(4);
        let a = vec![0u32; 1000];
        let flipped = distance(&a, &mutate(&mut rng, 0.02, &a));
        assert!(flipped.abs_diff(640) < 100, "{flipped}");
        assert_eq!(mutate(&mut rng, 0.0, &a), a);
    }

    #[test]
    fn rank_selection_prefers_the_best_by_its_bias() {
        let mut rng = rng(5);
        let mut counts = [0; 10];
        for _ in 0..100_000 {
            counts[rank_biased(&mut rng, 10, 1.5)] += 1;
        }
        // The density falls from 1.5 to 0.5; the first tenth of it averages 1.45, the last 0.55.
        for (rank, &count) in counts.iter().enumerate() {
            let expected = 10_000.0 * (1.45 - 0.1 * rank as f64);
            assert!((f64::from(count) - expected).abs() < 500.0, "{counts:?}");
        }
    }

    /// More is better; floats of any size.
    fn fitness(x: &[f64]) -> f64 {
        let signs: f64 = x.iter().zip([1.0, -1.0, -1.0, 1.0, -1.0]).map(|(x, s)| x.signum() * s).sum();
        signs - x.iter().map(|x| (x.abs().max(1e-30).log10() - 2.0).abs()).sum::<f64>() / 40.0
    }

    #[test]
    fn the_population_keeps_its_size_and_its_best_and_learns() {
        for crossover in ALL {
            for selection in [Selection::Random, Selection::Rank { bias: 1.5 }] {
                let config = GenitorConfig { crossover, selection, population: 30, ..GenitorConfig::new(5) };
                let mut search = Genitor::new(config);
                let mut last = [f64::MIN; 3];
                for iteration in 0..400 {
                    let asked = search.ask(&mut rng(iteration));
                    assert_eq!(asked.len(), if iteration == 0 { 30 } else { 2 });
                    assert!(asked.iter().flatten().all(|x| x.is_finite()));
                    search.tell(&asked.iter().map(|x| fitness(x)).collect::<Vec<_>>());
                    let levels = search.levels().unwrap();
                    assert!(levels.iter().zip(last).all(|(new, old)| *new >= old));
                    assert_eq!(search.members.len(), 30);
                    last = levels;
                }
                assert_eq!(fitness(&search.favourite()), last[0]);
                assert!(last[0] > 4.5, "{crossover:?}: {last:?}");
                assert!(search.spread() < 0.8);
            }
        }
    }

    #[test]
    fn continues_bit_for_bit() {
        for crossover in ALL {
            let config = GenitorConfig { crossover, population: 10, ..GenitorConfig::new(5) };
            continues_from_a_checkpoint(Genitor::new(config), 40, fitness);
        }
    }
}
