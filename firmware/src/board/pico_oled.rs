//! pico-oled: a Raspberry Pi Pico, an SSD1306 of 128x64 pixels held upright, two buttons. The default.
//!
//! ```text
//!   SSD1306   SDA  GPIO 4   SCL  GPIO 5   VCC  3V3   GND  GND      I2C 0, address 0x3c
//!   buttons   A    GPIO 14  B    GPIO 15  the other side of each: GND
//! ```

use dropwise_core::screen::Layout;
use embassy_rp::gpio::{Flex, Input, Pull};
use embassy_rp::i2c::{self, Async, I2c, InterruptHandler};
use embassy_rp::peripherals::{I2C0, PIN_4, PIN_5};
use embassy_rp::{Peri, Peripherals, bind_interrupts};
use embassy_time::Timer;
use ssd1306::I2CDisplayInterface;
use ssd1306::prelude::I2CInterface;
use ssd1306::size::DisplaySize128x64;
use static_cell::ConstStaticCell;

use super::Board;
use crate::action::Action;
use crate::buttons::Key;
use crate::display::Silent;
use crate::display::oled::{Oled, Picture};

pub(crate) const NAME: &str = "pico-oled";
pub(crate) const LAYOUT: Layout = Layout::Tall;
pub(crate) const COLOURS: bool = false;

pub(crate) const BUTTONS: usize = 2;
/// A, B.
pub(crate) const KEYS: [Key; BUTTONS] = [
    Key { short: Action::Pause, long: Some(Action::NewGame) },
    Key { short: Action::SpeedOrStep, long: Some(Action::Page) },
];
pub(crate) const TOGETHER: Option<Action> = Some(Action::Player);

bind_interrupts!(struct Interrupts {
    I2C0_IRQ => InterruptHandler<I2C0>;
});

/// The fastest that an SSD1306 is specified for.
const FREQUENCY: u32 = 400_000;

static PICTURE: ConstStaticCell<Picture<128, 8>> = ConstStaticCell::new(Picture::new());

/// Where the display is plugged in.
pub(crate) struct Socket {
    i2c: Peri<'static, I2C0>,
    sda: Peri<'static, PIN_4>,
    scl: Peri<'static, PIN_5>,
    picture: &'static mut Picture<128, 8>,
}

type Display<'a> = Oled<'a, I2CInterface<I2c<'a, I2C0, Async>>, DisplaySize128x64, 128, 8>;

impl Socket {
    /// Wakes the display.
    pub(crate) async fn open(&mut self) -> Result<Display<'_>, Silent> {
        self.free_bus().await;
        let mut config = i2c::Config::default();
        config.frequency = FREQUENCY;
        let i2c =
            I2c::new_async(self.i2c.reborrow(), self.scl.reborrow(), self.sda.reborrow(), Interrupts, config);
        Oled::open(I2CDisplayInterface::new(i2c), DisplaySize128x64, true, self.picture).await
    }

    /// A display that was cut off within a byte may hold the data line low until it is clocked out of it: at most
    /// nine clocks (I2C-bus specification, UM10204, 3.1.16).
    async fn free_bus(&mut self) {
        let mut sda = Flex::new(self.sda.reborrow());
        sda.set_pull(Pull::Up);
        sda.set_as_input();
        let mut scl = Flex::new(self.scl.reborrow());
        scl.set_pull(Pull::Up);
        scl.set_low();
        for _ in 0..9 {
            Timer::after_micros(10).await;
            if sda.is_high() {
                break;
            }
            scl.set_as_output();
            Timer::after_micros(10).await;
            scl.set_as_input();
        }
    }
}

impl Board {
    pub(crate) fn new(p: Peripherals) -> Board {
        Board {
            watchdog: p.WATCHDOG,
            flash: p.FLASH,
            core1: p.CORE1,
            usb: p.USB,
            buttons: [Input::new(p.PIN_14, Pull::Up), Input::new(p.PIN_15, Pull::Up)],
            display: Socket { i2c: p.I2C0, sda: p.PIN_4, scl: p.PIN_5, picture: PICTURE.take() },
        }
    }
}
