//! The closed forms in plain integers, each orientation known at compile time. This is what the device runs.
//!
//! Most placements are nowhere near the best, and what is quick to count shows it. So a placement is counted in three
//! steps, and dropped as soon as the most it can still be worth does not exceed the best so far:
//!
//! 1. where it lands, what it buries and which open wells it fills; the columns' tops, if the set looks at them;
//! 2. the row transitions at its sides;
//! 3. all else, which with the weights that players have can only make it worse.
//!
//! Of 23 placements of a piece, bcts takes the second step with 11 and the third with 4. Players that look at the surface
//! count its steps in the first step: by these the value may rise.

use super::{Best, Count, Judgement, Skyline, Weights};
use crate::feature::{Outcome, dellacherie};
use crate::piece::{MAX_EXTENT, Piece, SHAPES, Shape};
use crate::placement::Placement;
use crate::well::{Overflow, WIDTH, Well};

mod more;
mod tables;
mod tops;

pub(super) use tables::UNTOUCHED_ROWS;
use tables::{FEW, SIDES};

/// Columns of wall on each side, so that a piece's neighbours and theirs always exist.
const WALL: usize = 2;
const PADDED: usize = WIDTH + 2 * WALL;
const WALL_CELLS: u32 = !0;
/// Higher than any row, so that nothing inside a wall counts as a well.
const WALL_HEIGHT: i32 = 31;

/// A column of the board, made ready for every placement on it or beside it. Four words, so that a load of the device
/// reaches every column that a placement looks at from the first one.
#[derive(Clone, Copy)]
struct Column {
    cells: u32,
    height: i32,
    /// What the columns left of this one are worth to pieces that land on them: a piece fills the open wells, and where
    /// it lands on row y it buries y cells less the height. For sets that look at the tops, the old ones go as well.
    worth_before: i32,
    /// The well cells above the top.
    open_cells: u32,
}

/// The board, made ready for every placement on it.
struct Surface<'a> {
    weights: &'a Weights,
    skyline: Option<Skyline<'a>>,
    well: &'a Well,
    piece: Piece,
    judgement: Judgement,
    /// Indexed by column plus [`WALL`].
    columns: [Column; PADDED],
    /// Rows with a hole.
    hole_rows: u32,
    /// Rows with exactly this many empty cells, for 1 to 4.
    missing: [u32; MAX_EXTENT + 1],
    /// Whether a piece can land beside a hole that has a full cell on its other side.
    rough: bool,
    /// The steps that occur between columns left of this one, and from it on to the right: see [`step_bit`].
    steps_before: [u8; PADDED],
    steps_from: [u8; PADDED],
    /// How much more the third step may add.
    hope: i32,
}

/// The best placement so far.
struct Choice {
    value: i32,
    placement: Placement,
    /// [`Surface::column_worth`] of the board, once it was needed.
    column_worth: Option<i32>,
}

/// Less than the value of any placement.
const NONE: i32 = -(1 << 30);
/// More than the values of any two placements differ by.
const UNBOUNDED: i32 = 1 << 29;
/// How many empty cells make a well deep.
const DEEP: i32 = 3;

pub(super) fn best(
    weights: &Weights,
    skyline: Option<Skyline<'_>>,
    well: &Well,
    piece: Piece,
    judgement: Judgement,
) -> Option<Best> {
    let mut surface = Surface {
        weights,
        skyline,
        well,
        piece,
        judgement,
        columns: [Column { cells: WALL_CELLS, height: WALL_HEIGHT, worth_before: 0, open_cells: 0 }; PADDED],
        hole_rows: 0,
        missing: missing(well.columns()),
        rough: false,
        steps_before: [0; PADDED],
        steps_from: [0; PADDED],
        hope: hope(weights),
    };
    surface.measure_columns();
    if weights.looks_at_steps() {
        surface.measure_steps();
    }
    let mut choice =
        Choice { value: NONE, placement: Placement { orientation: 0, column: 0 }, column_worth: None };
    if let Some(skyline) = skyline {
        surface.measure_tops(skyline);
        for turn in 0..piece.orientations().len() {
            surface.orientation_with_tops(piece.first_shape() + turn, skyline, &mut choice);
        }
    } else if weights.looks_at_surface() {
        surface.measure_step_worths();
        for turn in 0..piece.orientations().len() {
            surface.orientation_with_more(piece.first_shape() + turn, &mut choice);
        }
    } else {
        each_shape!(
            piece,
            SHAPE,
            surface.orientation(
                SHAPE,
                &mut choice,
                0,
                |_, _| 0,
                |column, y, _| surface.rest::<SHAPE>(column, y)
            )
        );
    }
    (choice.value != NONE).then_some(Best { placement: choice.placement, value: choice.value })
}

