//! The optimisers under one roof: which one a configuration names, and its state in a checkpoint.

use dropwise_core::Set;
use serde::{Deserialize, Serialize};

use super::cma_es::{CmaEs, CmaEsConfig};
use super::cross_entropy::{CrossEntropy, CrossEntropyConfig, Noise};
use super::fitted_value::{FittedValue, FittedValueConfig};
use super::genitor::{Genitor, GenitorConfig};
use super::hybrid::{Hybrid, HybridConfig};
use super::{IterationRng, Optimiser};
use crate::output::Failure;

/// An optimiser and its parameters, as `config.toml` has them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case")]
pub enum Method {
    /// CMA-ES.
    CmaEs(CmaEsConfig),
    /// Noisy cross-entropy.
    CrossEntropy(CrossEntropyConfig),
    /// A steady-state genetic algorithm.
    Genitor(GenitorConfig),
    /// A genetic algorithm, then noisy cross-entropy.
    Hybrid(HybridConfig),
    /// Fitted value iteration.
    FittedValue(FittedValueConfig),
}

/// The name of an optimiser, as `--method` takes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum MethodName {
    /// CMA-ES (Hansen; Boumaza)
    CmaEs,
    /// Noisy cross-entropy (Szita and Lorincz; Thiery and Scherrer)
    CrossEntropy,
    /// A steady-state genetic algorithm on bit strings (Whitley; Flom and Robinson)
    Genitor,
    /// A genetic algorithm, then noisy cross-entropy (CS3243)
    Hybrid,
    /// Fitted value iteration, which learns without playing (Bodoia and Puranik)
    FittedValue,
}

impl MethodName {
    /// As the command line spells it.
    pub const fn name(self) -> &'static str {
        match self {
            MethodName::CmaEs => "cma-es",
            MethodName::CrossEntropy => "cross-entropy",
            MethodName::Genitor => "genitor",
            MethodName::Hybrid => "hybrid",
            MethodName::FittedValue => "fitted-value",
        }
    }
}

impl Method {
    /// The method of this name with its own defaults, for a set.
    pub fn new(name: MethodName, set: Set) -> Method {
        let dimension = set.len();
        match name {
            MethodName::CmaEs => Method::CmaEs(CmaEsConfig::new(dimension)),
            MethodName::CrossEntropy => Method::CrossEntropy(CrossEntropyConfig::new(dimension)),
            MethodName::Genitor => Method::Genitor(GenitorConfig::new(dimension)),
            MethodName::Hybrid => Method::Hybrid(HybridConfig::new(dimension)),
            MethodName::FittedValue => Method::FittedValue(FittedValueConfig::new(set)),
        }
    }

    /// Its name.
    pub const fn name(&self) -> MethodName {
        match self {
            Method::CmaEs(_) => MethodName::CmaEs,
            Method::CrossEntropy(_) => MethodName::CrossEntropy,
            Method::Genitor(_) => MethodName::Genitor,
            Method::Hybrid(_) => MethodName::Hybrid,
            Method::FittedValue(_) => MethodName::FittedValue,
        }
    }

    /// Makes it learn the weights of another set.
    pub fn fit(&mut self, set: Set) {
        let dimension = set.len();
        match self {
            Method::CmaEs(config) => config.dimension = dimension,
            Method::CrossEntropy(config) => {
                let variance = config.variance.first().copied().unwrap_or(100.0);
                config.mean = vec![0.0; dimension];
                config.variance = vec![variance; dimension];
            }
            Method::Genitor(config) => config.dimension = dimension,
            Method::Hybrid(config) => config.dimension = dimension,
            Method::FittedValue(config) => {
                if config.set != set.name() {
                    *config = FittedValueConfig { height: config.height, ..FittedValueConfig::new(set) };
                }
            }
        }
    }

    /// Checks what the optimiser would refuse.
    ///
    /// # Errors
    /// If a number is out of its range.
    pub fn check(&self, set: Set) -> Result<(), Failure> {
        let (dimension, population, least) = match self {
            Method::CmaEs(config) => (config.dimension, config.population, 4),
            Method::CrossEntropy(config) => (config.mean.len(), Some(config.population), 1),
            Method::Genitor(config) => (config.dimension, Some(config.population), 2),
            Method::Hybrid(config) => (config.dimension, Some(config.population), 2),
            Method::FittedValue(config) => {
                if config.set != set.name() {
                    return Err(Failure::input(format_args!(
                        "the method learns set '{}', but the run set '{set}'",
                        config.set
                    )));
                }
                return config.check().map(|_| ()).map_err(Failure::input);
            }
        };
        let name = self.name().name();
        if dimension != set.len() {
            return Err(Failure::input(format_args!(
                "the method learns {dimension} weights, but set '{set}' has {}",
                set.len()
            )));
        }
        if population.is_some_and(|population| !(least..=100_000).contains(&population)) {
            return Err(Failure::input(format_args!("{name} needs a population from {least} to 100,000")));
        }
        let share = |share: f64| share > 0.0 && share <= 1.0;
        let chance = |chance: f64| (0.0..=1.0).contains(&chance);
        let in_order = match self {
            Method::CmaEs(config) => config.sigma > 0.0 && config.sigma.is_finite(),
            Method::CrossEntropy(config) => {
                let variances =
                    config.variance.iter().all(|&variance| variance >= 0.0 && variance.is_finite());
                let means = config.mean.iter().all(|mean| mean.is_finite());
                share(config.rho)
                    && variances
                    && means
                    && is_noise(config.noise)
                    && config.variance.len() == dimension
            }
            Method::Genitor(config) => chance(config.mutation),
            Method::Hybrid(config) => {
                let shares = share(config.elite) && share(config.rho) && chance(config.mutation);
                shares && config.generations > 0 && config.step.is_finite() && is_noise(config.noise)
            }
            Method::FittedValue(_) => true,
        };
        if in_order {
            Ok(())
        } else {
            Err(Failure::input(format_args!(
                "a parameter of {name} is out of its range; see the method in config.toml"
            )))
        }
    }

