//! The link: what a laptop asks for happens, while the device plays.

use dropwise_core::wire::{Answer, GameRules, Request, When};
use dropwise_core::{Controller, Game, Player, Rules, Set, Speed};
use dropwise_emulator::{Board, Device};

use crate::laptop::Laptop;
use crate::pictures::unique_id;
use crate::{SECOND, ms, on_boards};

on_boards!(plays_what_was_sent);

/// Some player that no firmware has built in.
pub(crate) fn learned(seed: i16) -> Player {
    let good = Player::known("bcts").unwrap();
    let weights: Vec<i16> =
        good.weights().iter().enumerate().map(|(i, w)| w + seed * (i as i16 + 1)).collect();
    Player::new(Set::Bcts, &weights).unwrap()
}

/// The opposite of a good one: loses within some twenty pieces.
pub(crate) fn loser() -> Player {
    let good = Player::known("bcts").unwrap();
    let weights: Vec<i16> = good.weights().iter().map(|weight| -weight).collect();
    Player::new(Set::Bcts, &weights).unwrap()
}

fn plays_what_was_sent(board: Board) {
    let Some(device) = Device::start(board) else { return };
    let mut laptop = Laptop::connect(device);
    laptop.done(Request::Speed { speed: Speed::Turbo });
    let player = learned(3);
    let start = laptop.device.now();
    assert_eq!(laptop.upload("mine", &player), Ok(true));
    laptop.done(Request::Select { slot: "mine", when: When::Game });
    println!("took {:?}", laptop.device.now() - start);
    laptop.done(Request::NewGame { seed: Some(42), rules: GameRules::default() });
    laptop.device.run(SECOND);
    laptop.done(Request::Pause { paused: true });
    laptop.call(Request::Status, |answer| {
        let Ok(Answer::Status(status)) = answer else { panic!("{answer:?}") };
        println!("{status:?}");
        let mut game = Game::new(Rules::default(), 42, 0);
        game.play(&Controller::new(player), status.pieces);
        assert_eq!((status.lines, status.digest), (game.lines(), game.digest()));
        assert_eq!((status.player, status.player_digest), ("mine", player.digest()));
    });
    let _ = (unique_id(), ms(1));
}
