//! The board: cells as columns of bits, with drop, landing and line clearing; drawn art in and out.

use core::fmt;

use crate::piece::{MAX_EXTENT, Piece};
use crate::placement::Placement;

/// Columns of every well.
pub const WIDTH: usize = 10;
/// The lowest well.
pub const MIN_HEIGHT: usize = 4;
/// The highest well.
pub const MAX_HEIGHT: usize = 20;
/// Rows a well can hold while a piece stands above its brim.
pub const MAX_ROWS: usize = MAX_HEIGHT + MAX_EXTENT;

/// Room for the heights of four columns from any one on; those after the last stay 0.
pub(crate) const PADDED_WIDTH: usize = 16;

/// When a piece that lands above the brim loses the game. State the rule with every score.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "wire", derive(serde::Serialize, serde::Deserialize))]
pub enum Overflow {
    /// Tested before clearing: a placement loses if any of its cells lands above the brim, and clears nothing.
    #[default]
    Before,
    /// Lines are cleared first; the placement loses only if a cell still stands above the brim.
    After,
}

impl fmt::Display for Overflow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Overflow::Before => "before",
            Overflow::After => "after",
        })
    }
}

/// A board 10 columns wide and 4 to 20 rows high. Row 0 is the floor.
///
/// ```
/// use dropwise_core::{Overflow, Piece, Placement, Well};
///
/// let mut well = Well::from_art("
///     ..........
///     ..........
///     X.........
///     XXX.XXXXXX
/// ").unwrap();
/// // The vertical I goes down the gap and clears the line.
/// let landing = well.drop(Piece::I, Placement { orientation: 0, column: 3 }, Overflow::Before);
/// assert_eq!((landing.row, landing.lines, landing.loses), (0, 1, false));
/// assert_eq!(well, Well::from_art("
///     ..........
///     ...X......
///     ...X......
///     X..X......
/// ").unwrap());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Well {
    columns: [u32; WIDTH],
    heights: [u8; PADDED_WIDTH],
    height: u8,
}

/// How a dropped piece came to rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Landing {
    /// Row of the piece's lowest cell.
    pub row: u8,
    /// Lines it cleared.
    pub lines: u8,
    /// Cells of this piece in the cleared lines.
    pub eroded: u8,
    /// Whether it ended the game: see [`Overflow`].
    pub loses: bool,
}

/// Why a drawing is not a well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WellError {
    /// The number of rows is not between 4 and 20.
    Height(usize),
    /// A row (counted from the top, from 1) does not have 10 cells.
    Width {
        /// The row, counted from the top, from 1.
        row: usize,
        /// How many cells it has.
        cells: usize,
    },
    /// A cell is neither `X` nor `.`.
    Cell {
        /// The row, counted from the top, from 1.
        row: usize,
        /// What stands there.
        cell: char,
    },
    /// A row is full: such a row would have been cleared.
    FullRow(usize),
}

impl fmt::Display for WellError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            WellError::Height(rows) => {
                write!(f, "a well has {MIN_HEIGHT} to {MAX_HEIGHT} rows, not {rows}")
            }
            WellError::Width { row, cells } => {
                write!(f, "row {row} from the top has {cells} cells, not {WIDTH}")
            }
            WellError::Cell { row, cell } => {
                write!(f, "row {row} from the top has {cell:?}; a cell is 'X' or '.'")
            }
            WellError::FullRow(row) => {
                write!(f, "row {row} from the top is full; it would have been cleared")
            }
        }
    }
}

impl core::error::Error for WellError {}

impl Well {
    /// An empty well of the given height.
    ///
    /// # Errors
    /// If the height is not between 4 and 20.
    ///
    /// ```
    /// use dropwise_core::Well;
    /// assert_eq!(Well::new(20).unwrap().max_height(), 0);
    /// assert!(Well::new(3).is_err());
    /// ```
    pub const fn new(height: usize) -> Result<Well, WellError> {
        if height < MIN_HEIGHT || height > MAX_HEIGHT {
            return Err(WellError::Height(height));
        }
        Ok(Well { columns: [0; WIDTH], heights: [0; PADDED_WIDTH], height: height as u8 })
    }

