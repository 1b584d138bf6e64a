//! Any known player, chosen by a name that arrives at run time: every set and both engines are linked.
#![no_std]
#![no_main]

use core::hint::black_box;

use dropwise_core::Player;

#[cortex_m_rt::entry]
fn main() -> ! {
    loop {
        if let Some(player) = Player::known(black_box("bcts")) {
            dropwise_size_probe::play(player);
        }
    }
}
