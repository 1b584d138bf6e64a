//! `host results`: the page of a small data set, runs that are stopped, and files that are never half there.

#[allow(dead_code, reason = "each test binary uses a part")]
mod common;

use std::fs;
use std::path::{Path, PathBuf};

use common::{command, run};
use serde_json::Value;

/// A folder with a copy of the small plan, its players and what was measured of it.
fn copy() -> tempfile::TempDir {
    fn copy(from: &Path, to: &Path) {
        fs::create_dir_all(to).expect("a folder");
        for entry in fs::read_dir(from).expect("a folder") {
            let path = entry.expect("an entry").path();
            let target = to.join(path.file_name().expect("a name"));
            if path.is_dir() {
                copy(&path, &target);
            } else {
                fs::copy(&path, &target).expect("a file");
            }
        }
    }
    let dir = tempfile::tempdir().expect("a folder");
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/results"), dir.path());
    dir
}

fn results(dir: &Path, arguments: &[&str]) -> common::Run {
    run(command().current_dir(dir).args(["results", "--folder", "."]).args(arguments))
}

/// All files in a folder with their content.
fn content(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files: Vec<_> = fs::read_dir(folder)
        .map(|entries| entries.map(|entry| entry.expect("an entry").path()).collect())
        .unwrap_or_default();
    files.sort();
    files.into_iter().map(|path| (path.clone(), fs::read(path).expect("a file"))).collect()
}

/// The records in a folder's data files but for their seconds, in the order of their keys and games.
fn records(dir: &Path) -> Vec<String> {
    let files = content(&dir.join("data"));
    // Games that are under way stand beside them.
    let kept =
        files.iter().filter(|(path, _)| path.extension().is_some_and(|extension| extension == "jsonl"));
    let lines = kept.flat_map(|(_, bytes)| std::str::from_utf8(bytes).expect("text").lines());
    let mut records: Vec<(String, u64, String)> = lines
        .map(|line| {
            let mut record: Value = serde_json::from_str(line).expect("a record");
            record.as_object_mut().expect("an object").remove("seconds").expect("its time");
            let first = record["games"][0].as_u64().expect("a number");
            (record["key"].as_str().expect("a key").to_owned(), first, record.to_string())
        })
        .collect();
    records.sort();
    records.into_iter().map(|(_, _, record)| record).collect()
}