    /// The optimiser, before its first iteration.
    ///
    /// # Panics
    /// If [`Method::check`] refuses it.
    pub fn start(&self) -> Learner {
        match self {
            Method::CmaEs(config) => Learner::CmaEs(CmaEs::new(config.clone())),
            Method::CrossEntropy(config) => Learner::CrossEntropy(CrossEntropy::new(config.clone())),
            Method::Genitor(config) => Learner::Genitor(Genitor::new(config.clone())),
            Method::Hybrid(config) => Learner::Hybrid(Hybrid::new(config.clone())),
            Method::FittedValue(config) => {
                Learner::FittedValue(FittedValue::new(config.clone()).expect("it was checked"))
            }
        }
    }
}

/// Whether a noise can be added to a variance.
fn is_noise(noise: Noise) -> bool {
    let amount = |amount: f64| amount >= 0.0 && amount.is_finite();
    match noise {
        Noise::None | Noise::Cs3243 => true,
        Noise::Constant(constant) => amount(constant),
        Noise::Linear { start, per_iteration } => amount(start) && amount(per_iteration),
        Noise::Geometric { start, ratio } => amount(start) && amount(ratio) && ratio <= 1.0,
    }
}

/// Reads a noise as `--noise` spells it.
///
/// # Errors
/// A message for anything else.
///
/// ```
/// use host::train::cross_entropy::Noise;
/// use host::train::learner::parse_noise;
/// assert_eq!(parse_noise("constant:4"), Ok(Noise::Constant(4.0)));
/// assert_eq!(parse_noise("linear:5:0.1"), Ok(Noise::DECREASING));
/// assert!(parse_noise("constant:-1").is_err());
/// ```
pub fn parse_noise(text: &str) -> Result<Noise, String> {
    let words: Vec<&str> = text.split(':').collect();
    let number = |word: &str| word.parse::<f64>().map_err(|_| format!("'{word}' is not a number"));
    let noise = match words[..] {
        ["none"] => Noise::None,
        ["constant", amount] => Noise::Constant(number(amount)?),
        ["linear", start, less] => Noise::Linear { start: number(start)?, per_iteration: number(less)? },
        ["geometric", start, ratio] => Noise::Geometric { start: number(start)?, ratio: number(ratio)? },
        ["cs3243"] => Noise::Cs3243,
        _ => {
            return Err(
                "noises are none, constant:Z, linear:START:LESS, geometric:START:RATIO and cs3243".into()
            );
        }
    };
    if is_noise(noise) { Ok(noise) } else { Err("noise is not negative, and its ratio at most 1".into()) }
}

/// An optimiser with all that it has learned.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Learner {
    /// CMA-ES.
    CmaEs(CmaEs),
    /// Noisy cross-entropy.
    CrossEntropy(CrossEntropy),
    /// A steady-state genetic algorithm.
    Genitor(Genitor),
    /// A genetic algorithm, then noisy cross-entropy.
    Hybrid(Hybrid),
    /// Fitted value iteration.
    FittedValue(FittedValue),
}

impl Learner {
    fn optimiser(&self) -> &dyn Optimiser {
        match self {
            Learner::CmaEs(learner) => learner,
            Learner::CrossEntropy(learner) => learner,
            Learner::Genitor(learner) => learner,
            Learner::Hybrid(learner) => learner,
            Learner::FittedValue(learner) => learner,
        }
    }

    fn optimiser_mut(&mut self) -> &mut dyn Optimiser {
        match self {
            Learner::CmaEs(learner) => learner,
            Learner::CrossEntropy(learner) => learner,
            Learner::Genitor(learner) => learner,
            Learner::Hybrid(learner) => learner,
            Learner::FittedValue(learner) => learner,
        }
    }
}

impl Optimiser for Learner {
    fn ask(&mut self, rng: &mut IterationRng) -> Vec<Vec<f64>> {
        self.optimiser_mut().ask(rng)
    }

    fn tell(&mut self, fitness: &[f64]) {
        self.optimiser_mut().tell(fitness);
    }

    fn favourite(&self) -> Vec<f64> {
        self.optimiser().favourite()
    }

    fn spread(&self) -> f64 {
        self.optimiser().spread()
    }

    fn contenders(&self) -> Vec<Vec<f64>> {
        self.optimiser().contenders()
    }

    fn is_done(&self) -> bool {
        self.optimiser().is_done()
    }

    fn parents(&self) -> usize {
        self.optimiser().parents()
    }
}
