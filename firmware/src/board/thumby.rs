//! thumby: TinyCircuits', an SSD1306 of 72x40 pixels on SPI and a cross. Nothing to wire.
//!
//! ```text
//!   SSD1306   SCK  GPIO 18  MOSI GPIO 19  CS   GPIO 16  DC  GPIO 17  reset GPIO 20    SPI 0
//!   buttons   up   GPIO 4   down GPIO 6   left GPIO 3   right GPIO 5   A GPIO 27   B GPIO 24
//! ```

use dropwise_core::screen::Layout;
use embassy_rp::gpio::{Input, Level, Output, Pull};
use embassy_rp::peripherals::{DMA_CH0, PIN_16, PIN_17, PIN_18, PIN_19, PIN_20, SPI0};
use embassy_rp::spi::{self, Async, Spi};
use embassy_rp::{Peri, Peripherals, bind_interrupts, dma};
use embassy_time::Timer;
use embedded_hal_bus::spi::{ExclusiveDevice, NoDelay};
use ssd1306::prelude::SPIInterface;
use ssd1306::size::DisplaySize72x40;
use static_cell::ConstStaticCell;

use super::Board;
use crate::action::Action;
use crate::display::Silent;
use crate::display::oled::{Oled, Picture};

pub(crate) const NAME: &str = "thumby";
pub(crate) const LAYOUT: Layout = Layout::Small;
pub(crate) const COLOURS: bool = false;

pub(crate) use super::cross::KEYS;
pub(crate) const BUTTONS: usize = KEYS.len();
pub(crate) const TOGETHER: Option<Action> = None;

bind_interrupts!(struct Interrupts {
    DMA_IRQ_0 => dma::InterruptHandler<DMA_CH0>;
});

/// The fastest that an SSD1306 is specified for: 100 ns a bit.
const FREQUENCY: u32 = 10_000_000;

static PICTURE: ConstStaticCell<Picture<72, 5>> = ConstStaticCell::new(Picture::new());

/// Where the display is plugged in.
pub(crate) struct Socket {
    spi: Peri<'static, SPI0>,
    clock: Peri<'static, PIN_18>,
    mosi: Peri<'static, PIN_19>,
    dma: Peri<'static, DMA_CH0>,
    select: Peri<'static, PIN_16>,
    data: Peri<'static, PIN_17>,
    reset: Peri<'static, PIN_20>,
    picture: &'static mut Picture<72, 5>,
}

type Bus<'a> = SPIInterface<ExclusiveDevice<Spi<'a, SPI0, Async>, Output<'a>, NoDelay>, Output<'a>>;

impl Socket {
    /// Wakes the display.
    pub(crate) async fn open(&mut self) -> Result<Oled<'_, Bus<'_>, DisplaySize72x40, 72, 5>, Silent> {
        let mut reset = Output::new(self.reset.reborrow(), Level::Low);
        Timer::after_micros(10).await;
        reset.set_high();
        Timer::after_micros(10).await;
        // The pin stays as it is when nobody holds it.
        core::mem::forget(reset);

        let mut config = spi::Config::default();
        config.frequency = FREQUENCY;
        let spi = Spi::new_txonly(
            self.spi.reborrow(),
            self.clock.reborrow(),
            self.mosi.reborrow(),
            self.dma.reborrow(),
            Interrupts,
            config,
        );
        let select = Output::new(self.select.reborrow(), Level::High);
        let data = Output::new(self.data.reborrow(), Level::Low);
        let Ok(device) = ExclusiveDevice::new_no_delay(spi, select);
        Oled::open(SPIInterface::new(device, data), DisplaySize72x40, false, self.picture).await
    }
}

impl Board {
    pub(crate) fn new(p: Peripherals) -> Board {
        Board {
            watchdog: p.WATCHDOG,
            flash: p.FLASH,
            core1: p.CORE1,
            usb: p.USB,
            buttons: [
                Input::new(p.PIN_4, Pull::Up),
                Input::new(p.PIN_6, Pull::Up),
                Input::new(p.PIN_3, Pull::Up),
                Input::new(p.PIN_5, Pull::Up),
                Input::new(p.PIN_27, Pull::Up),
                Input::new(p.PIN_24, Pull::Up),
            ],
            display: Socket {
                spi: p.SPI0,
                clock: p.PIN_18,
                mosi: p.PIN_19,
                dma: p.DMA_CH0,
                select: p.PIN_16,
                data: p.PIN_17,
                reset: p.PIN_20,
                picture: PICTURE.take(),
            },
        }
    }
}
