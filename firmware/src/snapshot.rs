//! The game as it stands: what core 1 tells the screen and the link.

use dropwise_core::screen::{About, Crash, Falling, Page, Play, Scene};
use dropwise_core::store::Slot;
use dropwise_core::wire::{Board, GameRules, Status};
use dropwise_core::{Speed, Stack, Statistics, Well};
use embassy_sync::blocking_mutex::raw::CriticalSectionRawMutex;
use embassy_sync::watch::Watch;
use embassy_time::Instant;

use crate::board::COLOURS;

/// The latest. The screen waits for it; the link looks when it is asked.
pub(crate) static SNAPSHOT: Watch<CriticalSectionRawMutex, Snapshot, 1> = Watch::new();

/// A game between two pieces.
#[derive(Clone)]
pub(crate) struct Standing {
    pub(crate) slot: Slot,
    pub(crate) seed: u64,
    pub(crate) rules: GameRules,
    pub(crate) pieces: u64,
    pub(crate) lines: u64,
    pub(crate) digest: u64,
    pub(crate) well: Well,
}

impl Standing {
    /// The same for a laptop.
    pub(crate) fn board(&self) -> Board<'_> {
        Board {
            player: self.slot.name.as_str(),
            seed: self.seed,
            rules: self.rules,
            pieces: self.pieces,
            lines: self.lines,
            digest: self.digest,
            columns: *self.well.columns(),
        }
    }
}

/// A game and how it goes.
#[derive(Clone)]
pub(crate) struct Snapshot {
    pub(crate) standing: Standing,
    pub(crate) stack: Stack,
    pub(crate) falling: Option<Falling>,
    pub(crate) rate_tenths: u32,
    pub(crate) speed: Speed,
    pub(crate) paused: bool,
    pub(crate) finished: bool,
    pub(crate) statistics: Statistics,
}

impl Snapshot {
    /// What to draw.
    pub(crate) fn scene<'a>(&'a self, page: Page, about: About<'a>, crash: Crash<'a>) -> Scene<'a> {
        let standing = &self.standing;
        Scene {
            page,
            play: Play {
                well: &standing.well,
                stack: COLOURS.then_some(&self.stack),
                falling: self.falling,
                next: &[],
                lines: standing.lines,
                pieces: standing.pieces,
                rate_tenths: self.rate_tenths,
                seed: standing.seed,
                speed: self.speed,
                paused: self.paused,
                finished: self.finished,
            },
            player: &standing.slot.player,
            name: standing.slot.name.as_str(),
            statistics: &self.statistics,
            about,
            crash,
        }
    }

    /// What to tell a laptop.
    pub(crate) fn status(&self) -> Status<'_> {
        let standing = &self.standing;
        Status {
            player: standing.slot.name.as_str(),
            player_digest: standing.slot.player.digest(),
            seed: standing.seed,
            rules: standing.rules,
            pieces: standing.pieces,
            lines: standing.lines,
            digest: standing.digest,
            rate_tenths: self.rate_tenths,
            speed: self.speed,
            paused: self.paused,
            games: self.statistics.games(),
            best: self.statistics.best(),
            mean_tenths: self.statistics.mean_tenths(),
            uptime: Instant::now().as_millis(),
        }
    }
}
