//! What a button asks for.

use core::cell::RefCell;

use crate::log::complain;
use crate::order::{self, Order};
use crate::players::Players;
use crate::screen;

/// What a button asks for.
#[allow(dead_code, reason = "no board has a button for each")]
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    /// Pause, or play on.
    Pause,
    /// Pause; if paused already, place one piece.
    Step,
    /// The next speed.
    Speed,
    /// The next speed; if paused, place one piece. For boards with few buttons.
    SpeedOrStep,
    /// Give this game up and start another.
    NewGame,
    /// The next player, in a new game: a game that two players played could not be replayed.
    Player,
    /// The next page of the screen.
    Page,
}

impl Action {
    /// Passes it on to whom it concerns. Never waits.
    pub(crate) fn dispatch(self, players: &RefCell<Players>) {
        let order = match self {
            // Whatever it is: the page says that any button plays on.
            _ if screen::shows_crash() => return screen::turn_page(),
            Action::Page => return screen::turn_page(),
            Action::Player => return players.borrow_mut().next(),
            Action::Pause => Order::TogglePause,
            Action::Step => Order::Step,
            Action::Speed => Order::NextSpeed,
            Action::SpeedOrStep => Order::NextSpeedOrStep,
            Action::NewGame => Order::NewGame(None, None),
        };
        // A button can be pressed again.
        if order::send(order).is_err() {
            complain!("the game does not take any more buttons");
        }
    }
}
