//! (mu/mu_w, lambda)-CMA-ES: N. Hansen, "The CMA Evolution Strategy: A Tutorial" (2016), as A. Boumaza uses it in "On
//! the evolution of artificial Tetris players" (2009) and "Reducing the learning time of Tetris in evolution
//! strategies" (2012).
//!
//! This is the plain variant, with positive weights only. Its default parameters are those that pycma 4.5 has with the
//! option `CMA_active` off; they differ from the tutorial's in the denominator of c_sigma (n + mu_eff + 3, and at most
//! 1/2). For populations much larger than the default pycma 4.5 damps the step size more than the tutorial, whose
//! damping is the one used here. `host/scripts/pycma_reference.py` made the figures that the tests compare with.
//!
//! - Boumaza's normalisation: a greedy player is the same for every positive multiple of its weights, and without
//!   measures the step size and the axes diverge. Offspring are scaled to length 1 after sampling, and the step that
//!   is learned from is the one that leads to the scaled offspring, (x - m) / sigma.
//! - IPOP (A. Auger and N. Hansen, "A restart CMA evolution strategy with increasing population size", 2005): when
//!   the search has nothing more to find, it starts again elsewhere with twice the population. See [`Restart`].
//!
//! Products of matrices are written as loops: the fast ones use fused operations where the machine has them, and their
//! results then differ in the last bit from one machine to another.

use nalgebra::{DMatrix, SymmetricEigen};
use serde::{Deserialize, Serialize};

use super::sample::{norm, normalise, normals, ranking, unit_vector};
use super::{IterationRng, Optimiser};

/// What a CMA-ES starts from.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct CmaEsConfig {
    /// How many weights a candidate has.
    pub dimension: usize,
    /// The first mean. None: a random vector of length 1, as Boumaza has it.
    #[serde(default)]
    pub start: Option<Vec<f64>>,
    /// The first step size; 0.5 as Boumaza has it.
    #[serde(default = "default_sigma")]
    pub sigma: f64,
    /// Offspring an iteration, lambda. None: 4 + floor(3 ln n).
    #[serde(default)]
    pub population: Option<usize>,
    /// Whether offspring are scaled to length 1; yes, as Boumaza has it.
    #[serde(default = "yes")]
    pub normalise: bool,
    /// When to start again with a larger population. None: never.
    #[serde(default)]
    pub restart: Option<Restart>,
}

fn default_sigma() -> f64 {
    0.5
}

fn yes() -> bool {
    true
}

impl CmaEsConfig {
    /// The defaults for a number of weights.
    pub fn new(dimension: usize) -> CmaEsConfig {
        CmaEsConfig {
            dimension,
            start: None,
            sigma: default_sigma(),
            population: None,
            normalise: true,
            restart: None,
        }
    }
}

/// IPOP: when the search ends, and by how much the population grows. Any one of the criteria ends it.
///
/// A search starts again at a random point as far from the origin as the first one was.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
#[serde(default, deny_unknown_fields)]
pub struct Restart {
    /// The population grows by this factor: 2 in the paper.
    pub factor: usize,
    /// The step collapsed: in no direction is its deviation above this multiple of the first step size. 1e-12 in the
    /// paper; with noisy scores a larger one, 0.01, say, saves games that cannot tell the offspring apart.
    pub collapse: f64,
    /// The step exploded: its deviation in some direction is above this multiple of the first step size; pycma has 1e3.
    pub explosion: f64,
    /// The covariance has degenerated: its condition number is above this; 1e14 in the paper.
    pub condition: f64,
    /// The fitness is flat: in so many iterations in a row the best offspring and the parents all scored the same. None:
    /// 10 + ceil(30 n / lambda), as in the paper.
    pub flat: Option<u64>,
}

impl Default for Restart {
    fn default() -> Restart {
        Restart { factor: 2, collapse: 1e-12, explosion: 1e3, condition: 1e14, flat: None }
    }
}

/// The constants of the strategy for a dimension and a population.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameters {
    /// The weights of the parents, the best first; they sum to 1, and their number is mu.
    pub weights: Vec<f64>,
    /// The variance-effective number of parents.
    pub mu_eff: f64,
    /// How fast the path of the step size forgets.
    pub c_sigma: f64,
    /// How slowly the step size changes.
    pub d_sigma: f64,
    /// How fast the path of the covariance forgets.
    pub c_c: f64,
    /// How fast the covariance learns from its path.
    pub c_1: f64,
    /// How fast the covariance learns from the parents.
    pub c_mu: f64,
    /// The expected length of a standard normal vector.
    pub chi: f64,
}

