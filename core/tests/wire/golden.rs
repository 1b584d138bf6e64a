//! The frames of every released protocol, kept: what a device or a laptop of that age sends is understood for ever, or
//! refused in words that say who is to be updated.
//!
//! `DROPWISE_BLESS=1` writes the file of the current protocol anew; a released one must not change.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use dropwise_core::wire::frame::{Frame, Unframer, decode};
use dropwise_core::wire::{
    Answer, Board, Call, CrashReport, Event, GameRules, Greeting, Identity, Message, PROTOCOL, Pieces,
    Refusal, Request, SlotInfo, Status, Subscription, When, greeting,
};
use dropwise_core::{Overflow, Speed};
use serde::Serialize;

fn file(protocol: u16) -> PathBuf {
    PathBuf::from(format!("{}/tests/data/wire/protocol-{protocol}.txt", env!("CARGO_MANIFEST_DIR")))
}

fn rules() -> GameRules {
    GameRules { height: 16, overflow: Overflow::After, pieces: Pieces::Hard(4) }
}

fn calls() -> Vec<Call<'static>> {
    let requests = [
        Request::Hello { protocol: 1 },
        Request::Begin { slot: "mine", set: 6, length: 18, digest: 0x0123_4567_89ab_cdef },
        Request::Chunk { index: 1, bytes: &[0, 1, 2, 255] },
        Request::Commit,
        Request::Slot { index: 8 },
        Request::Read { slot: "dt20" },
        Request::Select { slot: "dt20", when: When::Game },
        Request::Delete { slot: "mine" },
        Request::NewGame { seed: Some(u64::MAX), rules: rules() },
        Request::NewGame { seed: None, rules: GameRules::default() },
        Request::Pause { paused: true },
        Request::Step,
        Request::Speed { speed: Speed::Turbo },
        Request::Status,
        Request::Subscribe(Subscription { placements: true, status: false, log: true }),
        Request::Bench { pieces: 100_000 },
        Request::Crash,
        Request::Reset { bootsel: true },
    ];
    (300..).zip(requests).map(|(number, request)| Call { number, request }).collect()
}

const IDENTITY: Identity<'static> = Identity {
    greeting: Greeting { protocol: 1, firmware: "0.1.0" },
    board: "pico-oled",
    id: "0123456789abcdef",
    sets: 0x7fe,
    weights_format: 1,
    capacity: 12,
    max_name: 24,
};

fn status() -> Status<'static> {
    Status {
        player: "dt20",
        player_digest: 1,
        seed: 2,
        rules: rules(),
        pieces: 1 << 40,
        lines: 4,
        digest: u64::MAX,
        rate_tenths: 123,
        speed: Speed::Watch,
        paused: true,
        games: 7,
        best: None,
        mean_tenths: Some(77),
        uptime: 10,
    }
}

fn messages() -> Vec<Message<'static>> {
    let answers = [
        Ok(Answer::Hello(IDENTITY)),
        Ok(Answer::Done),
        Ok(Answer::Saved { written: true }),
        Ok(Answer::Slot(None)),
        Ok(Answer::Slot(Some(SlotInfo { name: "mine", set: 6, digest: 9, built_in: false, selected: true }))),
        Ok(Answer::Weights { set: 1, bytes: &[0, 1, 255] }),
        Ok(Answer::Status(status())),
        Ok(Answer::Crash(Some(CrashReport { kind: "panic", message: "what", place: "where:1" }))),
        Err(Refusal::Unknown),
        Err(Refusal::NoHello),
        Err(Refusal::Stale),
        Err(Refusal::Name),
        Err(Refusal::NoSuchSlot),
        Err(Refusal::BuiltIn),
        Err(Refusal::Full),
        Err(Refusal::Set),
        Err(Refusal::Length { expected: 18 }),
        Err(Refusal::NoUpload),
        Err(Refusal::Order { expected: 1 }),
        Err(Refusal::Chunk),
        Err(Refusal::Incomplete),
        Err(Refusal::Digest),
        Err(Refusal::Range { index: 3 }),
        Err(Refusal::Rules),
        Err(Refusal::Flash),
        Err(Refusal::Busy),
        Err(Refusal::TooLong),
    ];
    let events = [
        Event::Board(Board {
            player: "dt20",
            seed: 1,
            rules: rules(),
            pieces: 2,
            lines: 3,
            digest: 4,
            columns: [0, 1, 3, 7, 1 << 19, 0, 0, 0, 0, 5],
        }),
        Event::Moves { before: 5, codes: &[1, 0, 2, 1] },
        Event::End { seed: 1, pieces: 2, lines: 3, digest: 4 },
        Event::Status(status()),
        Event::Log { uptime: 12, text: "player=dt20" },
        Event::Bench { pieces: 1, lines: 2, micros: 3, digest: 4 },
    ];
    let answers = (0..).zip(answers).map(|(number, answer)| Message::Answer { number, answer });
    answers.chain(events.map(Message::Event)).collect()
}

