//! Named sets of features: what a player's weights are the weights of.
//!
//! The sets grew from one another, so a set is the beginning of one of six lists.

use core::fmt;

use super::{Feature, Outcome};

/// The most features a set has (BDU).
pub const MAX_FEATURES: usize = 28;

macro_rules! lists {
    (@name $feature:ident) => { Feature::$feature.name() };
    (@name $feature:ident $label:literal) => { $label };
    ($($list:ident [$($feature:ident $(as $label:literal)?),* $(,)?];)*) => {$(
        mod $list {
            use crate::feature::{Feature, Outcome};

            pub(super) const FEATURES: &[Feature] = &[$(Feature::$feature),*];
            pub(super) const NAMES: &[&str] = &[$(lists!(@name $feature $($label)?)),*];

            /// The weighted sum of the first N features: code of its own for each N.
            pub(super) fn value<const N: usize>(outcome: &Outcome, weights: &[i16; N]) -> i32 {
                let (mut sum, mut i) = (0, 0);
                $(
                    if i < N {
                        sum += i32::from(weights[i]) * Feature::$feature.measure(outcome);
                    }
                    i += 1;
                )*
                let _ = i;
                sum
            }
        }
    )*};
}

lists! {
    dellacherie [
        LandingHeight, ErodedCells, RowTransitions, ColumnTransitions, Holes, CumulativeWells,
        HoleDepth, RowsWithHoles,
        PatternDiversity,
        RbfHeight0, RbfHeight1, RbfHeight2, RbfHeight3, RbfHeight4,
    ];
    bertsekas [
        ColumnHeight0, ColumnHeight1, ColumnHeight2, ColumnHeight3, ColumnHeight4,
        ColumnHeight5, ColumnHeight6, ColumnHeight7, ColumnHeight8, ColumnHeight9,
        AdjacentDifference0, AdjacentDifference1, AdjacentDifference2, AdjacentDifference3, AdjacentDifference4,
        AdjacentDifference5, AdjacentDifference6, AdjacentDifference7, AdjacentDifference8,
        MaxHeight, Holes,
        LandingHeight, ErodedCells, RowTransitions, ColumnTransitions, CumulativeWells,
        HoleDepth, RowsWithHoles,
    ];
    cs3243 [
        LandingBottom, LandingTop, LinesCleared, Holes, OuterWells, InnerWells, RowTransitions,
        ColumnTransitionsBelowBrim,
    ];
    flom_robinson [
        MaxHeight as "pile_height", Holes as "closed_holes", Wells, LinesCleared as "lines_made", Bumpiness,
    ];
    dropwise [
        LandingHeight, ErodedCells, RowTransitions, ColumnTransitions, Holes, CumulativeWells,
        HoleDepth, RowsWithHoles, PatternDiversity,
        FlatSteps, SingleSteps, FlatOccurs, SingleDirections, DeepWells, CoveredWells,
    ];
    bodoia [MaxHeight, Holes, HoleDepth as "covers", MeanDifference, MaxDifference];
}

macro_rules! sets {
    ($($(#[$doc:meta])* $id:literal $variant:ident $name:literal $len:literal $list:ident;)*) => {
        /// A named list of features, known at compile time and chosen at run time.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Set {
            $($(#[$doc])* $variant,)*
        }

        impl Set {
            /// Every set.
            pub const ALL: &[Set] = &[$(Set::$variant),*];

            /// Its number in flash and on the wire, which never changes and is never given to another set.
            pub const fn id(self) -> u8 {
                match self { $(Set::$variant => $id),* }
            }

            /// Its name, as weights files and `--features` spell it.
            pub const fn name(self) -> &'static str {
                match self { $(Set::$variant => $name),* }
            }

            /// Its features, in the order of the weights.
            pub const fn features(self) -> &'static [Feature] {
                match self { $(Set::$variant => $list::FEATURES.split_at($len).0),* }
            }

            /// The features' names, as the set's paper has them.
            pub const fn labels(self) -> &'static [&'static str] {
                match self { $(Set::$variant => $list::NAMES.split_at($len).0),* }
            }

            /// The weighted sum of the set's features.
            ///
            /// # Panics
            /// If there are fewer weights than features.
            pub fn value(self, outcome: &Outcome, weights: &[i16]) -> i32 {
                match self {
                    $(Set::$variant => {
                        let weights = weights.first_chunk().expect("a weight for each feature");
                        $list::value::<$len>(outcome, weights)
                    })*
                }
            }
        }
    };
}

