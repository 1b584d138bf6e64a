//! The real `host` command and the real firmware, over a serial port: what a user types, and what comes of it.

use std::io::{self, BufRead, BufReader};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use crate::{FIRST, alone, tests};
use dropwise_core::game::digest;
use dropwise_core::player::KNOWN;
use dropwise_core::{Controller, Game, Player, Rules};
use dropwise_emulator::board::UNIQUE_ID;
use dropwise_emulator::{Board, Device, Port, host};
use libtest_mimic::Trial;
use serde_json::Value;

pub(crate) fn tests() -> Vec<Trial> {
    alone(tests![
        what_was_learned_on_the_laptop_plays_on_the_device,
        players_stay_through_a_reset_until_they_are_deleted,
        the_game_is_seen_live_and_is_the_right_one
    ])
}

/// A device on a desk, and a folder to work in.
struct Desk {
    port: Port,
    folder: tempfile::TempDir,
}

/// What a command said.
struct Said {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

impl Said {
    #[track_caller]
    fn lines(&self) -> Vec<Value> {
        assert_eq!(self.code, Some(0), "{}{}", self.stdout, self.stderr);
        let object = |line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        self.stdout.lines().map(object).collect()
    }

    #[track_caller]
    fn json(&self) -> Value {
        let [object] = <[Value; 1]>::try_from(self.lines()).expect("one object");
        object
    }
}

impl Desk {
    fn new(board: Board) -> Desk {
        let mut device = Device::start(board);
        device.expect_usb(Duration::from_secs(1));
        let folder = tempfile::tempdir().expect("a folder");
        let port = Port::new(device, &folder.path().join("port"));
        Desk { port, folder }
    }

    /// Words separated by spaces, to be run in the folder, with as much time as a busy machine needs.
    fn command(&mut self, words: &str) -> Command {
        let mut command = Command::new(host());
        command.args(words.split_whitespace()).current_dir(self.folder.path()).stdin(Stdio::null());
        if words.starts_with("device") || words.starts_with("flash") {
            command.args(["--timeout", "60"]).arg("--port").arg(self.port.path());
        }
        command
    }

