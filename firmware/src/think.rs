//! Thinking: plays the games, on a core of its own, and says how they stand.
//!
//! - Watch: a row further down every frame, so that each piece is seen falling.
//! - Fast: a piece every frame.
//! - Turbo: as many as the chip can. The loop is in RAM, as is all it calls; it is left for an order, for a picture
//!   every tenth of a second, and for a line in the log every 500 pieces.

use defmt::info;
use dropwise_core::game::{Move, digest};
use dropwise_core::screen::Falling;
use dropwise_core::store::Slot;
use dropwise_core::wire::{GameRules, When};
use dropwise_core::{Controller, Game, Rules, Speed, Stack, Statistics};
use embassy_rp::clocks::RoscRng;
use embassy_rp::pac;
use embassy_sync::blocking_mutex::raw::CriticalSectionRawMutex;
use embassy_sync::signal::Signal;
use embassy_time::{Duration, Instant, with_deadline};

use crate::board::COLOURS;
use crate::log::say;
use crate::order::{self, Order};
use crate::rate::Rate;
use crate::snapshot::{SNAPSHOT, Snapshot, Standing};
use crate::telemetry::{self, News};
use crate::watchdog::{self, Part};

/// A frame at watch and at fast speed.
const FRAME: Duration = Duration::from_millis(33);
/// A frame at turbo speed.
const TURBO_FRAME: Duration = Duration::from_millis(100);
/// How long a finished game's score is shown.
const APPLAUSE: Duration = Duration::from_secs(2);
/// Pieces between two marks in the log.
const MARK: u64 = 500;

/// What came of a bench.
pub(crate) static BENCH: Signal<CriticalSectionRawMutex, Bench> = Signal::new();

/// Pieces played apart from the game.
pub(crate) struct Bench {
    /// The game they made, number 0 of seed 1.
    pub(crate) game: Game<'static>,
    /// How long it took.
    pub(crate) time: Duration,
}

