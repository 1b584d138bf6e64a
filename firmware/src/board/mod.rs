//! The boards: what each is called, how it is wired and what its buttons do.
//!
//! A board's file has its `NAME`, its screen's `LAYOUT` and whether it has `COLOURS`; its `KEYS`, as many as `BUTTONS`,
//! and what all of them `TOGETHER` do; a `Socket`, whose `open` wakes the display; and `Board::new`.

use embassy_rp::Peri;
use embassy_rp::gpio::Input;
use embassy_rp::peripherals::{CORE1, FLASH, USB, WATCHDOG};

#[cfg(feature = "pico-lcd-1.3")]
mod pico_lcd_1_3;
#[cfg(feature = "pico-oled")]
mod pico_oled;
#[cfg(feature = "picosystem")]
mod picosystem;
#[cfg(feature = "thumby")]
mod thumby;

#[cfg(feature = "pico-lcd-1.3")]
pub(crate) use pico_lcd_1_3::*;
#[cfg(feature = "pico-oled")]
pub(crate) use pico_oled::*;
#[cfg(feature = "picosystem")]
pub(crate) use picosystem::*;
#[cfg(feature = "thumby")]
pub(crate) use thumby::*;

#[cfg(not(any(
    feature = "pico-lcd-1.3",
    feature = "pico-oled",
    feature = "picosystem",
    feature = "thumby"
)))]
compile_error!("no board: add --features with pico-oled, picosystem, pico-lcd-1.3 or thumby");

#[cfg(any(
    all(feature = "pico-lcd-1.3", any(feature = "pico-oled", feature = "picosystem", feature = "thumby")),
    all(feature = "pico-oled", any(feature = "picosystem", feature = "thumby")),
    all(feature = "picosystem", feature = "thumby"),
))]
compile_error!("two boards: name one with --features, and add --no-default-features");

/// The chip, taken apart into what the tasks need.
pub(crate) struct Board {
    pub(crate) watchdog: Peri<'static, WATCHDOG>,
    pub(crate) flash: Peri<'static, FLASH>,
    pub core1: Peri<'static, CORE1>,
    pub(crate) usb: Peri<'static, USB>,
    pub(crate) buttons: [Input<'static>; BUTTONS],
    pub(crate) display: Socket,
}

/// What the buttons of a board with a cross and two buttons do: each one thing.
#[cfg(not(feature = "pico-oled"))]
mod cross {
    use crate::action::Action;
    use crate::buttons::Key;

    const fn key(short: Action) -> Key {
        Key { short, long: None }
    }

    /// Up, down, left, right, A, B.
    pub(crate) const KEYS: [Key; 6] = [
        key(Action::Player),
        key(Action::Page),
        key(Action::NewGame),
        key(Action::Step),
        key(Action::Pause),
        key(Action::Speed),
    ];
}
