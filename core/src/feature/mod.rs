//! What a player looks at: one file a family of features, and the named sets.
//!
//! Every feature is an integer, [`Feature::unit`] times the quantity it is named after, so that half rows and
//! fractions stay exact on a chip without floating point.

use core::fmt;

use crate::piece::{Piece, Shape};
use crate::placement::Placement;
use crate::well::{Landing, Overflow, Well};

mod bertsekas_tsitsiklis;
mod bodoia_puranik;
mod cs3243;
pub(crate) mod dellacherie;
mod flom_robinson;
pub(crate) mod pattern;
mod rbf;
mod set;
pub(crate) mod surface;
pub(crate) mod thiery_scherrer;

pub use set::{MAX_FEATURES, Set};

/// The board after a placement, its lines cleared, and how the piece came there: all that features are made of.
///
/// A placement that loses has features too, for the game in which losing is allowed: its board reaches above the brim.
#[derive(Clone, Copy, Debug)]
pub struct Outcome {
    /// The board after clearing.
    pub well: Well,
    /// How the piece landed.
    pub landing: Landing,
    /// The shape that landed.
    pub shape: &'static Shape,
}

impl Outcome {
    /// What a placement leads to.
    ///
    /// # Panics
    /// If the placement is not [valid](Placement::is_valid) for the piece.
    ///
    /// ```text
    ///   ..........      ..OO......
    ///   ..........      ..OO......
    ///   XXX.......      XXX-......     the cell below the O is a hole
    /// ```
    ///
    /// ```
    /// use dropwise_core::feature::Outcome;
    /// use dropwise_core::{Feature, Overflow, Piece, Placement, Well};
    /// let well = Well::from_rows(["..........", "..........", "..........", "XXX......."]).unwrap();
    /// // An O on the edge of the pile covers an empty cell.
    /// let edge = Placement { orientation: 0, column: 2 };
    /// let outcome = Outcome::of(&well, Piece::O, edge, Overflow::Before);
    /// assert_eq!(Feature::Holes.measure(&outcome), 1);
    /// assert_eq!(Feature::MaxHeight.measure(&outcome), 3);
    /// // Landing height is counted in half rows: the middle of the O is one row and a half above the floor.
    /// assert_eq!(Feature::LandingHeight.measure(&outcome), 3);
    /// ```
    pub fn of(well: &Well, piece: Piece, placement: Placement, overflow: Overflow) -> Outcome {
        let mut well = *well;
        let landing = well.drop(piece, placement, overflow);
        Outcome { well, landing, shape: placement.shape(piece) }
    }
}

macro_rules! features {
    (@of action $outcome:ident) => { $outcome };
    (@of state $outcome:ident) => { &$outcome.well };
    (@is action) => { true };
    (@is state) => { false };
    ($($variant:ident $name:literal $unit:literal $kind:ident $measure:path, $doc:literal;)*) => {
        /// A single feature. Names are those of the literature, in snake case.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Feature {
            $(#[doc = $doc] $variant,)*
        }

        impl Feature {
            /// Every feature.
            pub const ALL: &[Feature] = &[$(Feature::$variant),*];

            /// Its name, in snake case.
            pub const fn name(self) -> &'static str {
                match self { $(Feature::$variant => $name),* }
            }

            /// What the feature means, in a sentence.
            pub const fn description(self) -> &'static str {
                match self { $(Feature::$variant => $doc),* }
            }

            /// The integer measured is the quantity times this.
            pub const fn unit(self) -> u16 {
                match self { $(Feature::$variant => $unit),* }
            }

            /// Whether the feature speaks of how the piece landed, not of the board that it leaves.
            pub const fn is_action(self) -> bool {
                match self { $(Feature::$variant => features!(@is $kind)),* }
            }

            /// The feature's value, times its unit.
            #[inline(always)]
            pub fn measure(self, outcome: &Outcome) -> i32 {
                match self { $(Feature::$variant => $measure(features!(@of $kind outcome))),* }
            }
        }
    };
}

