//! A player's weights as the closed forms use them.

use crate::feature::{Feature, Set};
use crate::player::Player;
use crate::well::{WIDTH, Well};

/// The weights of Dellacherie's features and of those that came after them; what a set lacks weighs nothing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Weights {
    pub(super) landing_height: i32,
    pub(super) eroded_cells: i32,
    pub(super) row_transitions: i32,
    pub(super) column_transitions: i32,
    pub(super) holes: i32,
    pub(super) cumulative_wells: i32,
    pub(super) hole_depth: i32,
    pub(super) rows_with_holes: i32,
    pub(super) pattern_diversity: i32,
    pub(super) flat_steps: i32,
    pub(super) single_steps: i32,
    pub(super) flat_occurs: i32,
    pub(super) single_directions: i32,
    pub(super) deep_wells: i32,
    pub(super) covered_wells: i32,
    /// [`Weights::occurring`].
    occurring: [i32; 1 << STEPS],
    /// No steps are worth more for that.
    pub(super) most_occurring: i32,
}

/// The steps that pattern diversity counts: -2 to 2.
const STEPS: usize = 5;

/// The same features, in the same order.
const FEATURES: [Feature; 15] = [
    Feature::LandingHeight,
    Feature::ErodedCells,
    Feature::RowTransitions,
    Feature::ColumnTransitions,
    Feature::Holes,
    Feature::CumulativeWells,
    Feature::HoleDepth,
    Feature::RowsWithHoles,
    Feature::PatternDiversity,
    Feature::FlatSteps,
    Feature::SingleSteps,
    Feature::FlatOccurs,
    Feature::SingleDirections,
    Feature::DeepWells,
    Feature::CoveredWells,
];

/// Where a set has the features; beyond its end if nowhere.
const fn places(set: Set) -> [usize; FEATURES.len()] {
    let mut places = [0; FEATURES.len()];
    let mut i = 0;
    while i < FEATURES.len() {
        while places[i] < set.len() && set.features()[places[i]] as usize != FEATURES[i] as usize {
            places[i] += 1;
        }
        i += 1;
    }
    places
}

/// What any of the steps are worth together, by the bits of those that occur; and the most of that.
#[cold]
#[inline(never)]
fn occurring(each: [i32; STEPS]) -> ([i32; 1 << STEPS], i32) {
    let (mut all, mut most) = ([0; 1 << STEPS], 0);
    for (steps, worth) in all.iter_mut().enumerate() {
        *worth = each
            .iter()
            .enumerate()
            .map(|(step, &worth)| if steps >> step & 1 == 1 { worth } else { 0 })
            .sum();
        most = most.max(*worth);
    }
    (all, most)
}

impl Weights {
    /// The weights, if the set is one of those that have closed forms.
    pub(super) fn of(player: &Player) -> Option<Weights> {
        // A smaller set is the beginning of a larger one.
        let places = match player.set() {
            Set::D | Set::Bcts | Set::Dt | Set::Dropwise => const { places(Set::Dropwise) },
            Set::B | Set::Bd | Set::Bdu => const { places(Set::Bdu) },
            _ => return None,
        };
        let weight = |place: usize| player.weights().get(place).map_or(0, |&weight| i32::from(weight));
        let [
            landing_height,
            eroded_cells,
            row_transitions,
            column_transitions,
            holes,
            cumulative_wells,
            hole_depth,
            rows_with_holes,
            pattern_diversity,
            flat_steps,
            single_steps,
            flat_occurs,
            single_directions,
            deep_wells,
            covered_wells,
        ] = places.map(weight);
        let steps = [0, single_directions, flat_occurs, single_directions, 0];
        let (occurring, most_occurring) = occurring(steps.map(|own| pattern_diversity + own));
        Some(Weights {
            landing_height,
            eroded_cells,
            row_transitions,
            column_transitions,
            holes,
            cumulative_wells,
            hole_depth,
            rows_with_holes,
            pattern_diversity,
            flat_steps,
            single_steps,
            flat_occurs,
            single_directions,
            deep_wells,
            covered_wells,
            occurring,
            most_occurring,
        })
    }

    /// What steps are worth for occurring at all, by the bits of those that do: from -2 to 2.
    #[inline(always)]
    pub(super) fn occurring(&self, steps: u8) -> i32 {
        self.occurring[usize::from(steps) % (1 << STEPS)]
    }

    /// Whether it counts how often a step occurs.
    pub(super) fn counts_steps(&self) -> bool {
        self.flat_steps | self.single_steps != 0
    }

    /// Whether steps count at all.
    pub(super) fn looks_at_steps(&self) -> bool {
        self.counts_steps() || self.pattern_diversity | self.flat_occurs | self.single_directions != 0
    }

    /// Whether any of Dropwise's own features counts.
    pub(super) fn looks_at_surface(&self) -> bool {
        let occurring = self.flat_occurs | self.single_directions;
        self.counts_steps() || occurring | self.deep_wells | self.covered_wells != 0
    }
}

/// The weights of the columns' tops, with which the sets B, BD and BDU begin: ten heights, nine differences, the highest
/// column.
#[derive(Clone, Copy, Debug)]
pub(super) struct Skyline<'a> {
    weights: &'a [i16; 2 * WIDTH],
}

impl Skyline<'_> {
    /// The weights, if the set has them.
    #[inline]
    pub(super) fn of(player: &Player) -> Option<Skyline<'_>> {
        let has_them = matches!(player.set(), Set::B | Set::Bd | Set::Bdu);
        player.weights().first_chunk().filter(|_| has_them).map(|weights| Skyline { weights })
    }

    /// Of a column's height.
    #[inline(always)]
    pub(super) fn height(self, column: usize) -> i32 {
        i32::from(self.weights[column])
    }

    /// Of the difference between a column and the next.
    #[inline(always)]
    pub(super) fn difference(self, column: usize) -> i32 {
        i32::from(self.weights[WIDTH + column])
    }

    /// Of the highest column.
    #[inline(always)]
    pub(super) fn max_height(self) -> i32 {
        i32::from(self.weights[2 * WIDTH - 1])
    }

    /// What the tops of a board are worth.
    pub(super) fn worth(self, well: &Well) -> i32 {
        let height = |x: usize| i32::from(well.heights()[x]);
        let mut worth = self.max_height() * well.max_height() as i32 + self.height(0) * height(0);
        for x in 1..WIDTH {
            worth += self.height(x) * height(x) + self.difference(x - 1) * (height(x) - height(x - 1)).abs();
        }
        worth
    }
}
