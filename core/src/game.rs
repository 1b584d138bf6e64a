//! Rules, piece sources, a whole game and its digest.

use core::fmt;

use crate::controller::{Controller, MAX_LOOKAHEAD};
use crate::generator::Generator;
use crate::piece::Piece;
use crate::placement::Placement;
use crate::well::{Landing, Overflow, Well, WellError};

/// Where the pieces come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PieceSource<'a> {
    /// Independent and uniform: the research game.
    Uniform,
    /// Independent; S and Z each this many times as likely as any other piece.
    Hard(u8),
    /// The seven pieces in random order, again and again, as commercial games do.
    Bag,
    /// These, until used up.
    List(&'a [Piece]),
}

impl fmt::Display for PieceSource<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PieceSource::Uniform => f.write_str("uniform"),
            PieceSource::Hard(times) => write!(f, "hard:{times}"),
            PieceSource::Bag => f.write_str("bag"),
            PieceSource::List(pieces) => write!(f, "list of {}", pieces.len()),
        }
    }
}

/// The rules of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules<'a> {
    empty: Well,
    /// When a placement loses.
    pub overflow: Overflow,
    /// Where the pieces come from.
    pub pieces: PieceSource<'a>,
}

impl Default for Rules<'_> {
    /// The research game: 10x20, overflow tested before clearing, uniform pieces.
    fn default() -> Self {
        match Rules::new(crate::well::MAX_HEIGHT) {
            Ok(rules) => rules,
            Err(_) => unreachable!(),
        }
    }
}

impl Rules<'_> {
    /// The research game on a well of the given height.
    ///
    /// # Errors
    /// If the height is not between 4 and 20.
    ///
    /// ```
    /// use dropwise_core::Rules;
    /// assert_eq!(Rules::new(10).unwrap().height(), 10);
    /// assert!(Rules::new(21).is_err());
    /// ```
    pub const fn new(height: usize) -> Result<Self, WellError> {
        match Well::new(height) {
            Ok(empty) => Ok(Rules { empty, overflow: Overflow::Before, pieces: PieceSource::Uniform }),
            Err(error) => Err(error),
        }
    }

    /// Rows of the well.
    pub const fn height(&self) -> usize {
        self.empty.height()
    }
}

/// What a player did with a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move {
    /// The piece.
    pub piece: Piece,
    /// Where it was dropped.
    pub placement: Placement,
    /// How it landed.
    pub landing: Landing,
}

impl Move {
    /// What was chosen, in 9 bits: the piece's number, the orientation from bit 3 on, the column from bit 5 on. It is
    /// what a game's digest is made of, and what a device sends of a move.
    ///
    /// ```
    /// use dropwise_core::{Controller, Game, Player, Rules};
    /// use dropwise_core::game::Move;
    ///
    /// let mut game = Game::new(Rules::default(), 1, 0);
    /// let step = game.step(&Controller::new(Player::known("bcts").unwrap())).unwrap();
    /// assert_eq!(Move::decode(step.code()), Some((step.piece, step.placement)));
    /// assert_eq!(Move::decode(u16::MAX), None);
    /// ```
    pub const fn code(&self) -> u16 {
        code(self.piece, self.placement)
    }

    /// The piece and the placement of a [code](Move::code); none if no move has it.
    pub fn decode(code: u16) -> Option<(Piece, Placement)> {
        let piece = Piece::ALL.get(usize::from(code & 7)).copied()?;
        let placement =
            Placement { orientation: (code >> 3 & 3) as u8, column: u8::try_from(code >> 5).ok()? };
        placement.is_valid(piece).then_some((piece, placement))
    }
}

#[inline]
pub(crate) const fn code(piece: Piece, placement: Placement) -> u16 {
    piece as u16 | (placement.orientation as u16) << 3 | (placement.column as u16) << 5
}

