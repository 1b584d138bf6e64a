//! Learning weights: optimisers that ask and are told, races that spare games, and the run that ties them to the arena.
//!
//! An optimiser knows nothing of games or threads. It is asked for candidates, vectors of real weights, and told how
//! fit each one was. All it draws at random comes from the generator it is handed, which the run seeds from (run seed,
//! iteration); so a run continues bit for bit from the optimiser's state alone, which is what a checkpoint holds.

pub mod cma_es;
pub mod cross_entropy;
pub mod fitted_value;
pub mod genitor;
pub mod hybrid;
pub mod race;
pub mod sample;

pub mod command;
pub mod config;
pub mod curve;
pub mod flags;
pub mod judge;
pub mod learner;
pub mod preset;
pub mod repeat;
pub mod report;
pub mod run;
pub mod select;
pub mod training;
pub mod view;

use rand_xoshiro::Xoshiro256PlusPlus;

/// The generator of an iteration: made anew from the run's seed and the iteration's number.
pub type IterationRng = Xoshiro256PlusPlus;

/// A method that learns from the fitness of the candidates it proposes.
pub trait Optimiser {
    /// The candidates of the next iteration, each a vector of real weights.
    fn ask(&mut self, rng: &mut IterationRng) -> Vec<Vec<f64>>;

    /// How fit the candidates were, in the order in which they were proposed; more is better. An iteration ends here.
    fn tell(&mut self, fitness: &[f64]);

    /// The vector that stands for what has been learned: the mean of a distribution, the best of a population.
    fn favourite(&self) -> Vec<f64>;

    /// All vectors that may stand for what has been learned, for a final choice on fresh games; the favourite alone
    /// where a method has but one.
    fn contenders(&self) -> Vec<Vec<f64>> {
        vec![self.favourite()]
    }

    /// How far the candidates are spread: a step size, a mean deviation. Shrinks as the method settles.
    fn spread(&self) -> f64;

    /// Whether more iterations would change nothing. Most methods never know.
    fn is_done(&self) -> bool {
        false
    }

    /// How many of the best candidates shape the next iteration: what a race has to find out.
    fn parents(&self) -> usize;
}
