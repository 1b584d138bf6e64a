//! `host results`: measurements kept in batches of games, and the page made of them.
//!
//! ```text
//!     results/
//!       plan.toml           what is to be measured: plan
//!       players/NAME.toml   weights files of players that are not built in
//!       data/SECTION.jsonl  what was measured, a line a batch of games: record, data
//!       data/SECTION.aside  long games that are under way: aside
//!       curves/NAME.jsonl   how training runs went: curves
//!       learned.md          what stands at the end of the page
//!     docs/results.md       the page
//!     docs/results/*.svg    its pictures
//! ```
//!
//! Read [`plan`] and [`row`] for what a measurement is, [`sitting`], [`measure`], [`record`], [`data`] and [`aside`] for how it is
//! made and kept, [`campaign`] for many of them at once, and [`sums`], [`page`] and [`plots`] for what comes of them.

pub mod aside;
pub mod campaign;
pub(crate) mod clock;
pub mod curves;
pub mod data;
pub mod heights;
pub mod histogram;
pub mod measure;
pub mod pace;
pub mod page;
pub mod plan;
pub mod plots;
pub mod record;
pub mod row;
pub mod sitting;
pub mod sums;
pub mod variant;

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use clap::Args;
use serde::Serialize;

use crate::arena::Arena;
use crate::args::{Common, ThreadsArg};
use crate::figures::{self, grouped};
use crate::interrupt;
use crate::library;
use crate::output::{self, Answer, FAINT, Failure, HEADING};
use crate::stats::Summary;
use crate::weights::write_aside;
use campaign::Campaign;
use data::Data;
use pace::{Pace, Paces};
use page::Source;
use plan::{Plan, Section};
use row::Row;

/// Make docs/results.md from what was measured, or measure what is missing
#[derive(Args, Debug)]
#[command(after_help = HELP)]
pub struct ResultsArgs {
    /// Play what is missing; the page is not made
    #[arg(long)]
    run: bool,

    /// Show each row, how many of its games are played, and its mean so far
    #[arg(long, conflicts_with = "run")]
    list: bool,

    /// Measure how fast a core plays each row alone, this many seconds each [8 if not given]
    #[arg(long, value_name = "S", num_args = 0..=1, default_missing_value = "8", value_parser = parse_seconds)]
    #[arg(conflicts_with_all = ["run", "list"])]
    pace: Option<Duration>,

    /// With --run, --list or --pace: this section alone, or its rows with this in their name
    #[arg(long, value_name = "SECTION[/ROW]")]
    only: Option<String>,

    /// With --run: stop after this time
    #[arg(long, value_name = "M", requires = "run", value_parser = parse_minutes)]
    minutes: Option<Duration>,

    /// With --run: so much memory at the most for the choices of long games, which are made again and again
    #[arg(long, value_name = "MIB", requires = "run", default_value_t = (library::MEMORY >> 20) as u32)]
    memory: u32,

    #[command(flatten)]
    threads: ThreadsArg,

    /// Where the plan, the players and the data are
    #[arg(long, value_name = "DIR", default_value = "results")]
    folder: PathBuf,

    /// The page; its pictures go to a folder beside it
    #[arg(long, value_name = "FILE", default_value = "docs/results.md", conflicts_with_all = ["run", "list", "pace"])]
    out: PathBuf,
}

const HELP: &str = "\
The plan, results/plan.toml, names the games; its seed is theirs, and --seed is ignored. A batch of games is on disk as
soon as it is played. Ctrl-C or --minutes stop at once; long games that are under way are kept, short ones are played
again, and the same command goes on. The exit code is 1 if something is left to play.

Examples:
  host results                                    make the page and say what is missing
  host results --list                             each row with its mean so far
  host results --run                              play all that is missing
  host results --run --only rescue --minutes 30   of one section, for half an hour
  host results --run --only '10x20/bcts'          of the rows of a section with bcts in their name
  host results --pace --only rescue               how fast the rows of a section are played";

fn parse_seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse::<f64>().ok().filter(|seconds| *seconds > 0.0 && *seconds <= 3600.0);
    seconds.map(Duration::from_secs_f64).ok_or_else(|| "a number of seconds above 0, up to 3600".into())
}

fn parse_minutes(text: &str) -> Result<Duration, String> {
    let minutes = text.parse::<f64>().ok().filter(|minutes| *minutes > 0.0 && *minutes <= 1e6);
    minutes
        .map(|minutes| Duration::from_secs_f64(60.0 * minutes))
        .ok_or_else(|| "a time in minutes is a number above 0, like 30 or 0.5".into())
}

