//! Named players in NOR flash, kept through power cuts.
//!
//! The store is a ring of sectors. A save writes everything the store knows, a *snapshot*, into the sector
//! behind the newest one, and never touches the newest. So the flash holds the old state until the new one is
//! complete, and the wear is spread over the ring:
//!
//! ```text
//!   sector   0        1        2        3        4            15
//!         +--------+--------+--------+--------+--------+-   -+--------+
//!         |   17   |   18   |   19   |    4   |    5   | ... |   16   |   numbers: the sequence
//!         +--------+--------+--------+--------+--------+-   -+--------+
//!                            newest   written
//!                                     next
//! ```
//!
//! # The record
//!
//! Numbers are little-endian. The header has a page of its own, though it is short: flash is programmed by
//! pages, and so no page is programmed twice between two erases.
//!
//! ```text
//!   offset  size  field
//!        0     4  magic     "DRPW": not erased flash (ff), not zeros, not likely in a program
//!        4     2  version   1. Another version is another layout of the body; the header stays as it is
//!        6     2  length    of the body, so that nothing behind it is taken for a part of it
//!        8     4  sequence  1, 2, 3...: the highest is the newest
//!       12     4  body CRC  CRC-32 (ISO-HDLC) of the body: it was complete, and still is
//!       16     4  CRC       CRC-32 of bytes 0 to 15, programmed last: without it there is no record
//!       20        (erased)
//!      256        body, `length` bytes:
//!              1  length of the selected player's name, 0 if none is selected
//!           0-24  the selected player's name; a slot's or a built-in player's
//!              1  number of slots, 0 to 12
//!                 for each slot:
//!              1    length of its name, 1 to 24
//!           1-24    its name, printable ASCII, of which no other slot has the same
//!              1    the feature set's number
//!              1    number of weights. The set tells it, too: a program in which the set has another length
//!                   than in the one that wrote must not take the weights for its own
//!           2 n     the weights, each from -16383 to 16383
//!                 (erased)
//! ```
//!
//! A body takes up to 1,022 bytes, so a sector holds any snapshot. The sequence cannot run out: flash endures
//! about 100,000 erases a sector, 1.6 million saves on 16 sectors, and the numbers reach 4 billion; there is
//! no wrap-around.
//!
//! # A save, step by step
//!
//! 1. Read the ring afresh. If a sector cannot be read, refuse: it may hold the newest snapshot, and what was
//!    written now would have an equal or a lower sequence number.
//! 2. Nothing would change, and the newest snapshot still reads as it should: done.
//! 3. Erase the sector behind the one of the highest sequence number, even if it looks erased: an erase that
//!    was cut short may look complete and not last. Never the newest snapshot; a record of another version
//!    only if there is nothing else.
//! 4. Program the body, page by page, and read each page back.
//! 5. Program the header and read it back. This commits: before, the sector holds nothing that would be
//!    accepted; after, the newest snapshot.
//! 6. If a step failed, the same with the next sector, two times: a worn-out sector does not stop the store.
//!
//! The new sequence number is one more than any header's in the ring, whether its record decodes or not.
//!
//! A cut in step 3 leaves the old record, which is not the newest, or one whose CRCs are wrong; in step 4 no
//! header; in step 5 a header whose CRC is wrong, or the complete one. [`Store::mount`] reads and never
//! writes: what does not decode is skipped, and left for the next saves.
//!
//! # Example
//!
//! ```
//! use dropwise_core::store::{Saved, Store};
//! use dropwise_core::{Name, Player};
//! # use embedded_storage::nor_flash::{ErrorType, NorFlash, ReadNorFlash};
//! # struct Ram([u8; 16384]);
//! # impl ErrorType for Ram { type Error = core::convert::Infallible; }
//! # impl ReadNorFlash for Ram {
//! #     const READ_SIZE: usize = 1;
//! #     fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), Self::Error> {
//! #         bytes.copy_from_slice(&self.0[offset as usize..][..bytes.len()]);
//! #         Ok(())
//! #     }
//! #     fn capacity(&self) -> usize { self.0.len() }
//! # }
//! # impl NorFlash for Ram {
//! #     const WRITE_SIZE: usize = 1;
//! #     const ERASE_SIZE: usize = 4096;
//! #     fn erase(&mut self, from: u32, to: u32) -> Result<(), Self::Error> {
//! #         self.0[from as usize..to as usize].fill(0xff);
//! #         Ok(())
//! #     }
//! #     fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), Self::Error> {
//! #         self.0[offset as usize..][..bytes.len()].copy_from_slice(bytes);
//! #         Ok(())
//! #     }
//! # }
//! # let mut flash = Ram([0xff; 16384]);
//!
//! let mut store = Store::mount(&mut flash, 0..16384)?;
//! let name = Name::new("my best").unwrap();
//! let player = Player::known("dt20").unwrap();
//! assert_eq!(store.save(name, player)?, Saved::Written);
//! store.select(Some(name))?;
//!
//! let store = Store::mount(&mut flash, 0..16384)?; // After a reset.
//! assert_eq!(store.find(&name), Some(&player));
//! assert_eq!(store.selected(), Some(&name));
//! # Ok::<(), dropwise_core::store::Error<core::convert::Infallible>>(())
//! ```

