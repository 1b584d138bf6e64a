//! Plays many games in one thread, side by side.
//!
//! A game waits for its next piece with all others that wait for the same one, and when enough have come together the
//! [engine](dropwise_core::engine) serves them at once. Every game draws its own pieces, so who waits how long changes
//! nothing: each is, move for move, the one that [`Game::step`] plays.
//!
//! ```text
//!   games      I:  #3 #17 #40               the fullest queue is served next:
//!   waiting    O:  #1 #5 #9 ... 32 of them  <- these, each to wait again for its next piece
//!   for        T:  #2 #11
//! ```
//!
//! Before that, a game whose player has a [book](crate::book) looks up whether the choice was made before. It has the page
//! fetched from memory, lets others go first, and looks when the page has come.

use std::collections::VecDeque;

use dropwise_core::engine::{Best, Engine, Judgement, LOW_PILE, best_each};
use dropwise_core::low::LowWell;
use dropwise_core::well::MAX_HEIGHT;
use dropwise_core::{Controller, Game, Piece, Placement, Well};

use crate::book::{Book, Key};

/// With so many games in play some queue is as good as always long enough.
pub const PLENTY: usize = 512;

/// No engine serves more boards at once.
const MOST: usize = 32;

/// While so many others look something up, a page comes from memory.
const AHEAD: usize = 32;

/// So many look something up one after the other.
const LOOKS: usize = 48;

/// What is played: games to take up, when to leave them, and what becomes of them. Whoever gives a game a number
/// finds it again by that.
pub trait Bill<'a> {
    /// The next game to take up, its number and who plays it. Asked again whenever there is room.
    fn next(&mut self) -> Option<(usize, &'a Controller, Game<'a>)>;

    /// What the choices of a game's player are looked up in, where it has a book that [serves](Book::serves).
    fn book(&self, _number: usize) -> Option<&'a Book> {
        None
    }

    /// After each piece: whether the game, its pile so high, is to be played on. [`Game::well`] may be behind.
    fn goes_on(&mut self, number: usize, game: &Game<'a>, height: usize) -> bool;

    /// A game that was left, or that is [over](Game::is_over).
    fn end(&mut self, number: usize, game: Game<'a>);

    /// Whether it is time to [look](Bill::look) at all games in play. Asked before each round of service.
    fn is_time(&mut self) -> bool {
        false
    }

    /// All games in play, each between two pieces.
    fn look<'g>(&mut self, games: impl Iterator<Item = (usize, &'g Game<'a>)>)
    where
        'a: 'g,
    {
        games.for_each(drop);
    }
}

/// Plays all games of a bill, so many of them at a time.
pub fn play<'a>(bill: &mut impl Bill<'a>, most: usize) {
    Table { bill, most, seats: vec![], free: vec![], looking: VecDeque::new(), wanted: vec![], queues: Default::default(), is_full: false }.play();
}

struct Seat<'a> {
    number: usize,
    controller: &'a Controller,
    game: Game<'a>,
    book: Option<&'a Book>,
    /// A low board whose choices stand in the book. The game's own board is behind then.
    pile: Option<LowWell>,
}

