//! Eight games on AVX-512 registers.
//!
//! Why `unsafe`: to enter code compiled for instructions that were asked for first, and to have pages fetched from memory
//! ahead, without which looks wait for it.

use core::arch::x86_64::*;
use core::sync::atomic::Ordering::Relaxed;
use std::arch::is_x86_feature_detected;

use safe_unaligned_simd::x86_64 as memory;

use super::{LANES, Octet, PIECE_SHIFT, Stepped};
use crate::book::{
    CHOICE_BITS, CHOICE_MASK, KEY_BITS, KEY_MASK, LINES, MARK_SHIFT, MIX, MIX_SHIFT, Page, Shelf,
};
use crate::game::DIGEST_PRIME;
use crate::low::{CELLS, COLUMN, ROWS};
use crate::piece::Piece;
use crate::well::WIDTH;

/// Whether this processor has every instruction that is needed.
pub(super) fn is_here() -> bool {
    is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("avx512vpopcntdq")
}

/// Lanes with these low halves: below so much a draw favours some pieces, and is repeated.
const FAVOURS: u64 = (1 << 32) % Piece::NUM as u64;

#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512vpopcntdq")]
fn splat(word: u64) -> __m512i {
    _mm512_set1_epi64(word as i64)
}

#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512vpopcntdq")]
fn and(a: __m512i, b: __m512i) -> __m512i {
    _mm512_and_si512(a, b)
}

#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512vpopcntdq")]
fn or(a: __m512i, b: __m512i) -> __m512i {
    _mm512_or_si512(a, b)
}

#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512vpopcntdq")]
fn xor(a: __m512i, b: __m512i) -> __m512i {
    _mm512_xor_si512(a, b)
}

#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512vpopcntdq")]
fn shl<const N: u32>(v: __m512i) -> __m512i {
    _mm512_slli_epi64::<N>(v)
}

#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512vpopcntdq")]
fn shr<const N: u32>(v: __m512i) -> __m512i {
    _mm512_srli_epi64::<N>(v)
}

/// The low half of the product.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512vpopcntdq")]
fn times(v: __m512i, factor: u64) -> __m512i {
    _mm512_mullo_epi64(v, splat(factor))
}

/// The bytes, a lane each.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512vpopcntdq")]
fn widen(bytes: [u8; LANES]) -> __m512i {
    _mm512_cvtepu8_epi64(_mm_cvtsi64_si128(i64::from_le_bytes(bytes)))
}

#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512vpopcntdq")]
fn narrow(v: __m512i) -> [u8; LANES] {
    _mm_cvtsi128_si64(_mm512_cvtepi64_epi8(v)).to_le_bytes()
}

/// Two pages in a register.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512vpopcntdq")]
fn load_pages(low: &Page, high: &Page) -> __m512i {
    // Word by word, as other threads may write to them.
    let word = |i: usize| if i < LINES { &low[i] } else { &high[i - LINES] };
    let words: [u64; 2 * LINES] = core::array::from_fn(|i| word(i).load(Relaxed));
    memory::_mm512_loadu_epi64(&words)
}

/// The lines of the pages at some places: those that come first on them, second and so on.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512vpopcntdq")]
fn load_lines(pages: &[Page], places: &[u64; LANES]) -> [__m512i; LINES] {
    let page = |lane: usize| &pages[places[lane] as usize];
    let [a, b, c, d] = [0, 1, 2, 3].map(|lane| load_pages(page(lane), page(lane + 4)));
    let [even, odd] = [
        [_mm512_unpacklo_epi64(a, b), _mm512_unpacklo_epi64(c, d)],
        [_mm512_unpackhi_epi64(a, b), _mm512_unpackhi_epi64(c, d)],
    ];
    let first = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13);
    let second = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
    [
        _mm512_permutex2var_epi64(even[0], first, even[1]),
        _mm512_permutex2var_epi64(odd[0], first, odd[1]),
        _mm512_permutex2var_epi64(even[0], second, even[1]),
        _mm512_permutex2var_epi64(odd[0], second, odd[1]),
    ]
}

/// Has a page fetched from memory.
#[inline]
pub(super) fn fetch(page: &Page) {
    // SAFETY: a prefetch of any address has no effect but on the cache.
    #[expect(unsafe_code, reason = "without it looks wait for main memory: 0.77 times the speed")]
    unsafe {
        _mm_prefetch::<_MM_HINT_T0>(page.as_ptr().cast());
    }
}

