//! The bcts player alone: its set is known when the program is built.
#![no_std]
#![no_main]

use dropwise_core::player::{KNOWN, Known};

const BCTS: &Known = &KNOWN[1];

#[cortex_m_rt::entry]
fn main() -> ! {
    const { assert!(matches!(BCTS.name.as_bytes(), b"bcts")) };
    dropwise_size_probe::play(BCTS.player)
}
