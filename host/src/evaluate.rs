//! `host evaluate`: how well a player plays.

use std::fmt::Write;
use std::io::{self, IsTerminal};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use clap::Args;
use dropwise_core::game::digest;
use dropwise_core::{Controller, Player, Rules};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;

use crate::arena::{Arena, Bout, Progress, Score};
use crate::args::{Common, ControlArgs, Pieces, PlayerArg, RulesArgs, ThreadsArg};
use crate::output::{self, Answer, BAD, FAINT, Failure, GOOD, HEADING};
use crate::published::{PUBLISHED, Published};
use crate::stats::Summary;
use crate::{climb, figures};

/// Play many games on all cores, and give the mean lines per game with its interval
#[derive(Args, Debug)]
#[command(after_help = HELP)]
pub struct EvaluateArgs {
    #[command(flatten)]
    player: PlayerArg,
    #[command(flatten)]
    rules: RulesArgs,
    #[command(flatten)]
    control: ControlArgs,

    /// How many games [default: 100; with --climbers, 20 estimates; with list:FILE, 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=MAX_GAMES))]
    games: Option<u64>,

    #[command(flatten)]
    threads: ThreadsArg,

    /// Break off each game after this many pieces; the mean is then too low, and the output says so
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    max_pieces: Option<u64>,

    /// In place of each game, estimate its length from how seldom this many climb each row of the board; 4000 suit
    #[arg(long, value_name = "N", value_parser = climb::parse_climbers, conflicts_with_all = ["max_pieces", "lookahead"])]
    climbers: Option<u32>,

    /// Measure the players whose scores were measured before, and compare; exit code 1 if one disagrees
    #[arg(
        long,
        conflicts_with_all = ["player", "board", "pieces", "overflow", "allow_losing", "lookahead", "rescue", "join",
                              "games", "max_pieces", "climbers"]
    )]
    published: bool,

    /// With --published: only the 10x10 boards, 1,000 games each
    #[arg(long, requires = "published")]
    short: bool,
}

/// All scores are kept, to put them in order; this many fit in memory.
const MAX_GAMES: u64 = 10_000_000;

const DEFAULT_GAMES: u64 = 100;

/// Each is as good as tens of games.
const DEFAULT_ESTIMATES: u64 = 20;

const SHORT_GAMES: u64 = 1_000;

const HELP: &str = "\
The interval is that of the mean: mean +- 1.96 sd / sqrt(N). Scores are about exponentially distributed, so sd is near
the mean. Equal digests mean equal games, move for move, whatever the number of threads.

Examples:
  host evaluate --board 10x10 --games 10000
  host evaluate --player dt20 --pieces hard:4 --json
  host evaluate --player trained.toml --board 10x16 --overflow after
  host evaluate --player dt20 --climbers 4000     a game of 100 million pieces, estimated from two million
  host evaluate --published                       our means beside the published ones";

/// One player measured.
#[derive(Clone, Debug)]
struct Measured {
    lines: Summary,
    games: u64,
    capped: u64,
    pieces: u64,
    seconds: f64,
    digest: u64,
    threads: usize,
    engine: &'static str,
}

impl Measured {
    fn of(scores: &[Score], seconds: f64, threads: usize, engine: &'static str) -> Measured {
        let lines: Vec<u64> = scores.iter().map(|score| score.lines).collect();
        Measured {
            lines: Summary::of(&lines).expect("at least one game"),
            games: scores.len() as u64,
            capped: scores.iter().filter(|score| score.capped).count() as u64,
            pieces: scores.iter().map(|score| score.pieces).sum(),
            seconds,
            digest: digest(scores.iter().map(|score| score.digest)),
            threads,
            engine,
        }
    }

    fn rate(&self) -> f64 {
        self.pieces as f64 / self.seconds.max(1e-9)
    }
}

#[derive(Serialize)]
struct BoardJson {
    width: usize,
    height: usize,
}

