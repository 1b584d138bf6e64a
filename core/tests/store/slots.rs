//! What the store does on a sound flash and on an odd one.

use std::ops::Range;

use dropwise_core::player::{KNOWN, MAX_WEIGHT};
use dropwise_core::store::{Error, PAGE, SLOTS, Saved, Store};
use dropwise_core::{Name, Player, Set};

use crate::flash::{Failure, Flash};
use crate::model::player;
use crate::record::{Record, header, seal};

type Chip = Flash<4096>;

fn name(text: &str) -> Name {
    Name::new(text).expect("a name")
}

fn mount(flash: &mut Chip) -> Store<&mut Chip> {
    let range = flash.range();
    Store::mount(flash, range).expect("whole sectors")
}

fn names(store: &Store<&mut Chip>) -> Vec<String> {
    store.slots().iter().map(|slot| slot.name.to_string()).collect()
}

/// The sequence numbers in the ring, sector by sector.
fn sequences(flash: &Chip) -> Vec<Option<u32>> {
    flash.bytes.chunks(4096).map(|sector| header(sector).map(|(_, sequence)| sequence)).collect()
}

#[test]
fn slots_are_kept_in_their_order() {
    let mut flash = Flash::new(16);
    let mut store = mount(&mut flash);
    assert_eq!((store.slots().len(), store.selected()), (0, None));
    for text in ["one", "two", "three"] {
        assert_eq!(store.save(name(text), player(1)), Ok(Saved::Written));
    }
    assert_eq!(store.save(name("two"), player(2)), Ok(Saved::Written));
    assert_eq!(store.delete(&name("one")), Ok(Saved::Written));
    assert_eq!(store.save(name("one"), player(3)), Ok(Saved::Written));
    assert_eq!(store.select(Some(name("three"))), Ok(Saved::Written));
    for store in [mount(&mut flash.clone()), mount(&mut flash)] {
        assert_eq!(names(&store), ["two", "three", "one"]);
        assert_eq!(store.find(&name("two")), Some(&player(2)));
        assert_eq!(store.find(&name("four")), None);
        assert_eq!(store.selected(), Some(&name("three")));
    }
}

#[test]
fn selection_is_of_players_that_are_there() {
    let mut flash = Flash::new(2);
    let mut store = mount(&mut flash);
    assert_eq!(store.select(Some(name("mine"))), Err(Error::Missing));
    for known in &KNOWN {
        assert_eq!(store.select(Some(name(known.name))), Ok(Saved::Written));
    }
    store.save(name("mine"), player(0)).unwrap();
    store.select(Some(name("mine"))).unwrap();
    assert_eq!(store.delete(&name("other")), Err(Error::Missing));
    store.delete(&name("mine")).unwrap();
    assert_eq!(mount(&mut flash).selected(), None);
}

#[test]
fn there_is_room_for_twelve() {
    let mut flash = Flash::new(16);
    let mut store = mount(&mut flash);
    let text = |slot: usize| format!("{slot:~>24}");
    let largest = Player::new(Set::Bdu, &[-MAX_WEIGHT; 28]).unwrap();
    for slot in 0..SLOTS {
        assert_eq!(store.save(name(&text(slot)), largest), Ok(Saved::Written));
    }
    store.select(Some(name(&text(11)))).unwrap();
    let steps = store.flash().counts.steps();
    assert_eq!(store.save(name("one more"), player(0)), Err(Error::Full));
    assert_eq!(store.save(name(&text(5)), largest), Ok(Saved::Unchanged));
    assert_eq!(store.flash().counts.steps(), steps);
    let store = mount(&mut flash);
    assert_eq!(names(&store), (0..SLOTS).map(text).collect::<Vec<_>>());
    let largest =
        flash.bytes.chunks(4096).filter_map(Record::decode).map(|record| record.encode().len()).max();
    assert_eq!(largest, Some(1022), "as the store's documentation says");
}