struct Table<'t, 'a, B> {
    bill: &'t mut B,
    most: usize,
    seats: Vec<Option<Seat<'a>>>,
    free: Vec<usize>,
    /// The seats that wait for a page of their books, and when it has come look there.
    looking: VecDeque<usize>,
    /// The pages that are to be fetched for them: in one go, as a processor that waits for an address goes on with what
    /// comes next, but not far.
    wanted: Vec<(&'a Book, Key)>,
    /// The seats that wait for each piece; those with low piles and those with high ones apart.
    queues: [[Vec<usize>; Piece::NUM]; 2],
    /// Whether some queue is long enough to be served.
    is_full: bool,
}

impl<'a, B: Bill<'a>> Table<'_, 'a, B> {
    fn play(&mut self) {
        let mut seats = [0; MOST];
        loop {
            self.fill();
            if self.bill.is_time() {
                self.seats.iter_mut().flatten().for_each(Seat::bring_back);
                self.bill.look(self.seats.iter().flatten().map(|seat| (seat.number, &seat.game)));
            }
            for (book, key) in self.wanted.drain(..) {
                book.fetch(key);
            }
            if !self.is_full && self.looking.len() > AHEAD {
                self.look_up((self.looking.len() / 2).min(LOOKS));
                continue;
            }
            let lengths = self.queues.iter().flatten().map(|queue| queue.len().min(MOST));
            let longest = lengths.enumerate().max_by_key(|&(_, len)| len);
            let Some((queue, len @ 1..)) = longest else {
                if self.looking.is_empty() {
                    return;
                }
                self.look_up(1);
                continue;
            };
            let (pile, piece) = (queue / Piece::NUM, Piece::ALL[queue % Piece::NUM]);
            let queue = &mut self.queues[pile][piece as usize];
            let seats = &mut seats[..len];
            seats.copy_from_slice(&queue[queue.len() - len..]);
            queue.truncate(queue.len() - len);
            self.is_full = false;
            self.serve(piece, seats);
        }
    }

    /// Takes up games while there is room.
    fn fill(&mut self) {
        while self.seats.len() < self.most || !self.free.is_empty() {
            let Some((number, controller, game)) = self.bill.next() else { return };
            let seat = self.free.pop().unwrap_or_else(|| {
                self.seats.push(None);
                self.seats.len() - 1
            });
            let book = self.bill.book(number);
            self.seats[seat] = Some(Seat { number, controller, game, book, pile: None });
            self.wait(seat);
        }
    }

    /// Lets a game wait for its next piece. What an engine alone does not decide is played at once.
    fn wait(&mut self, seat: usize) {
        let Some(Seat { number, controller, game, book, pile }) = &mut self.seats[seat] else { return };
        if let Some(book) = book {
            *pile = LowWell::of(game.well());
            if let Some(pile) = *pile {
                if let Some(&piece) = game.upcoming(0).first() {
                    self.wanted.push((book, Key::of(pile, piece)));
                    return self.looking.push_back(seat);
                }
            }
        }
        while !controller.is_plain(game.well(), game.rules().overflow) {
            let goes_on = game.step(controller).is_some();
            if !goes_on || !self.bill.goes_on(*number, game, game.well().max_height()) {
                return self.leave(seat);
            }
        }
        if let Some(&piece) = game.upcoming(0).first() {
            let high = usize::from(game.well().max_height() > LOW_PILE);
            self.line_up(seat, high, piece);
        } else {
            // The list of pieces is used up.
            game.follow(controller, None);
            self.leave(seat);
        }
    }

    fn line_up(&mut self, seat: usize, high: usize, piece: Piece) {
        let queue = &mut self.queues[high][piece as usize];
        queue.push(seat);
        self.is_full |= queue.len() >= MOST;
    }

    /// Lets games look into their books, those that have waited longest first, and play on from there if the choice is
    /// known. What is not is left to the engine.
    fn look_up(&mut self, most: usize) {
        // Whether it is known cannot be foretold. So first all look, without a branch, and then those who know go on.
        let mut known = [(0, 0); LOOKS];
        let mut unknown = [0; LOOKS];
        let (mut knowing, mut wondering) = (0, 0);
        for seat in self.looking.drain(..most) {
            let Some(Seat { game, book: Some(book), pile: Some(pile), .. }) = &mut self.seats[seat] else {
                continue;
            };
            let piece = game.upcoming(0)[0];
            let code = book.code(Key::of(*pile, piece), piece);
            known[knowing] = (seat, code);
            unknown[wondering] = seat;
            knowing += usize::from(code != 0);
            wondering += usize::from(code == 0);
        }
        for &(seat, code) in &known[..knowing] {
            if let Some(placement) = Book::placement(code) {
                self.go_on(seat, placement);
            }
        }
        for &seat in &unknown[..wondering] {
            let Some(Seat { game, pile: Some(pile), .. }) = &mut self.seats[seat] else { continue };
            game.set_well(pile.well(game.rules().height()));
            let piece = game.upcoming(0)[0];
            self.line_up(seat, 0, piece);
        }
    }