impl Parameters {
    /// pycma's defaults: see the module.
    pub fn new(dimension: usize, lambda: usize) -> Parameters {
        let n = dimension as f64;
        let middle = libm::log((lambda as f64 + 1.0) / 2.0);
        let mut weights: Vec<f64> =
            (1..=lambda).map(|i| middle - libm::log(i as f64)).take_while(|&w| w > 0.0).collect();
        let sum: f64 = weights.iter().sum();
        weights.iter_mut().for_each(|w| *w /= sum);
        let mu_eff = 1.0 / weights.iter().map(|w| w * w).sum::<f64>();
        let c_sigma = ((mu_eff + 2.0) / (n + mu_eff + 3.0)).min(0.5);
        let d_sigma = 1.0 + 2.0 * (((mu_eff - 1.0) / (n + 1.0)).sqrt() - 1.0).max(0.0) + c_sigma;
        let c_c = (4.0 + mu_eff / n) / (n + 4.0 + 2.0 * mu_eff / n);
        let c_1 = (lambda as f64 / 6.0).min(1.0) * 2.0 / ((n + 1.3) * (n + 1.3) + mu_eff);
        let c_mu =
            (2.0 * (0.25 + mu_eff + 1.0 / mu_eff - 2.0) / ((n + 2.0) * (n + 2.0) + mu_eff)).min(1.0 - c_1);
        let chi = n.sqrt() * (1.0 - 1.0 / (4.0 * n) + 1.0 / (21.0 * n * n));
        Parameters { weights, mu_eff, c_sigma, d_sigma, c_c, c_1, c_mu, chi }
    }
}

/// The default population for a dimension: 4 + floor(3 ln n).
pub fn default_population(dimension: usize) -> usize {
    4 + (3.0 * libm::log(dimension as f64)) as usize
}

/// The strategy and all it has learned.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub struct CmaEs {
    config: CmaEsConfig,
    lambda: usize,
    /// None before the first iteration of a search whose start is drawn.
    mean: Option<Vec<f64>>,
    sigma: f64,
    path_sigma: Vec<f64>,
    path_c: Vec<f64>,
    covariance: Vec<Vec<f64>>,
    /// The axes of the covariance, each a unit vector, and the deviation along each.
    axes: Vec<Vec<f64>>,
    deviations: Vec<f64>,
    /// Iterations of this search, and the one whose covariance the axes are of.
    iteration: u64,
    axes_of: u64,
    flat_iterations: u64,
    offspring: Vec<Vec<f64>>,
    /// The means with which searches ended.
    finished: Vec<Vec<f64>>,
}

impl CmaEs {
    /// A strategy that has learned nothing.
    ///
    /// # Panics
    /// If the dimension is 0, the start has another, the step is not positive and finite, or the population is below 3.
    pub fn new(config: CmaEsConfig) -> CmaEs {
        let n = config.dimension;
        let lambda = config.population.unwrap_or(default_population(n));
        assert!(n > 0, "a candidate has at least one weight");
        assert!(
            config.start.as_ref().is_none_or(|start| start.len() == n),
            "the start has another dimension"
        );
        assert!(config.sigma > 0.0 && config.sigma.is_finite(), "a step size is positive");
        assert!(lambda >= 3, "CMA-ES needs a population of 3");
        let mean = config.start.clone();
        let mut strategy = CmaEs {
            config,
            lambda,
            mean: None,
            sigma: 0.0,
            path_sigma: Vec::new(),
            path_c: Vec::new(),
            covariance: Vec::new(),
            axes: Vec::new(),
            deviations: Vec::new(),
            iteration: 0,
            axes_of: 0,
            flat_iterations: 0,
            offspring: Vec::new(),
            finished: Vec::new(),
        };
        strategy.begin(mean, lambda);
        strategy
    }