    /// A well from its [columns](Well::columns).
    ///
    /// # Errors
    /// If the height is not between 4 and 20, a cell lies above the brim, or a row is full.
    ///
    /// ```
    /// use dropwise_core::Well;
    /// let well = Well::from_columns(20, [0b101, 0b1, 0, 0, 0, 0, 0, 0, 0, 0]).unwrap();
    /// assert_eq!(well.heights()[..3], [3, 1, 0]);
    /// assert!(Well::from_columns(4, [0b10000; 10]).is_err());
    /// ```
    pub fn from_columns(height: usize, columns: [u32; WIDTH]) -> Result<Well, WellError> {
        let mut well = Well { columns, ..Well::new(height)? };
        let any = columns.iter().fold(0, |any, column| any | column);
        let full = columns.iter().fold(u32::MAX, |full, column| full & column);
        if any >> height != 0 {
            return Err(WellError::Height(any.ilog2() as usize + 1));
        }
        if full != 0 {
            return Err(WellError::FullRow(height - full.ilog2() as usize));
        }
        well.measure_heights();
        Ok(well)
    }

    /// Reads rows drawn top first, `X` full and `.` empty. The number of rows is the well's height.
    ///
    /// # Errors
    /// See [`WellError`].
    ///
    /// ```
    /// use dropwise_core::Well;
    /// let well = Well::from_rows(["..........", "..........", "X.........", "XX.XXXXXXX"]).unwrap();
    /// assert_eq!(well.heights()[..3], [2, 1, 0]);
    /// assert!(Well::from_rows(["XXXXXXXXXX"; 4]).is_err());
    /// ```
    pub fn from_rows<S: AsRef<str>>(
        rows: impl IntoIterator<Item = S, IntoIter: Clone>,
    ) -> Result<Well, WellError> {
        let rows = rows.into_iter();
        let mut well = Well::new(rows.clone().count())?;
        for (index, drawn) in rows.enumerate() {
            let (row, y) = (index + 1, usize::from(well.height) - 1 - index);
            let mut cells = 0;
            let mut filled = 0;
            for cell in drawn.as_ref().chars() {
                if cell != 'X' && cell != '.' {
                    return Err(WellError::Cell { row, cell });
                }
                if cell == 'X' && cells < WIDTH {
                    well.columns[cells] |= 1 << y;
                    filled += 1;
                }
                cells += 1;
            }
            if cells != WIDTH {
                return Err(WellError::Width { row, cells });
            }
            if filled == WIDTH {
                return Err(WellError::FullRow(row));
            }
        }
        well.measure_heights();
        Ok(well)
    }

    /// Reads a drawing: one row a line, blank lines and indentation ignored.
    ///
    /// # Errors
    /// See [`WellError`].
    ///
    /// ```
    /// use dropwise_core::Well;
    /// let well = Well::from_art(
    ///     "..........
    ///      ..........
    ///      XX........
    ///      X.XXXXXXXX",
    /// )
    /// .unwrap();
    /// assert_eq!(well.heights(), &[2, 2, 1, 1, 1, 1, 1, 1, 1, 1]);
    /// assert_eq!(well.to_string().lines().last(), Some("X.XXXXXXXX"));
    /// ```
    pub fn from_art(art: &str) -> Result<Well, WellError> {
        Well::from_rows(art.lines().map(str::trim).filter(|line| !line.is_empty()))
    }

    /// Rows of the well.
    ///
    /// ```
    /// use dropwise_core::Well;
    /// assert_eq!(Well::new(16).unwrap().height(), 16);
    /// ```
    pub const fn height(&self) -> usize {
        self.height as usize
    }

    /// The columns as bits, row 0 lowest.
    ///
    /// ```
    /// use dropwise_core::Well;
    /// let well = Well::from_rows(["..........", "..........", "X.........", ".X........"]).unwrap();
    /// assert_eq!(well.columns()[..3], [0b10, 0b1, 0]);
    /// ```
    pub const fn columns(&self) -> &[u32; WIDTH] {
        &self.columns
    }

