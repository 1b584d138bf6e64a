//! Frames: where a message begins and ends in a stream of bytes, and whether it arrived as it was sent.

use crc::{CRC_32_ISO_HDLC, Crc, NoTable};
use serde::{Deserialize, Serialize};

use super::MAX_MESSAGE;

/// Bytes of the CRC behind a message.
const CRC_LEN: usize = 4;
/// The most bytes of a frame before its ending zero: COBS adds one, and one more for each 254.
const MAX_BODY: usize = MAX_MESSAGE + CRC_LEN + 1 + (MAX_MESSAGE + CRC_LEN) / 254;
/// The most bytes of a frame.
pub const MAX_FRAME: usize = MAX_BODY + 1;

/// The checksum of Ethernet and zip, a few instructions a bit: messages are short, and a table costs a KiB of flash.
const CRC: Crc<u32, NoTable> = Crc::<u32, NoTable>::new(&CRC_32_ISO_HDLC);

/// A message does not fit a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong;

/// A frame, ready to be sent.
#[derive(Clone, Debug)]
pub struct Frame {
    bytes: [u8; MAX_FRAME],
    len: usize,
}

impl Default for Frame {
    fn default() -> Frame {
        Frame::new()
    }
}

impl Frame {
    /// No message yet.
    pub const fn new() -> Frame {
        Frame { bytes: [0; MAX_FRAME], len: 0 }
    }

    /// Wraps a message, in place of the one that was there.
    ///
    /// # Errors
    /// If it has more than [`MAX_MESSAGE`] bytes; the frame is empty then.
    pub fn wrap(&mut self, message: &impl Serialize) -> Result<&[u8], TooLong> {
        self.len = 0;
        let mut plain = [0; MAX_MESSAGE + CRC_LEN];
        let len = postcard::to_slice(message, &mut plain[..MAX_MESSAGE]).map_err(|_| TooLong)?.len();
        let crc = CRC.checksum(&plain[..len]);
        plain[len..len + CRC_LEN].copy_from_slice(&crc.to_le_bytes());
        let body = cobs::encode(&plain[..len + CRC_LEN], &mut self.bytes[..MAX_BODY]);
        self.bytes[body] = 0;
        self.len = body + 1;
        Ok(self.bytes())
    }

    /// What to send; nothing if there is no message.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

/// Finds the frames in a stream of bytes.
///
/// ```
/// use dropwise_core::wire::frame::{Frame, Unframer, decode};
/// use dropwise_core::wire::{Call, Request};
///
/// let call = Call { number: 7, request: Request::Read { slot: "bcts" } };
/// let mut frame = Frame::new();
/// let mut unframer = Unframer::new();
/// for &byte in frame.wrap(&call).unwrap() {
///     if let Some(message) = unframer.push(byte) {
///         assert_eq!(decode(message), Some(call));
///     }
/// }
/// ```
#[derive(Clone, Debug)]
pub struct Unframer {
    body: [u8; MAX_BODY],
    /// Bytes since the last zero; those that did not fit are counted by one too many.
    len: usize,
}

impl Default for Unframer {
    fn default() -> Unframer {
        Unframer::new()
    }
}

impl Unframer {
    /// Before the first byte.
    pub const fn new() -> Unframer {
        Unframer { body: [0; MAX_BODY], len: 0 }
    }

    /// Takes the next byte. If it ends a frame whose CRC is right: the message inside.
    pub fn push(&mut self, byte: u8) -> Option<&[u8]> {
        if byte != 0 {
            if let Some(place) = self.body.get_mut(self.len) {
                *place = byte;
            }
            self.len = MAX_BODY.min(self.len) + 1;
            return None;
        }
        let len = core::mem::take(&mut self.len);
        let plain = cobs::decode_in_place(self.body.get_mut(..len)?).ok()?;
        let (message, crc) = self.body[..plain].split_last_chunk::<CRC_LEN>()?;
        (CRC.checksum(message) == u32::from_le_bytes(*crc)).then_some(message)
    }
}

/// A message, if the bytes are one and nothing else.
pub fn decode<'a, M: Deserialize<'a>>(message: &'a [u8]) -> Option<M> {
    match postcard::take_from_bytes(message) {
        Ok((message, [])) => Some(message),
        _ => None,
    }
}

/// What a message begins with, whatever follows.
pub fn decode_start<'a, M: Deserialize<'a>>(message: &'a [u8]) -> Option<M> {
    postcard::take_from_bytes(message).ok().map(|(start, _)| start)
}