    fn begin(&mut self, mean: Option<Vec<f64>>, lambda: usize) {
        let n = self.config.dimension;
        let unit = |i: usize| (0..n).map(|j| f64::from(u8::from(i == j))).collect::<Vec<f64>>();
        self.lambda = lambda;
        self.mean = mean;
        self.sigma = self.config.sigma;
        self.path_sigma = vec![0.0; n];
        self.path_c = vec![0.0; n];
        self.covariance = (0..n).map(unit).collect();
        self.axes = (0..n).map(unit).collect();
        self.deviations = vec![1.0; n];
        (self.iteration, self.axes_of, self.flat_iterations) = (0, 0, 0);
    }

    /// The step size.
    pub fn sigma(&self) -> f64 {
        self.sigma
    }

    /// Offspring an iteration.
    pub fn population(&self) -> usize {
        self.lambda
    }

    /// The means with which earlier searches ended, in order: IPOP's contenders beside the present mean.
    pub fn finished(&self) -> &[Vec<f64>] {
        &self.finished
    }

    /// The axes are found anew only when the covariance can have changed by a tenth of itself per dimension; the rule
    /// is the tutorial's. In the dimensions of players that is every iteration.
    fn find_axes(&mut self, parameters: &Parameters) {
        let n = self.config.dimension;
        let gap = 1.0 / ((parameters.c_1 + parameters.c_mu) * n as f64 * 10.0);
        let waited = self.iteration - self.axes_of;
        if waited == 0 || (waited as f64) < gap {
            return;
        }
        let covariance = DMatrix::from_fn(n, n, |i, j| self.covariance[i][j]);
        let eigen = SymmetricEigen::new(covariance);
        let largest = eigen.eigenvalues.iter().fold(0.0, |largest: f64, &value| largest.max(value));
        // Rounding can leave a variance below zero. It is then as good as the smallest that counts beside the largest.
        let floor = (largest * f64::EPSILON * f64::EPSILON).max(f64::MIN_POSITIVE);
        for k in 0..n {
            self.deviations[k] = eigen.eigenvalues[k].max(floor).sqrt();
            self.axes[k] = (0..n).map(|i| eigen.eigenvectors[(i, k)]).collect();
        }
        self.axes_of = self.iteration;
    }

    /// C^(-1/2) times a vector.
    fn whiten(&self, vector: &[f64]) -> Vec<f64> {
        let mut white = vec![0.0; vector.len()];
        for (axis, deviation) in self.axes.iter().zip(&self.deviations) {
            let along = dot(axis, vector) / deviation;
            for (w, a) in white.iter_mut().zip(axis) {
                *w += along * a;
            }
        }
        white
    }

