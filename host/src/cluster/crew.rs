//! One rank's part of a bout: its threads at their tables, what waits for them, and what they have played.
//!
//! ```text
//!   orders --> waiting --> table of thread 1: games side by side --> played --> reports
//!                     \--> table of thread 2 ...                 /
//! ```
//!
//! A thread keeps its table from the first game of a bout to the last. It takes up whatever waits while it has fewer games
//! than its share, and sleeps when there are none.

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use dropwise_core::book::Shelf;
use dropwise_core::{Controller, Game};
use rayon::ThreadPool;

use super::hand_out::{Batch, fair_share};
use super::wire::{Done, Outcome, Work};
use crate::arena::{self, Bout, Progress, Score};
use crate::library::{self, Lender, Library};
use crate::results::row::Row;
use crate::results::sitting::{self, Sitting};
use crate::results::{measure, record::Record};
use crate::together::{self, Bill, Course};

/// A table looks whether its games are still wanted after so many pieces: some two milliseconds.
const SLICE: u64 = 1 << 14;

/// What is played on this rank, in this rank's own terms.
#[derive(Debug)]
pub(super) enum Stage {
    Bout(Work, Vec<Controller>),
    /// Batches of rows of the results' table, and at how many games a time.
    Rows(Vec<Row>, Vec<Batch>, usize),
}

impl Stage {
    /// # Errors
    /// If this program does not know what is to be played.
    pub(super) fn new(work: Work) -> Result<Stage, &'static str> {
        match work {
            Work::Bout(ref bout) => {
                let controllers = bout.controllers()?;
                Ok(Stage::Bout(work, controllers))
            }
            Work::Rows { rows, batches, seats } => {
                let rows = rows.iter().map(|row| row.row()).collect::<Result<Vec<Row>, _>>()?;
                let is_known = |batch: &Batch| (batch.arm as usize) < rows.len();
                if !batches.iter().all(is_known) {
                    return Err(super::wire::STRANGE);
                }
                Ok(Stage::Rows(rows, batches, seats))
            }
        }
    }

    /// The batches of rows, as the results' table knows them.
    pub(super) fn batches(&self) -> Vec<sitting::Batch<'_>> {
        let Stage::Rows(rows, batches, _) = self else { return vec![] };
        let batch = |batch: &Batch| sitting::Batch { row: &rows[batch.arm as usize], games: batch.range() };
        batches.iter().map(batch).collect()
    }
}

