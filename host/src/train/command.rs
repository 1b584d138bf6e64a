//! `host train`: learns a player.

use std::path::Path;

pub use super::flags::TrainArgs;

use super::run::{Checkpoint, Run};
use super::training::{self, Stop};
use super::view::View;
use super::{curve, repeat, report};
use crate::arena::Arena;
use crate::args::Common;
use crate::interrupt;
use crate::output::{self, Answer, Failure};
use crate::weights::Weights;

/// Runs the command.
///
/// # Errors
/// See [`Failure`].
pub fn run(args: &TrainArgs, common: Common) -> Result<Answer, Failure> {
    if args.list {
        return report::list(&args.runs, common);
    }
    if !args.compare.is_empty() {
        return report::compare(&args.runs, &args.compare, args.out.as_deref());
    }
    let arena = Arena::new(args.threads.threads.map(usize::from))?;
    interrupt::listen();
    if let Some(runs) = args.repeat {
        return repeat::run(args, common, &arena, runs);
    }
    let (mut run, checkpoint) = match &args.resume {
        Some(name) => Run::resume(&args.runs, name)?,
        None => {
            let config = args.config(common.seed)?;
            let name = args.name.clone().unwrap_or_else(|| args.free_name(&config));
            Run::create(&args.runs, &name, config)?
        }
    };
    if run.weights()?.is_some() && !common.json {
        output::say(format_args!("the run {} has ended already", run.name));
    }
    if arena.ranks() > 1 {
        let safe = "the last complete iteration is on disk; go on, with as many ranks as you like, by: ";
        let told = format!("{safe}{}", resumption(&args.runs, &run));
        output::say(format_args!(
            "{} ranks, {} threads; if a rank dies {told}",
            arena.ranks(),
            arena.threads()
        ));
        // MPI ends all ranks when one dies, some with a few milliseconds' notice.
        interrupt::prepare(told);
    }
    match complete(&arena, &mut run, checkpoint, args.stop_after, common.json)? {
        Some(weights) => report::end(common, &run, &weights),
        None => stopped(&args.runs, &run),
    }
}

/// Trains a run to its end, unless it has ended already, and draws its curve. No player: it was stopped before.
pub(super) fn complete(
    arena: &Arena,
    run: &mut Run,
    checkpoint: Checkpoint,
    stop_after: Option<u64>,
    json: bool,
) -> Result<Option<Weights>, Failure> {
    if let Some(weights) = run.weights()? {
        return Ok(Some(weights));
    }
    let view = View::new(&run.config, &run.name, run.rows()?, json, interrupt::listen());
    let weights = match view.during(|| training::iterate(arena, run, checkpoint, stop_after, &view)) {
        Ok(weights) => Some(weights),
        Err(Stop::Interrupted) => None,
        Err(Stop::Failed(failure)) => return Err(failure),
    };
    if let Some(weights) = &weights {
        run.write_weights(weights)?;
    }
    let rows = run.rows()?;
    if !rows.is_empty() {
        run.write_curve(&curve::draw(&run.name, &run.config, &rows)?)?;
    }
    Ok(weights)
}

/// The command that goes on with a run.
fn resumption(runs: &Path, run: &Run) -> String {
    let elsewhere =
        if runs.as_os_str() == "runs" { String::new() } else { format!(" --runs {}", runs.display()) };
    format!("host train --resume {}{elsewhere}", run.name)
}

/// Says how to go on with a run that was stopped.
fn stopped(runs: &Path, run: &Run) -> Result<Answer, Failure> {
    output::say(format_args!(
        "stopped after iteration {} of {}; go on with: {}",
        run.rows()?.len(),
        run.config.iterations,
        resumption(runs, run)
    ));
    Ok(Answer::No)
}
