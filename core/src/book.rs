//! What players chose on boards that they have met before.
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
//! share a book without locks; the worst that can happen is that one forgets what another has just written. The books of
//! several players, all of one size, stand side by side on a [`Shelf`].

use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::low::LowWell;
use crate::piece::{MAX_EXTENT, Piece};
use crate::placement::Placement;
use crate::well::WIDTH;

/// On a board with so many rows no placement on a low pile loses, and the brim decides nothing. Players who
/// [look at it](crate::engine::Engine::looks_at_brim) want one row more, as a piece can fill a column to the top of these.
pub const MIN_BOARD: usize = LowWell::ROWS + MAX_EXTENT;

/// Lines on a page.
pub const LINES: usize = 4;

/// Where boards with the same upper bits stand. Empty ones are all zeros.
pub type Page = [AtomicU64; LINES];

/// With so many pages, as a power of two, a mark fits its line.
pub const MIN_PAGE_BITS: u32 = KEY_BITS - (u64::BITS - MARK_SHIFT);
const MAX_PAGE_BITS: u32 = 32;

pub(crate) const KEY_BITS: u32 = (LowWell::ROWS * WIDTH) as u32 + 1;
pub(crate) const KEY_MASK: u64 = (1 << KEY_BITS) - 1;
pub(crate) const CHOICE_BITS: u32 = 6;
pub(crate) const CHOICE_MASK: u64 = (1 << CHOICE_BITS) - 1;
/// All choices of a line.
const CHOICES: u64 = (1 << MARK_SHIFT) - 1;
/// Pieces that share a line.
const PIECES: u32 = 4;
pub(crate) const MARK_SHIFT: u32 = CHOICE_BITS * PIECES;
pub(crate) const MIX: [u64; 2] = [0x9e37_79b9_7f4a_7c15, 0xbf58_476d_1ce4_e5b9];
pub(crate) const MIX_SHIFT: u32 = 31;

/// Where a piece on a pile stands in any book.
pub(crate) fn key(pile: LowWell, piece: Piece) -> u64 {
    mix(pile.bits() | (piece as u64 / u64::from(PIECES)) << (KEY_BITS - 1))
}

/// Mixes the bits of a key; different keys stay different, as each of the steps can be undone.
const fn mix(key: u64) -> u64 {
    let key = key.wrapping_mul(MIX[0]) & KEY_MASK;
    let key = (key ^ key >> MIX_SHIFT).wrapping_mul(MIX[1]) & KEY_MASK;
    key ^ key >> MIX_SHIFT
}

/// What is written of a placement: never 0.
pub(crate) fn choice(placement: Placement) -> u8 {
    placement.orientation * 16 + placement.column + 1
}

/// The placement of which that was written; none of 0.
pub(crate) fn placement(choice: u8) -> Option<Placement> {
    let code = choice.checked_sub(1)?;
    Some(Placement { orientation: code / 16, column: code % 16 })
}

/// Books side by side, one a player.
#[derive(Clone, Copy, Debug)]
pub struct Shelf<'a> {
    pages: &'a [Page],
    page_bits: u32,
}

impl<'a> Shelf<'a> {
    /// Books of 2^`page_bits` pages each. None if that is too few or too many.
    ///
    /// ```
    /// use dropwise_core::book::{MIN_PAGE_BITS, Shelf};
    /// assert!(Shelf::new(&[], MIN_PAGE_BITS - 1).is_none());
    /// assert_eq!(Shelf::new(&[], MIN_PAGE_BITS).unwrap().books(), 0);
    /// ```
    pub fn new(pages: &'a [Page], page_bits: u32) -> Option<Shelf<'a>> {
        (MIN_PAGE_BITS..=MAX_PAGE_BITS).contains(&page_bits).then_some(Shelf { pages, page_bits })
    }

    /// How many there are.
    pub fn books(self) -> usize {
        self.pages.len() >> self.page_bits
    }

    #[cfg(all(feature = "simd", target_arch = "x86_64"))]
    pub(crate) fn pages(self) -> &'a [Page] {
        self.pages
    }

    #[cfg(all(feature = "simd", target_arch = "x86_64"))]
    pub(crate) fn page_bits(self) -> u32 {
        self.page_bits
    }

    #[inline]
    pub(crate) fn page(self, book: u8, key: u64) -> (&'a Page, u64) {
        let mark_bits = KEY_BITS - self.page_bits;
        let place = u64::from(book) << self.page_bits | key >> mark_bits;
        (&self.pages[place as usize], key & ((1 << mark_bits) - 1))
    }

    /// What a player does with a piece on a pile, if its book says so.
    ///
    /// # Panics
    /// If there is no such book.
    pub fn look(self, book: u8, pile: LowWell, piece: Piece) -> Option<Placement> {
        placement(self.choice(book, key(pile, piece), piece))
    }

