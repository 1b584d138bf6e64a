//! Named sets of features: what a player's weights are the weights of.

use core::fmt;

use super::{Feature, Outcome};

/// The most features a set has (BDU).
pub const MAX_FEATURES: usize = 28;

macro_rules! sets {
    ($($(#[$doc:meta])* $variant:ident $name:literal [$($feature:ident $label:literal),* $(,)?];)*) => {
        /// A named list of features, known at compile time and chosen at run time.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Set {
            $($(#[$doc])* $variant,)*
        }

        impl Set {
            /// Every set.
            pub const ALL: &[Set] = &[$(Set::$variant),*];

            /// Its name, as weights files and `--features` spell it.
            pub const fn name(self) -> &'static str {
                match self { $(Set::$variant => $name),* }
            }

            /// Its features, in the order of the weights.
            pub const fn features(self) -> &'static [Feature] {
                match self { $(Set::$variant => &[$(Feature::$feature),*]),* }
            }

            /// The features' names, as the set's paper has them.
            pub const fn labels(self) -> &'static [&'static str] {
                match self { $(Set::$variant => &[$($label),*]),* }
            }

            /// The weighted sum of the set's features.
            ///
            /// # Panics
            /// If there are fewer weights than features.
            pub fn value(self, outcome: &Outcome, weights: &[i16]) -> i32 {
                match self {
                    $(Set::$variant => {
                        let mut weights = weights.iter();
                        let mut next = || i32::from(*weights.next().expect("a weight for each feature"));
                        0 $(+ next() * Feature::$feature.measure(outcome))*
                    })*
                }
            }
        }
    };
}

