//! The laws of the playing core.
//!
//! `twin` is a slow and obvious second implementation, written from the definitions; `generate` makes the boards and
//! players on which both must agree. PROPTEST_CASES sets the number of cases, DROPWISE_FULL=1 asks for the long forms.

mod board_file;
mod boards;
mod controller;
mod engines;
mod features;
mod game;
mod generate;
mod low;
mod positions;
#[cfg(feature = "graphics")]
mod screen;
mod statistics;
mod twin;
mod wells;

use dropwise_core::{Overflow, PieceSource, Rules};

/// Whether the long forms of the tests are asked for.
fn full_length() -> bool {
    std::env::var("DROPWISE_FULL").is_ok_and(|value| value == "1")
}

/// Rules as the tests vary them.
fn rules(height: usize, overflow: Overflow, pieces: PieceSource) -> Rules {
    let mut rules = Rules::new(height).expect("a height from 4 to 20");
    rules.overflow = overflow;
    rules.pieces = pieces;
    rules
}