    /// Whether one of the criteria of [`Restart`] ends the search.
    fn is_exhausted(&self, restart: &Restart) -> bool {
        let n = self.config.dimension;
        let widest =
            (0..n).map(|i| self.covariance[i][i].sqrt().max(self.path_c[i].abs())).fold(0.0, f64::max);
        let (largest, smallest) =
            self.deviations.iter().fold((0.0f64, f64::INFINITY), |(l, s), &d| (l.max(d), s.min(d)));
        let flat = restart.flat.unwrap_or(10 + (30 * n).div_ceil(self.lambda) as u64);
        let step = self.sigma * widest / self.config.sigma;
        let ratio = largest / smallest;
        // Written so that a step or a ratio that is no number ends the search too.
        let sound = step >= restart.collapse
            && step <= restart.explosion
            && ratio * ratio <= restart.condition
            && self.flat_iterations < flat;
        !sound
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

impl Optimiser for CmaEs {
    fn ask(&mut self, rng: &mut IterationRng) -> Vec<Vec<f64>> {
        let n = self.config.dimension;
        let parameters = Parameters::new(n, self.lambda);
        let mean = match self.mean.take() {
            Some(mean) => mean,
            None => {
                let first = self.config.start.as_ref().map_or(1.0, |start| norm(start));
                let length = if first > 0.0 { first } else { 1.0 };
                unit_vector(rng, n).into_iter().map(|x| x * length).collect()
            }
        };
        self.find_axes(&parameters);
        self.offspring.clear();
        for _ in 0..self.lambda {
            let mut x = mean.clone();
            let drawn = normals(rng, n);
            for ((axis, deviation), z) in self.axes.iter().zip(&self.deviations).zip(drawn) {
                let along = self.sigma * deviation * z;
                for (x, a) in x.iter_mut().zip(axis) {
                    *x += along * a;
                }
            }
            if self.config.normalise {
                normalise(&mut x);
            }
            self.offspring.push(x);
        }
        self.mean = Some(mean);
        self.offspring.clone()
    }

    /// # Panics
    /// If nothing was asked, or the number of scores is not that of the offspring.
    fn tell(&mut self, fitness: &[f64]) {
        assert_eq!(fitness.len(), self.offspring.len(), "one fitness for each offspring");
        let mut mean = self.mean.take().expect("offspring were asked for");
        let n = self.config.dimension;
        let Parameters { weights, mu_eff, c_sigma, d_sigma, c_c, c_1, c_mu, chi } =
            Parameters::new(n, self.lambda);
        let order = ranking(fitness);
        let steps: Vec<Vec<f64>> = order[..weights.len()]
            .iter()
            .map(|&i| self.offspring[i].iter().zip(&mean).map(|(x, m)| (x - m) / self.sigma).collect())
            .collect();
        let mut step = vec![0.0; n];
        for (w, y) in weights.iter().zip(&steps) {
            for (s, y) in step.iter_mut().zip(y) {
                *s += w * y;
            }
        }
        for (m, s) in mean.iter_mut().zip(&step) {
            *m += self.sigma * s;
        }
        self.mean = Some(mean);
        self.iteration += 1;

        let gain = (c_sigma * (2.0 - c_sigma) * mu_eff).sqrt();
        let white = self.whiten(&step);
        for (p, w) in self.path_sigma.iter_mut().zip(white) {
            *p = (1.0 - c_sigma) * *p + gain * w;
        }
        // A long path of the step size stalls the covariance's: else it would stretch along a path that only says that
        // the steps are too short.
        let square = dot(&self.path_sigma, &self.path_sigma);
        let filled = 1.0 - libm::pow(1.0 - c_sigma, 2.0 * self.iteration as f64);
        let moves = square / filled / (n as f64) < 2.0 + 4.0 / (n as f64 + 1.0);
        let gain = if moves { (c_c * (2.0 - c_c) * mu_eff).sqrt() } else { 0.0 };
        for (p, s) in self.path_c.iter_mut().zip(&step) {
            *p = (1.0 - c_c) * *p + gain * s;
        }
        // What the stalled path would have added to the variance stays.
        let lost = if moves { c_1 } else { c_1 * (1.0 - c_c * (2.0 - c_c)) };
        for i in 0..n {
            for j in 0..=i {
                let parents: f64 = weights.iter().zip(&steps).map(|(w, y)| w * y[i] * y[j]).sum();
                let value = (1.0 - lost - c_mu) * self.covariance[i][j]
                    + c_1 * self.path_c[i] * self.path_c[j]
                    + c_mu * parents;
                (self.covariance[i][j], self.covariance[j][i]) = (value, value);
            }
        }
        // pycma lets the step grow at most e times at once. The limits only keep a checkpoint's numbers finite where
        // nothing else holds the step: at a goal that no longer changes, or with directions that are not scaled.
        self.sigma *= libm::exp((c_sigma / d_sigma * (square.sqrt() / chi - 1.0)).min(1.0));
        self.sigma = self.sigma.clamp(1e-30, 1e30);

        let parent = order[weights.len().min(order.len() - 1)];
        let is_flat = fitness[order[0]] == fitness[parent];
        self.flat_iterations = if is_flat { self.flat_iterations + 1 } else { 0 };
        self.offspring.clear();
        if let Some(restart) = &self.config.restart
            && self.is_exhausted(restart)
        {
            let lambda = self.lambda * restart.factor.max(1);
            self.finished.extend(self.mean.take());
            self.begin(None, lambda);
        }
    }

    /// The mean; right after a restart the mean with which the search before it ended.
    fn favourite(&self) -> Vec<f64> {
        let last = self.mean.as_ref().or(self.finished.last());
        last.cloned().unwrap_or_else(|| vec![0.0; self.config.dimension])
    }

    /// The step size times the deviation of the widest axis.
    fn spread(&self) -> f64 {
        self.sigma * self.deviations.iter().fold(0.0, |widest: f64, &d| widest.max(d))
    }

    fn contenders(&self) -> Vec<Vec<f64>> {
        self.finished.iter().cloned().chain(self.mean.clone()).collect()
    }

    fn parents(&self) -> usize {
        // As many as have a positive weight: ln((lambda + 1) / 2) > ln i.
        self.lambda / 2
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample::tests::{continues_from_a_checkpoint, rng};
    use super::*;

    #[derive(Deserialize)]
    struct Reference {
        target: f64,
        constants: Vec<Constants>,
        runs: Vec<Run>,
    }

    #[derive(Deserialize)]
    struct Constants {
        dimension: usize,
        lambda: usize,
        mu: usize,
        weights: Vec<f64>,
        mu_eff: f64,
        c_sigma: f64,
        d_sigma: f64,
        c_c: f64,
        c_1: f64,
        c_mu: f64,
    }

    #[derive(Deserialize)]
    struct Run {
        function: String,
        dimension: usize,
        start: f64,
        sigma: f64,
        median: f64,
        evaluations: Vec<Option<u64>>,
    }

    fn reference() -> Reference {
        serde_json::from_str(include_str!("../../tests/data/pycma.json")).unwrap()
    }

    #[test]
    fn constants_are_those_of_pycma() {
        for expected in reference().constants {
            let n = expected.dimension;
            assert_eq!(default_population(n), expected.lambda, "dimension {n}");
            let found = Parameters::new(n, expected.lambda);
            assert_eq!(found.weights.len(), expected.mu);
            assert_eq!(CmaEs::new(CmaEsConfig::new(n)).parents(), expected.mu);
            let pairs = [
                (found.mu_eff, expected.mu_eff),
                (found.c_sigma, expected.c_sigma),
                (found.d_sigma, expected.d_sigma),
                (found.c_c, expected.c_c),
                (found.c_1, expected.c_1),
                (found.c_mu, expected.c_mu),
            ];
            for (index, (found, expected)) in
                pairs.into_iter().chain(found.weights.into_iter().zip(expected.weights)).enumerate()
            {
                assert!((found - expected).abs() < 1e-12, "dimension {n}, {index}: {found}, not {expected}");
            }
        }
    }

    fn value(function: &str, x: &[f64]) -> f64 {
        let n = x.len();
        match function {
            "sphere" => dot(x, x),
            "ellipsoid" => (0..n).map(|i| 1e6f64.powf(i as f64 / (n as f64 - 1.0)) * x[i] * x[i]).sum(),
            "rosenbrock" => {
                x.windows(2).map(|x| 100.0 * (x[0] * x[0] - x[1]).powi(2) + (x[0] - 1.0).powi(2)).sum()
            }
            _ => panic!("no function {function}"),
        }
    }

    /// Evaluations until an offspring is better than the target; None if the steps vanish before.
    fn evaluations(run: &Run, target: f64, seed: u64) -> Option<u64> {
        let mut strategy = CmaEs::new(CmaEsConfig {
            start: Some(vec![run.start; run.dimension]),
            sigma: run.sigma,
            normalise: false,
            ..CmaEsConfig::new(run.dimension)
        });
        let mut rng = rng(seed);
        let mut count = 0;
        while count < 200_000 && strategy.spread() > 1e-13 {
            let values: Vec<f64> = strategy.ask(&mut rng).iter().map(|x| -value(&run.function, x)).collect();
            strategy.tell(&values);
            count += values.len() as u64;
            if values.iter().any(|&value| -value < target) {
                return Some(count);
            }
        }
        None
    }

    fn median(mut counts: Vec<u64>) -> f64 {
        counts.sort_unstable();
        crate::stats::median(&counts.iter().map(|&count| count as f64).collect::<Vec<f64>>())
    }

    #[test]
    fn needs_as_many_evaluations_as_pycma() {
        let reference = reference();
        std::thread::scope(|scope| {
            for run in &reference.runs {
                scope.spawn(|| {
                    let seeds = 1..=run.evaluations.len() as u64;
                    let counts: Vec<u64> =
                        seeds.filter_map(|seed| evaluations(run, reference.target, seed)).collect();
                    let failed = run.evaluations.len() - counts.len();
                    assert!(failed <= 4, "{} of the runs on {} failed", failed, run.function);
                    let ours = median(counts);
                    let ratio = ours / run.median;
                    println!("{} {}: {ours}, pycma {}, {ratio:.3}", run.function, run.dimension, run.median);
                    assert!((ratio - 1.0).abs() < 0.15, "{} {}: {ours}", run.function, run.dimension);
                });
            }
        });
    }

    /// A scale-free goal, as a player's weights have: the angle to a hidden direction.
    fn cosine(x: &[f64]) -> f64 {
        let goal: Vec<f64> = (0..x.len()).map(|i| 1.0 - 0.3 * i as f64).collect();
        dot(x, &goal) / norm(x) / norm(&goal)
    }

    #[test]
    fn normalised_offspring_have_length_one_and_the_search_settles() {
        let mut strategy = CmaEs::new(CmaEsConfig::new(8));
        let mut rng = rng(5);
        for _ in 0..120 {
            let asked = strategy.ask(&mut rng);
            assert!(asked.iter().all(|x| (norm(x) - 1.0).abs() < 1e-12));
            let told: Vec<f64> = asked.iter().map(|x| cosine(x)).collect();
            strategy.tell(&told);
        }
        assert!(cosine(&strategy.favourite()) > 1.0 - 1e-6, "{}", cosine(&strategy.favourite()));
        assert!(strategy.spread() < 0.01, "{}", strategy.spread());
    }

    #[test]
    fn a_collapsed_search_starts_again_with_twice_the_population() {
        let restart = Restart { collapse: 1e-3, ..Restart::default() };
        let config = CmaEsConfig { restart: Some(restart), ..CmaEsConfig::new(6) };
        let mut strategy = CmaEs::new(config);
        let mut rng = rng(9);
        let mut populations = vec![strategy.population()];
        while populations.len() < 4 {
            let told: Vec<f64> = strategy.ask(&mut rng).iter().map(|x| cosine(x)).collect();
            strategy.tell(&told);
            if strategy.population() != *populations.last().unwrap() {
                populations.push(strategy.population());
                // The mean of the search that ended stands until the next one has offspring.
                assert_eq!(Some(&strategy.favourite()), strategy.finished().last());
            }
        }
        assert_eq!(populations, [9, 18, 36, 72]);
        assert!(strategy.finished().iter().all(|mean| cosine(mean) > 0.999));
    }

    #[test]
    fn a_flat_fitness_ends_a_search() {
        let config = CmaEsConfig { restart: Some(Restart::default()), ..CmaEsConfig::new(4) };
        let mut strategy = CmaEs::new(config);
        let mut rng = rng(2);
        for iteration in 0..25 {
            assert_eq!(strategy.population(), 8, "iteration {iteration}");
            let count = strategy.ask(&mut rng).len();
            strategy.tell(&vec![7.0; count]);
        }
        assert_eq!(strategy.population(), 16);
    }

    #[test]
    fn survives_scores_that_are_no_numbers() {
        let mut strategy = CmaEs::new(CmaEsConfig::new(3));
        let mut rng = rng(2);
        for _ in 0..30 {
            let count = strategy.ask(&mut rng).len();
            strategy.tell(&vec![f64::NAN; count]);
        }
        assert!(strategy.favourite().iter().all(|x| x.is_finite()));
    }

    #[test]
    fn stays_finite_when_there_is_nothing_more_to_learn() {
        for (normalise, fitness) in
            [(false, cosine as fn(&[f64]) -> f64), (true, cosine), (false, |x| -dot(x, x)), (true, |_| 0.0)]
        {
            let mut strategy = CmaEs::new(CmaEsConfig { normalise, ..CmaEsConfig::new(3) });
            let mut rng = rng(4);
            for _ in 0..3000 {
                let told: Vec<f64> = strategy.ask(&mut rng).iter().map(|x| fitness(x)).collect();
                strategy.tell(&told);
            }
            let text = serde_json::to_string(&strategy).unwrap();
            assert_eq!(serde_json::from_str::<CmaEs>(&text).unwrap(), strategy);
        }
    }

    #[test]
    fn continues_bit_for_bit() {
        let restart = Restart { collapse: 0.05, ..Restart::default() };
        let config = CmaEsConfig { restart: Some(restart), ..CmaEsConfig::new(5) };
        continues_from_a_checkpoint(CmaEs::new(config), 120, cosine);
        continues_from_a_checkpoint(CmaEs::new(CmaEsConfig::new(8)), 40, cosine);
    }
}
