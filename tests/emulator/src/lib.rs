//! The handheld without hardware: the real firmware in an emulated RP2040.
//!
//! The chip is the npm package rp2040js; what it lacks stands in `js/`, one file a thing, each opening with what is
//! missing and why it matters. A [`Device`] is one such chip on a [`Board`], in a process of its own, and does nothing
//! unless told to run; two runs of the same commands are the same to the cycle. Tests start with
//!
//! ```no_run
//! use std::time::Duration;
//! use dropwise_emulator::{Board, Button, Device};
//!
//! let mut device = Device::start(Board::PicoOled);
//! device.expect_log(Duration::from_secs(1), "game ");
//! device.tap(Button::A);
//! device.expect_log(Duration::from_millis(100), "paused=true");
//! println!("{}", device.picture());
//! ```
//!
//! Anything that the emulator warns of, and any fault of a core that was not [announced](Device::expect_faults), fails
//! the test at once.
//!
//! Set-up: `tests/emulator/setup` installs Node, the packages, socat and the target; [`setup::missing`] tells
//! what is not there.
//!
//! Read in this order: [`board`], [`firmware`], [`device`], [`log`], [`picture`], [`bridge`], [`port`], [`mod@host`], [`setup`].

pub mod board;
pub mod bridge;
pub mod device;
mod driver;
pub mod firmware;
pub mod host;
pub mod log;
pub mod picture;
pub mod port;
pub mod setup;

pub use board::{Board, Button};
pub use device::{Device, Note};
pub use firmware::Firmware;
pub use host::host;
pub use log::Log;
pub use picture::Picture;
pub use port::Port;
