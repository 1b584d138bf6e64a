//! What a run is made of: the content of `config.toml`.

use dropwise_core::Set;
use dropwise_core::controller::Options;
use serde::{Deserialize, Serialize};

use super::learner::Method;
use super::race::{Bound, RaceConfig};
use crate::args::{LoadedRules, OverflowArg, Pieces, RulesArgs, parse_board, parse_pieces};
use crate::output::Failure;
use crate::weights::unknown_set;
use crate::{climb, figures};

/// The version of the format that is read and written.
pub const VERSION: u32 = 1;

/// Everything that decides what a run learns. The same configuration gives the same run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The version of the format.
    pub version: u32,
    /// The preset it started from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paper: Option<String>,
    /// The board whose champion it trains, if that is what it started from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub champion: Option<String>,
    /// The seed of all that is drawn at random.
    pub seed: u64,
    /// The feature set whose weights are learned.
    pub set: String,
    /// After how many iterations the run ends.
    pub iterations: u64,
    /// Games that each candidate plays in an iteration; with a race, the most.
    pub games: u64,
    /// What makes a candidate fit.
    pub fitness: Fitness,
    /// Whether each iteration plays games of its own. If not, the same games are played from first to last.
    pub fresh_games: bool,
    /// Whether candidates choose losing placements on their value like any other.
    pub allow_losing: bool,
    /// The games that candidates play.
    pub training: Games,
    /// The race that spares candidates games.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub race: Option<RaceConfig>,
    /// How the favourite is measured after each iteration.
    pub curve: Curve,
    /// How the player that the run leaves is chosen.
    pub selection: Selection,
    /// How the chosen player is measured.
    pub score: Measure,
    /// The optimiser.
    pub method: Method,
}

/// What makes a candidate fit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Fitness {
    /// The mean of the lines it clears
    #[default]
    Lines,
    /// Lines per piece placed: at most 0.4 in the long run
    LinesPerPiece,
}

/// The games that are played, as the command line spells them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Games {
    /// `--board`
    pub board: String,
    /// `--pieces`
    pub pieces: String,
    /// `--overflow`
    pub overflow: String,
    /// Games are broken off after this many pieces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_pieces: Option<u64>,
    /// In place of each game, an estimate of its length from so many [climbers](crate::climb) a level.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub climbers: Option<u32>,
}

impl Games {
    /// Games by the research rules on a board of this height.
    pub fn new(height: usize, pieces: &str) -> Games {
        Games {
            board: format!("10x{height}"),
            pieces: pieces.into(),
            overflow: "before".into(),
            max_pieces: None,
            climbers: None,
        }
    }

    /// The rules, checked.
    ///
    /// # Errors
    /// If a word is not what the command line takes, or the pieces come from a list.
    pub fn load(&self) -> Result<LoadedRules, Failure> {
        let board = parse_board(&self.board).map_err(Failure::input)?;
        let pieces = parse_pieces(&self.pieces).map_err(Failure::input)?;
        if let Pieces::List(_) = pieces {
            return Err(Failure::input(
                "a list of pieces is one game, and training takes many; use uniform, hard:K or bag",
            ));
        }
        if let (Some(_), Pieces::Bag) = (self.climbers, &pieces) {
            return Err(Failure::input(climb::INDEPENDENT));
        }
        let overflow = match self.overflow.as_str() {
            "before" => OverflowArg::Before,
            "after" => OverflowArg::After,
            other => return Err(Failure::input(format_args!("overflow is before or after, not '{other}'"))),
        };
        RulesArgs { board, pieces, overflow }.load()
    }

    /// After how many pieces a game is broken off.
    pub fn max_pieces(&self) -> u64 {
        self.max_pieces.unwrap_or(u64::MAX)
    }

    /// As a person reads it.
    pub fn describe(&self) -> String {
        format!("{} {}", self.board, self.pieces)
    }
}

/// How the favourite is measured after each iteration: on the training's rules, on games that no candidate plays.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Curve {
    /// How many games.
    pub games: u64,
}

/// How the player that the run leaves is chosen among its last favourites and their means.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Selection {
    /// How many of the last favourites enter; 1 keeps the last one.
    pub favourites: u64,
    /// Games that each candidate plays in the first round; the better half plays twice as many more, and so on.
    pub games: u64,
    /// The games.
    pub rules: Games,
}

/// A measurement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measure {
    /// How many games.
    pub games: u64,
    /// The games.
    pub rules: Games,
}

impl Config {
    /// The feature set.
    ///
    /// # Errors
    /// If there is none of the name.
    pub fn set(&self) -> Result<Set, Failure> {
        Set::from_name(&self.set).ok_or_else(|| Failure::input(unknown_set(&self.set)))
    }

    /// How candidates play.
    pub fn options(&self) -> Options {
        Options { allow_losing: self.allow_losing, ..Options::default() }
    }

    /// Checks what types cannot.
    ///
    /// # Errors
    /// If a number is out of its range or a word unknown.
    pub fn check(&self) -> Result<(), Failure> {
        if self.version != VERSION {
            return Err(Failure::input(format_args!(
                "the run's config has version {}, but this program reads version {VERSION}; use the program that wrote it",
                self.version
            )));
        }
        let set = self.set()?;
        for games in [&self.training, &self.selection.rules, &self.score.rules] {
            games.load()?;
            if games.climbers.is_some_and(|climbers| !climb::CLIMBERS.contains(&climbers)) {
                return Err(Failure::input(format_args!(
                    "climbers must be from {} to {}",
                    climb::CLIMBERS.start(),
                    figures::grouped(u64::from(*climb::CLIMBERS.end()))
                )));
            }
        }
        let counts = [
            ("iterations", self.iterations),
            ("games", self.games),
            ("curve.games", self.curve.games),
            ("selection.favourites", self.selection.favourites),
            ("selection.games", self.selection.games),
            ("score.games", self.score.games),
        ];
        for (name, count) in counts {
            if !(1..=1_000_000).contains(&count) {
                return Err(Failure::input(format_args!(
                    "{name} is {count}, but must be from 1 to 1,000,000"
                )));
            }
        }
        if let Some(race) = &self.race {
            let range_in_order = match race.bound {
                Bound::Hoeffding { range } | Bound::Bernstein { range } => range > 0.0 && range.is_finite(),
                Bound::None | Bound::Tetris => true,
            };
            let delta_in_order = race.delta > 0.0 && race.delta < 1.0;
            let alpha_in_order = race.alpha > 1.0 && race.alpha.is_finite();
            if !(range_in_order && delta_in_order && alpha_in_order) {
                return Err(Failure::input("a race needs 0 < delta < 1, range > 0 and alpha > 1"));
            }
            if race.r_min < 1 || race.r_min > race.r_max || u64::from(race.r_max) != self.games {
                return Err(Failure::input(format_args!(
                    "a race plays from {} to {} games, but a candidate has {}; give more --games, or --race none",
                    race.r_min, race.r_max, self.games
                )));
            }
        }
        self.method.check(set)
    }
}
