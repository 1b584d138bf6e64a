//! `host train`: the same run for any number of threads and however often it was stopped, and files that are never
//! half there.

#[allow(dead_code, reason = "each test binary uses a part")]
mod common;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use common::{command, host, run};
use host::train::run::Checkpoint;
use serde_json::Value;

/// A run of a second at most.
const TINY: &str = "--iterations 6 --games 6 --board 10x10 --pieces hard:4 --curve-games 4 --select-games 1 --score-games 20 \
                    --select-board 10x8";

fn train(runs: &Path, arguments: &str) -> common::Run {
    run(command().arg("train").arg("--runs").arg(runs).args(arguments.split_whitespace()))
}

/// What a run's folder holds, times aside: the configuration, the rows, the checkpoint and the player.
fn content(folder: &Path) -> (String, Vec<Value>, Vec<u8>, Option<String>) {
    let metrics = fs::read_to_string(folder.join("metrics.jsonl")).expect("metrics");
    let rows = metrics.lines().map(|line| {
        let mut row: Value = serde_json::from_str(line).expect("a row");
        row.as_object_mut().expect("an object").remove("seconds").expect("its time");
        row
    });
    let bytes = fs::read(folder.join("checkpoint")).expect("a checkpoint");
    let mut checkpoint = Checkpoint::from_bytes(&bytes).expect("a good one");
    // The length of the metrics depends on the digits of the times.
    assert_eq!(checkpoint.metrics, metrics.len() as u64);
    (checkpoint.seconds, checkpoint.metrics) = (0.0, 0);
    (
        fs::read_to_string(folder.join("config.toml")).expect("a configuration"),
        rows.collect(),
        checkpoint.to_bytes().expect("bytes"),
        fs::read_to_string(folder.join("weights.toml")).ok(),
    )
}

#[test]
fn a_run_is_the_same_for_any_number_of_threads_and_stopped_after_each_iteration() {
    let dir = tempfile::tempdir().expect("a folder");
    for (name, method) in [
        ("cma", "--population 6"),
        ("race", "--population 6 --race tetris"),
        ("ce", "--method cross-entropy --population 10"),
        ("ga", "--method genitor --population 8"),
        ("hybrid", "--method hybrid --population 10"),
        ("fitted", "--method fitted-value --set bodoia"),
    ] {
        let arguments = format!("{TINY} --name {name} --seed 5 {method}");
        let [one, two, pieces] = ["one", "two", "pieces"].map(|runs| dir.path().join(runs));
        let done = train(&one, &format!("{arguments} --threads 1"));
        assert_eq!(done.code, Some(0), "{name}: {}", done.stderr);
        let done = train(&two, &format!("{arguments} --threads 2"));
        assert_eq!(done.code, Some(0), "{name}: {}", done.stderr);
        let whole = content(&one.join(name));
        assert_eq!(whole.1.len(), 6);
        assert!(whole.3.is_some());
        assert_eq!(whole, content(&two.join(name)), "{name}: threads");

        let stopped = train(&pieces, &format!("{arguments} --stop-after 0"));
        assert_eq!(stopped.code, Some(1), "{}", stopped.stderr);
        assert!(
            stopped.stderr.contains(&format!("go on with: host train --resume {name}")),
            "{}",
            stopped.stderr
        );
        for iteration in 1..=6 {
            let stopped = train(&pieces, &format!("--resume {name} --stop-after 1"));
            assert_eq!(stopped.code, Some(if iteration == 6 { 0 } else { 1 }), "{}", stopped.stderr);
            assert_eq!(content(&pieces.join(name)).1.len(), iteration);
        }
        assert_eq!(whole, content(&pieces.join(name)), "{name}: stopped and resumed");
        assert!(pieces.join(name).join("curve.svg").exists());
    }
}

#[test]
fn a_killed_run_goes_on_as_if_nothing_had_happened() {
    let dir = tempfile::tempdir().expect("a folder");
    let [whole, killed] = ["whole", "killed"].map(|runs| dir.path().join(runs));
    let arguments = format!("{TINY} --name run --iterations 40 --population 6");
    let arguments = arguments.replacen("--iterations 6", "", 1);
    assert_eq!(train(&whole, &arguments).code, Some(0));
    let metrics = killed.join("run/metrics.jsonl");
    let rows = || fs::read_to_string(&metrics).map_or(0, |text| text.lines().count());
    for attempt in 0..4 {
        let start = if attempt == 0 { arguments.as_str() } else { "--resume run" };
        let mut child = Command::new(env!("CARGO_BIN_EXE_host"))
            .arg("train")
            .arg("--runs")
            .arg(&killed)
            .args(start.split_whitespace())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("a child");
        let (before, begun) = (rows(), Instant::now());
        while rows() < before + 5 && begun.elapsed() < Duration::from_secs(20) {
            std::thread::sleep(Duration::from_millis(1));
        }
        child.kill().expect("killed");
        child.wait().expect("gone");
    }
    // Half a row, as a full disk leaves it.
    let mut text = fs::read(&metrics).expect("metrics");
    text.extend(b"{\"iteration\":");
    fs::write(&metrics, text).expect("written");
    let done = train(&killed, "--resume run");
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    assert_eq!(content(&whole.join("run")), content(&killed.join("run")));
}

