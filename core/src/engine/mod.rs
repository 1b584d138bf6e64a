//! The fast ways to find a player's best placement.
//!
//! Four engines, one law: each returns the first placement, in the order of [`Placement::all`], whose value no other
//! one exceeds.
//!
//! - `general` drops the piece, clears, and counts the set's features on the new board: any set, the obvious way.
//! - `scalar` is for the sets D, BCTS, DT, Dropwise, B, BD and BDU. It never makes the board: it finds what a placement
//!   *changes*.
//! - `vector` is the same arithmetic on AVX2 registers, one lane a column position (cargo feature `simd`).
//! - `batch` serves many boards that wait for the same piece, one lane a board, on AVX-512 registers: [`best_each`]. It has
//!   the sets D, BCTS, DT, Dropwise and CS3243.
//!
//! Instructions per piece on 10x20, uniform, as callgrind counts them on x86-64 (`cargo host bench` prints some):
//!
//! | player | `general` | `scalar` | `vector` |
//! |---|---|---|---|
//! | bcts | 24,038 | 3,534 | 1,429 |
//! | dt20 | 26,694 | | 1,606 |
//! | bdu | 28,945 | | 1,887 |
//! | champion20 | 41,151 | 7,881 | 1,956 |
//!
//! # The closed forms
//!
//! A shape's columns are unbroken runs of cells, and all above a column's top is empty. So where a piece lands on row
//! `y` and clears nothing, with `gap` the empty cells it covers in a column:
//!
//! - holes grow by the gaps, column transitions by 2 for each column with a gap;
//! - rows with holes grow by the rows of the gaps that had none;
//! - hole depth grows by the piece's cells in columns that have a hole or get a gap;
//! - a row of the piece changes the row transitions by 2, less 2 for each full neighbour at its two ends;
//! - cumulative wells lose the open wells of the piece's columns, keep the part of them below the piece that a gap
//!   covers, and gain the cells at the two ends of each row of the piece that have a full cell on their other side.
//!   A cell that gains cannot have been a well cell before, as the piece's own cell beside it was empty;
//! - the heights of the piece's columns become `y` and the piece's tops; the differences change within it and at its two
//!   sides, and the highest column is the higher of the old one and the piece's top.
//!
//! ```text
//!   . . a T T T .      the T hangs on column 5: 'a' gains if the cell left of it is full,
//!   . X . . T . .      the gaps are holes now; their open wells below row y stay wells
//!   X X . . X X X
//! ```
//!
//! A row of the piece completes a line when the row has exactly as many empty cells as the piece puts there. Such
//! placements, 0.7 a piece in play, are dropped and counted in full.

use crate::feature::{Feature, Outcome};
use crate::low::LowWell;
use crate::piece::Piece;
use crate::placement::Placement;
use crate::player::Player;
use crate::well::{Landing, MAX_HEIGHT, Overflow, Well};
use weights::{Skyline, Weights};

/// Does something for each orientation of a piece, its number in [`crate::piece::SHAPES`] a constant.
macro_rules! each_shape {
    (@ $name:ident, $body:expr, $($shape:literal)*) => {{
        $({
            const $name: usize = $shape;
            $body;
        })*
    }};
    ($piece:expr, $name:ident, $body:expr) => {
        match $piece {
            Piece::I => each_shape!(@ $name, $body, 0 1),
            Piece::O => each_shape!(@ $name, $body, 2),
            Piece::T => each_shape!(@ $name, $body, 3 4 5 6),
            Piece::Z => each_shape!(@ $name, $body, 7 8),
            Piece::S => each_shape!(@ $name, $body, 9 10),
            Piece::J => each_shape!(@ $name, $body, 11 12 13 14),
            Piece::L => each_shape!(@ $name, $body, 15 16 17 18),
        }
    };
}

#[cfg(all(feature = "simd", target_arch = "x86_64"))]
mod batch;
mod general;
mod scalar;
#[cfg(all(feature = "simd", target_arch = "x86_64"))]
mod vector;
mod weights;

/// Which implementation finds the best placement. All choose the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum EngineKind {
    /// The fastest one that this machine and the player's set allow.
    #[default]
    Fastest,
    /// No SIMD: what the device runs.
    Scalar,
    /// Makes every board and counts every feature.
    General,
}

/// Boards up to this height are the fastest to serve [together](best_each).
pub const LOW_PILE: usize = 11;

/// What ends a game and whether a player may choose it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Judgement {
    /// When a placement loses.
    pub overflow: Overflow,
    /// Whether losing placements are chosen on their value like any other.
    pub allow_losing: bool,
}