#[derive(Serialize)]
struct EvaluateJson<'a> {
    player: &'a str,
    set: &'static str,
    board: BoardJson,
    pieces: String,
    overflow: &'static str,
    allow_losing: bool,
    lookahead: u8,
    rescue: Option<u8>,
    join: Option<&'static str>,
    games: u64,
    seed: u64,
    max_pieces: Option<u64>,
    climbers: Option<u32>,
    capped_games: u64,
    lines: Summary,
    pieces_played: u64,
    seconds: f64,
    pieces_per_second: f64,
    threads: usize,
    engine: &'static str,
    digest: String,
}

#[derive(Serialize)]
struct ComparedJson {
    player: &'static str,
    board: BoardJson,
    games: u64,
    lines: Summary,
    digest: String,
    published: PublishedJson,
    agrees: bool,
}

#[derive(Serialize)]
struct PublishedJson {
    mean: f64,
    ci95_low: f64,
    ci95_high: f64,
    source: &'static str,
}

#[derive(Serialize)]
struct ComparisonJson {
    pieces: &'static str,
    overflow: &'static str,
    allow_losing: bool,
    seed: u64,
    rows: Vec<ComparedJson>,
    agrees: bool,
}

/// Runs the command.
///
/// # Errors
/// See [`Failure`].
pub fn run(args: &EvaluateArgs, common: Common) -> Result<Answer, Failure> {
    let arena = Arena::new(args.threads.threads.map(usize::from))?;
    if args.published {
        return compare(args, common, &arena);
    }
    let weights = args.player.load()?;
    let controller = args.control.controller(weights.player)?;
    let loaded = args.rules.load()?;
    if args.climbers.is_some() && !matches!(args.rules.pieces, Pieces::Uniform | Pieces::Hard(_)) {
        return Err(Failure::input(climb::INDEPENDENT));
    }
    let games = match args.games {
        Some(2..) if loaded.is_list() => {
            return Err(Failure::input("a list of pieces gives one game; leave out --games"));
        }
        Some(games) => games,
        None if loaded.is_list() => 1,
        None if args.climbers.is_some() => DEFAULT_ESTIMATES,
        None => DEFAULT_GAMES,
    };
    let bout = Bout {
        controllers: &[controller],
        rules: loaded.rules(),
        seed: common.seed,
        games: 0..games,
        max_pieces: args.max_pieces.unwrap_or(u64::MAX),
        climbers: args.climbers,
    };
    let measured = measure(&arena, &bout, &args.player.player, common.json);
    if common.json {
        output::print_json(&EvaluateJson {
            player: &args.player.player,
            set: weights.player.set().name(),
            board: board(args.rules.board.height),
            pieces: args.rules.pieces.to_string(),
            overflow: args.rules.overflow.name(),
            allow_losing: args.control.allow_losing,
            lookahead: args.control.lookahead,
            rescue: args.control.rescue,
            join: args.control.rescue.map(|_| args.control.join()),
            games,
            seed: common.seed,
            max_pieces: args.max_pieces,
            climbers: args.climbers,
            capped_games: measured.capped,
            lines: measured.lines,
            pieces_played: measured.pieces,
            seconds: measured.seconds,
            pieces_per_second: measured.rate(),
            threads: measured.threads,
            engine: measured.engine,
            digest: hex(measured.digest),
        })?;
    } else {
        output::print(report(args, common, &measured))?;
    }
    Ok(Answer::Yes)
}

fn board(height: usize) -> BoardJson {
    BoardJson { width: dropwise_core::well::WIDTH, height }
}

fn hex(digest: u64) -> String {
    format!("{digest:016x}")
}

