//! Presets: everything as a paper had it. Flags change one thing at a time.

use dropwise_core::Set;
use dropwise_core::player::KNOWN;

use super::cma_es::CmaEsConfig;
use super::config::{Config, Curve, Fitness, Games, Measure, Selection, VERSION};
use super::cross_entropy::{CrossEntropyConfig, Noise};
use super::fitted_value::FittedValueConfig;
use super::genitor::GenitorConfig;
use super::hybrid::HybridConfig;
use super::learner::Method;
use super::race::{Bound, RaceConfig};
use super::sample::normalise;

/// A paper whose experiment `--paper` repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Paper {
    /// Boumaza 2009: CMA-ES on the hard game, no racing
    Boumaza2009,
    /// Boumaza 2012: the same with Hoeffding races
    BoumazaHoeffding,
    /// Boumaza 2012: the same with races by the Tetris bound
    BoumazaTetris,
    /// Thiery and Scherrer 2009: noisy cross-entropy on their eight features
    ThieryScherrer,
    /// Szita and Lorincz 2006: noisy cross-entropy on Bertsekas and Tsitsiklis's features
    SzitaLorincz,
    /// Flom and Robinson 2004: Genitor, all on the same game of limited length
    FlomRobinson,
    /// CS3243 2018: a genetic algorithm, then noisy cross-entropy
    Cs3243,
    /// Bodoia and Puranik 2013: fitted value iteration
    BodoiaPuranik,
}

impl Paper {
    /// As the command line spells it.
    pub const fn name(self) -> &'static str {
        match self {
            Paper::Boumaza2009 => "boumaza2009",
            Paper::BoumazaHoeffding => "boumaza-hoeffding",
            Paper::BoumazaTetris => "boumaza-tetris",
            Paper::ThieryScherrer => "thiery-scherrer",
            Paper::SzitaLorincz => "szita-lorincz",
            Paper::FlomRobinson => "flom-robinson",
            Paper::Cs3243 => "cs3243",
            Paper::BodoiaPuranik => "bodoia-puranik",
        }
    }

    /// The experiment.
    pub fn config(self) -> Config {
        match self {
            Paper::Boumaza2009 => boumaza(self, None),
            Paper::BoumazaHoeffding => boumaza(self, Some(HOEFFDING)),
            Paper::BoumazaTetris => boumaza(self, Some(Bound::Tetris)),
            Paper::ThieryScherrer => Config {
                set: Set::Bcts.name().into(),
                method: cross_entropy(Set::Bcts, CONSTANT),
                ..one_game(self)
            },
            Paper::SzitaLorincz => Config {
                set: Set::B.name().into(),
                iterations: 50,
                method: cross_entropy(Set::B, Noise::DECREASING),
                ..one_game(self)
            },
            Paper::FlomRobinson => flom_robinson(self),
            Paper::Cs3243 => cs3243(self),
            Paper::BodoiaPuranik => bodoia_puranik(self),
        }
    }
}

/// What `host train` does when it is told nothing: some 170 million pieces, half a minute on two cores.
///
/// The hard game costs about a thousand pieces a game even for a strong player, so that a candidate can play many, and
/// who is good at it is good at the standard game (Boumaza 2009). The rest was chosen on few runs, and is to be measured:
/// the set dt did better than bcts; the mean of many late favourites did better than most of them, so that many are kept;
/// a large population with few games each kept the step from shrinking early. The favourites meet on 10x12, where a game
/// is short enough to play hundreds.
pub fn default() -> Config {
    let set = Set::Dt;
    Config {
        version: VERSION,
        paper: None,
        champion: None,
        seed: 1,
        set: set.name().into(),
        iterations: 70,
        games: 40,
        fitness: Fitness::Lines,
        fresh_games: true,
        allow_losing: false,
        training: Games::new(20, "hard:4"),
        race: None,
        curve: Curve { games: 30 },
        selection: Selection { favourites: 30, games: 64, rules: Games::new(12, "uniform") },
        score: Measure { games: 2000, rules: Games::new(10, "uniform") },
        method: Method::CmaEs(CmaEsConfig { population: Some(60), ..CmaEsConfig::new(set.len()) }),
    }
}

