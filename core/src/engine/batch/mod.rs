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
//! What is counted differs by the [kind](Kind) of the players, which the code is compiled for: DT's features are part of
//! Dropwise's, CS3243's are others. Boards whose players differ in that are served apart.
//!
//! Why `unsafe`: as in [`super::vector`], to enter code compiled for instructions that were asked for first.

use std::arch::is_x86_feature_detected;
use std::vec;
use std::vec::Vec;

use super::vector::{best_of_key, drop, has_avx2, pair};
use super::{Best, Board, Engine, Judgement, LOW_PILE, Plan, Skyline, Weights};
use crate::feature::Set;
use crate::piece::Piece;
use crate::placement::Placement;
use crate::player::Player;
use crate::well::{Landing, Overflow, Well};

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
mod piles;

mod low {
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

/// So many boards that are left over are served one by one in less time.
const FEW: usize = 3;

/// Which features are counted.
type Kind = u8;
/// Those of the set DT.
const DT: Kind = 0;
/// These and those of the set Dropwise.
const DROPWISE: Kind = 1;
/// Those of the set CS3243.
const CS3243: Kind = 2;

/// A player's weights as the lanes use them: two 16-bit weights in a word, for counts that are multiplied and added in
/// pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Packed {
    pairs: [i32; PAIRS],
    /// Of the landing height, or of the row for those that look at the shape's height by itself.
    landing: i32,
    shape_height: i32,
    /// Of eroded cells, or of lines.
    cleared: i32,
}

const LANDING_AND_ROW_TRANSITIONS: usize = 0;
const COLUMN_TRANSITIONS_AND_HOLES: usize = 1;
const HOLE_DEPTH_AND_WELLS: usize = 2;
const HOLE_ROWS_AND_DIVERSITY: usize = 3;
/// Flat steps and single ones: that they occur, and how many there are.
const OCCURRING: usize = 4;
const STEPS: usize = 5;
/// Deep well cells and covered ones.
const WELLS: usize = 6;
const PAIRS: usize = 7;
/// What CS3243 has in place of others.
const OUTER_AND_INNER_WELLS: usize = HOLE_DEPTH_AND_WELLS;
const SHAPE_HEIGHT: usize = HOLE_ROWS_AND_DIVERSITY;

/// A player made ready for many boards at a time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Batch {
    packed: Packed,
    kind: Kind,
}

impl Batch {
    /// None if this processor lacks an instruction that is needed, or the player's features are not counted here.
    pub(super) fn new(player: &Player, weights: Option<&Weights>) -> Option<Batch> {
        let (packed, kind) = match weights {
            Some(_) if Skyline::of(player).is_some() => return None,
            Some(weights) if weights.looks_at_surface() => (Packed::new(weights), DROPWISE),
            Some(weights) => (Packed::new(weights), DT),
            None => (Packed::cs3243(player)?, CS3243),
        };
        let able = has_avx2()
            && is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512bitalg")
            && is_x86_feature_detected!("avx512vbmi2")
            && is_x86_feature_detected!("avx512vnni")
            && is_x86_feature_detected!("avx512vpopcntdq");
        able.then_some(Batch { packed, kind })
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
        // SAFETY: `new` made this value only where the processor has AVX2, too.
        #[expect(unsafe_code, reason = "entering code compiled for other instructions has no safe form")]
        unsafe {
            drop::drop(well, piece, placement, overflow)
        }
    }
}

/// Whether all players can be served here. Then: the best placement on each board, or none if all lose. The overflow is
/// tested before clearing, and no losing placement is chosen.
pub(super) fn serve<'b, B: Copy + Into<Board<'b>>>(
    boards: &[(&Engine, B)],
    piece: Piece,
    best: &mut [Option<Best>],
) -> bool {
    let kind = |engine: &Engine| engine.batch.as_ref().map(|batch| 1u8 << batch.kind);
    let kinds = boards.iter().try_fold(0, |kinds, (engine, _)| Some(kinds | kind(engine)?));
    let Some(kinds) = kinds else { return false };
    let apart = [1 << DT | 1 << DROPWISE, 1 << CS3243];
    if apart.iter().any(|those| kinds & !those == 0) {
        serve_alike(boards, piece, best);
        return true;
    }
    for those in apart {
        let is_one = |engine| kind(engine).is_some_and(|kind| kind & those != 0);
        let places = || (0..boards.len()).filter(|&place| is_one(boards[place].0));
        let alike: Vec<(&Engine, B)> = places().map(|place| boards[place]).collect();
        let mut found = vec![None; alike.len()];
        serve_alike(&alike, piece, &mut found);
        places().zip(found).for_each(|(place, found)| best[place] = found);
    }
    true
}

/// The same for players whose features are counted together.
fn serve_alike<'b, B: Copy + Into<Board<'b>>>(
    boards: &[(&Engine, B)],
    piece: Piece,
    best: &mut [Option<Best>],
) {
    let rows = |board: B| match board.into() {
        Board::Well(well) => well.columns().iter().fold(0, |rows, cells| rows | cells),
        Board::Low(_) => 0,
    };
    let is_low = boards.iter().fold(0, |all, &(_, board)| all | rows(board)) >> LOW_PILE == 0;
    let size = if is_low { lanes16::LANES } else { lanes32::LANES };
    for (boards, best) in boards.chunks(size).zip(best.chunks_mut(size)) {
        if boards.len() <= FEW && boards.iter().all(|(engine, _)| matches!(engine.plan, Plan::Vector(_))) {
            for (best, &(engine, board)) in best.iter_mut().zip(boards) {
                *best = board.into().best(engine, piece, Judgement::default());
            }
            continue;
        }
        let (keys, unknown) = if is_low { low_keys(boards, piece) } else { tall_keys(boards, piece) };
        for (lane, (best, &(engine, board))) in best.iter_mut().zip(boards).enumerate() {
            *best = if unknown >> lane & 1 != 0 {
                board.into().best(engine, piece, Judgement::default())
            } else {
                (keys[lane] != i32::MIN).then(|| best_of_key(piece, keys[lane]))
            };
        }
    }
}

