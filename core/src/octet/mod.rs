//! Eight games that go by their [books](crate::book), side by side: a lane of a register each.
//!
//! A piece that lands on a low pile in a known way needs no engine: it is looked up, or-ed in, full rows fall out, the
//! next piece is drawn. That is three hundred instructions for eight games at once. A few octets take turns, so that the
//! pages they need next have come from memory by then. A lane stops where the book has nothing to say, where the piece does
//! not fit into the rows of a low pile, and where its pieces are spent. Then its game is let go, and another takes its
//! place: a step takes as long for one game as for eight.
//!
//! Only games with uniform pieces are played here. Each is, move for move, the one that [`Game::step`] plays.

#[cfg(all(feature = "simd", target_arch = "x86_64"))]
mod avx512;

use crate::book::{self, MIN_BOARD, Shelf};
use crate::game::{Game, PieceSource, code, digest_word};
use crate::generator::Generator;
use crate::low::LowWell;
use crate::piece::Piece;
use crate::placement::Placement;

/// Games side by side.
pub const LANES: usize = 8;

/// At most so many pieces are placed on end.
const MOST: u64 = 1 << 31;

/// Where the piece stands, above its pile.
const PIECE_SHIFT: u32 = 60;

/// A game while it goes by the book: all that a [`Game`] has, in few words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(align(64))]
pub struct Runner {
    /// The pile and, from bit [`PIECE_SHIFT`] on, the piece to be placed.
    pile: u64,
    /// Where that stands in a book.
    key: u64,
    /// The generator's first two words, and the others.
    generator: [u64; 2],
    digest: u64,
    /// Lines since the game was last brought back; and from bit 32 on, how many pieces may still be placed.
    counts: u64,
    /// How many those were when the game was last brought back.
    allowed: u32,
    book: u8,
    /// What is to be done with the piece, whatever the book says; 0 if nothing was told.
    told: u8,
}

impl Runner {
    /// Takes up a game, to go by a book until so many pieces are placed in all. None if it cannot: its pieces are not
    /// uniform, its board or its pile does not suit a book, or it is at its end.
    ///
    /// ```
    /// use dropwise_core::octet::Runner;
    /// use dropwise_core::{Game, Rules};
    ///
    /// assert!(Runner::new(&mut Game::new(Rules::default(), 1, 0), 0, u64::MAX).is_some());
    /// assert!(Runner::new(&mut Game::new(Rules::default(), 1, 0), 0, 0).is_none(), "no pieces left");
    /// assert!(Runner::new(&mut Game::new(Rules::new(9).unwrap(), 1, 0), 0, 1).is_none(), "too low a board");
    /// ```
    pub fn new(game: &mut Game<'_>, book: u8, limit: u64) -> Option<Runner> {
        let left = limit.saturating_sub(game.pieces()).min(MOST);
        let rules = game.rules();
        let suits = rules.pieces == PieceSource::Uniform && rules.height() >= MIN_BOARD;
        if !suits || left == 0 || game.is_over() || game.queued > 1 {
            return None;
        }
        let pile = LowWell::of(game.well())?;
        let &piece = game.upcoming(0).first()?;
        let mut runner = Runner {
            pile: 0,
            key: 0,
            generator: [0; 2],
            digest: game.digest,
            counts: left << 32,
            allowed: left as u32,
            book,
            told: 0,
        };
        runner.set(pile, piece);
        runner.set_generator(&game.rng);
        Some(runner)
    }

    /// Brings the game that was taken up to where this is.
    pub fn bring_back(&mut self, game: &mut Game<'_>) {
        let left = (self.counts >> 32) as u32;
        game.pieces += u64::from(self.allowed - left);
        game.lines += self.counts & u64::from(u32::MAX);
        self.allowed = left;
        self.counts = u64::from(left) << 32;
        game.digest = self.digest;
        game.rng = self.generator();
        game.queue[0] = self.piece();
        game.queued = 1;
        game.set_well(self.pile().well(game.rules().height()));
    }

    /// The pile.
    #[inline]
    pub fn pile(&self) -> LowWell {
        LowWell::from_bits(self.pile)
    }

