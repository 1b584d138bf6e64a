//! The slow, obvious twin of the well, the placements and every feature: cell by cell, as the definitions say it in
//! words. It shares nothing with the crate but the names of things, so that an error would have to be made twice.

use dropwise_core::{Feature, Overflow, Piece, Placement, Player, Set, Well};

pub(crate) const WIDTH: usize = 10;
/// A piece can stand this far above the brim.
const SPACE: usize = 4;

/// How far the fixed-point radial basis functions may be from the real ones, times 256: the table's rounding and half
/// a step of its argument on the steepest slope.
const RBF_ERROR: f64 = 256.0 * (0.5 / 256.0 + 0.61 / 64.0);

/// A board as rows of cells, row 0 at the floor, with empty rows above the brim.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Board {
    pub(crate) height: usize,
    rows: Vec<[bool; WIDTH]>,
}

/// What a placement led to.
pub(crate) struct Drop {
    /// The piece's cells where it landed, before clearing; by row from below, then by column.
    pub(crate) cells: Vec<(usize, usize)>,
    pub(crate) lines: usize,
    /// Cells of the piece in the cleared lines.
    pub(crate) eroded: usize,
    pub(crate) loses: bool,
    /// The board after clearing.
    pub(crate) board: Board,
}

/// Orientation 0, top row first, and how many orientations differ.
fn art(piece: Piece) -> (&'static str, usize) {
    match piece.letter() {
        'I' => ("X/X/X/X", 2),
        'O' => ("XX/XX", 1),
        'T' => ("X./XX/X.", 4),
        'Z' => (".X/XX/X.", 2),
        'S' => ("X./XX/.X", 2),
        'J' => ("X../XXX", 4),
        'L' => ("XXX/X..", 4),
        other => panic!("no piece {other}"),
    }
}

/// The cells of each orientation, (x, y) from its lower left corner; each a quarter turn counter-clockwise further.
fn orientations(piece: Piece) -> Vec<Vec<(i32, i32)>> {
    let (art, count) = art(piece);
    let mut cells = Vec::new();
    for (y, row) in art.split('/').rev().enumerate() {
        for (x, cell) in row.chars().enumerate() {
            if cell == 'X' {
                cells.push((x as i32, y as i32));
            }
        }
    }
    let mut all = Vec::new();
    for _ in 0..count {
        all.push(cells.clone());
        let turned: Vec<_> = cells.iter().map(|&(x, y)| (-y, x)).collect();
        let left = turned.iter().map(|cell| cell.0).min().unwrap();
        let low = turned.iter().map(|cell| cell.1).min().unwrap();
        cells = turned.iter().map(|&(x, y)| (x - left, y - low)).collect();
    }
    all
}

/// Every placement: orientation first, then column from the left.
pub(crate) fn placements(piece: Piece) -> Vec<Placement> {
    let mut all = Vec::new();
    for (orientation, cells) in orientations(piece).iter().enumerate() {
        for column in 0..WIDTH as i32 {
            if cells.iter().all(|cell| column + cell.0 < WIDTH as i32) {
                all.push(Placement { orientation: orientation as u8, column: column as u8 });
            }
        }
    }
    all
}

impl Board {
    /// The same board, read from the crate's drawing.
    pub(crate) fn of(well: &Well) -> Board {
        let drawing = well.to_string();
        let mut rows: Vec<[bool; WIDTH]> = Vec::new();
        for line in drawing.lines().rev() {
            let cells: Vec<bool> = line.chars().map(|cell| cell == 'X').collect();
            rows.push(cells.try_into().expect("ten cells a row"));
        }
        rows.resize(well.height() + SPACE, [false; WIDTH]);
        Board { height: well.height(), rows }
    }

    /// Drawn top row first, with those above the brim that are not empty.
    pub(crate) fn draw(&self) -> String {
        let mut drawing = String::new();
        for (y, row) in self.rows.iter().enumerate().rev() {
            let empty_from_here = self.rows[y..].iter().flatten().all(|full| !full);
            if y >= self.height && empty_from_here {
                continue;
            }
            drawing.extend(row.iter().map(|&full| if full { 'X' } else { '.' }));
            drawing.push('\n');
        }
        drawing
    }

    /// Whether a cell is full: the walls and the floor are, what is above all rows is not.
    pub(crate) fn full(&self, x: i32, y: i32) -> bool {
        if !(0..WIDTH as i32).contains(&x) || y < 0 {
            return true;
        }
        self.rows.get(y as usize).is_some_and(|row| row[x as usize])
    }

    fn all_rows(&self) -> std::ops::Range<i32> {
        0..self.rows.len() as i32
    }

