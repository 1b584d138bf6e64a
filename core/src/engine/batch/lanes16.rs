//! Thirty-two boards a register, 16 rows each: the boards of all but the tallest piles.

use core::arch::x86_64::*;

use safe_unaligned_simd::x86_64 as memory;

/// The cells of a column.
pub(super) type Cell = u16;
/// Boards side by side.
pub(super) const LANES: usize = 32;
/// How many binary digits tell the depth of a well.
pub(super) const DIGITS: usize = 3;
/// Registers that hold a 32-bit word for each lane.
pub(super) const WORDS: usize = 2;

operations! {
    add(a, b) = _mm512_add_epi16;
    sub(a, b) = _mm512_sub_epi16;
    /// The greater, without sign.
    max(a, b) = _mm512_max_epu16;
    /// The smaller, without sign.
    min(a, b) = _mm512_min_epu16;
    /// The low half of the product.
    times(a, b) = _mm512_mullo_epi16;
    /// How many bits are set.
    count(v) = _mm512_popcnt_epi16;
    /// The first shifted up by the second; nothing is left where that is beyond the lane, or negative.
    raise(v, rows) = _mm512_sllv_epi16;
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512bitalg,avx512vbmi2,avx512vnni,avx512vpopcntdq")]
pub(super) fn splat(cell: Cell) -> __m512i {
    _mm512_set1_epi16(cell as i16)
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512bitalg,avx512vbmi2,avx512vnni,avx512vpopcntdq")]
pub(super) fn shl<const N: u32>(v: __m512i) -> __m512i {
    _mm512_slli_epi16::<N>(v)
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512bitalg,avx512vbmi2,avx512vnni,avx512vpopcntdq")]
pub(super) fn shr<const N: u32>(v: __m512i) -> __m512i {
    _mm512_srli_epi16::<N>(v)
}

/// Every bit below the highest one, and it.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512bitalg,avx512vbmi2,avx512vnni,avx512vpopcntdq")]
pub(super) fn smear(v: __m512i) -> __m512i {
    let v = _mm512_or_si512(v, shr::<1>(v));
    let v = _mm512_or_si512(v, shr::<2>(v));
    let v = _mm512_or_si512(v, shr::<4>(v));
    _mm512_or_si512(v, shr::<8>(v))
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512bitalg,avx512vbmi2,avx512vnni,avx512vpopcntdq")]
pub(super) fn load(cells: &[Cell; LANES]) -> __m512i {
    memory::_mm512_loadu_epi16(cells)
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512bitalg,avx512vbmi2,avx512vnni,avx512vpopcntdq")]
pub(super) fn store(cells: &mut [Cell; LANES], v: __m512i) {
    memory::_mm512_storeu_epi16(cells, v);
}

/// A bit for each lane that is not zero.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512bitalg,avx512vbmi2,avx512vnni,avx512vpopcntdq")]
pub(super) fn nonzero(v: __m512i) -> u32 {
    _mm512_test_epi16_mask(v, v)
}

/// A bit for each lane of the first that is above that of the second, without sign.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512bitalg,avx512vbmi2,avx512vnni,avx512vpopcntdq")]
pub(super) fn above(a: __m512i, b: __m512i) -> u32 {
    _mm512_cmpgt_epu16_mask(a, b)
}

/// The lanes of the mask, moved together to the first ones.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512bitalg,avx512vbmi2,avx512vnni,avx512vpopcntdq")]
pub(super) fn gather(mask: u32, v: __m512i) -> __m512i {
    _mm512_maskz_compress_epi16(mask, v)
}

/// Adds two counts, each times its weight: the weights are two 16-bit numbers in every word.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512bitalg,avx512vbmi2,avx512vnni,avx512vpopcntdq")]
pub(super) fn weigh(
    sum: [__m512i; WORDS],
    a: __m512i,
    b: __m512i,
    weights: [__m512i; WORDS],
) -> [__m512i; WORDS] {
    [
        _mm512_dpwssd_epi32(sum[0], _mm512_unpacklo_epi16(a, b), weights[0]),
        _mm512_dpwssd_epi32(sum[1], _mm512_unpackhi_epi16(a, b), weights[1]),
    ]
}

/// The register that [`weigh`] puts a lane's word into, and where: each takes four of every eight lanes.
#[inline]
pub(super) fn word_of(lane: usize) -> (usize, usize) {
    (lane / 4 % 2, lane / 8 * 4 + lane % 4)
}

/// The bits of the lanes whose words stand in a register.
#[inline]
pub(super) fn lanes_of(mask: u32, register: usize) -> u16 {
    let fours = mask >> (4 * register) & 0x0f0f_0f0f;
    let eights = (fours | fours >> 4) & 0x00ff_00ff;
    (eights | eights >> 8) as u16
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512bitalg,avx512vbmi2,avx512vnni,avx512vpopcntdq")]
pub(super) fn load_words(words: &[[i32; LANES / WORDS]; WORDS]) -> [__m512i; WORDS] {
    words.each_ref().map(|words| memory::_mm512_loadu_epi32(words))
}

/// The words in the order of the lanes.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512bitalg,avx512vbmi2,avx512vnni,avx512vpopcntdq")]
pub(super) fn store_words(words: &mut [i32; LANES], [low, high]: [__m512i; WORDS]) {
    let first = _mm512_permutex2var_epi64(low, _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11), high);
    let last = _mm512_permutex2var_epi64(low, _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15), high);
    memory::_mm512_storeu_epi32(words.first_chunk_mut::<16>().expect("32 lanes"), first);
    memory::_mm512_storeu_epi32(words.last_chunk_mut::<16>().expect("32 lanes"), last);
}