    /// The piece to be placed.
    #[inline]
    pub fn piece(&self) -> Piece {
        Piece::ALL[(self.pile >> PIECE_SHIFT) as usize]
    }

    /// What is to be done with the piece, where that [does not fit](Stepped::unfit).
    pub fn chosen(&self) -> Option<Placement> {
        book::placement(self.told)
    }

    /// Is told what to do with the piece. The book is told, too.
    ///
    /// # Panics
    /// If the book is not on the shelf.
    #[inline]
    pub fn tell(&mut self, placement: Placement, shelf: Shelf<'_>) {
        self.told = book::choice(placement);
        shelf.note_choice(self.book, self.key, self.piece(), self.told);
    }

    fn set(&mut self, pile: LowWell, piece: Piece) {
        self.pile = pile.bits() | (piece as u64) << PIECE_SHIFT;
        self.key = book::key(pile, piece);
    }

    fn generator(&self) -> Generator {
        let [a, b] = self.generator;
        Generator::from_state([a as u32, (a >> 32) as u32, b as u32, (b >> 32) as u32])
    }

    fn set_generator(&mut self, generator: &Generator) {
        let [a, b, c, d] = generator.state().map(u64::from);
        self.generator = [a | b << 32, c | d << 32];
    }
}

/// Eight games, or fewer, each with a number that others know it by.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub struct Octet {
    piles: [u64; LANES],
    keys: [u64; LANES],
    generators: [[u64; LANES]; 2],
    digests: [u64; LANES],
    counts: [u64; LANES],
    allowed: [u32; LANES],
    numbers: [u32; LANES],
    books: [u8; LANES],
    told: [u8; LANES],
    /// The lanes in which a game goes on.
    running: u8,
}

impl Default for Octet {
    fn default() -> Octet {
        Octet::new()
    }
}

/// What came of a step: a bit a lane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stepped {
    /// A piece was placed.
    pub placed: u8,
    /// The book says nothing: stopped until [told](Runner::tell).
    pub unknown: u8,
    /// What is [chosen](Runner::chosen) does not fit into the rows of a low pile: stopped, the piece not placed.
    pub unfit: u8,
    /// As many pieces were placed as may be: stopped.
    pub spent: u8,
}

/// The way to [step](Kernel::step) fast, where the machine has it.
#[derive(Clone, Copy, Debug)]
pub struct Kernel(());

impl Kernel {
    /// None if this processor lacks an instruction that is needed.
    pub fn new() -> Option<Kernel> {
        #[cfg(all(feature = "simd", target_arch = "x86_64"))]
        if avx512::is_here() {
            return Some(Kernel(()));
        }
        None
    }

    /// The same as [`Octet::step`].
    ///
    /// # Panics
    /// If a lane's book is not on the shelf.
    #[inline]
    pub fn step(self, octet: &mut Octet, shelf: Shelf<'_>) -> Stepped {
        #[cfg(all(feature = "simd", target_arch = "x86_64"))]
        {
            // SAFETY: `new` made this value only where the processor has every feature that the function needs.
            #[expect(unsafe_code, reason = "entering code compiled for other instructions has no safe form")]
            unsafe {
                avx512::step(octet, shelf)
            }
        }
        #[cfg(not(all(feature = "simd", target_arch = "x86_64")))]
        octet.step(shelf)
    }

    /// Has the page fetched from memory that a runner will look at.
    ///
    /// # Panics
    /// If the book is not on the shelf.
    #[inline]
    pub fn fetch(self, runner: &Runner, shelf: Shelf<'_>) {
        let (page, _) = shelf.page(runner.book, runner.key);
        #[cfg(all(feature = "simd", target_arch = "x86_64"))]
        avx512::fetch(page);
        #[cfg(not(all(feature = "simd", target_arch = "x86_64")))]
        let _ = page;
    }
}

impl Stepped {
    /// The lanes that stopped.
    #[inline]
    pub fn stopped(self) -> u8 {
        self.unknown | self.unfit | self.spent
    }
}

/// The lanes of a mask.
///
/// ```
/// assert_eq!(dropwise_core::octet::lanes(0b1010).collect::<Vec<_>>(), [1, 3]);
/// ```
pub fn lanes(mut mask: u8) -> impl Iterator<Item = usize> {
    core::iter::from_fn(move || {
        let lane = (mask != 0).then(|| mask.trailing_zeros() as usize)?;
        mask &= mask - 1;
        Some(lane)
    })
}

