//! Flash images: golden ones of each released format, forged ones, random ones.

use std::path::PathBuf;

use dropwise_core::player::MAX_WEIGHT;
use dropwise_core::store::{Slot, Store};
use dropwise_core::{Name, Player, Set};

use crate::flash::{Flash, Noise};
use crate::full_length;
use crate::image::{Change, check};
use crate::model::{NAMES, player};
use crate::record::{Record, reseal, seal};
use crate::trial::Chance;

fn name(text: &str) -> Name {
    Name::new(text).expect("a name")
}

fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/store").join(name)
}

/// What a store holds, as the golden images' lists have it.
fn list(store: &Store<&mut Flash<4096>>) -> String {
    let mut text = format!("selected: {}\n", store.selected().map_or("-", Name::as_str));
    for Slot { name, player } in store.slots() {
        let weights: Vec<String> = player.weights().iter().map(i16::to_string).collect();
        text += &format!("{name}: {} {}\n", player.set(), weights.join(" "));
    }
    text
}

/// A player of each set, one with the longest name, the largest weights; one deleted, one replaced, over the
/// end of a ring of four sectors.
fn write_golden(flash: &mut Flash<4096>) {
    let range = flash.range();
    let mut store = Store::mount(flash, range).expect("whole sectors");
    for (number, set) in Set::ALL.iter().take(10).enumerate() {
        let weights: Vec<i16> =
            (0..set.len()).map(|feature| 37 * feature as i16 - 100 * number as i16).collect();
        store.save(name(set.name()), Player::new(*set, &weights).expect("weights in range")).expect("room");
    }
    let largest = Player::new(Set::Bodoia, &[MAX_WEIGHT, -MAX_WEIGHT, 0, 1, -1]).expect("weights in range");
    store.save(name("~ the longest of names ~"), largest).expect("room");
    store.delete(&name("b")).expect("a slot");
    store.save(name("d"), Player::known("dellacherie").expect("a known player")).expect("room");
    store.select(Some(name("dt+rbf"))).expect("a slot");
}

/// An image of a released format is read for ever.
#[test]
fn golden_images_are_read_as_they_were() {
    let files =
        std::fs::read_dir(file("")).expect("the images' folder").map(|file| file.expect("a file").path());
    let lists: Vec<PathBuf> = files.filter(|path| path.extension().is_some_and(|end| end == "txt")).collect();
    assert!(!lists.is_empty());
    for list_file in lists {
        let listed = std::fs::read_to_string(&list_file).expect("a list");
        let mut flash = Flash::of(std::fs::read(list_file.with_extension("bin")).expect("its image"));
        let range = flash.range();
        assert_eq!(list(&Store::mount(&mut flash, range).expect("whole sectors")), listed, "{list_file:?}");
    }
}

#[test]
fn what_is_written_today_is_version_1() {
    let mut flash = Flash::new(4);
    write_golden(&mut flash);
    let image = std::fs::read(file("version-1.bin")).expect("an image");
    let first = image.iter().zip(&flash.bytes).position(|(golden, written)| golden != written);
    assert!(image.len() == flash.bytes.len() && first.is_none(), "other bytes, first at {first:?}");
}

