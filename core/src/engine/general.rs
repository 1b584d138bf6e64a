//! Any set, the obvious way: make every board and count.

use super::{Best, Judgement};
use crate::feature::Outcome;
use crate::piece::Piece;
use crate::placement::Placement;
use crate::player::Player;
use crate::well::Well;

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
