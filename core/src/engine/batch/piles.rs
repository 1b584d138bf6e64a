//! The columns of low piles, which stand row by row in a word.

use core::arch::x86_64::*;

use safe_unaligned_simd::x86_64 as memory;

use crate::low::{COLUMN, LowWell, TOGETHER, TOGETHERS};
use crate::well::WIDTH;

/// Piles a register.
const LANES: usize = 8;

/// The columns of each pile, as [`LowWell::well`] has them. There are whole registers of them.
#[target_feature(enable = "avx512f,avx512dq")]
pub(super) fn columns<const N: usize>(piles: &[u64; N]) -> [[u16; N]; WIDTH] {
    let splat = |word: u64| _mm512_set1_epi64(word as i64);
    let mut columns = [[0; N]; WIDTH];
    for (piles, lanes) in piles.as_chunks::<LANES>().0.iter().zip((0..N).step_by(LANES)) {
        let mut piles = memory::_mm512_loadu_epi64(piles);
        for column in &mut columns {
            let apart = _mm512_and_si512(piles, splat(COLUMN));
            let together =
                _mm512_srli_epi64::<{ TOGETHER as u32 }>(_mm512_mullo_epi64(apart, splat(TOGETHERS)));
            let cells = _mm512_and_si512(together, splat((1 << LowWell::ROWS) - 1));
            let place: &mut [u16; LANES] = column[lanes..].first_chunk_mut().expect("chunks of the lanes");
            memory::_mm_storeu_si128(place, _mm512_cvtepi64_epi16(cells));
            piles = _mm512_srli_epi64::<1>(piles);
        }
    }
    columns
}
