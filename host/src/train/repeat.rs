//! `--repeat`: the same training with several seeds, and the mean of the players that it gives.
//!
//! Training is a matter of luck, and papers differ in how often they tried theirs. Each repetition is a run like any
//! other; a command that was stopped goes on when it is given again.

use std::fmt::Write;

use serde::Serialize;

use super::command::complete;
use super::config::Config;
use super::flags::TrainArgs;
use super::report;
use super::run::{self, Run};
use super::training::{self, Stop};
use super::view::View;
use crate::arena::Arena;
use crate::args::Common;
use crate::figures;
use crate::interrupt;
use crate::output::{self, Answer, FAINT, Failure, HEADING};
use crate::stats::median;
use crate::weights::{Score, Weights};

/// One repetition.
#[derive(Debug, Serialize)]
struct Repetition {
    run: String,
    seed: u64,
    iterations: usize,
    /// Games of candidates.
    games: u64,
    /// Games that races spared.
    games_spared: u64,
    pieces: u64,
    seconds: f64,
    score: Score,
}

/// What all of them come to.
#[derive(Debug, Serialize)]
struct Total<'a> {
    runs: usize,
    /// Lines per game of the runs' players.
    lines: Spread,
    /// Pieces per game of the runs' players.
    lifespan: Spread,
    /// Games of candidates, as a share of those that would have been played without races.
    evaluations: f64,
    pieces: u64,
    seconds: f64,
    /// The mean of the players, as a weights file.
    mean_player: &'a std::path::Path,
    mean_player_score: Option<&'a Score>,
}

/// Several numbers in four.
#[derive(Clone, Copy, Debug, Serialize)]
struct Spread {
    mean: f64,
    worst: f64,
    median: f64,
    best: f64,
}

impl Spread {
    fn of(numbers: impl Iterator<Item = f64>) -> Spread {
        let mut sorted: Vec<f64> = numbers.collect();
        sorted.sort_by(f64::total_cmp);
        Spread {
            mean: sorted.iter().sum::<f64>() / sorted.len() as f64,
            worst: sorted.first().copied().unwrap_or(f64::NAN),
            median: median(&sorted),
            best: sorted.last().copied().unwrap_or(f64::NAN),
        }
    }
}

/// Trains so many runs, seeds counted up from `--seed`, then measures the mean of their players.
///
/// # Errors
/// See [`Failure`]. Complete runs stay as they are.
pub fn run(args: &TrainArgs, common: Common, arena: &Arena, runs: u32) -> Result<Answer, Failure> {
    let last = common.seed.checked_add(u64::from(runs) - 1);
    let last = last.ok_or_else(|| Failure::input("the seeds of the repetitions are too large"))?;
    let config = args.config(common.seed)?;
    let base = args.name.clone().unwrap_or_else(|| TrainArgs::subject(&config));
    let (mut repetitions, mut players) = (vec![], vec![]);
    for seed in common.seed..=last {
        let (mut run, checkpoint) = begin(args, &base, &Config { seed, ..config.clone() })?;
        let Some(weights) = complete(arena, &mut run, checkpoint, None, false)? else {
            output::say(format_args!(
                "stopped in run {} of {runs}; give the same command again to go on",
                players.len() + 1
            ));
            return Ok(Answer::No);
        };
        let repetition = repetition(&run, &weights)?;
        if common.json {
            output::print_json(&repetition)?;
        }
        repetitions.push(repetition);
        players.push(weights);
    }

    let name = format!("{base}-{}-to-{last}", common.seed);
    let view = View::new(&config, &name, vec![], false, interrupt::listen());
    let mean = match view.during(|| training::average(arena, &config, &name, &players, &view)) {
        Ok(mean) => mean,
        Err(Stop::Interrupted) => {
            output::say("stopped while the mean player was measured; give the same command again to go on");
            return Ok(Answer::No);
        }
        Err(Stop::Failed(failure)) => return Err(failure),
    };
    let path = args.runs.join(format!("{name}.toml"));
    mean.write(&path).map_err(Failure::input)?;

    let games: u64 = repetitions.iter().map(|run| run.games).sum();
    let spared: u64 = repetitions.iter().map(|run| run.games_spared).sum();
    let total = Total {
        runs: repetitions.len(),
        lines: Spread::of(repetitions.iter().map(|run| run.score.mean)),
        lifespan: Spread::of(repetitions.iter().map(|run| run.score.lifespan.unwrap_or(f64::NAN))),
        evaluations: games as f64 / (games + spared) as f64,
        pieces: repetitions.iter().map(|run| run.pieces).sum(),
        seconds: repetitions.iter().map(|run| run.seconds).sum(),
        mean_player: &path,
        mean_player_score: mean.provenance.score.as_ref(),
    };
    if common.json {
        output::print_json(&total)?;
    } else {
        output::print(describe(&config, &repetitions, &total))?;
    }
    Ok(Answer::Yes)
}

