//! What a player chose on boards that it has met before.
//!
//! A strong player keeps its pile low, and low piles come again: on 10x20 nine of ten boards are at most six rows high, and
//! after some hundred million pieces four of five choices on those have been made before. A book looks them up. It changes
//! nothing but the time, as the board stands in it to the last cell.
//!
//! ```text
//!   board of six rows, 60 bits --+
//!   which half of the pieces ----+--> mixed, 61 bits --> page (the upper bits): four lines, half a cache line
//!                                                        mark (the lower bits)
//!   line, 64 bits:   mark, 40 bits | what is done with each of four pieces, 4 x 6 bits, 0 where that is not known
//! ```
//!
//! Mixing can be undone, so page and mark together are the board: no other one has both. A line is one word, so threads
//! share a book without locks; the worst that can happen is that one forgets what another has just written.

use std::slice;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use dropwise_core::low::LowWell;
use dropwise_core::piece::MAX_EXTENT;
use dropwise_core::well::WIDTH;
use dropwise_core::{Controller, Piece, Placement, Player, Rules};
use memmap2::MmapMut;

/// On a board with so many rows no placement on such a pile loses, and the brim decides nothing.
const MIN_BOARD: usize = LowWell::ROWS + MAX_EXTENT;

const KEY_BITS: u32 = (LowWell::ROWS * WIDTH) as u32 + 1;
const KEY_MASK: u64 = (1 << KEY_BITS) - 1;
const CHOICE_BITS: u32 = 6;
const CHOICE_MASK: u64 = (1 << CHOICE_BITS) - 1;
/// Pieces that share a line.
const PIECES: u32 = 4;
const MARK_SHIFT: u32 = CHOICE_BITS * PIECES;
/// Lines on a page.
const LINES: usize = 4;
/// With so many pages a mark fits its line.
const MIN_PAGE_BITS: u32 = KEY_BITS - (u64::BITS - MARK_SHIFT);

/// A player's book.
#[derive(Debug)]
pub struct Book {
    player: Player,
    page_bits: u32,
    memory: MmapMut,
}

type Page = [AtomicU64; LINES];

/// Where a board and a piece stand in any book.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key(u64);

impl Key {
    /// That of a piece on a pile.
    #[inline]
    pub fn of(pile: LowWell, piece: Piece) -> Key {
        Key(mix(pile.bits() | (piece as u64 / u64::from(PIECES)) << (KEY_BITS - 1)))
    }
}

/// Mixes the bits of a key; different keys stay different, as each of the steps can be undone.
#[inline]
fn mix(key: u64) -> u64 {
    let key = key.wrapping_mul(0x9e37_79b9_7f4a_7c15) & KEY_MASK;
    let key = (key ^ key >> 31).wrapping_mul(0xbf58_476d_1ce4_e5b9) & KEY_MASK;
    key ^ key >> 31
}

impl Book {
    /// An empty book of at most so many bytes; memory is taken as it fills. None if that is too little, or more than the
    /// system gives.
    pub fn new(player: Player, bytes: usize) -> Option<Book> {
        let page_bits = (bytes / size_of::<Page>()).checked_ilog2().filter(|bits| *bits >= MIN_PAGE_BITS)?;
        let memory = MmapMut::map_anon(size_of::<Page>() << page_bits).ok()?;
        // Refused, it costs only time: with small pages of memory each look waits for the address, too.
        #[cfg(target_os = "linux")]
        let _ = memory.advise(memmap2::Advice::HugePage);
        Some(Book { player, page_bits, memory })
    }

    #[inline]
    fn pages(&self) -> &[Page] {
        // SAFETY: the mapping is ours alone, starts on a page of memory, is as long as so many pages of the book, lives as
        // long as the slice, and is never looked at in another way; any bits are atomic integers.
        #[expect(unsafe_code, reason = "a mapping, for large pages of memory: with small ones 0.5 times the speed")]
        unsafe {
            slice::from_raw_parts(self.memory.as_ptr().cast(), 1 << self.page_bits)
        }
    }

    /// Whether what a controller does on low boards by some rules can be looked up here.
    pub fn serves(&self, controller: &Controller, rules: &Rules<'_>) -> bool {
        // The sets of the fast engines say nothing about rows above the pile but what is the same for all placements.
        *controller.player() == self.player
            && controller.engine().name() != "general"
            && controller.options().lookahead == 0
            && controller.options().rescue.is_none_or(|height| height >= LowWell::ROWS)
            && rules.height() >= MIN_BOARD
    }

    #[inline]
    fn page(&self, key: Key) -> (&Page, u64) {
        let mark_bits = KEY_BITS - self.page_bits;
        (&self.pages()[(key.0 >> mark_bits) as usize], key.0 & ((1 << mark_bits) - 1))
    }

    /// Says that a key will be looked up soon.
    #[inline]
    pub fn fetch(&self, key: Key) {
        let (page, _) = self.page(key);
        #[cfg(target_arch = "x86_64")]
        // SAFETY: a prefetch of any address has no effect but on the cache.
        #[expect(unsafe_code, reason = "without it every look waits for main memory: 0.6 times the speed")]
        unsafe {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            _mm_prefetch::<_MM_HINT_T0>(page.as_ptr().cast());
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = page;
    }

    /// What the player does with the piece, if that is known.
    #[inline]
    pub fn look(&self, key: Key, piece: Piece) -> Option<Placement> {
        Book::placement(self.code(key, piece))
    }

    /// A code for what the player does with the piece; 0 if that is not known.
    #[inline]
    pub(crate) fn code(&self, key: Key, piece: Piece) -> u8 {
        let (page, mark) = self.page(key);
        let mut found = 0;
        for line in page {
            let line = line.load(Relaxed);
            found |= if line >> MARK_SHIFT == mark { line } else { 0 };
        }
        (found >> shift(piece) & CHOICE_MASK) as u8
    }

    /// The placement with a code.
    #[inline]
    pub(crate) fn placement(code: u8) -> Option<Placement> {
        let code = code.checked_sub(1)?;
        Some(Placement { orientation: code / 16, column: code % 16 })
    }

    /// Writes down what the player does with the piece. What is known least of makes room.
    #[inline]
    pub fn note(&self, key: Key, piece: Piece, placement: Placement) {
        let code = u64::from(placement.orientation * 16 + placement.column);
        let choice = (code + 1) << shift(piece);
        let (page, mark) = self.page(key);
        let lines = page.each_ref().map(|line| line.load(Relaxed));
        let mut place = 0;
        for (i, &line) in lines.iter().enumerate() {
            if line >> MARK_SHIFT == mark && known(line) > 0 {
                return page[i].store(line | choice, Relaxed);
            }
            if known(line) < known(lines[place]) {
                place = i;
            }
        }
        page[place].store(mark << MARK_SHIFT | choice, Relaxed);
    }
}

/// Where a piece's choice stands in a line.
#[inline]
fn shift(piece: Piece) -> u32 {
    piece as u32 % PIECES * CHOICE_BITS
}

/// Of how many pieces a line tells.
#[inline]
fn known(line: u64) -> usize {
    (0..PIECES).filter(|piece| line >> (piece * CHOICE_BITS) & CHOICE_MASK != 0).count()
}
