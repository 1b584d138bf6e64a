//! What a store is to do, said plainly.

use dropwise_core::player::MAX_WEIGHT;
use dropwise_core::{Player, Set};

/// The names in play. One is a built-in player's, which can be selected without being kept.
pub(crate) const NAMES: [&str; 5] = ["a", "bcts", "second best", "abcdefghijklmnopqrstuvwx", "~"];

/// Everything a store knows; names by their place in [`NAMES`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct State {
    pub(crate) slots: [Option<Player>; NAMES.len()],
    pub(crate) selected: Option<usize>,
}

/// A change that is asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Change {
    Save(usize, Player),
    Delete(usize),
    Select(Option<usize>),
}

/// Why it was not made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    Full,
    Missing,
    /// Something is wrong with the flash.
    Flash,
}

impl State {
    /// The state after a change, in a store that has room for so many bytes.
    pub(crate) fn after(&self, change: Change, room: usize) -> Result<State, Refusal> {
        let mut state = *self;
        match change {
            Change::Save(name, player) => state.slots[name] = Some(player),
            Change::Delete(name) => {
                state.slots[name].take().ok_or(Refusal::Missing)?;
                if state.selected == Some(name) {
                    state.selected = None;
                }
            }
            Change::Select(Some(name)) if self.slots[name].is_none() && NAMES[name] != "bcts" => {
                return Err(Refusal::Missing);
            }
            Change::Select(name) => state.selected = name,
        }
        if state.length() > room && state != *self { Err(Refusal::Full) } else { Ok(state) }
    }

    /// The bytes of its record's body.
    pub(crate) fn length(&self) -> usize {
        let slot = |(name, player): (&str, &Option<Player>)| {
            player.map_or(0, |player| 1 + name.len() + 2 + 2 * player.weights().len())
        };
        let slots: usize = NAMES.into_iter().zip(&self.slots).map(slot).sum();
        1 + self.selected.map_or(0, |name| NAMES[name].len()) + 1 + slots
    }
}

/// One of the players that states are made of: few enough that some changes change nothing.
pub(crate) fn player(number: usize) -> Player {
    const SETS: [Set; 5] = [Set::FlomRobinson, Set::D, Set::Bcts, Set::Bodoia, Set::Bdu];
    let set = SETS[number % SETS.len()];
    let kind = number / SETS.len();
    let weight = |feature: usize| match kind % 4 {
        0 => feature as i16 * 321 - 1000 - kind as i16,
        1 => [MAX_WEIGHT, -MAX_WEIGHT][feature % 2],
        2 => -1 - kind as i16,
        _ => kind as i16 - 3,
    };
    let weights: [i16; 28] = std::array::from_fn(weight);
    Player::new(set, &weights[..set.len()]).expect("weights in range")
}
