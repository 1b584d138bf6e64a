//! The real firmware on emulated boards: what must hold on the device, held in `cargo test`.
//!
//! Every test starts a device of its own. The long forms, ten minutes of play instead of one, come with
//! `DROPWISE_FULL=1`.

mod boot;
mod buttons;
mod cable;
mod crash;
mod emulator;
mod faults;
mod game;
mod host;
mod laptop;
mod link;
mod pictures;
mod play;
mod power;
mod refusals;
mod smooth;
mod speed;
mod telemetry;
mod usb;

use std::process::{self, ExitCode};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;
use std::{env, thread};

use dropwise_core::Player;
use dropwise_emulator::{Board, Button, Device, Log, setup};
use libtest_mimic::{Arguments, Trial};

/// No test takes so long, not even a long form on a busy machine.
const LONGEST: Duration = Duration::from_secs(20 * 60);

/// The boards that stand for all: one with an I2C display and two buttons, one with an SPI display and a cross.
const BOTH: &[Board] = &[Board::PicoOled, Board::Picosystem];

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    // The longest first, so that no core is left with one of them at the end.
    let files = [
        play::tests,
        game::tests,
        host::tests,
        power::tests,
        smooth::tests,
        pictures::tests,
        faults::tests,
        emulator::tests,
        telemetry::tests,
        link::tests,
        cable::tests,
        refusals::tests,
        crash::tests,
        buttons::tests,
        speed::tests,
        usb::tests,
        boot::tests,
    ];
    let tests: Vec<Trial> = files.into_iter().flat_map(|tests| tests()).collect();
    let Some(missing) = setup::missing() else { return libtest_mimic::run(&arguments, tests).exit_code() };
    if env::var("CI").is_ok_and(|ci| ci == "true") {
        eprintln!("error: the emulator tests cannot run: {missing}");
        return ExitCode::FAILURE;
    }
    let skipped = tests.into_iter().map(|test| test.with_ignored_flag(true)).collect();
    let conclusion = libtest_mimic::run(&arguments, skipped);
    eprintln!("The emulator tests were SKIPPED: {missing}\n");
    conclusion.exit_code()
}

/// A test of a board: its path and its function.
type BoardTest = (&'static str, fn(Board));

/// The tests of a file, by their functions.
macro_rules! tests {
    ($($test:ident),+ $(,)?) => {
        [$((concat!(module_path!(), "::", stringify!($test)), $test)),+]
    };
}
pub(crate) use tests;

/// Makes a test of each function on each of the boards.
fn on_boards<const N: usize>(boards: &[Board], tests: [BoardTest; N]) -> Vec<Trial> {
    let on_each = |(path, test): BoardTest| {
        boards.iter().map(move |&board| trial(&format!("{path}::{}", board.name()), move || test(board)))
    };
    tests.into_iter().flat_map(on_each).collect()
}

/// Makes a test of each function that chooses its board itself.
fn alone<const N: usize>(tests: [(&'static str, fn()); N]) -> Vec<Trial> {
    tests.into_iter().map(|(path, test)| trial(path, test)).collect()
}

/// A test by its path. One that never ends is named, and ends them all.
fn trial(path: &str, test: impl FnOnce() + Send + 'static) -> Trial {
    let name = path.split_once("::").map_or(path, |(_, name)| name).to_owned();
    let hung = name.clone();
    Trial::test(name, move || {
        let (running, ended) = mpsc::channel::<()>();
        thread::spawn(move || {
            if ended.recv_timeout(LONGEST) == Err(RecvTimeoutError::Timeout) {
                eprintln!("error: {hung} has not ended within {LONGEST:?}");
                process::exit(101);
            }
        });
        test();
        drop(running);
        Ok(())
    })
}

/// The player that a device starts with.
const FIRST: &str = "champion20";

fn known(name: &str) -> Player {
    Player::known(name).unwrap_or_else(|| panic!("no known player is called {name}"))
}

const SECOND: Duration = Duration::from_secs(1);

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// Whether the long forms are wanted.
fn is_full() -> bool {
    env::var_os("DROPWISE_FULL").is_some()
}

/// What a button asks for, as docs/boards.md has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Action {
    Pause,
    /// Only while paused.
    Step,
    /// Only while not paused.
    Speed,
    NewGame,
    Player,
    Page,
}

/// Presses what a board's table says.
fn act(device: &mut Device, action: Action) {
    match (device.board(), action) {
        (Board::PicoOled, Action::Pause) => device.tap(Button::A),
        (Board::PicoOled, Action::Step | Action::Speed) => device.tap(Button::B),
        (Board::PicoOled, Action::NewGame) => device.hold_long(Button::A),
        (Board::PicoOled, Action::Page) => device.hold_long(Button::B),
        (Board::PicoOled, Action::Player) => {
            device.press(Button::A);
            device.run(ms(5));
            device.press(Button::B);
            device.run(ms(60));
            device.release(Button::A);
            device.release(Button::B);
            device.run(ms(60));
        }
        (_, Action::Player) => device.tap(Button::Up),
        (_, Action::Page) => device.tap(Button::Down),
        (_, Action::NewGame) => device.tap(Button::Left),
        (_, Action::Step) => device.tap(Button::Right),
        (_, Action::Pause) => device.tap(Button::A),
        (_, Action::Speed) => device.tap(Button::B),
    }
}

/// Presses, and waits for the line that says it was done.
#[track_caller]
fn act_and_see(device: &mut Device, action: Action, line: &str) -> Log {
    let first = device.logs().len();
    act(device, action);
    match device.find_log(first, ms(200), |log| log.text.starts_with(line)) {
        Some(log) => log,
        None => panic!("{action:?} does not lead to «{line}»; the log:\n{}", device.story()),
    }
}

/// Runs until the first game has begun and the buttons are looked at; returns what the log says of the game.
#[track_caller]
fn first_game(device: &mut Device) -> Log {
    let game = device.expect_log(SECOND, "game ");
    device.run(ms(100));
    game
}

/// From watch speed to turbo.
#[track_caller]
fn go_turbo(device: &mut Device) {
    act_and_see(device, Action::Speed, "speed=fast");
    act_and_see(device, Action::Speed, "speed=turbo");
}