/// A body with a valid header over it, that is wrong in one field.
#[test]
fn forged_bodies_are_refused() {
    let slot = |name: &[u8], set: u8, weights: &[i16]| {
        let mut bytes = vec![name.len() as u8];
        bytes.extend(name);
        bytes.extend([set, weights.len() as u8]);
        bytes.extend(weights.iter().flat_map(|weight| weight.to_le_bytes()));
        bytes
    };
    let good = slot(b"good", 9, &[1, -2, 3, MAX_WEIGHT, -MAX_WEIGHT]);
    let body = |selected: &[u8], count: u8, slots: &[&[u8]]| {
        let mut bytes = vec![selected.len() as u8];
        bytes.extend(selected);
        bytes.push(count);
        bytes.extend(slots.concat());
        bytes
    };
    let thirteen: Vec<Vec<u8>> = (b'a'..b'a' + 13).map(|letter| slot(&[letter], 9, &[0; 5])).collect();
    let thirteen: Vec<&[u8]> = thirteen.iter().map(|slot| &slot[..]).collect();
    let forged = [
        ("nothing", vec![]),
        ("half a selection", vec![3, b'a']),
        ("no count", vec![0]),
        ("fewer slots than counted", body(b"", 2, &[&good])),
        ("more slots than counted", body(b"", 0, &[&good])),
        ("a byte too many", body(b"", 1, &[&good, b"\xff"])),
        ("a byte too few", body(b"", 1, &[&good[..good.len() - 1]])),
        ("too many slots", body(b"", 13, &thirteen)),
        ("a selection too long", body(&[b'a'; 25], 1, &[&good])),
        ("a selection not printable", body(b"a\x1f", 1, &[&good])),
        ("a slot without a name", body(b"", 1, &[&slot(b"", 9, &[0; 5])])),
        ("a name too long", body(b"", 1, &[&slot(&[b'a'; 25], 9, &[0; 5])])),
        ("a name not ASCII", body(b"", 1, &[&slot("ä".as_bytes(), 9, &[0; 5])])),
        ("a name not printable", body(b"", 1, &[&slot(b"\x7f", 9, &[0; 5])])),
        ("the same name twice", body(b"", 2, &[&good, &good])),
        ("no such set", body(b"", 1, &[&slot(b"a", 0, &[0; 5])])),
        ("no such set, either", body(b"", 1, &[&slot(b"a", 255, &[0; 5])])),
        ("a weight too many", body(b"", 1, &[&slot(b"a", 9, &[0; 6])])),
        ("a weight too few", body(b"", 1, &[&slot(b"a", 9, &[0; 4])])),
        ("more weights than any set", body(b"", 1, &[&slot(b"a", 5, &[0; 29])])),
        ("a weight too large", body(b"", 1, &[&slot(b"a", 9, &[0, 0, MAX_WEIGHT + 1, 0, 0])])),
        ("a weight too small", body(b"", 1, &[&slot(b"a", 9, &[0, 0, 0, 0, -MAX_WEIGHT - 1])])),
    ];
    let selected = |bytes: Vec<u8>| {
        let mut flash = Flash::<4096>::of(bytes);
        let range = flash.range();
        Store::mount(&mut flash, range).expect("whole sectors").selected().copied()
    };
    let older = seal(4096, 1, 1, &body(b"older", 1, &[&good]));
    let newer = seal(4096, 1, 2, &body(b"newer", 12, &thirteen[..12]));
    assert_eq!(selected([&older[..], &newer[..]].concat()), Some(name("newer")));
    for (what, body) in forged {
        let found = selected([&older[..], &seal(4096, 1, 2, &body)[..]].concat());
        assert_eq!(found, Some(name("older")), "{what}");
    }
    for (version, sequence) in [(0, 2), (2, 2), (0xffff, 2), (1, 0)] {
        let sealed = seal(4096, version, sequence, &body(b"newer", 1, &[&good]));
        assert_eq!(selected([&older[..], &sealed[..]].concat()), Some(name("older")), "version {version}");
    }
    // The body's CRC is that of fewer bytes than the length says.
    let mut longer = newer.clone();
    longer[6] += 1;
    reseal(&mut longer);
    assert_eq!(selected([&older[..], &longer[..]].concat()), Some(name("older")));
}

/// The first half of it looks like a record.
#[test]
fn a_record_longer_than_a_sector_is_refused() {
    let slots = NAMES.map(|text| Slot { name: name(text), player: player(4) });
    let body = Record { slots: slots.to_vec(), ..Record::default() }.encode();
    assert!((257..768).contains(&body.len()));
    check::<512>([seal(1024, 1, 2, &body), vec![0xff; 512]].concat(), Change::Select(None));
    let refused = Store::mount(Flash::<512>::of(seal(1024, 1, 2, &body)), 0..1024).expect("whole sectors");
    assert!(refused.slots().is_empty());
    let accepted = Store::mount(Flash::<1024>::of(seal(2048, 1, 2, &body)), 0..2048).expect("whole sectors");
    assert_eq!(accepted.slots(), slots);
}

/// A sector of some kind: erased, torn, forged, of another version, or a record.
fn random_sector(noise: &mut Noise) -> Vec<u8> {
    let sequence = [0, 1, 2, 3, 3, 9, u32::MAX - 1, u32::MAX][noise.below(8) as usize];
    let mut record = Record { sequence, ..Record::default() };
    for text in NAMES {
        if noise.below(3) == 0 {
            record.slots.push(Slot { name: name(text), player: player(noise.below(40) as usize) });
        }
    }
    if noise.below(2) == 0 {
        record.selected = Some(name(NAMES[noise.below(5) as usize]));
    }
    let mut body = record.encode();
    body.truncate(256);
    if noise.below(4) == 0 {
        let place = noise.below(body.len() as u64) as usize;
        body[place] ^= 1 << noise.below(8);
    }
    let version = if noise.below(8) == 0 { 2 } else { 1 };
    let mut sector = seal(512, version, sequence, &body);
    match noise.below(8) {
        0 => sector.fill(0xff),
        1 => sector.fill_with(|| noise.next() as u8),
        2 => sector[noise.below(300) as usize] ^= 1 << noise.below(8),
        _ => {}
    }
    sector
}

#[test]
fn any_image_is_read_as_the_twin_reads_it() {
    let images = if full_length() { 1_000_000 } else { 20_000 };
    for seed in 0..images {
        let mut noise = Noise(seed << 20);
        let sectors = 2 + noise.below(3);
        let image = (0..sectors).flat_map(|_| random_sector(&mut noise)).collect();
        let name = name(NAMES[noise.below(5) as usize]);
        let change = match noise.below(4) {
            0 => Change::Delete(name),
            1 => Change::Select(Some(name)),
            2 => Change::Select(None),
            _ => Change::Save(name, player(noise.below(40) as usize)),
        };
        check::<512>(image, change);
    }
}
