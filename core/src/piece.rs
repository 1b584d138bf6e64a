//! The seven pieces and their orientations, drawn as art and turned into tables by the compiler.

use core::fmt;

/// The widest and the tallest orientation: the I piece.
pub const MAX_EXTENT: usize = 4;

/// One of the seven pieces. The order is that of the research code whose scores we compare with; it numbers the
/// pieces in digests and on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Piece {
    /// `XXXX`
    I,
    /// `XX / XX`
    O,
    /// `XXX / .X.`
    T,
    /// `XX. / .XX`
    Z,
    /// `.XX / XX.`
    S,
    /// `X.. / XXX`
    J,
    /// `..X / XXX`
    L,
}

impl Piece {
    /// How many pieces there are.
    pub const NUM: usize = 7;

    /// All seven, in order.
    pub const ALL: [Piece; Piece::NUM] =
        [Piece::I, Piece::O, Piece::T, Piece::Z, Piece::S, Piece::J, Piece::L];

    /// The piece's letter.
    ///
    /// ```
    /// use dropwise_core::Piece;
    /// assert_eq!(Piece::T.letter(), 'T');
    /// ```
    pub const fn letter(self) -> char {
        ['I', 'O', 'T', 'Z', 'S', 'J', 'L'][self as usize]
    }

    /// The piece with this letter; capital letters only.
    ///
    /// ```
    /// use dropwise_core::Piece;
    /// assert_eq!(Piece::from_letter('S'), Some(Piece::S));
    /// assert_eq!(Piece::from_letter('Q'), None);
    /// ```
    pub fn from_letter(letter: char) -> Option<Piece> {
        Piece::ALL.into_iter().find(|piece| piece.letter() == letter)
    }

    /// Its orientations: orientation 0 as drawn in this file, each next one a quarter turn counter-clockwise.
    ///
    /// ```
    /// use dropwise_core::Piece;
    /// let counts = Piece::ALL.map(|piece| piece.orientations().len());
    /// assert_eq!(counts, [2, 1, 4, 2, 2, 4, 4]);
    /// ```
    pub const fn orientations(self) -> &'static [Shape] {
        let (first, count) = RANGES[self as usize];
        SHAPES.split_at(first).1.split_at(count).0
    }

    /// Where this piece's orientations start in [`SHAPES`].
    pub(crate) const fn first_shape(self) -> usize {
        RANGES[self as usize].0
    }
}

impl fmt::Display for Piece {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.letter())
    }
}

/// A piece in one orientation. Every column and every row of it is one unbroken run of cells, which is what makes
/// the closed forms of [`crate::engine`] possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Columns it covers.
    pub width: usize,
    /// Rows it covers.
    pub height: usize,
    /// For each column, the row of its lowest cell.
    pub bottom: [usize; MAX_EXTENT],
    /// For each column, the row above its highest cell.
    pub top: [usize; MAX_EXTENT],
    /// For each column, its cells as bits, row 0 lowest.
    pub cells: [u32; MAX_EXTENT],
    /// For each row from below, its leftmost column.
    pub left: [usize; MAX_EXTENT],
    /// For each row from below, the column after its rightmost cell.
    pub right: [usize; MAX_EXTENT],
}

impl Shape {
    /// How many cells of the piece stand in a row.
    ///
    /// ```
    /// use dropwise_core::Piece;
    /// // X..
    /// // XXX
    /// let shape = &Piece::J.orientations()[0];
    /// assert_eq!((shape.row_len(0), shape.row_len(1)), (3, 1));
    /// ```
    pub const fn row_len(&self, row: usize) -> usize {
        self.right[row] - self.left[row]
    }

    /// How many columns the piece can stand in on a board of the given width.
    ///
    /// ```
    /// use dropwise_core::Piece;
    /// assert_eq!(Piece::O.orientations()[0].positions(10), 9);
    /// ```
    pub const fn positions(&self, board_width: usize) -> usize {
        board_width + 1 - self.width
    }

