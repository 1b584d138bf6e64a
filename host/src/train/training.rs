//! Training: from a checkpoint, iteration by iteration, to the player that is chosen and measured.

use std::fmt::Write;
use std::time::Instant;

use dropwise_core::Player;
use dropwise_core::game::derive_seed;
use rand_core::SeedableRng;

use super::config::{Config, Fitness};
use super::judge::Judge;
use super::race::{Race, Standing};
use super::run::{Checkpoint, Row, Run};
use super::view::{Interrupted, Phase, RaceState, View};
use super::{IterationRng, Optimiser, select};
use crate::arena::Arena;
use crate::figures;
use crate::output::Failure;
use crate::stats::Summary;
use crate::weights::{Provenance, Score, Weights};

/// Why training ended before its end.
#[derive(Debug)]
pub enum Stop {
    /// Ctrl-C, or as many iterations as were asked for.
    Interrupted,
    /// Something failed.
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
    /// The games that measure the mean of several runs' players.
    pub(super) const MEAN_SCORE: u64 = u64::MAX - 3;
}

/// The first of the games that measure the favourite; candidates play those from 0 on.
const CURVE_GAMES: u64 = 1 << 32;

/// From a checkpoint to the chosen player, or until this many more iterations are done.
///
/// # Errors
/// [`Stop`]: whatever was complete is on disk.
pub fn iterate(
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
        climbers: config.training.climbers,
        fitness: config.fitness,
    };
    let before = checkpoint.seconds;
    let start = Instant::now();
    let pause = stop_after.map(|more| checkpoint.iteration.saturating_add(more));
    while checkpoint.iteration < config.iterations && !checkpoint.learner.is_done() {
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
    let loaded = config.selection.rules.load()?;
    let judge = Judge {
        arena,
        set: config.set()?,
        options: config.options(),
        rules: loaded.rules(),
        max_pieces: config.selection.rules.max_pieces(),
        climbers: config.selection.rules.climbers,
        fitness: Fitness::Lines,
    };
    let candidates = select::candidates(&checkpoint.favourites, &checkpoint.learner.contenders());
    let games = select::games(candidates.len(), config.selection.games);
    let progress = view.begin(Phase::Selecting { candidates: candidates.len() }, games);
    let seed = derive_seed(config.seed, seeds::SELECTION);
    let chosen = select::halve(&judge, &candidates, seed, config.selection.games, &progress);
    let chosen = &candidates[chosen.map_err(Failure::input)?];
    view.check()?;

    let (player, score) = measure(arena, config, chosen, derive_seed(config.seed, seeds::SCORE), view)?;
    let preset = match (&config.paper, &config.champion) {
        (Some(paper), _) => format!(", --paper {paper}"),
        (None, Some(board)) => format!(", --champion {board}"),
        (None, None) => String::new(),
    };
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
        real: chosen.clone(),
        player,
        provenance: Provenance {
            method: format!("{}{preset} on {}", config.method.name().name(), config.training.describe()),
            seed: Some(config.seed),
            date: None,
            note: Some(note),
            score: Some(score),
        },
    })
}

/// The mean of the players of several runs that differ in their seeds alone, measured on games that none of them
/// played. A. Boumaza makes his players so (2009, 2012).
///
/// # Errors
/// [`Stop`]: nothing was written.
pub fn average(
    arena: &Arena,
    config: &Config,
    name: &str,
    players: &[Weights],
    view: &View,
) -> Result<Weights, Stop> {
    let real: Vec<Vec<f64>> = players.iter().map(|weights| weights.real.clone()).collect();
    let mean = select::mean(&real);
    let (player, score) = measure(arena, config, &mean, derive_seed(config.seed, seeds::MEAN_SCORE), view)?;
    let method = players.first().map_or("", |first| &first.provenance.method);
    Ok(Weights {
        name: name.chars().take(64).collect(),
        real: mean,
        player,
        provenance: Provenance {
            method: format!("the mean of {} runs of {method}", players.len()),
            seed: Some(config.seed),
            date: None,
            note: None,
            score: Some(score),
        },
    })
}

/// The player that weights make, and its score on the games of this seed.
fn measure(
    arena: &Arena,
    config: &Config,
    weights: &[f64],
    seed: u64,
    view: &View,
) -> Result<(Player, Score), Stop> {
    let (rules, games) = (&config.score.rules, config.score.games);
    let loaded = rules.load()?;
    let judge = Judge {
        arena,
        set: config.set()?,
        options: config.options(),
        rules: loaded.rules(),
        max_pieces: rules.max_pieces(),
        climbers: rules.climbers,
        fitness: Fitness::Lines,
    };
    let controllers = judge.players(&[weights.to_vec()]).map_err(Failure::input)?;
    let progress = view.begin(Phase::Scoring, games);
    let scores = judge.play(&controllers, seed, 0..games, &progress).swap_remove(0);
    view.check()?;
    let lines: Vec<u64> = scores.iter().map(|score| score.lines).collect();
    let summary = Summary::of(&lines).ok_or_else(|| Failure::input("no games"))?;
    let pieces: u64 = scores.iter().map(|score| score.pieces).sum();
    let score = Score {
        mean: summary.mean,
        ci95_low: summary.ci95_low.unwrap_or(summary.mean),
        ci95_high: summary.ci95_high.unwrap_or(summary.mean),
        lifespan: Some(pieces as f64 / games as f64),
        games,
        seed,
        board: rules.board.clone(),
        pieces: rules.pieces.clone(),
        overflow: rules.overflow.clone(),
    };
    Ok((*controllers[0].player(), score))
}