    /// For each column, the row above its highest full cell.
    ///
    /// ```
    /// use dropwise_core::Well;
    /// // A hole does not lower its column.
    /// let well = Well::from_rows(["..........", "X.........", "..........", ".X........"]).unwrap();
    /// assert_eq!(well.heights()[..3], [3, 1, 0]);
    /// ```
    pub const fn heights(&self) -> &[u8; WIDTH] {
        match self.heights.first_chunk() {
            Some(heights) => heights,
            None => unreachable!(),
        }
    }

    /// The columns and the heights, which must agree when all is done.
    #[cfg(all(feature = "simd", target_arch = "x86_64"))]
    pub(crate) fn parts_mut(&mut self) -> (&mut [u32; WIDTH], &mut [u8; PADDED_WIDTH]) {
        (&mut self.columns, &mut self.heights)
    }

    /// The highest column.
    ///
    /// ```
    /// use dropwise_core::Well;
    /// let well = Well::from_rows(["..........", "...X......", "XX.XXXX...", "XX.XXXX..."]).unwrap();
    /// assert_eq!(well.max_height(), 3);
    /// ```
    pub fn max_height(&self) -> usize {
        usize::from(self.heights().iter().fold(0, |highest, &height| highest.max(height)))
    }

    /// Whether a cell is full; cells outside are not.
    ///
    /// ```
    /// use dropwise_core::Well;
    /// let well = Well::from_rows(["..........", "..........", "..........", "X........."]).unwrap();
    /// assert!(well.is_full(0, 0));
    /// assert!(!well.is_full(0, 1) && !well.is_full(99, 0));
    /// ```
    pub fn is_full(&self, column: usize, row: usize) -> bool {
        column < WIDTH && row < MAX_ROWS && self.columns[column] >> row & 1 == 1
    }

    /// Drops a piece and clears the lines it fills.
    ///
    /// A placement that loses leaves the piece standing above the brim; the features of such a board are defined, but
    /// no further piece may be dropped on it.
    ///
    /// # Panics
    /// If the placement is not [valid](Placement::is_valid) for the piece.
    ///
    /// ```text
    ///   ..........        ..I.......        ..........
    ///   ..........        ..I.......        ..I.......
    ///   ..........        ..I.......        ..I.......
    ///   XX.XXXXXXX  drop  XXIXXXXXXX clear  ..I.......
    /// ```
    ///
    /// ```
    /// use dropwise_core::{Overflow, Piece, Placement, Well};
    /// let mut well = Well::from_rows(["..........", "..........", "..........", "XX.XXXXXXX"]).unwrap();
    /// let landing = well.drop(Piece::I, Placement { orientation: 0, column: 2 }, Overflow::Before);
    /// assert_eq!((landing.row, landing.lines, landing.loses), (0, 1, false));
    /// assert_eq!(well.heights(), &[0, 0, 3, 0, 0, 0, 0, 0, 0, 0]);
    /// ```
    pub fn drop(&mut self, piece: Piece, placement: Placement, overflow: Overflow) -> Landing {
        let shape = placement.shape(piece);
        let column = usize::from(placement.column);
        assert!(column + shape.width <= WIDTH, "the piece must stand between the walls");
        let mut row = 0;
        for x in 0..shape.width {
            row = row.max(i32::from(self.heights[column + x]) - shape.bottom[x] as i32);
        }
        let row = row as usize;
        for x in 0..shape.width {
            self.columns[column + x] |= shape.cells[x] << row;
            self.heights[column + x] = (row + shape.top[x]) as u8;
        }
        let over = row + shape.height > self.height();
        let mut landing = Landing { row: row as u8, lines: 0, eroded: 0, loses: over };
        if over && overflow == Overflow::Before {
            return landing;
        }
        let full = self.columns.iter().fold(!0, |all, cells| all & cells);
        if full != 0 {
            for y in 0..shape.height {
                if full >> (row + y) & 1 == 1 {
                    landing.lines += 1;
                    landing.eroded += shape.row_len(y) as u8;
                }
            }
            self.remove(row, full, landing.lines);
            landing.loses = over && self.max_height() > self.height();
        }
        landing
    }

