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
//! A game that goes by a [book](dropwise_core::book) leaves its seat while its pile is low, for the lane of an
//! [octet](dropwise_core::octet) that belongs to the seat. There it plays on as long as the book knows what to do. What it
//! does not know it waits for like the others, and the book is told.

use std::ops::ControlFlow;

use dropwise_core::book::Shelf;
use dropwise_core::engine::{Best, Engine, Judgement, LOW_PILE, best_each, best_low};
use dropwise_core::low::LowWell;
use dropwise_core::octet::{Kernel, LANES, Octet, lanes};
use dropwise_core::well::MAX_HEIGHT;
use dropwise_core::{Controller, Game, Piece, Placement, Well};

/// With so many games in play some queue is as good as always long enough.
pub const PLENTY: usize = 512;

/// No engine serves more boards at once.
const MOST: usize = 32;

/// What is played: games to take up, when to leave them, and what becomes of them. Whoever gives a game a number
/// finds it again by that.
pub trait Bill<'a> {
    /// The next game to take up, its number and who plays it. Asked again whenever there is room.
    fn next(&mut self) -> Option<(usize, &'a Controller, Game<'a>)>;

    /// The books that games go by, if there are any.
    fn shelf(&self) -> Option<Shelf<'a>> {
        None
    }

    /// Which of them a game goes by, and how far.
    fn course(&self, _number: usize) -> Option<Course> {
        None
    }

    /// After each piece that was not placed by a book: whether the game is to be played on.
    fn goes_on(&mut self, number: usize, game: &Game<'a>) -> bool;

    /// So many pieces were placed by books. Breaks if all games in play are to be left.
    fn by_book(&mut self, _pieces: u64) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

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

/// How a game goes by a book.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Course {
    /// Which one on the shelf.
    pub book: u8,
    /// From so many pieces on.
    pub from: u64,
    /// It is left when so many are placed.
    pub until: u64,
}

/// Plays all games of a bill, so many of them at a time.
pub fn play<'a>(bill: &mut impl Bill<'a>, most: usize) {
    let books = bill.shelf().and_then(|shelf| Some((Kernel::new()?, shelf)));
    Table {
        bill,
        most,
        seats: vec![],
        free: vec![],
        books,
        octets: vec![],
        back: vec![],
        queues: Default::default(),
        is_full: false,
    }
    .play();
}

struct Seat<'a> {
    number: usize,
    controller: &'a Controller,
    /// Behind while the seat's lane plays.
    game: Game<'a>,
    course: Option<Course>,
    in_lane: bool,
}

/// Who waits together: in lanes, and in seats with low piles and with high ones.
#[derive(Clone, Copy)]
enum Wait {
    Lane,
    Low,
    High,
}
const WAITS: [Wait; 3] = [Wait::Lane, Wait::Low, Wait::High];

struct Table<'t, 'a, B> {
    bill: &'t mut B,
    most: usize,
    seats: Vec<Option<Seat<'a>>>,
    free: Vec<usize>,
    books: Option<(Kernel, Shelf<'a>)>,
    /// The lanes of the seats, in their order.
    octets: Vec<Octet>,
    /// The seats whose games come back from their lanes.
    back: Vec<usize>,
    /// The seats that wait for each piece.
    queues: [[Vec<usize>; Piece::NUM]; WAITS.len()],
    /// Whether some queue is long enough to be served.
    is_full: bool,
}

impl<'a, B: Bill<'a>> Table<'_, 'a, B> {
    fn play(&mut self) {
        let mut seats = [0; MOST];
        loop {
            self.fill();
            if self.bill.is_time() {
                for seat in 0..self.seats.len() {
                    self.bring_back(seat);
                }
                self.bill.look(self.seats.iter().flatten().map(|seat| (seat.number, &seat.game)));
            }
            if !self.is_full && self.go_by_books() {
                continue;
            }
            let lengths = self.queues.iter().flatten().map(|queue| queue.len().min(MOST));
            let longest = lengths.enumerate().max_by_key(|&(_, len)| len);
            let Some((queue, len @ 1..)) = longest else { return };
            self.is_full = len == MOST;
            if !self.is_full && self.octets.iter().any(|octet| octet.awake() != 0) {
                continue;
            }
            let (wait, piece) = (WAITS[queue / Piece::NUM], Piece::ALL[queue % Piece::NUM]);
            let queue = &mut self.queues[wait as usize][piece as usize];
            let seats = &mut seats[..len];
            seats.copy_from_slice(&queue[queue.len() - len..]);
            queue.truncate(queue.len() - len);
            match wait {
                Wait::Lane => self.serve_lanes(piece, seats),
                Wait::Low | Wait::High => self.serve(piece, seats),
            }
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
            if self.books.is_some() {
                self.octets.resize(self.seats.len().div_ceil(LANES), Octet::new());
            }
            let course = self.bill.course(number).filter(|_| self.books.is_some());
            self.seats[seat] = Some(Seat { number, controller, game, course, in_lane: false });
            self.wait(seat);
        }
    }

