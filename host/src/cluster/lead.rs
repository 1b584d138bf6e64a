//! Rank 0: it hands out the games, plays its own share of them, and puts together what comes back.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use rayon::ThreadPool;

use super::crew::{Crew, Patience, Stage, pause};
use super::hand_out::{Batch, HandOut, Policy};
use super::link::{Link, abort, node};
use super::room::{self, Door, Room};
use super::wire::{BoutWork, Done, Manners, Order, Outcome, Report, RowWork, Start, Work};
use crate::arena::{Bout, Progress, Score};
use crate::output::Failure;
use crate::results::record::Record;
use crate::results::row::Row;
use crate::results::sitting;
use crate::together;

/// All ranks, as rank 0 sees them.
#[derive(Debug)]
pub struct Cluster {
    /// Threads of each rank.
    cores: Vec<usize>,
    /// Where the ranks of each rank's machine have their books, if there is more than one.
    doors: Vec<Option<Door>>,
    /// This rank's, for as long as others may enter.
    _room: Option<Room>,
    bouts: AtomicU64,
    link: Mutex<Link>,
}

/// What a game that was broken off leaves.
const BROKEN_OFF: Score = Score { lines: 0, pieces: 0, digest: 0, capped: true };

impl Cluster {
    /// Enlists all ranks; none if this program runs alone or is not rank 0.
    ///
    /// # Errors
    /// If a rank cannot start its threads, or is another program.
    pub fn enlist(threads: Option<usize>, own: usize) -> Result<Option<Cluster>, Failure> {
        if !mpi::is_initialized() || Link::rank() != 0 || Link::ranks() == 1 {
            return Ok(None);
        }
        let mut link = Link::new()?;
        let ranks = Link::ranks();
        (1..ranks).for_each(|rank| link.send(rank, &Order::Enlist { threads }));
        let mut cores = vec![0; ranks];
        cores[0] = own;
        let room = Room::new();
        let mut doors = vec![None; ranks];
        doors[0] = room.as_ref().map(Room::door);
        link.nodes[0] = node();
        let start = Instant::now();
        while cores.contains(&0) {
            let Some((rank, report)) = link.receive() else {
                if let Some(rank) = (1..ranks).find(|&rank| cores[rank] == 0 && link.is_dead(start)) {
                    link.give_up(rank);
                }
                pause(start);
                continue;
            };
            // What an earlier arena was still told is old.
            let Report::Hello { version, node, threads, door } = report else { continue };
            if version != env!("CARGO_PKG_VERSION") {
                return Err(Failure::input(format_args!(
                    "rank {rank} on {node} is version {version}, this is {}; install the same on all machines",
                    env!("CARGO_PKG_VERSION")
                )));
            }
            let threads = threads.map_err(|error| {
                Failure::input(format_args!("rank {rank} on {node}: {error}; try fewer --threads"))
            })?;
            (cores[rank], link.nodes[rank], doors[rank]) = (threads, node, door);
        }
        let doors = shared(&link.nodes, &doors);
        Ok(Some(Cluster { cores, doors, _room: room, bouts: AtomicU64::new(0), link: Mutex::new(link) }))
    }

    /// Threads of all ranks.
    pub fn threads(&self) -> usize {
        self.cores.iter().sum()
    }

    /// How many ranks there are.
    pub fn ranks(&self) -> usize {
        self.cores.len()
    }

    /// [`Arena::play`](crate::arena::Arena::play) on all ranks; none if it is a bout that cannot be shared.
    pub fn play(&self, pool: &ThreadPool, bout: &Bout<'_>, progress: &Progress) -> Option<Vec<Vec<Score>>> {
        let work = Work::Bout(BoutWork::of(bout)?);
        let games = bout.games.end.saturating_sub(bout.games.start) as usize;
        let mut scores = vec![vec![BROKEN_OFF; games]; bout.controllers.len()];
        let arms = bout.controllers.len();
        let book = HandOut::bout(Policy::PRESENT, &self.cores, seats(bout), arms, bout.games.clone());
        let take = |_: &mut HandOut, done: Done| {
            let Outcome::Score(score) = done.outcome else { return vec![] };
            let game = done.batch.first - bout.games.start;
            scores[done.batch.arm as usize][game as usize] = score;
            vec![]
        };
        self.lead(pool, work, book, progress, take, || false);
        Some(scores)
    }

