//! The players that come with the firmware: the known ones, in the order of the button.

use dropwise_core::player::KNOWN;
use dropwise_core::store::Slot;
use dropwise_core::{Name, Player};

/// A player that comes with the firmware.
pub(crate) struct BuiltIn {
    /// Its name.
    pub(crate) name: &'static str,
    /// The player.
    pub(crate) player: Player,
}

impl BuiltIn {
    /// The same as those in flash are held.
    pub(crate) fn slot(&self) -> Slot {
        match Name::new(self.name) {
            Ok(name) => Slot { name, player: self.player },
            Err(_) => panic!("a built-in player's name is none"),
        }
    }
}

/// The one that plays when no other is known, or too much went wrong.
pub(crate) static FIRST: &BuiltIn = &BUILT_IN[0];

const ORDER: [&str; KNOWN.len()] =
    ["champion20", "dt20", "dellacherie", "bcts", "dt10", "rvce", "cs3243", "bdu", "cma-d", "champion10"];

/// All of them.
pub(crate) static BUILT_IN: [BuiltIn; ORDER.len()] = {
    let mut players = [const { BuiltIn { name: "", player: KNOWN[0].player } }; ORDER.len()];
    let mut i = 0;
    while i < ORDER.len() {
        players[i] = BuiltIn { name: ORDER[i], player: known(ORDER[i]) };
        i += 1;
    }
    players
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
