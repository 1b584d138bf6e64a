//! What can be shown: plain data, borrowed for one drawing.

use crate::piece::Piece;
use crate::placement::Placement;
use crate::player::Player;
use crate::speed::Speed;
use crate::stack::Stack;
use crate::statistics::Statistics;
use crate::well::Well;

/// Everything a [`Screen`](super::Screen) can show; the page says which part it does.
#[derive(Clone, Copy, Debug)]
pub struct Scene<'a> {
    /// What is shown.
    pub page: Page,
    /// The game in play.
    pub play: Play<'a>,
    /// Who plays.
    pub player: &'a Player,
    /// The player's name. Characters other than printable ASCII are shown as `?`.
    pub name: &'a str,
    /// The finished games, this one with them once it is [finished](Play::finished).
    pub statistics: &'a Statistics,
    /// The device.
    pub about: About<'a>,
    /// Why the device started again.
    pub crash: Crash<'a>,
}

/// A page of the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Page {
    /// The game in play.
    Game,
    /// The finished games.
    Statistics,
    /// The player's features and their weights.
    Weights,
    /// The device and how to connect it.
    About,
    /// Why the device started again.
    Crash,
}

impl Page {
    /// All of them.
    pub const ALL: [Page; 5] = [Page::Game, Page::Statistics, Page::Weights, Page::About, Page::Crash];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Page::Game => "game",
            Page::Statistics => "statistics",
            Page::Weights => "weights",
            Page::About => "about",
            Page::Crash => "crash",
        }
    }

    /// The page that a button turns to. The crash page comes by itself and is left for the game.
    pub const fn next(self) -> Page {
        match self {
            Page::Game => Page::Statistics,
            Page::Statistics => Page::Weights,
            Page::Weights => Page::About,
            Page::About | Page::Crash => Page::Game,
        }
    }
}

/// A game in play.
#[derive(Clone, Copy, Debug)]
pub struct Play<'a> {
    /// The board.
    pub well: &'a Well,
    /// The pieces in it, for a screen with colours. Cells it does not know are drawn in grey; `None` is all right.
    pub stack: Option<&'a Stack>,
    /// The piece on its way down, if it is seen.
    pub falling: Option<Falling>,
    /// The pieces known to come, as many as the player looks ahead.
    pub next: &'a [Piece],
    /// Lines cleared.
    pub lines: u64,
    /// Pieces placed.
    pub pieces: u64,
    /// Pieces per second in tenths: 15 is 1.5 a second.
    pub rate_tenths: u32,
    /// The seed, with which a laptop replays the game.
    pub seed: u64,
    /// How fast it goes.
    pub speed: Speed,
    /// Whether it waits for a button.
    pub paused: bool,
    /// Whether it is lost; its lines are then the score.
    pub finished: bool,
}

/// A piece on its way down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Falling {
    /// The piece.
    pub piece: Piece,
    /// Where it will land. A placement that is not [valid](Placement::is_valid) is not drawn.
    pub placement: Placement,
    /// The row of its lowest cell now; it may be above the brim.
    pub row: u8,
}

/// The device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct About<'a> {
    /// The firmware's version.
    pub version: &'a str,
    /// The board's name.
    pub board: &'a str,
    /// The device's unique id: 16 hexadecimal digits.
    pub id: &'a str,
    /// How to connect; [`About::CONNECT`] suits every board.
    pub connect: &'a str,
}

impl About<'_> {
    /// How to connect.
    pub const CONNECT: &'static str = "Plug in USB, then: host device info";
}

/// Why the device started again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crash<'a> {
    /// What happened: panic, hardfault, stack, watchdog.
    pub kind: &'a str,
    /// What was said last; may be empty.
    pub message: &'a str,
    /// Where in the code; may be empty.
    pub place: &'a str,
}

impl Crash<'_> {
    /// All is well.
    pub const NONE: Crash<'static> = Crash { kind: "", message: "", place: "" };
}