/// The keys of the best placements, and a bit for each board where they cannot be told.
macro_rules! keys {
    ($name:ident, $module:ident, $lanes:ident) => {
        fn $name<'b, B: Copy + Into<Board<'b>>>(boards: &[(&Engine, B)], piece: Piece) -> ([i32; MOST], u32) {
            let mut several = [&NOBODY; $lanes::LANES];
            let mut kind = DT;
            for (player, (engine, _)) in several.iter_mut().zip(boards) {
                if let Some(batch) = &engine.batch {
                    *player = &batch.packed;
                    kind = kind.max(batch.kind);
                }
            }
            let several = &several[..];
            // Mostly it is the same engine; the same player in another one takes longer to see.
            let is_one = |player: &&Packed| core::ptr::eq(*player, several[0]) || *player == several[0];
            let is_one = several[..boards.len()].iter().all(is_one);
            let players = if is_one { Players::One(several[0]) } else { Players::Several(several) };
            // SAFETY: a `Batch` was made only where the processor has every feature that the functions need.
            #[expect(unsafe_code, reason = "entering code compiled for other instructions has no safe form")]
            let (found, unknown) = unsafe {
                let boards = $module::Boards::new(boards.iter().map(|&(_, board)| board.into()));
                match kind {
                    DT => $module::best::<DT>(&boards, piece, players),
                    DROPWISE => $module::best::<DROPWISE>(&boards, piece, players),
                    _ => $module::best::<CS3243>(&boards, piece, players),
                }
            };
            let mut keys = [i32::MIN; MOST];
            keys[..$lanes::LANES].copy_from_slice(&found);
            (keys, unknown)
        }
    };
}
keys!(low_keys, low, lanes16);
keys!(tall_keys, tall, lanes32);

/// Whose weights the lanes go by.
#[derive(Clone, Copy)]
enum Players<'a> {
    One(&'a Packed),
    /// One for each lane.
    Several(&'a [&'a Packed]),
}

impl<'a> Players<'a> {
    fn of(self, lane: usize) -> &'a Packed {
        match self {
            Players::One(player) => player,
            Players::Several(players) => players[lane],
        }
    }
}

/// Stands in lanes without a board.
static NOBODY: Packed = Packed { pairs: [0; PAIRS], landing: 0, shape_height: 0, cleared: 0 };

/// Values below this, without sign, fit a key.
const VALUES: i32 = 1 << 25;

impl Packed {
    fn new(weights: &Weights) -> Packed {
        Packed {
            pairs: [
                pair(weights.landing_height, weights.row_transitions),
                pair(weights.column_transitions, weights.holes),
                pair(weights.hole_depth, weights.cumulative_wells),
                pair(weights.rows_with_holes, weights.pattern_diversity),
                pair(weights.flat_occurs, weights.single_directions),
                pair(weights.flat_steps, weights.single_steps),
                pair(weights.deep_wells, weights.covered_wells),
            ],
            landing: weights.landing_height,
            shape_height: 0,
            cleared: weights.eroded_cells,
        }
    }

    /// None if the player is of another set, or what its features can change by does not fit a key. Open and covered wells
    /// may turn into each other, so the bound of [`super::vector`] does not hold for all weights:
    ///
    /// | feature | change | for |
    /// |---|---|---|
    /// | landing bottom, top | 19, 20 | rows |
    /// | lines cleared | 4 | |
    /// | holes | 190 | 10 columns, 19 cells each |
    /// | outer wells | 1,050 | 5 wells of 20 rows: 5 (1 + ... + 20) |
    /// | inner wells | 950 | the same below a lid |
    /// | row transitions | 16 | 4 rows of the piece, 4 empty ones at the top |
    /// | column transitions | 200 | 10 columns, 20 changes each |
    fn cs3243(player: &Player) -> Option<Packed> {
        const MOST: [i32; Set::Cs3243.len()] = [19, 20, 4, 190, 1050, 950, 16, 200];
        let weights = player.weights().first_chunk().filter(|_| player.set() == Set::Cs3243)?;
        let weights = weights.map(i32::from);
        if weights.iter().zip(MOST).map(|(weight, most)| weight.abs() * most).sum::<i32>() >= VALUES {
            return None;
        }
        let [bottom, top, lines, holes, outer_wells, inner_wells, row_transitions, column_transitions] =
            weights;
        let mut pairs = [0; PAIRS];
        // The top is the bottom and the shape's height. Two weights together still fit 16 bits.
        pairs[LANDING_AND_ROW_TRANSITIONS] = pair(bottom + top, row_transitions);
        pairs[SHAPE_HEIGHT] = pair(top, 0);
        pairs[COLUMN_TRANSITIONS_AND_HOLES] = pair(column_transitions, holes);
        pairs[OUTER_AND_INNER_WELLS] = pair(outer_wells, inner_wells);
        Some(Packed { pairs, landing: bottom + top, shape_height: top, cleared: lines })
    }
}
