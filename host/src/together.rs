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
//! A game that goes by a [book](dropwise_core::book) leaves its seat while its pile is low. As a
//! [runner](dropwise_core::octet::Runner) in a lane of an octet it plays on as long as the book knows what to do. For what
//! it does not know it waits like the others; the book is told, and it waits for a lane.

use std::collections::VecDeque;
use std::ops::ControlFlow;

use dropwise_core::book::Shelf;
use dropwise_core::engine::{Best, Board, Engine, Judgement, LOW_PILE, best_each};
use dropwise_core::low::LowWell;
use dropwise_core::octet::{Kernel, Octet, Runner, lanes};
use dropwise_core::{Controller, Game, Piece};

/// With so many games in play some queue is as good as always long enough.
pub const PLENTY: usize = 512;

/// How many boards an engine serves at once at the most: with low piles, and with high ones.
const AT_ONCE: [usize; 2] = [MOST, MOST / 2];
const MOST: usize = 32;

/// With so many games in play enough go on by their books while queues become full.
const PLENTY_BY_BOOK: usize = 256;

/// So many octets take turns: enough for memory to answer, few enough to stay near the processor.
const OCTETS: usize = 16;

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
        octets: if books.is_some() { vec![Octet::new(); OCTETS] } else { vec![] },
        ready: VecDeque::new(),
        back: vec![],
        queues: Default::default(),
    }
    .play();
}

struct Seat<'a> {
    number: usize,
    controller: &'a Controller,
    /// [`time_alone`].
    alone: usize,
    /// Behind while there is a runner.
    game: Game<'a>,
    course: Option<Course>,
    /// Behind while it is in a lane.
    runner: Option<Runner>,
}

struct Table<'t, 'a, B> {
    bill: &'t mut B,
    most: usize,
    seats: Vec<Option<Seat<'a>>>,
    free: Vec<usize>,
    books: Option<(Kernel, Shelf<'a>)>,
    /// In which runners run, by the numbers of their seats.
    octets: Vec<Octet>,
    /// The seats whose runners wait for a lane.
    ready: VecDeque<usize>,
    /// The seats whose runners cannot go on.
    back: Vec<usize>,
    /// The seats that wait for each piece; those with low piles and those with high ones apart.
    queues: [[Vec<usize>; Piece::NUM]; 2],
}

impl<'a, B: Bill<'a>> Table<'_, 'a, B> {
    fn play(&mut self) {
        let mut seats = [0; MOST];
        loop {
            self.fill();
            if self.bill.is_time() {
                self.bring_all_back();
                self.bill.look(self.seats.iter().flatten().map(|seat| (seat.number, &seat.game)));
            }
            let (pile, piece, len) = self.longest();
            if len < self.enough(pile) && self.go_by_books() {
                continue;
            }
            if len == 0 {
                return;
            }
            let queue = &mut self.queues[pile][piece as usize];
            let seats = &mut seats[..len];
            seats.copy_from_slice(&queue[queue.len() - len..]);
            queue.truncate(queue.len() - len);
            self.serve(piece, seats);
        }
    }

    /// The queue that is served next, and how many of it.
    fn longest(&self) -> (usize, Piece, usize) {
        let mut longest = (0, Piece::I, 0);
        let mut most = 0;
        for (pile, (queues, at_once)) in self.queues.iter().zip(AT_ONCE).enumerate() {
            for (queue, piece) in queues.iter().zip(Piece::ALL) {
                let len = queue.len().min(at_once);
                if len * MOST / at_once > most {
                    (longest, most) = ((pile, piece, len), len * MOST / at_once);
                }
            }
        }
        longest
    }

    /// A queue so long is served before others go on by their books. Where there are few games, too many would wait for
    /// full ones.
    fn enough(&self, pile: usize) -> usize {
        let in_play = self.seats.len() - self.free.len();
        (in_play * AT_ONCE[pile] / PLENTY_BY_BOOK).clamp(1, AT_ONCE[pile])
    }

