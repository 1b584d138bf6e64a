//! Eight 32-bit lanes: boards of any height; narrow shapes need a second register for the last positions.

use core::arch::x86_64::*;

use safe_unaligned_simd::x86_64 as memory;

use crate::well::WIDTH;

pub(super) type Cell = u32;
pub(super) const LANES: usize = 8;
/// How many registers hold a number for each column.
pub(super) const VECTORS: usize = 2;

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
    _mm256_set1_epi32(value)
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn add(a: __m256i, b: __m256i) -> __m256i {
    _mm256_add_epi32(a, b)
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn sub(a: __m256i, b: __m256i) -> __m256i {
    _mm256_sub_epi32(a, b)
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn max(a: __m256i, b: __m256i) -> __m256i {
    _mm256_max_epi32(a, b)
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn min(a: __m256i, b: __m256i) -> __m256i {
    _mm256_min_epi32(a, b)
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn abs(v: __m256i) -> __m256i {
    _mm256_abs_epi32(v)
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn eq(a: __m256i, b: __m256i) -> __m256i {
    _mm256_cmpeq_epi32(a, b)
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn gt(a: __m256i, b: __m256i) -> __m256i {
    _mm256_cmpgt_epi32(a, b)
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn shl<const N: i32>(v: __m256i) -> __m256i {
    _mm256_slli_epi32::<N>(v)
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn shr<const N: i32>(v: __m256i) -> __m256i {
    _mm256_srli_epi32::<N>(v)
}

/// Every bit below the highest one, and it.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn smear(v: __m256i) -> __m256i {
    let v = _mm256_or_si256(v, shr::<1>(v));
    let v = _mm256_or_si256(v, shr::<2>(v));
    let v = _mm256_or_si256(v, shr::<4>(v));
    let v = _mm256_or_si256(v, shr::<8>(v));
    _mm256_or_si256(v, shr::<16>(v))
}

/// Adds up the bytes of each lane.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn add_bytes(v: __m256i) -> __m256i {
    _mm256_madd_epi16(_mm256_maddubs_epi16(v, _mm256_set1_epi8(1)), _mm256_set1_epi16(1))
}

/// k (k + 1) / 2 for k of 0..=180.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn triangle(v: __m256i) -> __m256i {
    shr::<1>(_mm256_mullo_epi16(v, add(v, splat(1))))
}

/// One bit a lane: where a mask is not set.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn unset(mask: __m256i) -> u32 {
    !_mm256_movemask_ps(_mm256_castsi256_ps(mask)) as u32 & 0xff
}

/// What a lane is worth: features in pairs with their weights, in the order that [`word_of`] tells.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn weigh<const N: usize>(pairs: [(__m256i, __m256i, __m256i); N], start: __m256i) -> [__m256i; 1] {
    let mut sum = [start];
    for (a, b, weights) in pairs {
        weigh_more(&mut sum, a, b, [weights]);
    }
    sum
}

/// Adds a pair whose weights differ from lane to lane.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn weigh_more([sum]: &mut [__m256i; 1], a: __m256i, b: __m256i, [weights]: [__m256i; 1]) {
    let pair = _mm256_blend_epi16::<0b1010_1010>(a, shl::<16>(b));
    *sum = _mm256_add_epi32(*sum, _mm256_madd_epi16(pair, weights));
}

/// A lane's mask for each of the words that [`weigh`] gives.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn widen(mask: __m256i) -> [__m256i; 1] {
    [mask]
}

/// The vector of [`weigh`] that has a lane's word, and where in it.
pub(super) const fn word_of(lane: usize) -> (usize, usize) {
    (0, lane)
}
/// How many vectors [`weigh`] gives.
pub(super) const WORDS: usize = 1;

/// The columns of a board, followed by walls.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn columns(cells: &[u32; WIDTH]) -> [__m256i; VECTORS] {
    let first: &[u32; 8] = cells.first_chunk().expect("a well has ten columns");
    let last: &[u32; 2] = cells.last_chunk().expect("a well has ten columns");
    let last = _mm256_zextsi128_si256(memory::_mm_loadu_si64(last));
    [memory::_mm256_loadu_si256(first), _mm256_or_si256(last, walls()[1])]
}

