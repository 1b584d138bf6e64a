//! An emulated handheld.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::board::{Board, Button};
use crate::bridge::Bridge;
pub use crate::driver::Reset;
use crate::driver::{Answer, Driver};
use crate::firmware::Firmware;
use crate::log::{Decoder, Log};
use crate::picture::Picture;

/// How long a tapped button is held.
const TAP: Duration = Duration::from_millis(60);
/// How long a button is held for a long press, and the pause after each press.
const HOLD: Duration = Duration::from_millis(700);
const REST: Duration = Duration::from_millis(60);

/// RAM as the cores see it.
const RAM: u32 = 0x2000_0000;

/// An emulated handheld with the firmware of its board.
///
/// Every method that fails panics with what happened: a test has nothing better to do.
pub struct Device {
    /// There until the device is dropped or served.
    pub(crate) driver: Option<Driver>,
    board: Board,
    firmware: &'static Firmware,
    decoder: Decoder,
    logs: Vec<Log>,
    nanos: f64,
    on: bool,
    bootsel: bool,
    cycles: [u64; 2],
    busy: [u64; 2],
    resets: Vec<Reset>,
    faults: Vec<String>,
    faults_expected: bool,
}

/// A change of a watched word.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Note {
    /// The new value.
    pub value: u32,
    /// When, after the first power-on.
    pub time: Duration,
    /// Cycles that each core had been awake by then.
    pub busy: [u64; 2],
}

/// What a USB host finds.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct UsbDevice {
    /// The vendor's number.
    pub vendor: u16,
    /// The product's number.
    pub product: u16,
    /// Manufacturer, product, serial number.
    pub strings: [String; 3],
}

/// Why a run ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Arrival {
    /// Something was logged.
    Log,
    /// A watched word reached its value.
    Value,
    /// Bytes came by USB, or the device was configured.
    Usb,
    /// The watchdog has reset the chip.
    Reset,
    /// A core met a fault.
    Fault,
    /// The chip shows its boot drive.
    Bootsel,
    /// Power failed where it was told to.
    Cut,
    /// The device has no power.
    Off,
}

impl Device {
    /// A device with power, about to start.
    pub fn start(board: Board) -> Device {
        Device::seeded(board, 1)
    }

    /// The same with other noise: another game.
    pub fn seeded(board: Board, seed: u32) -> Device {
        let mut device = Device::off(board, seed);
        device.power_on();
        device
    }

    /// A device without power, with the firmware in its flash.
    pub fn off(board: Board, seed: u32) -> Device {
        Device::with(board, Firmware::of(board), seed)
    }

    /// A device without power, with some firmware in its flash.
    pub fn with(board: Board, firmware: &'static Firmware, seed: u32) -> Device {
        let mut device = Device {
            driver: Some(Driver::start()),
            board,
            firmware,
            decoder: Decoder::new(firmware.logs),
            logs: Vec::new(),
            nanos: 0.0,
            on: false,
            bootsel: false,
            cycles: [0; 2],
            busy: [0; 2],
            resets: Vec::new(),
            faults: Vec::new(),
            faults_expected: false,
        };
        let rtt = firmware.find("_SEGGER_RTT").unwrap_or(0);
        device.ask("start", json!({ "board": board.wiring(), "seed": seed, "rtt": rtt }));
        for (offset, bytes) in &firmware.parts {
            device.write_flash(*offset, bytes);
        }
        device
    }

    /// The board.
    pub fn board(&self) -> Board {
        self.board
    }