impl Octet {
    /// No games.
    pub const fn new() -> Octet {
        Octet {
            piles: [0; LANES],
            keys: [0; LANES],
            generators: [[0; LANES]; 2],
            digests: [0; LANES],
            counts: [0; LANES],
            allowed: [0; LANES],
            numbers: [0; LANES],
            books: [0; LANES],
            told: [0; LANES],
            running: 0,
        }
    }

    /// The lanes in which a game goes on. Into the others one can be put.
    #[inline]
    pub fn running(&self) -> u8 {
        self.running
    }

    /// Puts a game into a lane.
    ///
    /// # Panics
    /// If there is no such lane.
    #[inline]
    pub fn put(&mut self, lane: usize, number: u32, runner: &Runner) {
        self.set(lane, runner);
        self.numbers[lane] = number;
        self.running |= 1 << lane;
    }

    fn set(&mut self, lane: usize, runner: &Runner) {
        let &Runner { pile, key, generator, digest, counts, allowed, book, told } = runner;
        self.piles[lane] = pile;
        self.keys[lane] = key;
        self.generators[0][lane] = generator[0];
        self.generators[1][lane] = generator[1];
        self.digests[lane] = digest;
        self.counts[lane] = counts;
        self.allowed[lane] = allowed;
        self.books[lane] = book;
        self.told[lane] = told;
    }

    /// The game in a lane, running or stopped, and its number.
    ///
    /// # Panics
    /// If there is no such lane.
    #[inline]
    pub fn get(&self, lane: usize) -> (u32, Runner) {
        let runner = Runner {
            pile: self.piles[lane],
            key: self.keys[lane],
            generator: [self.generators[0][lane], self.generators[1][lane]],
            digest: self.digests[lane],
            counts: self.counts[lane],
            allowed: self.allowed[lane],
            book: self.books[lane],
            told: self.told[lane],
        };
        (self.numbers[lane], runner)
    }

    /// Lets each game that runs place its piece by the book, and draw the next. Slow and obvious: [`Kernel::step`] is what
    /// plays.
    ///
    /// # Panics
    /// If a book is not on the shelf.
    pub fn step(&mut self, shelf: Shelf<'_>) -> Stepped {
        let mut stepped = Stepped::default();
        for lane in lanes(self.running) {
            let bit = 1 << lane;
            let (_, mut runner) = self.get(lane);
            let piece = runner.piece();
            let choice = runner.told | shelf.choice(runner.book, runner.key, piece);
            runner.told = 0;
            if let Some(placement) = book::placement(choice) {
                if let Some((pile, lines)) = runner.pile().drop(piece, placement) {
                    stepped.placed |= bit;
                    runner.digest = digest_word(runner.digest, code(piece, placement).into());
                    runner.counts = runner.counts + u64::from(lines) - (1 << 32);
                    let mut generator = runner.generator();
                    runner.set(pile, Piece::ALL[generator.below(Piece::NUM as u32)]);
                    runner.set_generator(&generator);
                    if runner.counts >> 32 == 0 {
                        stepped.spent |= bit;
                    }
                } else {
                    stepped.unfit |= bit;
                    runner.told = choice;
                }
            } else {
                stepped.unknown |= bit;
            }
            self.set(lane, &runner);
        }
        self.running &= !stepped.stopped();
        stepped
    }
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;
    use crate::book::{MIN_PAGE_BITS, Page};
    use crate::game::Rules;

    fn runner(state: [u32; 4], index: u64) -> Runner {
        let mut game = Game::new(Rules::default(), 3, index);
        game.upcoming(0);
        game.rng = Generator::from_state(state);
        Runner::new(&mut game, 0, 5).unwrap()
    }

