//! How fast the device plays at full speed, in cycles of its own.
//!
//! The emulator's cycles are those of a Cortex-M0+ whose memory never waits: a figure to compare commits by. Flash that
//! misses its cache is not modelled, which is why the code that plays runs from RAM.

use dropwise_emulator::{Board, Device, tell};

use crate::{SECOND, first_game, go_turbo};

/// Mean cycles a piece when this was last set; the test prints the present figure. Set it anew when it gets better.
const COMMITTED: f64 = 7_118.0;
/// A rise beyond this is a failure.
const TOLERANCE: f64 = 1.05;
/// 10,000 pieces a second at 125 MHz.
const GOAL: f64 = 12_500.0;

const PIECES: u32 = 5_000;

#[test]
fn cycles_a_piece_in_turbo() {
    let Some(mut device) = Device::start(Board::PicoOled) else { return };
    first_game(&mut device);
    go_turbo(&mut device);
    device.watch("DROPWISE_PIECES", PIECES as usize + 1);
    device.run(SECOND);
    let notes = device.watched("DROPWISE_PIECES");
    assert_eq!(notes.len(), PIECES as usize + 1, "fewer pieces than that in a second");
    let costs: Vec<u64> = notes.windows(2).map(|pair| pair[1].busy[1] - pair[0].busy[1]).collect();
    let mean = costs.iter().sum::<u64>() as f64 / costs.len() as f64;
    let worst = costs.iter().max().copied().unwrap_or(0);
    let per_second = 125e6 / mean;
    tell(&format!(
        "turbo, bcts, 10x20: mean {mean:.0} cycles a piece, worst {worst}; {per_second:.0} pieces a second at 125 MHz"
    ));
    assert!(mean <= COMMITTED * TOLERANCE, "{mean:.0} cycles a piece; {COMMITTED:.0} were committed");
    assert!(mean <= GOAL, "{mean:.0} cycles a piece; the goal is {GOAL:.0}");
}
