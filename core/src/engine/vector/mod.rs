//! The closed forms on AVX2 registers: one lane a column position, one register (or two) an orientation.
//!
//! Only boards whose open wells are not plain shafts (0.4 % of them in play) and, at the brim, the rarer rules go to
//! the scalar engine. Placements that clear lines are taken out of the lanes and counted one by one.
//!
//! A lane's value and its place in the order of placements share a word, `value << 6 | 63 - order`, so that one maximum
//! finds the first best placement. The value fits: the features of a board of 20 rows differ by less than 2,000 in all
//! from any other's, and no weight is above 2^14.
//!
//! Why `unsafe`: the one call below enters code compiled for AVX2, after asking the processor whether it has it. All
//! within is safe code: the intrinsics are safe there, memory is read through references.

use core::arch::x86_64::*;
use std::arch::is_x86_feature_detected;

use super::{Best, Judgement, Weights, scalar};
use crate::piece::{MAX_EXTENT, NUM_SHAPES, Piece, SHAPES};
use crate::placement::{MAX_PLACEMENTS, Placement};
use crate::well::{Overflow, WIDTH, Well};

mod lanes16;
mod lanes32;
mod surface;

mod narrow {
    super::surface::surface!(lanes16);
}
mod tall {
    super::surface::surface!(lanes32);
}

/// Higher than any row, so that nothing inside a wall counts as a well and no step to it is counted.
const WALL_HEIGHT: u8 = 31;

const UNTOUCHED_ROWS: [[usize; MAX_EXTENT]; NUM_SHAPES] = {
    let mut rows = [[0; MAX_EXTENT]; NUM_SHAPES];
    let mut shape = 0;
    while shape < NUM_SHAPES {
        rows[shape] = scalar::untouched_rows(shape);
        shape += 1;
    }
    rows
};

/// Eroded cells by shape and by which of its rows, as bits from below, complete a line.
static ERODED: [[u8; 1 << MAX_EXTENT]; NUM_SHAPES] = {
    let mut eroded = [[0; 1 << MAX_EXTENT]; NUM_SHAPES];
    let mut i = 0;
    while i < NUM_SHAPES << MAX_EXTENT {
        let (shape, rows) = (i >> MAX_EXTENT, i as u32 & 15);
        let (mut cells, mut row) = (0, 0);
        while row < SHAPES[shape].height {
            cells += SHAPES[shape].row_len(row) * (rows >> row & 1) as usize;
            row += 1;
        }
        eroded[shape][rows as usize] = (cells * rows.count_ones() as usize) as u8;
        i += 1;
    }
    eroded
};

/// The number of a placement among those of its piece.
const fn order(shape: usize, column: usize) -> usize {
    let mut first = 0;
    let mut piece = 0;
    while piece < Piece::NUM {
        let of_piece = Piece::ALL[piece].first_shape();
        if of_piece <= shape {
            first = of_piece;
        }
        piece += 1;
    }
    let mut number = column;
    while first < shape {
        number += SHAPES[first].positions(WIDTH);
        first += 1;
    }
    number
}

/// The word in which one maximum finds the first best placement.
const fn key(value: i32, shape: usize, column: usize) -> i32 {
    (value << 6) + key_order(shape, column)
}

const fn key_order(shape: usize, column: usize) -> i32 {
    63 - order(shape, column) as i32
}

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
    weights: Weights,
    packed: Packed,
}

/// Weights as the lanes use them.
#[derive(Clone, Copy, Debug)]
struct Packed {
    /// Two 16-bit weights in a word, for features that are multiplied and added in pairs.
    pairs: [i32; 4],
    /// What a shape's placements are worth whatever the board.
    start: [i32; NUM_SHAPES],
    /// For counting a board: row and column transitions, holes, wells, hole depth, rows with holes, steps.
    standing: [i16; 7],
    landing_height: i32,
    eroded_cells: i32,
}

impl Packed {
    fn new(weights: &Weights) -> Packed {
        let pair = |low: i32, high: i32| low & 0xffff | high << 16;
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
                pair(weights.rows_with_holes, weights.pattern_diversity),
            ],
            start,
            standing: [
                weights.row_transitions,
                weights.column_transitions,
                weights.holes,
                weights.cumulative_wells,
                weights.hole_depth,
                weights.rows_with_holes,
                weights.pattern_diversity,
            ]
            .map(|weight| weight as i16),
            landing_height: weights.landing_height,
            eroded_cells: weights.eroded_cells,
        }
    }

    /// The worth of landing on a row.
    #[inline]
    fn landing(&self, shape: usize, y: u32) -> i32 {
        self.landing_height * (2 * y as i32 + SHAPES[shape].height as i32 - 1)
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

impl Vector {
    /// None if this processor has no AVX2.
    pub(super) fn new(weights: Weights) -> Option<Vector> {
        let able = is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("lzcnt")
            && is_x86_feature_detected!("popcnt");
        able.then(|| Vector { weights, packed: Packed::new(&weights) })
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

    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn best_avx2(&self, well: &Well, piece: Piece, judgement: Judgement) -> Option<Best> {
        // Every row that has a cell; the highest of them is the height of the pile.
        let rows = well.columns().iter().fold(0, |rows, cells| rows | cells);
        let plain = judgement.overflow == Overflow::Before && !judgement.allow_losing;
        if !plain && rows >> (well.height() - MAX_EXTENT) != 0 {
            return scalar::best(&self.weights, well, piece, judgement);
        }
        let key = match (rows >> lanes16::MAX_PILE == 0, self.weights.pattern_diversity != 0) {
            (true, false) => narrow::best::<false>(well, piece, &self.packed),
            (true, true) => narrow::best::<true>(well, piece, &self.packed),
            (false, false) => tall::best::<false>(well, piece, &self.packed),
            (false, true) => tall::best::<true>(well, piece, &self.packed),
        };
        match key {
            None => scalar::best(&self.weights, well, piece, judgement),
            Some(i32::MIN) => None,
            Some(key) => {
                let placement = PLACEMENTS[piece as usize][(63 - (key & 63)) as usize];
                Some(Best { placement, value: key >> 6 })
            }
        }
    }
}
