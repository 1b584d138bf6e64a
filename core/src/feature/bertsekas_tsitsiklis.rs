//! Bertsekas and Tsitsiklis's features (1996): column heights, their differences, the highest column, holes.

use crate::well::Well;

pub(crate) fn column_height<const X: usize>(well: &Well) -> i32 {
    i32::from(well.heights()[X])
}

pub(crate) fn adjacent_difference<const X: usize>(well: &Well) -> i32 {
    let heights = well.heights();
    i32::from(heights[X].abs_diff(heights[X + 1]))
}

pub(crate) fn max_height(well: &Well) -> i32 {
    well.max_height() as i32
}
