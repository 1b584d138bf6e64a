//! `host train`'s flags, and the configuration that they ask for.

use std::path::PathBuf;

use clap::Args;
use dropwise_core::Set;

use super::cma_es::Restart;
use super::config::{Config, Fitness};
use super::cross_entropy::Noise;
use super::genitor::Crossover;
use super::learner::{Method, MethodName, parse_noise};
use super::preset::{self, Paper};
use super::race::{Bound, RaceConfig};
use super::run;
use crate::args::{Board, OverflowArg, Pieces, ThreadsArg, parse_board, parse_pieces};
use crate::climb;
use crate::output::Failure;
use crate::weights::unknown_set;

/// Learn a player: with no arguments a strong one, in about a minute
#[derive(Args, Debug)]
#[command(after_help = HELP)]
pub struct TrainArgs {
    /// Set everything as a paper did; flags change single things
    #[arg(long, value_enum)]
    paper: Option<Paper>,

    /// Train the best player we know how to for a board, such as 10x20: longer than without, and far better
    #[arg(long, value_name = "10xHEIGHT", value_parser = parse_board, conflicts_with = "paper")]
    champion: Option<Board>,

    /// What learns
    #[arg(long, value_enum, help_heading = "Method")]
    method: Option<MethodName>,

    /// The feature set whose weights are learned (`host players --sets` lists them)
    #[arg(long, value_name = "SET", value_parser = parse_set, help_heading = "Method")]
    set: Option<Set>,

