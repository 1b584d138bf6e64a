//! What goes wrong between a laptop and a device, and what to do about it.

use std::fmt;

use dropwise_core::wire::{PROTOCOL, Refusal, Request, WEIGHTS_FORMAT};

use super::port::Found;
use crate::output::Failure;

/// Why something was not done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkError {
    /// No device is plugged in; perhaps other serial ports are there.
    NoDevice {
        /// Ports of other things.
        others: Vec<String>,
    },
    /// No device has this serial number.
    NoSuchDevice {
        /// What was asked for.
        serial: String,
        /// What is there.
        found: Vec<Found>,
    },
    /// Several devices, and nobody to ask which one is meant.
    Several {
        /// What is there.
        found: Vec<Found>,
    },
    /// There is no such file.
    NoSuchPort {
        /// The port.
        path: String,
    },
    /// The system does not let this user open the port.
    Permission {
        /// The port.
        path: String,
    },
    /// Another program has the port open.
    Busy {
        /// The port.
        path: String,
    },
    /// The port cannot be opened for another reason.
    Open {
        /// The port.
        path: String,
        /// What the system says.
        told: String,
    },
    /// Nothing came back in time.
    Silent {
        /// The port.
        path: String,
        /// Whether there was something, but no answer.
        noise: bool,
    },
    /// The cable was pulled, or the device went away otherwise.
    Gone {
        /// The port.
        path: String,
    },
    /// The device speaks another protocol.
    Protocol {
        /// Its protocol.
        device: u16,
        /// Its firmware's version.
        firmware: String,
    },
    /// The device has another format of weights.
    WeightsFormat {
        /// Its format.
        device: u8,
    },
    /// A player of the device has a set that this program does not know.
    UnknownSet {
        /// The player.
        name: String,
        /// The set's id.
        set: u8,
    },
    /// An answer that does not belong to the call.
    Nonsense {
        /// What was asked for.
        what: String,
    },
    /// The device says no.
    Refused {
        /// What was asked for.
        what: String,
        /// Its reason.
        refusal: Refusal,
    },
}

/// What a request asks for, to stand behind "the device refuses to".
pub(super) fn describe(request: &Request<'_>) -> String {
    match request {
        Request::Hello { .. } => "say who it is".into(),
        Request::Begin { slot, .. } => format!("save '{slot}'"),
        Request::Chunk { .. } | Request::Commit => "save the player".into(),
        Request::Slot { .. } => "list its players".into(),
        Request::Read { slot } => format!("give the weights of '{slot}'"),
        Request::Select { slot, .. } => format!("let '{slot}' play"),
        Request::Delete { slot } => format!("delete '{slot}'"),
        Request::NewGame { .. } => "start a game".into(),
        Request::Pause { .. } => "pause".into(),
        Request::Step => "place one piece".into(),
        Request::Speed { .. } => "change its speed".into(),
        Request::Status => "say how the game stands".into(),
        Request::Subscribe(_) => "tell of its game".into(),
        Request::Bench { .. } => "measure its speed".into(),
        Request::Crash => "say why it started again".into(),
        Request::Reset { .. } => "start again".into(),
    }
}

/// Why, and what to do.
fn explain(refusal: Refusal) -> String {
    let told = match refusal {
        Refusal::Name => {
            "that is not a name for a device; take 1 to 24 letters, digits or other ASCII characters"
        }
        Refusal::NoSuchSlot => "it has no such player; `host device slots` lists those it has",
        Refusal::BuiltIn => {
            "that player came with the firmware and stays as it is; for one of your own take another name"
        }
        Refusal::Full => {
            "it has no room for another player; `host device slots` lists them, `host device delete NAME` makes room"
        }
        Refusal::Set => "its firmware does not have this feature set; update the firmware (docs/boards.md)",
        Refusal::Length { expected } => {
            return format!(
                "its firmware has this feature set with {expected} bytes of weights; update the firmware or this \
                 program, whichever is older"
            );
        }
        Refusal::Range { index } => {
            return format!("weight {} is out of range; quantise the weights again", u16::from(index) + 1);
        }
        Refusal::Rules => "it cannot play by these rules",
        Refusal::Flash => {
            "its flash chip does not do what it should; what was stored before is still there. Try again; if it \
             happens again, the chip is worn out"
        }
        Refusal::Busy => "it is busy with something else, such as a bench; try again in a moment",
        Refusal::NoHello | Refusal::Stale => {
            "the conversation was interrupted: the device started again, or another program speaks to it. Try again"
        }
        Refusal::NoUpload
        | Refusal::Order { .. }
        | Refusal::Chunk
        | Refusal::Incomplete
        | Refusal::Digest => {
            "the weights did not arrive as they were sent; what was stored before is still there. Try again"
        }
        Refusal::Unknown | Refusal::TooLong => {
            "it does not understand; update the firmware or this program, whichever is older (docs/boards.md)"
        }
    };
    told.into()
}

