//! What a laptop and a device say to each other, and how it is wrapped.
//!
//! The laptop calls, the device answers each call once, in order; events come in between if they were subscribed to.
//!
//! | call | answer | what it does |
//! |---|---|---|
//! | [`Hello`](Request::Hello) | [`Hello`](Answer::Hello) | who is there; the first call of a conversation |
//! | [`Begin`](Request::Begin) | [`Done`](Answer::Done) | starts an upload into a slot; nothing live changes |
//! | [`Chunk`](Request::Chunk) | [`Done`](Answer::Done) | the next piece of it |
//! | [`Commit`](Request::Commit) | [`Saved`](Answer::Saved) | checks the whole, writes it to flash and reads it back |
//! | [`Slot`](Request::Slot) | [`Slot`](Answer::Slot) | one of the players, by number |
//! | [`Read`](Request::Read) | [`Weights`](Answer::Weights) | a player's weights |
//! | [`Select`](Request::Select) | [`Done`](Answer::Done) | who plays, now and after a restart |
//! | [`Delete`](Request::Delete) | [`Done`](Answer::Done) | forgets a stored player |
//! | [`NewGame`](Request::NewGame) | [`Done`](Answer::Done) | gives the game up and starts another |
//! | [`Pause`](Request::Pause), [`Step`](Request::Step), [`Speed`](Request::Speed) | [`Done`](Answer::Done) | as the buttons do |
//! | [`Status`](Request::Status) | [`Status`](Answer::Status) | how the game stands |
//! | [`Subscribe`](Request::Subscribe) | [`Done`](Answer::Done) | which events to send from now on |
//! | [`Bench`](Request::Bench) | [`Done`](Answer::Done) | plays apart and sends [`Event::Bench`] at the end |
//! | [`Crash`](Request::Crash) | [`Crash`](Answer::Crash) | why the device started again |
//! | [`Reset`](Request::Reset) | [`Done`](Answer::Done) | starts again, or shows the boot drive |
//!
//! A call that is not carried out is answered with a [`Refusal`] by name, and has changed nothing.
//!
//! # Frames
//!
//! ```text
//!   +---------------------------------- COBS ----------------------------------+------+
//!   | message, in postcard's encoding, at most 320 bytes | CRC-32 of it, 4 LE  | 0x00 |
//!   +--------------------------------------------------------------------------+------+
//! ```
//!
//! A zero byte ends a frame and stands nowhere else, so after any garbage the frame behind the next zero is read
//! again. What is too long, does not decode, or has a wrong CRC is dropped without an answer.
//!
//! # Numbers of calls
//!
//! Each call carries a number. [`Hello`](Request::Hello) may have any and starts the count; after that a number seen
//! just before is answered as it was, without doing anything again, and an older one is refused. So a laptop that
//! missed an answer may send the call again, and a frame that was doubled or held back on its way does no harm.
//!
//! # Versions
//!
//! [`PROTOCOL`] changes with every change of meaning. [`Request::Hello`] and the beginning of [`Answer::Hello`]
//! ([`Greeting`]) never change, so that two sides of any age can say which of them is to be updated.

pub mod frame;
pub mod session;
mod upload;

use serde::{Deserialize, Serialize};

use crate::feature::{MAX_FEATURES, Set};
use crate::game::{PieceSource, Rules};
use crate::player::{Player, WeightsError};
use crate::speed::Speed;
use crate::well::{MAX_HEIGHT, Overflow, WellError};

pub use session::{Handheld, Session};

/// The version of all that is said here.
pub const PROTOCOL: u16 = 1;
/// The version of how weights are sent: 16-bit integers, little-endian, in the order of the set's features.
pub const WEIGHTS_FORMAT: u8 = 1;
/// The most bytes of a message before it is framed.
pub const MAX_MESSAGE: usize = 320;
/// The most bytes of weights in a chunk.
pub const MAX_CHUNK: usize = 32;
/// The most bytes that a player's weights take.
pub const MAX_WEIGHTS: usize = MAX_FEATURES * WEIGHT;
/// Bytes of a weight.
const WEIGHT: usize = 2;
/// The most moves in an event.
pub const MAX_MOVES: usize = 96;

