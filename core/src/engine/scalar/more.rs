//! Steps of the surface and the worth of single well cells, for the set Dropwise.

use super::{Choice, Column, NONE, Surface, UNTOUCHED_ROWS, WALL, count_few, covered_wells};
use crate::piece::{MAX_EXTENT, NUM_SHAPES, SHAPES};
use crate::well::WIDTH;

impl Surface<'_> {
    /// [`Surface::orientation`] for players that look at the surface. One copy of the code for all shapes: the device has no
    /// room for nineteen.
    #[inline(never)]
    pub(super) fn orientation_with_more(&self, number: usize, choice: &mut Choice) {
        let (shape, weights) = (&SHAPES[number], self.weights);
        // A step of -2 to 2 as its bit, and what it is worth each time.
        let worths = [0, weights.single_steps, weights.flat_steps, weights.single_steps, 0];
        let edge = |step: i32| match worths.get((step + 2) as usize) {
            Some(&worth) => (1 << (step + 2), worth),
            None => (0, 0),
        };
        let (mut within, mut worth_within) = (0, 0);
        for x in 1..shape.width {
            let (bit, worth) = edge(shape.top[x] as i32 - shape.top[x - 1] as i32);
            within |= bit;
            worth_within += worth;
        }
        let steps = |column: usize, y: i32| {
            let (first, end) = (column + WALL, column + WALL + shape.width);
            let right = self.columns[end].height;
            let (onto_bit, onto) = edge(y + shape.top[0] as i32 - self.columns[first - 1].height);
            let (off_bit, off) = edge(right - y - shape.top[shape.width - 1] as i32);
            let (_, before) = edge(right - self.columns[end - 1].height);
            let around = self.steps_before[first] | self.steps_from[end];
            worth_within + onto + off - before + weights.occurring(around | within | onto_bit | off_bit)
        };
        let step = weights.flat_steps.max(weights.single_steps).max(0);
        let covered = weights.flat_steps.min(weights.single_steps).min(0);
        let most = worth_within + 2 * step - covered + weights.most_occurring;
        self.orientation(number, choice, most, steps, |column, y, enough| {
            self.rest_with_more(number, column, y, enough)
        });
    }

    /// Adds what each step is worth to [`worth_before`](Column::worth_before): a piece takes those away that it covers, but
    /// for the last.
    #[inline(never)]
    pub(super) fn measure_step_worths(&mut self) {
        let mut worth = 0;
        for x in WALL..WALL + WIDTH {
            self.columns[x].worth_before += worth;
            worth -= self.weights.step(self.columns[x].height - self.columns[x - 1].height);
        }
        self.columns[WALL + WIDTH].worth_before += worth;
    }

    /// [`Surface::rest`] with wells added up by their worth, and without the steps. If it cannot be more than `enough`, it is
    /// not counted to the end.
    #[inline(always)]
    fn rest_with_more(&self, number: usize, column: usize, y: i32, enough: i32) -> i32 {
        let shape = &SHAPES[number];
        let weights = self.weights;
        let window = &self.columns[column..][..shape.width + 2 * WALL];

        let (mut gap_rows, mut depth) = (0, 0);
        for x in 0..shape.width {
            let Column { cells, height, .. } = window[WALL + x];
            let bottom = y + shape.bottom[x] as i32;
            if height != bottom {
                gap_rows |= (1 << bottom) - (1 << height);
                depth += (shape.top[x] - shape.bottom[x]) as i32;
            } else if cells & (cells + 1) != 0 {
                depth += (shape.top[x] - shape.bottom[x]) as i32;
            }
        }
        let mut value = weights.hole_depth * depth;
        if gap_rows != 0 {
            value += weights.rows_with_holes * count_few(gap_rows & !self.hole_rows);
        }
        if value + self.hope <= enough {
            return NONE;
        }

        let mut wells = 0;
        if gap_rows != 0 {
            for x in 0..shape.width {
                let Column { height, open_cells, .. } = window[WALL + x];
                if open_cells != 0 && height != y + shape.bottom[x] as i32 {
                    let untouched = y + UNTOUCHED_ROWS[number][x] as i32;
                    let kept = open_cells & ((1 << untouched) - 1);
                    wells += weights.open_wells(kept, height);
                    wells += weights.covered_wells * count_few(kept);
                }
            }
        }
        if shape.width == 1 {
            // Above a piece one column wide its neighbours still make a well, from a higher floor.
            let floor = y + shape.height as i32;
            wells += weights.open_wells(window[WALL].open_cells & u32::MAX << floor, floor);
        }
        for (row, sides) in BESIDE[number].iter().enumerate().take(shape.height) {
            let above = y + row as i32 + 1;
            for side in sides {
                if window[usize::from(side.beyond)].cells.rotate_right(y as u32) >> row & 1 == 0 {
                    continue;
                }
                let floor = match side.own_top {
                    NO_TOP => window[usize::from(side.at)].height,
                    top => y + i32::from(top),
                };
                if above > floor {
                    wells += match above - floor {
                        depth if side.is_under => weights.covered_well(depth),
                        depth => weights.well(depth),
                    };
                }
            }
        }
        if self.rough {
            let worth = |depth| weights.covered_well(depth as i32);
            wells += covered_wells(self.well, number, column, y as usize, worth);
        }
        value + wells
    }
}

/// A cell beside a row of a shape, as a well cell: its column's place in the window and that of the next one, the top of the
/// shape's own column under it if there is one, and whether it lies under a higher one.
#[derive(Clone, Copy)]
struct Beside {
    at: u8,
    beyond: u8,
    own_top: u8,
    is_under: bool,
}

/// There is none.
const NO_TOP: u8 = u8::MAX;

static BESIDE: [[[Beside; 2]; MAX_EXTENT]; NUM_SHAPES] = {
    let nothing = Beside { at: 0, beyond: 0, own_top: NO_TOP, is_under: false };
    let mut all = [[[nothing; 2]; MAX_EXTENT]; NUM_SHAPES];
    let mut i = 0;
    while i < NUM_SHAPES * MAX_EXTENT * 2 {
        let (number, row, is_right) = (i / 2 / MAX_EXTENT, i / 2 % MAX_EXTENT, i % 2);
        let shape = &SHAPES[number];
        if row < shape.height {
            let at = if is_right == 1 { WALL + shape.right[row] } else { WALL + shape.left[row] - 1 };
            let beyond = if is_right == 1 { at + 1 } else { at - 1 };
            let mut beside = Beside { at: at as u8, beyond: beyond as u8, ..nothing };
            if at >= WALL && at < WALL + shape.width {
                let x = at - WALL;
                if shape.top[x] <= row {
                    beside.own_top = shape.top[x] as u8;
                }
                beside.is_under = shape.bottom[x] > row;
            }
            all[number][row][is_right] = beside;
        }
        i += 1;
    }
    all
};
