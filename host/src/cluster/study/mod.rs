//! What to expect of more cores than there are at hand: recorded games and measured messages, replayed.
//!
//! [`trace`] is what was recorded of a training, [`record`] records it; [`replay`] plays it again on a cluster of any
//! size by the clock of a simulation, with the [hand-out](super::hand_out) that the true cluster uses; [`table`] puts
//! the outcomes together. [`command`] is `host cluster`.

pub mod command;
pub mod record;
pub mod replay;
pub mod table;
pub mod trace;
