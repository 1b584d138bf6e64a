//! What this device does for a laptop: the wire's requests, carried out.

use core::cell::RefMut;

use dropwise_core::name::MAX_NAME;
use dropwise_core::screen::Crash;
use dropwise_core::wire::{
    CrashReport, GameRules, Greeting, Handheld, Identity, PROTOCOL, Refusal, SlotInfo, Status, Subscription,
    WEIGHTS_FORMAT, When,
};
use dropwise_core::{Player, Set, Speed};

use crate::board;
use crate::feed::Feed;
use crate::order::{self, Order};
use crate::players::{CAPACITY, Players};
use crate::snapshot::Snapshot;

/// The device, for as long as it takes to carry one request out.
pub(crate) struct Device<'a> {
    /// The flash chip's unique id.
    pub(crate) id: &'static str,
    /// Why the device started again.
    pub(crate) crash: Crash<'static>,
    pub(crate) players: RefMut<'a, Players>,
    pub(crate) feed: &'a mut Feed,
    /// The game as it stands.
    pub(crate) snapshot: &'a Snapshot,
    /// Whether to start again, and if so, whether as a drive.
    pub(crate) reset: &'a mut Option<bool>,
}

impl Device<'_> {
    /// A bench is a measurement: it is not to be disturbed.
    fn is_free(&self) -> Result<(), Refusal> {
        if self.feed.is_benching() { Err(Refusal::Busy) } else { Ok(()) }
    }

    fn order(&self, order: Order) -> Result<(), Refusal> {
        self.is_free()?;
        order::send(order).map_err(|_| Refusal::Busy)
    }
}

impl Handheld for Device<'_> {
    fn identity(&self) -> Identity<'_> {
        Identity {
            greeting: Greeting { protocol: PROTOCOL, firmware: env!("CARGO_PKG_VERSION") },
            board: board::NAME,
            id: self.id,
            sets: Set::ALL.iter().fold(0, |sets, set| sets | 1 << set.id()),
            weights_format: WEIGHTS_FORMAT,
            capacity: CAPACITY as u8,
            max_name: MAX_NAME as u8,
        }
    }

    fn slot(&self, index: usize) -> Option<SlotInfo<'_>> {
        self.players.info(index)
    }

    fn player(&self, name: &str) -> Option<Player> {
        self.players.player(name)
    }

    fn save(&mut self, name: &str, player: Player) -> Result<bool, Refusal> {
        self.is_free()?;
        self.players.save(name, player)
    }

    fn may_save(&self, name: &str) -> Result<(), Refusal> {
        self.players.may_save(name).map(|_| ())
    }

    fn delete(&mut self, name: &str) -> Result<(), Refusal> {
        self.is_free()?;
        self.players.delete(name)
    }

    fn select(&mut self, name: &str, when: When) -> Result<(), Refusal> {
        self.is_free()?;
        self.players.select(name, when)
    }

    fn new_game(&mut self, seed: Option<u64>, rules: GameRules) -> Result<(), Refusal> {
        let rules = rules.rules().map_err(|_| Refusal::Rules)?;
        self.order(Order::NewGame(seed, Some(rules)))
    }

    fn pause(&mut self, paused: bool) -> Result<(), Refusal> {
        self.order(Order::Pause(paused))
    }

    fn step(&mut self) -> Result<(), Refusal> {
        self.order(Order::Step)
    }

    fn speed(&mut self, speed: Speed) -> Result<(), Refusal> {
        self.order(Order::Speed(speed))
    }

    fn status(&self) -> Status<'_> {
        self.snapshot.status()
    }

    fn subscribe(&mut self, subscription: Subscription) {
        self.feed.subscribe(subscription);
    }

    fn bench(&mut self, pieces: u32) -> Result<(), Refusal> {
        self.order(Order::Bench(pieces))?;
        self.feed.await_bench();
        Ok(())
    }

    fn crash(&self) -> Option<CrashReport<'_>> {
        let Crash { kind, message, place } = self.crash;
        (self.crash != Crash::NONE).then_some(CrashReport { kind, message, place })
    }

    fn reset(&mut self, bootsel: bool) {
        self.players.keep();
        *self.reset = Some(bootsel);
    }
}