#[test]
fn what_cannot_be_resumed_says_why_and_is_left_alone() {
    let dir = tempfile::tempdir().expect("a folder");
    let runs = dir.path();
    let stopped = train(runs, &format!("{TINY} --name run --population 6 --stop-after 2"));
    assert_eq!(stopped.code, Some(1), "{}", stopped.stderr);
    let path = runs.join("run/checkpoint");
    let good = fs::read(&path).expect("a checkpoint");
    let other = String::from_utf8_lossy(&good[..21]).replace(" 1", " 9").into_bytes();
    let other = [&other[..], &good[21..]].concat();
    let mut flipped = good.clone();
    *flipped.last_mut().expect("bytes") ^= 1;
    let cases: [(&[u8], &str); 6] = [
        (&good[..good.len() - 1], "cut off or damaged"),
        (&good[..10], "cut off or damaged"),
        (b"", "cut off or damaged"),
        (&flipped, "cut off or damaged"),
        (&other, "version 9, but this program reads version 1"),
        (b"something else\n", "not a checkpoint"),
    ];
    for (bytes, told) in cases {
        fs::write(&path, bytes).expect("written");
        let refused = train(runs, "--resume run");
        assert_eq!(refused.code, Some(2), "{told}: {}", refused.stderr);
        assert!(refused.stderr.contains(told), "{told}: {}", refused.stderr);
        assert_eq!(fs::read(&path).expect("left alone"), bytes);
    }
    fs::write(&path, &good).expect("written");
    let metrics = runs.join("run/metrics.jsonl");
    let rows = fs::read(&metrics).expect("metrics");
    fs::write(&metrics, &rows[..10]).expect("written");
    let refused = train(runs, "--resume run");
    assert!(refused.stderr.contains("metrics.jsonl is shorter"), "{}", refused.stderr);
    fs::write(&metrics, &rows).expect("written");

    let before = content(&runs.join("run"));
    let refused = train(runs, &format!("{TINY} --name run"));
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("already; nothing was changed"), "{}", refused.stderr);
    assert_eq!(before, content(&runs.join("run")));
    assert_eq!(train(runs, "--resume run").code, Some(0));
}

#[test]
fn wrong_usage_ends_with_two_and_leaves_no_folder() {
    let dir = tempfile::tempdir().expect("a folder");
    let runs = dir.path().join("runs");
    for (arguments, told) in [
        ("--paper nobody", "possible values: boumaza2009"),
        ("--method magic", "possible values: cma-es"),
        ("--set bctss", "did you mean 'bcts'?"),
        ("--iterations 0", "0 is not in 1..="),
        ("--population 3", "population from 4"),
        ("--noise constant:4", "--noise means nothing to cma-es"),
        ("--method cross-entropy --step 1", "--step means nothing to cross-entropy"),
        ("--method cross-entropy --noise loud", "noises are none"),
        ("--method genitor --race tetris", "genitor has no candidates to race"),
        ("--paper bodoia-puranik --population 10", "--population means nothing to fitted-value"),
        ("--method fitted-value --set d --race hoeffding", "no candidates to race"),
        ("--delta 0.1", "give --race too"),
        ("--paper boumaza-tetris --race none --delta 0.1", "give --race too"),
        ("--race tetris --fitness lines-per-piece", "a race compares lines"),
        ("--race tetris --games 2", "give more --games"),
        ("--pieces list:x", "a list of pieces is one game"),
        ("--name ../up", "cannot name a run"),
        ("--name .hidden", "cannot name a run"),
        ("--resume nothing", "there is no run"),
        ("--resume nothing --games 3", "cannot be used with"),
        ("--resume nothing --seed 3", "cannot be used with"),
        ("--resume nothing --paper cs3243", "cannot be used with"),
        ("--list --resume nothing", "cannot be used with"),
        ("--compare one", "2"),
        ("--compare one two", "cannot read"),
        ("--out x.svg", "--compare"),
    ] {
        let refused = train(&runs, arguments);
        assert_eq!(refused.code, Some(2), "{arguments}: {}", refused.stderr);
        assert!(refused.stderr.contains(told), "{arguments}: {}", refused.stderr);
        assert!(!runs.exists(), "{arguments}");
    }
    // Where a file is, no folder can be; that holds for every user.
    fs::write(&runs, "a file").expect("written");
    let refused = train(&runs, TINY);
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    assert!(refused.stderr.contains("choose another place with --runs DIR"), "{}", refused.stderr);
}

#[test]
fn runs_are_listed_and_compared() {
    let dir = tempfile::tempdir().expect("a folder");
    let runs = dir.path();
    assert_eq!(train(runs, "--list").code, Some(0));
    for seed in [1, 2] {
        let done = train(runs, &format!("{TINY} --population 6 --seed {seed} --json"));
        let lines = done.json_lines();
        assert_eq!(lines.len(), 7);
        assert_eq!(lines[5]["iteration"], 6);
        assert!(lines[6]["score"]["mean"].is_number());
    }
    // A second one of the same name is numbered.
    assert_eq!(train(runs, &format!("{TINY} --population 6 --stop-after 1")).code, Some(1));
    let listed = train(runs, "--list --json").json_lines();
    let names: Vec<&str> = listed.iter().filter_map(|run| run["run"].as_str()).collect();
    assert_eq!(names, ["cma-es-dt-1", "cma-es-dt-1-2", "cma-es-dt-2"]);
    assert_eq!((&listed[0]["ended"], &listed[1]["ended"]), (&Value::Bool(true), &Value::Bool(false)));
    assert!(train(runs, "--list").stdout.contains("not ended"));

    let picture = runs.join("both.svg");
    let out = picture.to_str().expect("a name");
    assert_eq!(train(runs, &format!("--compare cma-es-dt-1 cma-es-dt-2 --out {out}")).code, Some(0));
    let svg = fs::read_to_string(picture).expect("a picture");
    assert!(svg.starts_with("<svg") && svg.contains("cma-es-dt-2"));
    // What was learned is a player like any other.
    let weights = runs.join("cma-es-dt-1/weights.toml");
    let measured = host(&format!("evaluate --json --board 10x6 --games 2 --player {}", weights.display()));
    assert_eq!(measured.code, Some(0), "{}", measured.stderr);
}