    /// The program in its flash.
    pub fn firmware(&self) -> &'static Firmware {
        self.firmware
    }

    // ---- Time

    /// Emulated time since the first power-on.
    pub fn now(&self) -> Duration {
        Duration::from_nanos(self.nanos as u64)
    }

    /// Cycles of each core since the chip's last start, asleep or not.
    pub fn cycles(&self) -> [u64; 2] {
        self.cycles
    }

    /// Cycles that each core was awake since the chip's last start.
    pub fn busy(&self) -> [u64; 2] {
        self.busy
    }

    /// Runs for a time.
    pub fn run(&mut self, time: Duration) {
        self.run_for(time, &[]);
    }

    /// Runs for a time or until one of these things comes: says which.
    pub fn run_for(&mut self, time: Duration, awaited: &[&str]) -> Option<Arrival> {
        let answer = self.ask("run", json!({ "nanos": time.as_nanos() as f64, "awaited": awaited }));
        Option::<Arrival>::deserialize(&answer.fields["arrived"]).expect("the driver names what arrived")
    }

    /// Runs in steps until something holds, for a time at most: whether it does.
    pub fn run_until(
        &mut self,
        limit: Duration,
        step: Duration,
        mut holds: impl FnMut(&mut Device) -> bool,
    ) -> bool {
        let end = self.now() + limit;
        loop {
            if holds(self) {
                return true;
            }
            if self.now() >= end {
                return false;
            }
            self.run(step.min(end - self.now()));
        }
    }

    /// Runs until a word of RAM has reached a value, for a time at most: whether it has.
    pub fn run_until_value(&mut self, symbol: &str, value: u32, limit: Duration) -> bool {
        let address = self.firmware.address(symbol);
        let answer = self.ask("watch", json!({ "address": address, "keep": 0, "stopAt": value }));
        let reached =
            number(&answer.fields["value"]) >= f64::from(value) || self.run_for(limit, &["value"]).is_some();
        self.ask("unwatch", json!({ "address": address }));
        reached
    }

    // ---- Logs

    /// Everything logged so far, by every life of the chip.
    pub fn logs(&self) -> &[Log] {
        &self.logs
    }

    /// Runs until a line that starts so is logged, and returns it.
    ///
    /// # Panics
    /// If none comes in time.
    #[track_caller]
    pub fn expect_log(&mut self, limit: Duration, start: &str) -> Log {
        let first = self.logs.len();
        match self.find_log(first, limit, |log| log.text.starts_with(start)) {
            Some(log) => log,
            None => panic!("no line «{start}...» within {limit:?}; the log:\n{}", self.story()),
        }
    }

    /// Looks through the log from a line on, and runs until a line is found, for a time at most.
    pub fn find_log(
        &mut self,
        mut from: usize,
        limit: Duration,
        mut wanted: impl FnMut(&Log) -> bool,
    ) -> Option<Log> {
        let end = self.now() + limit;
        loop {
            if let Some(log) = self.logs[from..].iter().find(|log| wanted(log)) {
                return Some(log.clone());
            }
            from = self.logs.len();
            if self.now() >= end || !self.on || self.bootsel {
                return None;
            }
            self.run_for(end - self.now(), &["log"]);
        }
    }

    /// The last lines of the log.
    pub fn story(&self) -> String {
        let first = self.logs.len().saturating_sub(30);
        self.logs[first..].iter().map(|log| format!("  {log}\n")).collect()
    }

    // ---- Buttons and display

    /// Presses a button and holds it.
    ///
    /// # Panics
    /// If the board has no such button.
    pub fn press(&mut self, button: Button) {
        self.drive(button, Some(false));
    }

    /// Lets go of a button.
    ///
    /// # Panics
    /// If the board has no such button.
    pub fn release(&mut self, button: Button) {
        self.drive(button, None);
    }

    fn drive(&mut self, button: Button, level: Option<bool>) {
        let board = self.board;
        let pin = board.pin(button).unwrap_or_else(|| panic!("{} has no button {button:?}", board.name()));
        self.ask("pin", json!({ "pin": pin, "level": level }));
    }

    /// Presses a button shortly.
    pub fn tap(&mut self, button: Button) {
        self.hold(button, TAP);
    }

    /// Presses a button for long.
    pub fn hold_long(&mut self, button: Button) {
        self.hold(button, HOLD);
    }

    /// Presses a button for a time, and waits a moment.
    pub fn hold(&mut self, button: Button, time: Duration) {
        self.press(button);
        self.run(time);
        self.release(button);
        self.run(REST);
    }

    /// What the user sees on the display.
    pub fn picture(&mut self) -> Picture {
        let answer = self.ask("picture", json!({}));
        let size = |name: &str| number(&answer.fields[name]) as usize;
        let colour = answer.fields["colour"].as_bool().unwrap_or(false);
        Picture::new(size("width"), size("height"), colour, &answer.bytes).turned(self.board.turns())
    }

    /// Takes the display away: nothing answers at its address.
    pub fn remove_display(&mut self) {
        self.ask("display", json!({ "absent": true, "stuck": false }));
    }

    /// Makes the display hold the bus, for good.
    pub fn jam_display(&mut self) {
        self.ask("display", json!({ "absent": false, "stuck": true }));
    }

    /// Puts the display back.
    pub fn restore_display(&mut self) {
        self.ask("display", json!({ "absent": false, "stuck": false }));
    }

    // ---- Memory

    /// A word of RAM, by its symbol.
    pub fn word(&mut self, symbol: &str) -> u32 {
        let bytes = self.read_ram(self.firmware.address(symbol), 4);
        u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
    }

    /// Bytes of RAM.
    pub fn read_ram(&mut self, address: u32, count: usize) -> Vec<u8> {
        assert!(address >= RAM, "0x{address:08x} is not in RAM");
        self.ask("peek", json!({ "address": address, "count": count })).bytes
    }

    /// Changes RAM.
    pub fn write_ram(&mut self, address: u32, bytes: &[u8]) {
        assert!(address >= RAM, "0x{address:08x} is not in RAM");
        self.ask_with("poke", json!({ "address": address }), bytes);
    }

    /// Keeps a note of every change of a word from now on, up to so many.
    pub fn watch(&mut self, symbol: &str, keep: usize) {
        let address = self.firmware.address(symbol);
        self.ask("watch", json!({ "address": address, "keep": keep, "stopAt": null }));
    }

    /// Stops watching: the notes.
    pub fn watched(&mut self, symbol: &str) -> Vec<Note> {
        let address = self.firmware.address(symbol);
        let answer = self.ask("unwatch", json!({ "address": address }));
        let notes = answer.fields["notes"].as_array().cloned().unwrap_or_default();
        notes
            .iter()
            .map(|note| Note {
                value: number(&note[0]) as u32,
                time: Duration::from_nanos(number(&note[1]) as u64),
                busy: [number(&note[2]) as u64, number(&note[3]) as u64],
            })
            .collect()
    }

    /// Bytes of the flash.
    pub fn read_flash(&mut self, offset: u32, count: usize) -> Vec<u8> {
        self.ask("readFlash", json!({ "offset": offset, "count": count })).bytes
    }

    /// Changes the flash, as a programmer would.
    pub fn write_flash(&mut self, offset: u32, bytes: &[u8]) {
        self.ask_with("flash", json!({ "offset": offset }), bytes);
    }

    // ---- Power, resets and faults

    /// Power comes. RAM holds noise, the display shows nothing; the flash is as it was.
    pub fn power_on(&mut self) {
        self.ask("power", json!({ "on": true }));
    }

    /// Power sags for a moment: the chip starts anew, but RAM holds what it held.
    pub fn sag(&mut self) {
        self.ask("power", json!({ "on": true, "keepsRam": true }));
    }

    /// Power goes, at once.
    pub fn power_off(&mut self) {
        self.ask("power", json!({ "on": false }));
    }

    /// Whether the device has power.
    pub fn is_on(&self) -> bool {
        self.on
    }

    /// Whether the chip shows its boot drive.
    pub fn is_in_bootsel(&self) -> bool {
        self.bootsel
    }

    /// Lets power fail within an erase or program of the flash yet to come, counted from 0 from now on, after so many
    /// of its bytes.
    pub fn cut_power_in(&mut self, operation: usize, bytes: usize) {
        self.ask("cut", json!({ "operation": operation, "bytes": bytes }));
    }

    /// Does not let power fail; erases and programs are counted from here on.
    pub fn spare_power(&mut self) {
        self.ask("cut", json!({ "operation": null, "bytes": 0 }));
    }

    /// Erases and programs of the flash since the last call of [`Device::cut_power_in`] or [`Device::spare_power`]: kind,
    /// offset, bytes.
    pub fn flash_operations(&mut self) -> Vec<(String, u32, u32)> {
        let answer = self.ask("operations", json!({}));
        let operations = answer.fields["operations"].as_array().cloned().unwrap_or_default();
        operations
            .iter()
            .map(|each| {
                let kind = each["kind"].as_str().unwrap_or_default().to_owned();
                (kind, number(&each["address"]) as u32, number(&each["count"]) as u32)
            })
            .collect()
    }

    /// Makes the flash as slow as its data sheet allows.
    pub fn slow_flash(&mut self) {
        self.ask("wear", json!({ "worn": false, "slow": true }));
    }

    /// Makes the flash as slow as its data sheet allows, and keep what it holds whatever it is told.
    pub fn wear_out_flash(&mut self) {
        self.ask("wear", json!({ "worn": true, "slow": true }));
    }

    /// Makes the flash as good as new.
    pub fn mend_flash(&mut self) {
        self.ask("wear", json!({ "worn": false, "slow": false }));
    }

    /// Resets by the watchdog so far.
    pub fn resets(&self) -> &[Reset] {
        &self.resets
    }

    /// How often the watchdog was fed in this life of the chip, and the least time that was left at a feed.
    pub fn watchdog(&mut self) -> (u64, Option<Duration>) {
        let answer = self.ask("watchdog", json!({}));
        let closest =
            answer.fields["closestMicros"].as_f64().map(|micros| Duration::from_micros(micros as u64));
        (number(&answer.fields["feeds"]) as u64, closest)
    }

    /// Faults of the cores no longer fail the test.
    pub fn expect_faults(&mut self) {
        self.faults_expected = true;
    }

    /// The faults so far.
    pub fn faults(&self) -> &[String] {
        &self.faults
    }

    /// Makes a core go on with a function, as if it had called it.
    pub fn call(&mut self, core: usize, address: u32, arguments: &[u32]) {
        self.ask("divert", json!({ "core": core, "address": address, "words": arguments, "stack": null }));
    }

    /// Moves a core's stack pointer under its feet.
    pub fn move_stack(&mut self, core: usize, stack: u32) {
        self.ask("divert", json!({ "core": core, "address": null, "words": [], "stack": stack }));
    }

    /// Holds a core, or lets it go on.
    pub fn freeze(&mut self, core: usize, frozen: bool) {
        self.ask("freeze", json!({ "core": core, "frozen": frozen }));
    }

    // ---- USB

    /// Plugs the cable in. It is plugged in from the start.
    pub fn plug_usb(&mut self) {
        self.ask("usb", json!({ "plugged": true }));
    }

    /// Pulls the cable out; power stays, as from a battery.
    pub fn unplug_usb(&mut self) {
        self.ask("usb", json!({ "plugged": false }));
    }

    /// What the host has found, once it has configured the device.
    pub fn usb_device(&mut self) -> Option<UsbDevice> {
        let answer = self.ask("usbState", json!({ "peek": true }));
        let configured = answer.fields["configured"].as_bool().unwrap_or(false);
        configured.then(|| {
            UsbDevice::deserialize(&answer.fields["device"]).expect("the driver describes the device")
        })
    }

    /// Runs until the host has configured the device.
    ///
    /// # Panics
    /// If that does not happen in time.
    #[track_caller]
    pub fn expect_usb(&mut self, limit: Duration) -> UsbDevice {
        let end = self.now() + limit;
        loop {
            if let Some(device) = self.usb_device() {
                return device;
            }
            assert!(self.now() < end, "USB is not configured within {limit:?}; the log:\n{}", self.story());
            self.run_for(end - self.now(), &["usb"]);
        }
    }

    /// Opens the serial port at a speed.
    pub fn open_port(&mut self, baud: u32) {
        self.ask("usb", json!({ "open": baud }));
    }

    /// Closes the serial port.
    pub fn close_port(&mut self) {
        self.ask("usb", json!({ "close": true }));
    }

    /// Sends bytes to the serial port.
    pub fn write_port(&mut self, bytes: &[u8]) {
        self.ask_with("usb", json!({}), bytes);
    }

    /// Whether the host takes what the device sends. It does from the start.
    pub fn set_listens(&mut self, listens: bool) {
        self.ask("usb", json!({ "listens": listens }));
    }

    /// How many bytes the device has not taken yet.
    pub fn unsent(&mut self) -> usize {
        number(&self.ask("usbState", json!({ "peek": true })).fields["unsent"]) as usize
    }

    /// Takes what came from the serial port.
    pub fn read_port(&mut self) -> Vec<u8> {
        self.ask("usbState", json!({ "peek": false })).bytes
    }

    /// Lets the device run by itself from now on, no faster than the clock on the wall, with its serial port on a TCP
    /// port of this machine, until the bridge is dropped.
    pub fn serve(mut self) -> Bridge {
        let answer = self.ask("serve", json!({ "port": 0 }));
        let port = number(&answer.fields["port"]) as u16;
        Bridge { port, device: self }
    }

    // ---- The wire

    pub(crate) fn ask(&mut self, name: &str, command: Value) -> Answer {
        self.ask_with(name, command, &[])
    }

    fn ask_with(&mut self, name: &str, command: Value, payload: &[u8]) -> Answer {
        let driver = self.driver.as_mut().expect("a device has a driver until it is dropped");
        let mut answer = driver.ask(name, command, payload);
        self.nanos = answer.nanos;
        self.on = answer.on;
        self.bootsel = answer.bootsel;
        if let ([a, b], [c, d]) = (&answer.cycles[..], &answer.busy[..]) {
            self.cycles = [*a as u64, *b as u64];
            self.busy = [*c as u64, *d as u64];
        }
        self.resets.append(&mut answer.resets);
        for (life, bytes) in answer.logged.iter().enumerate() {
            if life > 0 {
                self.decoder.start_life();
            }
            self.logs.extend(self.decoder.decode(bytes));
        }
        let warnings = answer.warnings.join("\n  ");
        assert!(warnings.is_empty(), "the emulator warns:\n  {warnings}\nthe log:\n{}", self.story());
        if !answer.faults.is_empty() && !self.faults_expected {
            panic!("the firmware faults:\n  {}\nthe log:\n{}", answer.faults.join("\n  "), self.story());
        }
        self.faults.append(&mut answer.faults);
        answer
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        // After a failure nobody knows what the process is at: it ends.
        if let Some(driver) = self.driver.take()
            && !std::thread::panicking()
        {
            driver.retire();
        }
    }
}

pub(crate) fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("the driver gives {value} for a number"))
}
