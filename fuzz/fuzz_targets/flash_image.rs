//! Any flash image is read as the slow twin reads it; a change to it is what it should be, is written to the
//! right place in a bounded number of operations, and is there after a reset.
//!
//! Nobody guesses a checksum, so most sectors get a valid header over whatever their body is, and some are
//! then damaged.
#![no_main]

#[path = "../../core/tests/store/flash.rs"]
#[allow(dead_code)]
mod flash;
#[path = "../../core/tests/store/image.rs"]
mod image;
#[path = "../../core/tests/store/record.rs"]
mod record;

use arbitrary::Arbitrary;
use dropwise_core::player::MAX_WEIGHT;
use dropwise_core::store::Slot;
use dropwise_core::{Name, Player, Set};
use image::Change;
use libfuzzer_sys::fuzz_target;
use record::Record;

const SECTOR: usize = 512;

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    sectors: [Sector<'a>; 4],
    /// How many of them there are, from two.
    count: u8,
    change: Ask,
}

#[derive(Arbitrary, Debug)]
enum Sector<'a> {
    Erased,
    Raw(&'a [u8]),
    Body { version: u8, sequence: u32, body: &'a [u8], damage: Option<(u16, u8)> },
    Players { sequence: u8, selected: u8, slots: [Option<(u8, u8, u16)>; 4], damage: Option<(u8, u8)> },
}

#[derive(Arbitrary, Debug)]
enum Ask {
    Save(u8, u8, u16),
    Delete(u8),
    Select(u8),
    SelectNone,
}

fn name(number: u8) -> Name {
    const NAMES: [&str; 8] = ["a", "b", "bcts", "dt20", "the longest of the names", "!", "~ ~", "mine"];
    Name::new(NAMES[usize::from(number) % NAMES.len()]).expect("a name")
}

fn player(set: u8, weight: u16) -> Player {
    let set = Set::ALL[usize::from(set) % Set::ALL.len()];
    let weight = (weight as i16).clamp(-MAX_WEIGHT, MAX_WEIGHT);
    Player::new(set, &[weight; 28][..set.len()]).expect("weights in range")
}

fn sector(input: &Sector) -> Vec<u8> {
    match *input {
        Sector::Erased => vec![0xff; SECTOR],
        Sector::Raw(bytes) => {
            let mut sector = bytes[..bytes.len().min(SECTOR)].to_vec();
            sector.resize(SECTOR, 0xff);
            sector
        }
        Sector::Body { version, sequence, body, damage } => {
            let body = &body[..body.len().min(SECTOR - 256)];
            let mut sector = record::seal(SECTOR, version.into(), sequence, body);
            if let Some((place, bits)) = damage {
                let place = usize::from(place) % SECTOR;
                sector[place] ^= bits;
                if place < 16 {
                    record::reseal(&mut sector);
                }
            }
            sector
        }
        Sector::Players { sequence, selected, ref slots, damage } => {
            let mut record =
                Record { selected: (selected > 127).then(|| name(selected)), ..Record::default() };
            for &(called, set, weight) in slots.iter().flatten() {
                record.slots.push(Slot { name: name(called), player: player(set, weight) });
            }
            let mut body = record.encode();
            body.truncate(SECTOR - 256);
            if let Some((place, bits)) = damage {
                let place = usize::from(place) % body.len();
                body[place] ^= bits;
            }
            record::seal(SECTOR, 1, sequence.into(), &body)
        }
    }
}

fuzz_target!(|input: Input| {
    let sectors = &input.sectors[..2 + usize::from(input.count % 3)];
    let change = match input.change {
        Ask::Save(called, set, weight) => Change::Save(name(called), player(set, weight)),
        Ask::Delete(called) => Change::Delete(name(called)),
        Ask::Select(called) => Change::Select(Some(name(called))),
        Ask::SelectNone => Change::Select(None),
    };
    image::check::<SECTOR>(sectors.iter().map(sector).collect::<Vec<_>>().concat(), change);
});