/// How the threads play.
enum Play<'a> {
    /// Games of a bout, side by side, and the books that they go by.
    Games(Bout<'a>, Option<Library>),
    /// Estimates in their place, one by one.
    Estimates(Bout<'a>),
    /// Batches of rows, side by side: all that there are, in both forms.
    Rows(&'a [Batch], &'a [sitting::Batch<'a>], Sitting<'a>),
    /// Batches of rows, one by one.
    Alone(&'a [Row]),
}

/// A rank at play.
pub(super) struct Crew<'a> {
    play: Play<'a>,
    cores: usize,
    /// Of each arm: how far it is, and whether it plays on.
    arms: Vec<Progress>,
    store: Mutex<Store>,
    more: Condvar,
    /// How many batches wait; for a look that takes no time.
    waiting: AtomicUsize,
    /// Batches that wait or are being played.
    held: AtomicUsize,
    idle: AtomicUsize,
    played: Mutex<Vec<Done>>,
    /// The one that talks, and hears of it when there is nothing to play.
    speaker: Thread,
}

#[derive(Default)]
struct Store {
    waiting: VecDeque<Batch>,
    is_closed: bool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<'a> Crew<'a> {
    /// A rank of so many cores, ready to play by books in memory that is lent to it. The thread that calls this is the one
    /// that talks.
    ///
    /// # Errors
    /// If this program does not know what is to be played.
    pub(super) fn new(
        stage: &'a Stage,
        batches: &'a [sitting::Batch<'a>],
        cores: usize,
        lender: Lender<'_>,
    ) -> Result<Crew<'a>, &'static str> {
        let (play, arms) = match stage {
            Stage::Bout(work, controllers) => {
                let Work::Bout(work) = work else { return Err(super::wire::STRANGE) };
                let bout = work.bout(controllers)?;
                let play = if bout.climbers.is_some() {
                    Play::Estimates(bout)
                } else {
                    let library = arena::library(&bout, lender);
                    Play::Games(bout, library)
                };
                (play, controllers.len())
            }
            Stage::Rows(rows, _, 1) => (Play::Alone(rows), rows.len()),
            Stage::Rows(rows, known, seats) => {
                (Play::Rows(known, batches, Sitting::open(batches, *seats, lender)), rows.len())
            }
        };
        Ok(Crew {
            play,
            cores,
            arms: std::iter::repeat_with(Progress::default).take(arms).collect(),
            store: Mutex::default(),
            more: Condvar::new(),
            waiting: AtomicUsize::new(0),
            held: AtomicUsize::new(0),
            idle: AtomicUsize::new(0),
            played: Mutex::default(),
            speaker: thread::current(),
        })
    }

    /// Pieces placed so far.
    pub(super) fn pieces(&self) -> u64 {
        self.arms.iter().map(Progress::pieces).sum()
    }

    /// How many batches, which are games in a bout, wait or are being played.
    pub(super) fn held(&self) -> usize {
        self.held.load(Ordering::Relaxed)
    }

    /// Whether all threads have something to play.
    pub(super) fn is_busy(&self) -> bool {
        self.idle.load(Ordering::Relaxed) == 0 && self.held() > 0
    }

    /// What was played since the last time.
    pub(super) fn played(&self) -> Vec<Done> {
        std::mem::take(&mut lock(&self.played))
    }

    /// Breaks off the games of an arm.
    pub(super) fn drop_arm(&self, arm: usize) {
        if let Some(arm) = self.arms.get(arm) {
            arm.stop();
        }
    }

    /// Breaks off all games.
    pub(super) fn stop(&self) {
        self.arms.iter().for_each(Progress::stop);
    }

    /// More to play.
    pub(super) fn take_in(&self, batches: Vec<Batch>) {
        self.held.fetch_add(batches.len(), Ordering::Relaxed);
        let mut store = lock(&self.store);
        if let Play::Rows(known, _, sitting) = &self.play {
            let numbers = batches.iter().filter_map(|batch| known.iter().position(|other| other == batch));
            numbers.for_each(|number| sitting.admit(number));
        } else {
            store.waiting.extend(batches);
            self.waiting.store(store.waiting.len(), Ordering::Relaxed);
        }
        drop(store);
        self.more.notify_all();
    }

    /// Has all threads of a pool play while this one talks. When it has nothing more to say they play on until nothing
    /// waits and no game is left.
    pub(super) fn during<T>(&'a self, pool: &ThreadPool, talk: impl FnOnce() -> T) -> T {
        pool.in_place_scope(|scope| {
            scope.spawn_broadcast(|_, _| self.work());
            let _closing = Closing(self);
            talk()
        })
    }

    /// The part of one thread, until the end.
    fn work(&'a self) {
        while self.waits_for_more() {
            match &self.play {
                Play::Games(bout, library) => Table::new(self, bout, library.as_ref()).play(),
                Play::Estimates(bout) => self.one_by_one(|batch, progress| {
                    let score = arena::estimate(bout, batch.arm as usize, batch.first, progress);
                    Some(Outcome::Score(score))
                }),
                Play::Rows(known, batches, sitting) => self.sit(known, batches, sitting),
                Play::Alone(rows) => self.one_by_one(|batch, progress| {
                    let stop = |pieces| {
                        progress.add_pieces(pieces);
                        progress.is_stopped()
                    };
                    let record = measure::play(rows.get(batch.arm as usize)?, batch.range(), stop)?;
                    outcome(&record)
                }),
            }
        }
    }

    /// Whether there is something to play: it waits until it is so, or the end has come.
    fn waits_for_more(&self) -> bool {
        let is_empty = |store: &Store| match &self.play {
            Play::Rows(_, _, sitting) => !sitting.is_waited_for(),
            _ => store.waiting.is_empty(),
        };
        let mut store = lock(&self.store);
        if is_empty(&store) && !store.is_closed {
            self.idle.fetch_add(1, Ordering::Relaxed);
            self.speaker.unpark();
            while is_empty(&store) && !store.is_closed {
                store = self.more.wait(store).unwrap_or_else(PoisonError::into_inner);
            }
            self.idle.fetch_sub(1, Ordering::Relaxed);
        }
        !is_empty(&store)
    }

    /// The next batch of those that wait and are still wanted.
    fn take(&self) -> Option<(Batch, &Progress)> {
        while self.waiting.load(Ordering::Relaxed) > 0 {
            let mut store = lock(&self.store);
            let batch = store.waiting.pop_front();
            self.waiting.store(store.waiting.len(), Ordering::Relaxed);
            drop(store);
            let batch = batch?;
            match self.arms.get(batch.arm as usize).filter(|arm| !arm.is_stopped()) {
                Some(arm) => return Some((batch, arm)),
                None => self.give(batch, None),
            }
        }
        None
    }

    /// What came of a batch; nothing of one that was broken off.
    fn give(&self, batch: Batch, outcome: Option<Outcome>) {
        if let Some(outcome) = outcome {
            lock(&self.played).push(Done { batch, outcome });
        }
        self.held.fetch_sub(1, Ordering::Relaxed);
    }

    fn one_by_one(&self, play: impl Fn(Batch, &Progress) -> Option<Outcome>) {
        while let Some((batch, progress)) = self.take() {
            let outcome = play(batch, progress);
            self.give(batch, outcome.filter(|_| !progress.is_stopped()));
            // It may have taken long.
            self.speaker.unpark();
        }
    }

    /// Plays batches of rows until no more wait.
    fn sit(&self, known: &[Batch], batches: &[sitting::Batch<'_>], sitting: &'a Sitting<'a>) {
        let placed = |pieces| {
            self.arms[0].add_pieces(pieces);
            self.arms[0].is_stopped()
        };
        let done = |played: &sitting::Batch<'_>, record: Record| {
            let is_it = |batch: &sitting::Batch<'_>| std::ptr::eq(batch, played);
            if let Some(number) = batches.iter().position(is_it) {
                self.give(known[number], outcome(&record));
            }
        };
        sitting.play(placed, done, |_| {});
    }
}

/// Sends the threads home, however the talk ends.
struct Closing<'c, 'a>(&'c Crew<'a>);

impl Drop for Closing<'_, '_> {
    fn drop(&mut self) {
        lock(&self.0.store).is_closed = true;
        self.0.more.notify_all();
    }
}

fn outcome(record: &Record) -> Option<Outcome> {
    serde_json::to_string(record).ok().map(Outcome::Record)
}

/// The games of a bout that one thread plays side by side.
struct Table<'a> {
    crew: &'a Crew<'a>,
    bout: &'a Bout<'a>,
    library: Option<&'a Library>,
    /// The games in play by their numbers, and the numbers that are free.
    games: Vec<Batch>,
    free: Vec<usize>,
    /// The arms that play no more, and how many they are.
    dropped: Vec<bool>,
    drops: usize,
    /// Pieces that were not told yet.
    pieces: u64,
}

impl<'a> Table<'a> {
    fn new(crew: &'a Crew<'a>, bout: &'a Bout<'a>, library: Option<&'a Library>) -> Table<'a> {
        let dropped = vec![false; crew.arms.len()];
        Table { crew, bout, library, games: vec![], free: vec![], dropped, drops: 0, pieces: 0 }
    }

    fn play(mut self) {
        together::play(&mut self, together::PLENTY);
        self.tell();
    }

    fn count(&mut self, pieces: u64) {
        self.pieces += pieces;
        if self.pieces >= SLICE {
            self.tell();
        }
    }

    fn tell(&mut self) {
        // Nobody asks whose they were.
        self.crew.arms[0].add_pieces(std::mem::take(&mut self.pieces));
        for (dropped, arm) in self.dropped.iter_mut().zip(&self.crew.arms) {
            *dropped = arm.is_stopped();
        }
        self.drops = self.dropped.iter().filter(|dropped| **dropped).count();
    }
}

impl<'a> Bill<'a> for Table<'a> {
    fn next(&mut self) -> Option<(usize, &'a Controller, Game<'a>)> {
        let in_play = self.games.len() - self.free.len();
        // The others of this rank have tables too.
        if in_play > 0 && in_play >= fair_share(self.crew.held(), self.crew.cores) {
            return None;
        }
        let (batch, _) = self.crew.take()?;
        let number = self.free.pop().unwrap_or(self.games.len());
        if number == self.games.len() {
            self.games.push(batch);
        }
        self.games[number] = batch;
        let game = Game::new(self.bout.rules, self.bout.seed, batch.first);
        Some((number, &self.bout.controllers[batch.arm as usize], game))
    }

    fn shelf(&self) -> Option<Shelf<'a>> {
        self.library.map(Library::shelf)
    }

    fn course(&self, number: usize) -> Option<Course> {
        let controller = &self.bout.controllers[self.games[number].arm as usize];
        let book = self.library?.book(controller, &self.bout.rules)?;
        Some(Course { book, from: library::LONG, until: self.bout.max_pieces })
    }

    fn by_book(&mut self, pieces: u64) -> ControlFlow<()> {
        if let Some(library) = self.library {
            library.open();
        }
        self.count(pieces);
        if self.drops == self.dropped.len() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn goes_on(&mut self, number: usize, game: &Game<'a>) -> bool {
        self.count(1);
        let is_dropped = self.drops > 0 && self.dropped[self.games[number].arm as usize];
        !is_dropped && !game.is_over() && game.pieces() < self.bout.max_pieces
    }

    fn end(&mut self, number: usize, game: Game<'a>) {
        self.free.push(number);
        let batch = self.games[number];
        let is_capped = game.pieces() >= self.bout.max_pieces;
        let (lines, pieces, digest, capped) = (game.lines(), game.pieces(), game.digest(), !game.is_over());
        let score = Score { lines, pieces, digest, capped };
        // One that was broken off is nobody's.
        self.crew.give(batch, (game.is_over() || is_capped).then_some(Outcome::Score(score)));
    }
}

/// How long an idle rank looks without a pause, and how long it pauses then.
const EAGER: Duration = Duration::from_millis(2);
const IDLE: Duration = Duration::from_micros(100);

/// Waiting for a thread or a message without taking time from threads that play.
#[derive(Debug)]
pub(super) struct Patience {
    /// Between two looks at MPI while all cores are at work.
    look: Duration,
    idle_since: Instant,
}

impl Patience {
    pub(super) fn new(look: f64) -> Patience {
        Patience { look: Duration::from_secs_f64(look), idle_since: Instant::now() }
    }

    /// Something happened.
    pub(super) fn reset(&mut self) {
        self.idle_since = Instant::now();
    }

    /// Waits a little, less if a thread has nothing to play any more. `busy` if all of this rank's threads play.
    pub(super) fn wait(&mut self, busy: bool) {
        if busy {
            self.reset();
            thread::park_timeout(self.look);
        } else {
            pause(self.idle_since);
        }
    }
}

/// Waits a little for a message alone.
pub(super) fn pause(idle_since: Instant) {
    if idle_since.elapsed() < EAGER {
        thread::yield_now();
    } else {
        thread::sleep(IDLE);
    }
}
