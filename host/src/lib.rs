//! Dropwise on a laptop: trains and measures players, explains their decisions, shows them at play, and sends them to a
//! device.
//!
//! Each subcommand of the binary `host` is a module with its arguments and a `run`:
//!
//! - [`evaluate`]: how well a player plays;
//! - [`inspect`]: what a player thinks of a position;
//! - [`mod@bench`]: how fast the engines are;
//! - [`results`]: the tables and pictures of `docs/results.md`, and the measurements they are made of;
//! - [`players`]: the known players, sets and features;
//! - [`screen`]: what a device shows;
//! - [`train`]: learning a player;
//! - [`watch`]: a game in the terminal;
//! - [`flash`]: a player to a device;
//! - [`device`]: everything else that can be asked of one;
//! - [`completions`], [`manual`]: the command line, for shells and for `man`.
//!
//! They stand on:
//!
//! - [`arena`]: many games at once, the same result for any number of threads;
//! - [`together`]: many games in one thread, side by side;
//! - [`library`]: what players chose in long games before;
//! - [`cluster`]: the same on many machines;
//! - [`mod@climb`]: the length of games too long to be played;
//! - [`stats`]: means and their intervals;
//! - [`weights`]: players on disk;
//! - [`link`]: the serial link to a device;
//! - [`published`]: what others measured;
//! - [`plot`]: what pictures have in common;
//! - [`stack`]: a board that remembers which piece a cell came from;
//! - [`cli`], [`args`], [`output`], [`figures`]: the command line, what leaves the program, and numbers for people;
//! - `terminal`, [`interrupt`]: a game on the screen, and Ctrl-C.

pub mod arena;
pub mod args;
pub mod bench;
pub mod cli;
pub mod climb;
pub mod cluster;
pub mod completions;
pub mod device;
pub mod evaluate;
pub mod figures;
pub mod flash;
pub mod inspect;
pub mod interrupt;
pub mod library;
pub mod link;
pub mod manual;
pub mod output;
pub mod players;
pub mod plot;
pub mod published;
pub mod results;
pub mod screen;
pub mod stack;
pub mod stats;
mod terminal;
pub mod together;
pub mod train;
pub mod watch;
pub mod weights;