/// The result for a person.
fn report(args: &EvaluateArgs, common: Common, measured: &Measured) -> String {
    let Measured { lines, games, capped, pieces, seconds, threads, engine, .. } = measured;
    let (rules, control) = (&args.rules, &args.control);
    let mut text = String::new();
    let mut line = |label: &str, value: String| {
        // A String takes everything.
        let _ = writeln!(text, "  {FAINT}{label:<9}{FAINT:#}{value}");
    };
    let interval = match (lines.ci95_low, lines.ci95_high) {
        (Some(low), Some(high)) => format!(
            "95 % interval {} to {}, N = {}",
            figures::lines(low),
            figures::lines(high),
            figures::grouped(*games)
        ),
        _ => "N = 1: no interval".into(),
    };
    line("mean", format!("{HEADING}{} lines{HEADING:#} per game ({interval})", figures::lines(lines.mean)));
    line("min", figures::grouped(lines.min));
    line("median", figures::lines(lines.median));
    line("max", figures::grouped(lines.max));
    if let Some(sd) = lines.sd {
        let ratio =
            if lines.mean > 0.0 { format!(" ({:.3} of the mean)", sd / lines.mean) } else { String::new() };
        line("sd", format!("{}{ratio}", figures::lines(sd)));
    }
    let plural = if *threads == 1 { "" } else { "s" };
    line(
        "played",
        format!(
            "{} pieces in {}: {} pieces/s on {threads} thread{plural}, {engine} engine",
            figures::grouped(*pieces),
            figures::time(Duration::from_secs_f64(*seconds)),
            figures::short(measured.rate())
        ),
    );
    line("seed", common.seed.to_string());
    line("digest", hex(measured.digest));
    let losing = if control.allow_losing { "allowed" } else { "avoided" };
    let mut rule = format!(
        "{HEADING}{}{HEADING:#} on {}, pieces {}, overflow tested {} clearing, losing placements {losing}",
        args.player.player,
        rules.board,
        rules.pieces,
        rules.overflow.name()
    );
    if control.lookahead > 0 {
        let _ = write!(rule, ", {} next known", control.lookahead);
    }
    if let Some(height) = control.rescue {
        let _ = write!(rule, ", rescue above {height} by {}", control.join());
    }
    if let Some(climbers) = args.climbers {
        let _ = write!(
            rule,
            "\n  not played to the end: {} estimates from {} climbers a row",
            figures::grouped(*games),
            figures::grouped(u64::from(climbers))
        );
    }
    if *capped > 0 {
        let _ = write!(
            rule,
            "\n  {BAD}{} of {} games were broken off{BAD:#} after {} pieces: the mean is too low",
            figures::grouped(*capped),
            figures::grouped(*games),
            figures::grouped(args.max_pieces.unwrap_or(u64::MAX))
        );
    }
    format!("{rule}\n{text}")
}

/// Plays a bout of one controller, with progress on standard error.
fn measure(arena: &Arena, bout: &Bout<'_>, name: &str, quiet: bool) -> Measured {
    let progress = Progress::default();
    let start = Instant::now();
    let scores = thread::scope(|scope| {
        // Dropping the sender when the games are over ends the display.
        let (over, watch) = mpsc::channel::<()>();
        let games = bout.games.end - bout.games.start;
        scope.spawn({
            let progress = &progress;
            move || show(progress, games, name, start, quiet, &watch)
        });
        let scores = arena.play(bout, &progress);
        drop(over);
        scores
    });
    let seconds = start.elapsed().as_secs_f64();
    Measured::of(&scores[0], seconds, arena.threads(), bout.controllers[0].engine().name())
}

/// A terminal gets a bar; elsewhere a line now and then tells that a long run is alive.
const FRAME: Duration = Duration::from_millis(100);
const PLAIN: Duration = Duration::from_secs(10);