/// Runs the command.
///
/// # Errors
/// See [`Failure`].
pub fn run(args: &ResultsArgs, common: Common) -> Result<Answer, Failure> {
    let plan = Plan::read(&args.folder)?;
    let rows = plan.only(args.only.as_deref())?;
    let folder = args.folder.join("data");
    if args.run {
        return measure(args, common, &rows, &folder);
    }
    if let Some(time) = args.pace {
        return measure_paces(args, common, &rows, time);
    }
    let data = Data::read(&folder)?;
    warn(&plan, &data);
    if args.list {
        return list(common, &rows, &data, &Paces::read(&args.folder)?);
    }
    if args.only.is_some() {
        return Err(Failure::input("the page has all sections; --only is for --run, --list and --pace"));
    }
    write_page(args, common, &plan, &data)
}

/// Says what was left out.
fn warn(plan: &Plan, data: &Data) {
    for path in &data.torn {
        output::say(format_args!("{}: the last line was cut off and is left out", path.display()));
    }
    let keys: BTreeSet<_> = plan.sections.iter().flat_map(|section| &section.rows).map(Row::key).collect();
    for (row, records) in data.strangers(|key| keys.contains(&key)) {
        let told = if records == 1 { "1 record".into() } else { format!("{records} records") };
        let belong = if records == 1 { "belongs" } else { "belong" };
        output::say(format_args!("{told} of '{row}' {belong} to no row of the plan; kept and left out"));
    }
}

/// `--run`
fn measure(
    args: &ResultsArgs,
    common: Common,
    rows: &[(&Section, &Row)],
    folder: &Path,
) -> Result<Answer, Failure> {
    let arena = Arena::new(args.threads.threads.map(usize::from))?;
    let interrupted = interrupt::listen();
    if arena.ranks() > 1 {
        interrupt::prepare("every complete batch is on disk; go on by the same command".into());
    }
    let start = Instant::now();
    let late = || args.minutes.is_some_and(|limit| start.elapsed() >= limit);
    let campaign = Campaign::new(rows, folder)?.with_memory((args.memory as usize) << 20);
    let outcome = campaign.run(&arena, || interrupted.load(Ordering::Relaxed) || late(), common.json)?;
    let left = outcome.missing - outcome.played;
    if common.json {
        output::print_json(&RunJson { played: outcome.played, left, pieces: outcome.pieces })?;
    } else {
        output::print(format_args!(
            "{} batches played, {} left; {} pieces in {}\n",
            grouped(outcome.played),
            grouped(left),
            grouped(outcome.pieces),
            figures::time(start.elapsed())
        ))?;
    }
    Ok(if left == 0 { Answer::Yes } else { Answer::No })
}

/// Measures the pace of each row, and keeps it.
fn measure_paces(
    args: &ResultsArgs,
    common: Common,
    rows: &[(&Section, &Row)],
    time: Duration,
) -> Result<Answer, Failure> {
    let arena = Arena::new(args.threads.threads.map(usize::from))?;
    let interrupted = interrupt::listen();
    // Each once, though several sections have it; those side by side that are compared.
    let mut seen = BTreeSet::new();
    let rows: Vec<&Row> = rows.iter().map(|(_, row)| *row).filter(|row| seen.insert(row.key())).collect();
    let paces = Mutex::new(Paces::read(&args.folder)?);
    let failure: Mutex<Option<Failure>> = Mutex::new(None);
    let memory = (args.memory as usize) << 20;
    arena.share(&rows, |row| {
        let stop = || interrupted.load(Ordering::Relaxed);
        let Some(pace) = Pace::measure(row, time, memory, stop) else { return };
        let told = if common.json {
            output::print_json(&pace)
        } else {
            let rate = figures::short(pace.rate());
            output::print(format_args!("{rate:>8} pieces per second  {}\n", pace.row))
        };
        let mut paces = paces.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        paces.add(pace);
        // Each at once: a stop loses only those being measured.
        if let Err(error) = told.and_then(|()| paces.write(&args.folder)) {
            interrupted.store(true, Ordering::Relaxed);
            *failure.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = Some(error);
        }
    });
    match failure.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner()) {
        Some(failure) => Err(failure),
        None if interrupted.load(Ordering::Relaxed) => Ok(Answer::No),
        None => Ok(Answer::Yes),
    }
}