    /// Takes up games while there is room.
    fn fill(&mut self) {
        while self.seats.len() < self.most || !self.free.is_empty() {
            let Some((number, controller, game)) = self.bill.next() else { return };
            let seat = self.free.pop().unwrap_or_else(|| {
                self.seats.push(None);
                self.seats.len() - 1
            });
            let course = self.bill.course(number).filter(|_| self.books.is_some());
            let alone = time_alone(controller.engine());
            self.seats[seat] = Some(Seat { number, controller, alone, game, course, runner: None });
            self.wait(seat);
        }
    }

    /// Lets a game go on by its book, or wait for its next piece. What an engine alone does not decide is played at once.
    fn wait(&mut self, seat: usize) {
        let Some(Seat { number, controller, game, course, runner, .. }) = &mut self.seats[seat] else {
            return;
        };
        loop {
            if let Some(course) = course.filter(|course| game.pieces() >= course.from)
                && let Some((kernel, shelf)) = self.books
                && let Some(taken_up) = Runner::new(game, course.book, course.until)
            {
                kernel.fetch(&taken_up, shelf);
                *runner = Some(taken_up);
                return self.ready.push_back(seat);
            }
            if controller.is_plain(game.well(), game.rules().overflow) {
                break;
            }
            if game.step(controller).is_none() || !self.bill.goes_on(*number, game) {
                return self.leave(seat);
            }
        }
        if let Some(&piece) = game.upcoming(0).first() {
            let high = usize::from(game.well().max_height() > LOW_PILE);
            self.queues[high][piece as usize].push(seat);
        } else {
            // The list of pieces is used up.
            game.follow(controller, None);
            self.leave(seat);
        }
    }

    /// Lets all runners that are in lanes place a piece; false if there are none.
    fn go_by_books(&mut self) -> bool {
        let Some((kernel, shelf)) = self.books else { return false };
        let (mut pieces, mut is_any) = (0, false);
        for octet in &mut self.octets {
            if octet.running() != 0 {
                is_any = true;
                let stepped = kernel.step(octet, shelf);
                pieces += u64::from(stepped.placed.count_ones());
                for lane in lanes(stepped.stopped()) {
                    let (seat, runner) = octet.get(lane);
                    let seat = seat as usize;
                    if stepped.unknown >> lane & 1 != 0 {
                        self.queues[0][runner.piece() as usize].push(seat);
                    } else {
                        self.back.push(seat);
                    }
                    if let Some(seat) = &mut self.seats[seat] {
                        seat.runner = Some(runner);
                    }
                }
            }
            // Long before it steps again: what was written word by word cannot be loaded as a vector at once.
            for lane in lanes(!octet.running()) {
                let Some(seat) = self.ready.pop_front() else { break };
                if let Some(Seat { runner: Some(runner), .. }) = &self.seats[seat] {
                    octet.put(lane, seat as u32, runner);
                    is_any = true;
                }
            }
        }
        while let Some(seat) = self.back.pop() {
            self.come_back(seat);
        }
        if is_any && self.bill.by_book(pieces).is_break() {
            self.leave_all();
        }
        is_any
    }

