//! A handheld for programs that are not part of the test.

use serde_json::json;

use crate::device::{Device, number};

/// A device that runs by itself, with its serial port on a TCP port.
pub struct Bridge {
    pub(crate) port: u16,
    pub(crate) device: Device,
}

impl Bridge {
    /// The TCP port on this machine.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The device as it is now.
    ///
    /// # Panics
    /// If the emulator has warned, or the firmware met a fault.
    pub fn look(&mut self) -> &Device {
        self.device.ask("usbState", json!({ "peek": true }));
        &self.device
    }

    /// How often the TCP port was connected to.
    pub(crate) fn connections(&mut self) -> usize {
        number(&self.device.ask("connections", json!({})).fields["connections"]) as usize
    }
}

impl Drop for Bridge {
    fn drop(&mut self) {
        // The process serves; it is of no use to the next device.
        drop(self.device.driver.take());
    }
}