    /// The same by its key, as it is written; 0 where it is not known.
    pub(crate) fn choice(self, book: u8, key: u64, piece: Piece) -> u8 {
        let (page, mark) = self.page(book, key);
        let lines = page.iter().map(|line| line.load(Relaxed));
        let found = lines.filter(|line| line >> MARK_SHIFT == mark).fold(0, |found, line| found | line);
        (found >> shift(piece) & CHOICE_MASK) as u8
    }

    /// Writes down what a player does with a piece on a pile. The board of which least is known makes room.
    ///
    /// # Panics
    /// If there is no such book.
    pub fn note(self, book: u8, pile: LowWell, piece: Piece, placement: Placement) {
        self.note_choice(book, key(pile, piece), piece, choice(placement));
    }

    pub(crate) fn note_choice(self, book: u8, key: u64, piece: Piece, choice: u8) {
        let choice = u64::from(choice) << shift(piece);
        let (page, mark) = self.page(book, key);
        let lines = page.each_ref().map(|line| line.load(Relaxed));
        // The line of the board if there is one, or that of which least is known. Which it is cannot be foretold, so there
        // is no branch.
        let (mut place, mut least) = (0, u32::MAX);
        for (i, &line) in lines.iter().enumerate() {
            let is_it = line >> MARK_SHIFT == mark && line & CHOICES != 0;
            let rank = if is_it { 0 } else { 1 + known(line) };
            place = if rank < least { i } else { place };
            least = least.min(rank);
        }
        let kept = if least == 0 { lines[place] } else { mark << MARK_SHIFT };
        page[place].store(kept | choice, Relaxed);
    }
}

/// Where a piece's choice stands in a line.
fn shift(piece: Piece) -> u32 {
    piece as u32 % PIECES * CHOICE_BITS
}

/// Of how many pieces a line tells.
fn known(line: u64) -> u32 {
    // The bits of each choice, or-ed into its lowest.
    const LOWEST: u64 = 0o01_01_01_01;
    let halves = line | line >> 3;
    ((halves | halves >> 1 | halves >> 2) & LOWEST).count_ones()
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::vec::Vec;

    use super::*;

    #[test]
    fn mixing_can_be_undone() {
        // The inverse of an odd factor, by Newton's method: each step doubles the bits that are right.
        let inverse = |factor: u64| {
            (0..6).fold(factor, |x, _| x.wrapping_mul(2u64.wrapping_sub(factor.wrapping_mul(x))))
        };
        let unshift = |x: u64| x ^ x >> MIX_SHIFT;
        for i in 0..1000u64 {
            let key = i.wrapping_mul(0x1234_5678_9abc_def1) & KEY_MASK;
            let mixed = mix(key);
            let half = unshift(unshift(mixed).wrapping_mul(inverse(MIX[1])) & KEY_MASK);
            assert_eq!(half.wrapping_mul(inverse(MIX[0])) & KEY_MASK, key);
        }
    }

    /// Many boards that meet on one page: some are forgotten, and what is found was noted.
    #[test]
    fn boards_on_one_page_make_room_for_each_other() {
        let pages: Vec<Page> = (0..2 << MIN_PAGE_BITS).map(|_| Page::default()).collect();
        let shelf = Shelf::new(&pages, MIN_PAGE_BITS).unwrap();
        let first = 1234 << (KEY_BITS - MIN_PAGE_BITS);
        let mut noted = HashMap::new();
        for turn in 0..300u64 {
            let key = first | (turn * 7 % 11);
            let piece = Piece::ALL[turn as usize % 4];
            let choice = *noted.entry((key, piece)).or_insert(1 + turn as u8 % 34);
            shelf.note_choice(1, key, piece, choice);
            assert_eq!(shelf.choice(1, key, piece), choice, "just noted");
            let found = noted.iter().map(|((key, piece), choice)| (shelf.choice(1, *key, *piece), *choice));
            let found: Vec<(u8, u8)> = found.filter(|&(found, _)| found != 0).collect();
            assert!(found.iter().all(|(found, choice)| found == choice));
            assert!(found.len() <= LINES * PIECES as usize);
        }
        assert!(noted.len() > LINES * PIECES as usize);
        assert!(noted.keys().all(|(key, piece)| shelf.choice(0, *key, *piece) == 0), "another player's book");
    }

    #[test]
    fn every_placement_can_be_written() {
        for piece in Piece::ALL {
            for stands in Placement::all(piece) {
                assert!((1..=CHOICE_MASK).contains(&u64::from(choice(stands))));
                assert_eq!(placement(choice(stands)), Some(stands));
            }
        }
        assert_eq!(placement(0), None);
    }

    #[test]
    fn what_is_known_is_counted() {
        assert_eq!([0, 1, 0o40, 0o4000, 0o77_00_10_02, !0 << MARK_SHIFT].map(known), [0, 1, 1, 1, 3, 0]);
    }
}
