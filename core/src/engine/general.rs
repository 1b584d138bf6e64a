//! Any set, the obvious way: make every board and count.

use super::{Best, Count, Judgement};
use crate::feature::Outcome;
use crate::piece::Piece;
use crate::placement::Placement;
use crate::player::Player;
use crate::well::Well;

/// A placement counted in full.
pub(super) fn count(player: &Player, outcome: &Outcome) -> Count {
    let (landing, value) = (player.action_value(outcome), player.value(outcome));
    Count { landing, value, standing: value - landing }
}

/// The worth of a board as it stands: the features that do not speak of how a piece landed.
#[cfg(all(feature = "simd", target_arch = "x86_64"))]
pub(super) fn standing(player: &Player, well: &Well) -> i32 {
    use crate::piece::SHAPES;
    use crate::well::Landing;
    let landing = Landing { row: 0, lines: 0, eroded: 0, loses: false };
    count(player, &Outcome { well: *well, landing, shape: &SHAPES[0] }).standing
}

pub(super) fn best(player: &Player, well: &Well, piece: Piece, judgement: Judgement) -> Option<Best> {
    let mut best: Option<Best> = None;
    for placement in Placement::all(piece) {
        let outcome = Outcome::of(well, piece, placement, judgement.overflow);
        if outcome.landing.loses && !judgement.allow_losing {
            continue;
        }
        let value = player.value(&outcome);
        if best.is_none_or(|best| value > best.value) {
            best = Some(Best { placement, value });
        }
    }
    best
}
