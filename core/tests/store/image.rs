//! Any bytes as a flash: what the store makes of them, against the twin's reading.

use dropwise_core::store::{Error, PAGE, SLOTS, Saved, Slot, Store};
use dropwise_core::{Name, Player};

use crate::flash::{Counts, Failure, Flash};
use crate::record::{Record, header};

/// A change to make after the mount.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Change {
    Save(Name, Player),
    Delete(Name),
    Select(Option<Name>),
}

/// Mounts the image, makes a change and mounts again.
///
/// # Panics
/// If anything is not as the twin has it: what is accepted, what the change does, where it is written, or how
/// much is done for it.
pub(crate) fn check<const SECTOR: usize>(image: Vec<u8>, change: Change) {
    let sectors = image.len() / SECTOR;
    let pages = (SECTOR / PAGE) as u64;
    let records: Vec<Option<Record>> = image.chunks(SECTOR).map(Record::decode).collect();
    let headers: Vec<Option<(u16, u32)>> = image.chunks(SECTOR).map(header).collect();
    let highest = headers.iter().flatten().map(|header| header.1).max().unwrap_or(0);
    // The first of equals.
    let newest = (0..sectors)
        .rev()
        .filter(|&index| records[index].is_some())
        .max_by_key(|&index| records[index].as_ref().map(|record| record.sequence));
    let old = newest.and_then(|index| records[index].clone()).unwrap_or_default();
    if let Some(index) = newest {
        let body = old.encode();
        assert_eq!(
            image[index * SECTOR..][PAGE..][..body.len()],
            body,
            "what is accepted is what would be written"
        );
    }

    let flash = Flash::<SECTOR>::of(image);
    let range = flash.range();
    let mut store = Store::mount(flash, range.clone()).expect("whole sectors");
    assert_eq!((store.slots(), store.selected()), (&old.slots[..], old.selected.as_ref()));
    let mounted = store.flash().counts;
    assert!(mounted.reads <= sectors as u64 * pages && mounted.steps() == 0, "{mounted:?}");

    let before = store.flash().bytes.clone();
    let is_written = old.sequence == highest;
    let expected = match after(&old, change) {
        Err(error) => Err(error),
        Ok(new) if is_written && new.slots == old.slots && new.selected == old.selected => {
            Ok(Saved::Unchanged)
        }
        Ok(new) if new.encode().len() > SECTOR - PAGE => Err(Error::Full),
        Ok(_) if highest == u32::MAX => Err(Error::Worn),
        Ok(_) => Ok(Saved::Written),
    };
    let result = match change {
        Change::Save(name, player) => store.save(name, player),
        Change::Delete(name) => store.delete(&name),
        Change::Select(name) => store.select(name),
    };
    assert_eq!(result, expected, "{change:?} of {old:?}");
    let counts = store.flash().counts;
    // A scan, the headers twice while looking for a place, and reading back.
    assert!(counts.reads - mounted.reads <= sectors as u64 * (pages + 2) + pages, "{counts:?}");
    let flash = store.release();
    let changed: Vec<usize> =
        (0..sectors).filter(|&index| flash.sector(index) != &before[index * SECTOR..][..SECTOR]).collect();
    let new = if result == Ok(Saved::Written) {
        let new = after(&old, change).expect("a change that was made");
        let new = Record { sequence: highest + 1, ..new };
        assert!(counts.erases == 1 && counts.programs <= pages, "{counts:?}");
        let &[place] = &changed[..] else { panic!("{changed:?} instead of one sector changed") };
        assert_ne!(Some(place), newest, "the newest is overwritten");
        assert_eq!(Record::decode(flash.sector(place)), Some(new.clone()));
        let is_foreign = |index: usize| headers[index].is_some_and(|header| header.0 != 1);
        let is_spared = |index: usize| Some(index) == newest || is_foreign(index);
        assert!(
            !is_foreign(place) || (0..sectors).all(is_spared),
            "a record of another version is overwritten"
        );
        new
    } else {
        let nothing = Counts { reads: counts.reads, bytes_read: counts.bytes_read, ..Counts::default() };
        assert!(changed.is_empty() && counts == nothing, "{counts:?}");
        old
    };
    let store = Store::mount(flash, range).expect("whole sectors");
    assert_eq!((store.slots(), store.selected()), (&new.slots[..], new.selected.as_ref()));
}

/// What a change comes to.
fn after(old: &Record, change: Change) -> Result<Record, Error<Failure>> {
    let mut new = old.clone();
    let place = |name: Name| old.slots.iter().position(|slot| slot.name == name);
    match change {
        Change::Save(name, player) => match place(name) {
            Some(place) => new.slots[place].player = player,
            None if old.slots.len() == SLOTS => return Err(Error::Full),
            None => new.slots.push(Slot { name, player }),
        },
        Change::Delete(name) => {
            new.slots.remove(place(name).ok_or(Error::Missing)?);
            if old.selected == Some(name) {
                new.selected = None;
            }
        }
        Change::Select(Some(name)) if place(name).is_none() && Player::known(name.as_str()).is_none() => {
            return Err(Error::Missing);
        }
        Change::Select(name) => new.selected = name,
    }
    Ok(new)
}