#[embassy_executor::task]
pub(crate) async fn run(slot: Slot) -> ! {
    let mut table = Table::new(slot);
    loop {
        while !table.game.is_over() {
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
        table.finish();
        table.show();
        let next_game = Instant::now() + APPLAUSE;
        while table.game.is_over() && Instant::now() < next_game {
            watchdog::report(Part::Think);
            table.listen_until(next_game.min(Instant::now() + watchdog::REPORT)).await;
        }
        if table.game.is_over() {
            table.begin(None, None);
            table.show();
        }
    }
}

/// A game, who plays it and how.
struct Table {
    slot: Slot,
    controller: Controller,
    /// Who plays the next game, if it is another.
    next: Option<Slot>,
    speed: Speed,
    paused: bool,
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
    fn new(slot: Slot) -> Table {
        let mut table = Table {
            slot,
            controller: Controller::on_device(slot.player, Rules::default().height()),
            next: None,
            speed: Speed::Watch,
            paused: false,
            seed: 0,
            game: Game::new(Rules::default(), 0, 0),
            stack: Stack::new(),
            fall: None,
            marked: 0,
            rate: Rate::new(),
            frame_at: Instant::now(),
            statistics: Statistics::new(),
        };
        table.begin(None, None);
        table.show();
        table
    }

    /// A new game: with this seed, or one by chance; by these rules, or those of the last one. Its seed is told, so that a
    /// laptop can replay it.
    fn begin(&mut self, seed: Option<u64>, rules: Option<Rules<'static>>) {
        self.seed = seed.unwrap_or_else(random_seed);
        self.game = Game::new(rules.unwrap_or(*self.game.rules()), self.seed, 0);
        if let Some(slot) = self.next.take() {
            self.slot = slot;
        }
        self.take_the_controls();
        self.stack = Stack::new();
        self.fall = None;
        self.marked = 0;
        self.rate.pause();
        let rules = self.game.rules();
        say!(
            "game seed={} height={} pieces={} overflow={} player={}",
            self.seed,
            rules.height(),
            rules.pieces,
            rules.overflow,
            self.slot.name,
        );
        telemetry::tell(News::Board(self.standing()));
    }

    /// Another one plays.
    fn seat(&mut self, slot: Slot) {
        self.slot = slot;
        self.take_the_controls();
    }

    /// How the player uses its values follows from the board.
    fn take_the_controls(&mut self) {
        self.controller = Controller::on_device(self.slot.player, self.game.rules().height());
    }

    /// A game was lost.
    fn finish(&mut self) {
        self.statistics.record(self.game.lines());
        self.end("end");
    }

    /// A game is over, for this reason.
    fn end(&mut self, why: &str) {
        let (pieces, lines, digest) = (self.game.pieces(), self.game.lines(), self.game.digest());
        say!("{why} pieces={pieces} lines={lines} digest={digest:016x} seed={}", self.seed);
        telemetry::tell(News::End(self.standing()));
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
        if order::is_asked() {
            while let Some(order) = order::take() {
                self.attend(order);
            }
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

    /// Does what it is told to, until a time; returns early if the game or the way it goes has changed.
    async fn listen_until(&mut self, time: Instant) {
        let (paused, speed) = (self.paused, self.speed);
        while let Ok(order) = with_deadline(time, order::next()).await {
            let was_over = self.game.is_over();
            self.attend(order);
            if self.game.is_over() != was_over || (self.paused, self.speed) != (paused, speed) {
                break;
            }
        }
    }

    /// Carries an order out, and lets it be seen.
    fn attend(&mut self, order: Order) {
        let bench = if let Order::Bench(pieces) = order { Some(pieces) } else { None };
        self.obey(order);
        self.show();
        order::done();
        if let Some(pieces) = bench {
            self.bench(pieces.into());
        }
    }

    fn obey(&mut self, order: Order) {
        match order {
            Order::TogglePause => self.pause(!self.paused),
            Order::Pause(paused) => self.pause(paused),
            Order::Step | Order::NextSpeedOrStep if self.paused => self.place(),
            Order::Step => self.pause(true),
            Order::NextSpeed | Order::NextSpeedOrStep => self.go(self.speed.next()),
            Order::Speed(speed) => self.go(speed),
            Order::NewGame(seed, rules) => {
                if !self.game.is_over() {
                    self.end("given-up");
                }
                self.begin(seed, rules);
            }
            Order::Play(slot, When::Game) => self.next = Some(slot),
            Order::Play(slot, When::Piece) => {
                self.next = None;
                // The piece on its way down is the new one's to place.
                self.fall = None;
                self.seat(slot);
                telemetry::tell(News::Board(self.standing()));
            }
            // It begins when this has been said to be done.
            Order::Bench(_) => {}
            Order::Tell => telemetry::tell(News::Told(self.standing())),
        }
    }

    fn pause(&mut self, paused: bool) {
        self.paused = paused;
        self.rate.pause();
        say!("paused={paused}");
    }

    fn go(&mut self, speed: Speed) {
        self.speed = speed;
        self.frame_at = Instant::now();
        self.rate.pause();
        say!("speed={}", speed.name());
    }

    /// Plays so many pieces apart from the game, or until the first order that comes.
    fn bench(&mut self, pieces: u64) {
        let mut game = Game::new(Rules::default(), 1, 0);
        let controller = Controller::on_device(self.slot.player, game.rules().height());
        let start = Instant::now();
        while game.pieces() < pieces && !game.is_over() && !order::is_asked() {
            watchdog::report(Part::Think);
            race(&mut game, &controller, pieces, TURBO_FRAME.as_micros() as u32);
        }
        let time = start.elapsed();
        self.rate.pause();
        say!("bench pieces={} micros={} player={}", game.pieces(), time.as_micros(), self.slot.name);
        BENCH.signal(Bench { game, time });
    }

    /// The game between two pieces.
    fn standing(&self) -> Standing {
        Standing {
            slot: self.slot,
            seed: self.seed,
            rules: GameRules::of(self.game.rules()).unwrap_or_default(),
            pieces: self.game.pieces(),
            lines: self.game.lines(),
            digest: self.game.digest(),
            well: *self.game.well(),
        }
    }

    /// Lets the game be seen as it stands.
    fn show(&self) {
        let falling = self.fall.as_ref().map(|fall| Falling {
            piece: fall.step.piece,
            placement: fall.step.placement,
            row: fall.row,
        });
        SNAPSHOT.sender().send(Snapshot {
            standing: self.standing(),
            stack: self.stack,
            falling,
            rate_tenths: self.rate.tenths,
            speed: self.speed,
            paused: self.paused,
            finished: self.game.is_over(),
            statistics: self.statistics,
        });
    }
}

/// A seed from the ring oscillator's jitter. Its bit is read several times an oscillation, so neighbours are much
/// alike; 64 seeds' worth of them are folded into one.
fn random_seed() -> u64 {
    digest((0..64).map(|_| RoscRng.next_u64()))
}

/// Plays until so many pieces of the game are placed, the time is up, there is an order, or the game is lost.
///
/// In RAM (memory.x), with all it calls: from flash each miss of the cache would cost as much as a placement.
#[inline(never)]
#[unsafe(link_section = ".hot.sprint")]
fn sprint(game: &mut Game<'static>, stack: &mut Stack, controller: &Controller, pieces: u64, micros: u32) {
    play(game, controller, pieces, micros, |step| count(stack, step));
}

/// The same, with nobody to take note of it.
#[inline(never)]
#[unsafe(link_section = ".hot.race")]
fn race(game: &mut Game<'static>, controller: &Controller, pieces: u64, micros: u32) {
    play(game, controller, pieces, micros, |_| {});
}

#[inline(always)]
fn play(
    game: &mut Game<'static>,
    controller: &Controller,
    pieces: u64,
    micros: u32,
    mut placed: impl FnMut(&Move),
) {
    let clock = || pac::TIMER.timerawl().read();
    let start = clock();
    while game.pieces() < pieces && clock().wrapping_sub(start) < micros && !order::is_asked() {
        let Some(step) = game.step(controller) else { return };
        placed(&step);
    }
}

/// Takes note of a piece that was placed.
#[inline(always)]
fn count(stack: &mut Stack, step: &Move) {
    if COLOURS {
        stack.follow(step);
    }
    telemetry::record(step);
}
