//! The same game on the device and on the host: pieces, choices, lines, by digest.

use std::time::Duration;

use dropwise_core::{Controller, Player, Rules};
use dropwise_emulator::{Board, Device, Log};
use host::arena::{Arena, Bout, Progress, Score};
use libtest_mimic::Trial;

use crate::{
    Action, BOTH, FIRST, SECOND, act, act_and_see, first_game, go_turbo, known, ms, on_boards, tests,
};

pub(crate) fn tests() -> Vec<Trial> {
    on_boards(BOTH, tests![twenty_seeds_of_three_players, a_long_game, watched_game, lost_games])
}

const GAMES: usize = 20;
const PIECES: u64 = 500;
const LONG: u64 = 20_000;

/// The game that the log tells of, played by the host.
fn replay(player: Player, game: &Log, pieces: u64) -> Score {
    let bout = Bout {
        controllers: &[Controller::on_device(player, 20)],
        rules: Rules::default(),
        seed: game.number("seed"),
        games: 0..1,
        max_pieces: pieces,
        climbers: None,
    };
    let arena = Arena::new(Some(1)).unwrap_or_else(|error| panic!("no arena: {error:?}"));
    arena.play(&bout, &Progress::default())[0][0]
}

#[track_caller]
fn assert_same(game: &Log, told: &Log, replayed: &Score) {
    let device = (told.number("pieces"), told.number("lines"), told.hexadecimal("digest"));
    let here = (replayed.pieces, replayed.lines, replayed.digest);
    assert_eq!(device, here, "pieces, lines and digest of «{game}»");
}

/// Runs until so many pieces of a game are placed.
#[track_caller]
fn mark(device: &mut Device, from: usize, pieces: u64, limit: Duration) -> Log {
    let text = format!("mark pieces={pieces} ");
    match device.find_log(from, limit, |log| log.text.starts_with(&text)) {
        Some(log) => log,
        None => panic!("no «{text}» within {limit:?}; the log:\n{}", device.story()),
    }
}

fn twenty_seeds_of_three_players(board: Board) {
    let mut device = Device::start(board);
    let mut game = first_game(&mut device);
    go_turbo(&mut device);
    for name in [FIRST, "dt20", "dellacherie"] {
        if name != FIRST {
            act_and_see(&mut device, Action::Player, &format!("player={name}"));
            game = last_game(&device);
        }
        for played in 1..=GAMES {
            assert_eq!(game.value("player"), Some(name));
            let from = device.logs().iter().rposition(|log| *log == game).unwrap_or(0);
            let told = mark(&mut device, from, PIECES, 2 * SECOND);
            assert_same(&game, &told, &replay(known(name), &game, PIECES));
            if played < GAMES {
                // Paused, because a long press takes its time.
                act_and_see(&mut device, Action::Pause, "paused=true");
                act(&mut device, Action::NewGame);
                act_and_see(&mut device, Action::Pause, "paused=false");
                game = last_game(&device);
            }
        }
    }
}

fn last_game(device: &Device) -> Log {
    let mut games = device.logs().iter().filter(|log| log.text.starts_with("game "));
    games.next_back().cloned().unwrap_or_else(|| panic!("no game has begun"))
}

fn a_long_game(board: Board) {
    let mut device = Device::seeded(board, 5);
    let game = first_game(&mut device);
    go_turbo(&mut device);
    let told = mark(&mut device, 0, LONG, 10 * SECOND);
    assert_same(&game, &told, &replay(known(FIRST), &game, LONG));
}

/// At watch and fast speed the pieces go another way through the firmware, to the same places.
fn watched_game(board: Board) {
    let mut device = Device::seeded(board, 6);
    let game = first_game(&mut device);
    device.run(3 * SECOND);
    act_and_see(&mut device, Action::Speed, "speed=fast");
    let told = mark(&mut device, 0, PIECES, 30 * SECOND);
    assert_same(&game, &told, &replay(known(FIRST), &game, PIECES));
}

/// A player with the first one's weights the wrong way round loses quickly: each lost game is told, shown and followed by the next.
fn lost_games(board: Board) {
    let mut device = Device::off(board, 7);
    let loser = spoil_first(&mut device);
    device.power_on();
    let mut game = first_game(&mut device);
    act_and_see(&mut device, Action::Speed, "speed=fast");
    for _ in 0..3 {
        let end = device.expect_log(30 * SECOND, "end ");
        assert_eq!(end.number("seed"), game.number("seed"));
        assert_same(&game, &end, &replay(loser, &game, u64::MAX));
        let next = device.expect_log(3 * SECOND, "game ");
        let applause = next.uptime - end.uptime;
        assert!((ms(1000)..ms(3000)).contains(&applause), "the score is shown for {applause:?}");
        game = next;
    }
}

/// Turns the first player's weights round in the flash, wherever they stand.
pub(crate) fn spoil_first(device: &mut Device) -> Player {
    let good = known(FIRST);
    let bad: Vec<i16> = good.weights().iter().map(|weight| -weight).collect();
    let bytes = |weights: &[i16]| weights.iter().flat_map(|weight| weight.to_le_bytes()).collect::<Vec<u8>>();
    let (from, to) = (bytes(good.weights()), bytes(&bad));
    let mut flash = device.read_flash(0, 1024 * 1024);
    let places: Vec<usize> =
        (0..flash.len() - from.len()).filter(|&i| flash[i..].starts_with(&from)).collect();
    assert!(!places.is_empty(), "the weights of {FIRST} are not in the flash");
    for place in places {
        flash[place..place + to.len()].copy_from_slice(&to);
    }
    device.write_flash(0, &flash);
    match Player::new(good.set(), &bad) {
        Ok(player) => player,
        Err(error) => panic!("{error}"),
    }
}