/// The best placement of a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Best {
    /// The placement.
    pub placement: Placement,
    /// Its value, less [`Engine::standing`] of the board it was chosen on.
    pub value: i32,
}

/// What comes of a placement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    /// The part of the value that speaks of how the piece landed, not of the board that it leaves.
    pub landing: i32,
    /// The value.
    pub value: i32,
    /// [`Engine::standing`] of the board that it leaves.
    pub standing: i32,
}

/// A player made ready to play.
#[derive(Clone, Copy, Debug)]
pub struct Engine {
    player: Player,
    plan: Plan,
    #[cfg(all(feature = "simd", target_arch = "x86_64"))]
    batch: Option<batch::Batch>,
}

#[derive(Clone, Copy, Debug)]
#[cfg_attr(
    all(feature = "simd", target_arch = "x86_64"),
    expect(
        clippy::large_enum_variant,
        reason = "the lanes' weights are made once for a player and then only read"
    )
)]
enum Plan {
    General,
    Scalar(Weights),
    #[cfg(all(feature = "simd", target_arch = "x86_64"))]
    Vector(vector::Vector),
}

impl Engine {
    /// Makes a player ready.
    pub fn new(player: Player, kind: EngineKind) -> Engine {
        let weights = Weights::of(&player).filter(|_| kind != EngineKind::General);
        let plan = match weights {
            None => Plan::General,
            #[cfg(all(feature = "simd", target_arch = "x86_64"))]
            Some(weights) if kind == EngineKind::Fastest => match vector::Vector::new(player, weights) {
                Some(vector) => Plan::Vector(vector),
                None => Plan::Scalar(weights),
            },
            Some(weights) => Plan::Scalar(weights),
        };
        Engine {
            player,
            plan,
            #[cfg(all(feature = "simd", target_arch = "x86_64"))]
            batch: if kind == EngineKind::Fastest {
                batch::Batch::new(&player, weights.as_ref())
            } else {
                None
            },
        }
    }

    /// The player.
    pub fn player(&self) -> &Player {
        &self.player
    }

    /// The implementation in use: `general`, `scalar` or `vector`.
    pub fn name(&self) -> &'static str {
        match self.plan {
            Plan::General => "general",
            Plan::Scalar(_) => "scalar",
            #[cfg(all(feature = "simd", target_arch = "x86_64"))]
            Plan::Vector(_) => "vector",
        }
    }

    /// The best placement, or none if all lose and losing is not allowed.
    #[inline(always)]
    pub fn best(&self, well: &Well, piece: Piece, judgement: Judgement) -> Option<Best> {
        match &self.plan {
            #[cfg(all(feature = "simd", target_arch = "x86_64"))]
            Plan::General if self.batch.is_some() => {
                let best = general::best(&self.player, well, piece, judgement)?;
                Some(Best { value: best.value - self.standing(well), ..best })
            }
            Plan::General => general::best(&self.player, well, piece, judgement),
            Plan::Scalar(weights) => scalar::best(weights, Skyline::of(&self.player), well, piece, judgement),
            #[cfg(all(feature = "simd", target_arch = "x86_64"))]
            Plan::Vector(vector) => vector.best(well, piece, judgement),
        }
    }

    /// How many boards [`best_each`] serves at once: it is worth while to bring so many together that wait for the
    /// same piece. One if it takes them one by one.
    pub fn boards_at_once(&self) -> usize {
        #[cfg(all(feature = "simd", target_arch = "x86_64"))]
        if self.batch.is_some() {
            return batch::MOST;
        }
        1
    }

    /// Whether it matters to the player that a column is filled to the brim. Then there must be a row above all that
    /// a piece can fill for a low pile to be the same [in every well](Board::Low).
    pub fn looks_at_brim(&self) -> bool {
        self.player.set().features().contains(&Feature::ColumnTransitionsBelowBrim)
    }

    /// Drops a piece: the same as [`Well::drop`], as fast as the engine can.
    ///
    /// # Panics
    /// If the placement is not [valid](Placement::is_valid) for the piece.
    #[inline(always)]
    pub fn drop(&self, well: &mut Well, piece: Piece, placement: Placement, overflow: Overflow) -> Landing {
        match &self.plan {
            #[cfg(all(feature = "simd", target_arch = "x86_64"))]
            Plan::Vector(vector) => vector.drop(well, piece, placement, overflow),
            #[cfg(all(feature = "simd", target_arch = "x86_64"))]
            Plan::General if let Some(batch) = &self.batch => batch.drop(well, piece, placement, overflow),
            _ => well.drop(piece, placement, overflow),
        }
    }

    /// What the values of [`Best`] are relative to: the worth of the board as it stands. Values of placements on
    /// different boards compare only with it added.
    pub fn standing(&self, well: &Well) -> i32 {
        match &self.plan {
            // What boards that are served together have.
            #[cfg(all(feature = "simd", target_arch = "x86_64"))]
            Plan::General if self.batch.is_some() => general::standing(&self.player, well),
            Plan::General => 0,
            Plan::Scalar(weights) => scalar::standing(weights, Skyline::of(&self.player), well),
            #[cfg(all(feature = "simd", target_arch = "x86_64"))]
            Plan::Vector(vector) => scalar::standing(vector.weights(), Skyline::of(&self.player), well),
        }
    }

    /// One placement, counted in full.
    pub fn count(&self, outcome: &Outcome) -> Count {
        match &self.plan {
            // Boards that are served together have a standing.
            #[cfg(all(feature = "simd", target_arch = "x86_64"))]
            Plan::General if self.batch.is_some() => general::count(&self.player, outcome),
            Plan::General => Count { standing: 0, ..general::count(&self.player, outcome) },
            Plan::Scalar(weights) => scalar::count(weights, Skyline::of(&self.player), outcome),
            #[cfg(all(feature = "simd", target_arch = "x86_64"))]
            Plan::Vector(vector) => scalar::count(vector.weights(), Skyline::of(&self.player), outcome),
        }
    }
}