sets! {
    /// Dellacherie's six features.
    D "d" [
        LandingHeight "landing_height", ErodedCells "eroded_cells", RowTransitions "row_transitions",
        ColumnTransitions "column_transitions", Holes "holes", CumulativeWells "cumulative_wells",
    ];
    /// Thiery and Scherrer's eight: Dellacherie's, hole depth and rows with holes.
    Bcts "bcts" [
        LandingHeight "landing_height", ErodedCells "eroded_cells", RowTransitions "row_transitions",
        ColumnTransitions "column_transitions", Holes "holes", CumulativeWells "cumulative_wells",
        HoleDepth "hole_depth", RowsWithHoles "rows_with_holes",
    ];
    /// Bertsekas and Tsitsiklis's 21.
    B "b" [
        ColumnHeight0 "column_height_0", ColumnHeight1 "column_height_1", ColumnHeight2 "column_height_2",
        ColumnHeight3 "column_height_3", ColumnHeight4 "column_height_4", ColumnHeight5 "column_height_5",
        ColumnHeight6 "column_height_6", ColumnHeight7 "column_height_7", ColumnHeight8 "column_height_8",
        ColumnHeight9 "column_height_9",
        AdjacentDifference0 "adjacent_difference_0", AdjacentDifference1 "adjacent_difference_1",
        AdjacentDifference2 "adjacent_difference_2", AdjacentDifference3 "adjacent_difference_3",
        AdjacentDifference4 "adjacent_difference_4", AdjacentDifference5 "adjacent_difference_5",
        AdjacentDifference6 "adjacent_difference_6", AdjacentDifference7 "adjacent_difference_7",
        AdjacentDifference8 "adjacent_difference_8",
        MaxHeight "max_height", Holes "holes",
    ];
    /// Both, holes counted once: 26.
    Bd "bd" [
        ColumnHeight0 "column_height_0", ColumnHeight1 "column_height_1", ColumnHeight2 "column_height_2",
        ColumnHeight3 "column_height_3", ColumnHeight4 "column_height_4", ColumnHeight5 "column_height_5",
        ColumnHeight6 "column_height_6", ColumnHeight7 "column_height_7", ColumnHeight8 "column_height_8",
        ColumnHeight9 "column_height_9",
        AdjacentDifference0 "adjacent_difference_0", AdjacentDifference1 "adjacent_difference_1",
        AdjacentDifference2 "adjacent_difference_2", AdjacentDifference3 "adjacent_difference_3",
        AdjacentDifference4 "adjacent_difference_4", AdjacentDifference5 "adjacent_difference_5",
        AdjacentDifference6 "adjacent_difference_6", AdjacentDifference7 "adjacent_difference_7",
        AdjacentDifference8 "adjacent_difference_8",
        MaxHeight "max_height", Holes "holes",
        LandingHeight "landing_height", ErodedCells "eroded_cells", RowTransitions "row_transitions",
        ColumnTransitions "column_transitions", CumulativeWells "cumulative_wells",
    ];
    /// BD with hole depth and rows with holes: 28.
    Bdu "bdu" [
        ColumnHeight0 "column_height_0", ColumnHeight1 "column_height_1", ColumnHeight2 "column_height_2",
        ColumnHeight3 "column_height_3", ColumnHeight4 "column_height_4", ColumnHeight5 "column_height_5",
        ColumnHeight6 "column_height_6", ColumnHeight7 "column_height_7", ColumnHeight8 "column_height_8",
        ColumnHeight9 "column_height_9",
        AdjacentDifference0 "adjacent_difference_0", AdjacentDifference1 "adjacent_difference_1",
        AdjacentDifference2 "adjacent_difference_2", AdjacentDifference3 "adjacent_difference_3",
        AdjacentDifference4 "adjacent_difference_4", AdjacentDifference5 "adjacent_difference_5",
        AdjacentDifference6 "adjacent_difference_6", AdjacentDifference7 "adjacent_difference_7",
        AdjacentDifference8 "adjacent_difference_8",
        MaxHeight "max_height", Holes "holes",
        LandingHeight "landing_height", ErodedCells "eroded_cells", RowTransitions "row_transitions",
        ColumnTransitions "column_transitions", CumulativeWells "cumulative_wells",
        HoleDepth "hole_depth", RowsWithHoles "rows_with_holes",
    ];
    /// BCTS's eight and pattern diversity (Gabillon, Ghavamzadeh and Scherrer).
    Dt "dt" [
        LandingHeight "landing_height", ErodedCells "eroded_cells", RowTransitions "row_transitions",
        ColumnTransitions "column_transitions", Holes "holes", CumulativeWells "cumulative_wells",
        HoleDepth "hole_depth", RowsWithHoles "rows_with_holes", PatternDiversity "pattern_diversity",
    ];
    /// DT and five radial basis functions of the mean height.
    DtRbf "dt+rbf" [
        LandingHeight "landing_height", ErodedCells "eroded_cells", RowTransitions "row_transitions",
        ColumnTransitions "column_transitions", Holes "holes", CumulativeWells "cumulative_wells",
        HoleDepth "hole_depth", RowsWithHoles "rows_with_holes", PatternDiversity "pattern_diversity",
        RbfHeight0 "rbf_height_0", RbfHeight1 "rbf_height_1", RbfHeight2 "rbf_height_2",
        RbfHeight3 "rbf_height_3", RbfHeight4 "rbf_height_4",
    ];
    /// The CS3243 hybrid's eight.
    Cs3243 "cs3243" [
        LandingBottom "landing_bottom", LandingTop "landing_top", LinesCleared "lines_cleared", Holes "holes",
        OuterWells "outer_wells", InnerWells "inner_wells", RowTransitions "row_transitions",
        ColumnTransitionsBelowBrim "column_transitions_below_brim",
    ];
    /// Flom and Robinson's five.
    FlomRobinson "flom-robinson" [
        MaxHeight "pile_height", Holes "closed_holes", Wells "wells", LinesCleared "lines_made",
        Bumpiness "bumpiness",
    ];
    /// Bodoia and Puranik's five.
    Bodoia "bodoia" [
        MaxHeight "max_height", Holes "holes", HoleDepth "covers", MeanDifference "mean_difference",
        MaxDifference "max_difference",
    ];
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
