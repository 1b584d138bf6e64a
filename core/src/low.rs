//! A low pile in one word, for who plays long games.
//!
//! A strong player's pile is seldom higher than [six rows](LowWell::ROWS). Row by row these are sixty bits, on which a drop
//! is a few instructions: where a piece lies is a mask, and a row above is a shift by ten.

use crate::piece::{Piece, SHAPES};
use crate::placement::Placement;
use crate::well::{WIDTH, Well};

/// A board of which no more than [`LowWell::ROWS`] rows are in use. Row 0, the floor, has the lowest bits, and in a row
/// column 0.
///
/// ```
/// use dropwise_core::low::LowWell;
/// use dropwise_core::{Piece, Placement, Well};
///
/// let well = Well::from_art("
///     ..........
///     ..........
///     X.........
///     XXX.XXXXXX
/// ").unwrap();
/// let (after, lines) = LowWell::of(&well).unwrap().drop(Piece::I, Placement { orientation: 0, column: 3 }).unwrap();
/// assert_eq!((after.well(4).to_string(), lines), (
///     "..........
/// ...X......
/// ...X......
/// X..X......
/// ".into(), 1));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LowWell(u64);

/// The first column.
pub(crate) const COLUMN: u64 = {
    let (mut column, mut row) = (0, 0);
    while row < LowWell::ROWS {
        column |= 1 << (row * WIDTH);
        row += 1;
    }
    column
};

/// All rows.
#[cfg(target_has_atomic = "64")]
pub(crate) const ROWS: u64 = (1 << (LowWell::ROWS * WIDTH)) - 1;

/// Multiplied with this, the bits of [`COLUMN`] stand side by side, from bit [`TOGETHER`] on: that of row `i` is moved up by
/// `TOGETHER - 9 i`. What the other factors make of them lies nine bits and more away.
pub(crate) const TOGETHERS: u64 = {
    let (mut factors, mut row) = (0, 0);
    while row < LowWell::ROWS {
        factors |= 1 << (TOGETHER - row * (WIDTH - 1));
        row += 1;
    }
    factors
};
pub(crate) const TOGETHER: usize = (LowWell::ROWS - 1) * (WIDTH - 1);

/// The other way round: each bit of six is moved from row to row by nine, and those on [`COLUMN`] are kept.
const APARTS: u64 = {
    let (mut factors, mut row) = (0, 0);
    while row < LowWell::ROWS {
        factors |= 1 << (row * (WIDTH - 1));
        row += 1;
    }
    factors
};

/// A piece in a placement, lying on the floor.
#[derive(Clone, Copy)]
struct Mask {
    cells: u64,
    height: usize,
}

/// Columns of a mask's table: a power of two is quicker to find.
const COLUMNS: usize = 16;
const ORIENTATIONS: usize = 4;

/// By piece, orientation and column; nothing where there is no such placement.
static MASKS: [[[Mask; COLUMNS]; ORIENTATIONS]; Piece::NUM] = {
    let mut masks = [[[Mask { cells: 0, height: 0 }; COLUMNS]; ORIENTATIONS]; Piece::NUM];
    let mut piece = 0;
    while piece < Piece::NUM {
        let first = Piece::ALL[piece].first_shape();
        let mut turn = 0;
        while turn < Piece::ALL[piece].orientations().len() {
            let shape = &SHAPES[first + turn];
            let mut cells = 0;
            let mut y = 0;
            while y < shape.height {
                let mut x = shape.left[y];
                while x < shape.right[y] {
                    cells |= 1 << (y * WIDTH + x);
                    x += 1;
                }
                y += 1;
            }
            let mut column = 0;
            while column + shape.width <= WIDTH {
                masks[piece][turn][column] = Mask { cells: cells << column, height: shape.height };
                column += 1;
            }
            turn += 1;
        }
        piece += 1;
    }
    masks
};

