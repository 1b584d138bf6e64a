//! Every command, as a person and as a program uses it.

use dropwise_core::player::KNOWN;
use dropwise_core::{Controller, Game, PieceSource, Player, Rules, Set, Speed};
use host::weights::Weights;
use serde_json::{Value, json};

use crate::cable::Cable;
use crate::common::{command, run};
use crate::desk::{Desk, ID};
use crate::host;

fn mine() -> Player {
    Player::new(Set::Dt, &[-4000, 2048, -2048, -3000, 100, -2048, -500, -9000, 1234]).unwrap()
}

/// A weights file of a player, in a folder of its own.
pub(crate) fn file(name: &str, player: Player) -> (tempfile::TempDir, String) {
    let units = player.weights().iter().zip(player.set().features());
    let real: Vec<f64> =
        units.map(|(&weight, feature)| f64::from(weight) * f64::from(feature.unit())).collect();
    let weights = Weights { name: name.into(), real, player, ..Weights::from(&KNOWN[0]) };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("weights.toml");
    weights.write(&path).unwrap();
    let path = path.to_str().unwrap().to_owned();
    (folder, path)
}

#[test]
fn list_finds_a_port_that_is_named() {
    let cable = Cable::new(Desk::new());
    let json = host(&cable, "device list --json").json();
    let expected = json!({ "port": cable.path, "board": "desk", "serial": ID, "firmware": "1.2.3" });
    assert_eq!(json, expected);
    let person = host(&cable, "device list");
    assert_eq!(person.stdout, format!("{}  desk  serial number {ID}  firmware 1.2.3\n", cable.path));
    let by_variable = run(command().args(["device", "list", "--json"]).env("DROPWISE_PORT", &cable.path));
    assert_eq!(by_variable.json(), expected);
}

#[test]
fn the_port_is_the_argument_before_the_variable() {
    let cable = Cable::new(Desk::new());
    let info = |port: Option<&str>, variable: &str| {
        let mut command = command();
        command.args(["device", "info", "--json"]).env("DROPWISE_PORT", variable);
        run(command.args(port.map(|port| format!("--port={port}"))))
    };
    assert_eq!(info(None, &cable.path).json()["device"]["port"], cable.path);
    assert_eq!(info(Some(&cable.path), "/no/such/port").json()["device"]["port"], cable.path);
    assert_eq!(info(Some("/no/such/port"), &cable.path).code, Some(3));
    assert_eq!(info(None, "/no/such/port").code, Some(3));
    // Set to nothing is not set: the search finds no device here.
    assert!(info(None, "").stderr.contains("no device found"));
}

#[test]
fn info_tells_who_it_is_and_how_the_game_stands() {
    let mut desk = Desk::new();
    desk.crash = Some(("panic", "index out of bounds", "think.rs:12"));
    desk.paused = true;
    let cable = Cable::new(desk);
    let json = host(&cable, "device info --json").json();
    assert_eq!(json["device"]["serial"], ID);
    assert_eq!((&json["protocol"], &json["weights_format"]), (&1.into(), &1.into()));
    assert_eq!(json["sets"].as_array().unwrap().len(), Set::ALL.len());
    assert_eq!(
        (&json["capacity"], &json["stored"], &json["selected"]),
        (&3.into(), &0.into(), &"bcts".into())
    );
    let crash = json!({ "kind": "panic", "message": "index out of bounds", "place": "think.rs:12" });
    assert_eq!(json["crash"], crash);
    let status = &json["status"];
    assert_eq!((&status["player"], &status["seed"]), (&"bcts".into(), &41.into()));
    assert_eq!(status["board"], json!({ "width": 10, "height": 20 }));
    assert_eq!((&status["pieces"], &status["overflow"]), (&"uniform".into(), &"before".into()));
    assert_eq!((&status["speed"], &status["paused"]), (&"watch".into(), &true.into()));
    assert_eq!((&status["pieces_per_second"], &status["best"]), (&812.5.into(), &Value::Null));

    let person = host(&cable, "device info");
    for part in [
        "desk, serial number E660583883834B27, on /dev/pts/",
        "1.2.3, protocol 1",
        "10 built in, 0 stored (room for 3)",
        "d, bcts, b, bd, bdu, dt, dt+rbf, cs3243, flom-robinson, bodoia",
        "bcts on 10x20, pieces uniform, overflow tested before clearing",
        "seed 41,",
        "watch, paused, 812.5 pieces per second",
        "none finished yet",
        "panic: index out of bounds at think.rs:12",
    ] {
        assert!(person.stdout.contains(part), "{part}: {}", person.stdout);
    }
}