sets! {
    /// Dellacherie's six features.
    1 D "d" 6 dellacherie;
    /// Thiery and Scherrer's eight: Dellacherie's, hole depth and rows with holes.
    2 Bcts "bcts" 8 dellacherie;
    /// Bertsekas and Tsitsiklis's 21.
    3 B "b" 21 bertsekas;
    /// B and D, holes counted once: 26.
    4 Bd "bd" 26 bertsekas;
    /// BD with hole depth and rows with holes: 28.
    5 Bdu "bdu" 28 bertsekas;
    /// BCTS's eight and pattern diversity (Gabillon, Ghavamzadeh and Scherrer).
    6 Dt "dt" 9 dellacherie;
    /// DT and five radial basis functions of the mean height.
    7 DtRbf "dt+rbf" 14 dellacherie;
    /// The CS3243 hybrid's eight.
    8 Cs3243 "cs3243" 8 cs3243;
    /// Flom and Robinson's five, under their own names.
    9 FlomRobinson "flom-robinson" 5 flom_robinson;
    /// Bodoia and Puranik's five, under their own names.
    10 Bodoia "bodoia" 5 bodoia;
    /// DT's nine and six of our own, on the steps of the surface and on wells.
    11 Dropwise "dropwise" 15 dropwise;
}

impl Set {
    /// The set of this name.
    ///
    /// ```
    /// use dropwise_core::Set;
    /// assert_eq!(Set::from_name("bcts"), Some(Set::Bcts));
    /// assert_eq!(Set::Bcts.features().len(), 8);
    /// ```
    pub fn from_name(name: &str) -> Option<Set> {
        Set::ALL.iter().copied().find(|set| set.name() == name)
    }

    /// The set of this [number](Set::id).
    ///
    /// ```
    /// use dropwise_core::Set;
    /// assert_eq!(Set::from_id(Set::Bcts.id()), Some(Set::Bcts));
    /// assert_eq!(Set::from_id(0), None);
    /// ```
    pub fn from_id(id: u8) -> Option<Set> {
        Set::ALL.iter().copied().find(|set| set.id() == id)
    }

    /// How many features, and so weights, the set has.
    pub const fn len(self) -> usize {
        self.features().len()
    }

    /// No set is empty.
    pub const fn is_empty(self) -> bool {
        self.len() == 0
    }
}

impl fmt::Display for Set {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Devices hold these numbers in flash: a set may be added, none may change.
    #[test]
    fn ids_stay_as_they_are() {
        let pinned = [
            (1, "d", 6),
            (2, "bcts", 8),
            (3, "b", 21),
            (4, "bd", 26),
            (5, "bdu", 28),
            (6, "dt", 9),
            (7, "dt+rbf", 14),
            (8, "cs3243", 8),
            (9, "flom-robinson", 5),
            (10, "bodoia", 5),
            (11, "dropwise", 15),
        ];
        for (id, name, len) in pinned {
            let set = Set::from_id(id).unwrap();
            assert_eq!((set.id(), set.name(), set.len()), (id, name, len));
        }
        assert_eq!(Set::ALL.len(), pinned.len(), "a new set is to be pinned here");
        for id in (u8::MIN..=u8::MAX).filter(|&id| !pinned.iter().any(|pin| pin.0 == id)) {
            assert_eq!(Set::from_id(id), None);
        }
    }

    #[test]
    fn labels_name_their_features() {
        for set in Set::ALL {
            assert_eq!(set.labels().len(), set.len());
            assert!(set.len() <= MAX_FEATURES);
            for (label, feature) in set.labels().iter().zip(set.features()) {
                assert_eq!(Feature::from_name(label), Some(*feature), "{label} in {set}");
            }
        }
    }
}