/// A game, from the empty well to the end.
///
/// The same rules, seed, index and player give the same game on every machine; [`Game::digest`] shows it.
#[derive(Clone, Debug)]
pub struct Game<'a> {
    rules: Rules<'a>,
    well: Well,
    pub(crate) rng: Generator,
    /// What is left of the bag or the list.
    bag: [Piece; Piece::NUM],
    bag_left: usize,
    listed: usize,
    /// The current piece and those known to come.
    pub(crate) queue: [Piece; MAX_LOOKAHEAD + 1],
    pub(crate) queued: usize,
    over: bool,
    pub(crate) pieces: u64,
    pub(crate) lines: u64,
    pub(crate) digest: u64,
}

/// A game put aside: all but its rules.
#[cfg(feature = "save")]
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SavedGame {
    columns: [u32; crate::well::WIDTH],
    rng: Generator,
    /// What is left of the bag, the piece and those known to come, by their numbers.
    bag: [u8; Piece::NUM],
    bag_left: usize,
    listed: usize,
    queue: [u8; MAX_LOOKAHEAD + 1],
    queued: usize,
    over: bool,
    pieces: u64,
    lines: u64,
    digest: u64,
}

#[cfg(feature = "save")]
impl SavedGame {
    /// [`Game::is_over`].
    pub fn is_over(&self) -> bool {
        self.over
    }
}

/// FNV-1a's offset and prime for 64 bits (Fowler, Noll and Vo).
const DIGEST_START: u64 = 0xcbf2_9ce4_8422_2325;
pub(crate) const DIGEST_PRIME: u64 = 0x0000_0100_0000_01b3;

/// The digest of some words: FNV-1a, a word at a time.
///
/// ```
/// use dropwise_core::game::{digest, digest_word};
/// let both = digest([1, 2]);
/// assert_ne!(both, digest([2, 1]));
/// assert_eq!(both, digest_word(digest([1]), 2));
/// ```
pub fn digest(words: impl IntoIterator<Item = u64>) -> u64 {
    words.into_iter().fold(DIGEST_START, digest_word)
}

/// Takes another word into a digest. A game's digest takes in the [code](Move::code) of each move.
#[inline]
pub const fn digest_word(digest: u64, word: u64) -> u64 {
    (digest ^ word).wrapping_mul(DIGEST_PRIME)
}

/// A 64-bit hash in which every input bit changes every output bit (the finaliser of Stafford's variant 13).
const fn mix(mut x: u64) -> u64 {
    x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}

/// A seed of its own for part `index` of what `seed` starts: a game of a run, an iteration of a training.
///
/// It is a hash of both, never a step from one to the next: neighbouring games must not share their pieces.
pub const fn derive_seed(seed: u64, index: u64) -> u64 {
    const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
    mix(mix(seed.wrapping_add(GOLDEN)) ^ mix(index.wrapping_mul(GOLDEN).wrapping_add(1)))
}

/// Which two words of a game's own seed start its generator: those of all games, and those of games kept apart.
const USUAL: [u64; 2] = [0, 1];
const APART: [u64; 2] = [2, 3];