    /// Places the piece of a game that has a pile, and lets it wait for the next one.
    fn go_on(&mut self, seat: usize, placement: Placement) {
        let Some(Seat { number, controller, game, book: Some(book), pile: Some(pile) }) = &mut self.seats[seat] else {
            return;
        };
        let Some(after) = game.follow_low(*pile, placement) else {
            game.set_well(pile.well(game.rules().height()));
            game.follow(controller, Some(placement));
            return if self.bill.goes_on(*number, game, game.well().max_height()) {
                self.wait(seat)
            } else {
                self.leave(seat)
            };
        };
        *pile = after;
        if !self.bill.goes_on(*number, game, after.height()) {
            return self.leave(seat);
        }
        if let Some(&piece) = game.upcoming(0).first() {
            self.wanted.push((book, Key::of(after, piece)));
            self.looking.push_back(seat);
        } else {
            game.set_well(after.well(game.rules().height()));
            self.wait(seat);
        }
    }

    /// Places the piece in the games of some seats.
    fn serve(&mut self, piece: Piece, seats: &[usize]) {
        let mut best = [None; MOST];
        let is_served = self.choose(piece, seats, &mut best);
        for (&seat, best) in seats.iter().zip(best) {
            let Some(Seat { number, controller, game, book, pile }) = &mut self.seats[seat] else { continue };
            let step = if is_served {
                if let (Some(book), Some(pile), Some(best)) = (book, *pile, best) {
                    book.note(Key::of(pile, piece), piece, best.placement);
                    self.go_on(seat, best.placement);
                    continue;
                }
                game.follow(controller, best.map(|best: Best| best.placement))
            } else {
                game.step(controller)
            };
            if step.is_some() && self.bill.goes_on(*number, game, game.well().max_height()) {
                self.wait(seat);
            } else {
                self.leave(seat);
            }
        }
    }

    /// The best placements, unless it is better to let the games take their steps one by one.
    fn choose(&self, piece: Piece, seats: &[usize], best: &mut [Option<Best>; MOST]) -> bool {
        let first = self.seats[seats[0]].as_ref().map(|seat| seat.controller.engine());
        let Some(first) = first else { return false };
        if seats.len() < few(first) {
            return false;
        }
        let mut boards = [(first, &EMPTY); MOST];
        for (&seat, board) in seats.iter().zip(&mut boards) {
            if let Some(Seat { controller, game, .. }) = &self.seats[seat] {
                *board = (controller.engine(), game.well());
            }
        }
        best_each(&boards[..seats.len()], piece, Judgement::default(), &mut best[..seats.len()]);
        true
    }

    fn leave(&mut self, seat: usize) {
        if let Some(mut seat_left) = self.seats[seat].take() {
            seat_left.bring_back();
            self.free.push(seat);
            self.bill.end(seat_left.number, seat_left.game);
        }
    }
}

impl Seat<'_> {
    /// Brings the game's board to where the pile is.
    fn bring_back(&mut self) {
        if let Some(pile) = self.pile {
            self.game.set_well(pile.well(self.game.rules().height()));
        }
    }
}

/// An engine that serves many boards at once takes as long for a few; where the one for single boards is slow, it is
/// worth while for fewer.
fn few(engine: &Engine) -> usize {
    match (engine.boards_at_once(), engine.name()) {
        (1, _) => usize::MAX,
        (_, "vector") => 7,
        _ => 3,
    }
}

/// Stands where no board is.
static EMPTY: Well = match Well::new(MAX_HEIGHT) {
    Ok(empty) => empty,
    Err(_) => unreachable!(),
};