/// From the laptop: a request and its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call<'a> {
    /// Its number: see the [module](self).
    pub number: u16,
    /// What is asked for.
    #[serde(borrow)]
    pub request: Request<'a>,
}

/// What a laptop asks for. New ones are added at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Request<'a> {
    /// Who is there?
    Hello {
        /// The laptop's [`PROTOCOL`].
        protocol: u16,
    },
    /// Starts an upload. One that was under way is forgotten.
    Begin {
        /// The slot that it is for.
        slot: &'a str,
        /// The [id](Set::id) of its set.
        set: u8,
        /// Bytes of all weights together.
        length: u16,
        /// The [digest](Player::digest) of the whole.
        digest: u64,
    },
    /// The next part of an upload.
    Chunk {
        /// Which one, from 0.
        index: u16,
        /// At most [`MAX_CHUNK`] bytes; all chunks but the last have as many.
        bytes: &'a [u8],
    },
    /// Ends an upload: from here on it counts.
    Commit,
    /// A player, counted from 0: the built-in ones first, then the stored ones.
    Slot {
        /// Its place in the list.
        index: u8,
    },
    /// A player's weights.
    Read {
        /// Its name.
        slot: &'a str,
    },
    /// Lets a player play, now and after a restart.
    Select {
        /// Its name.
        slot: &'a str,
        /// From when on.
        when: When,
    },
    /// Forgets a stored player. One that plays plays its game to the end.
    Delete {
        /// Its name.
        slot: &'a str,
    },
    /// Gives the game up and starts another.
    NewGame {
        /// Its seed; none takes one from the ring oscillator.
        seed: Option<u64>,
        /// Its rules.
        rules: GameRules,
    },
    /// Holds the game, or lets it go on.
    Pause {
        /// Whether to hold it.
        paused: bool,
    },
    /// Holds the game; if it is held already, places one piece.
    Step,
    /// How fast to play.
    Speed {
        /// The speed.
        speed: Speed,
    },
    /// How the game stands.
    Status,
    /// Which events to send.
    Subscribe(Subscription),
    /// Plays apart from the game, as fast as the chip can.
    Bench {
        /// How many pieces, at most.
        pieces: u32,
    },
    /// Why the device started again.
    Crash,
    /// Starts again.
    Reset {
        /// As a drive to drag a program onto.
        bootsel: bool,
    },
}

/// From when on a player plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum When {
    /// From the next piece on. A game that two players played cannot be replayed.
    Piece,
    /// From the next game on.
    Game,
}

/// The rules of a game, as far as they can be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GameRules {
    /// Rows of the well.
    pub height: u8,
    /// When a placement loses.
    pub overflow: Overflow,
    /// Where the pieces come from.
    pub pieces: Pieces,
}

/// A [`PieceSource`] that can be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Pieces {
    /// Independent and uniform.
    Uniform,
    /// S and Z each this many times as likely as any other.
    Hard(u8),
    /// The seven pieces in random order, again and again.
    Bag,
}

impl Default for GameRules {
    fn default() -> GameRules {
        GameRules { height: MAX_HEIGHT as u8, overflow: Overflow::Before, pieces: Pieces::Uniform }
    }
}

impl GameRules {
    /// The rules to play by.
    ///
    /// # Errors
    /// If the well is too low or too high.
    pub fn rules(self) -> Result<Rules<'static>, WellError> {
        let mut rules = Rules::new(self.height.into())?;
        rules.overflow = self.overflow;
        rules.pieces = match self.pieces {
            Pieces::Uniform => PieceSource::Uniform,
            Pieces::Hard(times) => PieceSource::Hard(times),
            Pieces::Bag => PieceSource::Bag,
        };
        Ok(rules)
    }

    /// The rules as they are sent; none for a list of pieces, which stays where it is.
    pub fn of(rules: &Rules<'_>) -> Option<GameRules> {
        let pieces = match rules.pieces {
            PieceSource::Uniform => Pieces::Uniform,
            PieceSource::Hard(times) => Pieces::Hard(times),
            PieceSource::Bag => Pieces::Bag,
            PieceSource::List(_) => return None,
        };
        Some(GameRules { height: rules.height() as u8, overflow: rules.overflow, pieces })
    }
}

