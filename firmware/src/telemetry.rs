//! Every move, from core 1 to those who follow the game on core 0, without ever holding up the one who plays.
//!
//! Core 1 writes each move into a ring and counts it; it does not know who reads, and overwrites what is old. What is
//! rare, a new game, another player, the end, goes through a queue, each with the number of the move that comes next:
//!
//! ```text
//!   moves     ... 41 42 43 44 45 46 47 48        count: 49 moves so far
//!   notices        ^ End, Board                  each before move 43
//! ```
//!
//! A reader that was too slow, of moves or of notices, asks core 1 to tell how the game stands, and goes on from there.

use core::sync::atomic::{AtomicBool, AtomicU16, AtomicU32, Ordering, fence};

use dropwise_core::game::Move;
use dropwise_core::wire::MAX_MOVES;
use embassy_sync::blocking_mutex::raw::CriticalSectionRawMutex;
use embassy_sync::channel::Channel;

use crate::order::{self, Order};
use crate::snapshot::Standing;

/// Moves in the ring: at full speed a fifth of a second.
const RING: usize = 4096;
/// Notices in the queue.
const QUEUE: usize = 4;

/// Pieces placed since the start, and so the moves that were written. Wraps round after days at full speed.
#[unsafe(no_mangle)]
static DROPWISE_PIECES: AtomicU32 = AtomicU32::new(0);
/// Their codes, each at its number.
static CODES: [AtomicU16; RING] = [const { AtomicU16::new(0) }; RING];

static NOTICES: Channel<CriticalSectionRawMutex, Notice, QUEUE> = Channel::new();
/// Whether a notice found no room.
static LOST: AtomicBool = AtomicBool::new(false);

/// What happens between two moves.
pub(crate) enum News {
    /// A game begins, or is played by another from here on.
    Board(Standing),
    /// How the game stands, because a reader [asked](Order::Tell).
    Told(Standing),
    /// A game is lost or given up.
    End(Standing),
}

struct Notice {
    /// The number of the move that comes next.
    before: u32,
    news: News,
}

/// Core 1 writes a move down.
#[inline(always)]
pub(crate) fn record(step: &Move) {
    // Core 1 alone writes it.
    let count = DROPWISE_PIECES.load(Ordering::Relaxed);
    CODES[count as usize % RING].store(step.code(), Ordering::Relaxed);
    DROPWISE_PIECES.store(count.wrapping_add(1), Ordering::Release);
}

/// Core 1 tells what happens between two moves.
pub(crate) fn tell(news: News) {
    let before = DROPWISE_PIECES.load(Ordering::Relaxed);
    if NOTICES.try_send(Notice { before, news }).is_err() {
        LOST.store(true, Ordering::Release);
    }
}

/// What a reader learns next.
pub(crate) enum Told<'a> {
    /// The game as it stands from here on.
    Board(Standing),
    /// Moves: how many pieces were placed in the game before, and the codes, two bytes each.
    Moves(u64, &'a [u8]),
    /// The game is over.
    End(Standing),
}

/// Follows the game.
pub(crate) struct Reader {
    state: State,
    /// The number of the next move.
    next: u32,
    /// Pieces placed in the game before it.
    pieces: u64,
    /// Taken out of the queue, but its move has not come.
    notice: Option<Notice>,
    codes: [u8; 2 * MAX_MOVES],
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// Does not know how the game stands.
    Lost,
    /// Has asked.
    Asked,
    /// Knows.
    Following,
}

impl Reader {
    /// One that knows nothing yet.
    pub(crate) const fn new() -> Reader {
        Reader { state: State::Lost, next: 0, pieces: 0, notice: None, codes: [0; 2 * MAX_MOVES] }
    }

    /// Begins anew.
    pub(crate) fn restart(&mut self) {
        self.state = State::Lost;
    }

    /// What comes next, if it is known yet.
    pub(crate) fn read(&mut self) -> Option<Told<'_>> {
        if LOST.load(Ordering::Acquire) {
            self.state = State::Lost;
        }
        match self.state {
            State::Lost => {
                self.ask();
                None
            }
            State::Asked => self.wait(),
            State::Following => self.follow(),
        }
    }

    fn ask(&mut self) {
        LOST.store(false, Ordering::Release);
        self.notice = None;
        while NOTICES.try_receive().is_ok() {}
        if order::send(Order::Tell).is_ok() {
            self.state = State::Asked;
        }
    }

    fn wait(&mut self) -> Option<Told<'_>> {
        loop {
            let notice = NOTICES.try_receive().ok()?;
            if let News::Told(standing) = notice.news {
                (self.state, self.next, self.pieces) = (State::Following, notice.before, standing.pieces);
                return Some(Told::Board(standing));
            }
        }
    }

    fn follow(&mut self) -> Option<Told<'_>> {
        // The moves are counted before the notices are looked at: one that belongs before a move is in the queue before
        // the move is counted.
        let count = DROPWISE_PIECES.load(Ordering::Acquire).wrapping_sub(self.next) as usize;
        if self.notice.is_none() {
            self.notice = NOTICES.try_receive().ok();
        }
        let before = self.notice.as_ref().map(|notice| notice.before.wrapping_sub(self.next) as usize);
        if before == Some(0)
            && let Some(notice) = self.notice.take()
        {
            return Some(match notice.news {
                News::Board(standing) | News::Told(standing) => {
                    self.pieces = standing.pieces;
                    Told::Board(standing)
                }
                News::End(standing) => Told::End(standing),
            });
        }
        let moves = count.min(before.unwrap_or(count)).min(MAX_MOVES);
        let (places, _) = self.codes.as_chunks_mut::<2>();
        for (i, place) in places.iter_mut().enumerate().take(moves) {
            *place =
                CODES[self.next.wrapping_add(i as u32) as usize % RING].load(Ordering::Relaxed).to_le_bytes();
        }
        // What was overwritten while it was read has been counted by now; the one being written has not.
        fence(Ordering::Acquire);
        if DROPWISE_PIECES.load(Ordering::Relaxed).wrapping_sub(self.next) as usize >= RING {
            self.state = State::Lost;
            return None;
        }
        let pieces = self.pieces;
        self.next = self.next.wrapping_add(moves as u32);
        self.pieces += moves as u64;
        (moves > 0).then(|| Told::Moves(pieces, &self.codes[..2 * moves]))
    }
}
