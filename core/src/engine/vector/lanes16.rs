//! Sixteen 16-bit lanes: boards up to 11 rows high, every position of a shape in one register.

use core::arch::x86_64::*;

use safe_unaligned_simd::x86_64 as memory;

use crate::well::WIDTH;

pub(super) type Cell = u16;
pub(super) const LANES: usize = 16;
/// How many registers hold a number for each column.
pub(super) const VECTORS: usize = 1;
/// The highest pile that fits: a piece on top of it reaches row 14, and the bit above is still there.
pub(super) const MAX_PILE: usize = 11;

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn load(cells: &[Cell; LANES]) -> __m256i {
    memory::_mm256_loadu_si256(cells)
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn store(cells: &mut [Cell; LANES], v: __m256i) {
    memory::_mm256_storeu_si256(cells, v);
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn splat(value: i32) -> __m256i {
    _mm256_set1_epi16(value as i16)
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn add(a: __m256i, b: __m256i) -> __m256i {
    _mm256_add_epi16(a, b)
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn sub(a: __m256i, b: __m256i) -> __m256i {
    _mm256_sub_epi16(a, b)
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn max(a: __m256i, b: __m256i) -> __m256i {
    _mm256_max_epi16(a, b)
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn min(a: __m256i, b: __m256i) -> __m256i {
    _mm256_min_epi16(a, b)
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn abs(v: __m256i) -> __m256i {
    _mm256_abs_epi16(v)
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn eq(a: __m256i, b: __m256i) -> __m256i {
    _mm256_cmpeq_epi16(a, b)
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn gt(a: __m256i, b: __m256i) -> __m256i {
    _mm256_cmpgt_epi16(a, b)
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn shl<const N: i32>(v: __m256i) -> __m256i {
    _mm256_slli_epi16::<N>(v)
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn shr<const N: i32>(v: __m256i) -> __m256i {
    _mm256_srli_epi16::<N>(v)
}

/// Every bit below the highest one, and it.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn smear(v: __m256i) -> __m256i {
    let v = _mm256_or_si256(v, shr::<1>(v));
    let v = _mm256_or_si256(v, shr::<2>(v));
    let v = _mm256_or_si256(v, shr::<4>(v));
    _mm256_or_si256(v, shr::<8>(v))
}

/// Adds up the bytes of each lane.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn add_bytes(v: __m256i) -> __m256i {
    _mm256_maddubs_epi16(v, _mm256_set1_epi8(1))
}

/// k (k + 1) / 2 for k of 0..=15.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn triangle(v: __m256i) -> __m256i {
    let table = _mm_setr_epi8(0, 1, 3, 6, 10, 15, 21, 28, 36, 45, 55, 66, 78, 91, 105, 120);
    _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(table), v)
}

/// One bit a lane: where a mask is not set.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn unset(mask: __m256i) -> u32 {
    let bytes = _mm_packs_epi16(_mm256_castsi256_si128(mask), _mm256_extracti128_si256::<1>(mask));
    !_mm_movemask_epi8(bytes) as u32 & 0xffff
}

/// What a lane is worth: features in pairs with their weights, in the order that [`word_of`] tells.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn weigh<const N: usize>(pairs: [(__m256i, __m256i, __m256i); N], start: __m256i) -> [__m256i; 2] {
    let mut sum = [start; 2];
    for (a, b, weights) in pairs {
        weigh_more(&mut sum, a, b, [weights; 2]);
    }
    sum
}

/// Adds a pair whose weights differ from lane to lane.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn weigh_more(sum: &mut [__m256i; 2], a: __m256i, b: __m256i, weights: [__m256i; 2]) {
    let low = _mm256_madd_epi16(_mm256_unpacklo_epi16(a, b), weights[0]);
    let high = _mm256_madd_epi16(_mm256_unpackhi_epi16(a, b), weights[1]);
    *sum = [_mm256_add_epi32(sum[0], low), _mm256_add_epi32(sum[1], high)];
}

/// A lane's mask for each of the words that [`weigh`] gives.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn widen(mask: __m256i) -> [__m256i; 2] {
    [_mm256_unpacklo_epi16(mask, mask), _mm256_unpackhi_epi16(mask, mask)]
}

/// The vector of [`weigh`] that has a lane's word, and where in it.
pub(super) const fn word_of(lane: usize) -> (usize, usize) {
    (lane / 4 % 2, lane % 4 + 4 * (lane / 8))
}
/// How many vectors [`weigh`] gives.
pub(super) const WORDS: usize = 2;

/// The columns of a board, followed by walls.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn columns(cells: &[u32; WIDTH]) -> [__m256i; VECTORS] {
    let first: &[u32; 8] = cells.first_chunk().expect("a well has ten columns");
    let last: &[u32; 2] = cells.last_chunk().expect("a well has ten columns");
    let first = memory::_mm256_loadu_si256(first);
    let last = _mm256_zextsi128_si256(memory::_mm_loadu_si64(last));
    let packed = _mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_packus_epi32(first, last));
    [_mm256_or_si256(packed, walls()[0])]
}

/// All ones in the lanes after the last column.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn walls() -> [__m256i; VECTORS] {
    [_mm256_setr_epi16(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -1, -1, -1, -1, -1, -1)]
}