#[test]
fn sectors_too_small_are_full_earlier() {
    let mut flash = Flash::<512>::new(2);
    let range = flash.range();
    let mut store = Store::mount(&mut flash, range).unwrap();
    let saved = (0..SLOTS).map(|slot| store.save(name(&format!("{slot}")), player(4))).collect::<Vec<_>>();
    assert_eq!(saved.iter().filter(|saved| saved.is_ok()).count(), 4);
    assert_eq!(saved[4..], [Err(Error::Full); SLOTS - 4]);
    let slots = store.slots().to_vec();
    assert_eq!(Store::mount(&mut flash, 0..1024).unwrap().slots(), slots);
}

#[test]
fn nothing_is_written_without_need() {
    let mut flash = Flash::new(16);
    let mut store = mount(&mut flash);
    assert_eq!(store.select(None), Ok(Saved::Unchanged));
    store.save(name("mine"), player(0)).unwrap();
    store.select(Some(name("mine"))).unwrap();
    let before = flash.clone();
    for _ in 0..2 {
        let mut store = mount(&mut flash);
        assert_eq!(store.save(name("mine"), player(0)), Ok(Saved::Unchanged));
        assert_eq!(store.select(Some(name("mine"))), Ok(Saved::Unchanged));
        assert_eq!(store.delete(&name("other")), Err(Error::Missing));
    }
    assert_eq!(flash.counts.steps(), before.counts.steps());
    assert!(flash.bytes == before.bytes);
}

#[test]
fn wear_is_spread_over_the_ring() {
    let mut flash = Flash::new(16);
    for save in 0..100 {
        let mut store = mount(&mut flash);
        assert_eq!(store.save(name("mine"), player(save % 2)), Ok(Saved::Written));
        let newest = (0..16).max_by_key(|&index| sequences(&flash)[index]).unwrap();
        assert_eq!(newest, save % 16);
    }
    assert_eq!(flash.counts.erases, 100);
    assert_eq!(flash.counts.programs, 200, "one page of body and the header");
}

#[test]
fn a_store_needs_two_whole_sectors_of_the_flash() {
    let mut flash = Chip::new(4);
    let ranges = [
        (0, 4096),
        (0, 0),
        (8192, 4096),
        (1, 8193),
        (0, 8000),
        (256, 8448),
        (4096, 20480),
        (0xffff_f000, 0xffff_ffff),
    ];
    for range in ranges.map(|(start, end)| Range { start, end }) {
        assert_eq!(Store::mount(&mut flash, range.clone()).err(), Some(Error::Range), "{range:?}");
    }
    let mut store = Store::mount(&mut flash, 4096..12288).unwrap();
    for save in 0..5 {
        store.save(name("mine"), player(save)).unwrap();
    }
    assert_eq!(sequences(&flash), [None, Some(5), Some(4), None], "the rest of the flash is left alone");
}

#[test]
fn flashes_of_larger_words_are_written_by_words() {
    fn check<const WORD: usize>() {
        let mut flash = Flash::<4096, WORD>::new(3);
        let range = flash.range();
        let mut store = Store::mount(flash, range.clone()).unwrap();
        for save in 0..5 {
            store.save(name(&format!("{save}")), player(save)).unwrap();
        }
        let slots = store.slots().to_vec();
        flash = store.release();
        assert_eq!(Store::mount(flash, range).unwrap().slots(), slots);
    }
    check::<1>();
    check::<4>();
    check::<32>();
    check::<PAGE>();
}

#[test]
fn a_worn_sector_is_passed_over() {
    let mut flash = Chip::new(4);
    for save in 0..12 {
        flash.worn = 0b0100;
        let mut store = mount(&mut flash);
        assert_eq!(store.save(name("mine"), player(save)), Ok(Saved::Written));
        assert_eq!(mount(&mut flash).find(&name("mine")), Some(&player(save)));
    }
    flash.worn = 0b1111;
    let mut store = mount(&mut flash);
    assert_eq!(store.save(name("mine"), player(12)), Err(Error::Verify));
    assert_eq!(store.find(&name("mine")), Some(&player(11)));
    assert_eq!(mount(&mut flash).find(&name("mine")), Some(&player(11)));
}

