//! Buttons: looked at a hundred times a second, and turned into actions.
//!
//! Looking, not interrupts: a contact that bounces or a button that is stuck costs the same as one at rest, and can
//! neither flood nor block anything.

use core::cell::RefCell;

use embassy_rp::gpio::Input;
use embassy_time::{Duration, Instant, Ticker};

use crate::action::Action;
use crate::board::{BUTTONS, KEYS, TOGETHER};
use crate::players::Players;
use crate::watchdog::{self, Part};

/// How often the buttons are looked at. Two looks in a row must agree: longer than any contact bounces, and a press
/// acts within 20 ms.
const LOOK: Duration = Duration::from_millis(10);
/// From here on a press is a long one.
const LONG: Duration = Duration::from_millis(600);

/// What a key does.
pub(crate) struct Key {
    /// When pressed; if the key has a long press as well, when released before that.
    pub(crate) short: Action,
    /// When held.
    pub(crate) long: Option<Action>,
}

#[derive(Clone, Copy)]
enum State {
    Up,
    Down(Instant),
    /// Down, but it has done what it does; so is a key that was down at the start, as it may be stuck.
    Spent,
}

/// The buttons, as they were at the start.
pub(crate) struct Buttons {
    pins: [Input<'static>; BUTTONS],
    looks: [bool; BUTTONS],
}

impl Buttons {
    /// Takes the first look.
    pub(crate) fn new(pins: [Input<'static>; BUTTONS]) -> Buttons {
        Buttons { looks: pins.each_ref().map(Input::is_low), pins }
    }
}

#[embassy_executor::task]
pub(crate) async fn run(buttons: Buttons, players: &'static RefCell<Players>) -> ! {
    let Buttons { pins, mut looks } = buttons;
    let mut states = looks.map(|down| if down { State::Spent } else { State::Up });
    let mut ticker = Ticker::every(LOOK);
    loop {
        ticker.next().await;
        watchdog::report(Part::Buttons);
        for (i, pin) in pins.iter().enumerate() {
            let down = pin.is_low();
            let steady = looks[i] == down;
            looks[i] = down;
            if steady {
                states[i] = next(states[i], down, &KEYS[i], players);
            }
        }
        if let Some(action) = TOGETHER
            && states.iter().all(|state| matches!(state, State::Down(_)))
        {
            states.fill(State::Spent);
            action.dispatch(players);
        }
        players.borrow_mut().keep_when_due();
    }
}

/// Where a key goes from here, now that it is certainly up or down; acts on the way.
fn next(state: State, down: bool, key: &Key, players: &RefCell<Players>) -> State {
    match (state, down) {
        (State::Up, true) if key.long.is_none() => {
            key.short.dispatch(players);
            State::Spent
        }
        (State::Up, true) => State::Down(Instant::now()),
        (State::Down(_), false) => {
            key.short.dispatch(players);
            State::Up
        }
        (State::Down(since), true) if since.elapsed() >= LONG => {
            if let Some(action) = key.long {
                action.dispatch(players);
            }
            State::Spent
        }
        (state, true) => state,
        (_, false) => State::Up,
    }
}
