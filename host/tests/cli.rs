//! The command line: exit codes, messages, contracts, and pipes that close.

#[allow(dead_code, reason = "each test binary uses a part")]
mod common;

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};

use common::{command, host, question, run, vectors};
use serde_json::Value;

fn keys(object: &Value) -> BTreeSet<&str> {
    object.as_object().expect("an object").keys().map(String::as_str).collect()
}

#[test]
fn wrong_usage_ends_with_two_and_says_what_to_do() {
    for (arguments, told) in [
        ("", "Usage: host"),
        ("play", "unrecognized subcommand 'play'"),
        ("evaluate --board 0x0", "10 columns wide, not 0; try 10x20"),
        ("evaluate --board 12x20", "10 columns wide, not 12; try 10x20"),
        ("evaluate --board 10x99", "4 to 20 rows, not 99; try 10x20"),
        ("evaluate --board 10x3", "4 to 20 rows, not 3"),
        ("evaluate --board garbage", "like 10x20"),
        ("evaluate --games 0", "0 is not in 1..="),
        ("evaluate --games 99999999999", "is not in 1..="),
        ("evaluate --threads 0", "0 is not in 1..="),
        ("evaluate --max-pieces 0", "0 is not in 1.."),
        ("evaluate --climbers 3", "a number from 10 to 1000000, like 4000"),
        ("evaluate --climbers 100 --pieces bag", "that takes uniform or hard:K"),
        ("evaluate --climbers 100 --lookahead 1", "cannot be used with"),
        ("train --climbers 100 --pieces bag", "that takes uniform or hard:K"),
        ("evaluate --seed -1", "unexpected argument"),
        ("evaluate --player bctss", "did you mean 'bcts'? `host players` lists"),
        ("evaluate --player something", "unknown player 'something'"),
        ("evaluate --player no/such.toml", "no/such.toml: No such file"),
        ("evaluate --player .", "cannot use the weights file ."),
        ("evaluate --pieces hard:0", "like hard:4"),
        ("evaluate --pieces random", "uniform, hard:K, bag or list:FILE"),
        ("evaluate --pieces list:", "needs the name of a file"),
        ("evaluate --pieces list:no-such-list", "cannot read the pieces in no-such-list"),
        ("evaluate --overflow never", "possible values: before, after"),
        ("evaluate --lookahead 3", "3 is not in 0..=2"),
        ("evaluate --rescue 21", "21 is not in 0..=20"),
        ("evaluate --rescue 5 --lookahead 1", "leave out --lookahead or --rescue"),
        ("evaluate --join own", "--rescue"),
        ("evaluate --join both --rescue 5", "possible values: sum, reply, own, sum-first"),
        ("evaluate --short", "--published"),
        ("evaluate --published --board 10x10", "cannot be used with"),
        ("evaluate --published --games 3", "cannot be used with"),
        ("players bctss", "did you mean 'bcts'?"),
        ("players --save x.toml", "required"),
        ("watch --speed 0", "or max"),
        ("bench --seconds 0", "like 0.5"),
    ] {
        let run = host(arguments);
        assert_eq!(run.code, Some(2), "{arguments}: {}", run.stderr);
        assert!(run.stderr.contains(told), "{arguments}: {}", run.stderr);
        assert_eq!(run.stdout, "", "{arguments}");
    }
}

#[test]
fn help_has_examples() {
    for command in ["evaluate", "results", "inspect", "bench", "players", "screen", "watch"] {
        let run = host(&format!("{command} --help"));
        assert_eq!(run.code, Some(0));
        for part in ["Examples:", "--json", "--seed"] {
            assert!(run.stdout.contains(part), "{command}: {part}");
        }
        assert!(!run.stdout.contains('\x1b'), "no colours in a pipe");
    }
    assert!(!host("--help").stdout.contains("marathon"), "hidden");
}

