//! How fast the device plays at full speed, in cycles of its own.
//!
//! The emulator's cycles are those of a Cortex-M0+ whose memory never waits: a figure to compare commits by. Flash that
//! misses its cache is not modelled, which is why the code that plays runs from RAM.

use dropwise_emulator::{Board, Device};
use libtest_mimic::Trial;

use crate::{BOTH, SECOND, first_game, go_turbo, on_boards, tests};

pub(crate) fn tests() -> Vec<Trial> {
    on_boards(BOTH, tests![cycles_a_piece_in_turbo])
}

/// Mean and worst cycles a piece when these were last set; the test prints the present figures. Set them anew when they
/// get better.
const fn committed(board: Board) -> [f64; 2] {
    match board {
        Board::PicoOled | Board::Thumby => [7_118.0, 17_413.0],
        // Keeps the colour of every cell besides.
        Board::Picosystem | Board::PicoLcd13 => [7_454.0, 16_986.0],
    }
}

/// A rise beyond this is a failure.
const TOLERANCE: f64 = 1.05;
/// 10,000 pieces a second at 125 MHz.
const GOAL: f64 = 12_500.0;

const PIECES: u32 = 5_000;

fn cycles_a_piece_in_turbo(board: Board) {
    let mut device = Device::start(board);
    first_game(&mut device);
    go_turbo(&mut device);
    device.watch("DROPWISE_PIECES", PIECES as usize + 1);
    device.run(SECOND);
    let notes = device.watched("DROPWISE_PIECES");
    assert_eq!(notes.len(), PIECES as usize + 1, "fewer pieces than that in a second");
    let costs: Vec<u64> = notes.windows(2).map(|pair| pair[1].busy[1] - pair[0].busy[1]).collect();
    let mean = costs.iter().sum::<u64>() as f64 / costs.len() as f64;
    let worst = costs.iter().max().copied().unwrap_or(0) as f64;
    println!(
        "{}: turbo, bcts, 10x20: mean {mean:.0} cycles a piece, worst {worst:.0}; {:.0} pieces a second at 125 MHz",
        board.name(),
        125e6 / mean
    );
    let committed = committed(board);
    assert!(mean <= committed[0] * TOLERANCE, "{mean:.0} cycles a piece; {} were committed", committed[0]);
    assert!(worst <= committed[1] * TOLERANCE, "{worst:.0} cycles at worst; {} were committed", committed[1]);
    assert!(mean <= GOAL, "{mean:.0} cycles a piece; the goal is {GOAL:.0}");
}