/// The worth of a board as it stands: the features that a placement changes by a closed form.
pub(super) fn standing(weights: &Weights, skyline: Option<Skyline<'_>>, well: &Well) -> i32 {
    skyline.map_or(0, |skyline| skyline.worth(well))
        + weights.row_transitions * dellacherie::row_transitions(well)
        + column_worth(weights, well)
}

/// A placement counted in full.
pub(super) fn count(weights: &Weights, skyline: Option<Skyline<'_>>, outcome: &Outcome) -> Count {
    let standing = standing(weights, skyline, &outcome.well);
    let landing = weights.landing_height * dellacherie::landing_height(outcome)
        + weights.eroded_cells * dellacherie::eroded_cells(outcome);
    let steps = if weights.looks_at_steps() { weights.occurring(steps_of(&outcome.well)) } else { 0 };
    Count { landing, value: landing + standing + steps, standing }
}

/// The part of [`standing`] that is counted column by column: all but the row transitions. Most columns have no hole,
/// and such a column counts one transition and its open well.
fn column_worth(weights: &Weights, well: &Well) -> i32 {
    let columns = well.columns();
    let (mut changes, mut holes, mut depth, mut wells, mut hole_rows) = (WIDTH as i32, 0, 0, 0, 0);
    let (has_more, mut more) = (weights.looks_at_surface(), 0);
    let mut left = WALL_CELLS;
    let mut last = WALL_HEIGHT;
    for x in 0..WIDTH {
        let cells = columns[x];
        let right = columns.get(x + 1).copied().unwrap_or(WALL_CELLS);
        let height = i32::from(well.heights()[x]);
        let between = left & right & !cells;
        let mut open = between;
        if cells & (cells + 1) != 0 {
            let covered = !cells & ((1 << height) - 1);
            hole_rows |= covered;
            let count = count_few(covered);
            holes += count;
            // Two for each run of holes.
            changes += 2 * count_few(covered & !(covered << 1));
            // The full cells above the lowest empty one.
            depth += height - cells.trailing_ones() as i32 - count;
            open = between & !covered;
            let mut deep = between & covered;
            if has_more {
                more += weights.more_of_covered(cells, deep);
            }
            let mut reach = covered;
            while deep != 0 {
                wells += count_few(deep);
                reach = covered & reach << 1;
                deep &= reach;
            }
        }
        wells += open_sum(open, height);
        if has_more {
            more += weights.deep_wells * count_few(open >> (height + DEEP - 1)) + weights.step(height - last);
            last = height;
        }
        left = cells;
    }
    more + weights.column_transitions * changes
        + weights.holes * holes
        + weights.cumulative_wells * wells
        + weights.hole_depth * depth
        + weights.rows_with_holes * count_few(hole_rows)
}

/// A step between neighbouring columns as a bit, if it is one that pattern diversity counts.
#[inline(always)]
pub(super) fn step_bit(step: i32) -> u8 {
    if (-2..=2).contains(&step) { 1 << (step + 2) } else { 0 }
}