mod sector;
mod snapshot;

use core::fmt;
use core::ops::Range;

use embedded_storage::nor_flash::NorFlash;

use self::sector::{Sector, VERSION};
pub use self::snapshot::Slot;
use self::snapshot::Snapshot;
use crate::{Name, Player};

/// How many players the store holds.
pub const SLOTS: usize = 12;

/// Flash is programmed and read by no more than this at a time, and at its multiples.
pub const PAGE: usize = 256;

/// So many sectors are tried before a save fails.
const ATTEMPTS: usize = 3;

/// What became of a change that did not fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Saved {
    /// It is in flash.
    Written,
    /// It was in flash already, and nothing was written.
    Unchanged,
}

/// Why the store did not do what was asked. The state is then as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error<E> {
    /// There are [`SLOTS`] players already, or the sectors are smaller than the players need.
    Full,
    /// There is no player of this name.
    Missing,
    /// The range is not at least two whole sectors of the flash.
    Range,
    /// The flash does not hold what was programmed.
    Verify,
    /// The sequence numbers are used up, which no flash lives to see.
    Worn,
    /// The flash refused to be read, erased or programmed.
    Flash(E),
}

impl<E: fmt::Debug> fmt::Display for Error<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Full => write!(f, "the store is full ({SLOTS} players): delete one"),
            Error::Missing => f.write_str("there is no player of this name"),
            Error::Range => f.write_str("the store's range is not at least two whole sectors of the flash"),
            Error::Verify => f.write_str("the flash does not hold what was programmed"),
            Error::Worn => f.write_str("the store has run out of sequence numbers"),
            Error::Flash(error) => write!(f, "the flash refused: {error:?}"),
        }
    }
}

impl<E: fmt::Debug> core::error::Error for Error<E> {}

/// Named players in flash. The state is in memory, too: with room to prepare the next one, two kilobytes.
#[derive(Debug)]
pub struct Store<F> {
    ring: Ring<F>,
    state: Snapshot,
    /// To read into, and to prepare changes in: a kilobyte that is dearer on a device's stack than here.
    draft: Snapshot,
    /// Where the flash holds the state. None if it does not: nothing was saved yet, or it was lost.
    newest: Option<Place>,
    /// Snapshots up to this sequence number do not replace the state: older ones, and what a failed save may
    /// have left.
    sequence: u32,
    unreadable: usize,
}

/// Where the sectors are.
#[derive(Debug)]
struct Ring<F> {
    flash: F,
    start: u32,
    sectors: u32,
}

impl<F: NorFlash> Ring<F> {
    fn sector(&mut self, index: u32) -> Sector<'_, F> {
        Sector { flash: &mut self.flash, start: self.start + index * F::ERASE_SIZE as u32 }
    }
}