/// A sector that loses its snapshot.
#[test]
fn what_has_rotted_is_skipped_and_left_alone() {
    for rotten in [PAGE + 3, 9, 0] {
        let mut flash = Flash::new(4);
        let mut store = mount(&mut flash);
        for save in 0..3 {
            store.save(name("mine"), player(save)).unwrap();
        }
        flash.bytes[2 * 4096 + rotten] ^= 0x10;
        let before = flash.clone();
        let mut store = mount(&mut flash);
        assert_eq!(store.find(&name("mine")), Some(&player(1)));
        store.save(name("mine"), player(7)).unwrap();
        assert_eq!(mount(&mut flash).find(&name("mine")), Some(&player(7)));
        assert_eq!(flash.sector(1), before.sector(1));
        if rotten == PAGE + 3 {
            // Its header still tells its number.
            assert_eq!(sequences(&flash), [Some(1), Some(2), Some(3), Some(4)]);
        }
    }
}

#[test]
fn what_rots_under_the_store_is_written_again() {
    let mut flash = Flash::new(4);
    let mut store = mount(&mut flash);
    store.save(name("mine"), player(1)).unwrap();
    store.flash().bytes[PAGE + 3] ^= 1;
    assert_eq!(store.save(name("mine"), player(1)), Ok(Saved::Written));
    assert_eq!(store.save(name("mine"), player(1)), Ok(Saved::Unchanged));
    assert_eq!(mount(&mut flash).find(&name("mine")), Some(&player(1)));
}

/// A save whose header was programmed but could not be read back has failed. Going back to the old player
/// must then not be taken for no change, or a reset would bring the new one.
#[test]
fn the_old_player_is_written_again_after_a_failed_save() {
    let mut rewritten = 0;
    for read in 0.. {
        let mut flash = Flash::new(2);
        let mut store = mount(&mut flash);
        store.save(name("mine"), player(1)).unwrap();
        store.flash().failing_read = Some(read);
        if store.save(name("mine"), player(2)).is_ok() {
            break;
        }
        let again = store.save(name("mine"), player(1)).unwrap();
        rewritten += usize::from(again == Saved::Written);
        assert_eq!(mount(&mut flash).find(&name("mine")), Some(&player(1)), "read {read}");
    }
    assert!(rewritten > 0);
}

/// Records of a version to come.
#[test]
fn records_of_another_version_go_last() {
    let foreign = |sequence| seal(4096, 2, sequence, b"what this is, a later version knows");
    let mut flash = Flash::of([foreign(7), foreign(8), foreign(5), foreign(6)].concat());
    let mut store = mount(&mut flash);
    assert_eq!((store.slots().len(), store.selected()), (0, None));
    for save in 0..6 {
        store.save(name("mine"), player(save)).unwrap();
    }
    assert_eq!(sequences(store.flash()), [Some(7), Some(8), Some(13), Some(14)]);
    assert_eq!(mount(&mut flash).find(&name("mine")), Some(&player(5)));
    assert_eq!([flash.sector(0), flash.sector(1)], [foreign(7), foreign(8)]);
}

#[test]
fn sequence_numbers_do_not_wrap() {
    let body = Record { sequence: 0, slots: Vec::new(), selected: Some(name("dt20")) }.encode();
    let mut flash = Flash::of([seal(4096, 1, u32::MAX, &body), vec![0xff; 4096]].concat());
    let mut store = mount(&mut flash);
    assert_eq!(store.selected(), Some(&name("dt20")));
    assert_eq!(store.save(name("mine"), player(0)), Err(Error::Worn));
    assert_eq!(store.select(Some(name("dt20"))), Ok(Saved::Unchanged));
    assert_eq!(mount(&mut flash).selected(), Some(&name("dt20")));
}

#[test]
fn errors_say_what_to_do() {
    assert_eq!(Error::<Failure>::Full.to_string(), "the store is full (12 players): delete one");
    assert_eq!(Error::Flash(Failure::Off).to_string(), "the flash refused: Off");
}
