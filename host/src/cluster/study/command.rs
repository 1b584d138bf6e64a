//! `host cluster`: records and replays for `docs/cluster.md`. It is for those who work on the cluster, not for those who
//! use it, and hidden from the list of commands.

use std::fs;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};

use super::replay::Costs;
use super::trace::{Head, Pace, Trace};
use super::{record, table};
use crate::arena::Arena;
use crate::args::{Common, find_player};
use crate::output::{self, Answer, Failure};
use crate::train::flags::TrainArgs;
use crate::weights::write_aside;

/// Study how training does on more cores than there are at hand
#[derive(Args, Debug)]
pub struct ClusterArgs {
    #[command(subcommand)]
    command: ClusterCommand,
}

#[derive(Subcommand, Debug)]
enum ClusterCommand {
    /// Record the lengths of a training's games
    Record(Box<RecordArgs>),
    /// Measure messages between two ranks: mpirun -n 2 host cluster messages
    Messages(MessagesArgs),
    /// Replay what was recorded: tables on standard output, and a picture
    Study(StudyArgs),
}

#[derive(Args, Debug)]
struct RecordArgs {
    /// Where to
    #[arg(long, value_name = "FILE")]
    to: PathBuf,
    /// What it is called in the tables
    #[arg(long, value_name = "TEXT")]
    title: String,
    /// How many iterations are kept, spread over the training
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u64).range(1..=1000))]
    keep: u64,
    /// In place of a training: the games that would measure this player, see --score-games and --score-board
    #[arg(long, value_name = "NAME|FILE")]
    evaluate: Option<String>,
    #[command(flatten)]
    train: TrainArgs,
}

#[derive(Args, Debug)]
struct MessagesArgs {
    /// Where to
    #[arg(long, value_name = "FILE")]
    to: Option<PathBuf>,
}

#[derive(Args, Debug)]
struct StudyArgs {
    /// The recorded trainings
    #[arg(long, value_name = "DIR", default_value = "results/cluster")]
    folder: PathBuf,
    /// The measured messages
    #[arg(long, value_name = "FILE", default_value = "results/cluster/messages.json")]
    messages: PathBuf,
    /// Cores of a rank
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..=1024))]
    cores_per_rank: u16,
    /// The picture
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Runs the command.
///
/// # Errors
/// See [`Failure`].
pub fn run(args: &ClusterArgs, common: Common) -> Result<Answer, Failure> {
    match &args.command {
        ClusterCommand::Record(args) => recorded(args, common),
        ClusterCommand::Messages(args) => messages(args),
        ClusterCommand::Study(args) => study(args),
    }
}

fn recorded(args: &RecordArgs, common: Common) -> Result<Answer, Failure> {
    let config = args.train.config(common.seed)?;
    let arena = Arena::new(args.train.threads.threads.map(usize::from))?;
    let quoted = |word: String| if word.contains(' ') { format!("'{word}'") } else { word };
    let words: Vec<String> = std::env::args().skip(1).map(quoted).collect();
    let head =
        Head { title: args.title.clone(), command: format!("host {}", words.join(" ")), pace: Pace(vec![]) };
    let trace = match &args.evaluate {
        Some(name) => record::evaluation(&arena, &config, find_player(name)?.player, head)?,
        None => record::training(&arena, &config, args.keep, head)?,
    };
    trace.write(&args.to)?;
    output::print(format_args!(
        "{}: {} bouts, {:.0} pieces a second on one core\n",
        args.to.display(),
        trace.bouts.len(),
        trace.head.pace.best()
    ))?;
    Ok(Answer::Yes)
}

#[cfg(feature = "mpi")]
fn messages(args: &MessagesArgs) -> Result<Answer, Failure> {
    use crate::stats::median;

    const PAIRS: u32 = 5_000;
    let arena = Arena::new(Some(1))?;
    let Some((cluster, _)) = arena.cluster() else { return Err(Failure::input(ALONE)) };
    cluster.ping(PAIRS);
    let (mut each, all) = cluster.ping(PAIRS);
    each.sort_by(f64::total_cmp);
    let costs = Costs { latency: median(&each) / 2.0, handling: all / f64::from(2 * PAIRS) };
    let text = serde_json::to_string(&costs).map_err(Failure::input)? + "\n";
    if let Some(path) = &args.to {
        write_aside(path, text.as_bytes()).map_err(|error| cannot_write(path, &error))?;
    }
    output::print(text)?;
    Ok(Answer::Yes)
}

#[cfg(not(feature = "mpi"))]
fn messages(args: &MessagesArgs) -> Result<Answer, Failure> {
    let _ = (&args.to, ALONE);
    Err(Failure::input("this host was built without MPI; build it with --features mpi"))
}

const ALONE: &str = "one rank has nobody to talk to; try `mpirun -n 2 host cluster messages`";

fn cannot_write(path: &Path, error: &std::io::Error) -> Failure {
    Failure::input(format_args!("cannot write {}: {error}", path.display()))
}

fn study(args: &StudyArgs) -> Result<Answer, Failure> {
    let cannot = |path: &Path, error: &dyn std::fmt::Display| {
        Failure::input(format_args!("cannot read {}: {error}", path.display()))
    };
    let path = &args.messages;
    let text = fs::read_to_string(path).map_err(|error| cannot(path, &error))?;
    let costs: Costs = serde_json::from_str(&text).map_err(|error| cannot(path, &error))?;
    if !(0.0..1.0).contains(&costs.latency) || !(0.0..1.0).contains(&costs.handling) {
        return Err(cannot(path, &"messages take from 0 to 1 second"));
    }
    let entries = fs::read_dir(&args.folder).map_err(|error| cannot(&args.folder, &error))?;
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
    paths.sort();
    let traces = paths.iter().map(|path| Trace::read(path)).collect::<Result<Vec<Trace>, Failure>>()?;
    let row = |trace| (trace, table::row(trace, usize::from(args.cores_per_rank), costs));
    let rows: Vec<_> = traces.iter().map(row).collect();
    output::print(format_args!("{}\n{}", table::markdown(&rows), table::limits(&rows)))?;
    if let Some(path) = &args.out {
        write_aside(path, table::draw(&rows)?.as_bytes()).map_err(|error| cannot_write(path, &error))?;
    }
    Ok(Answer::Yes)
}
