//! The features Flom and Robinson (2005) add to Fahey's: wells and bumpiness.

use crate::well::{WIDTH, Well};

/// The paper calls a well a space that only the I piece fits without making a hole: L and J reach two rows down
/// beside a wall, so a well is three deep or more.
const WELL_DEPTH: u8 = 3;

pub(crate) fn wells(well: &Well) -> i32 {
    let heights = well.heights();
    let deep = |x: &usize| {
        let brink = heights[*x] + WELL_DEPTH;
        (*x == 0 || heights[*x - 1] >= brink) && (*x == WIDTH - 1 || heights[*x + 1] >= brink)
    };
    (0..WIDTH).filter(deep).count() as i32
}

pub(crate) fn bumpiness(well: &Well) -> i32 {
    well.heights().windows(2).map(|pair| i32::from(pair[0].abs_diff(pair[1]))).sum()
}
