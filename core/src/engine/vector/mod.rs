//! The closed forms on AVX2 registers: one lane a column position, one register (or two) an orientation.
//!
//! Only boards whose open wells are not plain shafts (0.4 % of them in play) and, at the brim, the rarer rules go to
//! the scalar engine. Placements that clear lines are taken out of the lanes and counted one by one.
//!
//! A lane's value and its place in the order of placements share a word, `value << 6 | 63 - order`, so that one maximum
//! finds the first best placement. The value fits 26 bits, since no weight is above 2^14 - 1 and a placement changes all
//! features together by less than 2^11. On a board of 20 rows these are the most that they can change by:
//!
//! | feature | change | for |
//! |---|---|---|
//! | landing height, eroded cells | 38 + 16 | half rows; 4 cells times 4 lines |
//! | row transitions | 16 | 4 rows of the piece, 4 empty ones at the top |
//! | column transitions | 200 | 10 columns, 20 changes each |
//! | holes, hole depth | 190 + 190 | 10 columns, 19 cells each |
//! | rows with holes | 19 | |
//! | cumulative wells | 950 | with a line cleared, 19 rows are left, 5 wells in each: 5 (1 + ... + 19); without, less |
//! | column heights, differences, the highest | 200 + 180 + 20 | 10, 9 and 1 of 20 rows |
//! | in all | 2,019 | |
//!
//! Pattern diversity and the features of the set Dropwise are in no set with the last, and change by less: 5 and
//! 9 + 9 + 1 + 2 for the steps, 90 and 95 for deep and covered wells (5 wells of 18 and of 19 cells).
//!
//! Why `unsafe`: the two calls below enter code compiled for AVX2, after asking the processor whether it has it. All
//! within is safe code: the intrinsics are safe there, memory is read through references.

use core::arch::x86_64::*;
use std::arch::is_x86_feature_detected;

use super::{Best, Judgement, Skyline, Weights, scalar};
use crate::piece::{MAX_EXTENT, NUM_SHAPES, Piece, SHAPES};
use crate::placement::{MAX_PLACEMENTS, Placement};
use crate::player::Player;
use crate::well::{Landing, Overflow, WIDTH, Well};

mod clearing;
pub(super) mod drop;
mod lanes16;
mod lanes32;
mod more;
mod surface;
mod tops;

mod narrow {
    super::surface::surface!(lanes16, narrow_tops);
    super::clearing::clearing!(narrow_tops);
    super::more::more!();
    super::tops::tops!();
}
mod tall {
    super::surface::surface!(lanes32, tall_tops);
    super::clearing::clearing!(tall_tops);
    super::more::more!();
    super::tops::tops!();
}

/// Higher than any row, so that nothing inside a wall counts as a well and no step to it is counted.
const WALL_HEIGHT: u8 = 31;

/// The cells of a shape in the rows, as bits from below, that complete a line.
pub(super) static ERODED: [[u8; 1 << MAX_EXTENT]; NUM_SHAPES] = {
    let mut eroded = [[0; 1 << MAX_EXTENT]; NUM_SHAPES];
    let mut i = 0;
    while i < NUM_SHAPES << MAX_EXTENT {
        let (shape, rows) = (i >> MAX_EXTENT, i as u32 & 15);
        let (mut cells, mut row) = (0, 0);
        while row < SHAPES[shape].height {
            cells += SHAPES[shape].row_len(row) * (rows >> row & 1) as usize;
            row += 1;
        }
        eroded[shape][rows as usize] = cells as u8;
        i += 1;
    }
    eroded
};

/// The first orientation of the piece that has this one.
const fn first_turn(shape: usize) -> usize {
    let mut piece = Piece::NUM - 1;
    while Piece::ALL[piece].first_shape() > shape {
        piece -= 1;
    }
    Piece::ALL[piece].first_shape()
}

/// The number of a placement among those of its piece.
const fn order(shape: usize, column: usize) -> usize {
    let mut number = column;
    let mut before = first_turn(shape);
    while before < shape {
        number += SHAPES[before].positions(WIDTH);
        before += 1;
    }
    number
}

/// The word in which one maximum finds the first best placement.
fn key(value: i32, shape: usize, column: usize) -> i32 {
    (value << 6) + i32::from(KEY_ORDER[shape][column])
}

