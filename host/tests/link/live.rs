//! What a device tells of itself as it happens: its game, its log; and how that ends.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use dropwise_core::{Controller, Game, Player, Rules, Speed};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process};
use rustix::termios::{Winsize, tcsetwinsize};
use serde_json::Value;

use crate::cable::{Cable, Faults, Pty};
use crate::desk::Desk;
use crate::host;

fn spawn(cable: &Cable, arguments: &str) -> Child {
    Command::new(env!("CARGO_BIN_EXE_host"))
        .args(arguments.split_whitespace())
        .args(["--port", &cable.path])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("host runs")
}

fn paused(seed: u64) -> Desk {
    use dropwise_core::wire::Handheld;
    let mut desk = Desk::new();
    desk.new_game(Some(seed), Default::default()).unwrap();
    desk
}

#[test]
fn watch_tells_the_moves_and_that_they_are_the_right_ones() {
    let cable = Cable::new(paused(7));
    let lines = host(&cable, "device watch --json --max-pieces 30").json_lines();
    let (game, moves) = lines.split_first().unwrap();
    assert_eq!((&game["event"], &game["player"], &game["seed"]), (&"game".into(), &"bcts".into(), &7.into()));
    assert_eq!(game["agrees"], true);
    assert_eq!(moves.len(), 30);
    let mut own = Game::new(Rules::default(), 7, 0);
    let controller = Controller::new(Player::known("bcts").unwrap());
    own.play(&controller, game["pieces_played"].as_u64().unwrap());
    for told in moves {
        let step = own.step(&controller).unwrap();
        assert_eq!((&told["event"], &told["number"]), (&"move".into(), &own.pieces().into()));
        assert_eq!(told["piece"], step.piece.to_string());
        assert_eq!(told["orientation"], step.placement.orientation);
        assert_eq!(told["column"], step.placement.column);
        assert_eq!(told["cells"].as_array().unwrap().len(), 4);
        assert_eq!((&told["lines"], &told["cleared"]), (&own.lines().into(), &step.landing.lines.into()));
        assert_eq!(told["height"], own.well().max_height());
        assert_eq!(told["digest"], format!("{:016x}", own.digest()));
    }
    let person = host(&cable, "device watch --max-pieces 3");
    assert_eq!((person.code, person.stderr.as_str()), (Some(0), ""));
    assert!(person.stdout.starts_with("bcts on 10x20, pieces uniform"), "{}", person.stdout);
    assert!(person.stdout.contains("; seed 7; joined after "), "{}", person.stdout);
    assert_eq!(person.stdout.matches("  orientation ").count(), 3);
    assert!(person.stdout.ends_with("3 pieces seen; same moves as this laptop\n"), "{}", person.stdout);
    assert_eq!(cable.pull().subscription, Default::default(), "nobody is told any more");
}

#[test]
fn watch_follows_games_to_their_end_at_full_speed() {
    let mut desk = Desk::new();
    desk.speed = Speed::Turbo;
    let cable = Cable::new(desk);
    assert_eq!(host(&cable, "device play --seed 3 --board 10x5").code, Some(0));
    let lines = host(&cable, "device watch --json --games 4").json_lines();
    let ends: Vec<&Value> = lines.iter().filter(|line| line["event"] == "end").collect();
    assert_eq!(ends.len(), 4);
    let controller = Controller::new(Player::known("bcts").unwrap());
    for end in ends {
        assert_eq!(end["agrees"], true, "{end}");
        let mut own = Game::new(Rules::new(5).unwrap(), end["seed"].as_u64().unwrap(), 0);
        own.play(&controller, u64::MAX);
        assert_eq!((&end["pieces_played"], &end["lines"]), (&own.pieces().into(), &own.lines().into()));
        assert_eq!(end["digest"], format!("{:016x}", own.digest()));
    }
    let person = host(&cable, "device watch --games 2").stdout;
    assert_eq!(person.matches(": over after ").count(), 2, "{person}");
    assert!(person.contains("2 games ended; same moves as this laptop"), "{person}");
}

