//! Any stream of bytes is taken by a device without harm: frames are those that a plain reading finds, what is stored
//! is what an upload announced, and after a zero byte the next hello is answered.
//!
//! The input is a list of parts, each with a byte before it: an even one sends the part as it is, an odd one as a
//! message with its CRC and frame, which no fuzzer would find by itself.
#![no_main]

use dropwise_core::wire::frame::{Frame, MAX_FRAME, Unframer, decode};
use dropwise_core::wire::{Call, MAX_MESSAGE, Message, PROTOCOL, Request, Session};
use libfuzzer_sys::fuzz_target;

#[allow(dead_code)]
#[path = "../../core/tests/wire/desk.rs"]
mod desk;

use desk::Desk;

fuzz_target!(|input: &[u8]| {
    let stream = stream(input);
    let (mut session, mut desk, mut unframer) = (Session::new(), Desk::default(), Unframer::new());
    let mut messages = Vec::new();
    let mut answers = 0;
    for &byte in &stream {
        messages.extend(unframer.push(byte).map(<[u8]>::to_vec));
        answers += usize::from(session.receive(byte, &mut desk).is_some());
    }
    assert_eq!(messages, plain(&stream));
    assert!(answers <= messages.len());
    for name in desk.stored.keys() {
        let announced = messages.iter().any(|message| {
            matches!(decode(message), Some(Call { request: Request::Begin { slot, .. }, .. }) if slot == name)
        });
        assert!(announced, "{name:?} was stored, but no upload named it");
    }

    let mut frame = Frame::new();
    let hello = Call { number: 77, request: Request::Hello { protocol: PROTOCOL } };
    let hello = frame.wrap(&hello).expect("a hello fits");
    let mut answered = None;
    for &byte in [&[0], hello].concat().iter() {
        if let Some(answer) = session.receive(byte, &mut desk) {
            answered = plain(answer).pop();
        }
    }
    let answer = answered.expect("hello is answered");
    assert!(matches!(decode(&answer), Some(Message::Answer { number: 77, answer: Ok(_) })));
});

/// What goes over the line.
fn stream(input: &[u8]) -> Vec<u8> {
    let mut stream = Vec::new();
    let mut rest = input;
    while let [head, tail @ ..] = rest {
        let (part, next) = tail.split_at(tail.len().min(usize::from(head / 2)));
        if head % 2 == 0 {
            stream.extend(part);
        } else {
            let mut body = part.to_vec();
            body.extend(crc(part).to_le_bytes());
            stream.extend(stuffed(&body));
        }
        rest = next;
    }
    stream
}

/// The messages of a stream, found the plain way.
fn plain(stream: &[u8]) -> Vec<Vec<u8>> {
    let mut frames: Vec<&[u8]> = stream.split(|&byte| byte == 0).collect();
    // What no zero ends is not a frame yet.
    frames.pop();
    frames.into_iter().filter(|frame| frame.len() < MAX_FRAME).filter_map(opened).collect()
}

/// The message in a frame, if it is whole.
fn opened(frame: &[u8]) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    let mut rest = frame;
    while let [length, tail @ ..] = rest {
        let (run, next) = tail.split_at_checked(usize::from(*length) - 1)?;
        body.extend(run);
        // A run that is not the longest stands for a zero behind it, except at the end.
        if *length != 255 && !next.is_empty() {
            body.push(0);
        }
        rest = next;
    }
    let (message, sum) = body.split_last_chunk()?;
    (message.len() <= MAX_MESSAGE && crc(message) == u32::from_le_bytes(*sum)).then(|| message.to_vec())
}

/// A body in runs, and the zero that ends it.
fn stuffed(body: &[u8]) -> Vec<u8> {
    let mut frame = Vec::new();
    for run in body.split(|&byte| byte == 0) {
        let mut parts = run.chunks(254).peekable();
        if parts.peek().is_none() {
            frame.push(1);
        }
        while let Some(part) = parts.next() {
            frame.push(part.len() as u8 + 1);
            frame.extend(part);
            if part.len() == 254 && parts.peek().is_none() {
                frame.push(1);
            }
        }
    }
    frame.push(0);
    frame
}

/// CRC-32 as it is defined: the remainder, bit by bit.
fn crc(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |crc, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| crc >> 1 ^ if crc & 1 == 1 { 0xedb8_8320 } else { 0 })
    })
}