    /// Iterations until the run ends
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000), help_heading = "Method")]
    iterations: Option<u64>,

    /// Candidates of an iteration, or of a genetic population
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=100_000), help_heading = "Method")]
    population: Option<u32>,

    /// CMA-ES: the first step size
    #[arg(long, value_name = "SIGMA", value_parser = parse_positive, help_heading = "Method")]
    step: Option<f64>,

    /// CMA-ES: start again with twice the population when nothing more is learned (IPOP)
    #[arg(long, help_heading = "Method")]
    restart: bool,

    /// Cross-entropy, hybrid: what is added to the variance: none | constant:Z | linear:START:LESS |
    /// geometric:START:RATIO | cs3243
    #[arg(long, value_name = "NOISE", value_parser = parse_noise, help_heading = "Method")]
    noise: Option<Noise>,

    /// Cross-entropy, hybrid: the share of the candidates that shape the next ones
    #[arg(long, value_name = "0..1", value_parser = parse_delta, help_heading = "Method")]
    elite: Option<f64>,

    /// Cross-entropy: the first deviation of each weight
    #[arg(long, value_name = "SD", value_parser = parse_positive, help_heading = "Method")]
    deviation: Option<f64>,

    /// Genitor: how two parents make a child
    #[arg(long, value_enum, help_heading = "Method")]
    crossover: Option<CrossoverArg>,

    /// Genitor, hybrid: how likely a bit or a weight is mutated
    #[arg(long, value_name = "0..1", value_parser = parse_delta, help_heading = "Method")]
    mutation: Option<f64>,

    /// Fitted value iteration: the features that are fitted, the others' weights being 0
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', help_heading = "Method")]
    fit: Vec<String>,

    /// Games that each candidate plays in an iteration; with a race, the most
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000), help_heading = "Games")]
    games: Option<u64>,

    /// The board that candidates play on, 10 wide and 4 to 20 high
    #[arg(long, value_name = "10xHEIGHT", value_parser = parse_board, help_heading = "Games")]
    board: Option<Board>,

    /// Where candidates' pieces come from: uniform | hard:K (S and Z each K times as likely) | bag
    #[arg(long, value_name = "SOURCE", value_parser = parse_training_pieces, help_heading = "Games")]
    pieces: Option<Pieces>,

    /// A placement that lands above the brim loses before, or only after, its lines are cleared
    #[arg(long, value_enum, help_heading = "Games")]
    overflow: Option<OverflowArg>,

    /// Candidates choose losing placements on their value like any other
    #[arg(long, help_heading = "Games")]
    allow_losing: bool,

    /// Break off candidates' games after this many pieces
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), help_heading = "Games")]
    max_pieces: Option<u64>,

    /// In place of each game, estimate its length from how seldom this many climb each row of the board
    #[arg(long, value_name = "N", value_parser = climb::parse_climbers, help_heading = "Games")]
    climbers: Option<u32>,

    /// What makes a candidate fit
    #[arg(long, value_enum, help_heading = "Games")]
    fitness: Option<Fitness>,

    /// Stop playing candidates whose fate is decided
    #[arg(long, value_enum, help_heading = "Games")]
    race: Option<RaceArg>,

    /// How often a race may be wrong
    #[arg(long, value_name = "0..1", value_parser = parse_delta, help_heading = "Games")]
    delta: Option<f64>,

    /// Games that measure the favourite after each iteration
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000), help_heading = "Games")]
    curve_games: Option<u64>,

    /// Games of a candidate in the first round of the final selection
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000), help_heading = "Games")]
    select_games: Option<u64>,

    /// How many of the last favourites enter the final selection; 1 keeps the last one
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000), help_heading = "Games")]
    select_last: Option<u64>,

    /// The board on which the final selection is played
    #[arg(long, value_name = "10xHEIGHT", value_parser = parse_board, help_heading = "Games")]
    select_board: Option<Board>,

    /// As --climbers, in the final selection
    #[arg(long, value_name = "N", value_parser = climb::parse_climbers, help_heading = "Games")]
    select_climbers: Option<u32>,

    /// Games that measure the chosen player
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000), help_heading = "Games")]
    score_games: Option<u64>,

    /// The board on which the chosen player is measured
    #[arg(long, value_name = "10xHEIGHT", value_parser = parse_board, help_heading = "Games")]
    score_board: Option<Board>,

    /// What the run is called [default: the paper, champion or method, and the seed]
    #[arg(long, value_name = "NAME", help_heading = "Runs")]
    pub(super) name: Option<String>,

    /// The folder that runs are kept in
    #[arg(long, value_name = "DIR", default_value = "runs", help_heading = "Runs")]
    pub(super) runs: PathBuf,

    /// Go on with a run after its last complete iteration
    #[arg(long, value_name = "NAME", conflicts_with_all = SETTINGS, help_heading = "Runs")]
    pub(super) resume: Option<String>,

    /// Stop after this many more iterations, as Ctrl-C does; --resume goes on
    #[arg(long, value_name = "N", help_heading = "Runs")]
    pub(super) stop_after: Option<u64>,

    /// Train so many runs, with seeds counted up from --seed, and measure the mean of their players too
    #[arg(
        long,
        value_name = "RUNS",
        value_parser = clap::value_parser!(u32).range(1..=10_000),
        conflicts_with_all = ["resume", "stop_after", "list", "compare"],
        help_heading = "Runs"
    )]
    pub(super) repeat: Option<u32>,

    /// List the runs
    #[arg(long, conflicts_with_all = SETTINGS, conflicts_with_all = ["resume", "threads", "stop_after"], help_heading = "Runs")]
    pub(super) list: bool,

    /// Draw the curves of several runs in one picture
    #[arg(
        long,
        value_name = "RUN",
        num_args = 2..,
        conflicts_with_all = SETTINGS,
        conflicts_with_all = ["resume", "list", "threads", "stop_after"],
        help_heading = "Runs"
    )]
    pub(super) compare: Vec<String>,

    /// With --compare: the picture's file [default: compare.svg in the folder of the runs]
    #[arg(long, value_name = "FILE", requires = "compare", help_heading = "Runs")]
    pub(super) out: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) threads: ThreadsArg,
}

/// What a run's configuration decides, and so cannot be given where there is one already.
const SETTINGS: [&str; 33] = [
    "paper",
    "champion",
    "method",
    "set",
    "iterations",
    "population",
    "step",
    "restart",
    "noise",
    "elite",
    "deviation",
    "crossover",
    "mutation",
    "fit",
    "games",
    "board",
    "pieces",
    "overflow",
    "allow_losing",
    "max_pieces",
    "climbers",
    "fitness",
    "race",
    "delta",
    "curve_games",
    "select_games",
    "select_last",
    "select_board",
    "select_climbers",
    "score_games",
    "score_board",
    "name",
    "seed",
];

const HELP: &str = "\
A run is kept in runs/NAME: config.toml, metrics.jsonl, checkpoint, weights.toml and curve.svg. Ctrl-C stops it; --resume
goes on as if nothing had happened. The same seed gives the same player, whatever the number of threads.

Examples:
  host train                                      a strong player in about a minute
  host train --paper boumaza-hoeffding --seed 7   as the paper did, on other games
  host train --champion 10x20                     a far stronger one in a quarter of an hour
  host train --resume cma-es-dt-1
  host train --paper boumaza-tetris --repeat 50   fifty runs, and the mean of their players
  host train --compare cma-es-dt-1 boumaza-hoeffding-7
  host evaluate --player runs/cma-es-dt-1/weights.toml --board 10x16";