/// What stands left of each lane; a wall left of the first.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn left(v: [__m256i; VECTORS]) -> [__m256i; VECTORS] {
    [shift(v, splat(-1), 0, -1)]
}

/// What stands right of each lane; a wall right of the last.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn right(v: [__m256i; VECTORS]) -> [__m256i; VECTORS] {
    [shift(v, splat(-1), 0, 1)]
}

/// What stands `by` lanes right of those of a vector; `beyond` on either side.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn shift([v]: [__m256i; VECTORS], beyond: __m256i, _vector: usize, by: isize) -> __m256i {
    let before = _mm256_permute2x128_si256::<0x02>(v, beyond);
    let after = _mm256_permute2x128_si256::<0x21>(v, beyond);
    match by {
        -2 => _mm256_alignr_epi8::<12>(v, before),
        -1 => _mm256_alignr_epi8::<14>(v, before),
        0 => v,
        1 => _mm256_alignr_epi8::<2>(after, v),
        2 => _mm256_alignr_epi8::<4>(after, v),
        3 => _mm256_alignr_epi8::<6>(after, v),
        4 => _mm256_alignr_epi8::<8>(after, v),
        5 => _mm256_alignr_epi8::<10>(after, v),
        _ => unreachable!("a piece looks at most two columns beyond itself"),
    }
}

/// Every lane's bits in each lane.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn union([v]: [__m256i; VECTORS]) -> __m256i {
    let v = _mm256_or_si256(v, _mm256_permute2x128_si256::<0x01>(v, v));
    let v = _mm256_or_si256(v, _mm256_shuffle_epi32::<0b01_00_11_10>(v));
    let v = _mm256_or_si256(v, _mm256_shuffle_epi32::<0b10_11_00_01>(v));
    _mm256_or_si256(v, _mm256_or_si256(_mm256_slli_epi32::<16>(v), _mm256_srli_epi32::<16>(v)))
}

/// The bits of every column between the walls.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn rows([v]: [__m256i; VECTORS]) -> u32 {
    let last_two = _mm_broadcastd_epi32(_mm256_extracti128_si256::<1>(v));
    let v = _mm_or_si128(_mm256_castsi256_si128(v), last_two);
    let v = _mm_or_si128(v, _mm_shuffle_epi32::<0b01_00_11_10>(v));
    let v = _mm_or_si128(v, _mm_shuffle_epi32::<0b10_11_00_01>(v));
    let two = _mm_cvtsi128_si32(v) as u32;
    (two | two >> 16) & 0xffff
}

/// The lanes as bytes; each must fit.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn to_bytes([v]: [__m256i; VECTORS]) -> __m128i {
    _mm_packus_epi16(_mm256_castsi256_si128(v), _mm256_extracti128_si256::<1>(v))
}

/// Bytes as lanes.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn from_bytes(bytes: __m128i) -> [__m256i; VECTORS] {
    [_mm256_cvtepu8_epi16(bytes)]
}

/// Shifts every lane up.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn raise(v: __m256i, rows: u32) -> __m256i {
    _mm256_sll_epi16(v, _mm_cvtsi32_si128(rows as i32))
}

/// The columns by fours, the last four with walls.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn fours([v]: [__m256i; VECTORS]) -> [__m128i; 3] {
    let low = _mm256_castsi256_si128(v);
    [low, _mm_unpackhi_epi64(low, low), _mm256_extracti128_si256::<1>(v)]
}

/// Swaps the two pairs of four columns.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn swap_pairs(v: __m128i) -> __m128i {
    _mm_shufflelo_epi16::<0b01_00_11_10>(v)
}

/// Swaps the neighbours of four columns.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn swap_neighbours(v: __m128i) -> __m128i {
    _mm_shufflelo_epi16::<0b10_11_00_01>(v)
}

/// The first lane in every lane.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn broadcast(v: __m128i) -> __m256i {
    _mm256_broadcastw_epi16(v)
}