    /// Lets a game go on by its book, or wait for its next piece. What an engine alone does not decide is played at once.
    fn wait(&mut self, seat: usize) {
        let Some(Seat { number, controller, game, course, in_lane }) = &mut self.seats[seat] else { return };
        loop {
            if let Some(course) = course.filter(|course| game.pieces() >= course.from) {
                if self.octets[seat / LANES].take_up(seat % LANES, game, course.book, course.until) {
                    *in_lane = true;
                    return;
                }
            }
            if controller.is_plain(game.well(), game.rules().overflow) {
                break;
            }
            if game.step(controller).is_none() || !self.bill.goes_on(*number, game) {
                return self.leave(seat);
            }
        }
        if let Some(&piece) = game.upcoming(0).first() {
            let wait = if game.well().max_height() > LOW_PILE { Wait::High } else { Wait::Low };
            self.line_up(seat, wait, piece);
        } else {
            // The list of pieces is used up.
            game.follow(controller, None);
            self.leave(seat);
        }
    }

    fn line_up(&mut self, seat: usize, wait: Wait, piece: Piece) {
        let queue = &mut self.queues[wait as usize][piece as usize];
        queue.push(seat);
        self.is_full |= queue.len() >= MOST;
    }

    /// Lets all lanes that are awake place a piece; false if none is.
    fn go_by_books(&mut self) -> bool {
        let Some((kernel, shelf)) = self.books else { return false };
        let (mut pieces, mut is_any) = (0, false);
        for (octet, first) in self.octets.iter_mut().zip((0..).step_by(LANES)) {
            if octet.awake() == 0 {
                continue;
            }
            is_any = true;
            let stepped = kernel.step(octet, shelf);
            pieces += u64::from(stepped.placed.count_ones());
            for lane in lanes(stepped.unknown) {
                let queue = &mut self.queues[Wait::Lane as usize][octet.piece(lane) as usize];
                queue.push(first + lane);
                self.is_full |= queue.len() >= MOST;
            }
            self.back.extend(lanes(stepped.unfit | stepped.spent).map(|lane| first + lane));
        }
        while let Some(seat) = self.back.pop() {
            self.come_back(seat);
        }
        if is_any && self.bill.by_book(pieces).is_break() {
            self.queues.iter_mut().flatten().for_each(Vec::clear);
            for seat in 0..self.seats.len() {
                self.leave(seat);
            }
        }
        is_any
    }

    /// Goes on with a game whose lane cannot.
    fn come_back(&mut self, seat: usize) {
        self.bring_back(seat);
        let chosen = self.octets[seat / LANES].chosen(seat % LANES);
        let Some(Seat { number, controller, game, course, in_lane }) = &mut self.seats[seat] else { return };
        *in_lane = false;
        let goes_on = match chosen {
            Some(placement) => {
                game.follow(controller, Some(placement));
                self.bill.goes_on(*number, game)
            }
            None => course.is_some_and(|course| game.pieces() < course.until),
        };
        if goes_on {
            self.wait(seat);
        } else {
            self.leave(seat);
        }
    }

    /// Brings a game to where its lane is.
    fn bring_back(&mut self, seat: usize) {
        if let Some(Seat { game, in_lane: true, .. }) = &mut self.seats[seat] {
            self.octets[seat / LANES].bring_back(seat % LANES, game);
        }
    }

    /// Tells the lanes of some seats, and their books, what to do with the piece.
    fn serve_lanes(&mut self, piece: Piece, seats: &[usize]) {
        let Some((_, shelf)) = self.books else { return };
        let Some(first) = self.seats[seats[0]].as_ref().map(|seat| seat.controller.engine()) else { return };
        let mut boards = [(first, LowWell::EMPTY); MOST];
        for (&seat, board) in seats.iter().zip(&mut boards) {
            if let Some(Seat { controller, .. }) = &self.seats[seat] {
                *board = (controller.engine(), self.octets[seat / LANES].pile(seat % LANES));
            }
        }
        let mut best = [Placement { orientation: 0, column: 0 }; MOST];
        let (boards, best) = (&boards[..seats.len()], &mut best[..seats.len()]);
        if seats.len() < few(first) {
            for (best, (engine, pile)) in best.iter_mut().zip(boards) {
                *best = engine.best_low(*pile, piece);
            }
        } else {
            best_low(boards, piece, best);
        }
        for (&seat, &mut placement) in seats.iter().zip(best) {
            self.octets[seat / LANES].tell(seat % LANES, placement, shelf);
        }
    }

    /// Places the piece in the games of some seats.
    fn serve(&mut self, piece: Piece, seats: &[usize]) {
        let mut best = [None; MOST];
        let is_served = self.choose(piece, seats, &mut best);
        for (&seat, best) in seats.iter().zip(best) {
            let Some(Seat { number, controller, game, .. }) = &mut self.seats[seat] else { continue };
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
        self.bring_back(seat);
        if let Some(Seat { number, game, in_lane, .. }) = self.seats[seat].take() {
            if in_lane {
                self.octets[seat / LANES].put_to_sleep(seat % LANES);
            }
            self.free.push(seat);
            self.bill.end(number, game);
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
