//! `host train`: learns a player.

use std::fmt::Write;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use clap::Args;
use dropwise_core::Set;
use dropwise_core::game::derive_seed;
use rand_core::SeedableRng;

use super::cma_es::Restart;
use super::config::{Config, Fitness};
use super::cross_entropy::Noise;
use super::genitor::Crossover;
use super::judge::Judge;
use super::learner::{Method, MethodName, parse_noise};
use super::preset::{self, Paper};
use super::race::{Bound, Race, RaceConfig, Standing};
use super::run::{self, Checkpoint, Row, Run};
use super::view::{Interrupted, Phase, RaceState, View};
use super::{IterationRng, Optimiser, curve, select};
use crate::arena::Arena;
use crate::args::{Board, Common, OverflowArg, Pieces, ThreadsArg, parse_board, parse_pieces};
use crate::figures;
use crate::output::{self, Answer, FAINT, Failure, HEADING};
use crate::stats::Summary;
use crate::weights::{Provenance, Score, Weights, unknown_set};

/// Learn a player: with no arguments a strong one, in about a minute
#[derive(Args, Debug)]
#[command(after_help = HELP)]
pub struct TrainArgs {
    /// Set everything as a paper did; flags change single things
    #[arg(long, value_enum)]
    paper: Option<Paper>,

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

    /// The board on which the final selection is played
    #[arg(long, value_name = "10xHEIGHT", value_parser = parse_board, help_heading = "Games")]
    select_board: Option<Board>,

    /// Games that measure the chosen player
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000), help_heading = "Games")]
    score_games: Option<u64>,

    /// The board on which the chosen player is measured
    #[arg(long, value_name = "10xHEIGHT", value_parser = parse_board, help_heading = "Games")]
    score_board: Option<Board>,

    /// What the run is called [default: the paper or method, and the seed]
    #[arg(long, value_name = "NAME", help_heading = "Runs")]
    name: Option<String>,

    /// The folder that runs are kept in
    #[arg(long, value_name = "DIR", default_value = "runs", help_heading = "Runs")]
    runs: PathBuf,

    /// Go on with a run after its last complete iteration
    #[arg(long, value_name = "NAME", conflicts_with_all = SETTINGS, help_heading = "Runs")]
    resume: Option<String>,

    /// Stop after this many more iterations, as Ctrl-C does; --resume goes on
    #[arg(long, value_name = "N", help_heading = "Runs")]
    stop_after: Option<u64>,

    /// List the runs
    #[arg(long, conflicts_with_all = SETTINGS, conflicts_with_all = ["resume", "threads", "stop_after"], help_heading = "Runs")]
    list: bool,

    /// Draw the curves of several runs in one picture
    #[arg(
        long,
        value_name = "RUN",
        num_args = 2..,
        conflicts_with_all = SETTINGS,
        conflicts_with_all = ["resume", "list", "threads", "stop_after"],
        help_heading = "Runs"
    )]
    compare: Vec<String>,

    /// With --compare: the picture's file [default: compare.svg in the folder of the runs]
    #[arg(long, value_name = "FILE", requires = "compare", help_heading = "Runs")]
    out: Option<PathBuf>,

    #[command(flatten)]
    threads: ThreadsArg,
}

/// What a run's configuration decides, and so cannot be given where there is one already.
const SETTINGS: [&str; 28] = [
    "paper",
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
    "games",
    "board",
    "pieces",
    "overflow",
    "allow_losing",
    "max_pieces",
    "fitness",
    "race",
    "delta",
    "curve_games",
    "select_games",
    "select_board",
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
  host train --resume cma-es-dt-1
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
    fn config(&self, seed: u64) -> Result<Config, Failure> {
        let mut config = self.paper.map_or_else(preset::default, Paper::config);
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
        ];
        let known: &[&str] = match method {
            Method::CmaEs(_) => &["--population", "--step", "--restart"],
            Method::CrossEntropy(_) => &["--population", "--noise", "--elite", "--deviation"],
            Method::Genitor(_) => &["--population", "--crossover", "--mutation"],
            Method::Hybrid(_) => &["--population", "--noise", "--elite", "--mutation"],
            Method::FittedValue(_) => &[],
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
            Method::FittedValue(_) => {}
        }
        Ok(())
    }

    /// What a run is called that nobody named.
    fn default_name(&self, config: &Config) -> String {
        let what = match &config.paper {
            Some(paper) => paper.clone(),
            None => format!("{}-{}", config.method.name().name(), config.set),
        };
        run::free_name(&self.runs, &format!("{what}-{}", config.seed))
    }
}

