//! The closed forms in plain integers, each orientation known at compile time. This is what the device runs.

use super::{Best, Judgement, Weights};
use crate::feature::{dellacherie, pattern, thiery_scherrer};
use crate::piece::{MAX_EXTENT, Piece, SHAPES};
use crate::placement::Placement;
use crate::well::{Overflow, WIDTH, Well};

/// Columns of wall on each side, so that a piece's neighbours and theirs always exist.
const WALL: usize = 2;
const PADDED: usize = WIDTH + 2 * WALL;
const WALL_CELLS: u32 = !0;
/// Higher than any row, so that nothing inside a wall counts as a well.
const WALL_HEIGHT: i32 = 31;

/// The board, made ready for every placement on it. Arrays are indexed by column plus [`WALL`].
struct Surface<'a> {
    weights: &'a Weights,
    well: &'a Well,
    piece: Piece,
    judgement: Judgement,
    cells: [u32; PADDED],
    heights: [i32; PADDED],
    /// The height as a bit: 1 << height.
    brinks: [u32; PADDED],
    /// 1 where the column has a hole.
    buried: [i32; PADDED],
    /// The well cells above the top of the column.
    open_cells: [u32; PADDED],
    /// What they add to cumulative wells.
    open_wells: [i32; PADDED],
    /// Rows with a hole.
    hole_rows: u32,
    /// Rows with exactly this many empty cells, for 1 to 4.
    missing: [u32; MAX_EXTENT + 1],
    /// Whether a piece can land beside a hole that has a full cell on its other side.
    rough: bool,
    /// The steps that occur between columns left of this one, and from it on to the right: see [`step_bit`].
    steps_before: [u32; PADDED],
    steps_from: [u32; PADDED],
    /// [`column_worth`] of the board, once it was needed.
    column_worth: Option<i32>,
    best: i32,
    best_placement: Placement,
}

/// The value of a placement that may not be chosen; less than any that may.
const LOSES: i32 = i32::MIN;

pub(super) fn best(weights: &Weights, well: &Well, piece: Piece, judgement: Judgement) -> Option<Best> {
    let mut surface = Surface::new(weights, well, piece, judgement);
    each_shape!(piece, SHAPE, surface.orientation::<SHAPE>());
    let best = Best { placement: surface.best_placement, value: surface.best };
    (best.value != LOSES).then_some(best)
}

/// The worth of a board as it stands: the features that a placement changes by a closed form.
pub(super) fn standing(weights: &Weights, well: &Well) -> i32 {
    weights.row_transitions * dellacherie::row_transitions(well)
        + weights.column_transitions * dellacherie::column_transitions(well)
        + weights.holes * dellacherie::holes(well)
        + weights.cumulative_wells * dellacherie::cumulative_wells(well)
        + weights.hole_depth * thiery_scherrer::hole_depth(well)
        + weights.rows_with_holes * thiery_scherrer::rows_with_holes(well)
}

/// The part of [`standing`] that is counted column by column: all but the row transitions. Most columns have no hole,
/// and such a column counts one transition and its open well.
fn column_worth(weights: &Weights, well: &Well) -> i32 {
    let columns = well.columns();
    let (mut changes, mut holes, mut depth, mut wells, mut hole_rows) = (0, 0, 0, 0, 0);
    let mut left = WALL_CELLS;
    for x in 0..WIDTH {
        let cells = columns[x];
        let right = columns.get(x + 1).copied().unwrap_or(WALL_CELLS);
        let height = i32::from(well.heights()[x]);
        let between = left & right & !cells;
        let gaps = cells & (cells + 1);
        if gaps == 0 {
            changes += 1;
            wells += open_sum(between, height);
        } else {
            let covered = !cells & ((1 << height) - 1);
            hole_rows |= covered;
            changes += (cells ^ (cells << 1 | 1)).count_ones();
            holes += covered.count_ones();
            // The cells above the lowest empty one.
            depth += gaps.count_ones();
            wells += open_sum(between & !covered, height);
            let mut deep = between & covered;
            let mut reach = covered;
            while deep != 0 {
                wells += deep.count_ones() as i32;
                reach = covered & reach << 1;
                deep &= reach;
            }
        }
        left = cells;
    }
    weights.column_transitions * changes as i32
        + weights.holes * holes as i32
        + weights.cumulative_wells * wells
        + weights.hole_depth * depth as i32
        + weights.rows_with_holes * hole_rows.count_ones() as i32
}