fn show(
    progress: &Progress,
    games: u64,
    name: &str,
    start: Instant,
    quiet: bool,
    watch: &mpsc::Receiver<()>,
) {
    if io::stderr().is_terminal() {
        let bar = ProgressBar::with_draw_target(Some(games), ProgressDrawTarget::stderr());
        let style = ProgressStyle::with_template("{prefix} [{bar:24}] {pos}/{len} games  {msg}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("=> "));
        bar.set_prefix(name.to_owned());
        while watch.recv_timeout(FRAME) == Err(RecvTimeoutError::Timeout) {
            bar.set_position(progress.ended().len());
            bar.set_message(status(progress, games, start.elapsed()));
            bar.tick();
        }
        bar.finish_and_clear();
    } else if !quiet {
        while watch.recv_timeout(PLAIN) == Err(RecvTimeoutError::Timeout) {
            let done = figures::grouped(progress.ended().len());
            let all = figures::grouped(games);
            output::say(format_args!(
                "{name}: {done} of {all} games  {}",
                status(progress, games, start.elapsed())
            ));
        }
    }
}

/// The mean so far, the rate and the time left.
fn status(progress: &Progress, games: u64, elapsed: Duration) -> String {
    let ended = progress.ended();
    let rate = figures::short(progress.pieces() as f64 / elapsed.as_secs_f64());
    let mut status = format!("{rate} pieces/s");
    if !ended.is_empty() {
        let mean = figures::lines(ended.mean());
        let interval =
            ended.half_width().map_or(String::new(), |half| format!(" +-{}", figures::lines(half)));
        let left = elapsed.mul_f64((games.saturating_sub(ended.len())) as f64 / ended.len() as f64);
        let _ = write!(status, "  mean {mean}{interval} so far  {} left", figures::time(left));
    }
    status
}

/// `--published`
fn compare(args: &EvaluateArgs, common: Common, arena: &Arena) -> Result<Answer, Failure> {
    let checks = PUBLISHED.iter().filter_map(|row| Some((row, row.check?)));
    let checks = checks.filter(|(row, _)| !args.short || row.height == 10);
    let mut rows = vec![];
    if !common.json {
        let head = format!(
            "lines per game, uniform pieces, overflow tested before clearing, losing placements avoided; seed {}\n\n\
             {HEADING}{:<12} {:>6} {:>7} {:>9} {:>20} {:>11} {:>20}{HEADING:#}\n",
            common.seed, "player", "board", "games", "ours", "95 % interval", "published", "95 % interval"
        );
        output::print(head)?;
    }
    for (row, games) in checks {
        let games = if args.short { SHORT_GAMES } else { games };
        let player = Player::known(row.player).expect("published players are known ones");
        let controller = Controller::with_options(
            player,
            dropwise_core::Options { engine: args.control.engine.into(), ..Default::default() },
        );
        let bout = Bout {
            controllers: &[controller],
            rules: Rules::new(row.height).expect("published boards are boards"),
            seed: common.seed,
            games: 0..games,
            max_pieces: u64::MAX,
            climbers: None,
        };
        let measured = measure(arena, &bout, row.player, common.json);
        let half = measured.lines.half_width().unwrap_or(0.0);
        let agrees = row.agrees(measured.lines.mean, half);
        if !common.json {
            output::print(compared(row, &measured, agrees))?;
        }
        rows.push(ComparedJson {
            player: row.player,
            board: board(row.height),
            games,
            lines: measured.lines,
            digest: hex(measured.digest),
            published: PublishedJson {
                mean: row.mean,
                ci95_low: row.mean - row.half_width(),
                ci95_high: row.mean + row.half_width(),
                source: row.source,
            },
            agrees,
        });
    }
    let agrees = rows.iter().all(|row| row.agrees);
    if common.json {
        let (pieces, overflow) = ("uniform", "before");
        let all = ComparisonJson { pieces, overflow, allow_losing: false, seed: common.seed, rows, agrees };
        output::print_json(&all)?;
    } else {
        let verdict = if agrees { "All agree within" } else { "Not all agree within" };
        output::print(format_args!("\n{verdict} the two intervals together.\n"))?;
    }
    Ok(if agrees { Answer::Yes } else { Answer::No })
}

fn compared(row: &Published, measured: &Measured, agrees: bool) -> String {
    let interval =
        |mean: f64, half: f64| format!("{} to {}", figures::lines(mean - half), figures::lines(mean + half));
    let verdict = if agrees { format!("{GOOD}agrees{GOOD:#}") } else { format!("{BAD}differs{BAD:#}") };
    format!(
        "{:<12} {:>6} {:>7} {:>9} {:>20} {:>11} {:>20}  {verdict}\n",
        row.player,
        format!("10x{}", row.height),
        figures::grouped(measured.games),
        figures::lines(measured.lines.mean),
        interval(measured.lines.mean, measured.lines.half_width().unwrap_or(0.0)),
        figures::lines(row.mean),
        interval(row.mean, row.half_width()),
    )
}