    /// Moves the piece down until it collides, puts it there, clears.
    pub(crate) fn drop(&self, piece: Piece, placement: Placement, overflow: Overflow) -> Drop {
        let shape = &orientations(piece)[usize::from(placement.orientation)];
        let column = i32::from(placement.column);
        let collides = |y: i32| shape.iter().any(|cell| self.full(column + cell.0, y + cell.1));
        let mut y = self.rows.len() as i32;
        while !collides(y - 1) {
            y -= 1;
        }
        let mut cells: Vec<(usize, usize)> =
            shape.iter().map(|cell| ((column + cell.0) as usize, (y + cell.1) as usize)).collect();
        cells.sort_by_key(|&(x, y)| (y, x));

        let mut board = self.clone();
        for &(x, y) in &cells {
            board.rows[y][x] = true;
        }
        let over = cells.iter().any(|cell| cell.1 >= self.height);
        if over && overflow == Overflow::Before {
            return Drop { cells, lines: 0, eroded: 0, loses: true, board };
        }
        let is_full = |row: &[bool; WIDTH]| row.iter().all(|&full| full);
        let lines = board.rows.iter().filter(|row| is_full(row)).count();
        let eroded = cells.iter().filter(|cell| is_full(&board.rows[cell.1])).count();
        board.rows.retain(|row| !is_full(row));
        board.rows.resize(self.rows.len(), [false; WIDTH]);
        let loses = board.rows[self.height..].iter().flatten().any(|&full| full);
        Drop { cells, lines, eroded, loses, board }
    }

    /// The row above the highest full cell of a column.
    pub(crate) fn column_height(&self, x: i32) -> i32 {
        self.all_rows().filter(|&y| self.full(x, y)).map(|y| y + 1).max().unwrap_or(0)
    }

    fn column_heights(&self) -> Vec<i32> {
        (0..WIDTH as i32).map(|x| self.column_height(x)).collect()
    }

    /// h[i+1] - h[i].
    fn steps(&self) -> Vec<i32> {
        self.column_heights().windows(2).map(|pair| pair[1] - pair[0]).collect()
    }

    fn is_hole(&self, x: i32, y: i32) -> bool {
        !self.full(x, y) && self.all_rows().any(|above| above > y && self.full(x, above))
    }

    /// How many cells of the board, those above the brim included, are such.
    fn count(&self, is_such: impl Fn(i32, i32) -> bool) -> i32 {
        let mut count = 0;
        for y in self.all_rows() {
            for x in 0..WIDTH as i32 {
                count += i32::from(is_such(x, y));
            }
        }
        count
    }

    /// An empty cell between two full ones.
    fn is_well(&self, x: i32, y: i32) -> bool {
        !self.full(x, y) && self.full(x - 1, y) && self.full(x + 1, y)
    }

    /// For every empty cell between two full ones that is chosen: the empty cells from it downward.
    fn wells(&self, chosen: impl Fn(i32, i32) -> bool) -> i32 {
        let mut sum = 0;
        for y in self.all_rows() {
            for x in 0..WIDTH as i32 {
                if self.is_well(x, y) && chosen(x, y) {
                    let mut below = y;
                    while !self.full(x, below) {
                        sum += 1;
                        below -= 1;
                    }
                }
            }
        }
        sum
    }

    /// Full/empty changes along the rows between full walls. Rows above the brim are there only under a piece that
    /// lost: they add what they have beyond an empty row's 2.
    fn row_transitions(&self) -> i32 {
        let mut changes = 0;
        for y in self.all_rows() {
            changes += (0..=WIDTH as i32).filter(|&x| self.full(x - 1, y) != self.full(x, y)).count() as i32;
            if y >= self.height as i32 {
                changes -= 2;
            }
        }
        changes
    }

    /// Full/empty changes up each column, from the full floor to the empty space above everything.
    fn column_transitions(&self) -> i32 {
        let mut changes = 0;
        for x in 0..WIDTH as i32 {
            for y in 0..=self.rows.len() as i32 {
                changes += i32::from(self.full(x, y - 1) != self.full(x, y));
            }
        }
        changes
    }

    fn hole_depth(&self) -> i32 {
        self.count(|x, y| self.full(x, y) && (0..y).any(|below| !self.full(x, below)))
    }

    fn hole_depth_sum(&self) -> i32 {
        let above = |x, y| self.all_rows().filter(|&row| row > y && self.full(x, row)).count() as i32;
        let mut sum = 0;
        for y in self.all_rows() {
            for x in 0..WIDTH as i32 {
                if self.is_hole(x, y) {
                    sum += above(x, y);
                }
            }
        }
        sum
    }

    fn rows_with_holes(&self) -> i32 {
        self.all_rows().filter(|&y| (0..WIDTH as i32).any(|x| self.is_hole(x, y))).count() as i32
    }

    /// Columns that only the I piece fits without a hole: three or more below both neighbours.
    fn narrow_columns(&self) -> i32 {
        let height = |x: i32| {
            if (0..WIDTH as i32).contains(&x) { self.column_height(x) } else { i32::MAX }
        };
        let deep = |x: &i32| height(x - 1).min(height(x + 1)) >= height(*x) + 3;
        (0..WIDTH as i32).filter(deep).count() as i32
    }

