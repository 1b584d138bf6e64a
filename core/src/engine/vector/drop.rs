//! [`Well::drop`] on vectors. The columns are read and written as the engine reads them: a wide load that follows narrow
//! stores would have to wait until they reach memory.

use core::arch::x86_64::*;

use safe_unaligned_simd::x86_64 as memory;

use super::ERODED;
use super::tall::PIECES;
use crate::piece::{MAX_EXTENT, NUM_SHAPES, Piece, SHAPES};
use crate::placement::Placement;
use crate::well::{Landing, Overflow, WIDTH, Well, height_of};

/// The bottoms of a shape's columns, out of reach where it has no column; and the tops, with a mask of its columns.
static PROFILES: [[[u8; MAX_EXTENT]; 3]; NUM_SHAPES] = {
    let mut profiles = [[[u8::MAX; MAX_EXTENT], [0; MAX_EXTENT], [0; MAX_EXTENT]]; NUM_SHAPES];
    let mut shape = 0;
    while shape < NUM_SHAPES {
        let mut x = 0;
        while x < SHAPES[shape].width {
            profiles[shape][0][x] = SHAPES[shape].bottom[x] as u8;
            profiles[shape][1][x] = SHAPES[shape].top[x] as u8;
            profiles[shape][2][x] = u8::MAX;
            x += 1;
        }
        shape += 1;
    }
    profiles
};

/// The same as [`Well::drop`].
///
/// # Panics
/// If the placement is not valid for the piece.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(in crate::engine) fn drop(
    well: &mut Well,
    piece: Piece,
    placement: Placement,
    overflow: Overflow,
) -> Landing {
    assert!(placement.is_valid(piece), "the piece must stand between the walls");
    let shape = piece.first_shape() + usize::from(placement.orientation);
    let column = usize::from(placement.column);
    let brim = well.height();
    let [bottoms, tops, mask] = PROFILES[shape].map(u32::from_le_bytes);
    let (columns, heights) = well.parts_mut();
    let window: &mut [u8; MAX_EXTENT] =
        heights[column..].first_chunk_mut().expect("heights are padded to the right");

    let over_bottoms = _mm_subs_epu8(
        _mm_cvtsi32_si128(u32::from_le_bytes(*window) as i32),
        _mm_cvtsi32_si128(bottoms as i32),
    );
    let pairs = _mm_max_epu8(over_bottoms, _mm_srli_epi32::<16>(over_bottoms));
    let row = _mm_cvtsi128_si32(_mm_max_epu8(pairs, _mm_srli_epi32::<8>(pairs))) as u32 & 0xff;
    if row as usize + SHAPES[shape].height > brim {
        return well.drop(piece, placement, overflow);
    }
    let new = tops + row * 0x0101_0101;
    *window = (u32::from_le_bytes(*window) & !mask | new & mask).to_le_bytes();

    let raise = _mm_cvtsi32_si128(row as i32);
    let pieces = PIECES[shape][WIDTH - column..].first_chunk::<WIDTH>().expect("within the row");
    let first = _mm256_or_si256(
        memory::_mm256_loadu_si256(columns.first_chunk::<8>().expect("ten columns")),
        _mm256_sll_epi32(memory::_mm256_loadu_si256(pieces.first_chunk::<8>().expect("ten columns")), raise),
    );
    let last = _mm_or_si128(
        memory::_mm_loadu_si64(columns.last_chunk::<2>().expect("ten columns")),
        _mm_sll_epi32(memory::_mm_loadu_si64(pieces.last_chunk::<2>().expect("ten columns")), raise),
    );
    let all = _mm_and_si128(_mm256_castsi256_si128(first), _mm256_extracti128_si256::<1>(first));
    let all = _mm_and_si128(_mm_and_si128(all, _mm_srli_si128::<8>(all)), last);
    let all = _mm_cvtsi128_si64(all) as u64;
    let full = all as u32 & (all >> 32) as u32;

    let (mut first, mut last, mut rows) = (first, last, full);
    while rows != 0 {
        let highest = rows.ilog2();
        let below = _mm256_set1_epi32((1 << highest) - 1);
        let fall = |cells| {
            let above = _mm256_andnot_si256(below, _mm256_srli_epi32::<1>(cells));
            _mm256_or_si256(_mm256_and_si256(cells, below), above)
        };
        first = fall(first);
        last = _mm256_castsi256_si128(fall(_mm256_castsi128_si256(last)));
        rows ^= 1 << highest;
    }
    memory::_mm256_storeu_si256(columns.first_chunk_mut::<8>().expect("ten columns"), first);
    memory::_mm_storeu_si64(columns.last_chunk_mut::<2>().expect("ten columns"), last);
    if full != 0 {
        for (height, &cells) in heights.iter_mut().zip(columns.iter()) {
            *height = height_of(cells);
        }
    }
    let eroded = ERODED[shape][(full >> row) as usize & 15];
    Landing { row: row as u8, lines: full.count_ones() as u8, eroded, loses: false }
}
