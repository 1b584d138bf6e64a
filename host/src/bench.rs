//! `host bench`: how fast the engines are.
//!
//! Pieces per second are measured on real games played back to back. The measurements are interleaved and repeated:
//! what else the machine does then hits all of them, and the best and the median tell how much it did.
//!
//! The clock depends on the machine and its mood; the number of instructions does not. It is counted by valgrind's
//! callgrind on this program's own hidden command `marathon`, playing N and then 2 N pieces; the difference is N
//! pieces without the start-up.

use std::fmt::Write;
use std::io::{self, IsTerminal};
use std::process::{Command, Stdio};
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use clap::Args;
use dropwise_core::engine::EngineKind;
use dropwise_core::{Controller, Game, Options, PieceSource, Player, Rules};
use serde::Serialize;

use crate::args::{Common, ControlArgs, PlayerArg, RulesArgs};
use crate::figures;
use crate::output::{self, Answer, BAD, FAINT, Failure, GOOD, HEADING};
use crate::stats::median;

/// Measure pieces per second on one core and on two, and instructions per piece
#[derive(Args, Debug)]
#[command(after_help = HELP)]
pub struct BenchArgs {
    /// How long each measurement takes
    #[arg(long, value_name = "S", default_value = "0.5", value_parser = parse_seconds)]
    seconds: Duration,

    /// How often each is repeated
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..=1000))]
    repeats: u16,

    /// Leave out the instruction counts, which need valgrind
    #[arg(long)]
    no_instructions: bool,

    /// Count instructions over this many pieces
    #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    pieces: u64,
}

const HELP: &str = "\
All on the 10x20 board, overflow tested before clearing. The goals are for an idle core of a recent server; the command
does not fail when they are missed.

Examples:
  host bench
  host bench --seconds 2 --repeats 9              when it matters
  host bench --no-instructions --json             without valgrind";

fn parse_seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().filter(|seconds| (0.001..=3600.0).contains(seconds));
    seconds.map(Duration::from_secs_f64).ok_or_else(|| "give seconds from 0.001 to 3600, like 0.5".into())
}

/// What is measured.
#[derive(Clone, Copy, Debug)]
struct Case {
    name: &'static str,
    player: &'static str,
    hard: Option<u8>,
    engine: EngineKind,
    threads: usize,
    /// Pieces per second to reach, if there is a goal.
    goal: Option<f64>,
}

const CASES: [Case; 7] = [
    Case {
        name: "bcts",
        player: "bcts",
        hard: None,
        engine: EngineKind::Fastest,
        threads: 1,
        goal: Some(6e6),
    },
    Case {
        name: "dt20",
        player: "dt20",
        hard: None,
        engine: EngineKind::Fastest,
        threads: 1,
        goal: Some(5e6),
    },
    Case { name: "bdu", player: "bdu", hard: None, engine: EngineKind::Fastest, threads: 1, goal: Some(3e6) },
    Case {
        name: "champion20",
        player: "champion20",
        hard: None,
        engine: EngineKind::Fastest,
        threads: 1,
        goal: None,
    },
    Case {
        name: "bcts hard:4",
        player: "bcts",
        hard: Some(4),
        engine: EngineKind::Fastest,
        threads: 1,
        goal: Some(2.5e6),
    },
    Case {
        name: "bcts scalar",
        player: "bcts",
        hard: None,
        engine: EngineKind::Scalar,
        threads: 1,
        goal: Some(1.7e6),
    },
    Case {
        name: "bcts on two threads",
        player: "bcts",
        hard: None,
        engine: EngineKind::Fastest,
        threads: 2,
        goal: None,
    },
];

/// Two threads should play this many times as many pieces as one.
const SCALING_GOAL: f64 = 1.9;

impl Case {
    fn controller(&self) -> Controller {
        let player = Player::known(self.player).expect("the cases name known players");
        Controller::with_options(player, Options { engine: self.engine, ..Options::default() })
    }

