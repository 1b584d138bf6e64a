//! The record format once more, from its description: a slow twin of what the store reads and writes.

use dropwise_core::player::MAX_WEIGHT;
use dropwise_core::store::Slot;
use dropwise_core::{Name, Player, Set};

/// What a record says.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Record {
    pub(crate) sequence: u32,
    pub(crate) slots: Vec<Slot>,
    pub(crate) selected: Option<Name>,
}

/// What a byte does to a CRC-32: division by the polynomial, bit by bit.
const TABLE: [u32; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let (mut crc, mut bit) = (byte as u32, 0);
        while bit < 8 {
            crc = crc >> 1 ^ if crc & 1 == 1 { 0xedb8_8320 } else { 0 };
            bit += 1;
        }
        table[byte] = crc;
        byte += 1;
    }
    table
};

fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |crc, &byte| crc >> 8 ^ TABLE[usize::from(crc as u8 ^ byte)])
}

/// A sector with these bytes as a body under a valid header.
pub(crate) fn seal(size: usize, version: u16, sequence: u32, body: &[u8]) -> Vec<u8> {
    let mut sector = b"DRPW".to_vec();
    sector.extend(version.to_le_bytes());
    sector.extend((body.len() as u16).to_le_bytes());
    sector.extend(sequence.to_le_bytes());
    sector.extend(crc32(body).to_le_bytes());
    sector.resize(256, 0xff);
    sector.extend(body);
    sector.resize(size, 0xff);
    reseal(&mut sector);
    sector
}

/// Makes the header of a sector valid, whatever it says.
pub(crate) fn reseal(sector: &mut [u8]) {
    let crc = crc32(&sector[..16]);
    sector[16..20].copy_from_slice(&crc.to_le_bytes());
}

/// The version and the sequence number, if the header is valid.
pub(crate) fn header(sector: &[u8]) -> Option<(u16, u32)> {
    let is_valid = sector.starts_with(b"DRPW") && sector[16..20] == crc32(&sector[..16]).to_le_bytes();
    is_valid.then(|| {
        (
            u16::from_le_bytes([sector[4], sector[5]]),
            u32::from_le_bytes(sector[8..12].try_into().expect("four")),
        )
    })
}

impl Record {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut body = Vec::new();
        let selected = self.selected.as_ref().map_or("", Name::as_str);
        body.push(selected.len() as u8);
        body.extend(selected.bytes());
        body.push(self.slots.len() as u8);
        for Slot { name, player } in &self.slots {
            body.push(name.as_str().len() as u8);
            body.extend(name.as_str().bytes());
            body.push(player.set().id());
            body.push(player.weights().len() as u8);
            body.extend(player.weights().iter().flat_map(|weight| weight.to_le_bytes()));
        }
        body
    }

    /// The record in a sector, if there is one.
    pub(crate) fn decode(sector: &[u8]) -> Option<Record> {
        let (version, sequence) = header(sector)?;
        let length = usize::from(u16::from_le_bytes([sector[6], sector[7]]));
        let body = sector[256..].get(..length)?;
        if version != 1 || sequence == 0 || sector[12..16] != crc32(body).to_le_bytes() {
            return None;
        }
        let mut rest = body;
        let selected = match take(&mut rest, 1)?[0] {
            0 => None,
            length => Some(name(take(&mut rest, length.into())?)?),
        };
        let mut slots: Vec<Slot> = Vec::new();
        for _ in 0..take(&mut rest, 1)?[0] {
            let length = take(&mut rest, 1)?[0];
            let name = name(take(&mut rest, length.into())?)?;
            let id = *rest.first()?;
            let set = *Set::ALL.iter().find(|set| set.id() == id)?;
            let count = usize::from(*rest.get(1)?);
            rest = &rest[2..];
            let weights: Vec<i16> = take(&mut rest, 2 * count)?
                .chunks_exact(2)
                .map(|bytes| i16::from_le_bytes([bytes[0], bytes[1]]))
                .collect();
            let in_range = weights.iter().all(|&weight| (-MAX_WEIGHT..=MAX_WEIGHT).contains(&weight));
            if count != set.features().len() || !in_range || slots.iter().any(|slot| slot.name == name) {
                return None;
            }
            slots.push(Slot { name, player: Player::new(set, &weights).ok()? });
        }
        (rest.is_empty() && slots.len() <= 12).then_some(Record { sequence, slots, selected })
    }
}

fn take<'a>(rest: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (taken, left) = rest.split_at_checked(length)?;
    *rest = left;
    Some(taken)
}

fn name(bytes: &[u8]) -> Option<Name> {
    let is_name = (1..=24).contains(&bytes.len()) && bytes.iter().all(|byte| (0x20..0x7f).contains(byte));
    let text = str::from_utf8(bytes).ok()?;
    if is_name { Name::new(text).ok() } else { None }
}
