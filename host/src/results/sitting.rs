//! Games of many batches, of any players, played [side by side](crate::together) by some threads.
//!
//! A batch is measured when its last game has ended. So that long games survive a stop, those of batches that are not yet
//! complete are put aside now and then, and when it is time to go: [`Aside`].

use std::collections::{BTreeMap, VecDeque};
use std::ops::{ControlFlow, Range};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use dropwise_core::book::Shelf;
use dropwise_core::game::{SavedGame, digest};
use dropwise_core::{Controller, Game};
use serde::{Deserialize, Serialize};

use super::clock::Clock;
use super::histogram::Histogram;
use super::record::{Hex, Record};
use super::row::Row;
use crate::library::{self, Lender, Library, Memory};
use crate::together::{self, Bill, Course};

/// Games in play are put aside so often.
const ASIDE: Duration = Duration::from_secs(60);

/// Batches of more games than this have short ones, which are as quickly played again.
const KEPT: u64 = 100;

/// Progress is told, and the stop asked for, after so many pieces.
const SLICE: u64 = 1 << 10;

/// A batch to be played.
#[derive(Clone, Debug)]
pub struct Batch<'a> {
    /// What is played.
    pub row: &'a Row,
    /// Which of its games.
    pub games: Range<u64>,
}

impl Batch<'_> {
    /// Whether the batch can be played with others; one by one otherwise: see [`super::measure`].
    pub fn is_sociable(&self) -> bool {
        self.row.variant.is_none() && self.row.options.lookahead == 0
    }
}

/// What is counted of a game beside its lines.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tally {
    /// Pieces for which rescue looked deeper.
    deeper: u64,
    /// How often the pile was so high, if the row asks for it.
    heights: Vec<u64>,
}

/// A game that was put aside.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Aside {
    /// The row's [key](Row::key), and which of its games.
    pub key: Hex,
    /// Which of its games.
    pub index: u64,
    tally: Tally,
    game: SavedGame,
}

/// A game that has ended.
#[derive(Clone, Debug)]
pub(super) struct Ended {
    index: u64,
    lines: u64,
    pieces: u64,
    digest: u64,
    capped: bool,
    tally: Tally,
    seconds: f64,
}

impl Ended {
    pub(super) fn new(index: u64, game: &Game<'_>, capped: bool, seconds: f64) -> Ended {
        let (lines, pieces, digest) = (game.lines(), game.pieces(), game.digest());
        Ended { index, lines, pieces, digest, capped, tally: Tally::default(), seconds }
    }
}

/// What the threads share.
pub struct Sitting<'a> {
    batches: &'a [Batch<'a>],
    /// Those who play, and which of them plays each batch.
    controllers: Vec<Controller>,
    players: Vec<usize>,
    /// Games to be taken up: the batch, and which game.
    waiting: Mutex<VecDeque<(usize, u64)>>,
    /// The games of each batch that have ended.
    ended: Mutex<BTreeMap<usize, Vec<Ended>>>,
    aside: Mutex<BTreeMap<(Hex, u64), Aside>>,
    library: Option<Library>,
    seats: usize,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

