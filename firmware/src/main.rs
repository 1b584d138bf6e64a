//! Dropwise on a handheld: plays Tetris, shows it, takes buttons, answers USB, and does not hang.
//!
//! Hardware: an RP2040 with a display and some buttons; one file a board in `board/`, chosen by a cargo feature. The
//! default, `pico-oled`, is a Raspberry Pi Pico with an SSD1306 (SDA on GPIO 4, SCL on GPIO 5) and two buttons to
//! ground (A on GPIO 14, B on GPIO 15). `docs/boards.md` has the wiring, the buttons and how to flash.
//!
//! Who does what:
//!
//! ```text
//!   core 0, one executor                              core 1, one executor
//!   buttons ----- actions ------------------------->  think: plays
//!      \--- pages --> screen  <-- snapshots --------
//!   usb                                               every part reports to watchdog on core 0,
//!   watchdog  <-- reports --------------------------  which feeds the hardware only if all did
//! ```
//!
//! Thinking has core 1 to itself. On one core it would have to be cut into slices or run below the others' interrupt
//! priority; with two, nothing that waits for a screen or a host can be delayed by a piece that takes long, and turbo
//! play loses no cycle to them. What both need, log and channels, is held for a few hundred cycles at most.
//!
//! Everything that is Tetris is in `dropwise-core`.
#![no_std]
#![no_main]

mod action;
mod board;
mod built_in;
mod buttons;
mod crash;
mod display;
mod feed;
mod handheld;
mod link;
mod log;
mod order;
mod players;
mod rate;
mod screen;
mod snapshot;
mod telemetry;
mod think;
mod usb;
mod watchdog;

use core::cell::RefCell;
use core::fmt::Write;

use defmt::error;
use defmt_rtt as _;
use dropwise_core::screen::About;
use embassy_executor::Executor;
use embassy_rp::multicore::{self, Stack};
use embassy_rp::watchdog::Watchdog;
use heapless::String;
// Gives static_cell its compare-and-swap.
use portable_atomic as _;
use static_cell::StaticCell;

use crate::buttons::Buttons;
use crate::link::Link;
use crate::log::say;
use crate::players::{Chip, Players};

/// The same as `LENGTH(STACK1)` in `memory.x`.
const STACK1_SIZE: usize = 8 * 1024;

#[unsafe(link_section = ".stack1")]
static mut STACK1: Stack<STACK1_SIZE> = Stack::new();

static EXECUTOR0: StaticCell<Executor> = StaticCell::new();
static EXECUTOR1: StaticCell<Executor> = StaticCell::new();

#[cortex_m_rt::entry]
fn main() -> ! {
    let guarded = embassy_rp::install_core0_stack_guard();
    let board = board::Board::new(embassy_rp::init(Default::default()));
    let mut watchdog = Watchdog::new(board.watchdog);
    let reset = watchdog::reset_reason(&watchdog);
    watchdog::start(&mut watchdog);

    say!("boot board={} version={} reset={}", board::NAME, env!("CARGO_PKG_VERSION"), reset.name());
    if guarded.is_err() {
        error!("the memory protection unit was in use already: core 0's stack has no guard");
    }
    let start = crash::look_back(reset);

    // Before core 1 runs: the chip's id is read with the flash taken off the bus, when nobody may run from it.
    let mut chip = Chip::new_blocking(board.flash);
    let id = unique_id(&mut chip);
    let players = players(chip, start.trusted);
    let slot = players.borrow().playing();
    // Before anything can be asked of them; long enough after the pins were pulled up.
    let buttons = Buttons::new(board.buttons);
    let about = About { version: env!("CARGO_PKG_VERSION"), board: board::NAME, id, connect: About::CONNECT };

    let stack = &raw mut STACK1;
    // SAFETY: this is the only reference ever made to it: `main` runs once, and the crash handler only computes its
    // address. Core 1 needs a stack that lives as long as the program, at a place the linker script chose.
    let stack = unsafe { &mut *stack };
    multicore::spawn_core1(board.core1, stack, move || {
        EXECUTOR1.init(Executor::new()).run(|spawner| spawner.spawn(must(think::run(slot))))
    });
    EXECUTOR0.init(Executor::new()).run(|spawner| {
        spawner.spawn(must(watchdog::run(watchdog)));
        spawner.spawn(must(buttons::run(buttons, players)));
        spawner.spawn(must(usb::run(board.usb, Link { id, crash: start.crash, players })));
        spawner.spawn(must(screen::run(board.display, about, start.crash)));
    })
}

/// Every task is spawned once, and its memory is set aside at compile time: it is there.
fn must<T, E>(task: Result<T, E>) -> T {
    match task {
        Ok(task) => task,
        Err(_) => panic!("a task was spawned twice"),
    }
}

/// The players, for the tasks of core 0 to share. A function of its own, so that what reading them needs of the stack
/// is free again.
#[inline(never)]
fn players(chip: Chip, trusted: bool) -> &'static RefCell<Players> {
    static PLAYERS: StaticCell<RefCell<Players>> = StaticCell::new();
    PLAYERS.init(RefCell::new(Players::mount(chip, trusted)))
}

/// The flash chip's unique id as 16 hexadecimal digits: the device's serial number.
fn unique_id(chip: &mut Chip) -> &'static str {
    static ID: StaticCell<String<16>> = StaticCell::new();
    let mut bytes = [0; 8];
    if chip.blocking_unique_id(&mut bytes).is_err() {
        error!("the flash chip does not tell its unique id");
    }
    let id = ID.init(String::new());
    for byte in bytes {
        // Sixteen digits fit.
        let _ = write!(id, "{byte:02x}");
    }
    id
}