/// `--crossover`
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum CrossoverArg {
    /// Each bit from either parent
    Uniform,
    /// The bits before a point from one parent, those after it from the other
    OnePoint,
    /// Half of the bits that differ
    Hux,
    /// One point between the bits that differ
    ReducedSurrogate,
}

impl From<CrossoverArg> for Crossover {
    fn from(arg: CrossoverArg) -> Crossover {
        match arg {
            CrossoverArg::Uniform => Crossover::Uniform,
            CrossoverArg::OnePoint => Crossover::OnePoint,
            CrossoverArg::Hux => Crossover::Hux,
            CrossoverArg::ReducedSurrogate => Crossover::ReducedSurrogate,
        }
    }
}

/// `--race`
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum RaceArg {
    /// Every candidate plays every game
    None,
    /// Hoeffding's bound, for scores within a known range
    Hoeffding,
    /// The empirical Bernstein bound, which uses the scores' deviation too
    Bernstein,
    /// 2/sqrt(n) of the mean: scores of Tetris are close to exponentially distributed
    Tetris,
}

impl RaceArg {
    /// The bound; one that needs the range of scores takes it over from the bound before.
    fn bound(self, before: Option<Bound>) -> Option<Bound> {
        let range = match before {
            Some(Bound::Hoeffding { range } | Bound::Bernstein { range }) => range,
            _ => preset::RANGE,
        };
        match self {
            RaceArg::None => None,
            RaceArg::Hoeffding => Some(Bound::Hoeffding { range }),
            RaceArg::Bernstein => Some(Bound::Bernstein { range }),
            RaceArg::Tetris => Some(Bound::Tetris),
        }
    }
}

fn parse_set(text: &str) -> Result<Set, String> {
    Set::from_name(text).ok_or_else(|| unknown_set(text))
}

fn parse_training_pieces(text: &str) -> Result<Pieces, String> {
    match parse_pieces(text)? {
        Pieces::List(_) => Err("a list of pieces is one game; training takes uniform, hard:K or bag".into()),
        pieces => Ok(pieces),
    }
}

fn parse_positive(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| *number > 0.0 && number.is_finite());
    number.ok_or_else(|| "give a positive number".into())
}

fn parse_delta(text: &str) -> Result<f64, String> {
    parse_positive(text)
        .ok()
        .filter(|&delta| delta < 1.0)
        .ok_or_else(|| "give a number between 0 and 1".into())
}

impl TrainArgs {
    /// The configuration that the flags ask for.
    ///
    /// # Errors
    /// If flags contradict each other or what they change.
    pub(crate) fn config(&self, seed: u64) -> Result<Config, Failure> {
        let mut config = match (self.paper, self.champion) {
            (Some(paper), _) => paper.config(),
            (None, Some(board)) => preset::champion(board.height),
            (None, None) => preset::default(),
        };
        config.seed = seed;
        if let Some(set) = self.set {
            config.set = set.name().into();
        }
        let set = config.set()?;
        if let Some(name) = self.method
            && name != config.method.name()
        {
            config.method = Method::new(name, set);
        }
        config.method.fit(set);
        if let (Method::FittedValue(method), Some(board)) = (&mut config.method, self.board) {
            method.height = board.height;
        }
        self.configure_method(&mut config.method)?;

        if let Some(iterations) = self.iterations {
            config.iterations = iterations;
        }
        if let Some(games) = self.games {
            config.games = games;
        }
        if let Some(board) = self.board {
            config.training.board = board.to_string();
        }
        if let Some(pieces) = &self.pieces {
            config.training.pieces = pieces.to_string();
        }
        if let Some(overflow) = self.overflow {
            for games in [&mut config.training, &mut config.selection.rules, &mut config.score.rules] {
                games.overflow = overflow.name().into();
            }
        }
        config.allow_losing |= self.allow_losing;
        if self.max_pieces.is_some() {
            config.training.max_pieces = self.max_pieces;
        }
        if self.climbers.is_some() {
            config.training.climbers = self.climbers;
        }
        if self.select_climbers.is_some() {
            config.selection.rules.climbers = self.select_climbers;
        }
        if let Some(fitness) = self.fitness {
            config.fitness = fitness;
        }
        if let Some(arg) = self.race {
            let bound = arg.bound(config.race.map(|race| race.bound));
            config.race =
                bound.map(|bound| RaceConfig { bound, ..config.race.unwrap_or(preset::race(bound)) });
        }
        if let Some(race) = &mut config.race {
            race.r_max = u32::try_from(config.games).unwrap_or(u32::MAX);
        }
        if let Some(delta) = self.delta {
            let Some(race) = &mut config.race else {
                return Err(Failure::input(
                    "--delta is for a race, and candidates do not race; give --race too",
                ));
            };
            race.delta = delta;
        }
        if config.race.is_some()
            && !matches!(config.method, Method::CmaEs(_) | Method::CrossEntropy(_) | Method::Hybrid(_))
        {
            return Err(Failure::input(format_args!(
                "{} has no candidates to race; leave out --race or choose another --method",
                config.method.name().name()
            )));
        }
        if config.race.is_some() && config.fitness != Fitness::Lines {
            return Err(Failure::input("a race compares lines; leave out --race or --fitness"));
        }
        if let Some(games) = self.curve_games {
            config.curve.games = games;
        }
        if let Some(games) = self.select_games {
            config.selection.games = games;
        }
        if let Some(favourites) = self.select_last {
            config.selection.favourites = favourites;
        }
        if let Some(board) = self.select_board {
            config.selection.rules.board = board.to_string();
        }
        if let Some(board) = self.score_board {
            config.score.rules.board = board.to_string();
        }
        if let Some(games) = self.score_games {
            config.score.games = games;
        }
        config.check()?;
        Ok(config)
    }

