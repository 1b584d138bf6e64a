//! The bench itself: its runs repeat to the cycle, and its parts are tested in their own language.

use std::path::Path;
use std::process::Command;

use dropwise_emulator::{Board, Device};
use libtest_mimic::Trial;

use crate::{BOTH, SECOND, first_game, go_turbo, ms, on_boards, tests, trial};

pub(crate) fn tests() -> Vec<Trial> {
    let mut tests = on_boards(BOTH, tests![two_runs_are_identical_to_the_cycle]);
    tests.push(trial("device::emulator::parts_in_their_own_language", parts_in_their_own_language));
    tests
}

fn two_runs_are_identical_to_the_cycle(board: Board) {
    let run = |seed| {
        let mut device = Device::seeded(board, seed);
        first_game(&mut device);
        device.run(ms(700));
        go_turbo(&mut device);
        device.run(SECOND / 2);
        let (cycles, busy, now) = (device.cycles(), device.busy(), device.now());
        let pieces = device.word("DROPWISE_PIECES");
        (cycles, busy, now, pieces, device.picture(), device.logs().to_vec())
    };
    let first = run(11);
    assert!(first == run(11), "two runs differ");
    assert!(first != run(12), "other noise, the same game");
}

/// The interpreter against the stock one, the flash behind the ROM.
fn parts_in_their_own_language() {
    let output = Command::new("node")
        .args(["--test", "js/"])
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")))
        .output()
        .unwrap_or_else(|error| panic!("cannot start node: {error}"));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}