impl fmt::Display for LinkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LinkError::NoDevice { others } => {
                f.write_str(
                    "no device found; plug one in by USB, with a cable that carries data. One that shows up as the \
                     drive RPI-RP2 needs firmware first (docs/boards.md)",
                )?;
                if !others.is_empty() {
                    write!(f, ". Serial ports of other things: {}; --port PATH uses one", others.join(", "))?;
                }
                Ok(())
            }
            LinkError::NoSuchDevice { serial, found } if found.is_empty() => {
                write!(f, "no device with the serial number {serial} found, nor any other; plug it in by USB")
            }
            LinkError::NoSuchDevice { serial, found } => {
                write!(f, "no device with the serial number {serial}; there are:{}", List(found))
            }
            LinkError::Several { found } => {
                write!(f, "several devices; choose one with --device SERIAL or --port PATH:{}", List(found))
            }
            LinkError::NoSuchPort { path } => {
                write!(
                    f,
                    "there is no port {path}; is the device plugged in? `host device list` shows what is there"
                )
            }
            LinkError::Permission { path } => permission(f, path),
            LinkError::Busy { path } => write!(
                f,
                "{path} is in use by another program; close it (a serial monitor, another `host`), and just after \
                 plugging in wait some seconds"
            ),
            LinkError::Open { path, told } => write!(
                f,
                "cannot open {path}: {told}; is it a serial port? `host device list` shows the devices there are"
            ),
            LinkError::Silent { path, noise: false } => write!(
                f,
                "no answer from {path}; is it a Dropwise device? If so, unplug it and plug it in again, or update its \
                 firmware (docs/boards.md)"
            ),
            LinkError::Silent { path, noise: true } => write!(
                f,
                "what {path} sends is no answer; it does not seem to be a Dropwise device. `host device list` shows \
                 those there are"
            ),
            LinkError::Gone { path } => write!(
                f,
                "the connection to {path} broke off: the cable was pulled, or the device went away. Plug it in and \
                 try again"
            ),
            LinkError::Protocol { device, firmware } => {
                let who = if *device < PROTOCOL {
                    "update the device's firmware: docs/boards.md says how, `host device reset --bootsel` begins it"
                } else {
                    "update this program"
                };
                write!(
                    f,
                    "the device (firmware {firmware}) speaks protocol {device}, and this program (version {}) \
                     protocol {PROTOCOL}; {who}",
                    env!("CARGO_PKG_VERSION")
                )
            }
            LinkError::WeightsFormat { device } => {
                let who = if *device < WEIGHTS_FORMAT { "the device's firmware" } else { "this program" };
                write!(
                    f,
                    "the device has weights in format {device}, and this program in format {WEIGHTS_FORMAT}; update {who}"
                )
            }
            LinkError::UnknownSet { name, set } => write!(
                f,
                "'{name}' has feature set number {set}, which this program does not know; update this program"
            ),
            LinkError::Nonsense { what } => {
                write!(f, "the device was asked to {what}, and answered something else; update its firmware")
            }
            LinkError::Refused { what, refusal } => {
                write!(f, "the device refuses to {what}: {}", explain(*refusal))
            }
        }
    }
}

/// One line each.
struct List<'a>(&'a [Found]);

impl fmt::Display for List<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|found| write!(f, "\n  {found}"))
    }
}

fn permission(f: &mut fmt::Formatter<'_>, path: &str) -> fmt::Result {
    write!(f, "no permission to open {path}")?;
    if !cfg!(target_os = "linux") {
        return f.write_str("; ask who administers this computer");
    }
    // A tag is turned into permissions by rules numbered 73, so the file's number must be lower.
    f.write_str(
        "; either join the group that owns it (dialout on Debian and Ubuntu, uucp on Arch), then log in again:
  sudo usermod -aG dialout $USER
or let whoever sits at this computer use the device, then plug it in again:
  echo 'SUBSYSTEM==\"tty\", ATTRS{idVendor}==\"2e8a\", ATTRS{idProduct}==\"000a\", ATTRS{product}==\"Dropwise\", \
         TAG+=\"uaccess\", ENV{ID_MM_DEVICE_IGNORE}=\"1\"' | sudo tee /etc/udev/rules.d/60-dropwise.rules
  sudo udevadm control --reload",
    )
}

impl std::error::Error for LinkError {}

impl From<LinkError> for Failure {
    /// A device that says no has done its part; anything else is a failure of the link.
    fn from(error: LinkError) -> Failure {
        let message = error.to_string();
        match error {
            LinkError::Refused {
                refusal:
                    Refusal::Name
                    | Refusal::NoSuchSlot
                    | Refusal::BuiltIn
                    | Refusal::Full
                    | Refusal::Set
                    | Refusal::Length { .. }
                    | Refusal::Range { .. }
                    | Refusal::Rules
                    | Refusal::Flash
                    | Refusal::Busy,
                ..
            } => Failure::Refused(message),
            _ => Failure::Link(message),
        }
    }
}