    /// [`Arena::rounds`](crate::arena::Arena::rounds) on all ranks; whether it is a bout that can be shared.
    pub fn rounds(
        &self,
        pool: &ThreadPool,
        bout: &Bout<'_>,
        progress: &Progress,
        feed: &mut dyn FnMut(&[Score]) -> Vec<usize>,
    ) -> bool {
        let Some(work) = BoutWork::of(bout) else { return false };
        let Range { start, end } = bout.games;
        let arms = bout.controllers.len();
        let book = HandOut::race(Policy::PRESENT, &self.cores, seats(bout), arms, start..end);
        let mut playing: Vec<usize> = (0..arms).collect();
        let mut round = start;
        let mut known: Vec<BTreeMap<u64, Score>> = vec![BTreeMap::new(); arms];
        let take = |book: &mut HandOut, done: Done| {
            let Outcome::Score(score) = done.outcome else { return vec![] };
            known[done.batch.arm as usize].insert(done.batch.first, score);
            let mut dropped = vec![];
            while !playing.is_empty() && playing.iter().all(|&arm| known[arm].contains_key(&round)) {
                let scores: Vec<Score> =
                    playing.iter().filter_map(|&arm| known[arm].remove(&round)).collect();
                round += 1;
                book.next_round();
                let racing = feed(&scores);
                dropped.extend(playing.iter().copied().filter(|arm| !racing.contains(arm)));
                playing = racing;
            }
            dropped
        };
        self.lead(pool, Work::Bout(work), book, progress, take, || false);
        true
    }

    /// Measures batches of rows of the results' table; whether they can be shared. Each record is told as soon as it is
    /// there. `pieces` is told how many were placed, and answers whether to stop.
    pub fn measure(
        &self,
        pool: &ThreadPool,
        rows: &[&Row],
        batches: Vec<Batch>,
        pieces: impl Fn(u64) -> bool,
        mut record: impl FnMut(Batch, Record),
    ) -> bool {
        let Some(works) = rows.iter().map(|row| RowWork::of(row)).collect::<Option<Vec<_>>>() else {
            return false;
        };
        let is_sociable = |batch: &Batch| {
            sitting::Batch { row: rows[batch.arm as usize], games: batch.range() }.is_sociable()
        };
        let (sociable, alone): (Vec<Batch>, Vec<Batch>) = batches.into_iter().partition(is_sociable);
        let share = sociable.iter().map(|batch| batch.games as usize).sum::<usize>() / self.threads().max(1);
        for (batches, seats) in [(sociable, (share / 2).clamp(2, together::PLENTY)), (alone, 1)] {
            let work = Work::Rows { rows: works.clone(), batches: batches.clone(), seats };
            let book = HandOut::batches(Policy::PRESENT, &self.cores, seats, rows.len(), batches.into());
            let progress = Progress::default();
            let mut told = 0;
            let take = |_: &mut HandOut, done: Done| {
                let Outcome::Record(line) = done.outcome else { return vec![] };
                match serde_json::from_str(&line) {
                    Ok(found) => record(done.batch, found),
                    Err(error) => abort(&format!("cannot read a record: {error}")),
                }
                vec![]
            };
            let stop = || {
                let now = progress.pieces();
                let stop = pieces(now - told);
                told = now;
                stop
            };
            self.lead(pool, work, book, &progress, take, stop);
        }
        true
    }