#[test]
fn the_page_of_a_small_data_set() {
    let dir = copy();
    let made = results(dir.path(), &["--out", "page.md"]);
    assert_eq!(made.code, Some(0), "{}", made.stderr);
    insta::assert_snapshot!(made.stdout, @"
    Made page.md and 4 pictures.
    Missing, to be played by `host results --run`:
      scores: dt10 10x6: 20 of 30 games
      scores: dt20 10x20: 0 of 100 games
    ");
    assert_eq!(made.stderr, "");
    insta::assert_snapshot!("page", fs::read_to_string(dir.path().join("page.md")).expect("the page"));

    let pictures = content(&dir.path().join("page"));
    let names: Vec<_> = pictures.iter().map(|(path, _)| path.file_name().expect("a name")).collect();
    assert_eq!(names, ["curves.svg", "heights.svg", "rescue.svg", "scores.svg"]);
    for (path, svg) in &pictures {
        let svg = String::from_utf8_lossy(svg);
        assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"), "{}", path.display());
    }
    let page = fs::read(dir.path().join("page.md")).expect("the page");
    results(dir.path(), &["--out", "page.md"]);
    assert_eq!(fs::read(dir.path().join("page.md")).expect("the page"), page);
    assert_eq!(content(&dir.path().join("page")), pictures, "the same data, the same pictures");
}

#[test]
fn the_projects_page_is_made_of_the_projects_data() {
    let dir = tempfile::tempdir().expect("a folder");
    let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let folder = project.join("results").display().to_string();
    let made =
        run(command().current_dir(dir.path()).args(["results", "--folder", &folder, "--out", "results.md"]));
    assert_eq!(made.code, Some(0), "{}", made.stderr);
    let text = |path: PathBuf| fs::read_to_string(path).expect("a text");
    let pictures = |folder: PathBuf| {
        let named = |(path, svg): (PathBuf, _)| (path.file_name().expect("a name").to_owned(), svg);
        content(&folder).into_iter().map(named).collect::<Vec<_>>()
    };
    let is_current = text(dir.path().join("results.md")) == text(project.join("docs/results.md"))
        && pictures(dir.path().join("results")) == pictures(project.join("docs/results"));
    assert!(is_current, "make it anew: cargo host results");
}

#[test]
fn the_list_says_how_far_each_row_is() {
    let dir = copy();
    let rows = results(dir.path(), &["--list", "--json"]).json_lines();
    assert_eq!(rows.len(), 15);
    let games = |row: &Value| (row["games"].as_u64(), row["wanted"].as_u64());
    assert_eq!((&rows[2]["row"], games(&rows[2])), (&"dt10 10x6".into(), (Some(20), Some(30))));
    assert_eq!(rows[0]["key"], rows[4]["key"], "the same games in another section");
    let told = results(dir.path(), &["--list", "--only", "scores/dt"]).stdout;
    insta::assert_snapshot!(told, @"
    scores Scores
                20 of 30                            dt10 10x6
                0 of 100                            dt20 10x20
    ");
}

#[test]
fn paces_are_measured_row_by_row_and_kept() {
    let dir = copy();
    let path = dir.path().join("paces.jsonl");
    let lines = || fs::read_to_string(&path).expect("the paces").lines().count();
    let before = lines();
    let measured = results(dir.path(), &["--pace", "0.01", "--only", "scores", "--json"]).json_lines();
    // The other ones are kept, and dt20 is new.
    assert_eq!((measured.len(), lines()), (4, before + 1));
    let rows = results(dir.path(), &["--list", "--only", "scores", "--json"]).json_lines();
    for row in &rows {
        let pace = measured.iter().find(|pace| pace["key"] == row["key"]).expect("its pace");
        let rate = pace["pieces"].as_f64().zip(pace["seconds"].as_f64()).map(|(pieces, time)| pieces / time);
        assert_eq!(row["pieces_per_second"].as_f64(), rate);
    }
    let refused = results(dir.path(), &["--pace", "0"]);
    assert!(refused.code == Some(2) && refused.stderr.contains("above 0"), "{}", refused.stderr);
}

#[test]
fn what_is_missing_is_played_and_nothing_twice() {
    let dir = copy();
    let before = records(dir.path());
    let played = results(dir.path(), &["--run", "--only", "scores/10x6", "--json"]).json();
    assert_eq!((&played["played"], &played["left"]), (&1.into(), &0.into()));
    let after = records(dir.path());
    assert_eq!(after.len(), before.len() + 1);
    assert!(before.iter().all(|record| after.contains(record)));

    fs::remove_dir_all(dir.path().join("data")).expect("gone");
    for (threads, only) in [("2", "scores/10x6"), ("1", "details"), ("2", "rescue"), ("2", "heights")] {
        let run = results(dir.path(), &["--run", "--only", only, "--threads", threads]);
        assert_eq!(run.code, Some(0), "{}", run.stderr);
    }
    assert_eq!(records(dir.path()), after, "the same games when all are played anew");
}

#[test]
fn a_time_limit_stops_and_says_that_something_is_left() {
    let dir = copy();
    let before = records(dir.path());
    let run = results(dir.path(), &["--run", "--only", "scores/dt20", "--minutes", "0.002"]);
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    assert!(run.stdout.starts_with("0 batches played, 100 left;"), "{}", run.stdout);
    assert_eq!(records(dir.path()), before);
}

#[cfg(target_os = "linux")]
#[test]
fn a_signal_stops_and_what_was_played_stays() {
    use rustix::process::{Pid, Signal, kill_process};
    for signal in [Signal::INT, Signal::KILL] {
        let dir = copy();
        let before = records(dir.path());
        let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_host"))
            .current_dir(dir.path())
            .args(["results", "--folder", ".", "--run", "--only", "scores"])
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .spawn()
            .expect("host runs");
        // The missing batch of the small board comes first; then there are games of minutes.
        let data = dir.path().join("data/scores.jsonl");
        let lines = || fs::read_to_string(&data).expect("text").lines().count();
        let complete = lines() + 1;
        while lines() < complete {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        kill_process(Pid::from_child(&child), signal).expect("it runs");
        let code = child.wait().expect("it ends").code();
        assert_eq!(code, (signal == Signal::INT).then_some(1));
        assert!(records(dir.path()).len() > before.len());
        assert_eq!(results(dir.path(), &["--out", "page.md"]).code, Some(0));
    }
}

#[test]
fn a_torn_line_is_left_out_and_said_aloud() {
    let dir = copy();
    let data = dir.path().join("data/scores.jsonl");
    let text = fs::read_to_string(&data).expect("text");
    fs::write(&data, format!("{text}{{\"row\":\"bcts 10")).expect("written");
    let made = results(dir.path(), &["--out", "page.md"]);
    assert_eq!(made.code, Some(0));
    assert_eq!(made.stderr, "./data/scores.jsonl: the last line was cut off and is left out\n");
    assert_eq!(results(dir.path(), &["--run", "--only", "scores/dt10"]).code, Some(0));
    let healed = fs::read_to_string(&data).expect("text");
    assert!(healed.starts_with(&text) && healed.lines().count() == text.lines().count() + 1);
}

#[test]
fn records_of_no_row_are_kept_and_said_aloud() {
    let dir = copy();
    let plan = dir.path().join("plan.toml");
    let text = fs::read_to_string(&plan).expect("the plan");
    fs::write(&plan, text.replace("rescue = 5", "rescue = 3")).expect("written");
    let made = results(dir.path(), &["--out", "page.md"]);
    assert_eq!(made.code, Some(0));
    assert_eq!(
        made.stderr,
        "1 record of 'bcts 10x6, rescue above 5, joined by sum' belongs to no row of the plan; kept and left out\n"
    );
}

#[test]
fn bad_input_is_named_and_nothing_is_overwritten() {
    let dir = copy();
    results(dir.path(), &["--out", "page.md"]);
    let page = fs::read(dir.path().join("page.md")).expect("the page");
    let data = dir.path().join("data/rescue.jsonl");
    let good = fs::read_to_string(&data).expect("text");
    let swapped =
        good.replacen("\"digest\":\"", "\"digest\":\"0", 1).replacen("0\",\"histogram", "\",\"histogram", 1);
    for (bad, told) in [
        ("nonsense\n".to_owned() + &good, "./data/rescue.jsonl:1: "),
        (good.replacen("\"lines\":", "\"lines\":9", 1), "./data/rescue.jsonl:1: its sums"),
        (swapped, "error: ./data/rescue.jsonl:1: "),
        (
            good.clone() + &good.replace("\"digest\":\"", "\"digest\":\"f").replace("f\"", "\""),
            "error: ./data/rescue.jsonl:",
        ),
    ] {
        fs::write(&data, &bad).expect("written");
        for arguments in [&["--out", "page.md"][..], &["--run"], &["--list"]] {
            let run = results(dir.path(), arguments);
            assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{}", run.stderr);
            assert!(
                run.stderr.contains(told) && run.stderr.contains("nothing was changed"),
                "{}",
                run.stderr
            );
            assert_eq!(fs::read_to_string(&data).expect("text"), bad);
        }
    }
    fs::write(&data, good).expect("written");
    let curve = dir.path().join("curves/tiny.jsonl");
    fs::write(&curve, "nonsense\n").expect("written");
    let run = results(dir.path(), &["--out", "page.md"]);
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("curves/tiny.jsonl:1: not a run's metrics"), "{}", run.stderr);
    assert_eq!(fs::read(dir.path().join("page.md")).expect("the page"), page);
}

#[test]
fn a_bad_plan_is_explained() {
    let dir = copy();
    let plan = dir.path().join("plan.toml");
    let good = fs::read_to_string(&plan).expect("the plan");
    for (from, to, told) in [
        ("version = 1", "version = 2", "reads version 1"),
        ("kind = \"scores\"", "kind = \"score\"", "unknown variant `score`"),
        ("games = 100 ", "game = 100 ", "unknown field `game`"),
        ("player = \"own\"", "player = \"nobody\"", "unknown player 'nobody'"),
        ("\"10x20\"", "\"10x21\"", "4 to 20 rows, not 21"),
        ("hard:4", "list:x", "a list of pieces is one game"),
        ("lookahead = 1", "lookahead = 3", "lookahead is at most 2"),
        ("lookahead = 1", "lookahead = 1, rescue = 3", "leave out one of the two"),
        ("games = 100 ", "games = 0 ", "at least 1"),
        ("rescue = 5", "rescue = 4", "stands there twice"),
        ("name = \"rescue\"", "name = \"scores\"", "two sections 'scores'"),
        ("name = \"rescue\"", "name = \"../rescue\"", "letters, digits and '-'"),
    ] {
        assert!(good.contains(from), "{from}");
        fs::write(&plan, good.replace(from, to)).expect("written");
        let run = results(dir.path(), &["--list"]);
        assert_eq!(run.code, Some(2), "{to}");
        assert!(run.stderr.contains("./plan.toml") && run.stderr.contains(told), "{to}: {}", run.stderr);
    }
    fs::write(&plan, good).expect("written");
    for (arguments, told) in [
        (&["--list", "--only", "score"][..], "did you mean 'scores'?"),
        (&["--list", "--only", "scores/nobody"], "no row with 'nobody'"),
        (&["--only", "scores"], "--only is for --run, --list and --pace"),
        (&["--run", "--minutes", "0"], "like 30 or 0.5"),
        (&["--minutes", "1"], "--run"),
        (&["--run", "--list"], "cannot be used with"),
        (&["--folder", "nowhere"], "cannot be used multiple times"),
    ] {
        let run = results(dir.path(), arguments);
        assert_eq!(run.code, Some(2), "{arguments:?}");
        assert!(run.stderr.contains(told), "{arguments:?}: {}", run.stderr);
    }
    let run = run(command().current_dir(dir.path()).args(["results", "--folder", "nowhere"]));
    assert!(run.stderr.contains("cannot read the plan nowhere/plan.toml"), "{}", run.stderr);
}