#[test]
fn evaluate_keeps_its_contract() {
    let run = host("evaluate --json --board 10x8 --games 20 --seed 5 --pieces hard:2 --overflow after");
    assert_eq!(run.stderr, "", "quiet");
    let json = run.json();
    let required = [
        "player",
        "board",
        "pieces",
        "overflow",
        "games",
        "seed",
        "lines",
        "pieces_played",
        "seconds",
        "pieces_per_second",
        "digest",
    ];
    assert!(keys(&json).is_superset(&required.into()), "{json}");
    assert_eq!(keys(&json["board"]), ["width", "height"].into());
    let lines = ["mean", "ci95_low", "ci95_high", "min", "median", "max", "sd"];
    assert_eq!(keys(&json["lines"]), lines.into());
    assert_eq!((&json["board"]["width"], &json["board"]["height"]), (&10.into(), &8.into()));
    assert_eq!(
        (&json["player"], &json["pieces"], &json["overflow"]),
        (&"champion20".into(), &"hard:2".into(), &"after".into())
    );
    assert_eq!((&json["games"], &json["seed"]), (&20.into(), &5.into()));
    let number = |key: &str| json["lines"][key].as_f64().unwrap();
    assert!(number("min") <= number("median") && number("median") <= number("max"));
    assert!(number("ci95_low") < number("mean") && number("mean") < number("ci95_high"));
    let half = 1.96 * number("sd") / 20f64.sqrt();
    assert!((number("ci95_high") - number("mean") - half).abs() < 1e-3 * half);
    let digest = json["digest"].as_str().unwrap();
    assert!(digest.len() == 16 && digest.chars().all(|digit| digit.is_ascii_hexdigit()));
}

/// An evaluation without what a clock or the number of threads says.
fn timeless(arguments: &str) -> Value {
    let mut json = host(&format!("evaluate --json {arguments}")).json();
    for key in ["seconds", "pieces_per_second", "threads", "engine"] {
        assert!(json.as_object_mut().unwrap().remove(key).is_some(), "{key}");
    }
    json
}

#[test]
fn threads_and_engines_change_nothing() {
    for game in [
        "--board 10x9",
        "--board 10x6 --pieces hard:4 --player dt10",
        "--board 10x6 --pieces bag --allow-losing",
    ] {
        let one = timeless(&format!("{game} --games 60 --threads 1"));
        for other in ["--threads 2", "--threads 5", "--threads 2 --engine scalar", "--engine general"] {
            assert_eq!(timeless(&format!("{game} --games 60 {other}")), one, "{game} {other}");
        }
        assert_ne!(timeless(&format!("{game} --games 60 --seed 2"))["digest"], one["digest"]);
    }
    for control in ["--lookahead 1", "--lookahead 2", "--rescue 3"] {
        let game = format!("--board 10x5 --games 6 --max-pieces 100 {control}");
        assert_eq!(
            timeless(&format!("{game} --threads 1")),
            timeless(&format!("{game} --threads 3 --engine general"))
        );
    }
}

#[test]
fn more_games_start_with_the_same_games() {
    let short = timeless("--board 10x6 --games 1");
    let all = timeless("--board 10x6 --games 30");
    let first = short["lines"]["mean"].as_f64().unwrap();
    assert!(all["lines"]["min"].as_f64().unwrap() <= first && first <= all["lines"]["max"].as_f64().unwrap());
    assert_eq!(short["lines"]["sd"], Value::Null);
}

#[test]
fn a_person_reads_the_mean_with_its_interval_and_the_rule() {
    let run = host("evaluate --board 10x6 --games 50 --player dellacherie");
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
    for part in [
        "dellacherie on 10x6",
        "uniform",
        "before clearing",
        "avoided",
        "95 % interval",
        "N = 50",
        "sd",
        "digest",
    ] {
        assert!(run.stdout.contains(part), "{part}: {}", run.stdout);
    }
    assert!(!run.stdout.contains("broken off"));
    let capped = host("evaluate --board 10x20 --games 3 --max-pieces 10");
    assert!(capped.stdout.contains("3 of 3 games were broken off after 10 pieces"), "{}", capped.stdout);
}