/// Runs the command.
///
/// # Errors
/// See [`Failure`].
pub fn run(args: &TrainArgs, common: Common) -> Result<Answer, Failure> {
    if args.list {
        return list(args, common);
    }
    if !args.compare.is_empty() {
        return compare(args);
    }
    let arena = Arena::new(args.threads.threads.map(usize::from))?;
    let (run, checkpoint) = match &args.resume {
        Some(name) => Run::resume(&args.runs, name)?,
        None => {
            let config = args.config(common.seed)?;
            let name = args.name.clone().unwrap_or_else(|| args.default_name(&config));
            Run::create(&args.runs, &name, config)?
        }
    };
    // A second handler in one process is refused; the first one serves.
    let _ = ctrlc::set_handler(|| INTERRUPTED.store(true, Ordering::Relaxed));
    train(args, common, &arena, run, checkpoint)
}

/// Set by Ctrl-C.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Why training ended before its end.
enum Stop {
    Interrupted,
    Failed(Failure),
}

impl From<Interrupted> for Stop {
    fn from(_: Interrupted) -> Stop {
        Stop::Interrupted
    }
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Stop {
        Stop::Failed(failure)
    }
}

/// The seeds of what is not an iteration. Iterations are counted from 1 and never come near.
mod seeds {
    /// The games of a run that plays the same ones from first to last.
    pub(super) const SAME_GAMES: u64 = u64::MAX;
    /// The games among which the player is chosen.
    pub(super) const SELECTION: u64 = u64::MAX - 1;
    /// The games that measure it.
    pub(super) const SCORE: u64 = u64::MAX - 2;
}

/// The first of the games that measure the favourite; candidates play those from 0 on.
const CURVE_GAMES: u64 = 1 << 32;

fn train(
    args: &TrainArgs,
    common: Common,
    arena: &Arena,
    mut run: Run,
    checkpoint: Checkpoint,
) -> Result<Answer, Failure> {
    if let Some(weights) = run.weights()? {
        if !common.json {
            output::say(format_args!("the run {} has ended already", run.name));
        }
        return report(args, common, &run, &weights);
    }
    let rows = run.rows()?;
    let view = View::new(&run.config, &run.name, rows, common.json, &INTERRUPTED);
    let trained = view.during(|| iterate(arena, &mut run, checkpoint, args.stop_after, &view));
    match trained {
        Ok(weights) => {
            run.write_weights(&weights)?;
            run.write_curve(&curve::draw(&run.name, &run.config, &run.rows()?)?)?;
            report(args, common, &run, &weights)
        }
        Err(Stop::Interrupted) => {
            let rows = run.rows()?;
            if !rows.is_empty() {
                run.write_curve(&curve::draw(&run.name, &run.config, &rows)?)?;
            }
            let elsewhere = if args.runs.as_os_str() == "runs" {
                String::new()
            } else {
                format!(" --runs {}", args.runs.display())
            };
            output::say(format_args!(
                "stopped after iteration {} of {}; go on with: host train --resume {}{elsewhere}",
                rows.len(),
                run.config.iterations,
                run.name
            ));
            Ok(Answer::No)
        }
        Err(Stop::Failed(failure)) => Err(failure),
    }
}

