//! The conversation with a laptop: its bytes in, answers and events out.
//!
//! Nothing here is waited for by anyone else: a laptop that does not read holds up its own conversation, and one that
//! goes away ends it.

use core::cell::RefCell;

use dropwise_core::screen::Crash;
use dropwise_core::wire::Session;
use embassy_futures::select::{Either, Either3, select, select3};
use embassy_rp::peripherals::USB;
use embassy_rp::rom_data;
use embassy_rp::usb::Driver;
use embassy_time::{Duration, Instant, Timer};
use embassy_usb::class::cdc_acm::{CdcAcmClass, ControlChanged, Receiver, Sender};

use crate::feed::Feed;
use crate::handheld::Device;
use crate::log::say;
use crate::order;
use crate::players::Players;
use crate::snapshot::SNAPSHOT;
use crate::watchdog;

/// The largest packet of a full-speed bulk endpoint.
pub(crate) const PACKET: usize = 64;
/// Nobody talks at this rate any more: opening the port with it asks for the boot loader, as on other boards.
const BOOT_LOADER_BAUD: u32 = 1200;
/// From an answer until the device starts again: the host takes it before.
const FAREWELL: Duration = Duration::from_millis(50);

type Usb = Driver<'static, USB>;

/// What the link tells of, besides the game.
pub(crate) struct Link {
    /// The flash chip's unique id.
    pub(crate) id: &'static str,
    /// Why the device started again.
    pub(crate) crash: Crash<'static>,
    pub(crate) players: &'static RefCell<Players>,
}

/// Talks to one laptop after the other.
pub(crate) async fn run(link: Link, class: CdcAcmClass<'static, Usb>) -> ! {
    let (sender, receiver, control) = class.split_with_control();
    let mut port =
        Port { sender, receiver, lines: Lines { control, open: false, boot_loader_at: None }, torn: false };
    let mut conversation = Conversation { link, session: Session::new(), feed: Feed::new() };
    loop {
        port.receiver.wait_connection().await;
        let Gone = conversation.hold(&mut port).await;
        conversation.end();
        port.torn = true;
    }
}

/// The host has closed the port, or is not there any more.
struct Gone;

/// The serial port.
struct Port {
    sender: Sender<'static, Usb>,
    receiver: Receiver<'static, Usb>,
    lines: Lines,
    /// Whether the last thing that was sent may be the beginning of a frame without its end.
    torn: bool,
}

impl Port {
    async fn send(&mut self, frame: &[u8]) -> Result<(), Gone> {
        if self.torn {
            self.send_packet(&[0]).await?;
            self.torn = false;
        }
        for packet in frame.chunks(PACKET) {
            self.send_packet(packet).await?;
        }
        // A host reads on until a packet is not full.
        if frame.len().is_multiple_of(PACKET) {
            self.send_packet(&[]).await?;
        }
        Ok(())
    }

    async fn send_packet(&mut self, packet: &[u8]) -> Result<(), Gone> {
        let gone = self.lines.hung_up(|| self.receiver.line_coding().data_rate());
        match select(gone, self.sender.write_packet(packet)).await {
            Either::Second(Ok(())) => Ok(()),
            Either::First(Gone) | Either::Second(Err(_)) => Err(Gone),
        }
    }

    /// What the host sends next; nothing if something else is due before.
    async fn receive<'a>(
        &mut self,
        packet: &'a mut [u8; PACKET],
        due: impl Future<Output = ()>,
    ) -> Result<Option<&'a [u8]>, Gone> {
        let gone = self.lines.hung_up(|| self.sender.line_coding().data_rate());
        match select3(gone, self.receiver.read_packet(packet), due).await {
            Either3::Second(Ok(length)) => Ok(Some(&packet[..length])),
            Either3::Third(()) => Ok(None),
            Either3::First(Gone) | Either3::Second(Err(_)) => Err(Gone),
        }
    }
}

/// What the host does to the port besides sending bytes.
struct Lines {
    control: ControlChanged<'static>,
    /// Whether a program has the port open.
    open: bool,
    /// When to start the boot loader, once the host has asked for it.
    boot_loader_at: Option<Instant>,
}

impl Lines {
    /// Waits until the port is closed, or the bus is reset. Starts the boot loader, a drive to drag a UF2 file onto, if
    /// the host asks for it.
    async fn hung_up(&mut self, baud: impl Fn() -> u32) -> Gone {
        loop {
            // Whoever waits here may have given up in between.
            if let Some(time) = self.boot_loader_at {
                Timer::at(time).await;
                start_again(true);
            }
            self.control.control_changed().await;
            if baud() == BOOT_LOADER_BAUD {
                say!("boot loader: asked for by {BOOT_LOADER_BAUD} baud");
                self.boot_loader_at = Some(Instant::now() + FAREWELL);
                continue;
            }
            let was_open = core::mem::replace(&mut self.open, self.control.dtr());
            if was_open && !self.open {
                return Gone;
            }
        }
    }
}

struct Conversation {
    link: Link,
    session: Session,
    feed: Feed,
}

impl Conversation {
    /// Answers, and tells what happens, until the laptop has gone.
    async fn hold(&mut self, port: &mut Port) -> Gone {
        let mut packet = [0; PACKET];
        loop {
            let is_due = self.feed.event().is_some();
            let pause = self.feed.pause();
            let event = async {
                match pause {
                    _ if is_due => {}
                    Some(pause) => Timer::after(pause).await,
                    None => core::future::pending().await,
                }
            };
            let sent = match port.receive(&mut packet, event).await {
                Ok(Some(bytes)) => self.answer(bytes, port).await,
                Ok(None) => self.tell(port).await,
                Err(gone) => Err(gone),
            };
            if let Err(gone) = sent {
                return gone;
            }
        }
    }

    /// Nobody is there any more.
    fn end(&mut self) {
        self.session = Session::new();
        self.feed.abandon();
    }

    async fn answer(&mut self, bytes: &[u8], port: &mut Port) -> Result<(), Gone> {
        // A zero ends a frame, so each part has at most one.
        for part in bytes.split_inclusive(|&byte| byte == 0) {
            let mut reset = None;
            let Some(frame) = self.receive(part, &mut reset) else { continue };
            // What was asked for has happened when it is answered.
            order::settle().await;
            port.send(frame).await?;
            if let Some(bootsel) = reset {
                Timer::after(FAREWELL).await;
                start_again(bootsel);
            }
        }
        Ok(())
    }

    fn receive(&mut self, part: &[u8], reset: &mut Option<bool>) -> Option<&[u8]> {
        let (&last, rest) = part.split_last()?;
        // A game has begun long before a host has found the device.
        let snapshot = SNAPSHOT.try_get()?;
        let mut device = Device {
            id: self.link.id,
            crash: self.link.crash,
            players: self.link.players.borrow_mut(),
            feed: &mut self.feed,
            snapshot: &snapshot,
            reset,
        };
        for &byte in rest {
            // Not the end of a frame.
            let _ = self.session.receive(byte, &mut device);
        }
        self.session.receive(last, &mut device)
    }

    async fn tell(&mut self, port: &mut Port) -> Result<(), Gone> {
        if let Some(frame) = self.feed.event() {
            port.send(frame).await?;
            self.feed.sent();
        }
        Ok(())
    }
}

/// Starts again, as a drive if so asked.
fn start_again(bootsel: bool) -> ! {
    say!("reset bootsel={bootsel}");
    if bootsel {
        rom_data::reset_to_usb_boot(0, 0);
    }
    watchdog::reset()
}
