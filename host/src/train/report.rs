//! What `host train` says of runs: how one ended, the list of them, several in one picture.

use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

use super::curve;
use super::run::{self, Run};
use crate::args::Common;
use crate::figures;
use crate::output::{self, Answer, FAINT, Failure, HEADING};
use crate::weights::{Score, Weights, write_aside};

/// How a run ended.
///
/// # Errors
/// If its rows cannot be read, or standard output does not take it.
pub fn end(common: Common, run: &Run, weights: &Weights) -> Result<Answer, Failure> {
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
        let _ = writeln!(text, "{}", describe(score));
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
    output::print(text)?;
    Ok(Answer::Yes)
}

/// A score with all that it takes to compare it.
pub fn describe(score: &Score) -> String {
    format!(
        "{HEADING}{} lines{HEADING:#} per game on {}, pieces {} (95 % interval {} to {}, N = {}, games never used before)",
        figures::lines(score.mean),
        score.board,
        score.pieces,
        figures::lines(score.ci95_low),
        figures::lines(score.ci95_high),
        figures::grouped(score.games),
    )
}

/// `--list`
///
/// # Errors
/// If the folder of the runs cannot be read, or standard output does not take it.
pub fn list(runs: &Path, common: Common) -> Result<Answer, Failure> {
    let names = run::list(runs)?;
    let mut text = String::new();
    if names.is_empty() && !common.json {
        output::say(format_args!("no runs in {}; `host train` makes one", runs.display()));
    }
    for (i, name) in names.iter().enumerate() {
        let folder = runs.join(name);
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
                "champion": config.champion,
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

/// `--compare`: draws the curves of several runs in one picture.
///
/// # Errors
/// If a run has nothing to draw, or the picture cannot be written.
pub fn compare(runs: &Path, names: &[String], out: Option<&Path>) -> Result<Answer, Failure> {
    let mut drawn = vec![];
    for name in names {
        let folder = runs.join(name);
        let rows = run::read_rows(&folder)?;
        if rows.is_empty() {
            return Err(Failure::input(format_args!("the run {name} has no iteration yet; nothing to draw")));
        }
        drawn.push((name.clone(), run::read_config(&folder)?, rows));
    }
    let path = out.map_or_else(|| runs.join("compare.svg"), Path::to_path_buf);
    let svg = curve::compare(&drawn)?;
    write_aside(&path, svg.as_bytes()).map_err(|error| {
        Failure::input(format_args!("cannot write {}: {error}; give another --out", path.display()))
    })?;
    output::print(format_args!("{}\n", path.display()))?;
    Ok(Answer::Yes)
}