/// `host train --champion`: the best that we know how to make for a board, in a quarter of an hour on two cores.
///
/// What a paper could not afford is to judge candidates by what they are for: the whole game. [Climbers](crate::climb)
/// can, within a second for a game of a hundred million pieces. The search sets out from the best published player for
/// such a board, with small steps; our own features start from nothing.
pub fn champion(height: usize) -> Config {
    let climb = |climbers| Games { climbers: Some(climbers), ..Games::new(height, "uniform") };
    let set = Set::Dropwise;
    let mut start = published(if height > 14 { "dt20" } else { "rvce" });
    start.resize(set.len(), 0.0);
    normalise(&mut start);
    let method =
        CmaEsConfig { population: Some(60), start: Some(start), sigma: 0.05, ..CmaEsConfig::new(set.len()) };
    Config {
        champion: Some(format!("10x{height}")),
        set: set.name().into(),
        iterations: 80,
        games: 1,
        training: climb(4_000),
        curve: Curve { games: 2 },
        selection: Selection { favourites: 30, games: 2, rules: climb(10_000) },
        score: Measure { games: 10, rules: climb(10_000) },
        method: Method::CmaEs(method),
        ..default()
    }
}

/// The weights of a known player.
fn published(name: &str) -> Vec<f64> {
    let known = KNOWN.iter().find(|known| known.name == name);
    known.map(|known| known.weights.to_vec()).unwrap_or_default()
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

/// Both papers have constant noise of 4.
const CONSTANT: Noise = Noise::Constant(4.0);

fn cross_entropy(set: Set, noise: Noise) -> Method {
    Method::CrossEntropy(CrossEntropyConfig { noise, ..CrossEntropyConfig::new(set.len()) })
}

/// What Szita and Lorincz, and Thiery and Scherrer after them, have in common: 100 vectors an iteration, each judged by
/// one game on 10x20; the mean vector plays 30 games after each iteration; the player is the last mean.
fn one_game(paper: Paper) -> Config {
    Config {
        paper: Some(paper.name().into()),
        iterations: 80,
        games: 1,
        training: Games::new(20, "uniform"),
        selection: Selection { favourites: 1, ..default().selection },
        ..default()
    }
}

/// L. Flom and C. Robinson, "Using a genetic algorithm to weight an evaluation function for Tetris" (2004): 750
/// generations, all agents on the same sequence of pieces. How many pieces were allowed is not told; 1000 here.
fn flom_robinson(paper: Paper) -> Config {
    let set = Set::FlomRobinson;
    Config {
        paper: Some(paper.name().into()),
        set: set.name().into(),
        iterations: 750,
        games: 1,
        fresh_games: false,
        training: Games { max_pieces: Some(1000), ..Games::new(20, "uniform") },
        selection: Selection { favourites: 1, ..default().selection },
        method: Method::Genitor(GenitorConfig::new(set.len())),
        ..default()
    }
}

/// "Learning to play Tetris with big data" (2018), sections 4 and 6: 100 genes, 15 games each, S and Z three times as
/// frequent, 160 generations of cross-entropy after the genetic algorithm's.
fn cs3243(paper: Paper) -> Config {
    let set = Set::Cs3243;
    let method = HybridConfig::new(set.len());
    Config {
        paper: Some(paper.name().into()),
        set: set.name().into(),
        iterations: method.generations + 160,
        games: 15,
        training: Games::new(20, "hard:3"),
        selection: Selection { favourites: 1, ..default().selection },
        method: Method::Hybrid(method),
        ..default()
    }
}

/// M. Bodoia and A. Puranik, "Applying reinforcement learning to competitive Tetris" (2013): 1000 boards, discount 0.9,
/// three features; 100 games measure the player. It has converged to 0.01 within some 60 iterations.
fn bodoia_puranik(paper: Paper) -> Config {
    Config {
        paper: Some(paper.name().into()),
        set: Set::Bodoia.name().into(),
        iterations: 80,
        games: 1,
        training: Games::new(20, "uniform"),
        selection: Selection { favourites: 1, ..default().selection },
        score: Measure { games: 100, rules: Games::new(20, "uniform") },
        method: Method::FittedValue(FittedValueConfig::default()),
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

#[cfg(test)]
mod tests {
    use super::*;
    use clap::ValueEnum;

    #[test]
    fn presets_are_in_order_and_survive_their_file() {
        let papers = Paper::value_variants().iter().map(|paper| paper.config());
        for config in papers.chain([default(), champion(20)]) {
            config.check().expect("a preset is in order");
            let text = toml::to_string(&config).expect("a preset can be written");
            assert_eq!(toml::from_str::<Config>(&text).expect("and read"), config);
        }
    }

    #[test]
    fn names_are_those_of_the_command_line() {
        for paper in Paper::value_variants() {
            assert_eq!(
                paper.to_possible_value().map(|value| value.get_name().to_owned()).as_deref(),
                Some(paper.name())
            );
            assert_eq!(paper.config().paper.as_deref(), Some(paper.name()));
        }
    }
}
