//! The players a button goes through: the known ones, built in.

use dropwise_core::Player;
use dropwise_core::player::KNOWN;

/// A player that can be chosen.
pub(crate) struct Slot {
    /// Its name.
    pub(crate) name: &'static str,
    /// The player.
    pub(crate) player: Player,
}

/// The slot that plays when nothing else is known, or too much went wrong.
pub(crate) const BUILT_IN: usize = 0;

const ORDER: [&str; KNOWN.len()] = ["bcts", "dt20", "dellacherie", "dt10", "rvce", "cs3243", "bdu", "cma-d"];

/// Every player, in the order of the button.
pub(crate) static SLOTS: [Slot; ORDER.len()] = {
    let mut slots = [const { Slot { name: "", player: KNOWN[0].player } }; ORDER.len()];
    let mut i = 0;
    while i < ORDER.len() {
        slots[i] = Slot { name: ORDER[i], player: known(ORDER[i]) };
        i += 1;
    }
    slots
};

const fn known(name: &str) -> Player {
    let mut i = 0;
    while i < KNOWN.len() {
        if same(KNOWN[i].name.as_bytes(), name.as_bytes()) {
            return KNOWN[i].player;
        }
        i += 1;
    }
    panic!("no known player has this name")
}

const fn same(a: &[u8], b: &[u8]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    let mut i = 0;
    while i < a.len() {
        if a[i] != b[i] {
            return false;
        }
        i += 1;
    }
    true
}
