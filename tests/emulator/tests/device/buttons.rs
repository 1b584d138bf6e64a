//! Every button does what docs/boards.md says, once a press.

use dropwise_core::player::KNOWN;
use dropwise_emulator::{Board, Button, Device};
use libtest_mimic::Trial;

use crate::{Action, BOTH, FIRST, act, act_and_see, first_game, ms, on_boards, tests};

pub(crate) fn tests() -> Vec<Trial> {
    on_boards(
        BOTH,
        tests![
            pause_and_go_on,
            step_places_one_piece,
            speeds_go_round,
            pages_go_round,
            new_game_has_another_seed,
            players_go_round,
            bouncing_contacts_act_once
        ],
    )
}

/// The players in the order of the button.
pub(crate) const PLAYERS: [&str; 10] =
    [FIRST, "dt20", "dellacherie", "bcts", "dt10", "rvce", "cs3243", "bdu", "cma-d", "champion10"];

fn pieces(device: &mut Device) -> u32 {
    device.word("DROPWISE_PIECES")
}

fn pause_and_go_on(board: Board) {
    let mut device = Device::start(board);
    first_game(&mut device);
    act_and_see(&mut device, Action::Pause, "paused=true");
    let (before, shown) = (pieces(&mut device), device.picture());
    device.run(ms(3000));
    assert_eq!(pieces(&mut device), before);
    assert!(device.picture() == shown, "a paused game stands still");
    act_and_see(&mut device, Action::Pause, "paused=false");
    device.run(ms(3000));
    assert!(pieces(&mut device) > before);
}

fn step_places_one_piece(board: Board) {
    let mut device = Device::start(board);
    first_game(&mut device);
    if board == Board::PicoOled {
        act_and_see(&mut device, Action::Pause, "paused=true");
    } else {
        let before = pieces(&mut device);
        act_and_see(&mut device, Action::Step, "paused=true");
        assert_eq!(pieces(&mut device), before, "the first press pauses and does no more");
    }
    for _ in 0..5 {
        let before = pieces(&mut device);
        act(&mut device, Action::Step);
        assert_eq!(pieces(&mut device), before + 1);
    }
}

fn speeds_go_round(board: Board) {
    let mut device = Device::start(board);
    first_game(&mut device);
    for (speed, least, most) in [("fast", 20, 40), ("turbo", 5_000, u32::MAX), ("watch", 0, 3)] {
        act_and_see(&mut device, Action::Speed, &format!("speed={speed}"));
        let before = pieces(&mut device);
        device.run(ms(1000));
        let placed = pieces(&mut device) - before;
        assert!((least..=most).contains(&placed), "{placed} pieces in a second at {speed} speed");
    }
}

fn pages_go_round(board: Board) {
    let mut device = Device::start(board);
    first_game(&mut device);
    for page in ["statistics", "weights", "about", "game"] {
        act_and_see(&mut device, Action::Page, &format!("page={page}"));
    }
}

fn new_game_has_another_seed(board: Board) {
    let mut device = Device::start(board);
    let first = first_game(&mut device).number("seed");
    let second = act_and_see(&mut device, Action::NewGame, "game ").number("seed");
    let third = act_and_see(&mut device, Action::NewGame, "game ").number("seed");
    assert!(first != second && second != third && third != first);
    assert!(first >> 32 != 0 && first as u32 != 0, "all 64 bits are used");
}

fn players_go_round(board: Board) {
    let mut device = Device::start(board);
    first_game(&mut device);
    for name in PLAYERS[1..].iter().chain(&PLAYERS[..1]) {
        let chosen = act_and_see(&mut device, Action::Player, "player=");
        assert_eq!(chosen.value("player"), Some(*name));
        let game = device.find_log(0, ms(100), |log| {
            log.uptime >= chosen.uptime && log.value("player") == Some(name) && log.text.starts_with("game ")
        });
        assert!(game.is_some(), "{name} does not start a game");
    }
    assert!(KNOWN.iter().all(|known| PLAYERS.contains(&known.name)), "every known player has a slot");
}

fn bouncing_contacts_act_once(board: Board) {
    let mut device = Device::start(board);
    first_game(&mut device);
    let count = |device: &Device| device.logs().iter().filter(|log| log.text.starts_with("paused=")).count();
    for presses in 1..=6 {
        for bounce in [1, 2, 1, 3] {
            device.press(Button::A);
            device.run(ms(bounce));
            device.release(Button::A);
            device.run(ms(1));
        }
        device.hold(Button::A, ms(80));
        device.run(ms(100));
        assert_eq!(count(&device), presses, "{}", device.story());
    }
}