#[test]
fn a_list_is_one_game_until_used_up() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pieces.txt");
    let list = format!("list:{}", path.display());
    let evaluate = |more: &[&str]| run(command().args(["evaluate", "--json", "--pieces", &list]).args(more));

    fs::write(&path, "TSZ LJ\n O I\n\n").unwrap();
    let json = evaluate(&[]).json();
    assert_eq!(
        (&json["games"], &json["pieces_played"], &json["capped_games"]),
        (&1.into(), &7.into(), &0.into())
    );
    assert_eq!(json["pieces"], list);
    assert_eq!(
        json["digest"],
        evaluate(&["--games", "1", "--seed", "9"]).json()["digest"],
        "no chance in a list"
    );

    let many = evaluate(&["--games", "2"]);
    assert_eq!(many.code, Some(2));
    assert!(many.stderr.contains("leave out --games"), "{}", many.stderr);

    for (text, told) in [("TS\nIxT\n", "pieces.txt:2:2: 'x' is not a piece"), (" \n", "holds no pieces")] {
        fs::write(&path, text).unwrap();
        let run = evaluate(&[]);
        assert_eq!(run.code, Some(2));
        assert!(run.stderr.contains(told), "{}", run.stderr);
    }
    fs::write(&path, [0xff, 0xfe]).unwrap();
    assert_eq!(evaluate(&[]).code, Some(2));
}

#[test]
fn the_short_published_table_agrees() {
    let run = host("evaluate --published --short --json");
    let json = run.json();
    assert_eq!(json["agrees"], true, "{json}");
    let rows = json["rows"].as_array().unwrap();
    let players: Vec<&str> = rows.iter().map(|row| row["player"].as_str().unwrap()).collect();
    assert_eq!(players, ["dellacherie", "bcts", "dt10", "dt20"]);
    for row in rows {
        assert_eq!((&row["games"], &row["board"]["height"]), (&1000.into(), &10.into()));
        let ratio = row["lines"]["sd"].as_f64().unwrap() / row["lines"]["mean"].as_f64().unwrap();
        assert!((0.85..1.15).contains(&ratio), "scores are about exponential: {row}");
    }
}

#[test]
fn weights_files_are_saved_used_and_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("my.toml");
    let save = |more: &[&str]| run(command().args(["players", "dt20", "--save"]).arg(&path).args(more));
    assert_eq!(save(&[]).code, Some(0));
    let again = save(&[]);
    assert_eq!(again.code, Some(2));
    assert!(again.stderr.contains("add --force"), "{}", again.stderr);
    assert_eq!(save(&["--force"]).code, Some(0));

    let evaluate = |player: &str| {
        let arguments = ["evaluate", "--json", "--board", "10x6", "--games", "10", "--player", player];
        run(command().args(arguments))
    };
    let name = path.to_str().unwrap();
    assert_eq!(evaluate(name).json()["digest"], evaluate("dt20").json()["digest"]);

    let text = fs::read_to_string(&path).unwrap();
    let last = format!("quantised = {}", dropwise_core::Player::known("dt20").unwrap().weights()[7]);
    for (from, to, told) in [
        ("holes = ", "potholes = ", "my.toml:13: unknown feature 'potholes'"),
        ("version = 1", "version = 9", "my.toml:1: this file has version 9"),
        ("real = 2.03", "real = inf", "my.toml:13: the weight of holes is not finite"),
        (&last, "quantised = -20000", "my.toml:16: the quantised weight -20000"),
        (&last, "quantised = 5", "my.toml:16: the quantised weight 5 of rows_with_holes disagrees"),
    ] {
        assert!(text.contains(from), "{text}");
        fs::write(&path, text.replacen(from, to, 1)).unwrap();
        let run = evaluate(name);
        assert_eq!(run.code, Some(2));
        assert!(run.stderr.contains(told), "{}", run.stderr);
    }
    for cut in [0, 1, 50, 200, text.len() / 2, text.len() - 2] {
        fs::write(&path, &text[..cut]).unwrap();
        let run = evaluate(name);
        assert_eq!(run.code, Some(2), "{cut}");
        assert!(run.stderr.contains("my.toml:"), "{}", run.stderr);
    }
    for bytes in [vec![0xff; 10], vec![b'\n'; 2 << 20]] {
        fs::write(&path, bytes).unwrap();
        assert_eq!(evaluate(name).code, Some(2));
    }
}

