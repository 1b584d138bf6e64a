//! `host` under `mpirun`: the same results as alone, whatever the number of ranks, and a rank that dies.
//!
//! Open MPI's `mpirun`, as Debian has it.

#[allow(dead_code, reason = "each test binary uses a part")]
mod common;

use std::fs::{self, File};
use std::io::{Read, Seek};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use common::{content, host};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

/// So many ranks of `host`, more than there are cores if need be, also for root: CI is.
fn mpirun(ranks: usize, arguments: &str) -> Command {
    let mut command = Command::new("mpirun");
    command
        .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
        .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
        // Under mpirun standard output is a terminal.
        .env("NO_COLOR", "1")
        .args(["--oversubscribe", "-n", &ranks.to_string(), env!("CARGO_BIN_EXE_host")])
        .args(arguments.split_whitespace());
    command
}

/// No run of these tests takes a tenth of this on a slow machine: one that does has hung, and is killed with all its
/// ranks.
const LIMIT: Duration = Duration::from_secs(300);

/// What all processes of a run have in their environment, each run another number.
const MARK: &str = "DROPWISE_TEST_RUN";

/// An `mpirun` under way.
struct Running {
    child: Child,
    mark: String,
    command: String,
    /// Not pipes: a rank that outlives mpirun would keep those open, and whoever reads them waiting.
    stdout: File,
    stderr: File,
}

fn output(command: &mut Command) -> common::Run {
    Running::start(command).end(LIMIT).unwrap_or_else(|hung| panic!("{hung}"))
}

impl Running {
    fn start(command: &mut Command) -> Running {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let mark = format!("{}-{number}", std::process::id());
        let file = || tempfile::tempfile().expect("a file");
        let (stdout, stderr) = (file(), file());
        let copy = |file: &File| file.try_clone().expect("a file");
        command.env(MARK, &mark).stdin(Stdio::null()).stdout(copy(&stdout)).stderr(copy(&stderr));
        let child = command.spawn().expect("mpirun runs; Debian: openmpi-bin");
        Running { child, mark, command: format!("{command:?}"), stdout, stderr }
    }

    /// The process that is this rank.
    fn rank(&self, rank: usize) -> Option<u32> {
        processes(&[format!("{MARK}={}", self.mark), format!("OMPI_COMM_WORLD_RANK={rank}")]).pop()
    }

    /// What was told in the end.
    ///
    /// # Errors
    /// If it did not end within the limit. It was killed then.
    fn end(mut self, limit: Duration) -> Result<common::Run, String> {
        let status = self.wait(limit);
        if status.is_none() {
            send(self.child.id(), Signal::TERM);
            self.wait(Duration::from_secs(10));
            for process in processes(&[format!("{MARK}={}", self.mark)]) {
                send(process, Signal::KILL);
            }
            self.child.wait().expect("an end");
        }
        let text = |file: &mut File| {
            let mut bytes = vec![];
            file.rewind().and_then(|()| file.read_to_end(&mut bytes)).expect("what was told");
            String::from_utf8(bytes).expect("UTF-8").replace('\r', "")
        };
        let (stdout, stderr) = (text(&mut self.stdout), text(&mut self.stderr));
        match status {
            Some(status) => Ok(common::Run { code: status.code(), stdout, stderr }),
            None => {
                let seconds = limit.as_secs();
                Err(format!("killed after {seconds} seconds: {}\n{stdout}\n{stderr}", self.command))
            }
        }
    }