#[test]
fn a_device_that_plays_otherwise_is_found_out() {
    let mut desk = Desk::new();
    (desk.clumsy, desk.paused) = (true, true);
    let cable = Cable::new(desk);
    assert_eq!(host(&cable, "device play --seed 11 --pause").code, Some(0));
    let watching = spawn(&cable, "device watch --max-pieces 12");
    let seen = goes_on(watching, |_| {}, &cable);
    assert_eq!(seen.code, Some(1), "{}", seen.text);
    assert!(seen.text.contains("DIFFERS from this laptop: piece 6 of seed 11 was "), "{}", seen.text);
}

/// What a program said, and how it ended.
struct Seen {
    code: Option<i32>,
    text: String,
    errors: String,
}

/// Waits for a first line, does something, lets the game go on, and reads to the end.
fn goes_on(mut child: Child, then: impl FnOnce(&Child), cable: &Cable) -> Seen {
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut text = String::new();
    stdout.read_line(&mut text).unwrap();
    cable.order(|desk| desk.paused = false);
    then(&child);
    stdout.read_to_string(&mut text).unwrap();
    let mut errors = String::new();
    child.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
    Seen { code: child.wait().unwrap().code(), text, errors }
}

fn interrupt(child: &Child) {
    let pid = Pid::from_raw(child.id() as i32).unwrap();
    kill_process(pid, Signal::INT).unwrap();
}

#[test]
fn another_player_in_the_middle_of_a_game_is_followed() {
    use dropwise_core::wire::{Handheld, When};
    let cable = Cable::new(paused(5));
    let watching = spawn(&cable, "device watch --max-pieces 400");
    let change = |_: &Child| cable.order(|desk| desk.select("dt20", When::Piece).unwrap());
    let seen = goes_on(watching, change, &cable);
    assert_eq!((seen.code, seen.errors.as_str()), (Some(0), ""), "{}", seen.text);
    assert!(seen.text.contains("\ndt20 on 10x20"), "{}", seen.text);
    assert!(seen.text.ends_with("400 pieces seen; same moves as this laptop\n"), "{}", seen.text);
    // Who comes now cannot know how the game came to this.
    let joined = host(&cable, "device watch --max-pieces 3");
    assert_eq!(joined.code, Some(0));
    assert!(joined.stdout.contains("not compared: this player did not play the game from its start"));
}

#[test]
fn ctrl_c_ends_a_watch_and_a_log() {
    for (arguments, told) in [
        ("device watch", "pieces seen; same moves as this laptop\n"),
        ("device log", "mark pieces=500\n"),
        ("device watch --statistics", "pieces/s"),
    ] {
        let cable = Cable::new(Desk::new());
        let seen = goes_on(spawn(&cable, arguments), interrupt, &cable);
        assert_eq!((seen.code, seen.errors.as_str()), (Some(0), ""), "{arguments}");
        assert!(seen.text.contains(told), "{}", seen.text);
        assert_eq!(cable.pull().subscription, Default::default(), "{arguments}");
    }
}

#[test]
fn a_reader_that_has_seen_enough_is_success() {
    for arguments in ["device watch", "device watch --json", "device log", "device info", "device slots"] {
        let cable = Cable::new(Desk::new());
        let mut child = spawn(&cable, arguments);
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{arguments}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{arguments}");
    }
}

#[test]
fn a_cable_pulled_while_watching_is_told() {
    for arguments in ["device watch", "device log"] {
        let cable = Cable::new(Desk::new());
        let mut child = spawn(&cable, arguments);
        let mut line = String::new();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        stdout.read_line(&mut line).unwrap();
        cable.pull();
        stdout.read_to_string(&mut line).unwrap();
        let output = child.wait_with_output().unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(3), "{told}");
        assert!(told.contains("the cable was pulled"), "{told}");
    }
}