/// From a checkpoint to the chosen player.
fn iterate(
    arena: &Arena,
    run: &mut Run,
    mut checkpoint: Checkpoint,
    stop_after: Option<u64>,
    view: &View,
) -> Result<Weights, Stop> {
    let config = run.config.clone();
    let set = config.set()?;
    let training = config.training.load()?;
    let judge = Judge {
        arena,
        set,
        options: config.options(),
        rules: training.rules(),
        max_pieces: config.training.max_pieces(),
        fitness: config.fitness,
    };
    let before = checkpoint.seconds;
    let start = Instant::now();
    let pause = stop_after.map(|more| checkpoint.iteration.saturating_add(more));
    while checkpoint.iteration < config.iterations {
        if pause == Some(checkpoint.iteration) {
            return Err(Stop::Interrupted);
        }
        let row =
            iteration(&judge, &config, &mut checkpoint, view, || before + start.elapsed().as_secs_f64())?;
        run.record(&row, &mut checkpoint)?;
        view.row(row)?;
    }
    choose(arena, &config, &run.name, &checkpoint, view)
}

/// One iteration: ask, judge, tell, and measure the favourite.
fn iteration(
    judge: &Judge<'_>,
    config: &Config,
    checkpoint: &mut Checkpoint,
    view: &View,
    seconds: impl Fn() -> f64,
) -> Result<Row, Stop> {
    let iteration = checkpoint.iteration + 1;
    let seed = derive_seed(config.seed, iteration);
    let mut learner = checkpoint.learner.clone();
    let candidates = learner.ask(&mut IterationRng::seed_from_u64(seed));
    let games_seed = if config.fresh_games { seed } else { derive_seed(config.seed, seeds::SAME_GAMES) };

    let progress = view.begin(
        Phase::Training { iteration, candidates: candidates.len() },
        config.games * candidates.len() as u64,
    );
    let mut race_limit = checkpoint.race_limit;
    let verdict = match (&config.race, &mut race_limit) {
        (Some(rules), Some(limit)) => {
            let mut race = Race::new(*rules, candidates.len(), learner.parents(), limit.games());
            let watch = |race: &Race| view.race(race_state(race));
            let verdict = judge.race(&candidates, games_seed, &mut race, &progress, watch);
            limit.adapt(rules, race.is_decided());
            verdict
        }
        _ => judge.judge(&candidates, games_seed, config.games, &progress),
    };
    let verdict = verdict.map_err(Failure::input)?;
    view.check()?;
    learner.tell(&verdict.fitness);

    let favourite = learner.favourite();
    let progress = view.begin(Phase::Measuring { iteration }, config.curve.games);
    let players = judge.players(std::slice::from_ref(&favourite)).map_err(Failure::input)?;
    let scores = judge.play(&players, seed, CURVE_GAMES..CURVE_GAMES + config.curve.games, &progress);
    view.check()?;
    let lines: Vec<u64> = scores[0].iter().map(|score| score.lines).collect();
    let summary = Summary::of(&lines).ok_or_else(|| Failure::input("no games"))?;

    let mut fitness = verdict.fitness.clone();
    fitness.sort_by(|a, b| b.total_cmp(a));
    let middle = [fitness.first(), fitness.get(fitness.len() / 2), fitness.last()];
    let spread = learner.spread();
    checkpoint.learner = learner;
    checkpoint.race_limit = race_limit;
    checkpoint.iteration = iteration;
    checkpoint.seconds = seconds();
    checkpoint.pieces += verdict.pieces;
    checkpoint.games += verdict.games;
    checkpoint.games_spared += config.games * candidates.len() as u64 - verdict.games;
    checkpoint.favourites.push(favourite.clone());
    let surplus = checkpoint.favourites.len().saturating_sub(config.selection.favourites as usize);
    checkpoint.favourites.drain(..surplus);
    Ok(Row {
        iteration,
        seconds: checkpoint.seconds,
        pieces: checkpoint.pieces,
        games: checkpoint.games,
        games_spared: checkpoint.games_spared,
        fitness: middle.map(|fitness| fitness.copied().unwrap_or(0.0)),
        mean: summary.mean,
        ci95_low: summary.ci95_low,
        ci95_high: summary.ci95_high,
        spread,
        weights: favourite,
        digest: format!("{:016x}", verdict.digest),
    })
}