    /// The seconds that so many messages to rank 1 and their answers take, one pair at a time; and all at once, to which
    /// only rank 0's own work adds up.
    pub fn ping(&self, pairs: u32) -> (Vec<f64>, f64) {
        let mut link = self.link();
        let answer = |link: &mut Link| while !matches!(link.receive(), Some((_, Report::Pong { .. }))) {};
        let one = |_| {
            let start = Instant::now();
            link.send(1, &Order::Ping);
            answer(&mut link);
            start.elapsed().as_secs_f64()
        };
        let each = (0..pairs).map(one).collect();
        let start = Instant::now();
        (0..pairs).for_each(|_| link.send(1, &Order::Ping));
        (0..pairs).for_each(|_| answer(&mut link));
        (each, start.elapsed().as_secs_f64())
    }

    /// Plays all of a book, or until it is told to stop. `take` gets what comes back, and says whose games need not be
    /// played any more.
    fn lead(
        &self,
        pool: &ThreadPool,
        work: Work,
        book: HandOut,
        progress: &Progress,
        take: impl FnMut(&mut HandOut, Done) -> Vec<usize>,
        stop: impl FnMut() -> bool,
    ) {
        if book.is_over() {
            return;
        }
        let bout = self.bouts.fetch_add(1, Ordering::Relaxed);
        let link = self.link();
        let stage = Stage::new(work.clone()).unwrap_or_else(|what| abort(what));
        let known = stage.batches();
        let lender = |bytes| room::lend(self.doors[0].as_ref(), bout, bytes);
        let crew = Crew::new(&stage, &known, self.cores[0], &lender).unwrap_or_else(|what| abort(what));
        let heard = vec![Instant::now(); self.cores.len()];
        let begun = vec![false; self.cores.len()];
        let mut lead = Lead {
            cluster: self,
            bout,
            link,
            work,
            begun,
            book,
            progress,
            crew: &crew,
            told: 0,
            heard,
            take,
        };
        crew.during(pool, || lead.run(stop));
    }

    fn link(&self) -> MutexGuard<'_, Link> {
        self.link.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A bout under way.
struct Lead<'a, T> {
    cluster: &'a Cluster,
    bout: u64,
    link: MutexGuard<'a, Link>,
    work: Work,
    /// Which ranks know what is played.
    begun: Vec<bool>,
    book: HandOut,
    progress: &'a Progress,
    crew: &'a Crew<'a>,
    /// Pieces of this rank's threads that the progress knows of.
    told: u64,
    /// When each rank last said something, or was given something after it had nothing.
    heard: Vec<Instant>,
    take: T,
}

impl<'a, T: FnMut(&mut HandOut, Done) -> Vec<usize>> Lead<'a, T> {
    fn run(&mut self, mut stop: impl FnMut() -> bool) {
        let mut patience = Patience::new(self.book.look(0));
        loop {
            self.hand_out();
            patience.wait(self.crew.is_busy());
            for done in self.crew.played() {
                self.take_back(0, done);
            }
            self.count();
            while let Some((rank, report)) = self.link.receive() {
                patience.reset();
                self.heard[rank] = Instant::now();
                let Report::Played { bout, pieces, done } = report else { continue };
                if bout == self.bout {
                    self.progress.add_pieces(pieces);
                    done.into_iter().for_each(|done| self.take_back(rank, done));
                }
            }
            if self.book.is_over() {
                break;
            }
            self.look_for_the_dead();
            if self.progress.is_stopped() || stop() {
                self.crew.stop();
                let arms = (0..self.book.arms() as u32).collect::<Vec<_>>();
                for rank in (1..self.cluster.ranks()).filter(|&rank| self.book.is_held_by(rank)) {
                    self.link.send(rank, &Order::Drop { bout: self.bout, arms: arms.clone() });
                }
                break;
            }
        }
        self.count();
    }

