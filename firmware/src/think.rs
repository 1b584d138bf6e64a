//! Thinking: plays the games, on a core of its own, and says how they stand.
//!
//! - Watch: a row further down every frame, so that each piece is seen falling.
//! - Fast: a piece every frame.
//! - Turbo: as many as the chip can. The loop is in RAM, as is all it calls; it is left for a button, for a picture
//!   every tenth of a second, and for a line in the log every 500 pieces.

use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use defmt::{info, warn};
use dropwise_core::game::{Move, digest};
use dropwise_core::screen::{About, Crash, Falling, Page, Play, Scene, Speed};
use dropwise_core::{Controller, Game, Rules, Stack, Statistics, Well};
use embassy_rp::clocks::RoscRng;
use embassy_rp::pac;
use embassy_sync::blocking_mutex::raw::CriticalSectionRawMutex;
use embassy_sync::channel::Channel;
use embassy_sync::signal::Signal;
use embassy_time::{Duration, Instant, with_deadline};

use crate::action::Action;
use crate::board::COLOURS;
use crate::crash;
use crate::slots::SLOTS;
use crate::watchdog::{self, Part};

/// A frame at watch and at fast speed.
const FRAME: Duration = Duration::from_millis(33);
/// A frame at turbo speed.
const TURBO_FRAME: Duration = Duration::from_millis(100);
/// How long a finished game's score is shown.
const APPLAUSE: Duration = Duration::from_secs(2);
/// Pieces between two marks in the log.
const MARK: u64 = 500;

/// Pieces placed since the start.
#[unsafe(no_mangle)]
static DROPWISE_PIECES: AtomicU32 = AtomicU32::new(0);

static ACTIONS: Channel<CriticalSectionRawMutex, Action, 8> = Channel::new();
/// Whether [`ACTIONS`] has something, for a loop that cannot afford to look there.
static ASKED: AtomicBool = AtomicBool::new(false);

/// The game as it stands, for the screen.
pub(crate) static SNAPSHOT: Signal<CriticalSectionRawMutex, Snapshot> = Signal::new();

/// Asks for something. Never waits: what does not fit is dropped, as a button can be pressed again.
pub(crate) fn ask(action: Action) {
    if ACTIONS.try_send(action).is_err() {
        warn!("the game does not take any more buttons");
    }
    ASKED.store(true, Ordering::Release);
}

/// A game as it stands.
#[derive(Clone)]
pub(crate) struct Snapshot {
    well: Well,
    stack: Stack,
    falling: Option<Falling>,
    lines: u64,
    pieces: u64,
    rate_tenths: u32,
    seed: u64,
    speed: Speed,
    paused: bool,
    finished: bool,
    slot: usize,
    statistics: Statistics,
}

impl Snapshot {
    /// What to draw.
    pub(crate) fn scene<'a>(&'a self, page: Page, about: About<'a>, crash: Crash<'a>) -> Scene<'a> {
        Scene {
            page,
            play: Play {
                well: &self.well,
                stack: COLOURS.then_some(&self.stack),
                falling: self.falling,
                next: &[],
                lines: self.lines,
                pieces: self.pieces,
                rate_tenths: self.rate_tenths,
                seed: self.seed,
                speed: self.speed,
                paused: self.paused,
                finished: self.finished,
            },
            player: &SLOTS[self.slot].player,
            name: SLOTS[self.slot].name,
            statistics: &self.statistics,
            about,
            crash,
        }
    }
}

#[embassy_executor::task]
pub(crate) async fn run(slot: usize) -> ! {
    let mut table = Table::new(slot);
    loop {
        while !table.given_up && !table.game.is_over() {
            watchdog::report(Part::Think);
            if table.paused {
                table.listen_until(Instant::now() + watchdog::REPORT).await;
            } else if table.speed == Speed::Turbo {
                table.sprint();
            } else {
                table.frame();
                table.show();
                let next = table.next_frame(FRAME);
                table.listen_until(next).await;
            }
        }
        if !table.given_up {
            table.finish();
            table.show();
            let next_game = Instant::now() + APPLAUSE;
            while !table.given_up && Instant::now() < next_game {
                watchdog::report(Part::Think);
                table.listen_until(next_game.min(Instant::now() + watchdog::REPORT)).await;
            }
        }
        table.begin();
        table.show();
    }
}

