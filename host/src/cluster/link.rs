//! MPI itself: joining the other ranks, messages as bytes, and leaving.
//!
//! A message is a value of [`wire`](super::wire) in postcard's format. Only one thread of a rank may call in here at a
//! time.

use std::collections::VecDeque;
use std::thread;
use std::time::{Duration, Instant};

use mpi::Threading;
use mpi::environment::Universe;
use mpi::point_to_point::MatchedReceiveVec;
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator, Destination, Source};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::wire::STRANGE;
use crate::interrupt;
use crate::output::{self, BAD, Failure};

/// Our messages among all that an MPI program may send.
const TAG: mpi::Tag = 7;

/// A rank that plays and says nothing for so many seconds is taken for dead: it speaks four times a second.
const SILENCE: u64 = 60;

/// Other seconds than [`SILENCE`].
const SILENCE_VARIABLE: &str = "DROPWISE_SILENCE";

/// Starts MPI.
pub(super) fn start() -> Option<Universe> {
    // One thread at a time talks, but not always the one that began.
    mpi::initialize_with_threading(Threading::Serialized).map(|(universe, _)| universe)
}

/// Ends every rank, at once.
pub(super) fn abort(message: &str) -> ! {
    if !message.is_empty() {
        output::say(format_args!("{BAD}error:{BAD:#} {message}"));
    }
    SimpleCommunicator::world().abort(1)
}

/// The machine that this rank runs on.
pub(super) fn node() -> String {
    mpi::environment::processor_name().unwrap_or_else(|_| "a node without a name".into())
}

/// This rank's end of the line to all others.
#[derive(Debug)]
pub(super) struct Link {
    /// What came while something was being sent.
    inbox: VecDeque<(usize, Vec<u8>)>,
    /// Where each rank runs, as far as it is known.
    pub(super) nodes: Vec<String>,
    /// How long a rank may be silent.
    silence: Duration,
}

impl Link {
    /// Ready to talk.
    ///
    /// # Errors
    /// If the environment asks for an impossible patience.
    pub(super) fn new() -> Result<Link, Failure> {
        let text = std::env::var(SILENCE_VARIABLE).unwrap_or_else(|_| SILENCE.to_string());
        let seconds = text.parse::<u64>().ok().filter(|seconds| (1..=86_400).contains(seconds));
        let seconds = seconds.ok_or_else(|| {
            Failure::input(format_args!(
                "{SILENCE_VARIABLE} is a number of seconds from 1 to 86400, not '{text}'"
            ))
        })?;
        let nodes = vec!["an unknown node".into(); Link::ranks()];
        Ok(Link { inbox: VecDeque::new(), nodes, silence: Duration::from_secs(seconds) })
    }

    /// Whether a rank that was last heard of at this time is dead, as far as one can tell.
    pub(super) fn is_dead(&self, heard: Instant) -> bool {
        heard.elapsed() > self.silence
    }

    /// Ends every rank because of such a one: says which it is, and how to go on. Nobody waits for it: what is complete is
    /// on disk.
    pub(super) fn give_up(&self, rank: usize) -> ! {
        let advice = interrupt::take_advice().unwrap_or_else(|| "start the command again".into());
        abort(&format!(
            "rank {rank} on {} has said nothing for {} seconds and is taken for dead; {advice}",
            self.nodes[rank],
            self.silence.as_secs()
        ))
    }

    /// This rank's number.
    pub(super) fn rank() -> usize {
        SimpleCommunicator::world().rank() as usize
    }

    /// How many ranks there are.
    pub(super) fn ranks() -> usize {
        SimpleCommunicator::world().size() as usize
    }

    /// Sends a message.
    pub(super) fn send(&mut self, to: usize, message: &impl Serialize) {
        match postcard::to_allocvec(message) {
            Ok(bytes) => self.send_bytes(to, &bytes),
            Err(error) => abort(&format!("cannot write a message to rank {to}: {error}")),
        }
    }

    /// Receives while the other side is not ready: two that only send to each other would wait for ever.
    fn send_bytes(&mut self, to: usize, bytes: &[u8]) {
        let world = SimpleCommunicator::world();
        mpi::request::scope(|scope| {
            let mut request = world.process_at_rank(to as i32).immediate_send_with_tag(scope, bytes, TAG);
            let start = Instant::now();
            while let Err(unfinished) = request.test() {
                request = unfinished;
                if start.elapsed() > self.silence {
                    self.give_up(to);
                }
                match poll(&world) {
                    Some(message) => self.inbox.push_back(message),
                    None => thread::yield_now(),
                }
            }
        });
    }

    /// The next message, if there is one, and which rank sent it.
    pub(super) fn receive<T: DeserializeOwned>(&mut self) -> Option<(usize, T)> {
        let (from, bytes) = self.inbox.pop_front().or_else(|| poll(&SimpleCommunicator::world()))?;
        match postcard::from_bytes(&bytes) {
            Ok(message) => Some((from, message)),
            Err(error) => abort(&format!("cannot read a message of rank {from}, {STRANGE}: {error}")),
        }
    }
}

fn poll(world: &SimpleCommunicator) -> Option<(usize, Vec<u8>)> {
    let probed = world.any_process().immediate_matched_probe_with_tag(TAG)?;
    let (bytes, status) = probed.matched_receive_vec();
    Some((status.source_rank() as usize, bytes))
}
