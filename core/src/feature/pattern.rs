//! Pattern diversity (Gabillon, Ghavamzadeh and Scherrer 2013: the DT players).

use crate::well::{WIDTH, Well};

pub(crate) fn pattern_diversity(well: &Well) -> i32 {
    let heights = well.heights();
    let mut seen = 0u32;
    for x in 1..WIDTH {
        let step = i32::from(heights[x]) - i32::from(heights[x - 1]);
        if (-2..=2).contains(&step) {
            seen |= 1 << (step + 2);
        }
    }
    seen.count_ones() as i32
}
