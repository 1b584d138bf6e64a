//! The optimisers under one roof: which one a configuration names, and its state in a checkpoint.

use dropwise_core::Set;
use serde::{Deserialize, Serialize};

use super::cma_es::{CmaEs, CmaEsConfig};
use super::{IterationRng, Optimiser};
use crate::output::Failure;

/// An optimiser and its parameters, as `config.toml` has them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case")]
pub enum Method {
    /// CMA-ES.
    CmaEs(CmaEsConfig),
}

/// The name of an optimiser, as `--method` takes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum MethodName {
    /// CMA-ES (Hansen; Boumaza)
    CmaEs,
}

impl MethodName {
    /// As the command line spells it.
    pub const fn name(self) -> &'static str {
        match self {
            MethodName::CmaEs => "cma-es",
        }
    }
}

impl Method {
    /// The method of this name with its own defaults, for a set.
    pub fn new(name: MethodName, set: Set) -> Method {
        match name {
            MethodName::CmaEs => Method::CmaEs(CmaEsConfig::new(set.len())),
        }
    }

    /// Its name.
    pub const fn name(&self) -> MethodName {
        match self {
            Method::CmaEs(_) => MethodName::CmaEs,
        }
    }

    /// Makes it learn the weights of another set.
    pub fn fit(&mut self, set: Set) {
        match self {
            Method::CmaEs(config) => config.dimension = set.len(),
        }
    }

    /// Checks what the optimiser would refuse.
    ///
    /// # Errors
    /// If a number is out of its range.
    pub fn check(&self, set: Set) -> Result<(), Failure> {
        match self {
            Method::CmaEs(config) => {
                if config.dimension != set.len() {
                    return Err(Failure::input(format_args!(
                        "the method learns {} weights, but set '{set}' has {}",
                        config.dimension,
                        set.len()
                    )));
                }
                if config.population.is_some_and(|population| !(4..=100_000).contains(&population)) {
                    return Err(Failure::input("CMA-ES needs a population from 4 to 100,000"));
                }
                if !(config.sigma > 0.0 && config.sigma.is_finite()) {
                    return Err(Failure::input("the first step size must be positive"));
                }
                Ok(())
            }
        }
    }

    /// The optimiser, before its first iteration.
    pub fn start(&self) -> Learner {
        match self {
            Method::CmaEs(config) => Learner::CmaEs(CmaEs::new(config.clone())),
        }
    }
}

/// An optimiser with all that it has learned.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[expect(clippy::large_enum_variant, reason = "there is one of it")]
pub enum Learner {
    /// CMA-ES.
    CmaEs(CmaEs),
}

impl Learner {
    fn optimiser(&self) -> &dyn Optimiser {
        match self {
            Learner::CmaEs(learner) => learner,
        }
    }

    fn optimiser_mut(&mut self) -> &mut dyn Optimiser {
        match self {
            Learner::CmaEs(learner) => learner,
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

    fn parents(&self) -> usize {
        self.optimiser().parents()
    }
}
