//! A serial port as a line of messages: calls out, answers and events in.

use std::collections::VecDeque;
use std::io::{ErrorKind, Read, Write};
use std::time::{Duration, Instant, SystemTime};

use dropwise_core::wire::frame::{Frame, Unframer, decode, decode_start};
use dropwise_core::wire::{Answer, Call, Event, Message, Refusal, Request};
use serialport::{ClearBuffer, SerialPort};

use super::LinkError;
use super::error::describe;

/// Any would do: USB knows no bits per second. 1200 would ask for the boot loader.
const BAUD: u32 = 115_200;
/// The speed at which opening the port asks for the boot loader.
const BOOT_LOADER_BAUD: u32 = 1200;
/// How often a call is sent before its time is up.
const ATTEMPTS: u32 = 5;

/// A message from the device that holds an event.
#[derive(Clone, Debug)]
pub struct Received(Vec<u8>);

impl Received {
    /// The event; none if it is of a kind that this program does not know.
    pub fn event(&self) -> Option<Event<'_>> {
        match decode(&self.0)? {
            Message::Event(event) => Some(event),
            Message::Answer { .. } => None,
        }
    }
}

/// A port with somebody at its other end, or not.
pub(super) struct Line {
    port: Box<dyn SerialPort>,
    pub(super) path: String,
    patience: Duration,
    unframer: Unframer,
    /// What was read from the port and not yet looked at.
    unread: VecDeque<u8>,
    /// Whether bytes came.
    noise: bool,
    /// The number of the last call.
    number: u16,
    /// The message that answered it.
    pub(super) answer: Vec<u8>,
    pub(super) events: VecDeque<Received>,
}

impl Line {
    /// Opens a port.
    pub(super) fn open(path: &str, patience: Duration) -> Result<Line, LinkError> {
        let port = open_port(path, BAUD)?;
        // What an earlier conversation left is of no interest; a port that cannot forget it is read to the end.
        let _ = port.clear(ClearBuffer::Input);
        let mut line = Line {
            port,
            path: path.into(),
            patience,
            unframer: Unframer::new(),
            unread: VecDeque::new(),
            noise: false,
            // Late answers to whoever spoke before must not be taken for ours.
            number: any_number(),
            answer: vec![],
            events: VecDeque::new(),
        };
        // Ends whatever half a frame the device may have from before.
        line.send(&[0])?;
        Ok(line)
    }

    /// The next event; none if there is none within this time.
    pub(super) fn event(&mut self, patience: Duration) -> Result<Option<Received>, LinkError> {
        if let Some(event) = self.events.pop_front() {
            return Ok(Some(event));
        }
        let end = Instant::now() + patience;
        while let Some(message) = self.receive(end)? {
            if kind(&message) == Some(Kind::Event) {
                return Ok(Some(Received(message)));
            }
        }
        Ok(None)
    }

    /// Sends a call until it is answered.
    pub(super) fn exchange(&mut self, request: Request<'_>) -> Result<(), LinkError> {
        self.number = self.number.wrapping_add(1);
        let mut frame = Frame::new();
        let call = Call { number: self.number, request };
        let Ok(bytes) = frame.wrap(&call) else {
            // Only a name could be that long.
            return Err(refused(&request, Refusal::Name));
        };
        for _ in 0..ATTEMPTS {
            self.send(bytes)?;
            let end = Instant::now() + self.patience / ATTEMPTS;
            while let Some(message) = self.receive(end)? {
                match kind(&message) {
                    Some(Kind::Answer(number)) if number == self.number => {
                        self.answer = message;
                        return Ok(());
                    }
                    Some(Kind::Event) => self.events.push_back(Received(message)),
                    // A late answer, or none at all.
                    Some(Kind::Answer(_)) | None => {}
                }
            }
        }
        Err(LinkError::Silent { path: self.path.clone(), noise: self.noise })
    }