    fn wait(&mut self, limit: Duration) -> Option<ExitStatus> {
        let begun = Instant::now();
        while begun.elapsed() < limit {
            if let Some(status) = self.child.try_wait().expect("a state") {
                return Some(status);
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        None
    }
}

/// The processes that have all of these in their environment.
fn processes(variables: &[String]) -> Vec<u32> {
    let entries = fs::read_dir("/proc").expect("Linux");
    entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(|process: &u32| {
            let environment = fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
            let words: Vec<&[u8]> = environment.split(|&byte| byte == 0).collect();
            variables.iter().all(|variable| words.contains(&variable.as_bytes()))
        })
        .collect()
}

fn send(process: u32, signal: Signal) {
    let process = Pid::from_raw(process as i32).expect("no process is number 0");
    // It may have ended by itself in the meantime.
    let _ = kill_process(process, signal);
}

#[test]
fn a_run_that_hangs_is_killed_with_all_its_ranks_and_a_message() {
    let mut command = mpirun(2, "evaluate --games 1000000 --json");
    let hung = Running::start(&mut command);
    let (mark, begun) = (hung.mark.clone(), Instant::now());
    while hung.rank(1).is_none() && begun.elapsed() < LIMIT {
        std::thread::sleep(Duration::from_millis(5));
    }
    send(hung.rank(1).expect("a rank"), Signal::STOP);
    let told = hung.end(Duration::from_secs(2)).expect_err("no end");
    assert!(told.contains("killed after 2 seconds") && told.contains("evaluate"), "{told}");
    assert_eq!(processes(&[format!("{MARK}={mark}")]), [0; 0]);
}

/// A run of a second at most.
const TINY: &str = "--iterations 4 --games 6 --board 10x10 --pieces hard:4 --curve-games 4 --select-games 1 \
                    --score-games 20 --select-board 10x8 --name run --seed 5";

#[test]
fn training_is_the_same_for_any_number_of_ranks_and_threads() {
    for method in [
        "--population 6",
        "--population 6 --race tetris",
        "--population 6 --race hoeffding",
        "--population 6 --climbers 40 --select-climbers 30",
        "--method cross-entropy --population 10",
        "--method genitor --population 8",
        "--method fitted-value --set bodoia",
    ] {
        let dir = tempfile::tempdir().expect("a folder");
        let runs = |name: &str| dir.path().join(name);
        let arguments = |name: &str| format!("train --runs {} {TINY} {method}", runs(name).display());
        let alone = host(&arguments("alone"));
        assert_eq!(alone.code, Some(0), "{method}: {}", alone.stderr);
        let expected = content(&runs("alone").join("run"));
        assert!(expected.3.is_some());
        for (ranks, threads) in [(3, 1), (2, 2)] {
            let name = format!("{ranks}");
            let done = output(&mut mpirun(ranks, &format!("{} --threads {threads}", arguments(&name))));
            assert_eq!(done.code, Some(0), "{method}: {}", done.stderr);
            let all = ranks * threads;
            assert!(done.stderr.contains(&format!("{ranks} ranks, {all} threads")), "{}", done.stderr);
            assert_eq!(content(&runs(&name).join("run")), expected, "{method} on {ranks} ranks");
        }
    }
}

#[test]
fn a_run_goes_on_with_another_number_of_ranks() {
    let dir = tempfile::tempdir().expect("a folder");
    let arguments =
        |runs: &str, more: &str| format!("train --runs {} {more}", dir.path().join(runs).display());
    let race = format!("{TINY} --population 6 --race tetris");
    assert_eq!(host(&arguments("alone", &race)).code, Some(0));
    let stopped = output(&mut mpirun(3, &arguments("ranks", &format!("{race} --stop-after 1"))));
    assert_eq!(stopped.code, Some(1), "{}", stopped.stderr);
    assert!(stopped.stderr.contains("stopped after iteration 1 of 4"), "{}", stopped.stderr);
    let stopped = output(&mut mpirun(2, &arguments("ranks", "--resume run --stop-after 1")));
    assert!(stopped.stderr.contains("stopped after iteration 2 of 4"), "{}", stopped.stderr);
    assert_eq!(host(&arguments("ranks", "--resume run")).code, Some(0));
    assert_eq!(content(&dir.path().join("ranks/run")), content(&dir.path().join("alone/run")));
}

/// All but what depends on the machine.
fn timeless(mut object: Value) -> Value {
    for key in ["seconds", "pieces_per_second", "threads"] {
        object.as_object_mut().expect("an object").remove(key);
    }
    object
}

#[test]
fn players_are_measured_alike() {
    for arguments in [
        "evaluate --board 10x8 --games 300 --json",
        "evaluate --board 10x6 --pieces bag --games 50 --overflow after --rescue 3 --json",
        "evaluate --player dt10 --board 10x8 --climbers 50 --games 9 --json",
        "evaluate --games 3 --max-pieces 300000 --json",
        "evaluate --board 10x6 --games 1 --json",
    ] {
        let ranks = output(&mut mpirun(3, arguments)).json();
        assert!(ranks["threads"].as_u64() >= Some(3), "{ranks}");
        assert_eq!(timeless(ranks), timeless(host(arguments).json()), "{arguments}");
    }
}

#[test]
fn a_list_of_pieces_is_one_game_and_not_shared() {
    let dir = tempfile::tempdir().expect("a folder");
    let list = dir.path().join("pieces.txt");
    fs::write(&list, "IJLOSTZ".repeat(20)).expect("a list");
    let arguments = format!("evaluate --pieces list:{} --json", list.display());
    assert_eq!(timeless(output(&mut mpirun(2, &arguments)).json()), timeless(host(&arguments).json()));
}

#[test]
fn the_results_table_is_the_same() {
    let plan = "version = 1\nseed = 6\ntext = \"\"\n[[section]]\nname = \"one\"\ntitle = \"\"\nkind = \"scores\"\ntext = \"\"\n\
                rows = [\n\
                { player = \"bcts\", board = \"10x6\", games = 40, batch = 8 },\n\
                { player = \"dt10\", board = \"10x6\", games = 30, batch = 7, rescue = 3 },\n\
                { player = \"bcts\", board = \"10x5\", games = 9, batch = 3, variant = \"last-tie\" },\n\
                { player = \"dt20\", board = \"10x10\", games = 12, batch = 4 },\n]\n";
    let records = |ranks: usize| {
        let dir = tempfile::tempdir().expect("a folder");
        fs::write(dir.path().join("plan.toml"), plan).expect("a plan");
        let arguments = format!("results --run --folder {} --json", dir.path().display());
        let done = if ranks == 1 { host(&arguments) } else { output(&mut mpirun(ranks, &arguments)) };
        assert_eq!(done.json()["left"], 0);
        let text = fs::read_to_string(dir.path().join("data/one.jsonl")).expect("records");
        let record = |line| timeless(serde_json::from_str(line).expect("a record")).to_string();
        let mut lines: Vec<String> = text.lines().map(record).collect();
        lines.sort();
        lines
    };
    let alone = records(1);
    assert_eq!(alone.len(), 5 + 5 + 3 + 3);
    assert_eq!(records(3), alone);
}

#[test]
fn mistakes_are_told_once() {
    let wrong = output(&mut mpirun(3, "evaluate --board 10x99"));
    assert_eq!(wrong.code, Some(2), "{}", wrong.stderr);
    assert_eq!(wrong.stderr.matches("10x99").count(), 1, "{}", wrong.stderr);
    let unknown = output(&mut mpirun(2, "evaluate --player nobody"));
    assert_eq!(unknown.code, Some(2), "{}", unknown.stderr);
    assert_eq!(unknown.stderr.matches("unknown player").count(), 1, "{}", unknown.stderr);
    let help = output(&mut mpirun(3, "--help"));
    assert_eq!((help.code, help.stdout.matches("Exit codes").count()), (Some(0), 1), "{}", help.stderr);
}

/// Trains on three ranks until some iterations are done, and sends a signal to one. What was told in the end.
fn disturbed(mut command: Command, runs: &Path, rank: usize, signal: Signal) -> common::Run {
    let mut running = Running::start(&mut command);
    let rows = || fs::read_to_string(runs.join("run/metrics.jsonl")).map_or(0, |text| text.lines().count());
    let begun = Instant::now();
    while rows() < 3 && begun.elapsed() < LIMIT {
        assert_eq!(running.child.try_wait().expect("a state"), None, "it ended too early");
        std::thread::sleep(Duration::from_millis(2));
    }
    send(running.rank(rank).expect("a rank at work"), signal);
    running.end(LIMIT).unwrap_or_else(|hung| panic!("{hung}"))
}

/// A run that takes some seconds on all methods, in iterations long enough to be hit in their midst.
fn long(runs: &Path) -> String {
    format!(
        "train --runs {} --iterations 30 --games 30 --population 30 --curve-games 4 --select-games 1 --score-games 20 \
         --select-board 10x8 --name run --threads 1",
        runs.display()
    )
}

#[test]
fn a_rank_that_is_killed_ends_the_run_with_a_word_and_it_goes_on_elsewhere() {
    let dir = tempfile::tempdir().expect("a folder");
    let alone = dir.path().join("alone");
    assert_eq!(host(&long(&alone)).code, Some(0));
    let expected = content(&alone.join("run"));
    for (rank, ranks) in [(2, 2), (1, 1), (0, 3)] {
        let runs = dir.path().join(format!("killed-{rank}"));
        let mut command = mpirun(3, &long(&runs));
        // What mpirun gives ranks to say their last words is one second, and little on a busy machine.
        command.env("OMPI_MCA_odls_base_sigkill_timeout", "2");
        let ended = disturbed(command, &runs, rank, Signal::KILL);
        assert_ne!(ended.code, Some(0));
        // Rank 0 cannot speak after its death, but it said so at the beginning.
        let resume = format!("host train --resume run --runs {}", runs.display());
        let times = if rank == 0 { 1 } else { 2 };
        assert!(ended.stderr.matches(&resume).count() >= times, "{}", ended.stderr);
        let which = format!("rank {rank} with PID");
        assert!(ended.stderr.contains(&which) || ended.stdout.contains(&which), "{}", ended.stderr);
        assert!(!runs.join("run/weights.toml").exists(), "it ended too late");

        let go_on = format!("train --resume run --runs {}", runs.display());
        let done = if ranks == 1 { host(&go_on) } else { output(&mut mpirun(ranks, &go_on)) };
        assert_eq!(done.code, Some(0), "{}", done.stderr);
        assert_eq!(content(&runs.join("run")), expected, "rank {rank} was killed, {ranks} ranks went on");
    }
}

#[test]
fn a_rank_that_falls_silent_is_taken_for_dead_and_the_run_goes_on_elsewhere() {
    let dir = tempfile::tempdir().expect("a folder");
    let alone = dir.path().join("alone");
    assert_eq!(host(&long(&alone)).code, Some(0));
    let runs = dir.path().join("silent");
    let mut command = mpirun(3, &long(&runs));
    command.env("DROPWISE_SILENCE", "2");
    let ended = disturbed(command, &runs, 2, Signal::STOP);
    assert_ne!(ended.code, Some(0));
    // One message says which rank it was and how to go on, and nothing else speaks of an end.
    let stderr = &ended.stderr;
    let go_on = format!(
        "the last complete iteration is on disk; go on, with as many ranks as you like, by: \
         host train --resume run --runs {}",
        runs.display()
    );
    let silent = format!(" has said nothing for 2 seconds and is taken for dead; {go_on}");
    let told: Vec<&str> = stderr.lines().filter(|line| line.contains("taken for dead")).collect();
    assert_eq!(told.len(), 1, "{stderr}");
    assert!(told[0].starts_with("error: rank 2 on ") && told[0].ends_with(&silent), "{stderr}");
    assert_eq!(stderr.matches(&go_on).count(), 2, "at the beginning and in the end: {stderr}");
    assert!(!stderr.contains("told to end"), "{stderr}");
    assert!(!runs.join("run/weights.toml").exists(), "it ended too late");

    let done = output(&mut mpirun(2, &format!("train --resume run --runs {}", runs.display())));
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    assert_eq!(content(&runs.join("run")), content(&alone.join("run")));
}