#[derive(Serialize)]
struct RunJson {
    played: u64,
    left: u64,
    pieces: u64,
}

#[derive(Serialize)]
struct RowJson<'a> {
    section: &'a str,
    row: String,
    key: String,
    games: u64,
    wanted: u64,
    lines: Option<Summary>,
    pieces_per_second: Option<f64>,
}

/// `--list`
fn list(common: Common, rows: &[(&Section, &Row)], data: &Data, paces: &Paces) -> Result<Answer, Failure> {
    let mut text = String::new();
    let mut last = "";
    for (section, row) in rows {
        let sums = data.sums(row.key(), row.games);
        let summary = sums.summary().filter(|_| data.has_all(row.key(), row.games));
        if common.json {
            output::print_json(&RowJson {
                section: &section.name,
                row: row.name(),
                key: row.key().to_string(),
                games: sums.games,
                wanted: row.games,
                lines: summary,
                pieces_per_second: paces.rate(row.key()),
            })?;
            continue;
        }
        if section.name != last {
            let gap = if last.is_empty() { "" } else { "\n" };
            // A String takes everything.
            let _ =
                writeln!(text, "{gap}{HEADING}{}{HEADING:#} {FAINT}{}{FAINT:#}", section.name, section.title);
            last = &section.name;
        }
        let games = format!("{} of {}", grouped(sums.games), grouped(row.games));
        let mean = summary.map_or(String::new(), |summary| {
            let half =
                summary.half_width().map_or(String::new(), |half| format!(" +-{}", figures::lines(half)));
            format!("{}{half}", figures::lines(summary.mean))
        });
        let _ = writeln!(text, "  {games:>18}  {mean:>24}  {}", row.name());
    }
    output::print(text)?;
    Ok(Answer::Yes)
}

#[derive(Serialize)]
struct PageJson {
    page: String,
    pictures: Vec<String>,
    missing: Vec<MissingJson>,
}

#[derive(Serialize)]
struct MissingJson {
    section: String,
    row: String,
    games: u64,
    wanted: u64,
}

/// Makes the page: all of it is made before anything is written.
fn write_page(args: &ResultsArgs, common: Common, plan: &Plan, data: &Data) -> Result<Answer, Failure> {
    let name = args.out.file_stem().ok_or_else(|| Failure::input("--out needs the name of a file"))?;
    let (folder, name) = (args.out.with_file_name(name), name.to_string_lossy());
    let learned = match fs::read_to_string(args.folder.join("learned.md")) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        learned => {
            learned.map_err(|error| Failure::input(format_args!("cannot read learned.md: {error}")))?
        }
    };
    let curves = curves::read(&args.folder.join("curves"))?;
    let paces = Paces::read(&args.folder)?;
    let page =
        Source { plan, data, paces: &paces, curves: &curves, learned: &learned, pictures: &name }.page()?;
    let cannot = |path: &Path, error: &io::Error| {
        Failure::input(format_args!(
            "cannot write {}: {error}; choose another place with --out FILE",
            path.display()
        ))
    };
    let mut pictures = vec![];
    if !page.pictures.is_empty() {
        fs::create_dir_all(&folder).map_err(|error| cannot(&folder, &error))?;
    }
    for (name, svg) in &page.pictures {
        let path = folder.join(name);
        write_aside(&path, svg.as_bytes()).map_err(|error| cannot(&path, &error))?;
        pictures.push(path.display().to_string());
    }
    write_aside(&args.out, page.text.as_bytes()).map_err(|error| cannot(&args.out, &error))?;

    let mut missing = vec![];
    for section in &plan.sections {
        for row in &section.rows {
            if !data.has_all(row.key(), row.games) {
                let games = data.sums(row.key(), row.games).games;
                let (section, row_name) = (section.name.clone(), row.name());
                missing.push(MissingJson { section, row: row_name, games, wanted: row.games });
            }
        }
    }
    if common.json {
        output::print_json(&PageJson { page: args.out.display().to_string(), pictures, missing })?;
        return Ok(Answer::Yes);
    }
    let mut text = format!("Made {} and {} pictures.\n", args.out.display(), pictures.len());
    if !missing.is_empty() {
        let _ = writeln!(text, "Missing, to be played by `host results --run`:");
    }
    for MissingJson { section, row, games, wanted } in &missing {
        let _ = writeln!(text, "  {section}: {row}: {} of {} games", grouped(*games), grouped(*wanted));
    }
    output::print(text)?;
    Ok(Answer::Yes)
}