impl<'a> Game<'a> {
    /// Game `index` of those that `seed` starts.
    ///
    /// ```
    /// use dropwise_core::{Game, Rules};
    /// // The pieces follow from the seed and the index alone.
    /// let mut game = Game::new(Rules::default(), 42, 0);
    /// let pieces = game.upcoming(2).to_vec();
    /// assert_eq!(Game::new(Rules::default(), 42, 0).upcoming(2), pieces);
    /// ```
    pub fn new(rules: Rules<'a>, seed: u64, index: u64) -> Game<'a> {
        Game::start(rules, seed, index, USUAL)
    }

    /// Game `index` of those that `seed` starts, kept apart: whatever seeds and indices are used, no such game's
    /// generator starts as that of a game of [`Game::new`] does. Who learns from the one kind is measured on the other.
    ///
    /// ```
    /// use dropwise_core::{Controller, Game, Player, Rules};
    ///
    /// let controller = Controller::new(Player::known("bcts").unwrap());
    /// let digest = |mut game: Game| {
    ///     game.play(&controller, 100);
    ///     game.digest()
    /// };
    /// assert_ne!(digest(Game::apart(Rules::default(), 1, 0)), digest(Game::new(Rules::default(), 1, 0)));
    /// ```
    pub fn apart(rules: Rules<'a>, seed: u64, index: u64) -> Game<'a> {
        Game::start(rules, seed, index, APART)
    }

    fn start(rules: Rules<'a>, seed: u64, index: u64, words: [u64; 2]) -> Game<'a> {
        let own = derive_seed(seed, index);
        let [a, b] = words.map(|word| derive_seed(own, word));
        let state = [a as u32, (a >> 32) as u32, b as u32, (b >> 32) as u32];
        Game {
            rules,
            well: rules.empty,
            rng: Generator::from_state(state),
            bag: Piece::ALL,
            bag_left: 0,
            listed: 0,
            queue: [Piece::I; MAX_LOOKAHEAD + 1],
            queued: 0,
            over: false,
            pieces: 0,
            lines: 0,
            digest: DIGEST_START,
        }
    }

    /// Puts the game aside.
    #[cfg(feature = "save")]
    pub fn save(&self) -> SavedGame {
        SavedGame {
            columns: *self.well.columns(),
            rng: self.rng.clone(),
            bag: self.bag.map(|piece| piece as u8),
            bag_left: self.bag_left,
            listed: self.listed,
            queue: self.queue.map(|piece| piece as u8),
            queued: self.queued,
            over: self.over,
            pieces: self.pieces,
            lines: self.lines,
            digest: self.digest,
        }
    }

    /// Takes up a game that was put aside; none if it cannot be one by these rules.
    ///
    /// ```
    /// use dropwise_core::{Controller, Game, Player, Rules};
    ///
    /// let controller = Controller::new(Player::known("bcts").unwrap());
    /// let mut game = Game::new(Rules::default(), 1, 0);
    /// game.play(&controller, 100);
    /// let mut again = Game::resume(Rules::default(), &game.save()).unwrap();
    /// game.play(&controller, 200);
    /// again.play(&controller, 200);
    /// assert_eq!(again.digest(), game.digest());
    /// assert!(Game::resume(Rules::new(4).unwrap(), &game.save()).is_none());
    /// ```
    #[cfg(feature = "save")]
    pub fn resume(rules: Rules<'a>, saved: &SavedGame) -> Option<Game<'a>> {
        let piece = |number: u8| Piece::ALL.get(usize::from(number)).copied();
        let (mut bag, mut queue) = (Piece::ALL, [Piece::I; MAX_LOOKAHEAD + 1]);
        for (kept, &number) in bag.iter_mut().zip(&saved.bag).chain(queue.iter_mut().zip(&saved.queue)) {
            *kept = piece(number)?;
        }
        let in_order = saved.bag_left <= bag.len() && saved.queued <= queue.len();
        let well = Well::from_columns(rules.height(), saved.columns).ok().filter(|_| in_order)?;
        Some(Game {
            rules,
            well,
            rng: saved.rng.clone(),
            bag,
            bag_left: saved.bag_left,
            listed: saved.listed,
            queue,
            queued: saved.queued,
            over: saved.over,
            pieces: saved.pieces,
            lines: saved.lines,
            digest: saved.digest,
        })
    }

    /// The same game started from another board.
    ///
    /// # Panics
    /// If the board is not as high as the rules say.
    ///
    /// ```
    /// use dropwise_core::{Game, Rules, Well};
    /// let well = Well::from_art(&("..........\n".repeat(19) + "XX.XXXXXXX")).unwrap();
    /// let game = Game::new(Rules::default(), 1, 0).with_well(well);
    /// assert_eq!(game.well().max_height(), 1);
    /// ```
    pub fn with_well(mut self, well: Well) -> Game<'a> {
        self.set_well(well);
        self
    }

    /// [`Game::with_well`] in place.
    ///
    /// # Panics
    /// If the board is not as high as the rules say.
    pub fn set_well(&mut self, well: Well) {
        assert_eq!(well.height(), self.rules.height(), "the board must be as high as the rules say");
        self.well = well;
    }

    /// The rules.
    pub fn rules(&self) -> &Rules<'a> {
        &self.rules
    }

    /// The board.
    pub fn well(&self) -> &Well {
        &self.well
    }

    /// Pieces placed.
    pub fn pieces(&self) -> u64 {
        self.pieces
    }

    /// Lines cleared: the score.
    pub fn lines(&self) -> u64 {
        self.lines
    }

    /// Whether the game was lost or the list is used up.
    pub fn is_over(&self) -> bool {
        self.over
    }

    /// A digest over all moves so far: equal digests, equal games.
    pub fn digest(&self) -> u64 {
        self.digest
    }

    /// The piece to be placed and up to `known` that follow it; fewer at the end of a list.
    ///
    /// # Panics
    /// If more than [`MAX_LOOKAHEAD`] following pieces are asked for.
    pub fn upcoming(&mut self, known: usize) -> &[Piece] {
        assert!(known <= MAX_LOOKAHEAD, "a game shows at most two next pieces");
        self.fill(known);
        &self.queue[..self.queued.min(known + 1)]
    }

    /// Draws until this many pieces after the current one are known, or no more come.
    #[inline]
    fn fill(&mut self, known: usize) {
        while self.queued <= known {
            let Some(piece) = self.draw() else { break };
            self.queue[self.queued] = piece;
            self.queued += 1;
        }
    }

    /// Lets the controller place the next piece. None when the game is over: every placement loses, or the list is
    /// used up.
    ///
    /// ```
    /// use dropwise_core::{Controller, Game, Player, Rules};
    /// let controller = Controller::new(Player::known("bcts").unwrap());
    /// let mut game = Game::new(Rules::default(), 42, 0);
    /// let step = game.step(&controller).unwrap();
    /// assert_eq!((game.pieces(), step.landing.row), (1, 0), "the first piece lies on the floor");
    /// ```
    pub fn step(&mut self, controller: &Controller) -> Option<Move> {
        self.advance(controller)
    }

    /// [`Game::step`], for the loop that plays whole games.
    #[inline(always)]
    fn advance(&mut self, controller: &Controller) -> Option<Move> {
        if self.over {
            return None;
        }
        let known = controller.options().lookahead;
        self.fill(known);
        let upcoming = &self.queue[..self.queued];
        let chosen = match upcoming.split_first() {
            Some((&piece, next)) => controller.choose(&self.well, piece, next, self.rules.overflow),
            None => None,
        };
        self.follow(controller, chosen)
    }

    /// The second half of [`Game::step`], for who asked the controller's engine about many games at once: places the
    /// piece that [`Game::upcoming`] gave where it says. Nothing chosen ends the game.
    ///
    /// # Panics
    /// If the placement is not [valid](Placement::is_valid) for the piece.
    #[inline]
    pub fn follow(&mut self, controller: &Controller, chosen: Option<Placement>) -> Option<Move> {
        let Some(placement) = chosen.filter(|_| !self.over && self.queued > 0) else {
            self.over = true;
            return None;
        };
        let landing = controller.engine().drop(&mut self.well, self.queue[0], placement, self.rules.overflow);
        Some(self.record(placement, landing))
    }

    /// Places the next piece where told. None when the game is over.
    ///
    /// A placement that loses ends the game and scores nothing.
    ///
    /// # Panics
    /// If the placement is not [valid](Placement::is_valid) for the piece.
    ///
    /// ```
    /// use dropwise_core::{Game, Placement, Rules};
    /// let mut game = Game::new(Rules::default(), 42, 0);
    /// let step = game.place(Placement { orientation: 0, column: 4 }).unwrap();
    /// assert_eq!(step.placement.column, 4);
    /// assert!(game.well().heights()[4] > 0);
    /// ```
    pub fn place(&mut self, placement: Placement) -> Option<Move> {
        if self.over {
            return None;
        }
        self.fill(0);
        if self.queued == 0 {
            self.over = true;
            return None;
        }
        let landing = self.well.drop(self.queue[0], placement, self.rules.overflow);
        Some(self.record(placement, landing))
    }

    /// Takes note of a piece that was dropped.
    #[inline]
    fn record(&mut self, placement: Placement, landing: Landing) -> Move {
        let piece = self.queue[0];
        self.queue.rotate_left(1);
        self.queued -= 1;
        self.pieces += 1;
        self.digest = digest_word(self.digest, code(piece, placement).into());
        if landing.loses {
            self.over = true;
        } else {
            self.lines += u64::from(landing.lines);
        }
        Move { piece, placement, landing }
    }

    /// Plays until the game is over or this many pieces have been placed in all.
    ///
    /// ```
    /// use dropwise_core::{Controller, Game, Player, Rules};
    /// let controller = Controller::new(Player::known("bcts").unwrap());
    /// let [mut one, mut two] = [0, 1].map(|index| Game::new(Rules::default(), 42, index));
    /// one.play(&controller, 1000);
    /// two.play(&controller, 1000);
    /// assert_eq!(one.pieces(), 1000);
    /// assert_ne!(one.digest(), two.digest(), "another game");
    /// ```
    pub fn play(&mut self, controller: &Controller, pieces: u64) {
        while self.pieces < pieces && self.advance(controller).is_some() {}
    }

    fn draw(&mut self) -> Option<Piece> {
        match self.rules.pieces {
            PieceSource::Uniform => Some(Piece::ALL[self.rng.below(Piece::NUM as u32)]),
            PieceSource::Hard(times) => {
                const EASY: [Piece; 5] = [Piece::I, Piece::O, Piece::T, Piece::J, Piece::L];
                let times = usize::from(times);
                let drawn = self.rng.below((EASY.len() + 2 * times) as u32);
                let easy = EASY.get(drawn).copied();
                Some(easy.unwrap_or(if drawn < EASY.len() + times { Piece::S } else { Piece::Z }))
            }
            PieceSource::Bag => {
                if self.bag_left == 0 {
                    self.bag = Piece::ALL;
                    self.bag_left = Piece::NUM;
                }
                let drawn = self.rng.below(self.bag_left as u32);
                self.bag_left -= 1;
                self.bag.swap(drawn, self.bag_left);
                Some(self.bag[self.bag_left])
            }
            PieceSource::List(pieces) => {
                let piece = pieces.get(self.listed).copied();
                self.listed += 1;
                piece
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `derive_seed(own, word)` is `mix(mix(own + GOLDEN) ^ spice(word))`, and `mix` can be undone. If both words of a
    /// usual game and of one kept apart were equal, then so were `a ^ spice(0)` and `b ^ spice(2)`, and `a ^ spice(1)`
    /// and `b ^ spice(3)`, whatever `a` and `b` their own seeds give; so `spice(0) ^ spice(1)` would be
    /// `spice(2) ^ spice(3)`.
    #[test]
    fn games_kept_apart_start_as_no_usual_game_does() {
        const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
        let spice = |word: u64| mix(word.wrapping_mul(GOLDEN).wrapping_add(1));
        for (own, word) in [(0, 0), (1, 3), (u64::MAX, 2)] {
            assert_eq!(derive_seed(own, word), mix(mix(own.wrapping_add(GOLDEN)) ^ spice(word)));
        }
        assert_ne!(spice(USUAL[0]) ^ spice(USUAL[1]), spice(APART[0]) ^ spice(APART[1]));
    }

    #[test]
    fn mixing_can_be_undone() {
        // The inverses of the two odd factors, and of a shift by more than a third of the word.
        let unshift = |x: u64, by: u32| x ^ x >> by ^ x >> (2 * by);
        let unmix = |mut x: u64| {
            x = unshift(x, 31).wrapping_mul(0x3196_42b2_d24d_8ec3);
            x = unshift(x, 27).wrapping_mul(0x96de_1b17_3f11_9089);
            unshift(x, 30)
        };
        for x in (0..1000).map(|i| derive_seed(i, 7)).chain([0, 1, u64::MAX]) {
            assert_eq!(unmix(mix(x)), x);
        }
    }
}
