//! One sector of the ring, and the record in it: reading, and writing so that the header comes last.

use crc::{CRC_32_ISO_HDLC, Crc, Digest};
use embedded_storage::nor_flash::NorFlash;

use super::snapshot::{Malformed, Snapshot};
use super::{Error, PAGE};

static CRC: Crc<u32> = Crc::<u32>::new(&CRC_32_ISO_HDLC);

/// The format that is written, and the only one that is read.
pub(super) const VERSION: u16 = 1;

const MAGIC: [u8; 4] = *b"DRPW";

/// What the first page of a sector says of the record in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) version: u16,
    length: u16,
    pub(super) sequence: u32,
    body_crc: u32,
}

impl Header {
    const LENGTH: usize = 20;

    fn encode(&self) -> [u8; Header::LENGTH] {
        let mut bytes = [0; Header::LENGTH];
        bytes[..4].copy_from_slice(&MAGIC);
        bytes[4..6].copy_from_slice(&self.version.to_le_bytes());
        bytes[6..8].copy_from_slice(&self.length.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.sequence.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.body_crc.to_le_bytes());
        let crc = CRC.checksum(&bytes[..16]);
        bytes[16..].copy_from_slice(&crc.to_le_bytes());
        bytes
    }

    fn decode(bytes: &[u8; Header::LENGTH]) -> Option<Header> {
        let half = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
        let word = |at: usize| u32::from(half(at)) | u32::from(half(at + 2)) << 16;
        if bytes[..4] != MAGIC || word(16) != CRC.checksum(&bytes[..16]) {
            return None;
        }
        Some(Header { version: half(4), length: half(6), sequence: word(8), body_crc: word(12) })
    }
}

/// Why a body is not a snapshot.
enum Unfit<E> {
    Malformed,
    Flash(E),
}

impl<E> From<Malformed> for Unfit<E> {
    fn from(_: Malformed) -> Self {
        Unfit::Malformed
    }
}

/// A sector: the flash, and where in it the sector begins.
pub(super) struct Sector<'a, F> {
    pub(super) flash: &'a mut F,
    pub(super) start: u32,
}

impl<F: NorFlash> Sector<'_, F> {
    /// The header, if there is one.
    pub(super) fn header(&mut self) -> Result<Option<Header>, F::Error> {
        let mut page = [0; PAGE];
        let length = Header::LENGTH.next_multiple_of(F::READ_SIZE);
        self.flash.read(self.start, &mut page[..length])?;
        Ok(page.first_chunk().and_then(Header::decode))
    }

    /// Reads the body into the snapshot. False if it is not what the header says: then so is the snapshot.
    pub(super) fn load(&mut self, header: &Header, into: &mut Snapshot) -> Result<bool, F::Error> {
        if header.version != VERSION || PAGE + usize::from(header.length) > F::ERASE_SIZE {
            return Ok(false);
        }
        let mut body = Body {
            flash: self.flash,
            offset: self.start + PAGE as u32,
            left: usize::from(header.length),
            page: [0; PAGE],
            at: PAGE,
            digest: CRC.digest(),
        };
        match into.decode(|| body.next()) {
            Ok(()) => Ok(body.left == 0 && body.digest.finalize() == header.body_crc),
            Err(Unfit::Malformed) => Ok(false),
            Err(Unfit::Flash(error)) => Err(error),
        }
    }

    /// Replaces what the sector holds: erases it, programs the body, and when that reads back as it should,
    /// the header.
    pub(super) fn replace(&mut self, sequence: u32, snapshot: &Snapshot) -> Result<(), Error<F::Error>> {
        self.flash.erase(self.start, self.start + F::ERASE_SIZE as u32).map_err(Error::Flash)?;
        let mut offset = self.start + PAGE as u32;
        let (mut page, mut at, mut length) = ([0xff; PAGE], 0, 0);
        let mut digest = CRC.digest();
        snapshot.encode(|bytes| {
            digest.update(bytes);
            length += bytes.len() as u16;
            for &byte in bytes {
                page[at] = byte;
                at += 1;
                if at == PAGE {
                    program(self.flash, offset, &page)?;
                    offset += PAGE as u32;
                    (page, at) = ([0xff; PAGE], 0);
                }
            }
            Ok(())
        })?;
        program(self.flash, offset, &page[..at.next_multiple_of(F::WRITE_SIZE)])?;

        let header = Header { version: VERSION, length, sequence, body_crc: digest.finalize() };
        page = [0xff; PAGE];
        page[..Header::LENGTH].copy_from_slice(&header.encode());
        program(self.flash, self.start, &page[..Header::LENGTH.next_multiple_of(F::WRITE_SIZE)])
    }
}

/// Programs up to a page and reads it back.
fn program<F: NorFlash>(flash: &mut F, offset: u32, bytes: &[u8]) -> Result<(), Error<F::Error>> {
    if bytes.is_empty() {
        return Ok(());
    }
    flash.write(offset, bytes).map_err(Error::Flash)?;
    let mut read = [0; PAGE];
    let length = bytes.len().next_multiple_of(F::READ_SIZE);
    flash.read(offset, &mut read[..length]).map_err(Error::Flash)?;
    if read[..bytes.len()] == *bytes { Ok(()) } else { Err(Error::Verify) }
}

/// The bytes of a body one by one, a page of them in memory.
struct Body<'a, F> {
    flash: &'a mut F,
    /// Where the next page is.
    offset: u32,
    /// Bytes that have not been taken.
    left: usize,
    page: [u8; PAGE],
    /// The next byte in the page.
    at: usize,
    /// Of what has been taken.
    digest: Digest<'static, u32>,
}

impl<F: NorFlash> Body<'_, F> {
    fn next(&mut self) -> Result<u8, Unfit<F::Error>> {
        self.left = self.left.checked_sub(1).ok_or(Malformed)?;
        if self.at == PAGE {
            let length = (self.left + 1).min(PAGE).next_multiple_of(F::READ_SIZE);
            self.flash.read(self.offset, &mut self.page[..length]).map_err(Unfit::Flash)?;
            self.offset += PAGE as u32;
            self.at = 0;
        }
        let byte = self.page[self.at];
        self.at += 1;
        self.digest.update(&[byte]);
        Ok(byte)
    }
}