fn race_state(race: &Race) -> RaceState {
    let racing = race.arms().iter().filter(|arm| arm.standing == Standing::Undecided).count();
    RaceState { round: u64::from(race.round()), limit: u64::from(race.limit()), racing }
}

/// Chooses the player on fresh games, and measures it on games never used before.
fn choose(
    arena: &Arena,
    config: &Config,
    name: &str,
    checkpoint: &Checkpoint,
    view: &View,
) -> Result<Weights, Stop> {
    let set = config.set()?;
    let judge = |rules, max_pieces| Judge {
        arena,
        set,
        options: config.options(),
        rules,
        max_pieces,
        fitness: Fitness::Lines,
    };
    let loaded = config.selection.rules.load()?;
    let candidates = select::candidates(&checkpoint.favourites);
    let games = select::games(candidates.len(), config.selection.games);
    let progress = view.begin(Phase::Selecting { candidates: candidates.len() }, games);
    let chosen = select::halve(
        &judge(loaded.rules(), config.selection.rules.max_pieces()),
        &candidates,
        derive_seed(config.seed, seeds::SELECTION),
        config.selection.games,
        &progress,
    );
    let chosen = chosen.map_err(Failure::input)?;
    view.check()?;

    let measure = &config.score;
    let loaded = measure.rules.load()?;
    let judge = judge(loaded.rules(), measure.rules.max_pieces());
    let progress = view.begin(Phase::Scoring, measure.games);
    let controllers = judge.players(&candidates[chosen..=chosen]).map_err(Failure::input)?;
    let seed = derive_seed(config.seed, seeds::SCORE);
    let scores = judge.play(&controllers, seed, 0..measure.games, &progress);
    view.check()?;
    let lines: Vec<u64> = scores[0].iter().map(|score| score.lines).collect();
    let summary = Summary::of(&lines).ok_or_else(|| Failure::input("no games"))?;
    let paper = config.paper.as_ref().map_or(String::new(), |paper| format!(", --paper {paper}"));
    let mut note = format!(
        "{} iterations, {} games of candidates, {} pieces",
        checkpoint.iteration,
        figures::grouped(checkpoint.games),
        figures::grouped(checkpoint.pieces)
    );
    if config.race.is_some() {
        let _ = write!(note, "; races spared {} games", figures::grouped(checkpoint.games_spared));
    }
    Ok(Weights {
        name: name.chars().take(64).collect(),
        real: candidates[chosen].clone(),
        player: *controllers[0].player(),
        provenance: Provenance {
            method: format!("{}{paper} on {}", config.method.name().name(), config.training.describe()),
            seed: Some(config.seed),
            date: None,
            note: Some(note),
            score: Some(Score {
                mean: summary.mean,
                ci95_low: summary.ci95_low.unwrap_or(summary.mean),
                ci95_high: summary.ci95_high.unwrap_or(summary.mean),
                games: measure.games,
                seed,
                board: measure.rules.board.clone(),
                pieces: measure.rules.pieces.clone(),
                overflow: measure.rules.overflow.clone(),
            }),
        },
    })
}

/// How a run ended.
fn report(args: &TrainArgs, common: Common, run: &Run, weights: &Weights) -> Result<Answer, Failure> {
    let rows = run.rows()?;
    let path = run.folder().join(run::WEIGHTS);
    if common.json {
        output::print_json(&serde_json::json!({
            "run": run.name,
            "iterations": rows.len(),
            "pieces": rows.last().map_or(0, |row| row.pieces),
            "games": rows.last().map_or(0, |row| row.games),
            "seconds": rows.last().map_or(0.0, |row| row.seconds),
            "weights": path,
            "score": weights.provenance.score,
        }))?;
        return Ok(Answer::Yes);
    }
    let mut text = String::new();
    if let Some(score) = &weights.provenance.score {
        let _ = writeln!(
            text,
            "{HEADING}{} lines{HEADING:#} per game on {}, pieces {} (95 % interval {} to {}, N = {}, games never used before)",
            figures::lines(score.mean),
            score.board,
            score.pieces,
            figures::lines(score.ci95_low),
            figures::lines(score.ci95_high),
            figures::grouped(score.games),
        );
    }
    if let Some(row) = rows.last() {
        let _ = writeln!(
            text,
            "  {FAINT}trained{FAINT:#}  {} iterations, {} games, {} pieces in {}",
            row.iteration,
            figures::grouped(row.games),
            figures::grouped(row.pieces),
            figures::time(Duration::from_secs_f64(row.seconds.max(0.0)))
        );
    }
    let _ = writeln!(text, "  {FAINT}player{FAINT:#}   {}", path.display());
    let _ = writeln!(text, "  {FAINT}curve{FAINT:#}    {}", run.folder().join(run::CURVE).display());
    let _ = writeln!(text, "  {FAINT}next{FAINT:#}     host watch --player {}", path.display());
    let _ = args;
    output::print(text)?;
    Ok(Answer::Yes)
}

