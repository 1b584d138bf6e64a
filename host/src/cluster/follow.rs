//! Ranks other than 0: they play what they are told to.

use std::sync::mpsc;
use std::time::{Duration, Instant};

use rayon::ThreadPool;

use super::crew::{Crew, Patience, pause};
use super::hand_out::Batch;
use super::link::{Link, abort, node};
use super::wire::{Done, Order, Outcome, Report, Work};
use crate::arena::{Score, thread_pool};

/// A rank that has nothing else to say says after this time that it is there, and how many pieces it has placed.
const PULSE: Duration = Duration::from_millis(250);

/// Follows rank 0's orders until the end.
pub(super) fn follow() {
    let mut link = Link::default();
    let mut idle_since = Instant::now();
    let mut pool = None;
    let mut waiting: Option<Order> = None;
    loop {
        let order = waiting.take().or_else(|| link.receive().map(|(_, order)| order));
        match (order, &pool) {
            (None, _) => {
                pause(idle_since);
                continue;
            }
            (Some(Order::End), _) => return link.send(0, &Report::Bye),
            (Some(Order::Enlist { threads }), _) => pool = enlist(&mut link, threads),
            (Some(Order::Begin { bout, work, look }), Some(pool)) => {
                waiting = Some(serve(&mut link, pool, bout, work, Patience::new(look)));
            }
            (Some(Order::Ping), _) => link.send(0, &Report::Pong { done: pong() }),
            // Of a bout that has ended.
            (Some(_), _) => {}
        }
        idle_since = Instant::now();
    }
}

fn enlist(link: &mut Link, threads: Option<usize>) -> Option<ThreadPool> {
    let pool = thread_pool(threads).map_err(|error| error.to_string());
    let threads = pool.as_ref().map(ThreadPool::current_num_threads).map_err(Clone::clone);
    link.send(0, &Report::Hello { version: env!("CARGO_PKG_VERSION").into(), node: node(), threads });
    pool.ok()
}

/// What a game leaves.
fn pong() -> Done {
    let score = Score { lines: 1 << 20, pieces: 1 << 21, digest: u64::MAX, capped: false };
    Done { batch: Batch { arm: 0, first: 0, games: 1 }, seconds: 1.0, outcome: Outcome::Scores(vec![score]) }
}

/// Plays batches of a bout until another order comes.
fn serve(link: &mut Link, pool: &ThreadPool, bout: u64, work: Work, mut patience: Patience) -> Order {
    let crew = match Crew::new(work) {
        Ok(crew) => crew,
        Err(what) => abort(what),
    };
    let (sender, threads) = mpsc::channel();
    pool.in_place_scope(|scope| {
        let (mut held, mut told, mut last) = (0usize, 0u64, Instant::now());
        loop {
            while let Some((_, order)) = link.receive() {
                patience.reset();
                match order {
                    Order::Play { bout: of, batches } if of == bout => {
                        held += batches.len();
                        batches.into_iter().for_each(|batch| crew.play(scope, batch, &sender));
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
            let mut done: Vec<Done> = vec![];
            let first = patience.wait(&threads, held >= pool.current_num_threads());
            for played in first.into_iter().chain(threads.try_iter()) {
                held -= 1;
                done.extend(played);
            }
            if !done.is_empty() || held > 0 && last.elapsed() >= PULSE {
                let pieces = crew.pieces();
                link.send(0, &Report::Played { bout, pieces: pieces - told, done });
                (told, last) = (pieces, Instant::now());
            }
        }
    })
}
