//! `host train`: the same run for any number of threads and however often it was stopped, and files that are never
//! half there.

#[allow(dead_code, reason = "each test binary uses a part")]
mod common;

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use clap::ValueEnum;
use common::{command, content, host, run};
use host::train::preset::Paper;
use host::weights::Weights;
use serde_json::Value;

/// A run of a second at most.
const TINY: &str = "--iterations 6 --games 6 --board 10x10 --pieces hard:4 --curve-games 4 --select-games 1 --score-games 20 \
                    --select-board 10x8";

fn train(runs: &Path, arguments: &str) -> common::Run {
    run(command().arg("train").arg("--runs").arg(runs).args(arguments.split_whitespace()))
}

#[test]
fn a_run_is_the_same_for_any_number_of_threads_and_stopped_after_each_iteration() {
    let dir = tempfile::tempdir().expect("a folder");
    for (name, method) in [
        ("cma", "--population 6"),
        ("race", "--population 6 --race tetris"),
        ("climb", "--population 6 --climbers 40 --select-climbers 30"),
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

/// Long enough to be stopped in its midst.
fn long() -> String {
    format!("{TINY} --name run --population 6").replacen("--iterations 6", "--iterations 40", 1)
}

/// Starts training, or goes on with the run, and waits until it has gone on for some iterations.
fn started(runs: &Path, arguments: &str) -> Child {
    let metrics = runs.join("run/metrics.jsonl");
    let rows = || fs::read_to_string(&metrics).map_or(0, |text| text.lines().count());
    let before = rows();
    let child = Command::new(env!("CARGO_BIN_EXE_host"))
        .arg("train")
        .arg("--runs")
        .arg(runs)
        .args(arguments.split_whitespace())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("a child");
    let begun = Instant::now();
    while rows() < before + 5 && begun.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(1));
    }
    child
}

#[test]
fn a_killed_run_goes_on_as_if_nothing_had_happened() {
    let dir = tempfile::tempdir().expect("a folder");
    let [whole, killed] = ["whole", "killed"].map(|runs| dir.path().join(runs));
    assert_eq!(train(&whole, &long()).code, Some(0));
    for arguments in [&long(), "--resume run", "--resume run", "--resume run"] {
        let mut child = started(&killed, arguments);
        child.kill().expect("killed");
        child.wait().expect("gone");
    }
    // Half a row, as a full disk leaves it.
    let metrics = killed.join("run/metrics.jsonl");
    let mut text = fs::read(&metrics).expect("metrics");
    text.extend(b"{\"iteration\":");
    fs::write(&metrics, text).expect("written");
    let done = train(&killed, "--resume run");
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    assert_eq!(content(&whole.join("run")), content(&killed.join("run")));
}

#[cfg(unix)]
#[test]
fn ctrl_c_saves_and_says_how_to_go_on() {
    use rustix::process::{Pid, Signal, kill_process};
    let dir = tempfile::tempdir().expect("a folder");
    let [whole, stopped] = ["whole", "stopped"].map(|runs| dir.path().join(runs));
    assert_eq!(train(&whole, &long()).code, Some(0));
    let child = started(&stopped, &long());
    kill_process(Pid::from_child(&child), Signal::INT).expect("sent");
    let output = child.wait_with_output().expect("gone");
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.contains("go on with: host train --resume run --runs"), "{told}");
    assert!(stopped.join("run/curve.svg").exists());
    assert!(!stopped.join("run/weights.toml").exists());
    assert_eq!(train(&stopped, "--resume run").code, Some(0));
    assert_eq!(content(&whole.join("run")), content(&stopped.join("run")));
}

/// On a disk of its own: a small one in memory. Where none may be mounted, no file may grow.
#[cfg(unix)]
#[test]
fn a_run_on_a_full_disk_stops_and_goes_on_when_there_is_room() {
    const DISK: &str = r#"
        mount -t tmpfs -o size=1m none "$2" || exit 77
        full() {
            cat /dev/zero > ballast 2> /dev/null
            "$@"
            code=$?
            rm ballast
            return $code
        }
    "#;
    const LIMIT: &str = r#"
        full() (
            trap "" XFSZ
            ulimit -f 0
            "$@"
        )
    "#;
    const TRAIN: &str = r#"
        cd "$2"
        "$1" train --runs . $3 --stop-after 3 2> first.txt
        [ $? = 1 ] || exit 10
        told=$(full "$1" train --runs . --resume run 2>&1 > /dev/null)
        [ $? = 2 ] || exit 11
        echo "$told" > told.txt
        "$1" train --runs . --resume run 2> last.txt || exit 12
        cp -r . "$4"
    "#;
    let dir = tempfile::tempdir().expect("a folder");
    let [whole, disk, kept] = ["whole", "disk", "kept"].map(|name| dir.path().join(name));
    fs::create_dir(&disk).expect("a mount point");
    fs::create_dir(&kept).expect("a folder");
    let arguments = format!("{TINY} --name run --population 6");
    let ended = |shell: &str, full: &str| {
        let mut words = shell.split(' ');
        let mut command = Command::new(words.next().expect("a program"));
        command.args(words).args(["-c", &format!("{full}{TRAIN}"), "sh", env!("CARGO_BIN_EXE_host")]);
        command.arg(&disk).arg(&arguments).arg(&kept).output().ok()?.status.code()
    };
    let on_disk = ended("unshare --map-root-user --mount sh", DISK);
    let code = if matches!(on_disk, Some(0 | 10..=12)) { on_disk } else { ended("sh", LIMIT) };
    assert_eq!(code, Some(0));
    let told = fs::read_to_string(kept.join("told.txt")).expect("a message");
    assert!(told.contains("the run is safe up to its last complete iteration. Make room"), "{told}");
    assert_eq!(train(&whole, &arguments).code, Some(0));
    assert_eq!(content(&whole.join("run")), content(&kept.join("run")));
}

