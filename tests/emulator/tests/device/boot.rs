//! From cold to the first piece.

use dropwise_emulator::{Board, Device};
use libtest_mimic::Trial;

use crate::pictures::Replay;
use crate::{FIRST, SECOND, first_game, known, on_boards, tests};

pub(crate) fn tests() -> Vec<Trial> {
    on_boards(&Board::ALL, tests![first_piece_is_on_screen_within_a_second, says_what_it_is])
}

fn first_piece_is_on_screen_within_a_second(board: Board) {
    let mut device = Device::start(board);
    assert!(device.run_until_value("DROPWISE_FRAMES", 1, SECOND), "no frame in a second");
    let first = device.now();
    let game = device
        .find_log(0, SECOND, |log| log.text.starts_with("game "))
        .expect("a game is told before it is shown");
    let shown = device.picture();
    let rows = Replay::new(known(FIRST), &game, 0).rows_of_fall(board, false, &shown);
    assert_eq!(rows.len(), 1, "the first piece is not seen falling:\n{shown}");
    println!("{}: first piece on screen after {first:?}", board.name());
    assert!(first < SECOND);
}

fn says_what_it_is(board: Board) {
    let mut device = Device::start(board);
    let game = first_game(&mut device);
    let boot = &device.logs()[0];
    assert!(boot.text.starts_with("boot "), "{boot}");
    assert_eq!(boot.value("board"), Some(board.name()));
    assert_eq!(boot.value("version"), Some(env!("CARGO_PKG_VERSION")));
    assert_eq!(boot.value("reset"), Some("power"));
    assert_eq!((game.value("player"), game.value("height")), (Some(FIRST), Some("20")));
    assert!(!device.logs().iter().any(|log| log.text.starts_with("crash")));
}
