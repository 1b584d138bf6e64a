//! Every feature, and the sets' weighted sums, against the twin.

use dropwise_core::feature::{Outcome, SYNONYMS};
use dropwise_core::{Feature, Overflow, Piece, Placement, Set};
use proptest::prelude::*;

use crate::generate::{cases, player, well};
use crate::twin::Board;

#[test]
fn names_are_unique_and_found() {
    for &feature in Feature::ALL {
        assert_eq!(Feature::from_name(feature.name()), Some(feature));
        assert!(!feature.description().is_empty());
    }
    for (synonym, _) in SYNONYMS {
        assert!(Feature::ALL.iter().all(|feature| feature.name() != *synonym), "{synonym} is a name too");
    }
    for &set in Set::ALL {
        assert_eq!(Set::from_name(set.name()), Some(set));
    }
}

proptest! {
    #![proptest_config(cases(150))]

    #[test]
    fn a_feature_is_its_twins(well in well()) {
        let board = Board::of(&well);
        for piece in Piece::ALL {
            for placement in Placement::all(piece) {
                for overflow in [Overflow::Before, Overflow::After] {
                    let slow = board.drop(piece, placement, overflow);
                    let outcome = Outcome::of(&well, piece, placement, overflow);
                    if overflow == Overflow::After && slow.lines == 0 && !slow.loses {
                        continue; // The same board as before.
                    }
                    for &feature in Feature::ALL {
                        let measured = feature.measure(&outcome);
                        prop_assert!(
                            slow.is(feature, measured),
                            "{feature} is {measured}, its twin {} x {}: {piece} {placement:?} {overflow:?} on\n{well}\
                             gives\n{}",
                            slow.measure(feature), feature.unit(), outcome.well
                        );
                    }
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(cases(500))]

    #[test]
    fn a_value_is_the_weighted_sum(well in well(), player in player(Set::ALL)) {
        for piece in Piece::ALL {
            for placement in Placement::all(piece) {
                let outcome = Outcome::of(&well, piece, placement, Overflow::Before);
                let terms = player.set().features().iter().zip(player.weights());
                let sum: i64 =
                    terms.map(|(f, &weight)| i64::from(weight) * i64::from(f.measure(&outcome))).sum();
                prop_assert_eq!(i64::from(player.value(&outcome)), sum);
                prop_assert_eq!(i64::from(player.set().value(&outcome, player.weights())), sum);
                // What leaves room for the placement's number in a word of the vector engine.
                prop_assert!(sum.abs() < 1 << 26, "{} of {:?} on\n{}", sum, player, outcome.well);
            }
        }
    }
}