/// A game, who plays it and how.
struct Table {
    slot: usize,
    controller: Controller,
    speed: Speed,
    paused: bool,
    /// Whether a button ended the game.
    given_up: bool,
    seed: u64,
    game: Game<'static>,
    stack: Stack,
    fall: Option<Fall>,
    /// Pieces at the last mark.
    marked: u64,
    rate: Rate,
    frame_at: Instant,
    statistics: Statistics,
}

/// A piece on its way down; the game goes on from `after` when it lands.
struct Fall {
    after: Game<'static>,
    step: Move,
    row: u8,
}

impl Table {
    fn new(slot: usize) -> Table {
        let mut table = Table {
            slot,
            controller: Controller::new(SLOTS[slot].player),
            speed: Speed::Watch,
            paused: false,
            given_up: false,
            seed: 0,
            game: Game::new(Rules::default(), 0, 0),
            stack: Stack::new(),
            fall: None,
            marked: 0,
            rate: Rate::new(),
            frame_at: Instant::now(),
            statistics: Statistics::new(),
        };
        table.begin();
        table
    }

    /// A new game. Its seed is told, so that a laptop can replay it.
    fn begin(&mut self) {
        self.seed = random_seed();
        self.game = Game::new(Rules::default(), self.seed, 0);
        self.stack = Stack::new();
        self.fall = None;
        self.marked = 0;
        self.given_up = false;
        self.rate.pause();
        info!(
            "game seed={=u64} player={=str} height={=u8}",
            self.seed,
            SLOTS[self.slot].name,
            self.game.rules().height() as u8
        );
    }

    /// A game was lost.
    fn finish(&mut self) {
        self.statistics.record(self.game.lines());
        info!(
            "end pieces={=u64} lines={=u64} digest={=u64:016x} seed={=u64}",
            self.game.pieces(),
            self.game.lines(),
            self.game.digest(),
            self.seed
        );
    }

    /// One frame at watch or fast speed.
    fn frame(&mut self) {
        if self.speed == Speed::Fast {
            self.place();
            return;
        }
        match &mut self.fall {
            Some(fall) if fall.row > fall.step.landing.row => fall.row -= 1,
            Some(_) => self.place(),
            None => self.pick_up(),
        }
    }

    /// The next piece appears at the top, above where it will land.
    fn pick_up(&mut self) {
        let mut after = self.game.clone();
        match after.step(&self.controller) {
            Some(step) => {
                let height = step.placement.shape(step.piece).height;
                let row = self.game.rules().height().saturating_sub(height) as u8;
                self.fall = Some(Fall { after, step, row: row.max(step.landing.row) });
            }
            None => self.game = after,
        }
    }

    /// A piece lands: the one on its way down, or the next.
    fn place(&mut self) {
        if self.fall.is_none() {
            self.pick_up();
        }
        let Some(fall) = self.fall.take() else { return };
        self.game = fall.after;
        count(&mut self.stack, &fall.step);
        self.note();
    }

    /// Plays at full speed, for a frame at most.
    fn sprint(&mut self) {
        if self.fall.is_some() {
            self.place();
        }
        let mark = (self.game.pieces() / MARK + 1) * MARK;
        let left = self.frame_at.saturating_duration_since(Instant::now()).as_micros() as u32;
        sprint(&mut self.game, &mut self.stack, &self.controller, mark, left);
        self.note();
        if ASKED.load(Ordering::Acquire) {
            ASKED.store(false, Ordering::Release);
            while let Ok(action) = ACTIONS.try_receive() {
                self.obey(action);
            }
            self.show();
        }
        if Instant::now() >= self.frame_at {
            self.next_frame(TURBO_FRAME);
            self.show();
        }
    }

    /// After one or more pieces: the log and the rate.
    fn note(&mut self) {
        let pieces = self.game.pieces();
        if pieces % MARK == 0 && pieces != self.marked {
            self.marked = pieces;
            info!(
                "mark pieces={=u64} lines={=u64} digest={=u64:016x}",
                pieces,
                self.game.lines(),
                self.game.digest()
            );
        }
        self.rate.count(pieces);
    }

