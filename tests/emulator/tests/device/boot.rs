//! From cold to the first piece.

use dropwise_emulator::{Board, Device};
use libtest_mimic::Trial;

use crate::{BOTH, SECOND, first_game, ms, on_boards, tests};

pub(crate) fn tests() -> Vec<Trial> {
    on_boards(BOTH, tests![first_piece_is_on_screen_within_a_second, says_what_it_is])
}

fn first_piece_is_on_screen_within_a_second(board: Board) {
    let mut device = Device::start(board);
    assert!(device.run_until_value("DROPWISE_FRAMES", 1, SECOND), "no frame in a second");
    let first = device.now();
    // The first frame shows the first piece at the top of the well: the next ones show it falling.
    let before = device.picture();
    assert!(!before.is_dark());
    device.run(ms(40));
    assert!(device.picture() != before, "nothing falls");
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
    assert_eq!((game.value("player"), game.value("height")), (Some("bcts"), Some("20")));
    assert!(!device.logs().iter().any(|log| log.text.starts_with("crash")));
}