    fn rbf_height(&self, i: usize) -> f64 {
        let h = self.height as f64;
        let c = self.column_heights().iter().sum::<i32>() as f64 / WIDTH as f64;
        let (distance, width) = (c - i as f64 * h / 4.0, h / 5.0);
        (-distance * distance / (2.0 * width * width)).exp()
    }
}

impl Drop {
    fn bottom(&self) -> i32 {
        self.cells.iter().map(|cell| cell.1).min().unwrap() as i32
    }

    fn top(&self) -> i32 {
        self.cells.iter().map(|cell| cell.1).max().unwrap() as i32 + 1
    }

    /// The feature in the units of the literature, by its name.
    pub(crate) fn measure(&self, feature: Feature) -> f64 {
        let board = &self.board;
        let name = feature.name();
        let numbered = |family: &str| name.strip_prefix(family).map(|i| i.parse::<usize>().unwrap());
        if let Some(x) = numbered("column_height_") {
            return f64::from(board.column_height(x as i32));
        }
        if let Some(x) = numbered("adjacent_difference_") {
            return f64::from(board.steps()[x].abs());
        }
        if let Some(i) = numbered("rbf_height_") {
            return board.rbf_height(i);
        }
        let sum_of_steps = || board.steps().iter().map(|step| step.abs()).sum::<i32>();
        match name {
            "landing_height" => {
                let piece_height = self.top() - self.bottom();
                return f64::from(self.bottom()) + f64::from(piece_height - 1) / 2.0;
            }
            "mean_difference" => return f64::from(sum_of_steps()) / (WIDTH - 1) as f64,
            _ => {}
        }
        f64::from(match name {
            "eroded_cells" => (self.lines * self.eroded) as i32,
            "row_transitions" => board.row_transitions(),
            "column_transitions" => board.column_transitions(),
            "holes" => board.count(|x, y| board.is_hole(x, y)),
            "cumulative_wells" => board.wells(|_, _| true),
            "hole_depth" => board.hole_depth(),
            "hole_depth_sum" => board.hole_depth_sum(),
            "rows_with_holes" => board.rows_with_holes(),
            "pattern_diversity" => (-2..=2).filter(|step| board.steps().contains(step)).count() as i32,
            "max_height" => board.column_heights().into_iter().max().unwrap(),
            "landing_bottom" => self.bottom(),
            "landing_top" => self.top(),
            "lines_cleared" => self.lines as i32,
            "outer_wells" => board.wells(|x, y| y >= board.column_height(x)),
            "inner_wells" => board.wells(|x, y| y < board.column_height(x)),
            "column_transitions_below_brim" => {
                let brimful = |x: &i32| board.column_height(*x) == board.height as i32;
                board.column_transitions() - (0..WIDTH as i32).filter(brimful).count() as i32
            }
            "wells" => board.narrow_columns(),
            "bumpiness" => sum_of_steps(),
            "flat_steps" => board.steps().iter().filter(|&&step| step == 0).count() as i32,
            "single_steps" => board.steps().iter().filter(|&&step| step == 1 || step == -1).count() as i32,
            "flat_occurs" => i32::from(board.steps().contains(&0)),
            "single_directions" => {
                i32::from(board.steps().contains(&-1)) + i32::from(board.steps().contains(&1))
            }
            "deep_wells" => {
                board.count(|x, y| board.is_well(x, y) && !board.full(x, y - 1) && !board.full(x, y - 2))
            }
            "covered_wells" => board.count(|x, y| board.is_well(x, y) && board.is_hole(x, y)),
            "max_difference" => board.steps().iter().map(|step| step.abs()).max().unwrap(),
            other => panic!("the twin does not know the feature {other}"),
        })
    }

    /// Whether the crate's integer is this feature: exactly, or for the fixed-point ones within their stated error.
    pub(crate) fn is(&self, feature: Feature, measured: i32) -> bool {
        let real = self.measure(feature) * f64::from(feature.unit());
        let error = if feature.name().starts_with("rbf_") { RBF_ERROR } else { 1e-9 };
        (f64::from(measured) - real).abs() <= error
    }

    /// The weighted sum of a set's features. Not for sets of fixed-point features, which have no exact value.
    pub(crate) fn value(&self, player: &Player) -> i64 {
        assert_ne!(player.set(), Set::DtRbf, "radial basis functions are rounded");
        let terms = player.set().features().iter().zip(player.weights());
        terms
            .map(|(&feature, &weight)| {
                let integer = (self.measure(feature) * f64::from(feature.unit())).round();
                i64::from(weight) * integer as i64
            })
            .sum()
    }
}

/// The first placement whose value no other exceeds, and that value.
pub(crate) fn choose(
    player: &Player,
    board: &Board,
    piece: Piece,
    overflow: Overflow,
    allow_losing: bool,
) -> Option<(Placement, i64)> {
    let mut best: Option<(Placement, i64)> = None;
    for placement in placements(piece) {
        let drop = board.drop(piece, placement, overflow);
        if drop.loses && !allow_losing {
            continue;
        }
        let value = drop.value(player);
        if best.is_none_or(|(_, most)| value > most) {
            best = Some((placement, value));
        }
    }
    best
}