#[test]
fn repeated_runs_are_runs_and_leave_their_mean() {
    let dir = tempfile::tempdir().expect("a folder");
    let runs = dir.path();
    let arguments = format!("{TINY} --population 6 --race tetris --seed 3");
    let done = train(runs, &format!("{arguments} --repeat 3 --json"));
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    let said: Vec<Value> =
        done.stdout.lines().map(|line| serde_json::from_str(line).expect("an object")).collect();
    assert_eq!(said.len(), 4);
    let names = said.iter().filter_map(|object| object["run"].as_str());
    assert_eq!(names.collect::<Vec<_>>(), ["cma-es-dt-3", "cma-es-dt-4", "cma-es-dt-5"]);
    let mean = runs.join("cma-es-dt-3-to-5.toml");
    let [real, first] = [&mean, &runs.join("cma-es-dt-3/weights.toml")]
        .map(|path| Weights::read(path).expect("a player").real);
    assert_eq!(said[3]["mean_player"], mean.to_str().expect("a plain path"));
    assert_ne!(real, first);
    assert_eq!(real.len(), first.len());
    let games = |i: usize, key: &str| said[i][key].as_u64().expect("a count");
    let [played, spared] = ["games", "games_spared"].map(|key| (0..3).map(|i| games(i, key)).sum::<u64>());
    let share = said[3]["evaluations"].as_f64().expect("a share");
    assert!((share - played as f64 / (played + spared) as f64).abs() < 1e-12);
    assert_eq!(played + spared, 3 * 6 * 6 * 6);

    // A single run of the same seed is the same run; and what is there already is not trained again.
    let alone = train(&runs.join("alone"), &format!("{arguments} --name cma-es-dt-3"));
    assert_eq!(alone.code, Some(0), "{}", alone.stderr);
    assert_eq!(content(&runs.join("alone/cma-es-dt-3")), content(&runs.join("cma-es-dt-3")));
    let again = train(runs, &format!("{arguments} --repeat 3 --json"));
    assert_eq!((again.code, again.stdout), (Some(0), done.stdout));
    let other = train(runs, &format!("{arguments} --repeat 3 --overflow after"));
    assert_eq!(other.code, Some(2));
    assert!(other.stderr.contains("trained in another way"), "{}", other.stderr);
}

#[test]
fn every_papers_preset_trains_a_player() {
    let dir = tempfile::tempdir().expect("a folder");
    for paper in Paper::value_variants() {
        let name = paper.name();
        let done = train(
            dir.path(),
            &format!(
                "--paper {name} --iterations 2 --games 3 --max-pieces 300 --curve-games 2 --score-games 5 \
                 --score-board 10x6"
            ),
        );
        assert_eq!(done.code, Some(0), "{name}: {}", done.stderr);
        let weights = Weights::read(&dir.path().join(format!("{name}-1/weights.toml"))).expect("a player");
        assert!(
            weights
                .provenance
                .method
                .ends_with(&format!("--paper {name} on {}", paper.config().training.describe()))
        );
        assert!(weights.real.iter().any(|&weight| weight != 0.0), "{name}");
    }
}

#[test]
fn a_champion_is_trained_for_its_board() {
    let dir = tempfile::tempdir().expect("a folder");
    let arguments =
        "--champion 10x7 --iterations 4 --population 8 --climbers 60 --select-climbers 60 --score-games 20";
    let done = train(dir.path(), arguments);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    let weights = Weights::read(&dir.path().join("champion-10x7-1/weights.toml")).expect("a player");
    assert_eq!(weights.provenance.method, "cma-es, --champion 10x7 on 10x7 uniform");
    let both = train(dir.path(), "--champion 10x7 --paper boumaza2009");
    assert_eq!(both.code, Some(2));
    assert!(both.stderr.contains("cannot be used with"), "{}", both.stderr);
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