/// The placement behind the key of one.
#[inline]
pub(super) fn best_of_key(piece: Piece, key: i32) -> Best {
    let placement = PLACEMENTS[piece as usize][(63 - (key & 63)) as usize];
    Best { placement, value: key >> 6 }
}

/// The lower bits of a placement's key: less for a later one.
pub(super) static KEY_ORDER: [[u8; WIDTH]; NUM_SHAPES] = {
    let mut orders = [[0; WIDTH]; NUM_SHAPES];
    let mut shape = 0;
    while shape < NUM_SHAPES {
        let mut column = 0;
        while column < WIDTH {
            orders[shape][column] = 63 - order(shape, column) as u8;
            column += 1;
        }
        shape += 1;
    }
    orders
};

/// The placement behind each number, for each piece.
static PLACEMENTS: [[Placement; MAX_PLACEMENTS]; Piece::NUM] = {
    let mut table = [[Placement { orientation: 0, column: 0 }; MAX_PLACEMENTS]; Piece::NUM];
    let mut piece = 0;
    while piece < Piece::NUM {
        let first = Piece::ALL[piece].first_shape();
        let shapes = Piece::ALL[piece].orientations().len();
        let mut turn = 0;
        while turn < shapes {
            let mut column = 0;
            while column < SHAPES[first + turn].positions(WIDTH) {
                table[piece][order(first + turn, column)] =
                    Placement { orientation: turn as u8, column: column as u8 };
                column += 1;
            }
            turn += 1;
        }
        piece += 1;
    }
    table
};

/// A player made ready for the vector engine.
#[derive(Clone, Copy, Debug)]
pub(super) struct Vector {
    player: Player,
    weights: Weights,
    packed: Packed,
}

/// Weights as the lanes use them.
#[derive(Clone, Copy, Debug)]
struct Packed {
    /// Two 16-bit weights in a word, for features that are multiplied and added in pairs.
    pairs: [i32; 7],
    /// What a shape's placements are worth whatever the board.
    start: [i32; NUM_SHAPES],
    /// For counting a board: column transitions, holes, wells, hole depth, rows with holes, steps; flat and single steps,
    /// that they occur, deep and covered wells.
    columns: [i16; 12],
    landing_height: i32,
    eroded_cells: i32,
    row_transitions: i32,
    max_height: i32,
    extra: Extra,
    /// The weights of the columns' tops, in the order of either kind of lanes.
    narrow_tops: narrow::Tops,
    tall_tops: tall::Tops,
}

/// What a player looks at beside BCTS's features.
type Extra = u8;
const NOTHING: Extra = 0;
/// Pattern diversity.
const STEPS: Extra = 1;
/// This and the set Dropwise's own features.
const MORE: Extra = 2;
/// Column heights, their differences and the highest column.
const TOPS: Extra = 3;

/// Whether it matters which steps occur.
const fn has_steps(extra: Extra) -> bool {
    matches!(extra, STEPS | MORE)
}

/// Two 16-bit weights in a word.
pub(super) const fn pair(low: i32, high: i32) -> i32 {
    low & 0xffff | high << 16
}

impl Packed {
    fn new(weights: &Weights, skyline: Option<Skyline<'_>>) -> Packed {
        let max_height = skyline.map_or(0, |skyline| skyline.max_height());
        let start = SHAPES.map(|shape| {
            let (width, height) = (shape.width as i32, shape.height as i32);
            let bottoms: usize = shape.bottom.iter().sum();
            weights.landing_height * (height - 1) + weights.holes * bottoms as i32
                - weights.row_transitions * 2 * height
                + weights.column_transitions * 2 * width
                + weights.hole_depth * 4
        });
        Packed {
            pairs: [
                pair(2 * weights.landing_height, weights.holes),
                pair(2 * weights.column_transitions, -2 * weights.row_transitions),
                pair(weights.cumulative_wells, weights.hole_depth),
                // No set has both of the last.
                pair(weights.rows_with_holes, weights.pattern_diversity | max_height),
                pair(weights.flat_steps, weights.single_steps),
                pair(weights.flat_occurs, weights.single_directions),
                pair(weights.deep_wells, weights.covered_wells),
            ],
            start,
            columns: [
                weights.column_transitions,
                weights.holes,
                weights.cumulative_wells,
                weights.hole_depth,
                weights.rows_with_holes,
                weights.pattern_diversity,
                weights.flat_steps,
                weights.single_steps,
                weights.flat_occurs,
                weights.single_directions,
                weights.deep_wells,
                weights.covered_wells,
            ]
            .map(|weight| weight as i16),
            landing_height: weights.landing_height,
            eroded_cells: weights.eroded_cells,
            row_transitions: weights.row_transitions,
            max_height,
            extra: match skyline {
                Some(_) => TOPS,
                None if weights.looks_at_surface() => MORE,
                None if weights.pattern_diversity != 0 => STEPS,
                None => NOTHING,
            },
            narrow_tops: narrow::Tops::new(skyline),
            tall_tops: tall::Tops::new(skyline),
        }
    }

