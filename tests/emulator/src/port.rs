//! A serial port for programs, with an emulated device at its end.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::bridge::Bridge;
use crate::device::Device;

/// How long `socat` and a device that starts again may take.
const PATIENCE: Duration = Duration::from_secs(60);
const GLANCE: Duration = Duration::from_millis(5);

/// A pseudo-terminal that `socat` ties to a device. Each program that opens and closes it gets a cable of its own: the
/// device sees its port opened and closed.
pub struct Port {
    path: PathBuf,
    bridge: Bridge,
    plug: Arc<Mutex<Plug>>,
    socats: Option<JoinHandle<()>>,
}

/// What is behind the file name at the moment.
enum Plug {
    /// A process, and how many there were before it.
    Socat(Child, usize),
    /// So many have ended.
    Nothing(usize),
    /// And nothing to come.
    Pulled,
}

fn lock(plug: &Mutex<Plug>) -> MutexGuard<'_, Plug> {
    plug.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Port {
    /// Lets a device run by itself, with a serial port of this name.
    ///
    /// # Panics
    /// If `socat` cannot be started.
    pub fn new(device: Device, path: &Path) -> Port {
        let bridge = device.serve();
        let plug = Arc::new(Mutex::new(Plug::Nothing(0)));
        // Who opens the file is looked for a hundred times a second.
        let terminal = format!("PTY,link={},raw,echo=0,wait-slave,pty-interval=0.01", path.display());
        let addresses = [terminal, format!("TCP:127.0.0.1:{}", bridge.port())];
        let shared = Arc::clone(&plug);
        let socats = thread::spawn(move || while plug_in(&addresses, &shared) {});
        Port { path: path.to_owned(), bridge, plug, socats: Some(socats) }
    }

    /// Waits until the port is there that no program has opened yet, and gives its name.
    ///
    /// # Panics
    /// If that takes too long.
    pub fn path(&mut self) -> &Path {
        let end = Instant::now() + PATIENCE;
        loop {
            // A socat connects to the device when its terminal is opened, and ends a moment after it was closed. One
            // that has connected must not be taken for the next.
            let connected = self.bridge.connections();
            let is_fresh = matches!(*lock(&self.plug), Plug::Socat(_, before) if before >= connected);
            if is_fresh && self.path.exists() {
                return &self.path;
            }
            assert!(Instant::now() < end, "socat makes no port {}", self.path.display());
            thread::sleep(GLANCE);
        }
    }

    /// The device as it is now.
    ///
    /// # Panics
    /// If the emulator has warned, or the firmware met a fault.
    pub fn look(&mut self) -> &Device {
        self.bridge.look()
    }

    /// Waits until something holds of the device.
    ///
    /// # Panics
    /// If that takes too long; or as [`Port::look`].
    #[track_caller]
    pub fn expect(&mut self, what: &str, holds: impl Fn(&Device) -> bool) {
        let end = Instant::now() + PATIENCE;
        while !holds(self.look()) {
            assert!(Instant::now() < end, "the device is not {what}");
            thread::sleep(GLANCE);
        }
    }
}

/// Starts a `socat` and waits for its end: whether another is wanted.
fn plug_in(addresses: &[String; 2], plug: &Mutex<Plug>) -> bool {
    let mut place = lock(plug);
    let Plug::Nothing(before) = *place else { return false };
    // It complains about devices that go away, which is what they do here.
    let socat = Command::new("socat").args(addresses).stderr(Stdio::null()).spawn();
    let socat = socat
        .unwrap_or_else(|error| panic!("cannot start socat ({error}); tests/emulator/setup installs it"));
    *place = Plug::Socat(socat, before);
    drop(place);
    loop {
        thread::sleep(GLANCE);
        let mut place = lock(plug);
        match &mut *place {
            Plug::Socat(socat, before) => {
                if !matches!(socat.try_wait(), Ok(None)) {
                    *place = Plug::Nothing(*before + 1);
                }
            }
            Plug::Nothing(_) => return true,
            Plug::Pulled => return false,
        }
    }
}

impl Drop for Port {
    fn drop(&mut self) {
        if let Plug::Socat(mut socat, _) = std::mem::replace(&mut *lock(&self.plug), Plug::Pulled) {
            let _ = socat.kill();
            let _ = socat.wait();
        }
        // A socat that was ended leaves its file behind.
        let _ = std::fs::remove_file(&self.path);
        if let Some(socats) = self.socats.take() {
            let _ = socats.join();
        }
    }
}