    /// Takes out full rows, the lowest of them at or above `row`; what stands above comes down.
    #[inline(never)]
    fn remove(&mut self, row: usize, full: u32, lines: u8) {
        for y in (row..row + MAX_EXTENT).rev().filter(|y| full >> y & 1 == 1) {
            let below = (1 << y) - 1;
            for cells in &mut self.columns {
                *cells = (*cells & below) | (*cells >> 1 & !below);
            }
        }
        for (height, cells) in self.heights.iter_mut().zip(self.columns) {
            // The top comes down with the lines; where it was in one of them, it is the next full cell, or the floor.
            let mut top = u32::from(*height - lines);
            let full_below = cells << 1 | 1;
            while full_below.rotate_right(top) & 1 == 0 {
                top -= 1;
            }
            *height = top as u8;
        }
    }

    fn measure_heights(&mut self) {
        for (height, cells) in self.heights.iter_mut().zip(self.columns) {
            *height = height_of(cells);
        }
    }
}

/// The row above the highest cell of a column.
#[inline]
pub(crate) const fn height_of(cells: u32) -> u8 {
    (u32::BITS - cells.leading_zeros()) as u8
}

/// Draws the well, top row first, one row a line.
impl fmt::Display for Well {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for row in (0..self.height().max(self.max_height())).rev() {
            for column in 0..WIDTH {
                f.write_str(if self.is_full(column, row) { "X" } else { "." })?;
            }
            f.write_str("\n")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Well {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Well {WIDTH}x{}\n{self}", self.height)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drawings_that_are_not_wells_are_named() {
        let empty = "..........";
        let cases: [(&[&str], WellError); 6] = [
            (&[], WellError::Height(0)),
            (&[empty; 21], WellError::Height(21)),
            (&[empty, empty, ".........", empty], WellError::Width { row: 3, cells: 9 }),
            (&[empty, "...........", empty, empty], WellError::Width { row: 2, cells: 11 }),
            (&[empty, empty, empty, "XXXXXxXXX."], WellError::Cell { row: 4, cell: 'x' }),
            (&[empty, empty, "XXXXXXXXXX", empty], WellError::FullRow(3)),
        ];
        for (rows, error) in cases {
            assert_eq!(Well::from_rows(rows), Err(error));
        }
    }

    #[test]
    fn overflow_before_and_after_clearing() {
        let brim = Well::from_art(
            "
            ..........
            XXXX..XXXX
            X.XXXXXXXX
            .XXXXXXXXX
            ",
        )
        .unwrap();
        let o = Placement { orientation: 0, column: 4 };
        let mut well = brim;
        let landing = well.drop(Piece::O, o, Overflow::Before);
        assert_eq!((landing.row, landing.lines, landing.loses), (2, 1, false));

        let i = Placement { orientation: 0, column: 0 };
        let mut well = brim;
        assert!(well.drop(Piece::I, i, Overflow::Before).loses);
        assert_eq!(well.max_height(), 7);
        let mut well = brim;
        assert!(well.drop(Piece::I, i, Overflow::After).loses);

        let almost = Well::from_art(
            "
            .XXXXXXXXX
            .XXXXXXXXX
            X.XXXXXXXX
            .XXXXXXXXX
            ",
        )
        .unwrap();
        let mut well = almost;
        let landing = well.drop(Piece::I, i, Overflow::Before);
        assert_eq!((landing.lines, landing.loses), (0, true));
        let mut well = almost;
        let landing = well.drop(Piece::I, i, Overflow::After);
        assert_eq!((landing.lines, landing.eroded, landing.loses), (2, 2, false));
        assert_eq!(well.max_height(), 4);
    }
}