    fn rules(&self) -> Rules<'static> {
        let mut rules = Rules::default();
        if let Some(times) = self.hard {
            rules.pieces = PieceSource::Hard(times);
        }
        rules
    }

    fn pieces_arg(&self) -> String {
        self.rules().pieces.to_string()
    }

    /// Pieces per second over all threads.
    fn measure(&self, seed: u64, time: Duration) -> f64 {
        let start = Barrier::new(self.threads);
        let run = |worker: u64| {
            // Each worker has games of its own, far from the others'.
            let mut marathon = Marathon::new(self.controller(), self.rules(), seed, worker << 32);
            marathon.play(WARM_UP);
            start.wait();
            let (begin, before) = (Instant::now(), marathon.pieces);
            while begin.elapsed() < time {
                marathon.play(marathon.pieces + CHUNK);
            }
            (marathon.pieces - before) as f64 / begin.elapsed().as_secs_f64()
        };
        thread::scope(|scope| {
            let run = &run;
            let workers: Vec<_> =
                (0..self.threads as u64).map(|worker| scope.spawn(move || run(worker))).collect();
            workers.into_iter().map(|worker| worker.join().unwrap_or(f64::NAN)).sum()
        })
    }
}

/// Pieces to play before the clock starts: caches and branch predictors.
const WARM_UP: u64 = 2_000;
/// Pieces between looks at the clock.
const CHUNK: u64 = 5_000;

/// Games played back to back.
#[derive(Debug)]
struct Marathon<'a> {
    controller: Controller,
    rules: Rules<'a>,
    seed: u64,
    index: u64,
    game: Game<'a>,
    pieces: u64,
}

impl<'a> Marathon<'a> {
    fn new(controller: Controller, rules: Rules<'a>, seed: u64, index: u64) -> Marathon<'a> {
        Marathon { controller, rules, seed, index, game: Game::new(rules, seed, index), pieces: 0 }
    }

    /// Plays until this many pieces have been placed in all.
    fn play(&mut self, pieces: u64) {
        while self.pieces < pieces {
            let before = self.game.pieces();
            self.game.play(&self.controller, before + (pieces - self.pieces));
            self.pieces += self.game.pieces() - before;
            if self.game.is_over() {
                self.index += 1;
                self.game = Game::new(self.rules, self.seed, self.index);
            }
        }
    }
}

/// Play games back to back until so many pieces have been placed, for a profiler to look at
#[derive(Args, Debug)]
pub struct MarathonArgs {
    #[command(flatten)]
    player: PlayerArg,
    #[command(flatten)]
    rules: RulesArgs,
    #[command(flatten)]
    control: ControlArgs,