features! {
    LandingHeight "landing_height" 2 action dellacherie::landing_height,
        "Height of the piece's middle where it landed, before clearing";
    ErodedCells "eroded_cells" 1 action dellacherie::eroded_cells,
        "Lines cleared times cells of this piece among them";
    RowTransitions "row_transitions" 1 state dellacherie::row_transitions,
        "Full/empty changes along the rows, walls full; an empty row counts 2";
    ColumnTransitions "column_transitions" 1 state dellacherie::column_transitions,
        "Full/empty changes up the columns, floor full; an empty column counts 1";
    Holes "holes" 1 state dellacherie::holes,
        "Empty cells with a full cell anywhere above";
    CumulativeWells "cumulative_wells" 1 state dellacherie::cumulative_wells,
        "For every empty cell between two full ones, the empty cells from it downward";
    HoleDepth "hole_depth" 1 state thiery_scherrer::hole_depth,
        "Full cells with an empty cell anywhere below (the code's definition)";
    HoleDepthSum "hole_depth_sum" 1 state thiery_scherrer::hole_depth_sum,
        "Sum over holes of the full cells above (the paper's words)";
    RowsWithHoles "rows_with_holes" 1 state thiery_scherrer::rows_with_holes,
        "Rows with at least one hole";
    PatternDiversity "pattern_diversity" 1 state pattern::pattern_diversity,
        "How many of -2..2 occur among the steps between neighbouring columns";
    ColumnHeight0 "column_height_0" 1 state bertsekas_tsitsiklis::column_height::<0>, "Height of column 0";
    ColumnHeight1 "column_height_1" 1 state bertsekas_tsitsiklis::column_height::<1>, "Height of column 1";
    ColumnHeight2 "column_height_2" 1 state bertsekas_tsitsiklis::column_height::<2>, "Height of column 2";
    ColumnHeight3 "column_height_3" 1 state bertsekas_tsitsiklis::column_height::<3>, "Height of column 3";
    ColumnHeight4 "column_height_4" 1 state bertsekas_tsitsiklis::column_height::<4>, "Height of column 4";
    ColumnHeight5 "column_height_5" 1 state bertsekas_tsitsiklis::column_height::<5>, "Height of column 5";
    ColumnHeight6 "column_height_6" 1 state bertsekas_tsitsiklis::column_height::<6>, "Height of column 6";
    ColumnHeight7 "column_height_7" 1 state bertsekas_tsitsiklis::column_height::<7>, "Height of column 7";
    ColumnHeight8 "column_height_8" 1 state bertsekas_tsitsiklis::column_height::<8>, "Height of column 8";
    ColumnHeight9 "column_height_9" 1 state bertsekas_tsitsiklis::column_height::<9>, "Height of column 9";
    AdjacentDifference0 "adjacent_difference_0" 1 state bertsekas_tsitsiklis::adjacent_difference::<0>,
        "Absolute height difference of columns 0 and 1";
    AdjacentDifference1 "adjacent_difference_1" 1 state bertsekas_tsitsiklis::adjacent_difference::<1>,
        "Absolute height difference of columns 1 and 2";
    AdjacentDifference2 "adjacent_difference_2" 1 state bertsekas_tsitsiklis::adjacent_difference::<2>,
        "Absolute height difference of columns 2 and 3";
    AdjacentDifference3 "adjacent_difference_3" 1 state bertsekas_tsitsiklis::adjacent_difference::<3>,
        "Absolute height difference of columns 3 and 4";
    AdjacentDifference4 "adjacent_difference_4" 1 state bertsekas_tsitsiklis::adjacent_difference::<4>,
        "Absolute height difference of columns 4 and 5";
    AdjacentDifference5 "adjacent_difference_5" 1 state bertsekas_tsitsiklis::adjacent_difference::<5>,
        "Absolute height difference of columns 5 and 6";
    AdjacentDifference6 "adjacent_difference_6" 1 state bertsekas_tsitsiklis::adjacent_difference::<6>,
        "Absolute height difference of columns 6 and 7";
    AdjacentDifference7 "adjacent_difference_7" 1 state bertsekas_tsitsiklis::adjacent_difference::<7>,
        "Absolute height difference of columns 7 and 8";
    AdjacentDifference8 "adjacent_difference_8" 1 state bertsekas_tsitsiklis::adjacent_difference::<8>,
        "Absolute height difference of columns 8 and 9";
    MaxHeight "max_height" 1 state bertsekas_tsitsiklis::max_height,
        "Height of the highest column";
    RbfHeight0 "rbf_height_0" 256 state rbf::rbf_height::<0>, "Gaussian of the mean height around 0";
    RbfHeight1 "rbf_height_1" 256 state rbf::rbf_height::<1>, "Gaussian of the mean height around H/4";
    RbfHeight2 "rbf_height_2" 256 state rbf::rbf_height::<2>, "Gaussian of the mean height around H/2";
    RbfHeight3 "rbf_height_3" 256 state rbf::rbf_height::<3>, "Gaussian of the mean height around 3H/4";
    RbfHeight4 "rbf_height_4" 256 state rbf::rbf_height::<4>, "Gaussian of the mean height around H";
    LandingBottom "landing_bottom" 1 action cs3243::landing_bottom,
        "Row where the lowest cell of the piece landed, before clearing";
    LandingTop "landing_top" 1 action cs3243::landing_top,
        "Landing bottom plus the piece's height";
    LinesCleared "lines_cleared" 1 action cs3243::lines_cleared,
        "Lines cleared by this piece";
    OuterWells "outer_wells" 1 state cs3243::outer_wells,
        "The part of cumulative wells that stands open, above the top of its column";
    InnerWells "inner_wells" 1 state cs3243::inner_wells,
        "The part of cumulative wells that is covered";
    ColumnTransitionsBelowBrim "column_transitions_below_brim" 1 state cs3243::column_transitions_below_brim,
        "Column transitions without the change at the brim of a column filled to the top";
    Wells "wells" 1 state flom_robinson::wells,
        "Columns at least three below both neighbours: only the I piece fits";
    Bumpiness "bumpiness" 1 state flom_robinson::bumpiness,
        "Sum of the absolute height differences of neighbouring columns";
    MeanDifference "mean_difference" 9 state flom_robinson::bumpiness,
        "Mean of the absolute height differences of neighbouring columns";
    MaxDifference "max_difference" 1 state bodoia_puranik::max_difference,
        "Largest absolute height difference of neighbouring columns";
    FlatSteps "flat_steps" 1 state surface::flat_steps,
        "Pairs of neighbouring columns that are equally high";
    SingleSteps "single_steps" 1 state surface::single_steps,
        "Pairs of neighbouring columns whose heights differ by one";
    FlatOccurs "flat_occurs" 1 state surface::flat_occurs,
        "Whether any two neighbouring columns are equally high: 1 or 0";
    SingleDirections "single_directions" 1 state surface::single_directions,
        "How many of -1 and 1 occur among the steps between neighbouring columns";
    DeepWells "deep_wells" 1 state surface::deep_wells,
        "Empty cells between two full ones with two empty cells straight below them";
    CoveredWells "covered_wells" 1 state surface::covered_wells,
        "Empty cells between two full ones and below the top of their column";
}

/// Names under which a paper knows a feature that another paper named first.
pub const SYNONYMS: &[(&str, Feature)] = &[
    ("pile_height", Feature::MaxHeight),
    ("closed_holes", Feature::Holes),
    ("lines_made", Feature::LinesCleared),
    ("covers", Feature::HoleDepth),
];

impl Feature {
    /// The feature of this name or synonym.
    ///
    /// ```
    /// use dropwise_core::Feature;
    /// assert_eq!(Feature::from_name("holes"), Some(Feature::Holes));
    /// assert_eq!(Feature::from_name("closed_holes"), Some(Feature::Holes));
    /// assert_eq!(Feature::from_name("potholes"), None);
    /// ```
    pub fn from_name(name: &str) -> Option<Feature> {
        let synonym = SYNONYMS.iter().find(|(synonym, _)| *synonym == name);
        synonym
            .map(|&(_, feature)| feature)
            .or_else(|| Feature::ALL.iter().copied().find(|feature| feature.name() == name))
    }
}

impl fmt::Display for Feature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