/// `--list`
fn list(args: &TrainArgs, common: Common) -> Result<Answer, Failure> {
    let names = run::list(&args.runs)?;
    let mut text = String::new();
    if names.is_empty() && !common.json {
        output::say(format_args!("no runs in {}; `host train` makes one", args.runs.display()));
    }
    for (i, name) in names.iter().enumerate() {
        let folder = args.runs.join(name);
        let (config, rows) =
            match run::read_config(&folder).and_then(|config| Ok((config, run::read_rows(&folder)?))) {
                Ok(read) => read,
                Err(Failure::Input(message)) => {
                    // One broken run does not hide the others.
                    output::say(message);
                    continue;
                }
                Err(failure) => return Err(failure),
            };
        let weights = run::read_weights(&folder).ok().flatten();
        let score = weights.and_then(|weights| weights.provenance.score);
        if common.json {
            output::print_json(&serde_json::json!({
                "run": name,
                "method": config.method.name().name(),
                "paper": config.paper,
                "set": config.set,
                "seed": config.seed,
                "iteration": rows.len(),
                "iterations": config.iterations,
                "pieces": rows.last().map_or(0, |row| row.pieces),
                "ended": score.is_some(),
                "score": score,
            }))?;
            continue;
        }
        if i == 0 {
            let _ = writeln!(
                text,
                "{HEADING}{:<24} {:<14} {:<8} {:>6} {:>11} {:>10}  lines per game{HEADING:#}",
                "run", "method", "set", "seed", "iterations", "pieces"
            );
        }
        let lines = match &score {
            Some(score) => format!(
                "{} ({} to {}) on {} {}, N = {}",
                figures::lines(score.mean),
                figures::lines(score.ci95_low),
                figures::lines(score.ci95_high),
                score.board,
                score.pieces,
                figures::grouped(score.games)
            ),
            None => "not ended: --resume it".into(),
        };
        let _ = writeln!(
            text,
            "{name:<24} {:<14} {:<8} {:>6} {:>11} {:>10}  {lines}",
            config.method.name().name(),
            config.set,
            config.seed,
            format!("{}/{}", rows.len(), config.iterations),
            figures::short(rows.last().map_or(0.0, |row| row.pieces as f64)),
        );
    }
    output::print(text)?;
    Ok(Answer::Yes)
}

/// `--compare`
fn compare(args: &TrainArgs) -> Result<Answer, Failure> {
    let mut runs = vec![];
    for name in &args.compare {
        let folder = args.runs.join(name);
        let rows = run::read_rows(&folder)?;
        if rows.is_empty() {
            return Err(Failure::input(format_args!("the run {name} has no iteration yet; nothing to draw")));
        }
        runs.push((name.clone(), run::read_config(&folder)?, rows));
    }
    let path = args.out.clone().unwrap_or_else(|| args.runs.join("compare.svg"));
    let svg = curve::compare(&runs)?;
    crate::weights::write_aside(&path, svg.as_bytes()).map_err(|error| {
        Failure::input(format_args!("cannot write {}: {error}; give another --out", path.display()))
    })?;
    output::print(format_args!("{}\n", path.display()))?;
    Ok(Answer::Yes)
}