impl<'a> Sitting<'a> {
    /// Games of some batches, those among them that were put aside to be taken up again, for so many threads; their
    /// books take at most so many bytes.
    pub fn new(batches: &'a [Batch<'a>], aside: Vec<Aside>, threads: usize, memory: usize) -> Sitting<'a> {
        Sitting::with_books(batches, aside, threads, memory, &Memory::own)
    }

    fn with_books(
        batches: &'a [Batch<'a>],
        aside: Vec<Aside>,
        threads: usize,
        memory: usize,
        lender: Lender<'_>,
    ) -> Sitting<'a> {
        let mut rows: BTreeMap<Hex, usize> = BTreeMap::new();
        let (mut controllers, mut players, mut turns) = (vec![], vec![], vec![]);
        for batch in batches {
            let player = *rows.entry(batch.row.key()).or_insert_with(|| {
                let controller = batch.row.controller();
                let is_same = |other: &Controller| other.player() == controller.player();
                turns.push(controllers.iter().position(is_same).unwrap_or(controllers.len()));
                controllers.push(controller);
                controllers.len() - 1
            });
            players.push(player);
        }
        let games = |(number, batch): (usize, &Batch<'_>)| {
            batch.games.clone().map(move |game| (number, game)).collect::<Vec<_>>()
        };
        let mut waiting: Vec<(usize, u64)> = batches.iter().enumerate().flat_map(games).collect();
        let aside: BTreeMap<_, _> = aside.into_iter().map(|game| ((game.key, game.index), game)).collect();
        // One player after the other, as boards of one are served faster; its games that are under way come first.
        waiting.sort_by_key(|&(number, game)| {
            (turns[players[number]], !aside.contains_key(&(batches[number].row.key(), game)))
        });
        // Of a batch some may have ended: no seat is for them, or the first thread would have room for all that are left.
        let is_over = |&&(number, game): &&(usize, u64)| {
            let aside: Option<&Aside> = aside.get(&(batches[number].row.key(), game));
            aside.is_some_and(|aside| aside.game.is_over())
        };
        let to_play = waiting.len() - waiting.iter().filter(is_over).count();
        let games = players.iter().map(|&player| &controllers[player]);
        let games = games.zip(batches.iter().map(|batch| &batch.row.rules));
        Sitting {
            library: Library::lent(games, memory, lender),
            controllers,
            players,
            batches,
            seats: to_play.div_ceil(threads.max(1)).clamp(1, together::PLENTY),
            waiting: Mutex::new(waiting.into()),
            ended: Mutex::default(),
            aside: Mutex::new(aside),
        }
    }

    /// Who plays a batch.
    fn controller(&self, batch: usize) -> &Controller {
        &self.controllers[self.players[batch]]
    }

    /// Games of some batches that are [admitted](Sitting::admit) one by one, so many at a time for each thread.
    #[cfg(feature = "mpi")]
    pub(crate) fn open(batches: &'a [Batch<'a>], seats: usize, lender: Lender<'_>) -> Sitting<'a> {
        let sitting = Sitting::with_books(batches, vec![], 1, library::MEMORY, lender);
        lock(&sitting.waiting).clear();
        Sitting { seats, ..sitting }
    }

    /// Lets the games of a batch be taken up.
    #[cfg(feature = "mpi")]
    pub(crate) fn admit(&self, number: usize) {
        lock(&self.waiting).extend(self.batches[number].games.clone().map(|game| (number, game)));
    }

    /// Whether there are games to be taken up.
    #[cfg(feature = "mpi")]
    pub(crate) fn is_waited_for(&self) -> bool {
        !lock(&self.waiting).is_empty()
    }

    /// One thread's part: plays until all batches are played or `placed`, which is told now and then how many pieces
    /// were placed since, says to stop. `done` gets the record of each batch that is complete; `keep` the games that are
    /// under way.
    pub fn play(
        &'a self,
        placed: impl Fn(u64) -> bool,
        done: impl Fn(&Batch<'_>, Record),
        keep: impl Fn(&BTreeMap<(Hex, u64), Aside>),
    ) {
        let stops = placed(0);
        let mut player = Thread {
            sitting: self,
            placed,
            done,
            keep,
            clock: Clock::start(),
            kept: Instant::now(),
            pieces: 0,
            told: 0,
            stops,
            games: vec![],
        };
        together::play(&mut player, self.seats);
        (player.placed)(player.pieces - player.told);
        (player.keep)(&lock(&self.aside));
    }
}

/// A thread at play.
struct Thread<'a, P, D, K> {
    sitting: &'a Sitting<'a>,
    placed: P,
    done: D,
    keep: K,
    clock: Clock,
    kept: Instant,
    /// Placed by this thread, and of those told.
    pieces: u64,
    told: u64,
    stops: bool,
    /// All games that were taken up, by their numbers.
    games: Vec<Entry>,
}

/// A game that this thread plays.
struct Entry {
    batch: usize,
    index: u64,
    limit: u64,
    /// Where there is something to count; and how high the pile was before the piece.
    tally: Option<(Tally, usize)>,
}