#[test]
fn a_player_is_sent_listed_selected_pulled_and_deleted() {
    let (folder, path) = file("mine", mine());
    let cable = Cable::new(Desk::new());
    let sent = host(&cable, &format!("flash {path}"));
    assert_eq!((sent.code, sent.stderr.as_str()), (Some(0), ""));
    assert_eq!(
        sent.stdout,
        format!(
            "mine (set dt, 9 weights) is on desk {ID}, read back and the same.\nThe device goes on playing bcts; `host \
             device select mine` lets mine play.\n"
        )
    );
    // What is there already is not written again.
    let again = host(&cable, &format!("flash {path} --play --when game --json")).json();
    let digest = format!("{:016x}", mine().digest());
    assert_eq!(
        (&again["slot"], &again["set"], &again["digest"]),
        (&"mine".into(), &"dt".into(), &json!(digest))
    );
    assert_eq!((&again["written"], &again["verified"]), (&false.into(), &true.into()));
    assert_eq!(again["plays"], json!({ "name": "mine", "digest": digest, "from": "game" }));

    let slots = host(&cable, "device slots --json").json_lines();
    assert_eq!(slots.len(), KNOWN.len() + 1);
    let expected =
        json!({ "name": "mine", "set": "dt", "digest": digest, "built_in": false, "selected": true });
    assert_eq!(slots.last(), Some(&expected));
    let person = host(&cable, "device slots").stdout;
    assert!(person.contains(&format!("* mine         dt             {digest}  stored\n")), "{person}");
    assert!(person.contains("  bcts         bcts") && person.contains("1 of 3 places"), "{person}");

    let selected = host(&cable, "device select dt20 --json").json();
    assert_eq!((&selected["selected"], &selected["from"]), (&"dt20".into(), &"piece".into()));
    let person = host(&cable, "device select mine --when game").stdout;
    assert_eq!(person, "mine plays from the next game on, and after a restart.\n");

    let out = folder.path().join("pulled.toml");
    let pull = |more: &[&str]| {
        run(command().args(["device", "pull", "mine", "--port", &cable.path, "--out"]).arg(&out).args(more))
    };
    let pulled = pull(&["--json"]).json();
    assert_eq!((&pulled["digest"], &pulled["saved"]), (&json!(digest), &json!(out.to_str().unwrap())));
    let weights = Weights::read(&out).unwrap();
    assert_eq!((weights.name.as_str(), weights.player), ("mine", mine()));
    assert!(weights.provenance.method.contains("device"), "{weights}");
    assert!(weights.provenance.note.unwrap().contains(ID));
    let there = pull(&[]);
    assert_eq!(there.code, Some(2));
    assert!(there.stderr.contains("--force"), "{}", there.stderr);
    assert_eq!(pull(&["--force"]).stdout, format!("Saved mine (set dt, 9 weights) to {}.\n", out.display()));
    // And back: nothing to write.
    let back = host(&cable, &format!("flash {} --json", out.display())).json();
    assert_eq!((&back["written"], &back["digest"]), (&false.into(), &json!(digest)));

    let deleted = host(&cable, "device delete mine");
    assert_eq!(deleted.stdout, "mine is deleted.\n");
    assert_eq!(host(&cable, "device slots --json").json_lines().len(), KNOWN.len());
    let desk = cable.pull();
    assert_eq!((desk.stored.len(), desk.selected.as_str()), (0, "bcts"));
}

#[test]
fn every_known_player_can_be_sent_and_pulled() {
    let folder = tempfile::tempdir().unwrap();
    let cable = Cable::new(Desk::new());
    for known in &KNOWN {
        host(&cable, &format!("flash {} --slot copy", known.name))
            .code
            .filter(|&code| code == 0)
            .expect("sent");
        let out = folder.path().join(known.name);
        let pulled = host(&cable, &format!("device pull copy --json --out {}", out.display())).json();
        assert_eq!(pulled["digest"], format!("{:016x}", known.player.digest()));
        assert_eq!(Weights::read(&out).unwrap().player, known.player);
    }
}

#[test]
fn a_known_player_that_is_built_in_need_not_be_sent() {
    let cable = Cable::new(Desk::new());
    let sent = host(&cable, "flash dt20 --play");
    assert_eq!(
        sent.stdout,
        format!(
            "dt20 (set dt, 9 weights) was already on desk {ID}, read back and the same.\nThe device plays dt20 from the \
             next piece on, and after a restart.\n"
        )
    );
    let desk = cable.pull();
    assert_eq!((desk.stored.len(), desk.selected.as_str()), (0, "dt20"));
}

#[test]
fn a_player_that_plays_is_replaced_from_the_next_game_on() {
    let (_folder, path) = file("mine", mine());
    let mut desk = Desk::new();
    desk.stored.push(("mine".into(), KNOWN[0].player));
    desk.selected = "mine".into();
    let cable = Cable::new(desk);
    let sent = host(&cable, &format!("flash {path}"));
    assert!(sent.stdout.contains("plays mine from the next game on"), "{}", sent.stdout);
    assert_eq!(cable.pull().stored, [("mine".into(), mine())]);
}