#[test]
fn the_log_begins_with_a_crash() {
    let mut desk = Desk::new();
    desk.crash = Some(("stack overflow", "core 1", ""));
    let cable = Cable::new(desk);
    let seen = goes_on(spawn(&cable, "device log"), interrupt, &cable);
    assert!(seen.text.starts_with("It crashed and started again: stack overflow: core 1\n"), "{}", seen.text);
    let seen = goes_on(spawn(&cable, "device log --json"), interrupt, &cable);
    assert!(seen.text.starts_with(r#"{"crash":{"kind":"stack overflow","#), "{}", seen.text);
}

#[test]
fn statistics_come_as_lines_and_as_objects() {
    let cable = Cable::new(Desk::new());
    let run = host(&cable, "device watch --statistics --seconds 0.3 --json");
    let lines = run.json_lines();
    assert!(!lines.is_empty());
    assert!(lines.iter().all(|line| line["player"] == "bcts" && line["pieces_per_second"] == 812.5));
}

/// A device that does not get rid of its moves tells the board instead; the game is followed all the same.
#[test]
fn moves_that_were_not_told_are_replayed() {
    let mut odd = 0;
    let mangle = move |frame: &[u8]| {
        // Every answer is followed by an event that nobody knows, and by noise.
        odd += 1;
        if odd > 3 { [frame, &[2, 9, 0, 1, 2, 0]].concat() } else { frame.to_vec() }
    };
    let mut desk = Desk::new();
    desk.speed = Speed::Turbo;
    let cable = Cable::with(desk, Faults { mangle: Some(Box::new(mangle)), ..Faults::default() });
    let mut child = spawn(&cable, "device watch --max-pieces 20000");
    // Nobody reads for a while: the pipe and the port fill up.
    std::thread::sleep(Duration::from_millis(500));
    let mut text = String::new();
    child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(text.contains("not told in time; now "), "the port did not fill up");
    assert!(text.ends_with("same moves as this laptop\n"), "{}", &text[text.len() - 300..]);
}

/// On a terminal the game is drawn; keys go to the device.
#[test]
fn a_terminal_shows_the_game_and_takes_keys() {
    let cable = Cable::new(paused(7));
    let mut terminal = Pty::open();
    let size = Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(&terminal.slave, size).unwrap();
    let stdio = || Stdio::from(terminal.slave.try_clone().unwrap());
    let mut child = Command::new(env!("CARGO_BIN_EXE_host"))
        .args(["device", "watch", "--port", &cable.path])
        .env("TERM", "xterm")
        .stdin(stdio())
        .stdout(stdio())
        .stderr(stdio())
        .spawn()
        .expect("host runs");
    let mut press = |key: &str, seen: &dyn Fn(&str) -> bool| {
        terminal.master.write_all(key.as_bytes()).unwrap();
        let mut shown = String::new();
        while !seen(&shown) {
            let mut ready = [PollFd::new(&terminal.master, PollFlags::IN)];
            let patience = Timespec { tv_sec: 0, tv_nsec: 10_000_000 };
            if poll(&mut ready, Some(&patience)) == Ok(1) {
                let mut bytes = [0; 4096];
                let count = terminal.master.read(&mut bytes).unwrap();
                shown.push_str(&String::from_utf8_lossy(&bytes[..count]));
            }
        }
    };
    // A letter that stands there already is not written again, so only words in blank places are awaited.
    press("", &|shown| shown.contains("laptop"));
    press(" ", &|_| cable.ask(|desk| desk.paused));
    press("+", &|_| cable.ask(|desk| desk.speed == Speed::Fast));
    press("?", &|shown| shown.contains("closes"));
    press("x", &|_| true);
    press("q", &|shown| shown.contains("pieces seen; same moves as this laptop"));
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let desk = cable.pull();
    assert_eq!((desk.paused, desk.speed, desk.subscription), (true, Speed::Fast, Default::default()));
}
