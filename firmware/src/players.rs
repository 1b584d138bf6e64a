//! The players that can be chosen: those that came with the firmware, then those in flash.
//!
//! Core 0 alone has to do with them: flash is written by it, while core 1 stands still.

use dropwise_core::store::{Error, SLOTS, Saved, Slot, Store};
use dropwise_core::wire::{Refusal, SlotInfo, When};
use dropwise_core::{Name, Player};
use embassy_rp::flash::{Blocking, Error as FlashError, Flash};
use embassy_rp::peripherals::FLASH;
use embassy_time::{Duration, Instant};

use crate::built_in::{BUILT_IN, FIRST};
use crate::log::{complain, say};
use crate::order::{self, Order};
use crate::watchdog;

/// How many can be stored.
pub(crate) const CAPACITY: usize = SLOTS;

/// The part of the flash that every board has; the store lies within it.
const FLASH_SIZE: usize = 2 * 1024 * 1024;

/// How long after a button a choice is kept in flash. Everything stands still for as long as that takes, which a press
/// of a button must not; and going through the players one after the other is one change.
const CHOOSING: Duration = Duration::from_secs(2);

/// The flash, as the store needs it.
pub(crate) type Chip = Flash<'static, FLASH, Blocking, FLASH_SIZE>;

/// All players, and who plays.
pub(crate) struct Players {
    store: Store<Chip>,
    /// Who plays, or will from the next game on.
    playing: Name,
    /// When that is to be kept in flash, if a button chose it.
    keep_at: Option<Instant>,
}

impl Players {
    /// Reads what is in flash, whatever that is, and lets the selected player play; the first of the built-in ones if
    /// there is none, or none is to be trusted.
    pub(crate) fn mount(chip: Chip, trusted: bool) -> Players {
        unsafe extern "C" {
            static _store_start: u8;
            static _store_end: u8;
        }
        // The linker script defines offsets in flash as these symbols' addresses.
        let range = (&raw const _store_start) as u32..(&raw const _store_end) as u32;
        let store = match Store::mount(chip, range) {
            Ok(store) => store,
            // Nothing that flash holds leads here.
            Err(_) => panic!("memory.x has no store of whole sectors"),
        };
        let mut players = Players { store, playing: FIRST.slot().name, keep_at: None };
        match players.store.slots().len() {
            0 => say!("store players=0: nothing is stored, the built-in players play"),
            stored => say!("store players={stored}"),
        }
        if trusted {
            players.playing = players.selected().name;
        }
        players
    }

    /// The player of this name. One that was stored before the firmware had its own of that name goes first.
    fn find(&self, name: &str) -> Option<Slot> {
        let stored = self.store.slots().iter().find(|slot| slot.name.as_str() == name);
        let built_in = || BUILT_IN.iter().find(|built_in| built_in.name == name);
        stored.copied().or_else(|| Some(built_in()?.slot()))
    }

    /// Who plays after a start.
    fn selected(&self) -> Slot {
        if self.keep_at.is_some() {
            return self.playing();
        }
        self.store.selected().and_then(|name| self.find(name.as_str())).unwrap_or_else(|| FIRST.slot())
    }

    /// Who plays, or will from the next game on.
    pub(crate) fn playing(&self) -> Slot {
        self.find(self.playing.as_str()).unwrap_or_else(|| FIRST.slot())
    }

    /// The player of this name.
    pub(crate) fn player(&self, name: &str) -> Option<Player> {
        self.find(name).map(|slot| slot.player)
    }

