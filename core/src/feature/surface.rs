//! Dropwise's own features: which steps the surface has, and what wells are like. With them a player knows how many of
//! the pieces that may come find a place that fits.
//!
//! ```text
//!     . . . . X . . . . .
//!     X . X . X X . . X .      steps: -2 +2 -3 +4 -1 -2 +1 +1 -1
//!     X . X . X X . X X X      no two neighbouring columns are equally high: the O fits nowhere
//!     X X X . X X X X X X      steps of one go up and down: S and Z both fit
//! ```

use super::dellacherie::covered;
use crate::well::{WIDTH, Well};

/// The steps from each column to the next.
fn steps(well: &Well) -> impl Iterator<Item = i32> {
    well.heights()[..WIDTH].windows(2).map(|pair| i32::from(pair[1]) - i32::from(pair[0]))
}

pub(crate) fn flat_steps(well: &Well) -> i32 {
    steps(well).filter(|&step| step == 0).count() as i32
}

pub(crate) fn single_steps(well: &Well) -> i32 {
    steps(well).filter(|step| step.abs() == 1).count() as i32
}

pub(crate) fn flat_occurs(well: &Well) -> i32 {
    i32::from(steps(well).any(|step| step == 0))
}

pub(crate) fn single_directions(well: &Well) -> i32 {
    [-1, 1].into_iter().filter(|&single| steps(well).any(|step| step == single)).count() as i32
}

/// The empty cells of a column between two full ones.
fn well_cells(well: &Well, x: usize) -> u32 {
    let beside = |x: usize| well.columns().get(x).copied().unwrap_or(u32::MAX);
    beside(x.wrapping_sub(1)) & beside(x + 1) & !well.columns()[x]
}

pub(crate) fn deep_wells(well: &Well) -> i32 {
    let deep = |x: usize| {
        let empty = !well.columns()[x];
        well_cells(well, x) & empty << 1 & empty << 2
    };
    (0..WIDTH).map(|x| deep(x).count_ones() as i32).sum()
}

pub(crate) fn covered_wells(well: &Well) -> i32 {
    (0..WIDTH).map(|x| (well_cells(well, x) & covered(well, x)).count_ones() as i32).sum()
}
