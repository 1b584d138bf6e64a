//! Presets: everything as a paper had it. Flags change one thing at a time.

use dropwise_core::Set;

use super::cma_es::CmaEsConfig;
use super::config::{Config, Curve, Fitness, Games, Measure, Selection, VERSION};
use super::learner::Method;
use super::race::{Bound, RaceConfig};

/// A paper whose experiment `--paper` repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Paper {
    /// Boumaza 2009: CMA-ES on the hard game, no racing
    Boumaza2009,
    /// Boumaza 2012: the same with Hoeffding races
    BoumazaHoeffding,
    /// Boumaza 2012: the same with races by the Tetris bound
    BoumazaTetris,
}

impl Paper {
    /// As the command line spells it.
    pub const fn name(self) -> &'static str {
        match self {
            Paper::Boumaza2009 => "boumaza2009",
            Paper::BoumazaHoeffding => "boumaza-hoeffding",
            Paper::BoumazaTetris => "boumaza-tetris",
        }
    }

    /// The experiment.
    pub fn config(self) -> Config {
        match self {
            Paper::Boumaza2009 => boumaza(self, None),
            Paper::BoumazaHoeffding => boumaza(self, Some(HOEFFDING)),
            Paper::BoumazaTetris => boumaza(self, Some(Bound::Tetris)),
        }
    }
}

/// What `host train` does when it is told nothing: see the module's commands for what it reaches.
pub fn default() -> Config {
    let set = Set::Dt;
    Config {
        version: VERSION,
        paper: None,
        seed: 1,
        set: set.name().into(),
        iterations: 70,
        games: 60,
        fitness: Fitness::Lines,
        fresh_games: true,
        allow_losing: false,
        training: Games::new(20, "hard:4"),
        race: None,
        curve: Curve { games: 30 },
        selection: Selection { favourites: 30, games: 16, rules: Games::new(14, "uniform") },
        score: Measure { games: 2000, rules: Games::new(10, "uniform") },
        method: Method::CmaEs(CmaEsConfig { population: Some(20), ..CmaEsConfig::new(set.len()) }),
    }
}

/// A. Boumaza, "Reducing the learning time of Tetris in evolution strategies" (2012), section 3: 25 iterations from a
/// random vector of length 1, sigma 0.5, r_max = 100 games, delta 0.05, scores between 150 and 2000, S and Z four
/// times as frequent. Without races it is "On the evolution of artificial Tetris players" (2009).
fn boumaza(paper: Paper, bound: Option<Bound>) -> Config {
    let set = Set::Bcts;
    Config {
        paper: Some(paper.name().into()),
        set: set.name().into(),
        iterations: 25,
        games: 100,
        race: bound.map(race),
        selection: Selection { favourites: 1, ..default().selection },
        method: Method::CmaEs(CmaEsConfig::new(set.len())),
        ..default()
    }
}

/// Boumaza's scores lie between 150 and 2000 lines.
pub const RANGE: f64 = 2000.0 - 150.0;
const HOEFFDING: Bound = Bound::Hoeffding { range: RANGE };

/// A race as Boumaza has it, of at most 100 games.
pub fn race(bound: Bound) -> RaceConfig {
    RaceConfig { bound, ..RaceConfig::default() }
}