    /// A player by number: the built-in ones, then the stored ones.
    pub(crate) fn info(&self, index: usize) -> Option<SlotInfo<'_>> {
        let (name, player, built_in) = match BUILT_IN.get(index) {
            Some(built_in) => (built_in.name, &built_in.player, true),
            None => {
                let slot = self.store.slots().get(index - BUILT_IN.len())?;
                (slot.name.as_str(), &slot.player, false)
            }
        };
        let chosen = self.selected();
        // Of two of the same name, the stored one.
        let selected = chosen.name.as_str() == name && chosen.player == *player;
        Some(SlotInfo { name, set: player.set().id(), digest: player.digest(), built_in, selected })
    }

    /// Whether a player may be stored under this name.
    pub(crate) fn may_save(&self, name: &str) -> Result<Name, Refusal> {
        let name = Name::new(name).map_err(|_| Refusal::Name)?;
        if BUILT_IN.iter().any(|built_in| built_in.name == name.as_str()) {
            return Err(Refusal::BuiltIn);
        }
        if self.store.slots().len() == CAPACITY && self.store.find(&name).is_none() {
            return Err(Refusal::Full);
        }
        Ok(name)
    }

    /// Stores a player: whether there was something to write. If it is the one that plays, it does so as it is now from
    /// the next game on.
    pub(crate) fn save(&mut self, name: &str, player: Player) -> Result<bool, Refusal> {
        let name = self.may_save(name)?;
        has_room(1)?;
        let saved = self.write("saved", name, |store| store.save(name, player))?;
        say!("saved written={} player={name}", saved == Saved::Written);
        if self.playing == name && saved == Saved::Written {
            send(Order::Play(Slot { name, player }, When::Game));
        }
        Ok(saved == Saved::Written)
    }

    /// Forgets a stored player. If it is the one that plays, the first of the built-in ones does from the next game on.
    pub(crate) fn delete(&mut self, name: &str) -> Result<(), Refusal> {
        let name = Name::new(name).map_err(|_| Refusal::NoSuchSlot)?;
        if self.store.find(&name).is_none() {
            let is_built_in = BUILT_IN.iter().any(|built_in| built_in.name == name.as_str());
            return Err(if is_built_in { Refusal::BuiltIn } else { Refusal::NoSuchSlot });
        }
        has_room(1)?;
        self.write("deleted", name, |store| store.delete(&name))?;
        say!("deleted player={name}");
        if self.playing == name {
            self.keep_at = None;
            self.playing = FIRST.slot().name;
            send(Order::Play(self.playing(), When::Game));
        }
        Ok(())
    }

    /// Lets a player play, now and after a restart.
    pub(crate) fn select(&mut self, name: &str, when: When) -> Result<(), Refusal> {
        let slot = self.find(name).ok_or(Refusal::NoSuchSlot)?;
        has_room(1)?;
        self.write("kept", slot.name, |store| store.select(Some(slot.name)))?;
        self.keep_at = None;
        self.play(slot, when);
        Ok(())
    }

    /// The next player, in a new game, as a button asks for: also if flash does not keep it.
    pub(crate) fn next(&mut self) {
        if has_room(2).is_err() {
            complain!("the game does not take any more buttons");
            return;
        }
        let built_in = BUILT_IN.iter().position(|built_in| built_in.name == self.playing.as_str());
        let stored = self.store.slots().iter().position(|slot| slot.name == self.playing);
        let next = match (stored, built_in) {
            (Some(index), _) => BUILT_IN.len() + index + 1,
            (None, Some(index)) => index + 1,
            (None, None) => 0,
        };
        let slot = match BUILT_IN.get(next) {
            Some(built_in) => built_in.slot(),
            None => self.store.slots().get(next - BUILT_IN.len()).copied().unwrap_or_else(|| FIRST.slot()),
        };
        self.keep_at = Some(Instant::now() + CHOOSING);
        self.play(slot, When::Game);
        send(Order::NewGame(None, None));
    }

    /// Keeps what a button chose, if no other press followed.
    pub(crate) fn keep_when_due(&mut self) {
        if self.keep_at.is_some_and(|time| Instant::now() >= time) {
            self.keep();
        }
    }

    /// Keeps what a button chose, if that is still to be done.
    pub(crate) fn keep(&mut self) {
        if self.keep_at.take().is_some() {
            let name = self.playing;
            if let Ok(saved) = self.write("kept", name, |store| store.select(Some(name))) {
                say!("kept written={} player={name}", saved == Saved::Written);
            }
        }
    }

    /// Changes what is in flash; everything else stands still meanwhile. If it fails, says what was not done.
    fn write(
        &mut self,
        what: &str,
        name: Name,
        change: impl FnOnce(&mut Store<Chip>) -> Result<Saved, Error<FlashError>>,
    ) -> Result<Saved, Refusal> {
        let start = Instant::now();
        let changed = change(&mut self.store);
        watchdog::excuse(start.elapsed());
        changed.map_err(|error| {
            complain!("not {what} player={name}: {error}");
            match error {
                Error::Full => Refusal::Full,
                Error::Missing => Refusal::NoSuchSlot,
                Error::Range | Error::Verify | Error::Worn | Error::Flash(_) => Refusal::Flash,
            }
        })
    }

    fn play(&mut self, slot: Slot, when: When) {
        self.playing = slot.name;
        say!("player={}", slot.name);
        send(Order::Play(slot, when));
    }
}

/// Before anything changes: whether the game can be told.
fn has_room(orders: usize) -> Result<(), Refusal> {
    if order::has_room(orders) { Ok(()) } else { Err(Refusal::Busy) }
}

/// There is room: it was looked for.
fn send(order: Order) {
    let _ = order::send(order);
}
