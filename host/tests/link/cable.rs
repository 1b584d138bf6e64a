//! A cable with a device at its end: a pseudo-terminal, and a thread that holds the device's side of the conversation.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use dropwise_core::wire::Session;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::OFlags;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};

use crate::desk::Desk;

/// How long the device sleeps if nothing comes.
const TICK: Duration = Duration::from_millis(2);

/// A pseudo-terminal.
pub(crate) struct Pty {
    pub(crate) master: File,
    /// Kept open, so that the terminal lives on between two programs that use it.
    pub(crate) slave: File,
    pub(crate) path: String,
}

impl Pty {
    pub(crate) fn open() -> Pty {
        // Without CLOEXEC the programs that are tested would hold the other end of their own cable.
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).expect("a pty");
        grantpt(&master).expect("a pty that may be used");
        unlockpt(&master).expect("a pty that can be opened");
        let path = ptsname(&master, vec![]).expect("a pty has a name").into_string().expect("in ASCII");
        let flags = OFlags::NOCTTY.bits() as i32;
        let slave =
            OpenOptions::new().read(true).write(true).custom_flags(flags).open(&path).expect("the slave");
        Pty { master: master.into(), slave, path }
    }

    /// A pseudo-terminal as a serial port: nothing is echoed or changed on its way.
    pub(crate) fn raw() -> Pty {
        let pty = Pty::open();
        let mut settings = tcgetattr(&pty.slave).expect("a terminal");
        settings.make_raw();
        tcsetattr(&pty.slave, OptionalActions::Now, &settings).expect("a terminal that can be set");
        rustix::fs::fcntl_setfl(&pty.master, OFlags::NONBLOCK).expect("a file");
        pty
    }
}

/// What happens to frames on their way to the laptop: what arrives instead of each.
pub(crate) type Mangle = Box<dyn FnMut(&[u8]) -> Vec<u8> + Send>;

/// What goes wrong.
#[derive(Default)]
pub(crate) struct Faults {
    pub(crate) mangle: Option<Mangle>,
    /// The cable is pulled when so many bytes have reached the device.
    pub(crate) pull_after: Option<usize>,
    /// The cable is pulled when so many calls were answered.
    pub(crate) pull_after_answers: Option<usize>,
}

/// Something done at the device itself, as by a button.
type Order = Box<dyn FnOnce(&mut Desk) + Send>;

/// A cable with a device at its end.
pub(crate) struct Cable {
    pub(crate) path: String,
    orders: Sender<Order>,
    stop: Arc<AtomicBool>,
    device: Option<JoinHandle<Desk>>,
}

impl Cable {
    /// Connects a device.
    pub(crate) fn new(desk: Desk) -> Cable {
        Cable::with(desk, Faults::default())
    }

    /// Connects a device by a bad cable.
    pub(crate) fn with(desk: Desk, faults: Faults) -> Cable {
        let pty = Pty::raw();
        let (path, stop) = (pty.path.clone(), Arc::new(AtomicBool::new(false)));
        let told = Arc::clone(&stop);
        let (orders, taken) = mpsc::channel();
        let device = thread::spawn(move || talk(pty, desk, faults, &taken, &told));
        Cable { path, orders, stop, device: Some(device) }
    }

    /// Connects something else, which gets what the laptop sends and says what comes back.
    pub(crate) fn to(mut answer: impl FnMut(&[u8]) -> Vec<u8> + Send + 'static) -> Cable {
        let mut pty = Pty::raw();
        let (path, stop) = (pty.path.clone(), Arc::new(AtomicBool::new(false)));
        let told = Arc::clone(&stop);
        let device = thread::spawn(move || {
            while !told.load(Ordering::Relaxed) {
                let bytes = read(&mut pty);
                let answer = answer(&bytes);
                let _ = pty.master.write_all(&answer);
            }
            Desk::new()
        });
        Cable { path, orders: mpsc::channel().0, stop, device: Some(device) }
    }

    /// Does something at the device.
    pub(crate) fn order(&self, order: impl FnOnce(&mut Desk) + Send + 'static) {
        self.orders.send(Box::new(order)).expect("the device lives");
    }

    /// Looks at the device.
    pub(crate) fn ask<T: Send + 'static>(&self, question: impl FnOnce(&Desk) -> T + Send + 'static) -> T {
        let (answer, answered) = mpsc::channel();
        self.order(move |desk| answer.send(question(desk)).expect("somebody asked"));
        answered.recv().expect("the device lives")
    }

    /// Pulls the cable: the device as it is now.
    pub(crate) fn pull(mut self) -> Desk {
        self.stop.store(true, Ordering::Relaxed);
        let device = self.device.take().expect("it is pulled once");
        device.join().expect("the device lives")
    }
}

impl Drop for Cable {
    /// A device that nobody holds any more does not play on.
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// What has come, after a moment at most.
fn read(pty: &mut Pty) -> Vec<u8> {
    let patience = Timespec { tv_sec: 0, tv_nsec: TICK.as_nanos() as i64 };
    let mut ready = [PollFd::new(&pty.master, PollFlags::IN)];
    // A signal that comes in between ends the wait, no more.
    let _ = poll(&mut ready, Some(&patience));
    let mut bytes = [0; 4096];
    match pty.master.read(&mut bytes) {
        Ok(count) => bytes[..count].to_vec(),
        Err(error) if error.kind() == ErrorKind::WouldBlock => vec![],
        Err(error) => panic!("the cable: {error}"),
    }
}

/// Writes all, however long nobody reads.
fn write(pty: &mut Pty, mut bytes: &[u8], stop: &AtomicBool) {
    while !bytes.is_empty() && !stop.load(Ordering::Relaxed) {
        match pty.master.write(bytes) {
            Ok(count) => bytes = &bytes[count..],
            Err(error) if error.kind() == ErrorKind::WouldBlock => thread::sleep(TICK),
            Err(error) => panic!("the cable: {error}"),
        }
    }
}

fn talk(
    mut pty: Pty,
    mut desk: Desk,
    mut faults: Faults,
    orders: &Receiver<Order>,
    stop: &AtomicBool,
) -> Desk {
    let (mut session, mut received, mut answered) = (Session::new(), 0, 0);
    while !stop.load(Ordering::Relaxed) {
        for byte in read(&mut pty) {
            if faults.pull_after == Some(received) {
                return desk;
            }
            received += 1;
            let Some(frame) = session.receive(byte, &mut desk) else { continue };
            if faults.pull_after_answers == Some(answered) {
                return desk;
            }
            answered += 1;
            let bytes = faults.mangle.as_mut().map_or_else(|| frame.to_vec(), |mangle| mangle(frame));
            write(&mut pty, &bytes, stop);
        }
        orders.try_iter().for_each(|order| order(&mut desk));
        if desk.reset.is_some_and(|bootsel| bootsel) {
            return desk;
        }
        if desk.reset.is_some() {
            desk.restart();
            session = Session::new();
        }
        for event in desk.tick() {
            if pty.master.write_all(&event).is_err() {
                // Nobody reads, or not fast enough. Half a frame may be on its way: end it.
                write(&mut pty, &[0], stop);
                desk.lose_events();
                break;
            }
        }
    }
    desk
}
