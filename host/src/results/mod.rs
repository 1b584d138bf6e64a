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
pub mod page;
pub mod plan;
pub mod plots;
pub mod record;
pub mod row;
pub mod sitting;
pub mod sums;
pub mod variant;

use std::fmt::Write;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
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

    /// With --run or --list: this section alone, or its rows with this in their name
    #[arg(long, value_name = "SECTION[/ROW]")]
    only: Option<String>,

    /// With --run: stop after this time; what is unfinished then is lost
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
    #[arg(long, value_name = "FILE", default_value = "docs/results.md", conflicts_with_all = ["run", "list"])]
    out: PathBuf,
}

const HELP: &str = "\
The plan, results/plan.toml, names the games; its seed is theirs, and --seed is ignored. A batch of games is on disk as
soon as it is played. Ctrl-C or --minutes stop at once and lose only the batches being played; the same command goes on.
The exit code is 1 if something is left to play.

Examples:
  host results                                    make the page and say what is missing
  host results --list                             each row with its mean so far
  host results --run                              play all that is missing
  host results --run --only rescue --minutes 30   of one section, for half an hour
  host results --run --only '10x20/bcts'          of the rows of a section with bcts in their name";

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
    let data = Data::read(&folder)?;
    warn(&plan, &data);
    if args.list {
        return list(common, &rows, &data);
    }
    if args.only.is_some() {
        return Err(Failure::input("the page has all sections; --only is for --run and --list"));
    }
    write_page(args, common, &plan, &data)
}

/// Says what was left out.
fn warn(plan: &Plan, data: &Data) {
    for path in &data.torn {
        output::say(format_args!("{}: the last line was cut off and is left out", path.display()));
    }
    let keys: std::collections::BTreeSet<_> =
        plan.sections.iter().flat_map(|section| &section.rows).map(Row::key).collect();
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
fn list(common: Common, rows: &[(&Section, &Row)], data: &Data) -> Result<Answer, Failure> {
    let mut text = String::new();
    let mut last = "";
    for (section, row) in rows {
        let sums = data.sums(row.key());
        // Of games played side by side the short ones end first: some of them would say too little.
        let summary = sums.summary().filter(|_| sums.games >= row.games);
        if common.json {
            output::print_json(&RowJson {
                section: &section.name,
                row: row.name(),
                key: row.key().to_string(),
                games: sums.games,
                wanted: row.games,
                lines: summary,
                pieces_per_second: sums.rate(),
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
    let page = Source { plan, data, curves: &curves, learned: &learned, pictures: &name }.page()?;
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
            let games = data.sums(row.key()).games;
            if games < row.games {
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
