//! The boards: what is soldered to which pin.

use serde::Serialize;
use serde_json::{Value, json};

/// A board that the firmware knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Board {
    /// A Raspberry Pi Pico with an SSD1306 and two buttons.
    PicoOled,
    /// Pimoroni's PicoSystem.
    Picosystem,
    /// A Raspberry Pi Pico with Waveshare's Pico-LCD-1.3.
    PicoLcd13,
    /// TinyCircuits' Thumby.
    Thumby,
}

/// A button.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[allow(missing_docs)]
pub enum Button {
    Up,
    Down,
    Left,
    Right,
    A,
    B,
}

/// The flash chip's unique id on every emulated board: the one that `host screen` shows.
pub const UNIQUE_ID: [u8; 8] = [0xe6, 0x60, 0x38, 0xb7, 0x13, 0x59, 0x67, 0x30];

const MEBIBYTE: usize = 1024 * 1024;

impl Board {
    /// All of them.
    pub const ALL: [Board; 4] = [Board::PicoOled, Board::Picosystem, Board::PicoLcd13, Board::Thumby];

    /// The name, which is that of the firmware's cargo feature too.
    pub const fn name(self) -> &'static str {
        match self {
            Board::PicoOled => "pico-oled",
            Board::Picosystem => "picosystem",
            Board::PicoLcd13 => "pico-lcd-1.3",
            Board::Thumby => "thumby",
        }
    }

    /// Bytes of flash.
    pub const fn flash_size(self) -> usize {
        match self {
            Board::Picosystem => 16 * MEBIBYTE,
            Board::PicoOled | Board::PicoLcd13 | Board::Thumby => 2 * MEBIBYTE,
        }
    }

    /// The buttons it has.
    pub fn buttons(self) -> impl Iterator<Item = Button> {
        let all = [Button::Up, Button::Down, Button::Left, Button::Right, Button::A, Button::B];
        all.into_iter().filter(move |&button| self.pin(button).is_some())
    }

    /// The GPIO that a button pulls to ground, if the board has it.
    pub const fn pin(self, button: Button) -> Option<u8> {
        use Button::{A, B, Down, Left, Right, Up};
        Some(match (self, button) {
            (Board::PicoOled, A) => 14,
            (Board::PicoOled, B) => 15,
            (Board::PicoOled, _) => return None,
            (Board::Picosystem, Up) => 23,
            (Board::Picosystem, Down) => 20,
            (Board::Picosystem, Left) => 22,
            (Board::Picosystem, Right) => 21,
            (Board::Picosystem, A) => 18,
            (Board::Picosystem, B) => 19,
            (Board::PicoLcd13, Up) => 2,
            (Board::PicoLcd13, Down) => 18,
            (Board::PicoLcd13, Left) => 16,
            (Board::PicoLcd13, Right) => 20,
            (Board::PicoLcd13, A) => 15,
            (Board::PicoLcd13, B) => 17,
            (Board::Thumby, Up) => 4,
            (Board::Thumby, Down) => 6,
            (Board::Thumby, Left) => 3,
            (Board::Thumby, Right) => 5,
            (Board::Thumby, A) => 27,
            (Board::Thumby, B) => 24,
        })
    }

    /// How the display is mounted: quarter turns, clockwise, from its own rows and columns to what the user sees.
    pub(crate) const fn turns(self) -> u8 {
        match self {
            // Held upright, its pins to the left.
            Board::PicoOled => 3,
            // Waveshare's own driver exchanges rows and columns.
            Board::PicoLcd13 => 3,
            Board::Picosystem | Board::Thumby => 0,
        }
    }

    /// The board as the emulator is told it.
    pub(crate) fn wiring(self) -> Value {
        // Winbond's W25Q series: the last byte is the logarithm of the size.
        let jedec = [0xef, 0x70, self.flash_size().ilog2() as u8];
        let display = match self {
            Board::PicoOled => json!({
                "kind": "ssd1306", "bus": "i2c", "index": 0, "address": 0x3c, "width": 128, "height": 64, "left": 0,
            }),
            Board::Picosystem => json!({
                "kind": "st7789", "bus": "spi", "index": 0, "cs": 5, "dc": 9, "reset": 4,
                "width": 240, "height": 240, "inverted": true,
            }),
            Board::PicoLcd13 => json!({
                "kind": "st7789", "bus": "spi", "index": 1, "cs": 9, "dc": 8, "reset": 12,
                "width": 240, "height": 240, "inverted": true,
            }),
            Board::Thumby => json!({
                "kind": "ssd1306", "bus": "spi", "index": 0, "cs": 16, "dc": 17, "reset": 20,
                "width": 72, "height": 40, "left": 28,
            }),
        };
        json!({
            "flash": { "bytes": self.flash_size(), "jedec": jedec, "uniqueId": UNIQUE_ID },
            "display": display,
        })
    }
}