    /// When the next frame is due: a period after this one was, unless that is over already.
    fn next_frame(&mut self, period: Duration) -> Instant {
        self.frame_at = (self.frame_at + period).max(Instant::now());
        self.frame_at
    }

    /// Does what the buttons ask for, until a time; returns early if the game or the way it goes has changed.
    async fn listen_until(&mut self, time: Instant) {
        let (paused, speed) = (self.paused, self.speed);
        while let Ok(action) = with_deadline(time, ACTIONS.receive()).await {
            self.obey(action);
            self.show();
            if self.given_up || self.game.is_over() || (self.paused, self.speed) != (paused, speed) {
                break;
            }
        }
    }

    fn obey(&mut self, action: Action) {
        match action {
            Action::Pause => self.pause(!self.paused),
            Action::Step | Action::SpeedOrStep if self.paused => self.place(),
            Action::Step => self.pause(true),
            Action::Speed | Action::SpeedOrStep => {
                self.speed = self.speed.next();
                self.frame_at = Instant::now();
                self.rate.pause();
                info!("speed={=str}", self.speed.name());
            }
            Action::NewGame => self.given_up = true,
            Action::Player => {
                self.given_up = true;
                self.slot = (self.slot + 1) % SLOTS.len();
                self.controller = Controller::new(SLOTS[self.slot].player);
                crash::keep_slot(self.slot);
                info!("player={=str}", SLOTS[self.slot].name);
            }
            Action::Page => {}
        }
    }

    fn pause(&mut self, paused: bool) {
        self.paused = paused;
        self.rate.pause();
        info!("paused={=bool}", paused);
    }

    /// Gives the screen the game as it stands.
    fn show(&self) {
        let falling = self.fall.as_ref().map(|fall| Falling {
            piece: fall.step.piece,
            placement: fall.step.placement,
            row: fall.row,
        });
        SNAPSHOT.signal(Snapshot {
            well: *self.game.well(),
            stack: self.stack,
            falling,
            lines: self.game.lines(),
            pieces: self.game.pieces(),
            rate_tenths: self.rate.tenths,
            seed: self.seed,
            speed: self.speed,
            paused: self.paused,
            finished: self.game.is_over(),
            slot: self.slot,
            statistics: self.statistics,
        });
    }
}

/// A seed from the ring oscillator's jitter. Its bit is read several times an oscillation, so neighbours are much
/// alike; 64 seeds' worth of them are folded into one.
fn random_seed() -> u64 {
    digest((0..64).map(|_| RoscRng.next_u64()))
}

/// Plays until so many pieces of the game are placed, the time is up, a button asks, or the game is lost.
///
/// In RAM (memory.x), with all it calls: from flash each miss of the cache would cost as much as a placement.
#[inline(never)]
#[unsafe(link_section = ".hot.sprint")]
fn sprint(game: &mut Game<'static>, stack: &mut Stack, controller: &Controller, pieces: u64, micros: u32) {
    let clock = || pac::TIMER.timerawl().read();
    let start = clock();
    while game.pieces() < pieces && clock().wrapping_sub(start) < micros && !ASKED.load(Ordering::Relaxed) {
        let Some(step) = game.step(controller) else { return };
        count(stack, &step);
    }
}

/// Takes note of a piece that was placed.
#[inline(always)]
fn count(stack: &mut Stack, step: &Move) {
    if COLOURS {
        stack.follow(step);
    }
    // Core 1 alone writes it.
    DROPWISE_PIECES.store(DROPWISE_PIECES.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
}

/// Pieces per second, measured from piece to piece over a second or more.
struct Rate {
    tenths: u32,
    /// The piece it is measured from, and when that was placed.
    from: Option<(u64, Instant)>,
}

impl Rate {
    const fn new() -> Rate {
        Rate { tenths: 0, from: None }
    }

    /// The next piece says nothing about the speed of play.
    fn pause(&mut self) {
        *self = Rate::new();
    }

    fn count(&mut self, pieces: u64) {
        let now = Instant::now();
        let Some((first, since)) = self.from else {
            self.from = Some((pieces, now));
            return;
        };
        let micros = now.saturating_duration_since(since).as_micros();
        if micros >= 1_000_000 {
            self.tenths = ((pieces - first) * 10_000_000 / micros) as u32;
            self.from = Some((pieces, now));
        }
    }
}