/// A step between neighbouring columns as a bit, if it is one that pattern diversity counts.
#[inline(always)]
pub(super) fn step_bit(step: i32) -> u32 {
    if (-2..=2).contains(&step) { 1 << (step + 2) } else { 0 }
}

/// Rows with exactly 1, 2, 3 and 4 empty cells: the columns added up as binary digits, all rows at once.
#[inline(always)]
fn missing(cells: &[u32; WIDTH]) -> [u32; MAX_EXTENT + 1] {
    const fn add(a: u32, b: u32, c: u32) -> (u32, u32) {
        let half = a ^ b;
        (half ^ c, a & b | half & c)
    }
    let e = cells.map(|cells| !cells);
    let (s0, c0) = add(e[0], e[1], e[2]);
    let (s1, c1) = add(e[3], e[4], e[5]);
    let (s2, c2) = add(e[6], e[7], e[8]);
    let (s3, c3) = add(s0, s1, s2);
    let (ones, c4) = add(s3, e[9], 0);
    let (s4, d0) = add(c0, c1, c2);
    let (twos, d1) = add(s4, c3, c4);
    let (fours, eights) = (d0 ^ d1, d0 & d1);
    let few = !fours & !eights;
    [0, ones & !twos & few, !ones & twos & few, ones & twos & few, !ones & !twos & fours & !eights]
}

/// For each column of one of [`SHAPES`]: the rows from the piece's lowest one up in which the cell below the piece has
/// the same neighbours as before.
pub(super) const fn untouched_rows(shape: usize) -> [usize; MAX_EXTENT] {
    let shape = SHAPES[shape];
    let mut rows = [0; MAX_EXTENT];
    let mut x = 0;
    while x < shape.width {
        let mut row = 0;
        while row < shape.bottom[x] && shape.right[row] != x && shape.left[row] != x + 1 {
            row += 1;
        }
        rows[x] = row;
        x += 1;
    }
    rows
}

/// Cumulative wells of open well cells over a column of this height.
#[inline(always)]
fn open_sum(mut cells: u32, height: i32) -> i32 {
    let mut sum = 0;
    while cells != 0 {
        sum += cells.trailing_zeros() as i32 + 1 - height;
        cells &= cells - 1;
    }
    sum
}

impl<'a> Surface<'a> {
    fn new(weights: &'a Weights, well: &'a Well, piece: Piece, judgement: Judgement) -> Self {
        let mut surface = Surface {
            weights,
            well,
            piece,
            judgement,
            cells: [WALL_CELLS; PADDED],
            heights: [WALL_HEIGHT; PADDED],
            brinks: [1 << WALL_HEIGHT; PADDED],
            buried: [0; PADDED],
            open_cells: [0; PADDED],
            open_wells: [0; PADDED],
            hole_rows: 0,
            missing: missing(well.columns()),
            rough: false,
            steps_before: [0; PADDED],
            steps_from: [0; PADDED],
            column_worth: None,
            best: LOSES,
            best_placement: Placement { orientation: 0, column: 0 },
        };
        for x in 0..WIDTH {
            surface.cells[x + WALL] = well.columns()[x];
            surface.heights[x + WALL] = i32::from(well.heights()[x]);
            surface.brinks[x + WALL] = 1 << well.heights()[x];
        }
        let mut rough = 0;
        for x in WALL..WALL + WIDTH {
            let (left, right) = (surface.cells[x - 1], surface.cells[x + 1]);
            let covered = !surface.cells[x] & (surface.brinks[x] - 1);
            surface.hole_rows |= covered;
            surface.buried[x] = i32::from(covered != 0);
            let from_left = right & !(surface.brinks[x - 1] - 1);
            let from_right = left & !(surface.brinks[x + 1] - 1);
            rough |= covered & (from_left | from_right);
            let open = left & right & !(surface.brinks[x] - 1);
            surface.open_cells[x] = open;
            surface.open_wells[x] = open_sum(open, surface.heights[x]);
        }
        surface.rough = rough != 0;
        if weights.pattern_diversity != 0 {
            for x in WALL + 1..WALL + WIDTH {
                let step = step_bit(surface.heights[x] - surface.heights[x - 1]);
                surface.steps_before[x + 1] = surface.steps_before[x] | step;
            }
            for x in (WALL..WALL + WIDTH - 1).rev() {
                let step = step_bit(surface.heights[x + 1] - surface.heights[x]);
                surface.steps_from[x] = surface.steps_from[x + 1] | step;
            }
        }
        surface
    }

