//! Sixteen boards a register, 32 rows each: boards of any height.

use core::arch::x86_64::*;

use safe_unaligned_simd::x86_64 as memory;

/// The cells of a column.
pub(super) type Cell = u32;
/// Boards side by side.
pub(super) const LANES: usize = 16;
/// How many binary digits tell the depth of a well.
pub(super) const DIGITS: usize = 4;
/// Registers that hold a 32-bit word for each lane.
pub(super) const WORDS: usize = 1;

operations! {
    add(a, b) = _mm512_add_epi32;
    sub(a, b) = _mm512_sub_epi32;
    /// The greater, without sign.
    max(a, b) = _mm512_max_epu32;
    /// The smaller, without sign.
    min(a, b) = _mm512_min_epu32;
    /// The low half of the product.
    times(a, b) = _mm512_mullo_epi32;
    /// How many bits are set.
    count(v) = _mm512_popcnt_epi32;
    /// The first shifted up by the second; nothing is left where that is beyond the lane, or negative.
    raise(v, rows) = _mm512_sllv_epi32;
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512bitalg,avx512vbmi2,avx512vnni,avx512vpopcntdq")]
pub(super) fn splat(cell: Cell) -> __m512i {
    _mm512_set1_epi32(cell as i32)
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512bitalg,avx512vbmi2,avx512vnni,avx512vpopcntdq")]
pub(super) fn shl<const N: u32>(v: __m512i) -> __m512i {
    _mm512_slli_epi32::<N>(v)
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512bitalg,avx512vbmi2,avx512vnni,avx512vpopcntdq")]
pub(super) fn shr<const N: u32>(v: __m512i) -> __m512i {
    _mm512_srli_epi32::<N>(v)
}

/// Every bit below the highest one, and it.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512bitalg,avx512vbmi2,avx512vnni,avx512vpopcntdq")]
pub(super) fn smear(v: __m512i) -> __m512i {
    let v = _mm512_or_si512(v, shr::<1>(v));
    let v = _mm512_or_si512(v, shr::<2>(v));
    let v = _mm512_or_si512(v, shr::<4>(v));
    let v = _mm512_or_si512(v, shr::<8>(v));
    _mm512_or_si512(v, shr::<16>(v))
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512bitalg,avx512vbmi2,avx512vnni,avx512vpopcntdq")]
pub(super) fn load(cells: &[Cell; LANES]) -> __m512i {
    memory::_mm512_loadu_epi32(cells)
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512bitalg,avx512vbmi2,avx512vnni,avx512vpopcntdq")]
pub(super) fn store(cells: &mut [Cell; LANES], v: __m512i) {
    memory::_mm512_storeu_epi32(cells, v);
}

/// A bit for each lane that is not zero.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512bitalg,avx512vbmi2,avx512vnni,avx512vpopcntdq")]
pub(super) fn nonzero(v: __m512i) -> u32 {
    _mm512_test_epi32_mask(v, v).into()
}

/// A bit for each lane of the first that is above that of the second, without sign.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512bitalg,avx512vbmi2,avx512vnni,avx512vpopcntdq")]
pub(super) fn above(a: __m512i, b: __m512i) -> u32 {
    _mm512_cmpgt_epu32_mask(a, b).into()
}

/// The lanes of the mask, moved together to the first ones.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512bitalg,avx512vbmi2,avx512vnni,avx512vpopcntdq")]
pub(super) fn gather(mask: u32, v: __m512i) -> __m512i {
    _mm512_maskz_compress_epi32(mask as u16, v)
}

/// Adds two counts, each times its weight: the weights are two 16-bit numbers in every word.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512bitalg,avx512vbmi2,avx512vnni,avx512vpopcntdq")]
pub(super) fn weigh(
    [sum]: [__m512i; WORDS],
    a: __m512i,
    b: __m512i,
    [weights]: [__m512i; WORDS],
) -> [__m512i; WORDS] {
    [_mm512_dpwssd_epi32(sum, _mm512_mask_blend_epi16(0xaaaa_aaaa, a, shl::<16>(b)), weights)]
}

/// The register that [`weigh`] puts a lane's word into, and where.
#[inline]
pub(super) fn word_of(lane: usize) -> (usize, usize) {
    (0, lane)
}

/// The bits of the lanes whose words stand in a register.
#[inline]
pub(super) fn lanes_of(mask: u32, _register: usize) -> u16 {
    mask as u16
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512bitalg,avx512vbmi2,avx512vnni,avx512vpopcntdq")]
pub(super) fn load_words(words: &[[i32; LANES / WORDS]; WORDS]) -> [__m512i; WORDS] {
    words.each_ref().map(|words| memory::_mm512_loadu_epi32(words))
}

/// The words in the order of the lanes.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512bitalg,avx512vbmi2,avx512vnni,avx512vpopcntdq")]
pub(super) fn store_words(words: &mut [i32; LANES], [all]: [__m512i; WORDS]) {
    memory::_mm512_storeu_epi32(words, all);
}