    fn hand_out(&mut self) {
        let mut parcels: BTreeMap<usize, Vec<Batch>> = BTreeMap::new();
        let idle: Vec<bool> = (0..self.cluster.ranks()).map(|rank| !self.book.is_held_by(rank)).collect();
        while let Some((rank, batch)) = self.book.hand_out() {
            parcels.entry(rank).or_default().push(batch);
        }
        for (rank, batches) in parcels {
            if rank == 0 {
                self.crew.take_in(batches);
                continue;
            }
            if idle[rank] {
                self.heard[rank] = Instant::now();
            }
            let bout = self.bout;
            let order = if std::mem::replace(&mut self.begun[rank], true) {
                Order::Play { bout, batches }
            } else {
                let book = &self.book;
                let manners =
                    Manners { look: book.look(rank), rest: book.rest(), patient: book.is_patient() };
                let door = self.cluster.doors[rank].clone();
                Order::Begin(Start { bout, work: self.work.clone(), manners, batches, door })
            };
            self.link.send(rank, &order);
        }
    }

    fn take_back(&mut self, rank: usize, done: Done) {
        let score = if let Outcome::Score(score) = &done.outcome { Some(*score) } else { None };
        if !self.book.give_back(rank, done.batch, score.map_or(0, |score| score.pieces)) {
            return;
        }
        if let Some(score) = score {
            self.progress.end(score.lines);
        }
        let mut parcels: BTreeMap<usize, Vec<u32>> = BTreeMap::new();
        for arm in (self.take)(&mut self.book, done) {
            for rank in self.book.drop_arm(arm) {
                parcels.entry(rank).or_default().push(arm as u32);
            }
        }
        for (rank, arms) in parcels {
            if rank == 0 {
                arms.into_iter().for_each(|arm| self.crew.drop_arm(arm as usize));
            } else {
                self.link.send(rank, &Order::Drop { bout: self.bout, arms });
            }
        }
    }

    /// Adds this rank's pieces to the progress.
    fn count(&mut self) {
        let pieces = self.crew.pieces();
        self.progress.add_pieces(pieces - self.told);
        self.told = pieces;
    }

    /// Most MPIs end all ranks when one dies. With one that does not, or a machine that is cut off, nobody else would
    /// ever say so.
    fn look_for_the_dead(&self) {
        let silent = |rank: &usize| self.book.is_held_by(*rank) && self.link.is_dead(self.heard[*rank]);
        if let Some(rank) = (1..self.cluster.ranks()).find(silent) {
            self.link.give_up(rank);
        }
    }
}

/// The door of the first rank of each machine, for all of its ranks; none for those that are alone on theirs.
fn shared(nodes: &[String], doors: &[Option<Door>]) -> Vec<Option<Door>> {
    let ranks = |node: &String| nodes.iter().filter(|other| *other == node).count();
    let first = |node: &String| doors[nodes.iter().position(|other| other == node)?].clone();
    nodes.iter().map(|node| first(node).filter(|_| ranks(node) > 1)).collect()
}

/// How many games of a bout a core can play at a time: estimates take turns.
fn seats(bout: &Bout<'_>) -> usize {
    if bout.climbers.is_some() { 1 } else { together::PLENTY }
}

/// Sends all ranks home.
pub(super) fn dismiss() -> Result<(), Failure> {
    let mut link = Link::new()?;
    let ranks = Link::ranks();
    (1..ranks).for_each(|rank| link.send(rank, &Order::End));
    let start = Instant::now();
    let mut here: Vec<usize> = (1..ranks).collect();
    while let Some(&rank) = here.first() {
        match link.receive() {
            Some((rank, Report::Bye)) => here.retain(|other| *other != rank),
            Some(_) => {}
            None if link.is_dead(start) => link.give_up(rank),
            None => pause(start),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_of_a_machine_share_the_room_of_its_first() {
        let Some(rooms) = (0..4).map(|_| Room::new()).collect::<Option<Vec<Room>>>() else { return };
        let doors: Vec<Option<Door>> = rooms.iter().map(|room| Some(room.door())).collect();
        let nodes = ["one", "two", "one", "three"].map(String::from);
        assert_eq!(shared(&nodes, &doors), [doors[0].clone(), None, doors[0].clone(), None]);
        assert_eq!(shared(&nodes, &[None, None, doors[2].clone(), None]), [None, None, None, None]);
    }
}
