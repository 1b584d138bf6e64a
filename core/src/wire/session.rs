//! The device's side of a conversation, apart from any device.

use super::frame::{Frame, Unframer, decode, decode_start};
use super::upload::Upload;
use super::{
    Answer, Call, CrashReport, GameRules, Identity, MAX_WEIGHTS, Message, Refusal, Request, SlotInfo, Status,
    Subscription, When, encode_weights,
};
use crate::name::Name;
use crate::player::Player;
use crate::speed::Speed;

/// A device that can be talked to. None of these wait; each has happened, or is bound to, when it returns.
///
/// What refuses has changed nothing.
pub trait Handheld {
    /// Who it is.
    fn identity(&self) -> Identity<'_>;

    /// A player by number: the built-in ones, then the stored ones.
    fn slot(&self, index: usize) -> Option<SlotInfo<'_>>;

    /// A player by name.
    fn player(&self, name: &str) -> Option<Player>;

    /// Writes a player to flash: whether there was something to write.
    ///
    /// # Errors
    /// [`Refusal::Full`], [`Refusal::Flash`] or [`Refusal::Busy`].
    fn save(&mut self, name: &str, player: Player) -> Result<bool, Refusal>;

    /// Whether a player may be saved under this name.
    ///
    /// # Errors
    /// [`Refusal::Name`], [`Refusal::BuiltIn`] or [`Refusal::Full`].
    fn may_save(&self, name: &str) -> Result<(), Refusal>;

    /// Forgets a stored player.
    ///
    /// # Errors
    /// [`Refusal::NoSuchSlot`], [`Refusal::BuiltIn`], [`Refusal::Flash`] or [`Refusal::Busy`].
    fn delete(&mut self, name: &str) -> Result<(), Refusal>;

    /// Lets a player play, now and after a restart.
    ///
    /// # Errors
    /// [`Refusal::NoSuchSlot`], [`Refusal::Flash`] or [`Refusal::Busy`].
    fn select(&mut self, name: &str, when: When) -> Result<(), Refusal>;

    /// Starts another game.
    ///
    /// # Errors
    /// [`Refusal::Rules`] or [`Refusal::Busy`].
    fn new_game(&mut self, seed: Option<u64>, rules: GameRules) -> Result<(), Refusal>;

    /// Holds the game, or lets it go on.
    ///
    /// # Errors
    /// [`Refusal::Busy`].
    fn pause(&mut self, paused: bool) -> Result<(), Refusal>;

    /// Places one piece of a game that is held; holds one that is not.
    ///
    /// # Errors
    /// [`Refusal::Busy`].
    fn step(&mut self) -> Result<(), Refusal>;

    /// Plays at this speed.
    ///
    /// # Errors
    /// [`Refusal::Busy`].
    fn speed(&mut self, speed: Speed) -> Result<(), Refusal>;

    /// How the game stands.
    fn status(&self) -> Status<'_>;

    /// Sends these events from now on, and no others.
    fn subscribe(&mut self, subscription: Subscription);

    /// Plays so many pieces apart, and sends [`Event::Bench`](super::Event::Bench).
    ///
    /// # Errors
    /// [`Refusal::Busy`].
    fn bench(&mut self, pieces: u32) -> Result<(), Refusal>;

    /// Why it started again.
    fn crash(&self) -> Option<CrashReport<'_>>;

    /// Starts again once the answer is on its way.
    fn reset(&mut self, bootsel: bool);
}

/// The device's side of a conversation: takes bytes, has the handheld do what they ask for, gives frames to send.
#[derive(Debug, Default)]
pub struct Session {
    unframer: Unframer,
    /// The number of the last call that was carried out or refused, once there was a hello.
    last: Option<u16>,
    /// The frame that answered it.
    answer: Frame,
    /// The frame that answered a call out of turn.
    aside: Frame,
    upload: Option<(Name, Upload)>,
}

impl Session {
    /// Before the first byte.
    pub fn new() -> Session {
        Session::default()
    }