/// The cells of a shape at the left wall, lying on the floor, by four times the piece and the orientation.
#[cfg(all(feature = "simd", target_arch = "x86_64"))]
pub(crate) static CELLS: [u64; 32] = {
    let mut cells = [0; 32];
    let mut i = 0;
    while i < Piece::NUM * ORIENTATIONS {
        cells[i] = MASKS[i / ORIENTATIONS][i % ORIENTATIONS][0].cells;
        i += 1;
    }
    cells
};

impl LowWell {
    /// How many rows can be in use.
    pub const ROWS: usize = 6;

    /// No pile at all.
    pub const EMPTY: LowWell = LowWell(0);

    /// The same pile; none if it is too high.
    #[inline]
    pub fn of(well: &Well) -> Option<LowWell> {
        let (mut rows, mut cells) = (0, 0);
        for (&column, x) in well.columns().iter().zip(0..) {
            rows |= column;
            cells |= (u64::from(column).wrapping_mul(APARTS) & COLUMN) << x;
        }
        (rows >> LowWell::ROWS == 0).then_some(LowWell(cells))
    }

    /// The same pile in a well so high.
    ///
    /// # Panics
    /// If there is no such well, or the pile does not fit.
    #[inline]
    pub fn well(self, height: usize) -> Well {
        let mut columns = [0; WIDTH];
        for (column, x) in columns.iter_mut().zip(0..) {
            *column = ((self.0 >> x & COLUMN).wrapping_mul(TOGETHERS) >> TOGETHER) as u32
                & ((1 << LowWell::ROWS) - 1);
        }
        Well::from_columns(height, columns).expect("the pile must fit into the well")
    }

    /// The pile of some [bits](LowWell::bits); those above are ignored.
    #[cfg(target_has_atomic = "64")]
    #[inline]
    pub(crate) const fn from_bits(bits: u64) -> LowWell {
        LowWell(bits & ROWS)
    }

    /// The rows, ten bits each from the floor up: all there is to know of it.
    #[inline]
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// Drops a piece and clears what is full: the pile, and how many lines were cleared. None if the piece does not fit
    /// into the rows, though lines may be full then.
    ///
    /// # Panics
    /// If the placement is not [valid](Placement::is_valid) for the piece.
    #[inline]
    pub fn drop(self, piece: Piece, placement: Placement) -> Option<(LowWell, u8)> {
        let Placement { orientation, column } = placement;
        let Mask { cells, height } = MASKS[piece as usize][usize::from(orientation)][usize::from(column)];
        assert!(cells != 0, "the piece must stand between the walls");
        // The row above the highest on which it would meet the pile.
        let mut row = 0;
        for y in 0..LowWell::ROWS {
            row = if cells << (y * WIDTH) & self.0 != 0 { y + 1 } else { row };
        }
        if row + height > LowWell::ROWS {
            return None;
        }
        let mut pile = self.0 | cells << (row * WIDTH);
        // All bits of a row, and-ed into its lowest: five, two of them and two of those, and the fifth.
        let fives = pile & pile >> 5;
        let pairs = fives & fives >> 1;
        let mut full = pairs & pairs >> 2 & fives >> 4 & COLUMN;
        let lines = full.count_ones() as u8;
        while full != 0 {
            // What is above the lowest comes down.
            let below = (full - 1) & !full;
            pile = pile & below | pile >> WIDTH & !below;
            full = (full & (full - 1)) >> WIDTH;
        }
        Some((LowWell(pile), lines))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_are_the_shapes() {
        for piece in Piece::ALL {
            for orientation in 0..ORIENTATIONS as u8 {
                for column in 0..COLUMNS as u8 {
                    let placement = Placement { orientation, column };
                    let mask = MASKS[piece as usize][usize::from(orientation)][usize::from(column)];
                    assert_eq!(
                        mask.cells.count_ones(),
                        if placement.is_valid(piece) { 4 } else { 0 },
                        "{placement:?}"
                    );
                    assert!(
                        !placement.is_valid(piece) || mask.cells & ((1 << WIDTH) - 1) != 0,
                        "{placement:?}"
                    );
                }
            }
        }
    }
}
