//! Many boards at a time on AVX-512 registers: one lane a board, all with the same piece.
//!
//! The registers of [`super::vector`] hold the positions of one piece on one board, and much of them stands empty or
//! waits for a sum across the lanes. Here a lane is a board: thirty-two games that wait for the same piece are served at
//! once, nothing crosses the lanes, and each count is an instruction or two. A placement is counted as it is defined,
//! on the columns it touches and the two beside them; what those columns had before is taken away.
//!
//! Boards up to 11 rows high stand in lanes of 16 bits, higher ones in lanes of 32. How many empty cells there are below
//! a well cell is kept in binary digits; the rare board with a deeper well, and rules other than the usual at the brim,
//! are left to the engine for single boards.
//!
//! Why `unsafe`: as in [`super::vector`], to enter code compiled for instructions that were asked for first.

use std::arch::is_x86_feature_detected;

use super::vector::{best_of_key, pair};
use super::{Best, Weights};
use crate::piece::{NUM_SHAPES, Piece, SHAPES};
use crate::well::Well;

/// Instructions on two registers or one, by their names.
macro_rules! operations {
    ($($(#[$doc:meta])* $name:ident($($argument:ident),*) = $instruction:ident;)*) => {
        $(
            $(#[$doc])*
            #[inline]
            #[target_feature(enable = "avx512f,avx512bw,avx512bitalg,avx512vbmi2,avx512vnni,avx512vpopcntdq")]
            pub(super) fn $name($($argument: __m512i),*) -> __m512i {
                $instruction($($argument),*)
            }
        )*
    };
}

mod clearing;
mod evaluate;
mod lanes16;
mod lanes32;

mod narrow {
    super::evaluate::evaluate!(lanes16);
    super::clearing::clearing!();
}
mod tall {
    super::evaluate::evaluate!(lanes32);
    super::clearing::clearing!();
}

/// Columns of wall on each side.
const WALL: usize = 2;

/// The most boards that are served at once.
pub(super) const MOST: usize = lanes16::LANES;

/// Weights as the lanes use them: two 16-bit weights in a word, for counts that are multiplied and added in pairs.
#[derive(Clone, Copy, Debug)]
struct Packed {
    landing_and_row_transitions: i32,
    column_transitions_and_holes: i32,
    hole_depth_and_wells: i32,
    hole_rows_and_diversity: i32,
    /// Flat steps and single ones: that they occur, and how many there are.
    occurring: i32,
    steps: i32,
    /// Well cells three deep, and covered ones.
    wells: i32,
    /// What a shape's landing height is worth on row 0, and each row more.
    landing: [i32; NUM_SHAPES],
    landing_row: i32,
    eroded_cells: i32,
}

/// A player made ready for many boards at a time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Batch {
    packed: Packed,
    more: bool,
}

impl Batch {
    /// None if this processor lacks an instruction that is needed.
    pub(super) fn new(weights: &Weights) -> Option<Batch> {
        let able = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512bitalg")
            && is_x86_feature_detected!("avx512vpopcntdq")
            && is_x86_feature_detected!("avx512vnni")
            && is_x86_feature_detected!("avx512vbmi2");
        able.then(|| Batch { packed: Packed::new(weights), more: weights.looks_at_surface() })
    }

    /// The best placement on each board, or none if all lose; boards that were left out are told by their number.
    /// The overflow is tested before clearing, and no losing placement is chosen.
    ///
    /// # Panics
    /// If there are more than [`MOST`] boards, or fewer than boards places for the answers.
    pub(super) fn best(
        &self,
        wells: &[&Well],
        piece: Piece,
        best: &mut [Option<Best>],
        mut left_out: impl FnMut(usize, &mut Option<Best>),
    ) {
        let is_narrow = wells.iter().all(|well| well.max_height() <= lanes16::MAX_PILE);
        let size = if is_narrow { lanes16::LANES } else { lanes32::LANES };
        let groups = wells.chunks(size).zip(best.chunks_mut(size)).zip((0..).step_by(size));
        for ((wells, best), first) in groups {
            let mut keys = [0; MOST];
            let unknown = if is_narrow {
                let boards = narrow::Boards::new(wells);
                // SAFETY: `new` made this value only where the processor has every feature the function needs.
                #[expect(
                    unsafe_code,
                    reason = "entering code compiled for other instructions has no safe form"
                )]
                let (found, unknown) = unsafe {
                    if self.more {
                        narrow::best::<true>(&boards, piece, &self.packed)
                    } else {
                        narrow::best::<false>(&boards, piece, &self.packed)
                    }
                };
                keys = found;
                unknown
            } else {
                let boards = tall::Boards::new(wells);
                // SAFETY: as above.
                #[expect(
                    unsafe_code,
                    reason = "entering code compiled for other instructions has no safe form"
                )]
                let (found, unknown) = unsafe {
                    if self.more {
                        tall::best::<true>(&boards, piece, &self.packed)
                    } else {
                        tall::best::<false>(&boards, piece, &self.packed)
                    }
                };
                keys[..lanes32::LANES].copy_from_slice(&found);
                unknown
            };
            for (lane, (best, &key)) in best.iter_mut().zip(&keys).enumerate().take(wells.len()) {
                *best = (key != i32::MIN).then(|| best_of_key(piece, key));
                if unknown >> lane & 1 != 0 {
                    left_out(first + lane, best);
                }
            }
        }
    }
}

impl Packed {
    fn new(weights: &Weights) -> Packed {
        Packed {
            landing_and_row_transitions: pair(2 * weights.landing_height, weights.row_transitions),
            column_transitions_and_holes: pair(weights.column_transitions, weights.holes),
            hole_depth_and_wells: pair(weights.hole_depth, weights.cumulative_wells),
            hole_rows_and_diversity: pair(weights.rows_with_holes, weights.pattern_diversity),
            occurring: pair(weights.flat_occurs, weights.single_directions),
            steps: pair(weights.flat_steps, weights.single_steps),
            wells: pair(weights.deep_wells, weights.covered_wells),
            landing: SHAPES.map(|shape| weights.landing_height * (shape.height as i32 - 1)),
            landing_row: 2 * weights.landing_height,
            eroded_cells: weights.eroded_cells,
        }
    }
}