    /// Goes on with a game whose runner cannot.
    fn come_back(&mut self, seat: usize) {
        let Some(Seat { number, controller, game, course, runner, .. }) = &mut self.seats[seat] else {
            return;
        };
        let Some(mut runner) = runner.take() else { return };
        runner.bring_back(game);
        let goes_on = match runner.chosen() {
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

    /// Brings all games to where their runners are.
    fn bring_all_back(&mut self) {
        for octet in &mut self.octets {
            for lane in lanes(octet.running()) {
                let (number, mut runner) = octet.get(lane);
                if let Some(seat) = &mut self.seats[number as usize] {
                    runner.bring_back(&mut seat.game);
                    octet.put(lane, number, &runner);
                    seat.runner = Some(runner);
                }
            }
        }
        for Seat { game, runner, .. } in self.seats.iter_mut().flatten() {
            if let Some(runner) = runner {
                runner.bring_back(game);
            }
        }
    }

    /// Places the piece in the games of some seats, or tells their runners where to.
    fn serve(&mut self, piece: Piece, seats: &[usize]) {
        let mut best = [None; MOST];
        let served = self.choose(piece, seats, &mut best);
        for (place, (&seat, best)) in seats.iter().zip(best).enumerate() {
            let Some(Seat { number, controller, game, runner, .. }) = &mut self.seats[seat] else { continue };
            let chosen = best.map(|best: Best| best.placement);
            if let Some((runner, (_, shelf))) = runner.as_mut().zip(self.books) {
                let chosen = chosen.or_else(|| {
                    let best =
                        Board::Low(runner.pile()).best(controller.engine(), piece, Judgement::default());
                    Some(best?.placement)
                });
                runner.tell(chosen.expect("on a low pile nothing loses"), shelf);
                self.ready.push_back(seat);
                continue;
            }
            let step = if served >> place & 1 != 0 {
                game.follow(controller, chosen)
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

    /// The best placements of those who are better served together, and a bit for each of them; the games of the others
    /// take their steps one by one.
    fn choose(&self, piece: Piece, seats: &[usize], best: &mut [Option<Best>; MOST]) -> u32 {
        let Some(first) = &self.seats[seats[0]] else { return 0 };
        let mut boards = [(first.controller.engine(), Board::Low(LowWell::EMPTY)); MOST];
        let (mut places, mut len) = ([0; MOST], 0);
        let (mut alone, mut served) = (0, 0);
        for (place, &seat) in seats.iter().enumerate() {
            let Some(seat) = &self.seats[seat] else { continue };
            if seat.alone == 0 {
                continue;
            }
            let board = if let Some((runner, (kernel, shelf))) = seat.runner.as_ref().zip(self.books) {
                // To be there when it is written to.
                kernel.fetch(runner, shelf);
                Board::Low(runner.pile())
            } else {
                Board::Well(seat.game.well())
            };
            (boards[len], places[len]) = ((seat.controller.engine(), board), place);
            len += 1;
            alone += seat.alone;
            served |= 1 << place;
        }
        if alone < TIME_TOGETHER {
            return 0;
        }
        best_each(&boards[..len], piece, Judgement::default(), &mut best[..len]);
        // None stands further on than its place, so the last can move first.
        for (i, &place) in places[..len].iter().enumerate().rev().take_while(|(i, place)| *i != **place) {
            best[place] = best[i].take();
        }
        served
    }

    fn leave(&mut self, seat: usize) {
        if let Some(Seat { number, game, .. }) = self.seats[seat].take() {
            self.free.push(seat);
            self.bill.end(number, game);
        }
    }

    fn leave_all(&mut self) {
        self.bring_all_back();
        self.octets.fill(Octet::new());
        self.ready.clear();
        self.queues.iter_mut().flatten().for_each(Vec::clear);
        for seat in 0..self.seats.len() {
            self.leave(seat);
        }
    }
}

/// An engine that serves many boards at once takes as long for a few, which is as long as it takes to serve so many alone
/// where that is fast. (`host cluster record` measures the pace with 1 to 320 games: with 7 in place of 20 a core is at 32
/// games slower than with one alone.)
const TIME_TOGETHER: usize = 20;

/// The time that it takes to serve a board alone, in the same unit; none for an engine that has no other way.
fn time_alone(engine: &Engine) -> usize {
    match (engine.boards_at_once(), engine.name()) {
        (1, _) => 0,
        (_, "vector") => 1,
        _ => TIME_TOGETHER,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library::Library;
    use dropwise_core::{Options, Overflow, Player, Rules};

    /// Games of some controllers and rules, by turns, until so many pieces are placed.
    struct Plan<'a> {
        kinds: &'a [(Controller, Rules<'a>)],
        library: Option<&'a Library>,
        games: std::vec::IntoIter<(usize, Game<'a>)>,
        limit: u64,
        /// Stops after so many by the book.
        stop: u64,
        by_book: u64,
        looks: usize,
        ended: Vec<(usize, Game<'a>)>,
    }

    impl<'a> Bill<'a> for Plan<'a> {
        fn next(&mut self) -> Option<(usize, &'a Controller, Game<'a>)> {
            let (number, game) = if self.by_book < self.stop { self.games.next()? } else { return None };
            Some((number, &self.kinds[number % self.kinds.len()].0, game))
        }

        fn shelf(&self) -> Option<Shelf<'a>> {
            self.library.map(Library::shelf)
        }

        fn course(&self, number: usize) -> Option<Course> {
            let (controller, rules) = &self.kinds[number % self.kinds.len()];
            let book = self.library?.book(controller, rules)?;
            Some(Course { book, from: number as u64 % 3 * 100, until: self.limit })
        }

        fn goes_on(&mut self, _number: usize, game: &Game<'a>) -> bool {
            !game.is_over() && game.pieces() < self.limit
        }

        fn by_book(&mut self, pieces: u64) -> ControlFlow<()> {
            self.by_book += pieces;
            if self.by_book < self.stop { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        }

        fn end(&mut self, number: usize, game: Game<'a>) {
            self.ended.push((number, game));
        }

        fn is_time(&mut self) -> bool {
            self.looks += 1;
            self.looks.is_multiple_of(5)
        }

        /// Each is one of its kind as it is after so many steps.
        fn look<'g>(&mut self, games: impl Iterator<Item = (usize, &'g Game<'a>)>)
        where
            'a: 'g,
        {
            for (number, game) in games.filter(|_| self.looks.is_multiple_of(500)) {
                let (controller, rules) = &self.kinds[number % self.kinds.len()];
                let mut twin = Game::new(*rules, 4, number as u64);
                twin.play(controller, game.pieces());
                assert_eq!((twin.digest(), twin.well()), (game.digest(), game.well()));
            }
        }
    }

    fn kinds() -> Vec<(Controller, Rules<'static>)> {
        let rules = |height| Rules::new(height).unwrap();
        let mut after = rules(10);
        after.overflow = Overflow::After;
        let of = |name, options| Controller::with_options(Player::known(name).unwrap(), options);
        let rescue = Options { rescue: Some(7), ..Options::default() };
        let allow_losing = Options { allow_losing: true, ..Options::default() };
        vec![
            (of("dt20", Options::default()), rules(20)),
            (of("dt20", allow_losing), rules(10)),
            (of("cs3243", Options::default()), rules(20)),
            (of("cs3243", rescue), rules(10)),
            (of("bcts", rescue), rules(12)),
            (of("bcts", Options::default()), after),
            (of("bcts", Options { lookahead: 1, ..Options::default() }), rules(5)),
            (of("dellacherie", Options::default()), rules(10)),
        ]
    }

    /// Games of all kinds, most of whose players have books: as they are stopped and taken up again, the last of
    /// them as long as all others.
    #[test]
    fn games_by_the_book_are_those_of_steps_through_stop_and_resume() {
        let kinds = kinds();
        let library = Library::new(kinds.iter().map(|(controller, rules)| (controller, rules)), 192 << 20);
        for (library, most) in [(library.as_ref(), 60), (library.as_ref(), 7), (None, 60)] {
            let limit = 800;
            let new = |number: usize| (number, Game::new(kinds[number % kinds.len()].1, 4, number as u64));
            let mut games: Vec<(usize, Game<'_>)> = (0..120).map(new).collect();
            let (mut ended, mut by_book, mut stops) = (vec![], 0, 0);
            while !games.is_empty() {
                let taken = std::mem::take(&mut games);
                let mut plan = Plan {
                    kinds: &kinds,
                    library,
                    games: taken.into_iter(),
                    limit,
                    stop: if stops < 5 { 5_000 } else { u64::MAX },
                    by_book: 0,
                    looks: 0,
                    ended: vec![],
                };
                play(&mut plan, most);
                by_book += plan.by_book;
                stops += 1;
                games.extend(plan.games);
                for (number, game) in plan.ended {
                    if game.is_over() || game.pieces() == limit {
                        ended.push((number, game));
                    } else {
                        games.push((number, game));
                    }
                }
            }
            assert_eq!(ended.len(), 120);
            assert_eq!(by_book > 0, library.is_some());
            for (number, game) in ended {
                let (mut twin, controller) = (new(number).1, &kinds[number % kinds.len()].0);
                twin.play(controller, limit);
                let told = |game: &Game<'_>| {
                    (game.pieces(), game.lines(), game.digest(), game.is_over(), *game.well())
                };
                assert_eq!(told(&game), told(&twin));
            }
        }
    }
}
