//! Everything a laptop can ask for wrongly is refused by name, and changes nothing.

use dropwise_core::wire::{Answer, Call, GameRules, Refusal, Request, When};
use dropwise_core::{Player, Set};
use dropwise_emulator::{Board, Device};
use libtest_mimic::Trial;

use crate::laptop::{Laptop, framed, with_upload};
use crate::link::learned;
use crate::{FIRST, alone, ms, tests};

pub(crate) fn tests() -> Vec<Trial> {
    alone(tests![
        every_refusal_by_name,
        calls_out_of_turn,
        full_busy_worn_out,
        doubled_replayed_and_reordered_frames,
        garbage_then_a_zero_then_a_good_frame
    ])
}

/// The sectors of the store.
fn store(device: &mut Device) -> Vec<u8> {
    let start = device.firmware().address("_store_start");
    let end = device.firmware().address("_store_end");
    device.read_flash(start, (end - start) as usize)
}

const DIGEST: u64 = 0;

fn begin(slot: &str, set: Set, length: usize) -> Request<'_> {
    Request::Begin { slot, set: set.id(), length: length as u16, digest: DIGEST }
}

fn every_refusal_by_name() {
    let device = Device::start(Board::PicoOled);
    let mut laptop = Laptop::connect(device);
    laptop.upload("mine", &learned(1)).unwrap();
    let before = store(&mut laptop.device);
    let status = laptop.status();

    let chunk = |index, bytes| Request::Chunk { index, bytes };
    let rules = |height| Request::NewGame { seed: None, rules: GameRules { height, ..GameRules::default() } };
    let long = "abcdefghijklmnopqrstuvwxy";
    let single: [(Request<'_>, Refusal); 22] = [
        (begin("", Set::D, 12), Refusal::Name),
        (begin(long, Set::D, 12), Refusal::Name),
        (begin("tab\t", Set::D, 12), Refusal::Name),
        (begin("blé", Set::D, 12), Refusal::Name),
        (begin("bcts", Set::D, 12), Refusal::BuiltIn),
        (Request::Begin { slot: "new", set: 0, length: 12, digest: 0 }, Refusal::Set),
        (Request::Begin { slot: "new", set: 200, length: 12, digest: 0 }, Refusal::Set),
        (begin("new", Set::D, 11), Refusal::Length { expected: 12 }),
        (begin("new", Set::Bdu, 0xffff), Refusal::Length { expected: 56 }),
        (chunk(0, &[0; 12]), Refusal::NoUpload),
        (Request::Commit, Refusal::NoUpload),
        (Request::Read { slot: "nobody" }, Refusal::NoSuchSlot),
        (Request::Read { slot: "" }, Refusal::NoSuchSlot),
        (Request::Select { slot: "nobody", when: When::Piece }, Refusal::NoSuchSlot),
        (Request::Select { slot: long, when: When::Game }, Refusal::NoSuchSlot),
        (Request::Delete { slot: "nobody" }, Refusal::NoSuchSlot),
        (Request::Delete { slot: long }, Refusal::NoSuchSlot),
        (Request::Delete { slot: "dt20" }, Refusal::BuiltIn),
        (rules(3), Refusal::Rules),
        (rules(21), Refusal::Rules),
        (rules(0), Refusal::Rules),
        (rules(255), Refusal::Rules),
    ];
    for (request, refusal) in single {
        assert_eq!(laptop.refused(request), refusal, "to {request:?}");
    }

    // Within an upload of 56 bytes: two chunks, of 32 and 24.
    let too_large = {
        let mut bytes = [0; 56];
        bytes[32 + 6..][..2].copy_from_slice(&16_384i16.to_le_bytes());
        bytes
    };
    let uploads: [(&[Request<'_>], Request<'_>, Refusal); 9] = [
        (&[], chunk(1, &[0; 24]), Refusal::Order { expected: 0 }),
        (&[], chunk(0, &[0; 31]), Refusal::Chunk),
        (&[], chunk(0, &[0; 56]), Refusal::Chunk),
        (&[], chunk(0, &[]), Refusal::Chunk),
        (&[], Request::Commit, Refusal::Incomplete),
        (&[chunk(0, &[0; 32])], chunk(0, &[0; 32]), Refusal::Order { expected: 1 }),
        (&[chunk(0, &[0; 32])], Request::Commit, Refusal::Incomplete),
        (&[chunk(0, &[0; 32]), chunk(1, &[0; 24])], Request::Commit, Refusal::Digest),
        (
            &[chunk(0, &too_large[..32]), chunk(1, &too_large[32..])],
            Request::Commit,
            Refusal::Range { index: 19 },
        ),
    ];
    for (requests, request, refusal) in uploads {
        laptop.done(begin("mine", Set::Bdu, 56));
        for &request in requests {
            laptop.done(request);
        }
        assert_eq!(laptop.refused(request), refusal, "to {request:?} after {requests:?}");
    }
    assert_eq!(laptop.read("mine"), Some(learned(1)));
    assert_eq!(store(&mut laptop.device), before, "nothing that is refused changes the flash");
    let after = laptop.status();
    assert_eq!((after.player, after.seed), (status.player, status.seed), "nor the game");
}

/// What belongs to no conversation, or to another one.
fn calls_out_of_turn() {
    let device = Device::start(Board::PicoOled);
    let mut laptop = Laptop::connect(device);
    laptop.device.close_port();
    laptop.device.run(ms(5));
    laptop.device.open_port(115_200);
    laptop.device.run(ms(5));
    assert_eq!(laptop.refused(Request::Status), Refusal::NoHello, "the port was closed in between");
    laptop.hello();
    laptop.status();
    laptop.number = laptop.number.wrapping_sub(2);
    assert_eq!(laptop.refused(Request::Status), Refusal::Stale);
    laptop.number = laptop.number.wrapping_add(10);
    laptop.status();

    // A request that only a later version knows.
    laptop.number += 1;
    let mut frame = dropwise_core::wire::frame::Frame::new();
    let bytes = frame.wrap(&(laptop.number, 100u8, 7u32)).unwrap().to_vec();
    laptop.device.write_port(&bytes);
    laptop.answer(|answer| assert_eq!(answer, Err(Refusal::Unknown)));
}

/// No room for another player; nothing else while a bench is under way; a flash that is worn out.
fn full_busy_worn_out() {
    let device = Device::start(Board::PicoOled);
    let mut laptop = Laptop::connect(device);
    let names: Vec<String> = (0..12).map(|i| format!("player {i}")).collect();
    for (name, seed) in names.iter().zip(0..) {
        assert_eq!(laptop.upload(name, &learned(seed)), Ok(true));
    }
    assert_eq!(laptop.upload("one more", &learned(99)), Err(Refusal::Full));
    assert_eq!(laptop.upload(&names[3], &learned(99)), Ok(true), "in place of another there is room");
    assert_eq!(laptop.read(&names[11]), Some(learned(11)));

    let before = store(&mut laptop.device);
    laptop.done(Request::Bench { pieces: u32::MAX });
    let busy = [
        Request::Select { slot: "bcts", when: When::Piece },
        Request::Delete { slot: &names[0] },
        Request::NewGame { seed: None, rules: GameRules::default() },
        Request::Pause { paused: true },
        Request::Step,
        Request::Speed { speed: dropwise_core::Speed::Turbo },
        Request::Bench { pieces: 1 },
    ];
    for request in busy {
        assert_eq!(laptop.refused(request), Refusal::Busy, "to {request:?}");
    }
    assert_eq!(laptop.upload(&names[0], &learned(50)), Err(Refusal::Busy));
    assert_eq!(laptop.read(&names[0]), Some(learned(0)), "what changes nothing is answered");
    assert_eq!(store(&mut laptop.device), before);
    laptop.device.close_port();
    laptop.device.run(ms(50));
    laptop.open();

    laptop.device.wear_out_flash();
    assert_eq!(laptop.upload(&names[0], &learned(51)), Err(Refusal::Flash));
    assert_eq!(laptop.refused(Request::Delete { slot: &names[0] }), Refusal::Flash);
    assert_eq!(laptop.refused(Request::Select { slot: &names[1], when: When::Piece }), Refusal::Flash);
    assert_eq!(laptop.status().player, FIRST);
    assert_eq!(laptop.read(&names[0]), Some(learned(0)), "the old weights are still there");
    laptop.device.mend_flash();
    laptop.power_cycle();
    assert_eq!(laptop.read(&names[0]), Some(learned(0)), "after a loss of power as well");
    assert_eq!(laptop.upload(&names[0], &learned(51)), Ok(true));
    assert!(laptop.device.resets().is_empty(), "three attempts at a worn and slow flash are not too long");
}

/// A frame that came twice, came late, or came before its turn.
fn doubled_replayed_and_reordered_frames() {
    let device = Device::start(Board::PicoOled);
    let mut laptop = Laptop::connect(device);
    // Each frame of an upload twice: the second is answered as the first, and does nothing.
    let frames = upload_frames(&mut laptop, "mine", &learned(1));
    laptop.device.spare_power();
    for (frame, number) in &frames {
        laptop.number = *number;
        let answers: Vec<String> = (0..2)
            .map(|_| {
                laptop.device.write_port(frame);
                laptop.answer(|answer| format!("{answer:?}"))
            })
            .collect();
        assert_eq!(answers[0], answers[1]);
        assert!(answers[0].starts_with("Ok"), "{answers:?}");
    }
    let erases = laptop.device.flash_operations().iter().filter(|(kind, ..)| kind == "erase").count();
    assert_eq!(erases, 1, "a doubled commit writes once");
    assert_eq!(laptop.read("mine"), Some(learned(1)));

    // The whole upload once more, as an old recording: refused.
    for (frame, number) in &frames {
        let last = std::mem::replace(&mut laptop.number, *number);
        laptop.device.write_port(frame);
        laptop.answer(|answer| assert_eq!(answer, Err(Refusal::Stale)));
        laptop.number = last;
    }

    // Two neighbouring frames of an upload exchanged, each pair: the upload is not completed by accident.
    let frames = |laptop: &mut Laptop| upload_frames(laptop, "mine", &bdu(2));
    let count = frames(&mut laptop).len();
    for first in 0..count - 1 {
        let mut frames = frames(&mut laptop);
        frames.swap(first, first + 1);
        let mut refusals = 0;
        for (frame, number) in &frames {
            laptop.number = *number;
            laptop.device.write_port(frame);
            refusals += laptop.answer(|answer| usize::from(answer.is_err()));
        }
        laptop.number = frames.iter().map(|(_, number)| *number).max().unwrap_or(0);
        assert!(refusals > 0, "frames {first} and {} exchanged", first + 1);
        assert_eq!(laptop.read("mine"), Some(learned(1)));
    }
    assert_eq!(laptop.upload("mine", &bdu(2)), Ok(true));
    assert_eq!(laptop.read("mine"), Some(bdu(2)));
}

pub(crate) fn bdu(seed: i16) -> Player {
    let weights: Vec<i16> = (0..28).map(|i| seed * 100 + i).collect();
    Player::new(Set::Bdu, &weights).unwrap()
}

/// An upload as frames, with their numbers.
pub(crate) fn upload_frames(laptop: &mut Laptop, slot: &str, player: &Player) -> Vec<(Vec<u8>, u16)> {
    with_upload(slot, player, |requests| {
        requests.iter().map(|&request| (laptop.framed(request), laptop.number)).collect()
    })
}

/// After anything that is not a frame, the next frame behind a zero is answered.
fn garbage_then_a_zero_then_a_good_frame() {
    let device = Device::start(Board::PicoOled);
    let mut laptop = Laptop::connect(device);
    let noise = |length: usize| -> Vec<u8> {
        (0..length as u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8 | 1).collect()
    };
    let good = framed(&Call { number: 999, request: Request::Status });
    let mut wrong = good.clone();
    wrong[1] ^= 4;
    let mut garbage: Vec<Vec<u8>> = vec![vec![], vec![0; 200], wrong, good[1..].to_vec()];
    garbage.extend([1, 2, 63, 64, 65, 300, 329, 330, 331, 400, 5_000].map(noise));
    // Without its zero it is whole again with the next.
    garbage.extend((1..good.len() - 1).map(|length| good[..length].to_vec()));
    for garbage in garbage {
        laptop.device.write_port(&garbage);
        laptop.device.write_port(&[0]);
        let status = laptop.status();
        assert_eq!(status.player, FIRST, "after {garbage:02x?}");
        assert_eq!(laptop.waiting(), 0, "garbage is not answered: {garbage:02x?}");
    }
    // A good frame with something behind its message is not one.
    laptop.number += 1;
    let mut frame = dropwise_core::wire::frame::Frame::new();
    let status = Call { number: laptop.number, request: Request::Status };
    let bytes = frame.wrap(&(status, 0u8)).unwrap().to_vec();
    laptop.device.write_port(&bytes);
    laptop.answer(|answer| assert_eq!(answer, Err(Refusal::Unknown)));
    laptop.call(Request::Crash, |answer| assert_eq!(answer, Ok(Answer::Crash(None))));
}