    /// Takes the next byte. If it ends a call: the frame that answers it.
    pub fn receive(&mut self, byte: u8, handheld: &mut impl Handheld) -> Option<&[u8]> {
        let message = self.unframer.push(byte)?;
        // Whatever else a call has, it begins with its number.
        let number: u16 = decode_start(message)?;
        let call: Option<Call<'_>> = decode(message);
        let hello = matches!(call, Some(Call { request: Request::Hello { .. }, .. }));
        let out_of_turn = match self.last {
            _ if hello => None,
            None => Some(Refusal::NoHello),
            Some(last) if last == number => return Some(self.answer.bytes()),
            // Half of all numbers are ahead of the last one, half behind.
            Some(last) if number.wrapping_sub(last) > u16::MAX / 2 => Some(Refusal::Stale),
            Some(_) => None,
        };
        if let Some(refusal) = out_of_turn {
            return Some(fill(&mut self.aside, number, Err(refusal)));
        }
        self.last = Some(number);
        let mut weights = [0; MAX_WEIGHTS];
        let outcome = match call {
            Some(call) => obey(call.request, handheld, &mut self.upload, &mut weights),
            None => Err(Refusal::Unknown),
        };
        Some(fill(&mut self.answer, number, outcome))
    }
}

/// The answer to a call, framed.
fn fill<'a>(frame: &'a mut Frame, number: u16, answer: Result<Answer<'_>, Refusal>) -> &'a [u8] {
    if frame.wrap(&Message::Answer { number, answer }).is_err() {
        // A refusal is short: it fits.
        let _ = frame.wrap(&Message::Answer { number, answer: Err(Refusal::TooLong) });
    }
    frame.bytes()
}

fn obey<'a>(
    request: Request<'_>,
    handheld: &'a mut impl Handheld,
    upload: &mut Option<(Name, Upload)>,
    weights: &'a mut [u8; MAX_WEIGHTS],
) -> Result<Answer<'a>, Refusal> {
    match request {
        Request::Hello { .. } => {
            *upload = None;
            handheld.subscribe(Subscription::default());
            return Ok(Answer::Hello(handheld.identity()));
        }
        Request::Begin { slot, set, length, digest } => {
            *upload = None;
            handheld.may_save(slot)?;
            let name = Name::new(slot).map_err(|_| Refusal::Name)?;
            *upload = Some((name, Upload::begin(set, length, digest)?));
        }
        Request::Chunk { index, bytes } => {
            upload.as_mut().ok_or(Refusal::NoUpload)?.1.chunk(index, bytes)?;
        }
        Request::Commit => {
            let (name, upload) = upload.take().ok_or(Refusal::NoUpload)?;
            let written = handheld.save(name.as_str(), upload.finish()?)?;
            return Ok(Answer::Saved { written });
        }
        Request::Slot { index } => return Ok(Answer::Slot(handheld.slot(index.into()))),
        Request::Read { slot } => {
            let player = handheld.player(slot).ok_or(Refusal::NoSuchSlot)?;
            return Ok(Answer::Weights { set: player.set().id(), bytes: encode_weights(&player, weights) });
        }
        Request::Select { slot, when } => handheld.select(slot, when)?,
        Request::Delete { slot } => handheld.delete(slot)?,
        Request::NewGame { seed, rules } => handheld.new_game(seed, rules)?,
        Request::Pause { paused } => handheld.pause(paused)?,
        Request::Step => handheld.step()?,
        Request::Speed { speed } => handheld.speed(speed)?,
        Request::Status => return Ok(Answer::Status(handheld.status())),
        Request::Subscribe(subscription) => handheld.subscribe(subscription),
        Request::Bench { pieces } => handheld.bench(pieces)?,
        Request::Crash => return Ok(Answer::Crash(handheld.crash())),
        Request::Reset { bootsel } => handheld.reset(bootsel),
    }
    Ok(Answer::Done)
}