#[test]
fn players_are_listed_with_sets_and_features() {
    let all = host("players --json").json_lines();
    let names: Vec<&str> = all.iter().map(|player| player["name"].as_str().unwrap()).collect();
    assert_eq!(
        names,
        ["dellacherie", "bcts", "bdu", "dt10", "dt20", "rvce", "cs3243", "cma-d", "champion20", "champion10",]
    );
    for player in &all {
        let one = host(&format!("players {} --json", player["name"].as_str().unwrap())).json();
        assert_eq!(&one, player);
    }
    let person = host("players");
    assert!(names.iter().all(|name| person.stdout.contains(name)));
    insta::assert_snapshot!(host("players dellacherie").stdout, @r"
    dellacherie: set d
      Pierre Dellacherie, by hand (Fahey 2003)
      5,200,000 +-20 % on 10x20: Thiery & Scherrer 2009
      220,000 +-20 % on 10x16: Thiery & Scherrer 2009
      2,386 +-6 % on 10x10: measured with the C code of Thiery & Scherrer

      feature                    weight  quantised
      landing_height                 -1      -1024
      eroded_cells                    1       2048
      row_transitions                -1      -2048
      column_transitions             -1      -2048
      holes                          -4      -8192
      cumulative_wells               -1      -2048

    Quantised weights are those that play: each weight divided by its feature's unit, all scaled by a power of two to integers of at most 16383.
    ");
    assert_eq!(host("players --sets --json").json_lines().len(), dropwise_core::Set::ALL.len());
    assert_eq!(host("players --features --json").json_lines().len(), dropwise_core::Feature::ALL.len());
    assert!(host("players --sets").stdout.contains("flom-robinson"));
    assert!(host("players --features").stdout.contains("also closed_holes"));
}

#[test]
fn watch_tells_a_game_in_plain_lines() {
    let run = host("watch --player bcts --board 10x10 --max-pieces 3");
    assert_eq!(run.code, Some(0));
    assert!(!run.stdout.contains('\x1b'), "no escape codes in a pipe");
    insta::assert_snapshot!(run.stdout, @r"
    bcts on 10x10, pieces uniform, overflow tested before clearing; seed 1, game 0

         1  L  orientation 2  column 7  value   -198833  height  2  lines 0
         2  O  orientation 0  column 0  value   -198833  height  2  lines 0
         3  L  orientation 0  column 6  value   -198833  height  2  lines 0

    ..........
    ..........
    ..........
    ..........
    ..........
    ..........
    ..........
    ..........
    OO....LLLL
    OO....LLLL

    bcts, seed 1, game 0: stopped after 3 pieces, 0 lines, digest bc7c0c1bc1bcb53a
    ");
    assert_eq!(host("watch").stdout.lines().filter(|line| line.contains("orientation")).count(), 20);
}

#[test]
fn watch_plays_the_games_that_evaluate_plays() {
    let moves = host("watch --json --board 10x5 --max-pieces 100000 --seed 3").json_lines();
    let last = moves.last().unwrap();
    let one = host("evaluate --json --board 10x5 --games 1 --seed 3").json();
    assert_eq!(last["lines"].as_f64(), one["lines"]["mean"].as_f64());
    assert_eq!(moves.len() as u64, one["pieces_played"].as_u64().unwrap());
    let digest = u64::from_str_radix(last["digest"].as_str().unwrap(), 16).unwrap();
    assert_eq!(format!("{:016x}", dropwise_core::game::digest([digest])), one["digest"].as_str().unwrap());
}

const QUICK_BENCH: [&str; 9] =
    ["bench", "--json", "--seconds", "0.001", "--repeats", "2", "--pieces", "500", "--seed=4"];

#[test]
fn bench_without_valgrind_says_how_to_get_it() {
    let folder = tempfile::tempdir().unwrap();
    let json = run(command().args(QUICK_BENCH).env("PATH", folder.path())).json();
    let results = json["results"].as_array().unwrap();
    assert_eq!(results.len(), 7);
    for result in results {
        assert!(result["best"].as_f64().unwrap() >= result["median"].as_f64().unwrap());
        assert!(result["median"].as_f64().unwrap() > 0.0);
        assert_eq!(result["instructions_per_piece"], Value::Null);
    }
    assert!(json["two_threads_ratio"].as_f64().unwrap() > 0.0);
    assert!(json["instructions_note"].as_str().unwrap().contains("apt-get install valgrind"), "{json}");
    assert_eq!(host("bench --no-instructions --seconds 0.001 --repeats 1").code, Some(0));
}

/// A stand-in for valgrind that runs the program and claims seven instructions a piece.
#[cfg(unix)]
#[test]
fn bench_takes_the_difference_of_two_counts() {
    use std::os::unix::fs::PermissionsExt;

    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("valgrind");
    let text = "#!/bin/sh\nshift 2\n\"$@\" || exit 1\nfor last; do :; done\n\
                echo \"==1== Collected : $((123456 + 7 * last))\" >&2\n";
    fs::write(&script, text).unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let json = run(command().args(QUICK_BENCH).env("PATH", folder.path())).json();
    assert_eq!(json["instructions_note"], Value::Null);
    for result in json["results"].as_array().unwrap() {
        let expected = if result["threads"] == 1 { Value::from(7.0) } else { Value::Null };
        assert_eq!(result["instructions_per_piece"], expected);
    }

    fs::write(&script, "#!/bin/sh\necho 'bad luck' >&2\nexit 3\n").unwrap();
    let json = run(command().args(QUICK_BENCH).env("PATH", folder.path())).json();
    assert!(json["instructions_note"].as_str().unwrap().contains("bad luck"), "{json}");
}

fn spawn(arguments: &str) -> Child {
    Command::new(env!("CARGO_BIN_EXE_host"))
        .args(arguments.split_whitespace())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("host runs")
}

/// Nobody reads any more: success, and no word about it.
fn ends_quietly(child: Child, what: &str) {
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{what}");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{what}");
}

#[test]
fn a_pipe_that_was_closed_is_success() {
    for arguments in [
        "--help",
        "evaluate --help",
        "evaluate --board 10x6 --games 2",
        "evaluate --json --board 10x6 --games 2",
        "evaluate --published --short",
        "players",
        "players --json",
        "players bcts",
        "players --features",
        "watch",
        "watch --json --max-pieces 100000",
        "bench --no-instructions --seconds 0.001 --repeats 1",
    ] {
        let mut child = spawn(arguments);
        drop(child.stdout.take());
        ends_quietly(child, arguments);
    }
}

#[test]
fn a_pipe_that_closes_after_a_line_is_success() {
    for arguments in ["inspect --json --features all", "inspect"] {
        let mut child = spawn(arguments);
        let mut stdin = child.stdin.take().unwrap();
        let writer = std::thread::spawn(move || {
            for vector in vectors() {
                // The program ends before it has read all.
                if writeln!(stdin, "{}", question(&vector)).is_err() {
                    break;
                }
            }
        });
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert!(line.ends_with('\n'));
        ends_quietly(child, arguments);
        writer.join().unwrap();
    }
}

#[test]
fn inspect_answers_each_position_at_once() {
    let mut child = spawn("inspect --json");
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    for vector in vectors().iter().take(3) {
        writeln!(stdin, "{}", question(vector)).unwrap();
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        assert!(line.contains("\"chosen\""));
    }
    drop(stdin);
    ends_quietly(child, "a dialogue");
}
