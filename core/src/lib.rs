//! The playing core of Dropwise: a Tetris player that fits in a pocket.
//!
//! Read in this order:
//!
//! - [`piece`]: the seven pieces, drawn, and their orientations;
//! - [`well`]: the board; drop, landing, line clearing; art in and out;
//! - [`placement`]: every action, in the one order that breaks ties;
//! - [`feature`]: what a player looks at, one file a family, and the named sets;
//! - [`player`]: a set with integer weights; the known players;
//! - [`engine`]: the fast ways to find a player's best placement, and why they are exact;
//! - [`controller`]: the greedy choice, look-ahead and rescue;
//! - [`game`]: rules, piece sources, a whole game and its digest;
//! - [`generator`]: where its chance comes from;
//! - [`low`], [`book`], [`octet`]: for long games, a low pile in one word, choices that were made before, and eight games
//!   that go by them;
//! - [`speed`]: how fast a device plays;
//! - [`stack`]: which piece each cell of a well came from;
//! - [`statistics`]: what finished games add up to;
//! - [`name`]: what a player is called where it is kept;
//! - `store`, with the cargo feature `store`: players in flash, through power cuts;
//! - `screen`, with the cargo feature `graphics`: what a device shows;
//! - `wire`, with the cargo feature `wire`: what a laptop and a device say to each other.
//!
//! ```
//! use dropwise_core::{Controller, Game, Player, Rules};
//!
//! let controller = Controller::new(Player::known("bcts").unwrap());
//! let mut game = Game::new(Rules::default(), 42, 0);
//! while game.pieces() < 100 && game.step(&controller).is_some() {}
//! assert_eq!(game.pieces(), 100);
//! println!("{}", game.well());
//! ```
#![no_std]
#![cfg_attr(not(feature = "simd"), forbid(unsafe_code))]
#![cfg_attr(feature = "simd", deny(unsafe_code))]

#[cfg(any(test, all(feature = "simd", target_arch = "x86_64")))]
extern crate std;

#[cfg(target_has_atomic = "64")]
pub mod book;
pub mod controller;
pub mod engine;
pub mod feature;
pub mod game;
pub mod generator;
pub mod low;
pub mod name;
#[cfg(target_has_atomic = "64")]
pub mod octet;
pub mod piece;
pub mod placement;
pub mod player;
#[cfg(feature = "graphics")]
pub mod screen;
pub mod speed;
pub mod stack;
pub mod statistics;
#[cfg(feature = "store")]
pub mod store;
pub mod well;
#[cfg(feature = "wire")]
pub mod wire;

pub use controller::{Controller, Join, Options};
pub use feature::{Feature, Set};
pub use game::{Game, PieceSource, Rules};
pub use name::Name;
pub use piece::Piece;
pub use placement::Placement;
pub use player::Player;
pub use speed::Speed;
pub use stack::Stack;
pub use statistics::Statistics;
pub use well::{Overflow, Well};
