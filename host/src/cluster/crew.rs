//! One rank's part of a bout: batches on its threads, and waiting for what comes next.

use std::sync::mpsc::{Receiver, Sender};
use std::thread;
use std::time::{Duration, Instant};

use dropwise_core::Controller;
use rayon::Scope;

use super::hand_out::Batch;
use super::wire::{BoutWork, Done, Outcome, Work};
use crate::arena::{self, Progress};
use crate::results::measure;
use crate::results::row::Row;

/// What a rank plays.
#[derive(Debug)]
enum Table {
    Bout(BoutWork, Vec<Controller>),
    Rows(Vec<Row>),
}

/// What a rank plays, and how it stops.
#[derive(Debug)]
pub(super) struct Crew {
    table: Table,
    /// Of each arm: how far it is, and whether it plays on.
    arms: Vec<Progress>,
}

impl Crew {
    /// A rank ready to play.
    ///
    /// # Errors
    /// If this program does not know what is to be played.
    pub(super) fn new(work: Work) -> Result<Crew, &'static str> {
        let (table, arms) = match work {
            Work::Bout(work) => {
                let controllers = work.controllers()?;
                let arms = controllers.len();
                (Table::Bout(work, controllers), arms)
            }
            Work::Rows(rows) => {
                let arms = rows.len();
                (Table::Rows(rows.iter().map(|row| row.row()).collect::<Result<_, _>>()?), arms)
            }
        };
        Ok(Crew { table, arms: std::iter::repeat_with(Progress::default).take(arms).collect() })
    }

    /// Pieces placed so far.
    pub(super) fn pieces(&self) -> u64 {
        self.arms.iter().map(Progress::pieces).sum()
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

    /// Has a thread play a batch; what came of it is sent, unless it was broken off.
    pub(super) fn play<'scope>(
        &'scope self,
        scope: &Scope<'scope>,
        batch: Batch,
        done: &'scope Sender<Option<Done>>,
    ) {
        scope.spawn(move |_| {
            // Nobody listens after the end of a bout.
            let _ = done.send(self.played(batch));
        });
    }

    fn played(&self, batch: Batch) -> Option<Done> {
        let start = Instant::now();
        let (arm, games) = (batch.arm as usize, batch.range());
        let progress = self.arms.get(arm)?;
        let outcome = match &self.table {
            Table::Bout(work, controllers) => {
                let bout = work.bout(controllers).ok()?;
                Outcome::Scores(arena::play_batch(&bout, arm, games, progress))
            }
            Table::Rows(rows) => {
                let record = measure::play(rows.get(arm)?, games, |pieces| {
                    progress.add_pieces(pieces);
                    progress.is_stopped()
                })?;
                Outcome::Record(serde_json::to_string(&record).ok()?)
            }
        };
        let seconds = start.elapsed().as_secs_f64();
        (!progress.is_stopped()).then_some(Done { batch, seconds, outcome })
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

    /// Waits a little: what a thread has to say, if one has. `busy` if all of this rank's threads play.
    pub(super) fn wait<T>(&mut self, threads: &Receiver<T>, busy: bool) -> Option<T> {
        if busy {
            self.reset();
            threads.recv_timeout(self.look).ok()
        } else if self.idle_since.elapsed() < EAGER {
            thread::yield_now();
            threads.try_recv().ok()
        } else {
            threads.recv_timeout(IDLE).ok()
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
