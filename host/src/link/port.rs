//! Which serial port: the one that was named, or the only device there is.

use std::fmt;
use std::io::{self, BufRead, IsTerminal, Write};
use std::path::Path;
use std::time::Duration;

use clap::Args;
use serialport::{SerialPortInfo, SerialPortType};

use super::LinkError;

/// Raspberry Pi's number, the one that its CDC devices share, and the product by which they tell themselves apart.
const VENDOR: u16 = 0x2e8a;
const PRODUCT: u16 = 0x000a;
const NAME: &str = "Dropwise";

/// Names a port where no argument does.
const VARIABLE: &str = "DROPWISE_PORT";

/// Which device, and how long to wait for it.
#[derive(Args, Clone, Debug)]
pub struct PortArgs {
    /// The device's serial port [default: $DROPWISE_PORT, or the only device there is]
    #[arg(long, value_name = "PATH", global = true, help_heading = "Which device")]
    pub port: Option<String>,

    /// The device with this serial number, or the only one whose number begins so
    #[arg(
        long = "device",
        value_name = "SERIAL",
        global = true,
        conflicts_with = "port",
        help_heading = "Which device"
    )]
    pub serial: Option<String>,

    /// How long to wait for an answer
    #[arg(
        long,
        value_name = "SECONDS",
        global = true,
        default_value = "5",
        value_parser = parse_seconds,
        help_heading = "Which device"
    )]
    pub timeout: Duration,
}

/// Reads a number of seconds, `0.5` or `5`.
///
/// # Errors
/// A message for anything but a time from a tenth of a second to an hour.
pub fn parse_seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().filter(|seconds| (0.1..=3600.0).contains(seconds));
    seconds.map(Duration::from_secs_f64).ok_or_else(|| "give seconds from 0.1 to 3600, like 5".into())
}

/// A device that is plugged in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Its port.
    pub path: String,
    /// Its serial number.
    pub serial: Option<String>,
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}  serial number {}", self.path, self.serial.as_deref().unwrap_or("unknown"))
    }
}

/// What is plugged in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ports {
    /// The devices, by port.
    pub devices: Vec<Found>,
    /// Serial ports of other USB things.
    pub others: Vec<String>,
}

impl Ports {
    /// Looks for serial ports.
    ///
    /// # Errors
    /// If the system does not tell.
    pub fn look() -> Result<Ports, LinkError> {
        // The crate panics where a Linux system has no such folder, as in some containers.
        if cfg!(target_os = "linux") && !Path::new("/sys/class/tty").is_dir() {
            return Ok(Ports::default());
        }
        let ports = serialport::available_ports();
        ports
            .map(Ports::of)
            .map_err(|error| LinkError::Open { path: "any serial port".into(), told: error.description })
    }

    fn of(ports: Vec<SerialPortInfo>) -> Ports {
        let mut sorted = Ports::default();
        for SerialPortInfo { port_name: path, port_type } in ports {
            // macOS has each port twice; opening a tty.* waits for a modem's carrier, which never comes.
            if path.starts_with("/dev/tty.") {
                continue;
            }
            let SerialPortType::UsbPort(usb) = port_type else { continue };
            if (usb.vid, usb.pid, usb.product.as_deref()) == (VENDOR, PRODUCT, Some(NAME)) {
                sorted.devices.push(Found { path, serial: usb.serial_number });
            } else {
                sorted.others.push(path);
            }
        }
        sorted.devices.sort_by(|a, b| a.path.cmp(&b.path));
        sorted.others.sort();
        sorted
    }

    /// The device with this serial number, or the only one whose number begins so.
    fn with_serial(&self, serial: &str) -> Result<&Found, LinkError> {
        let wanted = serial.to_lowercase();
        let starts = |found: &&Found| {
            found.serial.as_ref().is_some_and(|serial| serial.to_lowercase().starts_with(&wanted))
        };
        let matching: Vec<&Found> = self.devices.iter().filter(starts).collect();
        match matching[..] {
            [found] => Ok(found),
            [] => Err(LinkError::NoSuchDevice { serial: serial.into(), found: self.devices.clone() }),
            _ => Err(LinkError::Several { found: matching.into_iter().cloned().collect() }),
        }
    }
}

impl PortArgs {
    /// The port that is meant by the arguments or the environment.
    pub fn named(&self) -> Option<String> {
        let from_environment = || std::env::var(VARIABLE).ok().filter(|path| !path.is_empty());
        match (&self.port, &self.serial) {
            (Some(path), _) => Some(path.clone()),
            // What is typed counts more than what is set.
            (None, Some(_)) => None,
            (None, None) => from_environment(),
        }
    }

    /// The port to open. Asks on a terminal if there are several devices.
    ///
    /// # Errors
    /// If there is no device, or nobody says which one.
    pub fn choose(&self) -> Result<String, LinkError> {
        if let Some(path) = self.named() {
            return Ok(path);
        }
        let ports = Ports::look()?;
        if let Some(serial) = &self.serial {
            return Ok(ports.with_serial(serial)?.path.clone());
        }
        only(ports, |found| {
            let terminal = io::stdin().is_terminal() && io::stderr().is_terminal();
            if terminal { ask(found, &mut io::stdin().lock(), &mut io::stderr()) } else { None }
        })
    }
}

/// The only device there is, or the one that is chosen.
fn only(ports: Ports, choose: impl FnOnce(&[Found]) -> Option<usize>) -> Result<String, LinkError> {
    let index = match ports.devices.len() {
        0 => return Err(LinkError::NoDevice { others: ports.others }),
        1 => Some(0),
        _ => choose(&ports.devices),
    };
    match index.and_then(|index| ports.devices.get(index)) {
        Some(found) => Ok(found.path.clone()),
        None => Err(LinkError::Several { found: ports.devices }),
    }
}

