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

use dropwise_core::engine::{Best, Engine, Judgement, LOW_PILE, best_each};
use dropwise_core::well::MAX_HEIGHT;
use dropwise_core::{Controller, Game, Piece, Well};

/// With so many games in play some queue is as good as always long enough.
pub const PLENTY: usize = 320;

/// No engine serves more boards at once.
const MOST: usize = 32;

/// What is played: games to take up, when to leave them, and what becomes of them. Whoever gives a game a number
/// finds it again by that.
pub trait Bill<'a> {
    /// The next game to take up, its number and who plays it. Asked again whenever there is room.
    fn next(&mut self) -> Option<(usize, &'a Controller, Game<'a>)>;

    /// After each piece: whether the game is to be played on.
    fn goes_on(&mut self, number: usize, game: &Game<'a>) -> bool;

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
    Table { bill, most, seats: vec![], free: vec![], queues: Default::default() }.play();
}

struct Seat<'a> {
    number: usize,
    controller: &'a Controller,
    game: Game<'a>,
}

struct Table<'t, 'a, B> {
    bill: &'t mut B,
    most: usize,
    seats: Vec<Option<Seat<'a>>>,
    free: Vec<usize>,
    /// The seats that wait for each piece; those with low piles and those with high ones apart.
    queues: [[Vec<usize>; Piece::NUM]; 2],
}

impl<'a, B: Bill<'a>> Table<'_, 'a, B> {
    fn play(&mut self) {
        let mut seats = [0; MOST];
        loop {
            self.fill();
            if self.bill.is_time() {
                self.bill.look(self.seats.iter().flatten().map(|seat| (seat.number, &seat.game)));
            }
            let lengths = self.queues.iter().flatten().map(|queue| queue.len().min(MOST));
            let longest = lengths.enumerate().max_by_key(|&(_, len)| len);
            let Some((queue, len @ 1..)) = longest else { return };
            let (pile, piece) = (queue / Piece::NUM, Piece::ALL[queue % Piece::NUM]);
            let queue = &mut self.queues[pile][piece as usize];
            let seats = &mut seats[..len];
            seats.copy_from_slice(&queue[queue.len() - len..]);
            queue.truncate(queue.len() - len);
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
            self.seats[seat] = Some(Seat { number, controller, game });
            self.wait(seat);
        }
    }

    /// Lets a game wait for its next piece. What an engine alone does not decide is played at once.
    fn wait(&mut self, seat: usize) {
        let Some(Seat { number, controller, game }) = &mut self.seats[seat] else { return };
        while !controller.is_plain(game.well(), game.rules().overflow) {
            if game.step(controller).is_none() || !self.bill.goes_on(*number, game) {
                return self.leave(seat);
            }
        }
        if let Some(&piece) = game.upcoming(0).first() {
            let pile = usize::from(game.well().max_height() > LOW_PILE);
            self.queues[pile][piece as usize].push(seat);
        } else {
            // The list of pieces is used up.
            game.follow(controller, None);
            self.leave(seat);
        }
    }

    /// Places the piece in the games of some seats.
    fn serve(&mut self, piece: Piece, seats: &[usize]) {
        let mut best = [None; MOST];
        let is_served = self.choose(piece, seats, &mut best);
        for (&seat, best) in seats.iter().zip(best) {
            let Some(Seat { number, controller, game }) = &mut self.seats[seat] else { continue };
            let step = if is_served {
                game.follow(controller, best.map(|best: Best| best.placement))
            } else {
                game.step(controller)
            };
            if step.is_some() && self.bill.goes_on(*number, game) {
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
        if let Some(Seat { number, game, .. }) = self.seats[seat].take() {
            self.free.push(seat);
            self.bill.end(number, game);
        }
    }
}

/// An engine that serves many boards at once takes as long for a few; where the one for single boards is slow, it is
/// worth while for fewer. (`host cluster record` measures the pace with 1 to 320 games: with 7 in place of 20 a core is
/// at 32 games slower than with one alone.)
fn few(engine: &Engine) -> usize {
    match (engine.boards_at_once(), engine.name()) {
        (1, _) => usize::MAX,
        (_, "vector") => 20,
        _ => 3,
    }
}

/// Stands where no board is.
static EMPTY: Well = match Well::new(MAX_HEIGHT) {
    Ok(empty) => empty,
    Err(_) => unreachable!(),
};