fn hex(message: &impl Serialize) -> String {
    let mut frame = Frame::new();
    let bytes = frame.wrap(message).expect("it fits");
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").unwrap();
        text
    })
}

/// One line a frame: the frame in hexadecimal digits, then what it says.
fn current() -> String {
    let mut text = format!(
        "# The frames of protocol {PROTOCOL}, calls first: bytes, and what they say. Kept: see tests/wire/golden.rs\n"
    );
    for call in calls() {
        writeln!(text, "{} {call:?}", hex(&call)).unwrap();
    }
    for message in messages() {
        writeln!(text, "{} {message:?}", hex(&message)).unwrap();
    }
    text
}

fn body(line: &str) -> Vec<u8> {
    let digits = line.split(' ').next().unwrap();
    let bytes = digits.as_bytes().chunks(2).map(|pair| str::from_utf8(pair).unwrap());
    let mut unframer = Unframer::new();
    let bytes = bytes.map(|pair| u8::from_str_radix(pair, 16).unwrap());
    bytes.filter_map(|byte| unframer.push(byte).map(<[u8]>::to_vec)).next().expect("a frame")
}

#[test]
fn the_current_protocol_is_as_it_was_released() {
    if std::env::var("DROPWISE_BLESS").is_ok() {
        fs::write(file(PROTOCOL), current()).unwrap();
    }
    let kept = fs::read_to_string(file(PROTOCOL)).expect("the frames of this protocol are kept");
    for (kept, now) in kept.lines().zip(current().lines()) {
        assert_eq!(kept, now, "a change of meaning needs another PROTOCOL");
    }
    assert_eq!(kept, current());
    for line in kept.lines().skip(1) {
        let body = body(line);
        let said = line.split_once(' ').unwrap().1;
        let read = if said.starts_with("Call") {
            format!("{:?}", decode::<Call<'_>>(&body).unwrap())
        } else {
            format!("{:?}", decode::<Message<'_>>(&body).unwrap())
        };
        assert_eq!(read, said);
    }
}

/// A device of any age: the beginning of its hello can be read, whatever comes after.
#[test]
fn the_greeting_of_every_protocol_is_understood() {
    #[derive(Serialize)]
    enum Future {
        Answer { number: u16, answer: Result<Novel, ()> },
    }
    #[derive(Serialize)]
    enum Novel {
        Hello(u16, &'static str, [u64; 9]),
    }
    let hello = Novel::Hello(500, "9.8.7", [1; 9]);
    let future = hex(&Future::Answer { number: 1, answer: Ok(hello) });
    assert_eq!(decode::<Message<'_>>(&body(&future)), None);
    assert_eq!(greeting(&body(&future)), Some(Greeting { protocol: 500, firmware: "9.8.7" }));
    let now = hex(&Message::Answer { number: 300, answer: Ok(Answer::Hello(IDENTITY)) });
    assert_eq!(greeting(&body(&now)), Some(IDENTITY.greeting));
    for message in messages().iter().skip(1) {
        assert_eq!(greeting(&body(&hex(message))), None, "{message:?}");
    }
}