    /// Tries every column for one of [`SHAPES`].
    #[inline(always)]
    fn orientation<const SHAPE: usize>(&mut self) {
        let shape = const { SHAPES[SHAPE] };
        let orientation = (SHAPE - self.piece.first_shape()) as u8;
        let mut best = self.best;
        for column in 0..shape.positions(WIDTH) {
            let value = self.value::<SHAPE>(column);
            if value > best {
                best = value;
                self.best_placement = Placement { orientation, column: column as u8 };
            }
        }
        self.best = best;
    }

    /// What the placement changes, or [`LOSES`] if it may not be chosen.
    #[inline(always)]
    fn value<const SHAPE: usize>(&mut self, column: usize) -> i32 {
        let shape = const { SHAPES[SHAPE] };
        let weights = self.weights;
        let at = column + WALL;

        // The landing row as a number and as a bit.
        let (mut y, mut y_bit) = (0, 0);
        for x in 0..shape.width {
            y = y.max(self.heights[at + x] - shape.bottom[x] as i32);
            y_bit = y_bit.max(self.brinks[at + x] >> shape.bottom[x]);
        }
        let over = y as usize + shape.height > self.well.height();
        if over && self.judgement.overflow == Overflow::Before && !self.judgement.allow_losing {
            return LOSES;
        }

        let (mut full, mut neighbours) = (0, 0);
        for row in 0..shape.height {
            let bit = y_bit << row;
            full |= self.missing[shape.row_len(row)] & bit;
            neighbours += i32::from(self.cells[at + shape.left[row] - 1] & bit != 0);
            neighbours += i32::from(self.cells[at + shape.right[row]] & bit != 0);
        }
        let mut value = weights.landing_height * (2 * y + shape.height as i32 - 1)
            + weights.row_transitions * 2 * (shape.height as i32 - neighbours);
        if over || full != 0 {
            let clears = full != 0 && !(over && self.judgement.overflow == Overflow::Before);
            if clears {
                return self.value_cleared(SHAPE, column, value);
            }
            if over && !self.judgement.allow_losing {
                return LOSES;
            }
        }

        // No branch on whether there is a gap: it would be wrong too often.
        let (mut gaps, mut gap_columns, mut gap_rows, mut depth, mut wells) = (0, 0, 0, 0, 0);
        for x in 0..shape.width {
            let gap = (y_bit << shape.bottom[x]) - self.brinks[at + x];
            gap_rows |= gap;
            gap_columns += i32::from(gap != 0);
            gaps += y + shape.bottom[x] as i32 - self.heights[at + x];
            depth += (self.buried[at + x] | i32::from(gap != 0)) * (shape.top[x] - shape.bottom[x]) as i32;
            wells -= self.open_wells[at + x];
            let untouched = const { untouched_rows(SHAPE) }[x];
            let kept = self.open_cells[at + x] & ((y_bit << untouched) - 1);
            wells += open_sum(kept, self.heights[at + x]);
        }
        value += weights.column_transitions * 2 * gap_columns
            + weights.holes * gaps
            + weights.rows_with_holes * (gap_rows & !self.hole_rows).count_ones() as i32;
        if shape.width == 1 {
            // Above a piece one column wide its neighbours still make a well, from a higher floor.
            let floor = y + shape.height as i32;
            wells += open_sum(self.open_cells[at] & u32::MAX << floor, floor);
        }
        for row in 0..shape.height {
            let bit = y_bit << row;
            let (left, right) = (at + shape.left[row], at + shape.right[row]);
            // Beside the row may stand a lower column of the piece itself.
            let own_top =
                |x: usize| if x < shape.width && shape.top[x] <= row { Some(shape.top[x]) } else { None };
            let left_floor = match own_top(shape.left[row].wrapping_sub(1)) {
                Some(top) => y + top as i32,
                None => self.heights[left - 1],
            };
            let right_floor = match own_top(shape.right[row]) {
                Some(top) => y + top as i32,
                None => self.heights[right],
            };
            let above = y + row as i32 + 1;
            let left_depth = (above - left_floor).max(0);
            let right_depth = (above - right_floor).max(0);
            wells += if self.cells[left - 2] & bit != 0 { left_depth } else { 0 };
            wells += if self.cells[right + 1] & bit != 0 { right_depth } else { 0 };
        }
        if self.rough {
            wells += covered_wells(self.well, SHAPE, column, y as usize) as i32;
        }
        value += weights.cumulative_wells * wells + weights.hole_depth * depth;

        if weights.pattern_diversity != 0 {
            let (before, after) = (at - 1, at + shape.width);
            let mut steps = self.steps_before[at] | self.steps_from[after];
            steps |= step_bit(y + shape.top[0] as i32 - self.heights[before]);
            steps |= step_bit(self.heights[after] - y - shape.top[shape.width - 1] as i32);
            for x in 1..shape.width {
                steps |= step_bit(shape.top[x] as i32 - shape.top[x - 1] as i32);
            }
            value += weights.pattern_diversity * steps.count_ones() as i32;
        }
        value
    }

