//! Players with one detail changed, to see how much it matters (Thiery & Scherrer 2009, section 3.2).
//!
//! The core has one definition of everything. What it does not offer is played here, the slow and obvious way: drop the
//! piece everywhere, measure every feature, take the best. Without a change that is what [`Controller`] chooses too,
//! which a test shows.
//!
//! [`Controller`]: dropwise_core::Controller

use dropwise_core::feature::Outcome;
use dropwise_core::{Feature, Overflow, Piece, Placement, Player, Well};
use serde::{Deserialize, Serialize};

/// What is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Variant {
    /// Nothing.
    Unchanged,
    /// Of equal values the last wins.
    LastTie,
    /// Of equal values the first wins, column first, then orientation.
    ColumnTie,
    /// Hole depth is the sum over holes of the full cells above: the paper's words, not its code.
    HoleDepthSum,
    /// Landing height is that of the piece's lowest cell, not of its middle.
    LandingLowest,
}

impl Variant {
    /// As the plan spells it.
    pub const fn name(self) -> &'static str {
        match self {
            Variant::Unchanged => "unchanged",
            Variant::LastTie => "last-tie",
            Variant::ColumnTie => "column-tie",
            Variant::HoleDepthSum => "hole-depth-sum",
            Variant::LandingLowest => "landing-lowest",
        }
    }

    /// For a table.
    pub const fn description(self) -> &'static str {
        match self {
            Variant::Unchanged => "nothing changed, the slow way",
            Variant::LastTie => "of equal values the last wins",
            Variant::ColumnTie => "of equal values the first wins, column first, then orientation",
            Variant::HoleDepthSum => "hole depth: sum over holes of the full cells above",
            Variant::LandingLowest => "landing height: of the lowest cell",
        }
    }

    fn measure(self, feature: Feature, outcome: &Outcome) -> i32 {
        match (self, feature) {
            (Variant::HoleDepthSum, Feature::HoleDepth) => Feature::HoleDepthSum.measure(outcome),
            (Variant::LandingLowest, Feature::LandingHeight) => {
                i32::from(Feature::LandingHeight.unit()) * i32::from(outcome.landing.row)
            }
            _ => feature.measure(outcome),
        }
    }
}

/// A player at the controls, with something changed.
#[derive(Clone, Copy, Debug)]
pub struct Varied {
    /// The player.
    pub player: Player,
    /// What is changed.
    pub variant: Variant,
    /// Whether losing placements are chosen on their value like any other.
    pub allow_losing: bool,
}

impl Varied {
    /// The placement it chooses, or none if all lose and losing is not allowed.
    pub fn choose(&self, well: &Well, piece: Piece, overflow: Overflow) -> Option<Placement> {
        let mut placements: Vec<Placement> = Placement::all(piece).collect();
        match self.variant {
            Variant::LastTie => placements.reverse(),
            Variant::ColumnTie => placements.sort_by_key(|placement| placement.column),
            _ => {}
        }
        let mut best: Option<(i32, Placement)> = None;
        for placement in placements {
            let outcome = Outcome::of(well, piece, placement, overflow);
            if outcome.landing.loses && !self.allow_losing {
                continue;
            }
            let value = self.value(&outcome);
            if best.is_none_or(|(most, _)| value > most) {
                best = Some((value, placement));
            }
        }
        best.map(|(_, placement)| placement)
    }

    fn value(&self, outcome: &Outcome) -> i32 {
        let terms = self.player.set().features().iter().zip(self.player.weights());
        terms.map(|(&feature, &weight)| i32::from(weight) * self.variant.measure(feature, outcome)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dropwise_core::player::KNOWN;
    use dropwise_core::{Controller, Game, Options, Rules};

    /// Plays some games, and counts where the controller would have chosen otherwise.
    fn differences(varied: &Varied, overflow: Overflow) -> usize {
        let options = Options { allow_losing: varied.allow_losing, ..Options::default() };
        let controller = Controller::with_options(varied.player, options);
        let mut rules = Rules::new(6).unwrap();
        rules.overflow = overflow;
        let mut differences = 0;
        for index in 0..10 {
            let mut game = Game::new(rules, 3, index);
            loop {
                let piece = game.upcoming(0)[0];
                let choice = varied.choose(game.well(), piece, overflow);
                let usual = controller.choose(game.well(), piece, &[], overflow);
                differences += usize::from(choice != usual);
                let Some(placement) = choice else { break };
                if game.place(placement).is_none_or(|step| step.landing.loses) {
                    break;
                }
            }
        }
        differences
    }

    #[test]
    fn unchanged_it_plays_as_the_controller_does() {
        for known in &KNOWN {
            for overflow in [Overflow::Before, Overflow::After] {
                for allow_losing in [false, true] {
                    let varied = Varied { player: known.player, variant: Variant::Unchanged, allow_losing };
                    assert_eq!(differences(&varied, overflow), 0, "{}", known.name);
                }
            }
        }
    }

    #[test]
    fn every_change_changes_something() {
        for (name, variant) in [
            ("dellacherie", Variant::LastTie),
            ("dellacherie", Variant::ColumnTie),
            ("bcts", Variant::HoleDepthSum),
            ("bcts", Variant::LandingLowest),
        ] {
            let varied = Varied { player: Player::known(name).unwrap(), variant, allow_losing: false };
            assert!(differences(&varied, Overflow::Before) > 0, "{}", variant.name());
        }
    }

    #[test]
    fn a_player_without_the_feature_is_not_changed() {
        let player = Player::known("dellacherie").unwrap();
        let varied = Varied { player, variant: Variant::HoleDepthSum, allow_losing: false };
        assert_eq!(differences(&varied, Overflow::Before), 0);
    }
}
