//! The laptop's side of the link to a device: [what is said](dropwise_core::wire) over a serial port.
//!
//! - [`port`]: which port;
//! - [`LinkError`]: what goes wrong, and what to do about it;
//! - [`mirror`]: a device's game, followed and replayed on the laptop.
//!
//! A call is sent again under the same number if no answer comes; the device does not do it twice. Answers to other
//! calls are late ones and are dropped; events that come in between are kept until they are asked for.

mod error;
mod line;
pub mod mirror;
pub mod port;

use std::time::Duration;

use dropwise_core::wire::{
    self, Answer, Greeting, Identity, PROTOCOL, Request, SlotInfo, Status, Subscription, WEIGHTS_FORMAT,
};
use dropwise_core::{Player, Set};

use line::Line;

pub use error::LinkError;
pub use line::{Received, knock};
pub use port::PortArgs;

/// The longest list of players that is read.
const MAX_SLOTS: u8 = u8::MAX;

/// Who a device is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// Its firmware's version.
    pub firmware: String,
    /// Its board.
    pub board: String,
    /// Its serial number.
    pub id: String,
    /// The sets that it can play, and how many others that this program does not know.
    pub sets: (Vec<Set>, u32),
    /// How its weights are sent.
    pub weights_format: u8,
    /// How many players it can store.
    pub capacity: u8,
    /// The longest name of a player.
    pub max_name: u8,
}

impl Profile {
    fn of(identity: &Identity<'_>) -> Profile {
        let has = |set: &Set| identity.sets.checked_shr(set.id().into()).is_some_and(|bits| bits & 1 == 1);
        let sets: Vec<Set> = Set::ALL.iter().copied().filter(has).collect();
        let unknown = identity.sets.count_ones() - sets.len() as u32;
        Profile {
            firmware: identity.greeting.firmware.into(),
            board: identity.board.into(),
            id: identity.id.into(),
            sets: (sets, unknown),
            weights_format: identity.weights_format,
            capacity: identity.capacity,
            max_name: identity.max_name,
        }
    }
}

/// A player on a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Its name.
    pub name: String,
    /// The id of its set, which this program may not know.
    pub set: u8,
    /// Its digest.
    pub digest: u64,
    /// Whether it came with the firmware.
    pub built_in: bool,
    /// Whether it plays after a restart.
    pub selected: bool,
}

impl Slot {
    fn of(info: SlotInfo<'_>) -> Slot {
        let SlotInfo { name, set, digest, built_in, selected } = info;
        Slot { name: name.into(), set, digest, built_in, selected }
    }

    /// The name of its set.
    pub fn set_name(&self) -> String {
        Set::from_id(self.set).map_or_else(|| format!("number {}", self.set), |set| set.name().into())
    }
}

/// A device that answers.
pub struct Link {
    line: Line,
    profile: Profile,
}

impl Link {
    /// Opens the port that is meant and says hello.
    ///
    /// # Errors
    /// If there is no device, it does not answer, or it speaks another protocol.
    pub fn connect(args: &PortArgs) -> Result<Link, LinkError> {
        Link::open(&args.choose()?, args.timeout)
    }

    /// Opens a port and says hello.
    ///
    /// # Errors
    /// If it cannot be opened, nothing answers, or another protocol is spoken.
    pub fn open(path: &str, patience: Duration) -> Result<Link, LinkError> {
        let mut line = Line::open(path, patience)?;
        let hello = Request::Hello { protocol: PROTOCOL };
        line.exchange(hello)?;
        // Nobody has subscribed to these.
        line.events.clear();
        match wire::greeting(&line.answer) {
            Some(Greeting { protocol: PROTOCOL, .. }) => {}
            Some(Greeting { protocol, firmware }) => {
                return Err(LinkError::Protocol { device: protocol, firmware: firmware.into() });
            }
            None => return Err(line.nonsense(&hello)),
        }
        let profile = match line.outcome(&hello)? {
            Answer::Hello(identity) => Profile::of(&identity),
            _ => return Err(line.nonsense(&hello)),
        };
        Ok(Link { line, profile })
    }

    /// The port.
    pub fn path(&self) -> &str {
        &self.line.path
    }

    /// Who answers.
    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    /// Asks for something: the answer.
    ///
    /// # Errors
    /// If the device refuses, does not answer or is gone.
    pub fn call(&mut self, request: Request<'_>) -> Result<Answer<'_>, LinkError> {
        self.line.exchange(request)?;
        self.line.outcome(&request)
    }

    /// Asks for something that is done without saying more.
    ///
    /// # Errors
    /// As [`Link::call`].
    pub fn order(&mut self, request: Request<'_>) -> Result<(), LinkError> {
        match self.call(request)? {
            Answer::Done => Ok(()),
            _ => Err(self.line.nonsense(&request)),
        }
    }

    /// How the game stands.
    ///
    /// # Errors
    /// As [`Link::call`].
    pub fn status(&mut self) -> Result<Status<'_>, LinkError> {
        self.line.exchange(Request::Status)?;
        match self.line.outcome(&Request::Status)? {
            Answer::Status(status) => Ok(status),
            _ => Err(self.line.nonsense(&Request::Status)),
        }
    }

    /// The players on the device.
    ///
    /// # Errors
    /// As [`Link::call`].
    pub fn slots(&mut self) -> Result<Vec<Slot>, LinkError> {
        let mut slots = vec![];
        for index in 0..MAX_SLOTS {
            let request = Request::Slot { index };
            match self.call(request)? {
                Answer::Slot(Some(info)) => slots.push(Slot::of(info)),
                Answer::Slot(None) => break,
                _ => return Err(self.line.nonsense(&request)),
            }
        }
        Ok(slots)
    }

    /// A player on the device.
    ///
    /// # Errors
    /// As [`Link::call`]; or if this program does not know the player's set.
    pub fn read(&mut self, name: &str) -> Result<Player, LinkError> {
        self.check_format()?;
        let request = Request::Read { slot: name };
        let (set, player) = match self.call(request)? {
            Answer::Weights { set, bytes } => {
                (Some(set), Set::from_id(set).map(|set| wire::decode_weights(set, bytes)))
            }
            _ => (None, None),
        };
        match (set, player) {
            (Some(set), None) => Err(LinkError::UnknownSet { name: name.into(), set }),
            (_, Some(Ok(player))) => Ok(player),
            _ => Err(self.line.nonsense(&request)),
        }
    }

    /// Whether weights can be sent to and fro.
    ///
    /// # Errors
    /// If the device has them in another format.
    pub fn check_format(&self) -> Result<(), LinkError> {
        match self.profile.weights_format {
            WEIGHTS_FORMAT => Ok(()),
            device => Err(LinkError::WeightsFormat { device }),
        }
    }

    /// Events that the device is to send from now on; none that were sent before are kept.
    ///
    /// # Errors
    /// As [`Link::call`].
    pub fn subscribe(&mut self, subscription: Subscription) -> Result<(), LinkError> {
        self.line.events.clear();
        self.order(Request::Subscribe(subscription))
    }

    /// The next event; none if there is none within this time.
    ///
    /// # Errors
    /// If the device is gone.
    pub fn event(&mut self, patience: Duration) -> Result<Option<Received>, LinkError> {
        self.line.event(patience)
    }
}
