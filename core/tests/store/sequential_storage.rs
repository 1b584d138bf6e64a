//! The same trials on another store, which is known to lose: proof that they can fail.
//!
//! sequential-storage 8.0.2 keeps a map of items in pages that it fills one after the other. With words of
//! one byte, the RP2040's, some cuts make it lose items that it had acknowledged.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use dropwise_core::{Player, Set};
use embedded_storage::nor_flash::{NorFlash as _, ReadNorFlash as _};
use embedded_storage_async::nor_flash::{ErrorType, NorFlash, ReadNorFlash};
use sequential_storage::cache::Cache;
use sequential_storage::map::{MapConfig, MapStorage};

use crate::flash::{Failure, Flash, Noise};
use crate::model::{Change, Refusal, State};
use crate::trial::{Faults, Length, Subject, Tally, Violation, trial};

/// The flash again, for those who would wait for it.
struct Awaited<'a, const SECTOR: usize>(&'a mut Flash<SECTOR>);

impl<const SECTOR: usize> ErrorType for Awaited<'_, SECTOR> {
    type Error = Failure;
}

impl<const SECTOR: usize> ReadNorFlash for Awaited<'_, SECTOR> {
    const READ_SIZE: usize = 1;

    async fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), Failure> {
        self.0.read(offset, bytes)
    }

    fn capacity(&self) -> usize {
        self.0.capacity()
    }
}

impl<const SECTOR: usize> NorFlash for Awaited<'_, SECTOR> {
    const WRITE_SIZE: usize = 1;
    const ERASE_SIZE: usize = SECTOR;

    async fn erase(&mut self, from: u32, to: u32) -> Result<(), Failure> {
        self.0.erase(from, to)
    }

    async fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), Failure> {
        self.0.write(offset, bytes)
    }
}

/// Nothing here ever waits.
fn ready<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => unreachable!("the flash does not wait"),
    }
}

/// A slot is the item of its name's number. To delete or to select would take a second item, at another time.
struct Map<const SECTOR: usize>(Flash<SECTOR>);

impl<const SECTOR: usize> Map<SECTOR> {
    fn fetch(&mut self, key: u8) -> Result<Option<Player>, Refusal> {
        let config = MapConfig::new(self.0.range());
        let mut map = MapStorage::<u8, _, _>::new(Awaited(&mut self.0), config, Cache::new_uncached());
        let mut buffer = [0; 128];
        let item = ready(map.fetch_item::<&[u8]>(&mut buffer, &key)).map_err(|_| Refusal::Flash)?;
        let Some([id, weights @ ..]) = item else { return Ok(None) };
        let weights: Vec<i16> =
            weights.chunks_exact(2).map(|bytes| i16::from_le_bytes([bytes[0], bytes[1]])).collect();
        let player = Set::from_id(*id).and_then(|set| Player::new(set, &weights).ok());
        player.map(Some).ok_or(Refusal::Flash)
    }
}

impl<const SECTOR: usize> Subject<SECTOR> for Map<SECTOR> {
    fn mount(mut flash: Flash<SECTOR>) -> Self {
        flash.lenient = true;
        Map(flash)
    }

    fn release(self) -> Flash<SECTOR> {
        self.0
    }

    fn flash(&mut self) -> &mut Flash<SECTOR> {
        &mut self.0
    }

    fn state(&mut self) -> Option<State> {
        let mut state = State::default();
        for (key, slot) in state.slots.iter_mut().enumerate() {
            *slot = self.fetch(key as u8).ok()?;
        }
        Some(state)
    }

    fn takes(change: Change) -> bool {
        matches!(change, Change::Save(..))
    }

    fn apply(&mut self, change: Change) -> Result<(), Refusal> {
        let Change::Save(name, player) = change else { unreachable!("not taken") };
        let mut item = vec![player.set().id()];
        item.extend(player.weights().iter().flat_map(|weight| weight.to_le_bytes()));
        let config = MapConfig::new(self.0.range());
        let mut map = MapStorage::<u8, _, _>::new(Awaited(&mut self.0), config, Cache::new_uncached());
        ready(map.store_item(&mut [0; 128], &(name as u8), &&item[..])).map_err(|_| Refusal::Flash)
    }

    fn is_whole(&self) -> bool {
        true
    }

    fn room() -> usize {
        usize::MAX
    }

    fn steps(_: &State) -> u64 {
        // An item of two dozen weights with its header.
        64
    }
}

/// The first sequence in which it breaks the law.
fn search(faults: Faults, sequences: u64) -> Option<Box<Violation>> {
    let length = Length { sectors: 4, steps: 100 };
    (0..sequences).find_map(|seed| {
        trial::<512, Map<512>>(&mut Noise(seed << 20), faults, length, &mut Tally::default()).err()
    })
}

#[test]
fn trials_find_what_sequential_storage_loses() {
    let faults = Faults { cuts: false, arbitrary_bits: false, reads: false, wear: false };
    assert!(search(faults, 100).is_none(), "it keeps all while the power stays on");

    let violation = search(Faults { cuts: true, ..faults }, 20_000).expect("a loss in two million changes");
    let is_loss = match *violation {
        Violation::Wrong { change: Change::Save(name, player), result: Ok(()), shows: Some(state) } => {
            state.slots[name] != Some(player)
        }
        Violation::Wrong { .. } => false,
        Violation::Lost { possible, shows } => shows.is_none_or(|state| !possible.contains(&state)),
    };
    assert!(is_loss, "a save is acknowledged and not there");
}
