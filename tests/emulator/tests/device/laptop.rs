//! A laptop that talks to the device over its port, in the wire's own words.

use std::collections::VecDeque;
use std::time::Duration;

use dropwise_core::wire::frame::{Frame, Unframer, decode};
use dropwise_core::wire::{
    Answer, Call, Event, GameRules, MAX_CHUNK, MAX_WEIGHTS, Message, PROTOCOL, Refusal, Request,
    Subscription, When, decode_weights, encode_weights,
};
use dropwise_core::{Player, Set, Speed};
use dropwise_emulator::Device;

use crate::{SECOND, first_game, ms};

/// How long an answer may take: longer than three attempts to erase a sector of the slowest flash.
const PATIENCE: Duration = Duration::from_secs(2);

/// A laptop and the device that it is connected to.
pub(crate) struct Laptop {
    pub(crate) device: Device,
    unframer: Unframer,
    /// Of the last call.
    pub(crate) number: u16,
    /// Messages that came and were not looked at.
    messages: VecDeque<Vec<u8>>,
}

impl Laptop {
    /// Finds a device that has power, opens its port and says hello.
    pub(crate) fn connect(device: Device) -> Laptop {
        let mut laptop = Laptop { device, unframer: Unframer::new(), number: 0, messages: VecDeque::new() };
        laptop.open();
        laptop
    }

    /// Opens the port and says hello.
    #[track_caller]
    pub(crate) fn open(&mut self) {
        self.device.expect_usb(SECOND);
        self.device.open_port(115_200);
        self.device.run(ms(1));
        self.hello();
    }

    /// Says hello. Whatever came before is forgotten.
    #[track_caller]
    pub(crate) fn hello(&mut self) {
        self.unframer = Unframer::new();
        self.device.read_port();
        self.messages.clear();
        // The zero ends whatever another program left behind.
        self.device.write_port(&[0]);
        self.call(Request::Hello { protocol: PROTOCOL }, |answer| {
            assert!(matches!(answer, Ok(Answer::Hello(_))), "{answer:?}");
        });
    }

    /// Cuts the power, and talks again when it is back.
    #[track_caller]
    pub(crate) fn power_cycle(&mut self) {
        self.device.power_off();
        self.device.power_on();
        first_game(&mut self.device);
        self.open();
    }

    /// A call as it is sent, under the next number.
    pub(crate) fn framed(&mut self, request: Request<'_>) -> Vec<u8> {
        self.number = self.number.wrapping_add(1);
        framed(&Call { number: self.number, request })
    }