    /// States from which zero is drawn, once and several times: that favours a piece, and the next draw counts.
    #[test]
    fn a_draw_that_favours_a_piece_is_repeated_by_both_ways() {
        let pages: Vec<Page> = (0..1 << MIN_PAGE_BITS).map(|_| Page::default()).collect();
        let shelf = Shelf::new(&pages, MIN_PAGE_BITS).unwrap();
        let mut octet = Octet::new();
        let states = [[0, 5, 9, 0], [1, 2, 3, 4], [0, 1, 0, 0], [0, 0, 1, 0], [0, 1 << 23, 1 << 23, 0]];
        for (lane, state) in states.into_iter().enumerate() {
            let mut generator = Generator::from_state(state);
            assert_eq!(generator.next_u32() == 0, lane != 1, "{state:?}");
            let mut runner = runner(state, lane as u64);
            runner.tell(Placement { orientation: 0, column: 2 }, shelf);
            octet.put(lane, lane as u32, &runner);
        }
        let mut slow = octet.clone();
        let stepped = slow.step(shelf);
        assert_eq!(stepped.placed, 0b11111);
        for (lane, state) in states.into_iter().enumerate() {
            let mut generator = Generator::from_state(state);
            let piece = Piece::ALL[generator.below(Piece::NUM as u32)];
            let (_, runner) = slow.get(lane);
            assert_eq!((runner.generator(), runner.piece()), (generator, piece));
        }
        if let Some(kernel) = Kernel::new() {
            assert_eq!(kernel.step(&mut octet, shelf), stepped);
            for lane in 0..LANES {
                assert_eq!(octet.get(lane), slow.get(lane));
            }
        }
    }

    /// Piles and choices of all kinds, wherever they lead.
    #[test]
    fn both_ways_agree_on_any_pile() {
        let Some(kernel) = Kernel::new() else { return };
        let pages: Vec<Page> = (0..1 << MIN_PAGE_BITS).map(|_| Page::default()).collect();
        let shelf = Shelf::new(&pages, MIN_PAGE_BITS).unwrap();
        let mut generator = Generator::from_state([1, 2, 3, 4]);
        let mut seen = Stepped::default();
        for turn in 0..20_000 {
            let mut octet = Octet::new();
            let any = generator.next_u32() as u8;
            for lane in lanes(any) {
                let mut runner = runner([1, turn, 3, lane as u32], lane as u64);
                // Rows with one gap, which often become full, up to some height; the gaps often one above the other.
                let (mut bits, gap) = (0, generator.below(10));
                for row in 0..generator.below(LowWell::ROWS as u32 + 1) {
                    let gap = if generator.below(3) == 0 { generator.below(10) } else { gap };
                    bits |= (1023 & !(1 << gap)) << (10 * row);
                    if generator.below(4) == 0 {
                        bits &=
                            !(u64::from(generator.next_u32()) & 1023) << (10 * row) | !(1023 << (10 * row));
                    }
                }
                let piece = Piece::ALL[generator.below(7)];
                runner.set(LowWell::from_bits(bits), piece);
                let all = Placement::all(piece).count() as u32;
                let told = Placement::all(piece).nth(generator.below(all)).unwrap();
                match generator.below(4) {
                    0 => {}
                    // A player does always the same.
                    1 if shelf.choice(0, runner.key, piece) == 0 => {
                        shelf.note_choice(0, runner.key, piece, book::choice(told));
                    }
                    _ => runner.told = book::choice(told),
                }
                runner.counts = (1 + generator.below(3) as u64) << 32;
                octet.put(lane, lane as u32, &runner);
            }
            // Nobody is told anything but what stands in the book.
            for lane in lanes(any) {
                let (number, mut runner) = octet.get(lane);
                if shelf.choice(0, runner.key, runner.piece()) != 0 {
                    runner.told = 0;
                    octet.put(lane, number, &runner);
                }
            }
            let mut slow = octet.clone();
            let stepped = slow.step(shelf);
            assert_eq!(kernel.step(&mut octet, shelf), stepped);
            assert_eq!(octet.running(), slow.running());
            for lane in 0..LANES {
                assert_eq!(octet.get(lane), slow.get(lane));
            }
            seen.placed |= stepped.placed;
            seen.unknown |= stepped.unknown;
            seen.unfit |= stepped.unfit;
            seen.spent |= stepped.spent;
        }
        assert_eq!(seen, Stepped { placed: 255, unknown: 255, unfit: 255, spent: 255 });
    }
}