    /// What a placement is worth that lands on row y and fills these rows, without the columns of the board it leaves.
    /// `empty` is how many cells beside its rows are empty, negative.
    #[inline]
    fn clearing(&self, shape: usize, y: u32, full: u32, empty: i32) -> i32 {
        let height = SHAPES[shape].height as i32;
        // A full line has no transitions; the empty one that comes in at the top has two.
        let lines = full.count_ones() as i32;
        let transitions = 2 * (lines - height - empty);
        let eroded = lines * i32::from(ERODED[shape][(full >> y) as usize & 15]);
        self.landing_height * (2 * y as i32 + height - 1)
            + self.row_transitions * transitions
            + self.eroded_cells * eroded
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn pair(&self, index: usize) -> __m256i {
        _mm256_set1_epi32(self.pairs[index])
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn start(&self, shape: usize) -> __m256i {
        _mm256_set1_epi32(self.start[shape])
    }
}

/// Whether this processor has all that the code in this module is compiled for.
pub(super) fn has_avx2() -> bool {
    is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("lzcnt")
        && is_x86_feature_detected!("popcnt")
}

impl Vector {
    /// None if this processor has no AVX2.
    pub(super) fn new(player: Player, weights: Weights) -> Option<Vector> {
        has_avx2().then(|| Vector { player, weights, packed: Packed::new(&weights, Skyline::of(&player)) })
    }

    pub(super) fn weights(&self) -> &Weights {
        &self.weights
    }

    #[inline]
    pub(super) fn best(&self, well: &Well, piece: Piece, judgement: Judgement) -> Option<Best> {
        // SAFETY: `new` made this value only where the processor has every feature that the function is compiled for.
        #[expect(unsafe_code, reason = "entering code compiled for another instruction set has no safe form")]
        unsafe {
            self.best_avx2(well, piece, judgement)
        }
    }

    /// [`Well::drop`].
    #[inline]
    pub(super) fn drop(
        &self,
        well: &mut Well,
        piece: Piece,
        placement: Placement,
        overflow: Overflow,
    ) -> Landing {
        // SAFETY: as above.
        #[expect(unsafe_code, reason = "entering code compiled for another instruction set has no safe form")]
        unsafe {
            drop::drop(well, piece, placement, overflow)
        }
    }

    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn best_avx2(&self, well: &Well, piece: Piece, judgement: Judgement) -> Option<Best> {
        let scalar = || scalar::best(&self.weights, Skyline::of(&self.player), well, piece, judgement);
        let plain = judgement.overflow == Overflow::Before && !judgement.allow_losing;
        if !plain && well.max_height() + MAX_EXTENT > well.height() {
            return scalar();
        }
        let rows = well.columns().iter().fold(0, |rows, cells| rows | cells);
        let key = match (rows >> lanes16::MAX_PILE == 0, self.packed.extra) {
            (true, STEPS) => narrow::best::<STEPS>(well, piece, &self.packed),
            (true, MORE) => narrow::best::<MORE>(well, piece, &self.packed),
            (true, TOPS) => narrow::best::<TOPS>(well, piece, &self.packed),
            (true, _) => narrow::best::<NOTHING>(well, piece, &self.packed),
            (false, STEPS) => tall::best::<STEPS>(well, piece, &self.packed),
            (false, MORE) => tall::best::<MORE>(well, piece, &self.packed),
            (false, TOPS) => tall::best::<TOPS>(well, piece, &self.packed),
            (false, _) => tall::best::<NOTHING>(well, piece, &self.packed),
        };
        match key {
            None => scalar(),
            Some(i32::MIN) => None,
            Some(key) => Some(best_of_key(piece, key)),
        }
    }
}
