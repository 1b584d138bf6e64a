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
    /// The well cells above the top of the column.
    open_cells: [u32; PADDED],
    /// What they add to cumulative wells.
    open_wells: [i32; PADDED],
    /// Rows with a hole.
    hole_rows: u32,
    /// Rows with exactly this many empty cells, for 1 to 4.
    missing: [u32; MAX_EXTENT + 1],
    /// The steps that occur between columns left of this one, and from it on to the right: see [`step_bit`].
    steps_before: [u32; PADDED],
    steps_from: [u32; PADDED],
    standing: Option<i32>,
    best: Option<Best>,
}

pub(super) fn best(weights: &Weights, well: &Well, piece: Piece, judgement: Judgement) -> Option<Best> {
    let mut surface = Surface::new(weights, well, piece, judgement);
    // The numbers are those of SHAPES, piece by piece.
    match piece {
        Piece::I => {
            surface.orientation::<0>();
            surface.orientation::<1>();
        }
        Piece::O => surface.orientation::<2>(),
        Piece::T => {
            surface.orientation::<3>();
            surface.orientation::<4>();
            surface.orientation::<5>();
            surface.orientation::<6>();
        }
        Piece::Z => {
            surface.orientation::<7>();
            surface.orientation::<8>();
        }
        Piece::S => {
            surface.orientation::<9>();
            surface.orientation::<10>();
        }
        Piece::J => {
            surface.orientation::<11>();
            surface.orientation::<12>();
            surface.orientation::<13>();
            surface.orientation::<14>();
        }
        Piece::L => {
            surface.orientation::<15>();
            surface.orientation::<16>();
            surface.orientation::<17>();
            surface.orientation::<18>();
        }
    }
    surface.best
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
            open_cells: [0; PADDED],
            open_wells: [0; PADDED],
            hole_rows: 0,
            missing: missing(well.columns()),
            steps_before: [0; PADDED],
            steps_from: [0; PADDED],
            standing: None,
            best: None,
        };
        for x in 0..WIDTH {
            surface.cells[x + WALL] = well.columns()[x];
            surface.heights[x + WALL] = i32::from(well.heights()[x]);
        }
        for x in WALL..WALL + WIDTH {
            let above = u32::MAX << surface.heights[x];
            surface.hole_rows |= !surface.cells[x] & !above;
            let open = surface.cells[x - 1] & surface.cells[x + 1] & above;
            surface.open_cells[x] = open;
            surface.open_wells[x] = open_sum(open, surface.heights[x]);
        }
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
        let first = self.piece.first_shape();
        for column in 0..shape.positions(WIDTH) {
            if let Some(value) = self.value::<SHAPE>(column)
                && self.best.is_none_or(|best| value > best.value)
            {
                let placement = Placement { orientation: (SHAPE - first) as u8, column: column as u8 };
                self.best = Some(Best { placement, value });
            }
        }
    }

    /// What the placement changes, or none if it loses and may not.
    #[inline(always)]
    fn value<const SHAPE: usize>(&mut self, column: usize) -> Option<i32> {
        let shape = const { SHAPES[SHAPE] };
        let at = column + WALL;

        let mut y = 0;
        for x in 0..shape.width {
            y = y.max(self.heights[at + x] - shape.bottom[x] as i32);
        }
        let over = y as usize + shape.height > self.well.height();
        if over && self.judgement.overflow == Overflow::Before && !self.judgement.allow_losing {
            return None;
        }
        let mut full = 0;
        for row in 0..shape.height {
            full |= self.missing[shape.row_len(row)] & 1 << (y + row as i32);
        }
        if over || full != 0 {
            let loses = over && (full == 0 || self.judgement.overflow == Overflow::Before);
            if loses && !self.judgement.allow_losing {
                return None;
            }
            if !loses {
                return self.value_cleared(SHAPE, column);
            }
        }

        let (mut gaps, mut gap_columns, mut gap_rows, mut depth) = (0, 0, 0, 0);
        let mut wells = 0;
        for x in 0..shape.width {
            let height = self.heights[at + x];
            let bottom = y + shape.bottom[x] as i32;
            let gap = bottom - height;
            gaps += gap;
            gap_columns += i32::from(gap != 0);
            gap_rows |= (1 << bottom) - (1 << height);
            let solid = gap == 0 && self.cells[at + x] & (self.cells[at + x] + 1) == 0;
            depth += if solid { 0 } else { (shape.top[x] - shape.bottom[x]) as i32 };

            wells -= self.open_wells[at + x];
            let untouched = const { untouched_rows(SHAPE) }[x] as i32;
            let kept = self.open_cells[at + x] & ((1 << (y + untouched)) - 1);
            if kept != 0 {
                wells += open_sum(kept, height);
            }
        }
        if shape.width == 1 {
            // Above a piece one column wide its neighbours still make a well, from a higher floor.
            let floor = y + shape.height as i32;
            wells += open_sum(self.open_cells[at] & u32::MAX << floor, floor);
        }

        let mut neighbours = 0;
        for row in 0..shape.height {
            let (left, right) = (at + shape.left[row], at + shape.right[row]);
            let r = y + row as i32;
            neighbours += (self.cells[left - 1] >> r & 1) + (self.cells[right] >> r & 1);
            // Beside the row, the piece itself may stand in the way or below: its own columns.
            let own = |x: isize| {
                let inside = x >= 0 && (x as usize) < shape.width;
                if inside && shape.top[x as usize] <= row {
                    Some((row + 1 - shape.top[x as usize]) as i32)
                } else {
                    None
                }
            };
            if self.cells[left - 2] >> r & 1 == 1 {
                let own = own(shape.left[row] as isize - 1);
                wells += own.unwrap_or_else(|| self.depth(left - 1, r));
            }
            if self.cells[right + 1] >> r & 1 == 1 {
                let own = own(shape.right[row] as isize);
                wells += own.unwrap_or_else(|| self.depth(right, r));
            }
        }

        let weights = self.weights;
        let mut value = weights.landing_height * (2 * y + shape.height as i32 - 1)
            + weights.row_transitions * (2 * shape.height as i32 - 2 * neighbours as i32)
            + weights.column_transitions * 2 * gap_columns
            + weights.holes * gaps
            + weights.cumulative_wells * wells
            + weights.hole_depth * depth
            + weights.rows_with_holes * (gap_rows & !self.hole_rows).count_ones() as i32;
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
        Some(value)
    }

    /// Empty cells from row r of a column downward; 0 if that cell is full.
    #[inline(always)]
    fn depth(&self, x: usize, r: i32) -> i32 {
        let open = r + 1 - self.heights[x];
        if open > 0 { open } else { self.covered_depth(x, r) }
    }

    #[inline(never)]
    fn covered_depth(&self, x: usize, r: i32) -> i32 {
        (!self.cells[x] << (31 - r)).leading_ones() as i32
    }

    /// A placement that clears lines: the board is made and counted.
    #[inline(never)]
    fn value_cleared(&mut self, shape: usize, column: usize) -> Option<i32> {
        let orientation = (shape - self.piece.first_shape()) as u8;
        let placement = Placement { orientation, column: column as u8 };
        let mut well = *self.well;
        let landing = well.drop(self.piece, placement, self.judgement.overflow);
        if landing.loses && !self.judgement.allow_losing {
            return None;
        }
        let weights = self.weights;
        let before = *self.standing.get_or_insert_with(|| standing(weights, self.well));
        let landing_height = 2 * i32::from(landing.row) + SHAPES[shape].height as i32 - 1;
        let mut value = weights.landing_height * landing_height
            + weights.eroded_cells * i32::from(landing.lines) * i32::from(landing.eroded)
            + standing(weights, &well)
            - before;
        if weights.pattern_diversity != 0 {
            value += weights.pattern_diversity * pattern::pattern_diversity(&well);
        }
        Some(value)
    }
}