/// A repetition's run, new or begun by an earlier command.
fn begin(args: &TrainArgs, base: &str, config: &Config) -> Result<(Run, run::Checkpoint), Failure> {
    let name = format!("{base}-{}", config.seed);
    if !args.runs.join(&name).is_dir() {
        return Run::create(&args.runs, &name, config.clone());
    }
    let begun = Run::resume(&args.runs, &name)?;
    if begun.0.config == *config {
        Ok(begun)
    } else {
        Err(Failure::input(format_args!(
            "there is a run {name} already that was trained in another way; choose another --name"
        )))
    }
}

fn repetition(run: &Run, weights: &Weights) -> Result<Repetition, Failure> {
    let rows = run.rows()?;
    let last = rows.last();
    let score = weights.provenance.score.clone();
    Ok(Repetition {
        run: run.name.clone(),
        seed: run.config.seed,
        iterations: rows.len(),
        games: last.map_or(0, |row| row.games),
        games_spared: last.map_or(0, |row| row.games_spared),
        pieces: last.map_or(0, |row| row.pieces),
        seconds: last.map_or(0.0, |row| row.seconds),
        score: score.ok_or_else(|| {
            Failure::input(format_args!(
                "the player of the run {} has no score; was its file edited?",
                run.name
            ))
        })?,
    })
}

fn describe(config: &Config, repetitions: &[Repetition], total: &Total<'_>) -> String {
    let mut text = format!(
        "{HEADING}{:<32} {:>10} {:>13} {:>8} {:>12} {:>14}{HEADING:#}\n",
        "run", "iterations", "games", "pieces", "lines/game", "pieces/game"
    );
    for run in repetitions {
        let _ = writeln!(
            text,
            "{:<32} {:>10} {:>13} {:>8} {:>12} {:>14}",
            run.run,
            run.iterations,
            figures::grouped(run.games),
            figures::short(run.pieces as f64),
            figures::lines(run.score.mean),
            run.score.lifespan.map_or(String::new(), figures::lines),
        );
    }
    let Spread { mean, worst, median, best } = total.lines;
    let lines = [mean, worst, median, best].map(figures::lines);
    let Spread { mean, worst, median, best } = total.lifespan;
    let lifespan = [mean, worst, median, best].map(figures::lines);
    for (what, numbers) in [("lines per game", lines), ("pieces per game", lifespan)] {
        let [mean, worst, median, best] = numbers;
        let _ = writeln!(
            text,
            "  {FAINT}{what:<16}{FAINT:#} mean {mean}, worst {worst}, median {median}, best {best} on {} {}",
            config.score.rules.board, config.score.rules.pieces
        );
    }
    if config.race.is_some() {
        let _ = writeln!(
            text,
            "  {FAINT}{:<16}{FAINT:#} {:.1} % of those without races",
            "games",
            100.0 * total.evaluations
        );
    }
    let _ = writeln!(text, "  {FAINT}{:<16}{FAINT:#} {}", "mean player", total.mean_player.display());
    if let Some(score) = total.mean_player_score {
        let _ = writeln!(text, "  {FAINT}{:<16}{FAINT:#} {}", "its score", report::describe(score));
    }
    text
}