    /// Sets the method's own parameters; one that it does not have is an error.
    fn configure_method(&self, method: &mut Method) -> Result<(), Failure> {
        let name = method.name().name();
        let given = [
            ("--population", self.population.is_some()),
            ("--step", self.step.is_some()),
            ("--restart", self.restart),
            ("--noise", self.noise.is_some()),
            ("--elite", self.elite.is_some()),
            ("--deviation", self.deviation.is_some()),
            ("--crossover", self.crossover.is_some()),
            ("--mutation", self.mutation.is_some()),
            ("--fit", !self.fit.is_empty()),
        ];
        let known: &[&str] = match method {
            Method::CmaEs(_) => &["--population", "--step", "--restart"],
            Method::CrossEntropy(_) => &["--population", "--noise", "--elite", "--deviation"],
            Method::Genitor(_) => &["--population", "--crossover", "--mutation"],
            Method::Hybrid(_) => &["--population", "--noise", "--elite", "--mutation"],
            Method::FittedValue(_) => &["--fit"],
        };
        if let Some((flag, _)) = given.iter().find(|(flag, given)| *given && !known.contains(flag)) {
            return Err(Failure::input(format_args!(
                "{flag} means nothing to {name}; leave it out or choose another --method"
            )));
        }
        let population = self.population.map(|population| population as usize);
        match method {
            Method::CmaEs(config) => {
                config.population = population.or(config.population);
                config.sigma = self.step.unwrap_or(config.sigma);
                if self.restart {
                    config.restart = Some(Restart::default());
                }
            }
            Method::CrossEntropy(config) => {
                config.population = population.unwrap_or(config.population);
                config.noise = self.noise.unwrap_or(config.noise);
                config.rho = self.elite.unwrap_or(config.rho);
                if let Some(deviation) = self.deviation {
                    config.variance.fill(deviation * deviation);
                }
            }
            Method::Genitor(config) => {
                config.population = population.unwrap_or(config.population);
                config.mutation = self.mutation.unwrap_or(config.mutation);
                config.crossover = self.crossover.map_or(config.crossover, Crossover::from);
            }
            Method::Hybrid(config) => {
                config.population = population.unwrap_or(config.population);
                config.noise = self.noise.unwrap_or(config.noise);
                config.rho = self.elite.unwrap_or(config.rho);
                config.mutation = self.mutation.unwrap_or(config.mutation);
            }
            Method::FittedValue(config) => {
                if !self.fit.is_empty() {
                    config.features = self.fit.clone();
                }
            }
        }
        Ok(())
    }

    /// What a run is about, for its name.
    pub(super) fn subject(config: &Config) -> String {
        match (&config.paper, &config.champion) {
            (Some(paper), _) => paper.clone(),
            (None, Some(board)) => format!("champion-{board}"),
            (None, None) => format!("{}-{}", config.method.name().name(), config.set),
        }
    }

    /// What a run is called that nobody named.
    pub(super) fn free_name(&self, config: &Config) -> String {
        run::free_name(&self.runs, &format!("{}-{}", TrainArgs::subject(config), config.seed))
    }
}
