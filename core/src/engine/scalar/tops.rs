//! The columns' tops, for the sets B, BD and BDU: heights, their differences, the highest column.

use super::{Choice, Surface, UNBOUNDED, WALL};
use crate::engine::Skyline;
use crate::piece::SHAPES;
use crate::well::WIDTH;

impl Surface<'_> {
    /// Adds what each column's height and its difference to the one left of it are worth to
    /// [`worth_before`](super::Column::worth_before).
    #[inline(never)]
    pub(super) fn measure_tops(&mut self, skyline: Skyline<'_>) {
        let mut worth = 0;
        for x in 0..WIDTH {
            let height = self.columns[x + WALL].height;
            self.columns[x + WALL].worth_before += worth;
            worth -= skyline.height(x) * height;
            if x > 0 {
                let step = height - self.columns[x + WALL - 1].height;
                worth -= skyline.difference(x - 1) * step.abs();
            }
        }
        self.columns[WIDTH + WALL].worth_before += worth;
    }

    /// [`Surface::orientation`] for the sets that look at the columns' tops. One copy of the code for all shapes: the
    /// device has no room for nineteen.
    #[inline(never)]
    pub(super) fn orientation_with_tops(&self, number: usize, skyline: Skyline<'_>, choice: &mut Choice) {
        let shape = &SHAPES[number];
        let max_height = self.well.max_height() as i32;
        let tops = |column: usize, y: i32| {
            let top = |x: usize| y + shape.top[x] as i32;
            let (left, right) = (column + WALL - 1, column + WALL + shape.width);
            let mut worth = skyline.max_height() * (y + shape.height as i32 - max_height).max(0);
            for x in 0..shape.width {
                worth += skyline.height(column + x) * top(x);
            }
            for x in 1..shape.width {
                worth += skyline.difference(column + x - 1) * (top(x) - top(x - 1)).abs();
            }
            if column > 0 {
                let step = top(0) - self.columns[left].height;
                worth += skyline.difference(column - 1) * step.abs();
            }
            if column + shape.width < WIDTH {
                let height = self.columns[right].height;
                let step = (height - top(shape.width - 1)).abs();
                let before = (height - self.columns[right - 1].height).abs();
                worth += skyline.difference(column + shape.width - 1) * (step - before);
            }
            worth
        };
        self.orientation(number, choice, UNBOUNDED, tops, |column, y, _| self.rest_of(number, column, y));
    }
}
