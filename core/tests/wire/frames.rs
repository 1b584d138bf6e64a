//! Frames on a bad line.

use dropwise_core::wire::frame::{Frame, MAX_FRAME, TooLong, Unframer, decode};
use dropwise_core::wire::{Call, MAX_MESSAGE, Request};
use proptest::collection::vec;
use proptest::prelude::*;

/// Every message in a stream.
fn messages(unframer: &mut Unframer, bytes: &[u8]) -> Vec<Vec<u8>> {
    bytes.iter().filter_map(|&byte| unframer.push(byte).map(<[u8]>::to_vec)).collect()
}

/// A message of any bytes: postcard writes a slice as its length, here two bytes or one, and its bytes.
fn wrapped(bytes: &[u8]) -> Vec<u8> {
    Frame::new().wrap(&bytes).expect("it fits").to_vec()
}

fn plain(bytes: &[u8]) -> Vec<u8> {
    decode::<&[u8]>(bytes).expect("a slice").to_vec()
}

#[test]
fn a_message_that_is_too_long_is_refused_and_leaves_no_frame() {
    let mut frame = Frame::new();
    let most = [7; MAX_MESSAGE - 2];
    assert_eq!(
        frame.wrap(&&most[..]).unwrap().len(),
        MAX_FRAME,
        "the longest message fills the longest frame"
    );
    assert_eq!(frame.wrap(&&[7; MAX_MESSAGE - 1][..]), Err(TooLong));
    assert!(frame.bytes().is_empty());
}

#[test]
fn the_tail_of_an_over_long_frame_is_not_a_message() {
    let good = wrapped(b"a message");
    for garbage in [1, 100, MAX_FRAME - 1, MAX_FRAME, MAX_FRAME + 1, 2 * MAX_FRAME, 100_000] {
        let mut unframer = Unframer::new();
        let mut stream = vec![0x55; garbage];
        stream.extend(&good);
        assert!(messages(&mut unframer, &stream).is_empty(), "{garbage}: no zero stands between");
        assert_eq!(messages(&mut unframer, &good).len(), 1, "{garbage}: but the next one is read");
    }
}

#[test]
fn what_follows_a_message_in_its_frame_spoils_it() {
    let call = Call { number: 1, request: Request::Commit };
    let mut bytes = [0; 16];
    let len = postcard::to_slice(&call, &mut bytes).unwrap().len();
    assert_eq!(decode(&bytes[..len]), Some(call));
    assert_eq!(decode::<Call<'_>>(&bytes[..len + 1]), None);
}

/// Every change of one byte, to every other value, and every byte left out or put in twice.
#[test]
fn a_damaged_frame_is_never_taken_for_another() {
    let call =
        Call { number: 300, request: Request::Begin { slot: "zero\0", set: 6, length: 18, digest: 0 } };
    let good = Frame::new().wrap(&call).unwrap().to_vec();
    let check = |bytes: &[u8], what: &str| {
        let mut unframer = Unframer::new();
        assert!(messages(&mut unframer, bytes).is_empty(), "{what}");
        assert!(messages(&mut unframer, &[0]).is_empty(), "{what}, ended");
        assert_eq!(messages(&mut unframer, &good).len(), 1, "{what}: the next frame");
    };
    for at in 0..good.len() - 1 {
        for change in 1..=255 {
            let mut bytes = good.clone();
            bytes[at] ^= change;
            check(&bytes, &format!("byte {at} xor {change}"));
        }
        check(&[&good[..at], &good[at + 1..]].concat(), &format!("byte {at} left out"));
        check(&[&good[..=at], &good[at..]].concat(), &format!("byte {at} twice"));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn a_frame_is_read_as_it_was_written(bytes in vec(any::<u8>(), 0..MAX_MESSAGE - 1)) {
        let frame = wrapped(&bytes);
        prop_assert_eq!(frame.iter().position(|&byte| byte == 0), Some(frame.len() - 1));
        let mut unframer = Unframer::new();
        let read = messages(&mut unframer, &frame);
        prop_assert_eq!(read.iter().map(|message| plain(message)).collect::<Vec<_>>(), [bytes]);
    }

    #[test]
    fn after_any_garbage_the_frame_behind_a_zero_is_read(
        garbage in vec(prop_oneof![any::<u8>(), Just(0), Just(1), Just(255)], 0..1000),
        bytes in vec(any::<u8>(), 0..100),
    ) {
        let mut unframer = Unframer::new();
        messages(&mut unframer, &garbage);
        messages(&mut unframer, &[0]);
        let read = messages(&mut unframer, &wrapped(&bytes));
        prop_assert_eq!(read.iter().map(|message| plain(message)).collect::<Vec<_>>(), [bytes]);
    }
}