    /// Calls, and looks at the answer. Events that come before it are kept.
    #[track_caller]
    pub(crate) fn call<T>(
        &mut self,
        request: Request<'_>,
        then: impl FnOnce(Result<Answer<'_>, Refusal>) -> T,
    ) -> T {
        let frame = self.framed(request);
        self.device.write_port(&frame);
        self.answer(then)
    }

    /// Waits for the answer to the last call.
    #[track_caller]
    pub(crate) fn answer<T>(&mut self, then: impl FnOnce(Result<Answer<'_>, Refusal>) -> T) -> T {
        match self.answer_if_any(then) {
            Some(result) => result,
            None => panic!("no answer to call {}; the log:\n{}", self.number, self.device.story()),
        }
    }

    /// Waits for the answer to the last call, which may not come.
    pub(crate) fn answer_if_any<T>(
        &mut self,
        then: impl FnOnce(Result<Answer<'_>, Refusal>) -> T,
    ) -> Option<T> {
        let wanted = self.number;
        let is_answer =
            |message: &Message<'_>| matches!(message, Message::Answer { number, .. } if *number == wanted);
        let message = self.find(PATIENCE, is_answer)?;
        match decode(&message) {
            Some(Message::Answer { answer, .. }) => Some(then(answer)),
            _ => None,
        }
    }

    /// Calls for something that is only done.
    #[track_caller]
    pub(crate) fn done(&mut self, request: Request<'_>) {
        self.call(request, |answer| assert_eq!(answer, Ok(Answer::Done), "to {request:?}"));
    }

    /// Calls without looking for the answer.
    pub(crate) fn done_unread(&mut self, request: Request<'_>) {
        let frame = self.framed(request);
        self.device.write_port(&frame);
    }

    /// Calls for something that is refused.
    #[track_caller]
    pub(crate) fn refused(&mut self, request: Request<'_>) -> Refusal {
        self.call(request, |answer| match answer {
            Err(refusal) => refusal,
            Ok(answer) => panic!("{request:?} is not refused: {answer:?}"),
        })
    }

    /// Sends a player: whether something was written, or why not.
    #[track_caller]
    pub(crate) fn upload(&mut self, slot: &str, player: &Player) -> Result<bool, Refusal> {
        with_upload(slot, player, |requests| {
            let mut written = false;
            for &request in requests {
                written = self.call(request, |answer| match answer? {
                    Answer::Done => Ok(false),
                    Answer::Saved { written } => Ok(written),
                    answer => panic!("{answer:?} to {request:?}"),
                })?;
            }
            Ok(written)
        })
    }

    /// What a slot holds.
    #[track_caller]
    pub(crate) fn read(&mut self, slot: &str) -> Option<Player> {
        self.call(Request::Read { slot }, |answer| match answer {
            Ok(Answer::Weights { set, bytes }) => {
                let set = Set::from_id(set).expect("a set that is known");
                Some(decode_weights(set, bytes).expect("weights of the set"))
            }
            Err(Refusal::NoSuchSlot) => None,
            answer => panic!("{answer:?} to a read of {slot}"),
        })
    }

    /// Subscribes.
    #[track_caller]
    pub(crate) fn subscribe(&mut self, subscription: Subscription) {
        self.done(Request::Subscribe(subscription));
    }

    /// Runs until an event comes that is looked for, for a time at most; others are passed over.
    #[track_caller]
    pub(crate) fn event<T>(
        &mut self,
        limit: Duration,
        mut wanted: impl FnMut(Event<'_>) -> Option<T>,
    ) -> Option<T> {
        let mut found = None;
        self.find(limit, |message| {
            if let Message::Event(event) = message {
                found = wanted(*event);
            }
            found.is_some()
        });
        found
    }

    /// Runs until a message comes that is looked for. Those before it are dropped if they are answers, and if they are
    /// events and an event is looked for; else they stay.
    fn find(&mut self, limit: Duration, mut wanted: impl FnMut(&Message<'_>) -> bool) -> Option<Vec<u8>> {
        let end = self.device.now() + limit;
        let mut kept = VecDeque::new();
        loop {
            self.receive();
            while let Some(bytes) = self.messages.pop_front() {
                let message = decode(&bytes).unwrap_or_else(|| panic!("no message: {bytes:02x?}"));
                if wanted(&message) {
                    kept.append(&mut self.messages);
                    self.messages = kept;
                    return Some(bytes);
                }
                kept.push_back(bytes);
            }
            if self.device.now() >= end || !self.device.is_on() {
                return None;
            }
            self.device.run_for(end - self.device.now(), &["usb"]);
        }
    }

    /// Takes what has come by now.
    pub(crate) fn receive(&mut self) {
        for byte in self.device.read_port() {
            if let Some(message) = self.unframer.push(byte) {
                self.messages.push_back(message.to_vec());
            }
        }
    }

    /// All events that came so far.
    #[track_caller]
    pub(crate) fn events(&mut self, mut each: impl FnMut(Event<'_>)) {
        self.receive();
        for bytes in self.messages.drain(..) {
            match decode(&bytes) {
                Some(Message::Event(event)) => each(event),
                other => panic!("not an event: {other:?}"),
            }
        }
    }

    /// How many messages came and were not looked at.
    pub(crate) fn waiting(&mut self) -> usize {
        self.receive();
        self.messages.len()
    }

    /// Lets bcts play a new game, the player whose pace is known best.
    #[track_caller]
    pub(crate) fn play_bcts(&mut self) {
        self.done(Request::Select { slot: "bcts", when: When::Game });
        self.done(Request::NewGame { seed: None, rules: GameRules::default() });
    }

    /// How the game stands.
    #[track_caller]
    pub(crate) fn status(&mut self) -> Stand {
        self.call(Request::Status, |answer| match answer {
            Ok(Answer::Status(status)) => Stand {
                player: status.player.to_owned(),
                player_digest: status.player_digest,
                seed: status.seed,
                rules: status.rules,
                pieces: status.pieces,
                lines: status.lines,
                digest: status.digest,
                speed: status.speed,
                paused: status.paused,
            },
            other => panic!("{other:?} to a question for the status"),
        })
    }
}

/// How the game stands: what is worth keeping of it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Stand {
    pub(crate) player: String,
    pub(crate) player_digest: u64,
    pub(crate) seed: u64,
    pub(crate) rules: GameRules,
    pub(crate) pieces: u64,
    pub(crate) lines: u64,
    pub(crate) digest: u64,
    pub(crate) speed: Speed,
    pub(crate) paused: bool,
}

/// A call as it is sent.
pub(crate) fn framed(call: &Call<'_>) -> Vec<u8> {
    Frame::new().wrap(call).expect("a call fits a frame").to_vec()
}

/// What an upload consists of.
pub(crate) fn with_upload<T>(slot: &str, player: &Player, then: impl FnOnce(&[Request<'_>]) -> T) -> T {
    let mut buffer = [0; MAX_WEIGHTS];
    let bytes = encode_weights(player, &mut buffer);
    let (set, length, digest) = (player.set().id(), bytes.len() as u16, player.digest());
    let mut requests = vec![Request::Begin { slot, set, length, digest }];
    requests.extend((0..).zip(bytes.chunks(MAX_CHUNK)).map(|(index, bytes)| Request::Chunk { index, bytes }));
    requests.push(Request::Commit);
    then(&requests)
}
