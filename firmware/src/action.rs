//! What a button asks for.

use crate::{screen, think};

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
    pub(crate) fn dispatch(self) {
        match self {
            // Whatever it is: the page says that any button plays on.
            _ if screen::shows_crash() => screen::turn_page(),
            Action::Page => screen::turn_page(),
            _ => think::ask(self),
        }
    }
}
