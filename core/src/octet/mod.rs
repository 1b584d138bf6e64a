//! Eight games that go by their [books](crate::book), side by side: a lane of a register each.
//!
//! A piece that lands on a low pile in a known way needs no engine: it is looked up, or-ed in, full rows fall out, the
//! next piece is drawn. That is a hundred instructions for eight games at once. So many octets take turns that the pages
//! they need next have come from memory by then. A lane falls asleep where the book has nothing to say, where the piece
//! does not fit into the rows of a low pile, and where its pieces are spent; what becomes of it is up to others.
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

/// A lane plays at most so many pieces on end.
const MOST: u64 = 1 << 31;

/// Where a lane's piece stands, above its pile.
const PIECE_SHIFT: u32 = 60;

/// Eight games, or fewer. Of every game here: all that a [`Game`] has, in few words, so that many fit near the processor.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub struct Octet {
    /// The pile and, from bit [`PIECE_SHIFT`] on, the piece to be placed.
    piles: [u64; LANES],
    /// Where that stands in a book.
    keys: [u64; LANES],
    /// The generator's first two words, and the others.
    generators: [[u64; LANES]; 2],
    digests: [u64; LANES],
    /// Lines since the game was last brought back; and from bit 32 on, how many pieces the lane may still place.
    counts: [u64; LANES],
    books: [u8; LANES],
    /// What is to be done with the piece, whatever the book says; 0 if nothing was told.
    told: [u8; LANES],
    /// How many pieces it was allowed when the game was last brought back.
    allowed: [u32; LANES],
    awake: u8,
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
    /// The book says nothing: asleep until [told](Octet::tell).
    pub unknown: u8,
    /// What is [chosen](Octet::chosen) does not fit into the rows of a low pile: asleep, the piece not placed.
    pub unfit: u8,
    /// As many pieces were placed as the lane may: asleep.
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
    /// No games: all lanes sleep.
    pub const fn new() -> Octet {
        Octet {
            piles: [0; LANES],
            keys: [0; LANES],
            generators: [[0; LANES]; 2],
            digests: [0; LANES],
            counts: [0; LANES],
            books: [0; LANES],
            told: [0; LANES],
            allowed: [0; LANES],
            awake: 0,
        }
    }

    /// Whether a game can be played here as it stands.
    #[inline]
    pub fn suits(game: &Game<'_>) -> bool {
        let rules = game.rules();
        rules.pieces == PieceSource::Uniform
            && rules.height() >= MIN_BOARD
            && game.queued <= 1
            && !game.is_over()
            && LowWell::of(game.well()).is_some()
    }

    /// Takes up a game in a lane, to go by a book until so many pieces are placed in all. The lane is awake then; false,
    /// and nothing is changed, if the game does not [suit](Octet::suits).
    ///
    /// ```
    /// use dropwise_core::octet::Octet;
    /// use dropwise_core::{Game, Rules};
    ///
    /// let mut octet = Octet::new();
    /// assert!(octet.take_up(3, &mut Game::new(Rules::default(), 1, 0), 0, u64::MAX));
    /// assert_eq!(octet.awake(), 1 << 3);
    /// assert!(!octet.take_up(3, &mut Game::new(Rules::new(9).unwrap(), 1, 0), 0, u64::MAX), "too low a board");
    /// ```
    ///
    /// # Panics
    /// If there is no such lane.
    pub fn take_up(&mut self, lane: usize, game: &mut Game<'_>, book: u8, limit: u64) -> bool {
        let left = limit.saturating_sub(game.pieces()).min(MOST);
        if left == 0 || !Octet::suits(game) {
            return false;
        }
        let Some((pile, &piece)) = LowWell::of(game.well()).zip(game.upcoming(0).first()) else { return false };
        self.set(lane, pile, piece);
        self.set_generator(lane, &game.rng);
        self.digests[lane] = game.digest;
        self.counts[lane] = left << 32;
        self.allowed[lane] = left as u32;
        self.books[lane] = book;
        self.told[lane] = 0;
        self.awake |= 1 << lane;
        true
    }

    /// Brings the game that was taken up in a lane to where the lane is. It stays in the lane, awake or asleep.
    ///
    /// # Panics
    /// If there is no such lane, or the game is another one's.
    pub fn bring_back(&mut self, lane: usize, game: &mut Game<'_>) {
        let left = (self.counts[lane] >> 32) as u32;
        game.pieces += u64::from(self.allowed[lane] - left);
        game.lines += self.counts[lane] & u64::from(u32::MAX);
        self.allowed[lane] = left;
        self.counts[lane] = u64::from(left) << 32;
        game.digest = self.digests[lane];
        game.rng = self.generator(lane);
        game.queue[0] = self.piece(lane);
        game.queued = 1;
        game.set_well(self.pile(lane).well(game.rules().height()));
    }

    /// Puts a lane to sleep.
    pub fn put_to_sleep(&mut self, lane: usize) {
        self.awake &= !(1 << lane);
    }

    /// The lanes that are awake.
    #[inline]
    pub fn awake(&self) -> u8 {
        self.awake
    }

    /// The pile of a lane.
    #[inline]
    pub fn pile(&self, lane: usize) -> LowWell {
        LowWell::from_bits(self.piles[lane])
    }

    /// The piece that a lane is to place.
    #[inline]
    pub fn piece(&self, lane: usize) -> Piece {
        Piece::ALL[(self.piles[lane] >> PIECE_SHIFT) as usize]
    }

    /// What is to be done with a lane's piece, where that [does not fit](Stepped::unfit).
    pub fn chosen(&self, lane: usize) -> Option<Placement> {
        book::placement(self.told[lane])
    }

    /// Tells a lane what to do with its piece, and wakes it. The book is told, too.
    ///
    /// # Panics
    /// If the lane's book is not on the shelf.
    #[inline]
    pub fn tell(&mut self, lane: usize, placement: Placement, shelf: Shelf<'_>) {
        let choice = book::choice(placement);
        shelf.note_choice(self.books[lane], self.keys[lane], self.piece(lane), choice);
        self.told[lane] = choice;
        self.awake |= 1 << lane;
    }

    fn set(&mut self, lane: usize, pile: LowWell, piece: Piece) {
        self.piles[lane] = pile.bits() | (piece as u64) << PIECE_SHIFT;
        self.keys[lane] = book::key(pile, piece);
    }

    fn generator(&self, lane: usize) -> Generator {
        let [a, b] = self.generators.map(|words| words[lane]);
        Generator::from_state([a as u32, (a >> 32) as u32, b as u32, (b >> 32) as u32])
    }

    fn set_generator(&mut self, lane: usize, generator: &Generator) {
        let [a, b, c, d] = generator.state().map(u64::from);
        self.generators[0][lane] = a | b << 32;
        self.generators[1][lane] = c | d << 32;
    }

    /// Lets each lane that is awake place its piece by the book, and draw the next. Slow and obvious: [`Kernel::step`] is
    /// what plays.
    ///
    /// # Panics
    /// If a lane's book is not on the shelf.
    pub fn step(&mut self, shelf: Shelf<'_>) -> Stepped {
        let mut stepped = Stepped::default();
        for lane in lanes(self.awake) {
            let (pile, piece, bit) = (self.pile(lane), self.piece(lane), 1 << lane);
            let found = shelf.choice(self.books[lane], self.keys[lane], piece);
            let choice = core::mem::take(&mut self.told[lane]) | found;
            let Some(placement) = book::placement(choice) else {
                stepped.unknown |= bit;
                continue;
            };
            let Some((pile, lines)) = pile.drop(piece, placement) else {
                stepped.unfit |= bit;
                self.told[lane] = choice;
                continue;
            };
            stepped.placed |= bit;
            self.digests[lane] = digest_word(self.digests[lane], code(piece, placement).into());
            self.counts[lane] = self.counts[lane] + u64::from(lines) - (1 << 32);
            let mut generator = self.generator(lane);
            self.set(lane, pile, Piece::ALL[generator.below(Piece::NUM as u32)]);
            self.set_generator(lane, &generator);
            if self.counts[lane] >> 32 == 0 {
                stepped.spent |= bit;
            }
        }
        self.awake = stepped.placed & !stepped.spent;
        stepped
    }
}