    /// What the last answer says.
    pub(super) fn outcome(&self, request: &Request<'_>) -> Result<Answer<'_>, LinkError> {
        match decode(&self.answer) {
            Some(Message::Answer { answer: Ok(answer), .. }) => Ok(answer),
            Some(Message::Answer { answer: Err(refusal), .. }) => Err(refused(request, refusal)),
            Some(Message::Event(_)) | None => Err(self.nonsense(request)),
        }
    }

    pub(super) fn nonsense(&self, request: &Request<'_>) -> LinkError {
        LinkError::Nonsense { what: describe(request) }
    }

    fn send(&mut self, bytes: &[u8]) -> Result<(), LinkError> {
        // A device that takes nothing must not hold us for longer than one that says nothing.
        let set = self.port.set_timeout(self.patience);
        let written = set.map_err(std::io::Error::from).and_then(|()| self.port.write_all(bytes));
        written.map_err(|error| match error.kind() {
            ErrorKind::TimedOut | ErrorKind::WouldBlock => {
                LinkError::Silent { path: self.path.clone(), noise: self.noise }
            }
            _ => self.gone(),
        })
    }

    /// The next message; none if there is none before a time.
    fn receive(&mut self, end: Instant) -> Result<Option<Vec<u8>>, LinkError> {
        loop {
            while let Some(byte) = self.unread.pop_front() {
                if let Some(message) = self.unframer.push(byte) {
                    return Ok(Some(message.to_vec()));
                }
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(None);
            }
            let mut bytes = [0; 4096];
            let set = self.port.set_timeout(left).map_err(std::io::Error::from);
            match set.and_then(|()| self.port.read(&mut bytes)) {
                Ok(0) => return Err(self.gone()),
                Ok(count) => {
                    self.noise = true;
                    self.unread.extend(&bytes[..count]);
                }
                Err(error) => match error.kind() {
                    ErrorKind::TimedOut | ErrorKind::WouldBlock => return Ok(None),
                    ErrorKind::Interrupted => {}
                    _ => return Err(self.gone()),
                },
            }
        }
    }

    fn gone(&self) -> LinkError {
        LinkError::Gone { path: self.path.clone() }
    }
}

fn refused(request: &Request<'_>, refusal: Refusal) -> LinkError {
    LinkError::Refused { what: describe(request), refusal }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Answer(u16),
    Event,
}

/// What a message is, of whatever version.
fn kind(message: &[u8]) -> Option<Kind> {
    // The numbers of Message::Answer and Message::Event.
    match decode_start(message)? {
        0u8 => decode_start(message).map(|(_, number): (u8, u16)| Kind::Answer(number)),
        1 => Some(Kind::Event),
        _ => None,
    }
}

fn any_number() -> u16 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    (now.subsec_nanos() >> 4) as u16 ^ std::process::id() as u16
}

fn open_port(path: &str, baud: u32) -> Result<Box<dyn SerialPort>, LinkError> {
    // On macOS a pseudo-terminal refuses a speed; one is known by its name.
    let is_pty = cfg!(target_os = "macos") && path.starts_with("/dev/ttys");
    let builder = serialport::new(path, if is_pty { 0 } else { baud });
    // The device sends only to a port that is open, which it sees by DTR. A pseudo-terminal has no such line.
    builder.dtr_on_open(true).open().map_err(|error| {
        let path = path.to_owned();
        match error.kind() {
            serialport::ErrorKind::Io(ErrorKind::NotFound) => LinkError::NoSuchPort { path },
            serialport::ErrorKind::Io(ErrorKind::PermissionDenied) => LinkError::Permission { path },
            // Windows says the same of a port that is not there.
            serialport::ErrorKind::NoDevice if cfg!(windows) && !is_listed(&path) => {
                LinkError::NoSuchPort { path }
            }
            serialport::ErrorKind::NoDevice => LinkError::Busy { path },
            _ => LinkError::Open { path, told: error.description },
        }
    })
}

fn is_listed(path: &str) -> bool {
    serialport::available_ports().is_ok_and(|ports| ports.iter().any(|port| port.port_name == path))
}

/// Asks for the boot loader in the way that every version of the firmware understands.
///
/// # Errors
/// If the port cannot be opened.
pub fn knock(path: &str) -> Result<(), LinkError> {
    open_port(path, BOOT_LOADER_BAUD).map(drop)
}