/// The cells of shapes at the left wall, by four times the piece and the orientation.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512vpopcntdq")]
fn cells_of(shapes: __m512i) -> __m512i {
    let [a, b, c, d] = [0, 1, 2, 3].map(|quarter: usize| {
        memory::_mm512_loadu_epi64::<[u64; LANES]>(
            CELLS[LANES * quarter..].first_chunk().expect("four quarters"),
        )
    });
    let is_high = _mm512_test_epi64_mask(shapes, splat(16));
    let low = _mm512_permutex2var_epi64(a, shapes, b);
    _mm512_mask_mov_epi64(low, is_high, _mm512_permutex2var_epi64(c, shapes, d))
}

/// The next state of the generators, and what they draw, in the low halves.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512vpopcntdq")]
fn draw([ab, cd]: [__m512i; 2]) -> ([__m512i; 2], __m512i) {
    const SWAP: i32 = 0b10_11_00_01;
    let sum = _mm512_add_epi32(ab, _mm512_shuffle_epi32::<SWAP>(cd));
    let drawn = _mm512_add_epi32(_mm512_rol_epi32::<7>(sum), ab);
    let b = _mm512_slli_epi32::<9>(shr::<32>(ab));
    let cd = xor(cd, ab);
    let ab = xor(ab, _mm512_shuffle_epi32::<SWAP>(cd));
    let cd = _mm512_rolv_epi32(xor(cd, b), splat(11 << 32));
    ([ab, cd], drawn)
}