    /// How many pieces
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    count: u64,
}

#[derive(Serialize)]
struct MarathonJson {
    pieces: u64,
    games: u64,
    engine: &'static str,
    digest: String,
}

/// Runs the hidden command.
///
/// # Errors
/// See [`Failure`].
pub fn marathon(args: &MarathonArgs, common: Common) -> Result<Answer, Failure> {
    let controller = args.control.controller(args.player.load()?.player)?;
    let loaded = args.rules.load()?;
    if loaded.is_list() {
        return Err(Failure::input("a marathon needs pieces without end; leave out list:FILE"));
    }
    let mut marathon = Marathon::new(controller, loaded.rules(), common.seed, 0);
    marathon.play(args.count);
    output::print_json(&MarathonJson {
        pieces: marathon.pieces,
        games: marathon.index + 1,
        engine: controller.engine().name(),
        digest: format!("{:016x}", marathon.game.digest()),
    })?;
    Ok(Answer::Yes)
}

#[derive(Serialize)]
struct BenchJson {
    seed: u64,
    seconds: f64,
    repeats: u16,
    results: Vec<ResultJson>,
    two_threads_ratio: f64,
    two_threads_goal: f64,
    cores: usize,
    /// Why there are no instruction counts, if so.
    instructions_note: Option<String>,
}

#[derive(Serialize)]
struct ResultJson {
    name: &'static str,
    player: &'static str,
    pieces: String,
    engine: &'static str,
    threads: usize,
    best: f64,
    median: f64,
    goal: Option<f64>,
    instructions_per_piece: Option<f64>,
}

/// Runs the command.
///
/// # Errors
/// See [`Failure`].
pub fn run(args: &BenchArgs, common: Common) -> Result<Answer, Failure> {
    let mut rates = [const { Vec::new() }; CASES.len()];
    let talk = io::stderr().is_terminal();
    for repeat in 0..args.repeats {
        if talk {
            output::say(format_args!("{FAINT}round {} of {}{FAINT:#}", repeat + 1, args.repeats));
        }
        for (case, rates) in CASES.iter().zip(&mut rates) {
            rates.push(case.measure(common.seed, args.seconds));
        }
    }
    let mut counts = [None; CASES.len()];
    let mut note = args.no_instructions.then(|| "left out".to_owned());
    for (case, count) in CASES.iter().zip(&mut counts).filter(|(case, _)| case.threads == 1) {
        if note.is_some() {
            break;
        }
        if talk {
            output::say(format_args!("{FAINT}counting the instructions of {}{FAINT:#}", case.name));
        }
        match count_instructions(case, common.seed, args.pieces) {
            Ok(counted) => *count = Some(counted),
            Err(why) => note = Some(why),
        }
    }

    let results = CASES.iter().zip(&mut rates).zip(counts).map(|((case, rates), count)| {
        rates.sort_by(f64::total_cmp);
        ResultJson {
            name: case.name,
            player: case.player,
            pieces: case.pieces_arg(),
            engine: case.controller().engine().name(),
            threads: case.threads,
            best: rates[rates.len() - 1],
            median: median(rates),
            goal: case.goal,
            instructions_per_piece: count,
        }
    });
    let results: Vec<ResultJson> = results.collect();
    let (one, two) = (&results[0], &results[CASES.len() - 1]);
    let json = BenchJson {
        seed: common.seed,
        seconds: args.seconds.as_secs_f64(),
        repeats: args.repeats,
        two_threads_ratio: two.median / one.median,
        two_threads_goal: SCALING_GOAL,
        cores: thread::available_parallelism().map_or(1, usize::from),
        instructions_note: note,
        results,
    };
    if common.json {
        output::print_json(&json)?;
    } else {
        output::print(report(&json))?;
    }
    Ok(Answer::Yes)
}

fn report(bench: &BenchJson) -> String {
    let mut text = format!(
        "pieces per second on 10x20, {} x {} s each, interleaved; seed {}\n\n\
         {HEADING}{:<20} {:<8} {:>8} {:>9} {:>9} {:>9}  {:>18}{HEADING:#}\n",
        bench.repeats,
        bench.seconds,
        bench.seed,
        "",
        "engine",
        "threads",
        "best",
        "median",
        "goal",
        "instructions/piece"
    );
    let colour = |reached: bool| if reached { GOOD } else { BAD };
    for result in &bench.results {
        let goal = result.goal.map_or(String::new(), figures::short);
        let style = result.goal.map_or(anstyle::Style::new(), |goal| colour(result.best >= goal));
        let count = result
            .instructions_per_piece
            .map_or(String::new(), |count| figures::grouped(count.round() as u64));
        // A String takes everything, so what writeln! returns says nothing.
        let _ = writeln!(
            text,
            "{:<20} {:<8} {:>8} {style}{:>9}{style:#} {:>9} {:>9}  {count:>18}",
            result.name,
            result.engine,
            result.threads,
            figures::short(result.best),
            figures::short(result.median),
            goal,
        );
    }
    let style = colour(bench.two_threads_ratio >= bench.two_threads_goal);
    let _ = writeln!(
        text,
        "\ntwo threads play {style}{:.2} times{style:#} what one plays (goal {}; {} cores here)",
        bench.two_threads_ratio, bench.two_threads_goal, bench.cores
    );
    if let Some(note) = &bench.instructions_note {
        let _ = writeln!(text, "instructions per piece: {note}");
    }
    text
}

/// Instructions per piece, or why they cannot be counted.
fn count_instructions(case: &Case, seed: u64, pieces: u64) -> Result<f64, String> {
    let program =
        std::env::current_exe().map_err(|error| format!("this program cannot find itself: {error}"))?;
    let run = |count: u64| {
        let engine = match case.engine {
            EngineKind::Fastest => "fastest",
            EngineKind::Scalar => "scalar",
            EngineKind::General => "general",
        };
        let output = Command::new("valgrind")
            .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
            .arg(&program)
            .args(["marathon", "--player", case.player, "--pieces", &case.pieces_arg(), "--engine", engine])
            .args(["--seed", &seed.to_string(), "--count", &count.to_string()])
            .stdin(Stdio::null())
            .output()
            .map_err(|error| match error.kind() {
                io::ErrorKind::NotFound => "not counted, valgrind is not installed; on Debian and Ubuntu: \
                                            `sudo apt-get install valgrind`"
                    .to_owned(),
                _ => format!("not counted, valgrind does not start: {error}"),
            })?;
        let told = String::from_utf8_lossy(&output.stderr);
        if !output.status.success() {
            let last = told.lines().last().unwrap_or_default();
            return Err(format!("not counted, valgrind ended with {}: {last}", output.status));
        }
        let engine_used = parse_engine(&output.stdout);
        if engine_used.as_deref() != Some(case.controller().engine().name()) {
            return Err(
                "not counted, under valgrind another engine plays; is it too old for AVX2?".to_owned()
            );
        }
        parse_collected(&told)
            .ok_or_else(|| "not counted, callgrind's output has no line 'Collected'".to_owned())
    };
    let (once, twice) = (run(pieces)?, run(2 * pieces)?);
    Ok(twice.saturating_sub(once) as f64 / pieces as f64)
}

fn parse_engine(stdout: &[u8]) -> Option<String> {
    let object: serde_json::Value = serde_json::from_slice(stdout).ok()?;
    Some(object.get("engine")?.as_str()?.to_owned())
}

/// The count in a line like `==123== Collected : 4567`.
fn parse_collected(told: &str) -> Option<u64> {
    let line = told.lines().find_map(|line| line.split_once("Collected :"))?.1;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn callgrinds_count_is_found() {
        let told = "==7== Events    : Ir\n==7== Collected : 48211\n==7== \n==7== I   refs:      48,211\n";
        assert_eq!(parse_collected(told), Some(48_211));
        assert_eq!(parse_collected("==7== Collected :\n"), None);
        assert_eq!(parse_collected(""), None);
    }

    #[test]
    fn a_marathon_is_games_back_to_back() {
        let controller = Controller::new(Player::known("bcts").unwrap());
        let rules = Rules::new(4).unwrap();
        let mut marathon = Marathon::new(controller, rules, 1, 0);
        for stop in [1, 10, 500, 2000] {
            marathon.play(stop);
            assert_eq!(marathon.pieces, stop);
        }
        assert!(marathon.index > 1);
        let mut all = 0;
        for index in 0..marathon.index {
            let mut game = Game::new(rules, 1, index);
            game.play(&controller, u64::MAX);
            all += game.pieces();
        }
        assert_eq!(all + marathon.game.pieces(), 2000);
    }

    #[test]
    fn seconds_have_bounds() {
        assert_eq!(parse_seconds("0.5"), Ok(Duration::from_millis(500)));
        for text in ["0", "-1", "nan", "inf", "1e9", "soon"] {
            parse_seconds(text).expect_err(text);
        }
    }
}
