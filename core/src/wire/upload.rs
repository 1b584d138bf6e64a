//! An upload on its way in: kept apart from everything live until its end.

use super::{MAX_CHUNK, MAX_WEIGHTS, Refusal, WEIGHT, decode_weights};
use crate::feature::Set;
use crate::player::{Player, WeightsError};

/// An upload that was begun.
#[derive(Clone, Debug)]
pub(super) struct Upload {
    set: Set,
    digest: u64,
    bytes: [u8; MAX_WEIGHTS],
    received: usize,
}

impl Upload {
    pub(super) fn begin(set: u8, length: u16, digest: u64) -> Result<Upload, Refusal> {
        let set = Set::from_id(set).ok_or(Refusal::Set)?;
        let expected = (set.len() * WEIGHT) as u16;
        if length != expected {
            return Err(Refusal::Length { expected });
        }
        Ok(Upload { set, digest, bytes: [0; MAX_WEIGHTS], received: 0 })
    }

    fn length(&self) -> usize {
        self.set.len() * WEIGHT
    }

    pub(super) fn chunk(&mut self, index: u16, bytes: &[u8]) -> Result<(), Refusal> {
        let expected = self.received.div_ceil(MAX_CHUNK) as u16;
        if index != expected {
            return Err(Refusal::Order { expected });
        }
        let left = self.length() - self.received;
        if bytes.is_empty() || bytes.len() != left.min(MAX_CHUNK) {
            return Err(Refusal::Chunk);
        }
        self.bytes[self.received..][..bytes.len()].copy_from_slice(bytes);
        self.received += bytes.len();
        Ok(())
    }

    /// The player, if it is whole and the one that was announced.
    pub(super) fn finish(&self) -> Result<Player, Refusal> {
        if self.received != self.length() {
            return Err(Refusal::Incomplete);
        }
        let player = decode_weights(self.set, &self.bytes[..self.received]).map_err(|error| match error {
            WeightsError::OutOfRange(index) => Refusal::Range { index: index as u8 },
            WeightsError::Count { .. } | WeightsError::NotFinite(_) => Refusal::Incomplete,
        })?;
        if player.digest() == self.digest { Ok(player) } else { Err(Refusal::Digest) }
    }
}