/// The events that a laptop wants. None are sent to one that did not ask.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subscription {
    /// [`Event::Board`], [`Event::Moves`] and [`Event::End`].
    pub placements: bool,
    /// [`Event::Status`], once a second.
    pub status: bool,
    /// [`Event::Log`].
    pub log: bool,
}

/// From the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Message<'a> {
    /// To a call.
    Answer {
        /// The call's number.
        number: u16,
        /// What came of it.
        #[serde(borrow)]
        answer: Result<Answer<'a>, Refusal>,
    },
    /// Unasked, but subscribed to.
    Event(#[serde(borrow)] Event<'a>),
}

/// What came of a call. New ones are added at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Answer<'a> {
    /// Who is here.
    Hello(#[serde(borrow)] Identity<'a>),
    /// It is done, or begun.
    Done,
    /// An upload is in flash.
    Saved {
        /// Whether flash was written; it is not if the slot held the same already.
        written: bool,
    },
    /// A player; none if there are not so many.
    Slot(#[serde(borrow)] Option<SlotInfo<'a>>),
    /// A player's weights.
    Weights {
        /// The id of its set.
        set: u8,
        /// The weights, as they are uploaded.
        bytes: &'a [u8],
    },
    /// How the game stands.
    Status(#[serde(borrow)] Status<'a>),
    /// Why the device started again; none if it did not crash.
    Crash(#[serde(borrow)] Option<CrashReport<'a>>),
}

/// The beginning of [`Answer::Hello`], the same for every version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Greeting<'a> {
    /// The device's [`PROTOCOL`].
    pub protocol: u16,
    /// The firmware's version, such as `0.1.0`.
    pub firmware: &'a str,
}

/// Who a device is and what it can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity<'a> {
    /// Which version it speaks.
    #[serde(borrow)]
    pub greeting: Greeting<'a>,
    /// Its board, such as `pico-oled`.
    pub board: &'a str,
    /// The flash chip's unique id, 16 hexadecimal digits.
    pub id: &'a str,
    /// A bit for each set that it can play, counted by [id](Set::id).
    pub sets: u32,
    /// Its [`WEIGHTS_FORMAT`].
    pub weights_format: u8,
    /// How many players it can store.
    pub capacity: u8,
    /// The longest name of a player.
    pub max_name: u8,
}

/// A player on the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlotInfo<'a> {
    /// Its name.
    pub name: &'a str,
    /// The id of its set.
    pub set: u8,
    /// Its [digest](Player::digest).
    pub digest: u64,
    /// Whether it came with the firmware.
    pub built_in: bool,
    /// Whether it plays after a restart.
    pub selected: bool,
}

/// How the game stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status<'a> {
    /// Who plays.
    pub player: &'a str,
    /// The player's digest.
    pub player_digest: u64,
    /// The game's seed.
    pub seed: u64,
    /// The game's rules.
    pub rules: GameRules,
    /// Pieces placed.
    pub pieces: u64,
    /// Lines cleared.
    pub lines: u64,
    /// The digest over the game's moves.
    pub digest: u64,
    /// Pieces per second in tenths.
    pub rate_tenths: u32,
    /// How fast it goes.
    pub speed: Speed,
    /// Whether it is held.
    pub paused: bool,
    /// Finished games since the start.
    pub games: u32,
    /// Lines of the best of them.
    pub best: Option<u64>,
    /// Their mean lines, in tenths.
    pub mean_tenths: Option<u64>,
    /// Milliseconds since the start.
    pub uptime: u64,
}

/// What is left of a crash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CrashReport<'a> {
    /// Its kind, such as `panic`.
    pub kind: &'a str,
    /// What was said.
    pub message: &'a str,
    /// Where.
    pub place: &'a str,
}