/// [`Octet::step`].
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512vpopcntdq")]
pub(super) fn step(octet: &mut Octet, shelf: Shelf<'_>) -> Stepped {
    let (pages, page_bits) = (shelf.pages(), shelf.page_bits());
    let [by_page, by_mark] = [page_bits, KEY_BITS - page_bits].map(|bits| _mm_cvtsi32_si128(bits as i32));
    let running = octet.running;
    let state = memory::_mm512_loadu_epi64(&octet.piles);
    let keys = memory::_mm512_loadu_epi64(&octet.keys);
    let books = _mm512_sll_epi64(widen(octet.books), by_page);
    let mut places = [0; LANES];
    // The others look where it costs nothing.
    let look_at = or(books, _mm512_srl_epi64(keys, by_mark));
    memory::_mm512_storeu_epi64(&mut places, _mm512_maskz_mov_epi64(running, look_at));

    // What the book says.
    let marks = _mm512_andnot_si512(_mm512_sll_epi64(splat(u64::MAX), by_mark), keys);
    let mut found = _mm512_setzero_si512();
    for line in load_lines(pages, &places) {
        let is_it = _mm512_cmpeq_epi64_mask(shr::<MARK_SHIFT>(line), marks);
        found = _mm512_mask_or_epi64(found, is_it, found, line);
    }
    let pieces = shr::<PIECE_SHIFT>(state);
    let of_half = and(pieces, splat(3));
    let shift = _mm512_mullo_epi32(of_half, splat(CHOICE_BITS.into()));
    let told = widen(octet.told);
    let choice = or(and(_mm512_srlv_epi64(found, shift), splat(CHOICE_MASK)), told);
    let known = running & _mm512_test_epi64_mask(choice, choice);
    let code = _mm512_sub_epi64(choice, splat(1));
    let (orientation, column) = (and(shr::<4>(code), splat(3)), and(code, splat(15)));

    // Where the piece comes to lie: above the highest row on which it would meet the pile.
    let pile = and(state, splat(ROWS));
    let cells = _mm512_sllv_epi64(cells_of(or(shl::<2>(pieces), orientation)), column);
    const W: u32 = WIDTH as u32;
    let rows = [cells, shl::<W>(cells), shl::<{ 2 * W }>(cells), shl::<{ 3 * W }>(cells)];
    let rows = [rows[0], rows[1], rows[2], rows[3], shl::<{ 4 * W }>(cells), shl::<{ 5 * W }>(cells)];
    let above = [rows[1], rows[2], rows[3], rows[4], rows[5], shl::<{ 6 * W }>(cells)];
    let mut placed = cells;
    for (row, above) in rows.into_iter().zip(above) {
        placed = _mm512_mask_mov_epi64(placed, _mm512_test_epi64_mask(row, pile), above);
    }
    let inside = _mm512_popcnt_epi64(and(placed, splat(ROWS)));
    let fits = _mm512_cmpeq_epi64_mask(inside, splat(4));
    let moves = known & fits;

    // Full rows, as in `LowWell::drop`.
    let mut pile = or(pile, placed);
    let fives = and(pile, shr::<5>(pile));
    let pairs = and(fives, shr::<1>(fives));
    let tens = and(and(pairs, shr::<2>(pairs)), shr::<4>(fives));
    let mut full = and(tens, splat(COLUMN));
    let lines = _mm512_popcnt_epi64(full);
    // One and two rows are common among eight games, so those are taken out in any case: where there are none, nothing is.
    for turn in 0.. {
        if turn >= 2 && _mm512_test_epi64_mask(full, full) & moves == 0 {
            break;
        }
        let less = _mm512_sub_epi64(full, splat(1));
        let below = _mm512_andnot_si512(full, less);
        // Where `below` is set the pile, elsewhere that of the row above.
        pile = _mm512_ternarylogic_epi64::<0b1100_1010>(below, pile, shr::<W>(pile));
        full = shr::<W>(and(full, less));
    }

    // Digests and counts.
    let digests = memory::_mm512_loadu_epi64(&octet.digests);
    let code = or(pieces, or(shl::<3>(orientation), shl::<5>(column)));
    let after = times(xor(digests, code), DIGEST_PRIME);
    memory::_mm512_storeu_epi64(&mut octet.digests, _mm512_mask_mov_epi64(digests, moves, after));
    let counts = memory::_mm512_loadu_epi64(&octet.counts);
    let counts = _mm512_mask_add_epi64(counts, moves, counts, _mm512_sub_epi64(lines, splat(1 << 32)));
    memory::_mm512_storeu_epi64(&mut octet.counts, counts);
    let spent = _mm512_mask_cmplt_epu64_mask(moves, counts, splat(1 << 32));

    // The next piece.
    let mut generators = octet.generators.each_ref().map(|words| memory::_mm512_loadu_epi64(words));
    let mut next = pieces;
    let mut drawing = moves;
    loop {
        let (after, drawn) = draw(generators);
        for (generator, after) in generators.iter_mut().zip(after) {
            *generator = _mm512_mask_mov_epi64(*generator, drawing, after);
        }
        let product = _mm512_mul_epu32(drawn, splat(Piece::NUM as u64));
        next = _mm512_mask_mov_epi64(next, drawing, shr::<32>(product));
        drawing = _mm512_mask_cmplt_epu64_mask(drawing, and(product, splat(u32::MAX.into())), splat(FAVOURS));
        if drawing == 0 {
            break;
        }
    }
    for (words, generator) in octet.generators.iter_mut().zip(generators) {
        memory::_mm512_storeu_epi64(words, generator);
    }
    let state = _mm512_mask_mov_epi64(state, moves, or(pile, shl::<PIECE_SHIFT>(next)));
    memory::_mm512_storeu_epi64(&mut octet.piles, state);

    // Where that stands, to be there when it is looked at.
    const HALF: u32 = PIECE_SHIFT + 2;
    let key = or(and(state, splat(ROWS)), shl::<{ KEY_BITS - 1 }>(shr::<HALF>(state)));
    let key = and(times(key, MIX[0]), splat(KEY_MASK));
    let key = and(times(xor(key, shr::<MIX_SHIFT>(key)), MIX[1]), splat(KEY_MASK));
    let key = xor(key, shr::<MIX_SHIFT>(key));
    memory::_mm512_storeu_epi64(&mut octet.keys, key);
    octet.running = moves & !spent;
    let look_at = or(books, _mm512_srl_epi64(key, by_mark));
    memory::_mm512_storeu_epi64(&mut places, _mm512_maskz_mov_epi64(octet.running, look_at));
    for place in places {
        fetch(&pages[place as usize]);
    }

    let told = _mm512_mask_mov_epi64(told, running, _mm512_maskz_mov_epi64(known & !fits, choice));
    octet.told = narrow(told);
    Stepped { placed: moves, unknown: running & !known, unfit: known & !fits, spent }
}
