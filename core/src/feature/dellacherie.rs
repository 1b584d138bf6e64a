//! Pierre Dellacherie's six features, as Thiery and Scherrer's code counts them.

use super::Outcome;
use crate::well::{MAX_ROWS, WIDTH, Well};

/// Every row a piece can reach.
const ALL_ROWS: u32 = (1 << MAX_ROWS) - 1;

pub(crate) fn landing_height(outcome: &Outcome) -> i32 {
    2 * i32::from(outcome.landing.row) + outcome.shape.height as i32 - 1
}

pub(crate) fn eroded_cells(outcome: &Outcome) -> i32 {
    i32::from(outcome.landing.lines) * i32::from(outcome.landing.eroded)
}

/// A row above the brim adds what it has over an empty row, so that the count of a losing placement follows the same
/// rule as any other.
pub(crate) fn row_transitions(well: &Well) -> i32 {
    let columns = well.columns();
    let mut changes = 0;
    let mut left = ALL_ROWS;
    for &cells in columns {
        changes += (left ^ cells).count_ones();
        left = cells;
    }
    changes += (left ^ ALL_ROWS).count_ones();
    changes as i32 - 2 * (MAX_ROWS - well.height()) as i32
}

pub(crate) fn column_transitions(well: &Well) -> i32 {
    let changes = |cells: u32| (cells ^ (cells << 1 | 1)).count_ones() as i32;
    well.columns().iter().map(|&cells| changes(cells)).sum()
}

pub(crate) fn holes(well: &Well) -> i32 {
    (0..WIDTH).map(|x| covered(well, x).count_ones() as i32).sum()
}

pub(crate) fn cumulative_wells(well: &Well) -> i32 {
    wells_within(well, |_| ALL_ROWS)
}

/// The empty cells of a column below its top.
pub(crate) fn covered(well: &Well, column: usize) -> u32 {
    let below_top = (1 << well.heights()[column]) - 1;
    !well.columns()[column] & below_top
}

/// Cumulative wells, counting the well cells in the chosen rows of each column.
pub(crate) fn wells_within(well: &Well, rows: impl Fn(usize) -> u32) -> i32 {
    let columns = well.columns();
    let mut sum = 0;
    for x in 0..WIDTH {
        let left = if x == 0 { ALL_ROWS } else { columns[x - 1] };
        let right = if x == WIDTH - 1 { ALL_ROWS } else { columns[x + 1] };
        let empty = !columns[x];
        // Well cells whose run of empty cells reaches at least one cell down, then two, then three...
        let mut deep = left & right & empty & rows(x);
        let mut reach = empty;
        while deep != 0 {
            sum += deep.count_ones() as i32;
            reach = empty & reach << 1;
            deep &= reach;
        }
    }
    sum
}
