//! The features Thiery and Scherrer added to Dellacherie's (2009).

use super::dellacherie::covered;
use crate::well::{WIDTH, Well};

pub(crate) fn hole_depth(well: &Well) -> i32 {
    let buried = |cells: u32| {
        let lowest_empty = !cells & (cells + 1);
        (cells & !(lowest_empty - 1)).count_ones() as i32
    };
    well.columns().iter().map(|&cells| buried(cells)).sum()
}

pub(crate) fn hole_depth_sum(well: &Well) -> i32 {
    let mut sum = 0;
    for (x, &cells) in well.columns().iter().enumerate() {
        let mut holes = covered(well, x);
        while holes != 0 {
            sum += (cells >> holes.trailing_zeros()).count_ones() as i32;
            holes &= holes - 1;
        }
    }
    sum
}

pub(crate) fn rows_with_holes(well: &Well) -> i32 {
    (0..WIDTH).fold(0, |rows, x| rows | covered(well, x)).count_ones() as i32
}