/// The sector that a snapshot is in, and its sequence number.
#[derive(Clone, Copy, Debug)]
struct Place {
    index: u32,
    sequence: u32,
}

/// What the headers in the ring say.
struct Scan<E> {
    /// The highest sequence number of all.
    sequence: u32,
    /// The sector after that: where a save begins to look for its place.
    next: u32,
    /// Why a sector could not be read.
    error: Option<E>,
}

impl<F: NorFlash> Store<F> {
    /// Finds the newest snapshot in a range of the flash. Reads only: what cannot be read or does not decode
    /// is skipped and stays as it is. Without any snapshot the store is empty.
    ///
    /// # Errors
    /// [`Error::Range`] if the range is not at least two whole sectors.
    pub fn mount(flash: F, range: Range<u32>) -> Result<Store<F>, Error<F::Error>> {
        const {
            assert!(PAGE.is_multiple_of(F::READ_SIZE) && PAGE.is_multiple_of(F::WRITE_SIZE));
            assert!(F::ERASE_SIZE.is_multiple_of(PAGE) && F::ERASE_SIZE > PAGE);
        }
        let size = F::ERASE_SIZE as u32;
        let sectors = range.end.saturating_sub(range.start) / size;
        if sectors < 2
            || !range.start.is_multiple_of(size)
            || !range.end.is_multiple_of(size)
            || range.end as usize > flash.capacity()
        {
            return Err(Error::Range);
        }
        let mut store = Store {
            ring: Ring { flash, start: range.start, sectors },
            state: Snapshot::default(),
            draft: Snapshot::default(),
            newest: None,
            sequence: 0,
            unreadable: 0,
        };
        store.scan();
        Ok(store)
    }

    /// The players, in the order in which their names were first saved.
    pub fn slots(&self) -> &[Slot] {
        &self.state.slots
    }

    /// The player of this name.
    pub fn find(&self, name: &Name) -> Option<&Player> {
        self.slots().iter().find(|slot| slot.name == *name).map(|slot| &slot.player)
    }

    /// The player that was selected: a slot, or else a built-in player.
    pub fn selected(&self) -> Option<&Name> {
        self.state.selected.as_ref()
    }

    /// How many sectors could not be read when last tried. As long as there are any, the state may be an
    /// older one, and saves fail.
    pub fn unreadable(&self) -> usize {
        self.unreadable
    }

    /// The flash, for what else it is asked. Whoever writes to the store's sectors breaks the store.
    pub fn flash(&mut self) -> &mut F {
        &mut self.ring.flash
    }

    /// Gives the flash back.
    pub fn release(self) -> F {
        self.ring.flash
    }

    /// Keeps a player under a name, in place of the one that had it.
    ///
    /// # Errors
    /// [`Error::Full`], and those of the flash.
    pub fn save(&mut self, name: Name, player: Player) -> Result<Saved, Error<F::Error>> {
        self.change(|state| match state.position(&name) {
            Some(index) => {
                state.slots[index].player = player;
                Ok(())
            }
            None => state.slots.push(Slot { name, player }).map_err(|_| Error::Full),
        })
    }

    /// Forgets a player. If it was selected, none is any more.
    ///
    /// # Errors
    /// [`Error::Missing`], and those of the flash.
    pub fn delete(&mut self, name: &Name) -> Result<Saved, Error<F::Error>> {
        self.change(|state| {
            let index = state.position(name).ok_or(Error::Missing)?;
            state.slots.remove(index);
            state.selected = state.selected.filter(|selected| selected != name);
            Ok(())
        })
    }

    /// Selects a player to be played: a slot, a built-in player, or none in particular.
    ///
    /// # Errors
    /// [`Error::Missing`] if the name is neither a slot's nor a [known](crate::player::KNOWN) player's, and
    /// those of the flash.
    pub fn select(&mut self, name: Option<Name>) -> Result<Saved, Error<F::Error>> {
        self.change(|state| {
            let is_there =
                |name: &Name| state.position(name).is_some() || Player::known(name.as_str()).is_some();
            if name.as_ref().is_some_and(|name| !is_there(name)) {
                return Err(Error::Missing);
            }
            state.selected = name;
            Ok(())
        })
    }