    /// A placement that clears lines: the board is made and counted. `value` has its landing height and row transitions
    /// as if it cleared nothing.
    #[inline(never)]
    fn value_cleared(&mut self, shape: usize, column: usize, value: i32) -> i32 {
        let orientation = (shape - self.piece.first_shape()) as u8;
        let placement = Placement { orientation, column: column as u8 };
        let mut well = *self.well;
        let landing = well.drop(self.piece, placement, self.judgement.overflow);
        if landing.loses && !self.judgement.allow_losing {
            return LOSES;
        }
        let weights = self.weights;
        let before = *self.column_worth.get_or_insert_with(|| column_worth(weights, self.well));
        let lines = i32::from(landing.lines);
        // A full line has no transitions; the empty one that comes in at the top has two.
        let mut value = value
            + weights.row_transitions * 2 * lines
            + weights.eroded_cells * lines * i32::from(landing.eroded)
            + column_worth(weights, &well)
            - before;
        if weights.pattern_diversity != 0 {
            value += weights.pattern_diversity * pattern::pattern_diversity(&well);
        }
        value
    }
}

/// What a placement on row y adds to cumulative wells under the tops of the columns beside it.
#[cold]
pub(super) fn covered_wells(well: &Well, shape: usize, column: usize, y: usize) -> u32 {
    let shape = &SHAPES[shape];
    let cells = |x: usize| well.columns().get(x).copied().unwrap_or(WALL_CELLS);
    let mut sum = 0;
    for row in 0..shape.height {
        let r = y + row;
        let (left, right) = (column + shape.left[row], column + shape.right[row]);
        // A column before the first one wraps round and is a wall as well.
        for (beside, beyond) in [(left.wrapping_sub(1), left.wrapping_sub(2)), (right, right + 1)] {
            let Some(&height) = well.heights().get(beside) else { continue };
            if r < usize::from(height) && cells(beyond) >> r & 1 == 1 {
                sum += (!cells(beside) << (31 - r)).leading_ones();
            }
        }
    }
    sum
}
