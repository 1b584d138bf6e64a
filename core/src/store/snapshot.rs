//! Everything the store knows, and its bytes: the body of a record.

use heapless::Vec;

use super::SLOTS;
use crate::feature::{MAX_FEATURES, Set};
use crate::name::MAX_NAME;
use crate::{Name, Player};

/// A player and what it is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Its name; no other slot has the same.
    pub name: Name,
    /// The player.
    pub player: Player,
}

/// Everything the store knows at one time.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Snapshot {
    pub(super) slots: Vec<Slot, SLOTS, u8>,
    pub(super) selected: Option<Name>,
}

/// The most bytes that a snapshot is encoded in.
const MAX_LENGTH: usize = 1 + MAX_NAME + 1 + SLOTS * (1 + MAX_NAME + 1 + 1 + 2 * MAX_FEATURES);

const _: () = assert!(MAX_LENGTH <= u16::MAX as usize, "the header gives the length 16 bits");

/// These bytes are no snapshot.
#[derive(Debug)]
pub(super) struct Malformed;

impl Snapshot {
    /// Becomes the same, without a copy on the stack.
    pub(super) fn copy_from(&mut self, other: &Snapshot) {
        self.slots.clear();
        // As many fit into the one as into the other.
        let _ = self.slots.extend_from_slice(&other.slots);
        self.selected = other.selected;
    }

    pub(super) fn position(&self, name: &Name) -> Option<usize> {
        self.slots.iter().position(|slot| slot.name == *name)
    }

    /// Hands out the bytes, piece by piece.
    pub(super) fn encode<E>(&self, mut put: impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        let selected = self.selected.as_ref().map_or(&[][..], Name::as_bytes);
        put(&[selected.len() as u8])?;
        put(selected)?;
        put(&[self.slots.len() as u8])?;
        for Slot { name, player } in &self.slots {
            put(&[name.as_bytes().len() as u8])?;
            put(name.as_bytes())?;
            put(&[player.set().id(), player.weights().len() as u8])?;
            for weight in player.weights() {
                put(&weight.to_le_bytes())?;
            }
        }
        Ok(())
    }

    /// How many bytes that makes.
    pub(super) fn length(&self) -> usize {
        let mut length = 0;
        let Ok(()) = self.encode(|bytes| -> Result<(), core::convert::Infallible> {
            length += bytes.len();
            Ok(())
        });
        length
    }

    /// Becomes what the bytes say. Every field is checked: what is accepted is encoded to the same bytes.
    ///
    /// If it fails, the snapshot is whatever was read so far.
    pub(super) fn decode<E: From<Malformed>>(
        &mut self,
        mut next: impl FnMut() -> Result<u8, E>,
    ) -> Result<(), E> {
        self.slots.clear();
        let length = next()?;
        self.selected = if length == 0 { None } else { Some(name(length, &mut next)?) };
        let count = next()?;
        for _ in 0..count {
            let length = next()?;
            let name = name(length, &mut next)?;
            if self.position(&name).is_some() {
                return Err(Malformed.into());
            }
            let player = player(&mut next)?;
            self.slots.push(Slot { name, player }).map_err(|_| Malformed)?;
        }
        Ok(())
    }
}

fn name<E: From<Malformed>>(length: u8, next: &mut impl FnMut() -> Result<u8, E>) -> Result<Name, E> {
    let mut bytes = [0; MAX_NAME];
    let bytes = bytes.get_mut(..usize::from(length)).ok_or(Malformed)?;
    for byte in bytes.iter_mut() {
        *byte = next()?;
    }
    Ok(Name::from_bytes(bytes).map_err(|_| Malformed)?)
}

fn player<E: From<Malformed>>(next: &mut impl FnMut() -> Result<u8, E>) -> Result<Player, E> {
    let set = Set::from_id(next()?).ok_or(Malformed)?;
    let count = usize::from(next()?);
    if count != set.len() {
        return Err(Malformed.into());
    }
    let mut weights = [0; MAX_FEATURES];
    for weight in &mut weights[..count] {
        *weight = i16::from_le_bytes([next()?, next()?]);
    }
    Ok(Player::new(set, &weights[..count]).map_err(|_| Malformed)?)
}