    /// A change to the state, in flash first and then in memory.
    fn change(
        &mut self,
        edit: impl FnOnce(&mut Snapshot) -> Result<(), Error<F::Error>>,
    ) -> Result<Saved, Error<F::Error>> {
        let mut scan = self.scan();
        if let Some(error) = scan.error.take() {
            return Err(Error::Flash(error));
        }
        self.draft.copy_from(&self.state);
        edit(&mut self.draft)?;
        // A failed save may have left a snapshot that a reset would take for the newest: the state is then
        // written anew.
        if self.draft == self.state && self.newest.map_or(0, |newest| newest.sequence) == scan.sequence {
            return Ok(Saved::Unchanged);
        }
        if PAGE + self.draft.length() > F::ERASE_SIZE {
            return Err(Error::Full);
        }
        self.newest = Some(self.write_draft(&scan)?);
        core::mem::swap(&mut self.state, &mut self.draft);
        Ok(Saved::Written)
    }

    /// Reads the ring. The state becomes the newest snapshot if that is newer; if the flash no longer holds
    /// the state, that is noted.
    fn scan(&mut self) -> Scan<F::Error> {
        let next = self.newest.map_or(0, |newest| newest.index + 1);
        let mut scan = Scan { sequence: self.sequence, next, error: None };
        self.unreadable = 0;
        for index in 0..self.ring.sectors {
            if let Err(error) = self.look(index, &mut scan) {
                self.unreadable += 1;
                scan.error = Some(error);
            }
        }
        scan
    }

    /// Reads one sector of the ring.
    fn look(&mut self, index: u32, scan: &mut Scan<F::Error>) -> Result<(), F::Error> {
        let mut sector = self.ring.sector(index);
        let header = sector.header()?;
        if let Some(header) = header.filter(|header| header.sequence > scan.sequence) {
            (scan.sequence, scan.next) = (header.sequence, index + 1);
        }
        if let Some(newest) = self.newest.filter(|newest| newest.index == index) {
            let holds_state = match header.filter(|header| header.sequence == newest.sequence) {
                Some(header) => sector.load(&header, &mut self.draft)? && self.draft == self.state,
                None => false,
            };
            self.newest = holds_state.then_some(newest);
        } else if let Some(header) = header.filter(|header| header.sequence > self.sequence)
            && sector.load(&header, &mut self.draft)?
        {
            core::mem::swap(&mut self.state, &mut self.draft);
            self.newest = Some(Place { index, sequence: header.sequence });
            self.sequence = header.sequence;
        }
        Ok(())
    }

    /// Writes the draft into a sector, and says where it is.
    fn write_draft(&mut self, scan: &Scan<F::Error>) -> Result<Place, Error<F::Error>> {
        let mut sequence = scan.sequence;
        let mut attempts = 0;
        let mut failure = Error::Verify;
        for takes_foreign in [false, true] {
            for step in 0..self.ring.sectors {
                let index = (scan.next + step) % self.ring.sectors;
                let mut sector = self.ring.sector(index);
                let header = sector.header().map_err(Error::Flash)?;
                let is_foreign = header.is_some_and(|header| header.version != VERSION);
                if is_foreign != takes_foreign || self.newest.is_some_and(|newest| newest.index == index) {
                    continue;
                }
                sequence = sequence.checked_add(1).ok_or(Error::Worn)?;
                // From here on the flash may hold a snapshot of this number, even if the save fails.
                self.sequence = sequence;
                match sector.replace(sequence, &self.draft) {
                    Ok(()) => return Ok(Place { index, sequence }),
                    Err(error) => failure = error,
                }
                attempts += 1;
                if attempts == ATTEMPTS {
                    return Err(failure);
                }
            }
        }
        Err(failure)
    }
}