    fn host(&mut self, words: &str) -> Said {
        let output = self.command(words).output().expect("host runs");
        let text = |bytes| String::from_utf8(bytes).expect("host writes UTF-8");
        Said { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }

    /// Starts a command and waits for its first line.
    fn start(&mut self, words: &str) -> (Child, BufReader<ChildStdout>, String) {
        let mut command = self.command(words);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("host runs");
        let mut stdout = BufReader::new(child.stdout.take().expect("it is piped"));
        let mut line = String::new();
        stdout.read_line(&mut line).expect("a line");
        (child, stdout, line)
    }
}

/// How a command ends that was started.
fn end(child: Child) -> (Option<i32>, String) {
    let output = child.wait_with_output().expect("it ends");
    (output.status.code(), String::from_utf8(output.stderr).expect("host writes UTF-8"))
}

/// What core plays: lines and digest after so many pieces.
fn replayed(player: Player, seed: u64, rules: Rules<'static>, pieces: u64) -> (u64, String) {
    let mut game = Game::new(rules, seed, 0);
    game.play(&Controller::on_device(player, game.rules().height()), pieces);
    (game.lines(), format!("{:016x}", game.digest()))
}

fn known(name: &str) -> Player {
    Player::known(name).expect("a known player")
}

fn what_was_learned_on_the_laptop_plays_on_the_device() {
    let mut desk = Desk::new(Board::PicoOled);
    let trained = desk.host(
        "train --name mine --seed 3 --iterations 3 --population 6 --games 4 --board 10x8 --curve-games 2 \
         --select-games 1 --score-games 4 --select-board 10x8",
    );
    assert_eq!(trained.code, Some(0), "{}", trained.stderr);
    let file = "runs/mine/weights.toml";
    let player = desk.host(&format!("players {file} --json")).json();

    let sent = desk.host(&format!("flash {file} --slot mine --play --json")).json();
    assert_eq!((&sent["written"], &sent["verified"]), (&true.into(), &true.into()));
    assert_eq!(sent["plays"]["name"], "mine");
    let again = desk.host(&format!("flash {file} --slot mine --play"));
    assert!(again.stdout.contains("was already on pico-oled"), "{}", again.stdout);
    let slots = desk.host("device slots --json").lines();
    let mine = slots.iter().find(|slot| slot["name"] == "mine").expect("it is there");
    assert_eq!((&mine["selected"], &mine["digest"]), (&true.into(), &sent["digest"]));
    assert_eq!(slots.len(), KNOWN.len() + 1);

    // The same integers come back.
    assert_eq!(desk.host("device pull mine --out pulled.toml --json").json()["digest"], sent["digest"]);
    let pulled = desk.host("players pulled.toml --json").json();
    let integers = |player: &Value| -> Vec<i64> {
        let weights = player["weights"].as_array().expect("weights").iter();
        weights.map(|weight| weight["quantised"].as_i64().expect("an integer")).collect()
    };
    assert_eq!(integers(&pulled), integers(&player));

    // Piece by piece, the game of the laptop.
    let stepped = desk.host("device play --seed 12 --board 10x12 --pieces hard:2 --step 30 --json").json();
    let own = "watch --json --seed 12 --board 10x12 --pieces hard:2 --max-pieces 30 --player";
    let own = desk.host(&format!("{own} {file}")).lines();
    assert_eq!(stepped["status"]["pieces_played"], 30);
    assert_eq!(stepped["status"]["digest"], own.last().expect("30 moves")["digest"]);

    // And a whole game, at full speed.
    desk.host("device play --seed 5 --board 10x4 --speed turbo --json").json();
    let watched = desk.host("device watch --games 1 --json").lines();
    let end = watched.iter().find(|line| line["event"] == "end").expect("a game ends");
    assert_eq!(end["agrees"], true);
    let evaluate = format!("evaluate --json --board 10x4 --games 1 --seed {} --player {file}", end["seed"]);
    let evaluated = desk.host(&evaluate).json();
    let game = u64::from_str_radix(end["digest"].as_str().expect("a digest"), 16).expect("a number");
    assert_eq!(evaluated["digest"], format!("{:016x}", digest([game])));
    assert_eq!(evaluated["lines"]["mean"].as_f64(), end["lines"].as_f64());
    assert_eq!(evaluated["pieces_played"], end["pieces_played"]);
    desk.port.look();
}

fn players_stay_through_a_reset_until_they_are_deleted() {
    let mut desk = Desk::new(Board::Picosystem);
    let id: String = UNIQUE_ID.iter().map(|byte| format!("{byte:02x}")).collect();
    let listed = desk.host("device list --json").json();
    assert_eq!((&listed["board"], &listed["serial"]), (&"picosystem".into(), &id.into()));

    desk.host("flash bdu --slot copy --json").json();
    assert_eq!(desk.host("device info --json").json()["status"]["player"], FIRST);
    let selected = desk.host("device select copy --when piece");
    assert_eq!(selected.stdout, "copy plays from the next piece on, and after a restart.\n");
    assert_eq!(desk.host("device info --json").json()["status"]["player"], "copy");

    let reset = desk.host("device reset");
    assert_eq!(
        (reset.code, reset.stdout.as_str()),
        (Some(0), "The device has started again.\n"),
        "{}",
        reset.stderr
    );
    let info = desk.host("device info --json").json();
    assert_eq!(
        (&info["stored"], &info["selected"], &info["crash"]),
        (&1.into(), &"copy".into(), &Value::Null)
    );
    assert_eq!(info["status"]["player"], "copy");
    assert_eq!(info["status"]["player_digest"], format!("{:016x}", known("bdu").digest()));

    assert_eq!(desk.host("device delete copy").stdout, "copy is deleted.\n");
    let refused = desk.host("device delete copy");
    assert_eq!(refused.code, Some(1));
    assert!(refused.stderr.contains("the device has no player 'copy'"), "{}", refused.stderr);
    let refused = desk.host("device delete bcts");
    assert_eq!(refused.code, Some(1));
    assert!(refused.stderr.contains("came with the firmware"), "{}", refused.stderr);
    assert_eq!(desk.host("device info --json").json()["stored"], 0);

    let boot = desk.host("device reset --bootsel");
    assert_eq!(boot.code, Some(0), "{}", boot.stderr);
    assert!(boot.stdout.contains("RPI-RP2"), "{}", boot.stdout);
    desk.port.expect("in its boot loader", Device::is_in_bootsel);
}

fn the_game_is_seen_live_and_is_the_right_one() {
    let mut desk = Desk::new(Board::PicoOled);
    // What it plays before anybody asks for anything.
    let watched = desk.host("device watch --max-pieces 2");
    assert_eq!(watched.code, Some(0), "{}", watched.stderr);
    assert!(watched.stdout.ends_with("2 pieces seen; same moves as this laptop\n"), "{}", watched.stdout);

    let bench = desk.host("device bench --pieces 300 --json").json();
    let (lines, digest) = replayed(known(FIRST), 1, Rules::default(), 300);
    assert_eq!((&bench["pieces_played"], &bench["lines"]), (&300.into(), &lines.into()));
    assert_eq!((&bench["digest"], &bench["agrees"]), (&digest.into(), &true.into()));

    desk.host("device play --seed 7 --speed turbo --json").json();
    let moves = desk.host("device watch --seconds 1 --json").lines();
    assert!(moves.iter().any(|line| line["event"] == "move"), "a second without a move");
    let last = moves.iter().rfind(|line| line["event"] == "move").expect("a move");
    let (lines, digest) =
        replayed(known(FIRST), 7, Rules::default(), last["number"].as_u64().expect("a number"));
    assert_eq!((&last["lines"], &last["digest"]), (&lines.into(), &digest.into()));
    let statistics = desk.host("device watch --statistics --seconds 2 --json").lines();
    assert!(statistics.iter().any(|line| line["seed"] == 7 && line["speed"] == "turbo"), "{statistics:?}");

    // Whoever has read enough of the log closes it, also where no line follows the last: the game goes on for hours.
    let (child, mut stdout, mut line) = desk.start("device log --json");
    loop {
        let said: Value = serde_json::from_str(&line).expect("an object");
        assert!(said["uptime"].is_number(), "{line}");
        if said["text"].as_str().expect("a text") == "paused=false" {
            break;
        }
        line.clear();
        stdout.read_line(&mut line).expect("a line");
    }
    drop(stdout);
    assert_eq!(end(child), (Some(0), String::new()));

    let (child, mut stdout, _) = desk.start("device watch");
    desk.port.look();
    drop(desk);
    io::copy(&mut stdout, &mut io::sink()).expect("the rest");
    let (code, told) = end(child);
    assert_eq!(code, Some(3), "{told}");
    assert!(told.contains("the cable was pulled"), "{told}");
}