/// What a device tells of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event<'a> {
    /// The game as it stands: at the start of a subscription and of a game, when the player changes, and where moves
    /// could not be sent as fast as they were made.
    Board(#[serde(borrow)] Board<'a>),
    /// Moves, one after the other.
    Moves {
        /// Pieces placed before the first of them.
        before: u64,
        /// The [code](crate::game::Move::code) of each, two bytes, little-endian; at most [`MAX_MOVES`].
        codes: &'a [u8],
    },
    /// The game is lost or was given up.
    End {
        /// Its seed.
        seed: u64,
        /// Pieces placed.
        pieces: u64,
        /// Lines cleared.
        lines: u64,
        /// The digest over its moves.
        digest: u64,
    },
    /// How the game stands.
    Status(#[serde(borrow)] Status<'a>),
    /// A line of the device's log.
    Log {
        /// Milliseconds since the start.
        uptime: u64,
        /// The line.
        text: &'a str,
    },
    /// A [bench](Request::Bench) has ended.
    Bench {
        /// Pieces placed: fewer than asked for if the game was lost.
        pieces: u32,
        /// Lines cleared.
        lines: u32,
        /// Microseconds taken.
        micros: u64,
        /// The digest over the moves of game 0 of seed 1.
        digest: u64,
    },
}

/// A game as it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Board<'a> {
    /// Who plays.
    pub player: &'a str,
    /// The game's seed.
    pub seed: u64,
    /// The game's rules.
    pub rules: GameRules,
    /// Pieces placed.
    pub pieces: u64,
    /// Lines cleared.
    pub lines: u64,
    /// The digest over the moves.
    pub digest: u64,
    /// The columns of the well as bits, row 0 lowest.
    pub columns: [u32; crate::well::WIDTH],
}

/// Why a call was not carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Refusal {
    /// The device does not know this request: one side is older than the other.
    Unknown,
    /// The conversation has not begun, or another laptop's came between: say hello.
    NoHello,
    /// The call is older than one that was answered.
    Stale,
    /// Not a name: 1 to so many printable ASCII characters.
    Name,
    /// There is no such player.
    NoSuchSlot,
    /// The name belongs to a player that came with the firmware.
    BuiltIn,
    /// No room for another player.
    Full,
    /// The device does not have this set.
    Set,
    /// The set has another number of weights.
    Length {
        /// Bytes that the set's weights take.
        expected: u16,
    },
    /// No upload was begun.
    NoUpload,
    /// Another chunk was expected.
    Order {
        /// Which one.
        expected: u16,
    },
    /// A chunk has too few or too many bytes.
    Chunk,
    /// Chunks are missing.
    Incomplete,
    /// The weights are not those that were announced.
    Digest,
    /// A weight is out of range.
    Range {
        /// Which one, from 0.
        index: u8,
    },
    /// The rules are none that can be played.
    Rules,
    /// The flash chip does not do what it should; the old weights are still there.
    Flash,
    /// Something else is going on, such as a bench.
    Busy,
    /// The answer does not fit a message.
    TooLong,
}

/// The greeting of a device of any age: the beginning of the message that answers [`Request::Hello`].
pub fn greeting(message: &[u8]) -> Option<Greeting<'_>> {
    // The numbers of Message::Answer, of the call, of Ok and of Answer::Hello.
    let (answer, _, ok, hello, greeting): (u8, u16, u8, u8, _) = frame::decode_start(message)?;
    ((answer, ok, hello) == (0, 0, 0)).then_some(greeting)
}

/// A player's weights as they are sent: see [`WEIGHTS_FORMAT`].
pub fn encode_weights<'a>(player: &Player, bytes: &'a mut [u8; MAX_WEIGHTS]) -> &'a [u8] {
    let (places, _) = bytes.as_chunks_mut::<WEIGHT>();
    for (place, weight) in places.iter_mut().zip(player.weights()) {
        *place = weight.to_le_bytes();
    }
    &bytes[..player.weights().len() * WEIGHT]
}

/// The player whose weights were sent.
///
/// # Errors
/// If there are too few or too many, or one is out of range.
pub fn decode_weights(set: Set, bytes: &[u8]) -> Result<Player, WeightsError> {
    let (weights, rest) = bytes.as_chunks::<WEIGHT>();
    if weights.len() != set.len() || !rest.is_empty() {
        return Err(WeightsError::Count { expected: set.len(), found: bytes.len().div_ceil(WEIGHT) });
    }
    let mut integers = [0; MAX_FEATURES];
    for (integer, weight) in integers.iter_mut().zip(weights) {
        *integer = i16::from_le_bytes(*weight);
    }
    Player::new(set, &integers[..set.len()])
}