/// The bits of all steps that occur.
fn steps_of(well: &Well) -> u8 {
    let steps = well.heights().windows(2).map(|pair| step_bit(i32::from(pair[1]) - i32::from(pair[0])));
    steps.fold(0, |all, step| all | step)
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

/// The same in a place of its own, for code that there are nineteen copies of.
#[inline(never)]
fn open_sum_apart(cells: u32, height: i32) -> i32 {
    open_sum(cells, height)
}

/// How many empty cells there are in a column from this row down.
#[inline(always)]
fn depth_of(cells: u32, row: u32) -> i32 {
    (!cells << (31 - row)).leading_ones() as i32
}

impl Weights {
    /// What a well cell that many empty cells deep is worth.
    #[inline(always)]
    fn well(&self, depth: i32) -> i32 {
        self.cumulative_wells * depth + if depth >= DEEP { self.deep_wells } else { 0 }
    }

    /// What one is worth that is covered.
    #[inline(always)]
    fn covered_well(&self, depth: i32) -> i32 {
        self.well(depth) + self.covered_wells
    }

    /// What covered well cells of a column are worth beside their depths.
    fn more_of_covered(&self, cells: u32, mut wells: u32) -> i32 {
        let mut worth = 0;
        while wells != 0 {
            let depth = depth_of(cells, wells.trailing_zeros());
            worth += self.covered_well(depth) - self.cumulative_wells * depth;
            wells &= wells - 1;
        }
        worth
    }

    /// What open well cells over a column of this height are worth.
    #[inline(always)]
    fn open_wells(&self, cells: u32, height: i32) -> i32 {
        let worth = self.cumulative_wells * open_sum(cells, height);
        // Those that are deep stand some rows above the top.
        worth
            + if self.deep_wells != 0 { self.deep_wells * count_few(cells >> (height + DEEP - 1)) } else { 0 }
    }

    /// What a step between neighbouring columns is worth each time it occurs.
    #[inline(always)]
    fn step(&self, step: i32) -> i32 {
        match step {
            0 => self.flat_steps,
            -1 | 1 => self.single_steps,
            _ => 0,
        }
    }
}

impl Surface<'_> {
    /// Reads the columns between the walls.
    #[inline(never)]
    fn measure_columns(&mut self) {
        let columns = self.well.columns().iter().zip(self.well.heights());
        for (column, (&cells, &height)) in self.columns[WALL..].iter_mut().zip(columns) {
            column.cells = cells;
            column.height = i32::from(height);
        }
        let mut worth = 0;
        for x in WALL..WALL + WIDTH {
            let Column { cells, height, .. } = self.columns[x];
            let mut open = self.columns[x - 1].cells & self.columns[x + 1].cells & !cells;
            if cells & (cells + 1) != 0 {
                open &= !self.covered(x);
            }
            self.columns[x].worth_before = worth;
            self.columns[x].open_cells = open;
            worth -= self.weights.holes * height;
            if open != 0 {
                worth -= self.weights.open_wells(open, height);
            }
        }
        self.columns[WALL + WIDTH].worth_before = worth;
    }

    /// The holes of a column; the surface takes note of them.
    #[inline(never)]
    fn covered(&mut self, x: usize) -> u32 {
        let (left, right) = (&self.columns[x - 1], &self.columns[x + 1]);
        let covered = !self.columns[x].cells & ((1 << self.columns[x].height) - 1);
        let from_left = right.cells & u32::MAX << left.height;
        let from_right = left.cells & u32::MAX << right.height;
        self.hole_rows |= covered;
        self.rough |= covered & (from_left | from_right) != 0;
        covered
    }

    /// Reads the steps between the columns.
    #[inline(never)]
    fn measure_steps(&mut self) {
        let height = |x: usize| self.columns[x].height;
        for x in WALL + 1..WALL + WIDTH {
            self.steps_before[x + 1] = self.steps_before[x] | step_bit(height(x) - height(x - 1));
        }
        for x in (WALL..WALL + WIDTH - 1).rev() {
            self.steps_from[x] = self.steps_from[x + 1] | step_bit(height(x + 1) - height(x));
        }
    }

    /// Tries every column for one of [`SHAPES`]. Where a placement in a column, on a row, clears nothing, `tops` is what
    /// the columns' tops add in the first step, at most `most`, and `rest` is the third step.
    #[inline(always)]
    fn orientation(
        &self,
        number: usize,
        choice: &mut Choice,
        most: i32,
        tops: impl Fn(usize, i32) -> i32,
        rest: impl Fn(usize, i32, i32) -> i32,
    ) {
        let shape = &SHAPES[number];
        let weights = self.weights;
        let (width, height) = (shape.width as i32, shape.height as i32);
        let bottoms: usize = shape.bottom.iter().sum();
        // What a placement is worth on row 0 without a gap, between full neighbours.
        let start = weights.landing_height * (height - 1) + weights.holes * bottoms as i32
            - weights.row_transitions * 2 * height;
        let raise = 2 * weights.landing_height + width * weights.holes;
        let gap_cost = 2 * weights.column_transitions;
        let side_cost = 2 * weights.row_transitions;
        // Rows on which the piece clears a line or reaches above the brim.
        let mut special = u32::MAX << (self.well.height() + 1 - shape.height);
        for row in 0..shape.height {
            special |= self.missing[shape.row_len(row)] >> row;
        }
        // All values below are less `start`. What is not above the bar cannot become the best.
        let mut bar = choice.value - start - self.hope;
        for (column, window) in self.columns.windows(shape.width + 2 * WALL).enumerate() {
            let mut y = 0;
            for x in 0..shape.width {
                y = y.max(window[WALL + x].height - shape.bottom[x] as i32);
            }
            let value = if special.rotate_right(y as u32) & 1 != 0 {
                match self.special_value(number, column, y as usize, choice) {
                    Some(value) if value > choice.value => value - start,
                    _ => continue,
                }
            } else {
                let mut value =
                    raise * y + window[WALL + shape.width].worth_before - window[WALL].worth_before;
                for x in 0..shape.width {
                    if window[WALL + x].height != y + shape.bottom[x] as i32 {
                        value += gap_cost;
                    }
                }
                if value + most <= bar {
                    continue;
                }
                value += tops(column, y);
                if value <= bar {
                    continue;
                }
                let mut empty = 0;
                for side in &SIDES[number].all[..usize::from(SIDES[number].len)] {
                    // A rotation is one instruction on the device; a shift would need the number of rows masked.
                    let cells = (!window[usize::from(side.beside)].cells).rotate_right(y as u32);
                    empty += i32::from(FEW[cells as usize & usize::from(side.rows)]);
                }
                value += side_cost * empty;
                if value <= bar {
                    continue;
                }
                let enough = bar + self.hope - value;
                let rest = rest(column, y, enough);
                if rest <= enough {
                    continue;
                }
                value + rest
            };
            choice.value = value + start;
            let orientation = (number - self.piece.first_shape()) as u8;
            choice.placement = Placement { orientation, column: column as u8 };
            bar = value - self.hope;
        }
    }

    /// The third step for a placement on row y that clears nothing.
    #[inline(never)]
    fn rest<const SHAPE: usize>(&self, column: usize, y: i32) -> i32 {
        self.rest_of(SHAPE, column, y)
    }

    /// The same for code that does not know its shape.
    #[inline(always)]
    fn rest_of(&self, number: usize, column: usize, y: i32) -> i32 {
        let shape = &SHAPES[number];
        let weights = self.weights;
        let window = &self.columns[column..][..shape.width + 2 * WALL];

        let (mut gap_rows, mut depth, mut wells) = (0, 0, 0);
        for x in 0..shape.width {
            let Column { cells, height, open_cells, .. } = window[WALL + x];
            let bottom = y + shape.bottom[x] as i32;
            let length = (shape.top[x] - shape.bottom[x]) as i32;
            if height != bottom {
                gap_rows |= (1 << bottom) - (1 << height);
                depth += length;
                let untouched = y + UNTOUCHED_ROWS[number][x] as i32;
                let kept = open_cells & ((1 << untouched) - 1);
                wells += open_sum_apart(kept, height);
            } else if cells & (cells + 1) != 0 {
                depth += length;
            }
        }
        if shape.width == 1 {
            // Above a piece one column wide its neighbours still make a well, from a higher floor.
            let floor = y + shape.height as i32;
            wells += open_sum_apart(window[WALL].open_cells & u32::MAX << floor, floor);
        }
        for row in 0..shape.height {
            let (left, right) = (WALL + shape.left[row], WALL + shape.right[row]);
            // Beside the row may stand a lower column of the piece itself.
            let own_top =
                |x: usize| if x < shape.width && shape.top[x] <= row { Some(shape.top[x]) } else { None };
            let left_floor = match own_top(shape.left[row].wrapping_sub(1)) {
                Some(top) => y + top as i32,
                None => window[left - 1].height,
            };
            let right_floor = match own_top(shape.right[row]) {
                Some(top) => y + top as i32,
                None => window[right].height,
            };
            let above = y + row as i32 + 1;
            let is_full = |x: usize| window[x].cells.rotate_right(y as u32) >> row & 1 != 0;
            if is_full(left - 2) {
                wells += (above - left_floor).max(0);
            }
            if is_full(right + 1) {
                wells += (above - right_floor).max(0);
            }
        }
        if self.rough {
            wells += covered_wells(self.well, number, column, y as usize, |depth| depth as i32);
        }
        let mut value = weights.cumulative_wells * wells + weights.hole_depth * depth;
        value += weights.rows_with_holes * count_few(gap_rows & !self.hole_rows);
        if weights.pattern_diversity != 0 {
            value += weights.pattern_diversity * self.diversity(shape, column, y);
        }
        value
    }

    /// Pattern diversity after a placement on row y that clears nothing.
    #[inline(never)]
    fn diversity(&self, shape: &Shape, column: usize, y: i32) -> i32 {
        let at = column + WALL;
        let mut steps = self.steps_before[at] | self.steps_from[at + shape.width];
        let mut last = self.columns[at - 1].height;
        for x in 0..shape.width {
            let top = y + shape.top[x] as i32;
            steps |= step_bit(top - last);
            last = top;
        }
        steps |= step_bit(self.columns[at + shape.width].height - last);
        steps.count_ones() as i32
    }

    /// What a board's columns are worth: all but the row transitions.
    fn column_worth(&self, well: &Well) -> i32 {
        column_worth(self.weights, well) + self.skyline.map_or(0, |skyline| skyline.worth(well))
    }

    /// The value of a placement that clears lines or reaches above the brim: the board is made and counted. None if
    /// it may not be chosen.
    #[inline(never)]
    fn special_value(&self, shape: usize, column: usize, y: usize, choice: &mut Choice) -> Option<i32> {
        let orientation = (shape - self.piece.first_shape()) as u8;
        let placement = Placement { orientation, column: column as u8 };
        let (shape, weights) = (&SHAPES[shape], self.weights);
        let Judgement { overflow, allow_losing } = self.judgement;
        if overflow == Overflow::Before && !allow_losing && y + shape.height > self.well.height() {
            return None;
        }
        let mut well = *self.well;
        let landing = well.drop(self.piece, placement, overflow);
        if landing.loses && !allow_losing {
            return None;
        }
        let before = *choice.column_worth.get_or_insert_with(|| self.column_worth(self.well));
        let mut neighbours = 0;
        for row in 0..shape.height {
            let bit = |x: usize| (self.columns[x].cells >> (y + row) & 1) as i32;
            let at = column + WALL;
            neighbours += bit(at + shape.left[row] - 1) + bit(at + shape.right[row]);
        }
        let lines = i32::from(landing.lines);
        // A full line has no transitions; the empty one that comes in at the top has two.
        let transitions = 2 * (shape.height as i32 - neighbours + lines);
        let mut value = weights.landing_height * (2 * y as i32 + shape.height as i32 - 1)
            + weights.eroded_cells * lines * i32::from(landing.eroded)
            + weights.row_transitions * transitions
            + self.column_worth(&well)
            - before;
        if weights.looks_at_steps() {
            value += weights.occurring(steps_of(&well));
        }
        Some(value)
    }
}