/// Asks which device is meant, until the answer is one of them or nobody answers.
fn ask(found: &[Found], input: &mut impl BufRead, output: &mut impl Write) -> Option<usize> {
    for (number, found) in (1..).zip(found) {
        writeln!(output, "  {number}  {found}").ok()?;
    }
    loop {
        write!(output, "Which device, 1 to {}? ", found.len()).ok()?;
        output.flush().ok()?;
        let mut line = String::new();
        if input.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let number = line.trim().parse().ok().filter(|number| (1..=found.len()).contains(number));
        if let Some(number) = number {
            return Some(number - 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serialport::UsbPortInfo;

    fn usb(path: &str, vid: u16, pid: u16, product: Option<&str>, serial: Option<&str>) -> SerialPortInfo {
        let port_type = SerialPortType::UsbPort(UsbPortInfo {
            vid,
            pid,
            serial_number: serial.map(str::to_owned),
            manufacturer: None,
            product: product.map(str::to_owned),
        });
        SerialPortInfo { port_name: path.into(), port_type }
    }

    fn two() -> Ports {
        Ports::of(vec![
            usb("/dev/ttyACM1", VENDOR, PRODUCT, Some(NAME), Some("E660583883834B27")),
            usb("/dev/ttyACM0", VENDOR, PRODUCT, Some(NAME), Some("E6614103E7452D2F")),
        ])
    }

    #[test]
    fn devices_are_told_from_other_ports() {
        let ports = Ports::of(vec![
            usb("/dev/ttyUSB0", 0x0403, 0x6001, Some("FT232R"), Some("A1")),
            usb("/dev/ttyACM2", VENDOR, PRODUCT, Some("Pico"), Some("E6")),
            usb("/dev/ttyACM1", VENDOR, 0x0005, Some(NAME), Some("E6")),
            usb("/dev/ttyACM0", VENDOR, PRODUCT, Some(NAME), Some("E7")),
            usb("/dev/ttyACM3", VENDOR, PRODUCT, None, None),
            SerialPortInfo { port_name: "/dev/ttyS0".into(), port_type: SerialPortType::Unknown },
        ]);
        assert_eq!(ports.devices, [Found { path: "/dev/ttyACM0".into(), serial: Some("E7".into()) }]);
        assert_eq!(ports.others, ["/dev/ttyACM1", "/dev/ttyACM2", "/dev/ttyACM3", "/dev/ttyUSB0"]);
    }

    #[test]
    fn a_mac_has_each_port_once() {
        let names = ["/dev/tty.usbmodem1101", "/dev/cu.usbmodem1101"];
        let ports = Ports::of(names.map(|path| usb(path, VENDOR, PRODUCT, Some(NAME), Some("E7"))).into());
        assert_eq!(ports.devices.len(), 1);
        assert_eq!(only(ports, |_| unreachable!()), Ok("/dev/cu.usbmodem1101".into()));
    }

    #[test]
    fn one_device_is_taken_and_several_are_asked_for() {
        let one = Ports { devices: two().devices[..1].to_vec(), others: vec![] };
        assert_eq!(only(one, |_| unreachable!()), Ok("/dev/ttyACM0".into()));
        assert_eq!(only(two(), |_| Some(1)), Ok("/dev/ttyACM1".into()));
        let several = only(two(), |_| None).unwrap_err();
        assert_eq!(
            several.to_string(),
            "several devices; choose one with --device SERIAL or --port PATH:\n  /dev/ttyACM0  serial number \
             E6614103E7452D2F\n  /dev/ttyACM1  serial number E660583883834B27"
        );
        let none = Ports { devices: vec![], others: vec!["/dev/ttyUSB0".into()] };
        let none = only(none, |_| unreachable!()).unwrap_err().to_string();
        assert!(none.contains("no device found") && none.contains("/dev/ttyUSB0"), "{none}");
    }

    #[test]
    fn a_serial_number_may_be_cut_short() {
        let ports = two();
        for serial in ["E660583883834B27", "e660583883834b27", "E6605"] {
            assert_eq!(ports.with_serial(serial).unwrap().path, "/dev/ttyACM1");
        }
        assert!(matches!(ports.with_serial("E66"), Err(LinkError::Several { .. })));
        let unknown = ports.with_serial("F0").unwrap_err().to_string();
        assert!(unknown.contains("F0") && unknown.contains("ttyACM1"), "{unknown}");
    }

    #[test]
    fn a_question_is_asked_until_it_is_answered() {
        let mut shown = vec![];
        let chosen = ask(&two().devices, &mut "\nx\n0\n3\n 2 \n".as_bytes(), &mut shown);
        assert_eq!(chosen, Some(1));
        let shown = String::from_utf8(shown).unwrap();
        assert!(shown.contains("  2  /dev/ttyACM1  serial number E660583883834B27"), "{shown}");
        assert_eq!(shown.matches("Which device, 1 to 2?").count(), 5);
        assert_eq!(ask(&two().devices, &mut "".as_bytes(), &mut vec![]), None);
    }

    #[test]
    fn times_have_bounds() {
        assert_eq!(parse_seconds("0.5"), Ok(Duration::from_millis(500)));
        for text in ["0", "-1", "nan", "inf", "4000", "soon"] {
            parse_seconds(text).expect_err(text);
        }
    }
}
