//! A device on the desk: does what it is asked for and remembers it.

use std::collections::BTreeMap;

use dropwise_core::name::MAX_NAME;
use dropwise_core::player::KNOWN;
use dropwise_core::wire::frame::{Frame, Unframer, decode};
use dropwise_core::wire::{
    Answer, Call, CrashReport, GameRules, Greeting, Handheld, Identity, MAX_CHUNK, MAX_WEIGHTS, Message,
    PROTOCOL, Refusal, Request, Session, SlotInfo, Status, Subscription, WEIGHTS_FORMAT, When,
    encode_weights,
};
use dropwise_core::{Player, Set, Speed};

/// How many players it stores.
pub(crate) const CAPACITY: usize = 3;

/// A device that counts what it did.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Desk {
    pub(crate) stored: BTreeMap<String, Player>,
    pub(crate) selected: String,
    pub(crate) subscription: Subscription,
    /// Everything else it was told to do, in order.
    pub(crate) done: Vec<String>,
    /// Whether its flash fails.
    pub(crate) broken: bool,
}

impl Desk {
    fn note(&mut self, what: impl std::fmt::Debug) -> Result<(), Refusal> {
        self.done.push(format!("{what:?}"));
        Ok(())
    }
}

fn known(name: &str) -> Option<Player> {
    Player::known(name)
}

impl Handheld for Desk {
    fn identity(&self) -> Identity<'_> {
        Identity {
            greeting: Greeting { protocol: PROTOCOL, firmware: "1.2.3" },
            board: "desk",
            id: "0123456789abcdef",
            sets: Set::ALL.iter().fold(0, |sets, set| sets | 1 << set.id()),
            weights_format: WEIGHTS_FORMAT,
            capacity: CAPACITY as u8,
            max_name: MAX_NAME as u8,
        }
    }

    fn slot(&self, index: usize) -> Option<SlotInfo<'_>> {
        let built_in = KNOWN.iter().map(|known| (known.name, known.player, true));
        let stored = self.stored.iter().map(|(name, &player)| (name.as_str(), player, false));
        let (name, player, built_in) = built_in.chain(stored).nth(index)?;
        let selected = name == self.selected;
        Some(SlotInfo { name, set: player.set().id(), digest: player.digest(), built_in, selected })
    }

    fn player(&self, name: &str) -> Option<Player> {
        self.stored.get(name).copied().or_else(|| known(name))
    }

    fn may_save(&self, name: &str) -> Result<(), Refusal> {
        if name.is_empty() || name.len() > MAX_NAME || !name.bytes().all(|byte| (b' '..=b'~').contains(&byte))
        {
            Err(Refusal::Name)
        } else if known(name).is_some() {
            Err(Refusal::BuiltIn)
        } else if self.stored.len() == CAPACITY && !self.stored.contains_key(name) {
            Err(Refusal::Full)
        } else {
            Ok(())
        }
    }

    fn save(&mut self, name: &str, player: Player) -> Result<bool, Refusal> {
        if self.broken {
            return Err(Refusal::Flash);
        }
        self.note(("save", name))?;
        Ok(self.stored.insert(name.into(), player) != Some(player))
    }

    fn delete(&mut self, name: &str) -> Result<(), Refusal> {
        if known(name).is_some() {
            return Err(Refusal::BuiltIn);
        }
        self.stored.remove(name).ok_or(Refusal::NoSuchSlot)?;
        self.note(("delete", name))
    }

    fn select(&mut self, name: &str, when: When) -> Result<(), Refusal> {
        self.player(name).ok_or(Refusal::NoSuchSlot)?;
        self.selected = name.into();
        self.note(("select", name, when))
    }

    fn new_game(&mut self, seed: Option<u64>, rules: GameRules) -> Result<(), Refusal> {
        rules.rules().map_err(|_| Refusal::Rules)?;
        self.note(("game", seed, rules))
    }

    fn pause(&mut self, paused: bool) -> Result<(), Refusal> {
        self.note(("pause", paused))
    }

    fn step(&mut self) -> Result<(), Refusal> {
        self.note("step")
    }

    fn speed(&mut self, speed: Speed) -> Result<(), Refusal> {
        self.note(speed)
    }

    fn status(&self) -> Status<'_> {
        Status {
            player: &self.selected,
            player_digest: 1,
            seed: 2,
            rules: GameRules::default(),
            pieces: 3,
            lines: 4,
            digest: 5,
            rate_tenths: 6,
            speed: Speed::Turbo,
            paused: false,
            games: 7,
            best: Some(8),
            mean_tenths: Some(9),
            uptime: 10,
        }
    }

    fn subscribe(&mut self, subscription: Subscription) {
        self.subscription = subscription;
    }

    fn bench(&mut self, pieces: u32) -> Result<(), Refusal> {
        self.note(("bench", pieces))
    }

    fn crash(&self) -> Option<CrashReport<'_>> {
        None
    }

    fn reset(&mut self, bootsel: bool) {
        self.done.push(format!("reset {bootsel}"));
    }
}

/// A laptop and the device that it is connected to.
#[derive(Default)]
pub(crate) struct Cable {
    pub(crate) desk: Desk,
    session: Session,
    number: u16,
}

/// The answer to a call, kept.
pub(crate) type Outcome = Result<String, Refusal>;

impl Cable {
    /// After the first hello.
    pub(crate) fn connected() -> Cable {
        let mut cable = Cable::default();
        cable.ask(Request::Hello { protocol: PROTOCOL }).unwrap();
        cable
    }

    /// Calls under the next number.
    pub(crate) fn ask(&mut self, request: Request<'_>) -> Outcome {
        self.number = self.number.wrapping_add(1);
        let answers = self.send(&framed(&Call { number: self.number, request }));
        let [answer] = <[_; 1]>::try_from(answers).expect("one answer to a call");
        assert_eq!(answer.0, self.number);
        answer.1
    }

    /// Sends bytes: the answers that come back, with their numbers.
    pub(crate) fn send(&mut self, bytes: &[u8]) -> Vec<(u16, Outcome)> {
        let mut answers = Vec::new();
        for &byte in bytes {
            if let Some(frame) = self.session.receive(byte, &mut self.desk) {
                answers.push(read(frame));
            }
        }
        answers
    }

    /// The cable is pulled and put back in: whatever the device kept of the conversation is still there.
    pub(crate) fn reconnect(&mut self) {
        self.number = self.number.wrapping_add(1000);
        let hello = self.ask(Request::Hello { protocol: PROTOCOL });
        assert!(hello.is_ok(), "{hello:?}");
    }

    /// The calls of an upload.
    pub(crate) fn upload(&mut self, slot: &str, player: &Player) -> Outcome {
        with_upload(slot, player, |requests| {
            let mut last = Ok(String::new());
            for &request in requests {
                last = self.ask(request);
                last.clone()?;
            }
            last
        })
    }
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

/// A call as it is sent.
pub(crate) fn framed(call: &Call<'_>) -> Vec<u8> {
    Frame::new().wrap(call).expect("a call fits a frame").to_vec()
}

fn read(frame: &[u8]) -> (u16, Outcome) {
    let mut unframer = Unframer::new();
    for &byte in frame {
        if let Some(message) = unframer.push(byte) {
            let Some(Message::Answer { number, answer }) = decode(message) else { panic!("not an answer") };
            return (number, answer.map(|answer: Answer<'_>| format!("{answer:?}")));
        }
    }
    panic!("not a frame: {frame:02x?}")
}