/// The most that [`Surface::rest`] can be worth. Wells, buried cells and rows with holes only grow by it; so does the
/// number of row transitions by the second step.
fn hope(weights: &Weights) -> i32 {
    let Weights { row_transitions, cumulative_wells, hole_depth, rows_with_holes, .. } = *weights;
    // A cell of a deeper well is worth no more, but for the first that is deep.
    let wells = [weights.well(1), weights.well(DEEP), weights.covered_well(2), weights.covered_well(DEEP)];
    let growing = [row_transitions, cumulative_wells, hole_depth, rows_with_holes];
    if growing.iter().chain(&wells).any(|&worth| worth > 0) {
        return UNBOUNDED;
    }
    // Covered cells with a floor right below: one on either side of each of four rows, and one in each column.
    let covered_well = weights.covered_well(1).max(0);
    let diversity = if weights.looks_at_surface() { 0 } else { 5 * weights.pattern_diversity.max(0) };
    3 * MAX_EXTENT as i32 * covered_well + diversity
}

/// How many bits are set, where they are few: the device has no instruction that counts them.
#[inline(always)]
fn count_few(mut bits: u32) -> i32 {
    let mut count = 0;
    while bits != 0 {
        bits &= bits - 1;
        count += 1;
    }
    count
}

/// What a placement on row y adds to the wells under the tops of the columns beside it, each worth what its depth says.
#[cold]
pub(super) fn covered_wells(
    well: &Well,
    shape: usize,
    column: usize,
    y: usize,
    worth: impl Fn(u32) -> i32,
) -> i32 {
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
                let depth = depth_of(cells(beside), r as u32);
                if depth > 0 {
                    sum += worth(depth as u32);
                }
            }
        }
    }
    sum
}