    const fn from_art(art: &str) -> Shape {
        let bytes = art.as_bytes();
        let (mut width, mut height) = (0, 1);
        let mut i = 0;
        while i < bytes.len() {
            if bytes[i] == b'/' {
                height += 1;
            } else if height == 1 {
                width += 1;
            }
            i += 1;
        }
        let mut cells = [[false; MAX_EXTENT]; MAX_EXTENT];
        let (mut row, mut column) = (height - 1, 0);
        i = 0;
        while i < bytes.len() {
            if bytes[i] == b'/' {
                row -= 1;
                column = 0;
            } else {
                cells[row][column] = bytes[i] == b'X';
                column += 1;
            }
            i += 1;
        }
        Shape::from_cells(&cells, width, height)
    }

    /// A quarter turn counter-clockwise: the cell at (x, y) goes to (height - 1 - y, x).
    const fn turned(&self) -> Shape {
        let mut cells = [[false; MAX_EXTENT]; MAX_EXTENT];
        let mut x = 0;
        while x < self.width {
            let mut y = self.bottom[x];
            while y < self.top[x] {
                cells[x][self.height - 1 - y] = true;
                y += 1;
            }
            x += 1;
        }
        Shape::from_cells(&cells, self.height, self.width)
    }

    const fn from_cells(cells: &[[bool; MAX_EXTENT]; MAX_EXTENT], width: usize, height: usize) -> Shape {
        let mut shape = Shape {
            width,
            height,
            bottom: [0; MAX_EXTENT],
            top: [0; MAX_EXTENT],
            cells: [0; MAX_EXTENT],
            left: [0; MAX_EXTENT],
            right: [0; MAX_EXTENT],
        };
        let mut y = height;
        while y > 0 {
            y -= 1;
            let mut x = width;
            while x > 0 {
                x -= 1;
                if cells[y][x] {
                    shape.cells[x] |= 1 << y;
                    shape.bottom[x] = y;
                    if shape.top[x] == 0 {
                        shape.top[x] = y + 1;
                    }
                    shape.left[y] = x;
                    if shape.right[y] == 0 {
                        shape.right[y] = x + 1;
                    }
                }
            }
        }
        shape
    }
}

/// Orientation 0 of each piece, top row first, and how many orientations it has.
const ART: [(&str, usize); Piece::NUM] = [
    ("X/X/X/X", 2),
    ("XX/XX", 1),
    ("X./XX/X.", 4),
    (".X/XX/X.", 2),
    ("X./XX/.X", 2),
    ("X../XXX", 4),
    ("XXX/X..", 4),
];

/// How many orientations all pieces have together.
pub const NUM_SHAPES: usize = 19;

// Statics, not constants: a table that has a name can be put in RAM by the firmware's linker script.
static RANGES: [(usize, usize); Piece::NUM] = {
    let mut ranges = [(0, 0); Piece::NUM];
    let (mut i, mut first) = (0, 0);
    while i < Piece::NUM {
        ranges[i] = (first, ART[i].1);
        first += ART[i].1;
        i += 1;
    }
    assert!(first == NUM_SHAPES);
    ranges
};

/// Every orientation of every piece, piece by piece.
pub static SHAPES: [Shape; NUM_SHAPES] = {
    let mut shapes = [Shape::from_art(ART[0].0); NUM_SHAPES];
    let mut piece = 0;
    while piece < Piece::NUM {
        let (first, count) = RANGES[piece];
        let mut shape = Shape::from_art(ART[piece].0);
        let mut turn = 0;
        while turn < count {
            shapes[first + turn] = shape;
            shape = shape.turned();
            turn += 1;
        }
        piece += 1;
    }
    shapes
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shape_has_four_cells_by_columns_and_by_rows() {
        for shape in SHAPES {
            let by_columns: u32 = (0..shape.width).map(|x| shape.cells[x].count_ones()).sum();
            let by_rows: usize = (0..shape.height).map(|y| shape.row_len(y)).sum();
            assert_eq!((by_columns, by_rows), (4, 4), "{shape:?}");
        }
    }

    #[test]
    fn four_turns_come_back_to_the_drawing() {
        for (art, count) in ART {
            let drawn = Shape::from_art(art);
            let mut shape = drawn;
            for _ in 0..count {
                shape = shape.turned();
            }
            assert_eq!(shape, drawn, "{art}");
        }
    }
}