/// The digest that core has after so many pieces.
fn replayed(seed: u64, rules: Rules<'static>, pieces: u64) -> (u64, String) {
    let mut game = Game::new(rules, seed, 0);
    game.play(&Controller::new(Player::known("bcts").unwrap()), pieces);
    (game.lines(), format!("{:016x}", game.digest()))
}

#[test]
fn play_starts_a_game_and_steps_through_it() {
    let cable = Cable::new(Desk::new());
    let json = host(&cable, "device play --seed 7 --step 25 --json").json();
    let status = &json["status"];
    let (lines, digest) = replayed(7, Rules::default(), 25);
    assert_eq!((&status["seed"], &status["pieces_played"]), (&7.into(), &25.into()));
    assert_eq!((&status["lines"], &status["digest"]), (&lines.into(), &digest.into()));
    assert_eq!(status["paused"], true);
    let more = host(&cable, "device play --continue --step 5 --json").json();
    assert_eq!(more["status"]["pieces_played"], 30);

    let hard =
        "device play --seed 9 --board 10x12 --pieces hard:4 --overflow after --speed fast --step 4 --json";
    let status = host(&cable, hard).json()["status"].clone();
    let mut rules = Rules::new(12).unwrap();
    (rules.pieces, rules.overflow) = (PieceSource::Hard(4), dropwise_core::Overflow::After);
    assert_eq!(status["digest"], replayed(9, rules, 4).1);
    assert_eq!((&status["board"]["height"], &status["pieces"]), (&12.into(), &"hard:4".into()));
    assert_eq!((&status["overflow"], &status["speed"]), (&"after".into(), &"fast".into()));

    let person = host(&cable, "device play --continue --pause --speed watch").stdout;
    assert!(person.contains("bcts on 10x12, pieces hard:4, overflow tested after clearing"), "{person}");
    assert!(person.contains("watch, paused"), "{person}");
    let free = host(&cable, "device play --continue --json").json();
    assert_eq!(free["status"]["paused"], false);
    let random = host(&cable, "device play --random --pause --json").json();
    assert_eq!((&random["status"]["seed"], &random["status"]["pieces_played"]), (&1009.into(), &0.into()));
    let default = host(&cable, "device play --pause --json").json();
    assert_eq!(default["status"]["seed"], 1, "the seed that every command has");
    assert_eq!(cable.pull().speed, Speed::Watch);
}

#[test]
fn bench_compares_with_this_laptop() {
    let cable = Cable::new(Desk::new());
    let json = host(&cable, "device bench --pieces 500 --json").json();
    let (lines, digest) = replayed(1, Rules::default(), 500);
    assert_eq!((&json["pieces_played"], &json["lines"]), (&500.into(), &lines.into()));
    assert_eq!((&json["digest"], &json["agrees"]), (&digest.into(), &true.into()));
    assert_eq!((&json["seconds"], &json["pieces_per_second"]), (&2.0.into(), &250.0.into()));
    let person = host(&cable, "device bench --pieces 500").stdout;
    assert_eq!(
        person,
        "bcts: 250 pieces per second (500 pieces in 2.000 s), the same moves as on this laptop\n"
    );
    let mut desk = Desk::new();
    desk.clumsy = true;
    let cable = Cable::new(desk);
    let wrong = host(&cable, "device bench --pieces 500");
    assert_eq!(wrong.code, Some(1));
    assert!(wrong.stdout.contains("NOT the moves of this laptop"), "{}", wrong.stdout);
}

#[test]
fn reset_waits_until_the_device_is_back() {
    let cable = Cable::new(Desk::new());
    let run = host(&cable, "device reset");
    assert_eq!(
        (run.code, run.stdout.as_str()),
        (Some(0), "The device has started again.\n"),
        "{}",
        run.stderr
    );
    let json = host(&cable, "device reset --json").json();
    assert_eq!(json, json!({ "port": cable.path, "bootsel": false }));
    assert_eq!(cable.pull().reset, None);
}

#[test]
fn reset_to_the_boot_loader_takes_the_device_away() {
    let cable = Cable::new(Desk::new());
    let run = host(&cable, "device reset --bootsel");
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(run.stdout.contains("RPI-RP2"), "{}", run.stdout);
    assert_eq!(cable.pull().reset, Some(true));
}

#[test]
fn help_has_examples_and_exit_codes() {
    let commands =
        ["list", "info", "slots", "pull", "select", "delete", "play", "watch", "bench", "log", "reset"];
    let commands = commands.map(|name| format!("device {name}"));
    for name in commands.iter().map(String::as_str).chain(["flash", "device"]) {
        let run = run(command().args(name.split(' ')).arg("--help"));
        assert_eq!(run.code, Some(0));
        for part in ["Examples:", "--json", "--seed", "--port", "--device", "--timeout"] {
            assert!(run.stdout.contains(part), "{name}: {part}");
        }
        assert!(!run.stdout.contains('\x1b'), "no colours in a pipe");
    }
}