impl<'a, P, D, K> Bill<'a> for Thread<'a, P, D, K>
where
    P: Fn(u64) -> bool,
    D: Fn(&Batch<'_>, Record),
    K: Fn(&BTreeMap<(Hex, u64), Aside>),
{
    fn next(&mut self) -> Option<(usize, &'a Controller, Game<'a>)> {
        loop {
            let (number, game) = self.take_up()?;
            let Entry { batch, limit, .. } = self.games[number];
            if !game.is_over() && game.pieces() < limit {
                return Some((number, self.sitting.controller(batch), game));
            }
            // It ended before it was put aside, but not all of its batch.
            self.end(number, game);
        }
    }
    fn shelf(&self) -> Option<Shelf<'a>> {
        self.sitting.library.as_ref().map(Library::shelf)
    }

    fn course(&self, number: usize) -> Option<Course> {
        let Entry { batch, limit, .. } = self.games[number];
        let row = self.sitting.batches[batch].row;
        let library = self.sitting.library.as_ref().filter(|_| !row.heights)?;
        let book = library.book(self.sitting.controller(batch), &row.rules)?;
        Some(Course { book, from: library::LONG, until: limit })
    }

    fn by_book(&mut self, pieces: u64) -> ControlFlow<()> {
        if let Some(library) = &self.sitting.library {
            library.open();
        }
        // No pile is above what calls for rescue there.
        self.count(pieces);
        if self.stops { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn goes_on(&mut self, number: usize, game: &Game<'a>) -> bool {
        self.count(1);
        let Entry { batch, limit, tally, .. } = &mut self.games[number];
        if let Some((tally, height)) = tally {
            let rescue = self.sitting.batches[*batch].row.options.rescue;
            tally.deeper += u64::from(rescue.is_some_and(|tall| *height > tall));
            *height = game.well().max_height();
            if let Some(top) = tally.heights.len().checked_sub(1) {
                // Above the brim only the last piece of a game can stand, where losing is allowed.
                tally.heights[(*height).min(top)] += 1;
            }
        }
        !self.stops && !game.is_over() && game.pieces() < *limit
    }

    fn end(&mut self, number: usize, game: Game<'a>) {
        let Entry { batch, index, limit, .. } = self.games[number];
        let Batch { row, games } = &self.sitting.batches[batch];
        let capped = !game.is_over();
        if capped && game.pieces() < limit {
            return self.put_aside(number, &game);
        }
        self.put_aside(number, &game);
        // Side by side no game has a time of its own: it gets its share of the thread's. Most of one that was put aside was
        // placed before.
        let seconds =
            self.clock.seconds() * game.pieces() as f64 / self.pieces.max(game.pieces()).max(1) as f64;
        let tally = self.games[number].tally.take().map_or_else(Tally::default, |(tally, _)| tally);
        let game = Ended { tally, ..Ended::new(index, &game, capped, seconds) };
        let mut ended = lock(&self.sitting.ended);
        let of_batch = ended.entry(batch).or_default();
        of_batch.push(game);
        if of_batch.len() as u64 == games.end - games.start {
            let all = ended.remove(&batch).unwrap_or_default();
            drop(ended);
            lock(&self.sitting.aside).retain(|(key, index), _| *key != row.key() || !games.contains(index));
            (self.done)(&self.sitting.batches[batch], record(row, games, all));
        }
    }

    fn is_time(&mut self) -> bool {
        self.kept.elapsed() >= ASIDE
    }

    fn look<'g>(&mut self, games: impl Iterator<Item = (usize, &'g Game<'a>)>)
    where
        'a: 'g,
    {
        for (number, game) in games {
            self.put_aside(number, game);
        }
        (self.keep)(&lock(&self.sitting.aside));
        self.kept = Instant::now();
    }
}

impl<'a, P, D, K> Thread<'a, P, D, K> {
    /// The next game, as it was put aside or new.
    fn take_up(&mut self) -> Option<(usize, Game<'a>)> {
        let (batch, index) = lock(&self.sitting.waiting).pop_front().filter(|_| !self.stops)?;
        let row = self.sitting.batches[batch].row;
        let aside = lock(&self.sitting.aside).get(&(row.key(), index)).cloned();
        let resumed = aside.and_then(|aside| Some((Game::resume(row.rules, &aside.game)?, aside.tally)));
        let (game, tally) = resumed.unwrap_or_else(|| {
            let heights = if row.heights { vec![0; row.rules.height() + 1] } else { vec![] };
            (Game::apart(row.rules, row.seed, index), Tally { deeper: 0, heights })
        });
        let counts = row.heights || row.options.rescue.is_some();
        self.games.push(Entry {
            batch,
            index,
            limit: row.max_pieces.unwrap_or(u64::MAX),
            tally: counts.then(|| (tally, game.well().max_height())),
        });
        Some((self.games.len() - 1, game))
    }

    /// Counts pieces, and tells of them now and then.
    fn count(&mut self, pieces: u64)
    where
        P: Fn(u64) -> bool,
    {
        self.pieces += pieces;
        if self.pieces - self.told >= SLICE {
            self.stops |= (self.placed)(self.pieces - self.told);
            self.told = self.pieces;
        }
    }

    fn put_aside(&self, number: usize, game: &Game<'_>) {
        let Entry { batch, index, ref tally, .. } = self.games[number];
        let Batch { row, games } = &self.sitting.batches[batch];
        if games.end - games.start <= KEPT {
            let key = row.key();
            let tally = tally.as_ref().map_or_else(Tally::default, |(tally, _)| tally.clone());
            let aside = Aside { key, index, tally, game: game.save() };
            lock(&self.sitting.aside).insert((key, index), aside);
        }
    }
}

/// The record of a batch.
pub(super) fn record(row: &Row, games: &Range<u64>, mut ended: Vec<Ended>) -> Record {
    ended.sort_unstable_by_key(|game| game.index);
    let mut histogram = Histogram::default();
    ended.iter().for_each(|game| histogram.add(game.lines));
    let mut heights = if row.heights { vec![0; row.rules.height() + 1] } else { vec![] };
    for (sum, count) in ended.iter().flat_map(|game| game.tally.heights.iter().enumerate()) {
        heights[sum] += count;
    }
    Record {
        row: row.name(),
        key: row.key(),
        games: (games.start, games.end),
        lines: ended.iter().map(|game| game.lines).sum(),
        squares: ended.iter().map(|game| u128::from(game.lines) * u128::from(game.lines)).sum(),
        min: ended.iter().map(|game| game.lines).min().unwrap_or(u64::MAX),
        max: ended.iter().map(|game| game.lines).max().unwrap_or(0),
        pieces: ended.iter().map(|game| game.pieces).sum(),
        deeper: ended.iter().map(|game| game.tally.deeper).sum(),
        capped: ended.iter().filter(|game| game.capped).count() as u64,
        // To the microsecond: more digits say nothing.
        seconds: (ended.iter().map(|game| game.seconds).sum::<f64>() * 1e6).round() / 1e6,
        digest: Hex(digest(ended.iter().map(|game| game.digest))),
        histogram,
        heights,
    }
}

#[cfg(test)]
mod tests {
    use super::super::row::tests::row;
    use super::*;
    use std::cell::{Cell, RefCell};

    /// Plays batches to the end, stopping after so many looks again and again.
    fn records(batches: &[Batch<'_>], looks: u64, memory: usize) -> Vec<Record> {
        let records = RefCell::new(vec![]);
        let aside = RefCell::new(vec![]);
        while records.borrow().len() < batches.len() {
            let done: Vec<Record> = records.borrow().clone();
            let left = |batch: &&Batch<'_>| !done.iter().any(|record| record.key == batch.row.key());
            let batches: Vec<Batch<'_>> = batches.iter().filter(left).cloned().collect();
            let left = Cell::new(looks);
            let stops = |_| left.replace(left.get().saturating_sub(1)) == 0;
            let keep = |games: &BTreeMap<(Hex, u64), Aside>| {
                drop(aside.replace(games.values().cloned().collect()));
            };
            let done = |_: &Batch<'_>, record| records.borrow_mut().push(Record { seconds: 0.0, ..record });
            Sitting::new(&batches, aside.take(), 1, memory).play(stops, done, keep);
        }
        let mut records = records.into_inner();
        records.sort_unstable_by_key(|record| record.key);
        records
    }

    /// With books, without, and stopped in between: the same records.
    #[test]
    fn books_and_stops_change_nothing() {
        let mut rows = [row("dt20", 20, 10, 10), row("bcts", 12, 10, 10), row("dt20", 10, 10, 10)];
        rows[1].options.rescue = Some(7);
        rows.iter_mut().for_each(|row| row.max_pieces = Some(2_000));
        let heights = Row { heights: true, ..rows[0].clone() };
        let rows: Vec<Row> = rows.into_iter().chain([heights]).collect();
        let batches: Vec<Batch<'_>> = rows.iter().map(|row| Batch { row, games: 0..10 }).collect();
        let expected = records(&batches, u64::MAX, 0);
        assert_eq!(expected.iter().map(|record| record.pieces).max(), Some(20_000));
        assert_eq!(records(&batches, u64::MAX, 128 << 20), expected);
        assert_eq!(records(&batches, 7, 128 << 20), expected);
    }
    /// Of ten games eight ended before: each of two threads takes up one of the others.
    #[test]
    fn games_that_ended_take_no_seat() {
        let row = row("dellacherie", 6, 10, 10);
        let batches = [Batch { row: &row, games: 0..10 }];
        let controller = row.controller();
        let put_aside = |index: u64| {
            let mut game = Game::apart(row.rules, row.seed, index);
            while index < 8 && game.step(&controller).is_some() {}
            Aside { key: row.key(), index, tally: Tally::default(), game: game.save() }
        };
        let sitting = |ended: Range<u64>| Sitting::new(&batches, ended.map(put_aside).collect(), 2, 0);
        assert_eq!(sitting(0..0).seats, 5);
        assert_eq!(sitting(0..10).seats, 1);
        assert_eq!(sitting(0..8).seats, 1);
        assert_eq!(sitting(2..6).seats, 3);
    }
}
