//! What the firmware logs, decoded.

use std::fmt;
use std::time::Duration;

use defmt_decoder::{DecodeError, StreamDecoder, Table};

/// A line of the firmware's log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Log {
    /// When, after the chip's last start, by the chip's own clock.
    pub uptime: Duration,
    /// How often the chip had been started.
    pub life: usize,
    /// The line: words of the form name=value, for the most part.
    pub text: String,
}

impl Log {
    /// The value of a name: what follows it up to the next space.
    pub fn value(&self, name: &str) -> Option<&str> {
        self.text.split_whitespace().find_map(|word| word.strip_prefix(name)?.strip_prefix('='))
    }

    /// The number that a name has.
    ///
    /// # Panics
    /// If it has none.
    pub fn number(&self, name: &str) -> u64 {
        let number = self.value(name).and_then(|value| value.parse().ok());
        number.unwrap_or_else(|| panic!("no number {name} in the log: {self}"))
    }

    /// The number in hexadecimal digits that a name has.
    ///
    /// # Panics
    /// If it has none.
    pub fn hexadecimal(&self, name: &str) -> u64 {
        let number = self.value(name).and_then(|value| u64::from_str_radix(value, 16).ok());
        number.unwrap_or_else(|| panic!("no hexadecimal number {name} in the log: {self}"))
    }
}

impl fmt::Display for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:2} {:10.6} {}", self.life, self.uptime.as_secs_f64(), self.text)
    }
}

/// Turns the bytes of the log into lines.
pub(crate) struct Decoder {
    table: &'static Table,
    stream: Box<dyn StreamDecoder + Send + Sync>,
    life: usize,
}

impl Decoder {
    pub(crate) fn new(table: &'static Table) -> Decoder {
        Decoder { table, stream: table.new_stream_decoder(), life: 0 }
    }

    /// The chip starts anew; a line that was being written is lost.
    pub(crate) fn start_life(&mut self) {
        self.stream = self.table.new_stream_decoder();
        self.life += 1;
    }

    pub(crate) fn decode(&mut self, bytes: &[u8]) -> Vec<Log> {
        self.stream.received(bytes);
        let mut logs = Vec::new();
        loop {
            match self.stream.decode() {
                Ok(frame) => {
                    let time = frame.display_timestamp().map(|time| time.to_string());
                    let seconds = time.and_then(|time| time.trim().parse().ok()).unwrap_or(0.0);
                    let text = frame.display_message().to_string();
                    logs.push(Log { uptime: Duration::from_secs_f64(seconds), life: self.life, text });
                }
                Err(DecodeError::UnexpectedEof) => return logs,
                Err(DecodeError::Malformed) => {
                    panic!("a line of the log is damaged: the firmware's buffer for it ran over")
                }
            }
        }
    }
}