/// What a piece is dropped on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Board<'a> {
    /// Any well.
    Well(&'a Well),
    /// A low pile in a well so high that nothing loses: see [`MIN_BOARD`](crate::book::MIN_BOARD). There the best
    /// placements are the same in all of them, if none fills a column to a brim that the player
    /// [looks at](Engine::looks_at_brim).
    Low(LowWell),
}

impl<'a> From<&'a Well> for Board<'a> {
    fn from(well: &'a Well) -> Board<'a> {
        Board::Well(well)
    }
}

impl Board<'_> {
    /// [`Engine::best`] on it.
    pub fn best(self, engine: &Engine, piece: Piece, judgement: Judgement) -> Option<Best> {
        match self {
            Board::Well(well) => engine.best(well, piece, judgement),
            Board::Low(pile) => engine.best(&pile.well(MAX_HEIGHT), piece, judgement),
        }
    }
}

/// [`Engine::best`] of a piece on each of some boards. It is fastest where the piles are all at most [`LOW_PILE`] high, and
/// there are as many as engines [serve at once](Engine::boards_at_once).
///
/// ```
/// use dropwise_core::engine::{Board, Engine, EngineKind, Judgement, best_each};
/// use dropwise_core::low::LowWell;
/// use dropwise_core::{Piece, Player, Well};
///
/// let engines = ["bcts", "dt20"].map(|name| Engine::new(Player::known(name).unwrap(), EngineKind::Fastest));
/// let well = Well::new(20).unwrap();
/// let mut best = [None; 2];
/// best_each(&[(&engines[0], &well), (&engines[1], &well)], Piece::T, Judgement::default(), &mut best);
/// assert_eq!(best[1], engines[1].best(&well, Piece::T, Judgement::default()));
/// let boards = [(&engines[0], Board::Low(LowWell::EMPTY)), (&engines[1], Board::Well(&well))];
/// let mut again = [None; 2];
/// best_each(&boards, Piece::T, Judgement::default(), &mut again);
/// assert_eq!(again, best);
/// ```
///
/// # Panics
/// If there is not a place for the answer to each board.
pub fn best_each<'b, B: Copy + Into<Board<'b>>>(
    boards: &[(&Engine, B)],
    piece: Piece,
    judgement: Judgement,
    best: &mut [Option<Best>],
) {
    assert_eq!(boards.len(), best.len(), "an answer for each board");
    #[cfg(all(feature = "simd", target_arch = "x86_64"))]
    if judgement == Judgement::default() && batch::serve(boards, piece, best) {
        return;
    }
    for (best, &(engine, board)) in best.iter_mut().zip(boards) {
        *best = board.into().best(engine, piece, judgement);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_shape_names_every_orientation_of_its_piece() {
        for piece in Piece::ALL {
            let mut shapes = std::vec::Vec::new();
            each_shape!(piece, SHAPE, shapes.push(SHAPE));
            let first = piece.first_shape();
            let expected: std::vec::Vec<_> = (first..first + piece.orientations().len()).collect();
            assert_eq!(shapes, expected, "{piece}");
        }
    }
}
