//! Ranks other than 0: they play what they are told to.

use std::time::{Duration, Instant};

use rayon::ThreadPool;

use super::crew::{Crew, Patience, Stage, pause};
use super::hand_out::{Batch, PATIENCE, is_plenty};
use super::link::{Link, abort, node};
use super::room::{self, Door, Room};
use super::wire::{Done, Order, Outcome, Report, Start};
use crate::arena::{Score, thread_pool};
use crate::output::Failure;

/// A rank that has nothing else to say says after this time that it is there, and how many pieces it has placed.
const PULSE: Duration = Duration::from_millis(250);

/// Follows rank 0's orders until the end.
pub(super) fn follow() -> Result<(), Failure> {
    let mut link = Link::new()?;
    let mut idle_since = Instant::now();
    let mut pool = None;
    let mut room;
    let mut waiting: Option<Order> = None;
    loop {
        let order = waiting.take().or_else(|| link.receive().map(|(_, order)| order));
        match (order, &pool) {
            (None, _) => {
                pause(idle_since);
                continue;
            }
            (Some(Order::End), _) => {
                link.send(0, &Report::Bye);
                return Ok(());
            }
            (Some(Order::Enlist { threads }), _) => {
                room = Room::new();
                pool = enlist(&mut link, threads, room.as_ref().map(Room::door));
            }
            (Some(Order::Begin(start)), Some(pool)) => waiting = Some(serve(&mut link, pool, start)),
            (Some(Order::Ping), _) => link.send(0, &Report::Pong { done: pong() }),
            // Of a bout that has ended.
            (Some(_), _) => {}
        }
        idle_since = Instant::now();
    }
}

fn enlist(link: &mut Link, threads: Option<usize>, door: Option<Door>) -> Option<ThreadPool> {
    let pool = thread_pool(threads).map_err(|error| error.to_string());
    let threads = pool.as_ref().map(ThreadPool::current_num_threads).map_err(Clone::clone);
    let version = env!("CARGO_PKG_VERSION").into();
    link.send(0, &Report::Hello { version, node: node(), threads, door });
    pool.ok()
}

/// What a game leaves.
fn pong() -> Done {
    let score = Score { lines: 1 << 20, pieces: 1 << 21, digest: u64::MAX, capped: false };
    Done { batch: Batch { arm: 0, first: 0, games: 1 }, outcome: Outcome::Score(score) }
}

/// Plays games of a bout until another order comes.
fn serve(link: &mut Link, pool: &ThreadPool, start: Start) -> Order {
    let Start { bout, work, manners, batches, door } = start;
    let stage = Stage::new(work).unwrap_or_else(|what| abort(what));
    let known = stage.batches();
    let lender = |bytes| room::lend(door.as_ref(), bout, bytes);
    let crew =
        Crew::new(&stage, &known, pool.current_num_threads(), &lender).unwrap_or_else(|what| abort(what));
    crew.during(pool, || {
        let mut patience = Patience::new(manners.look);
        let (mut told, mut last) = (0u64, Instant::now());
        let mut given = batches.len();
        crew.take_in(batches);
        let mut done: Vec<Done> = vec![];
        loop {
            while let Some((_, order)) = link.receive() {
                patience.reset();
                match order {
                    Order::Play { bout: of, batches } if of == bout => {
                        crew.take_in(batches);
                        given = crew.held();
                    }
                    Order::Drop { bout: of, arms } if of == bout => {
                        arms.into_iter().for_each(|arm| crew.drop_arm(arm as usize));
                    }
                    Order::Play { .. } | Order::Drop { .. } => {}
                    other => {
                        crew.stop();
                        return other;
                    }
                }
            }
            patience.wait(crew.is_busy());
            let held = crew.held();
            done.extend(crew.played());
            let wait = match held {
                0 => 0.0,
                held if manners.patient && is_plenty(given, held) => PATIENCE,
                _ => manners.rest,
            };
            let is_due = !done.is_empty() && last.elapsed().as_secs_f64() >= wait;
            if is_due || held > 0 && last.elapsed() >= PULSE {
                let pieces = crew.pieces();
                link.send(
                    0,
                    &Report::Played { bout, pieces: pieces - told, done: std::mem::take(&mut done) },
                );
                (told, last) = (pieces, Instant::now());
            }
        }
    })
}