/// All ones in the lanes after the last column.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn walls() -> [__m256i; VECTORS] {
    [_mm256_setzero_si256(), _mm256_setr_epi32(0, 0, -1, -1, -1, -1, -1, -1)]
}

/// What stands left of each lane; a wall left of the first.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn left(v: [__m256i; VECTORS]) -> [__m256i; VECTORS] {
    [shift(v, splat(-1), 0, -1), shift(v, splat(-1), 1, -1)]
}

/// What stands right of each lane; a wall right of the last.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn right(v: [__m256i; VECTORS]) -> [__m256i; VECTORS] {
    [shift(v, splat(-1), 0, 1), shift(v, splat(-1), 1, 1)]
}

/// What stands `by` lanes right of those of a vector; `beyond` on either side.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn shift([a, b]: [__m256i; VECTORS], beyond: __m256i, vector: usize, by: isize) -> __m256i {
    let (before, v, after) = if vector == 0 { (beyond, a, b) } else { (a, b, beyond) };
    // The upper half of one vector and the lower half of the next.
    let into = _mm256_permute2x128_si256::<0x21>(before, v);
    let out = _mm256_permute2x128_si256::<0x21>(v, after);
    match by {
        -2 => _mm256_alignr_epi8::<8>(v, into),
        -1 => _mm256_alignr_epi8::<12>(v, into),
        0 => v,
        1 => _mm256_alignr_epi8::<4>(out, v),
        2 => _mm256_alignr_epi8::<8>(out, v),
        3 => _mm256_alignr_epi8::<12>(out, v),
        4 => out,
        5 => _mm256_alignr_epi8::<4>(after, out),
        _ => unreachable!("a piece looks at most two columns beyond itself"),
    }
}

/// Every lane's bits in each lane.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn union([a, b]: [__m256i; VECTORS]) -> __m256i {
    let v = _mm256_or_si256(a, b);
    let v = _mm256_or_si256(v, _mm256_permute2x128_si256::<0x01>(v, v));
    let v = _mm256_or_si256(v, _mm256_shuffle_epi32::<0b01_00_11_10>(v));
    _mm256_or_si256(v, _mm256_shuffle_epi32::<0b10_11_00_01>(v))
}

/// The bits of every column between the walls.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn rows([a, b]: [__m256i; VECTORS]) -> u32 {
    let last_two = _mm256_broadcastq_epi64(_mm256_castsi256_si128(b));
    let v = _mm256_or_si256(a, last_two);
    let v = _mm_or_si128(_mm256_castsi256_si128(v), _mm256_extracti128_si256::<1>(v));
    let v = _mm_or_si128(v, _mm_shuffle_epi32::<0b01_00_11_10>(v));
    let v = _mm_or_si128(v, _mm_shuffle_epi32::<0b10_11_00_01>(v));
    _mm_cvtsi128_si32(v) as u32
}

/// The lanes as bytes; each must fit.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn to_bytes([a, b]: [__m256i; VECTORS]) -> __m128i {
    let words = _mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_packus_epi32(a, b));
    _mm_packus_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256::<1>(words))
}

/// Bytes as lanes.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn from_bytes(bytes: __m128i) -> [__m256i; VECTORS] {
    [_mm256_cvtepu8_epi32(bytes), _mm256_cvtepu8_epi32(_mm_srli_si128::<8>(bytes))]
}

/// Shifts every lane up.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn raise(v: __m256i, rows: u32) -> __m256i {
    _mm256_sll_epi32(v, _mm_cvtsi32_si128(rows as i32))
}

/// The columns by fours, the last four with walls.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn fours([a, b]: [__m256i; VECTORS]) -> [__m128i; 3] {
    [_mm256_castsi256_si128(a), _mm256_extracti128_si256::<1>(a), _mm256_castsi256_si128(b)]
}

/// Swaps the two pairs of four columns.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn swap_pairs(v: __m128i) -> __m128i {
    _mm_shuffle_epi32::<0b01_00_11_10>(v)
}

/// Swaps the neighbours of four columns.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn swap_neighbours(v: __m128i) -> __m128i {
    _mm_shuffle_epi32::<0b10_11_00_01>(v)
}

/// The first lane in every lane.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn broadcast(v: __m128i) -> __m256i {
    _mm256_broadcastd_epi32(v)
}
