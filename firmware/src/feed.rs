//! What a laptop is told unasked, once it has subscribed to it.

use dropwise_core::wire::frame::Frame;
use dropwise_core::wire::{Event, Message, Subscription};
use embassy_time::{Duration, Instant};

use crate::log;
use crate::order::{self, Order};
use crate::snapshot::SNAPSHOT;
use crate::telemetry::{Reader, Told};
use crate::think::BENCH;

/// How often there may be something new: at full speed so often that each time about one event's worth of moves is there.
const LOOK: Duration = Duration::from_millis(5);
/// How often the statistics are sent.
const STATUS: Duration = Duration::from_secs(1);

/// How it is with a bench.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Bench {
    None,
    /// It is under way, and whoever asked for it waits.
    Awaited,
    /// It is under way, and whoever asked for it has gone.
    Abandoned,
}

/// The events for one laptop.
pub(crate) struct Feed {
    subscription: Subscription,
    reader: Reader,
    /// When the statistics are due.
    status_at: Instant,
    /// The number of the next line of the log.
    line: u32,
    bench: Bench,
    /// The next event, until it is sent.
    frame: Frame,
}

impl Feed {
    /// Nothing to send.
    pub(crate) const fn new() -> Feed {
        Feed {
            subscription: Subscription { placements: false, status: false, log: false },
            reader: Reader::new(),
            status_at: Instant::MIN,
            line: 0,
            bench: Bench::None,
            frame: Frame::new(),
        }
    }

    /// Sends these from now on, and no others.
    pub(crate) fn subscribe(&mut self, subscription: Subscription) {
        self.subscription = subscription;
        self.reader.restart();
        self.status_at = Instant::now();
        self.line = 0;
        self.frame = Frame::new();
    }

    /// A bench begins.
    pub(crate) fn await_bench(&mut self) {
        self.bench = Bench::Awaited;
    }

    /// Whether a bench is under way.
    pub(crate) fn is_benching(&self) -> bool {
        self.bench != Bench::None
    }

    /// The laptop has gone.
    pub(crate) fn abandon(&mut self) {
        self.subscribe(Subscription::default());
        if self.is_benching() {
            self.bench = Bench::Abandoned;
            // Any order ends it; if there is no room for one, there is one.
            let _ = order::send(Order::Tell);
        }
    }

    /// How long until there may be an event; none if nobody waits for one.
    pub(crate) fn pause(&self) -> Option<Duration> {
        (self.is_benching() || self.subscription != Subscription::default()).then_some(LOOK)
    }

    /// The event to send, if there is one.
    pub(crate) fn event(&mut self) -> Option<&[u8]> {
        if self.frame.bytes().is_empty() {
            self.find();
        }
        Some(self.frame.bytes()).filter(|bytes| !bytes.is_empty())
    }

    /// The event was sent.
    pub(crate) fn sent(&mut self) {
        self.frame = Frame::new();
    }

    /// Looks for an event; moves come last, as at full speed there are always some.
    fn find(&mut self) {
        let frame = &mut self.frame;
        // Every event fits a frame; one that did not would leave it empty.
        let mut put = |event: Event<'_>| {
            let _ = frame.wrap(&Message::Event(event));
        };
        if let Some(bench) = BENCH.try_take() {
            if core::mem::replace(&mut self.bench, Bench::None) == Bench::Awaited {
                put(Event::Bench {
                    pieces: bench.game.pieces() as u32,
                    lines: bench.game.lines() as u32,
                    micros: bench.time.as_micros(),
                    digest: bench.game.digest(),
                });
            }
        } else if self.subscription.status
            && Instant::now() >= self.status_at
            && let Some(snapshot) = SNAPSHOT.try_get()
        {
            self.status_at = (self.status_at + STATUS).max(Instant::now());
            put(Event::Status(snapshot.status()));
        } else if self.subscription.log
            && let Some(line) = log::from(self.line)
        {
            self.line = line.number.wrapping_add(1);
            put(Event::Log { uptime: line.uptime, text: &line.text });
        } else if self.subscription.placements
            && self.bench == Bench::None
            && let Some(told) = self.reader.read()
        {
            match told {
                Told::Board(standing) => put(Event::Board(standing.board())),
                Told::Moves(before, codes) => put(Event::Moves { before, codes }),
                Told::End(standing) => put(Event::End {
                    seed: standing.seed,
                    pieces: standing.pieces,
                    lines: standing.lines,
                    digest: standing.digest,
                }),
            }
        }
    }
}
