//! pico-lcd-1.3: a Raspberry Pi Pico on Waveshare's Pico-LCD-1.3, an ST7789 of 240x240 pixels and a cross. Nothing to
//! wire: plug them together, both USB marks on the same side.
//!
//! ```text
//!   ST7789    SCK  GPIO 10  MOSI GPIO 11  CS   GPIO 9   DC  GPIO 8   reset GPIO 12  light GPIO 13    SPI 1
//!   buttons   up   GPIO 2   down GPIO 18  left GPIO 16  right GPIO 20   A GPIO 15   B GPIO 17
//! ```

use dropwise_core::screen::Layout;
use embassy_rp::gpio::{Input, Pull};
use embassy_rp::peripherals::{DMA_CH0, PIN_8, PIN_9, PIN_10, PIN_11, PIN_12, PIN_13, SPI1};
use embassy_rp::spi::{self, Spi};
use embassy_rp::{Peri, Peripherals, bind_interrupts, dma};
use mipidsi::dcs::SetAddressMode;
use mipidsi::options::{
    ColorOrder, HorizontalRefreshOrder, Orientation, RefreshOrder, Rotation, VerticalRefreshOrder,
};
use static_cell::ConstStaticCell;

use super::Board;
use crate::action::Action;
use crate::display::Silent;
use crate::display::st7789::{FREQUENCY, Picture, Pins, St7789};

pub(crate) const NAME: &str = "pico-lcd-1.3";
pub(crate) const LAYOUT: Layout = Layout::Large;
pub(crate) const COLOURS: bool = true;

pub(crate) use super::cross::KEYS;
pub(crate) const BUTTONS: usize = KEYS.len();
pub(crate) const TOGETHER: Option<Action> = None;

bind_interrupts!(struct Interrupts {
    DMA_IRQ_0 => dma::InterruptHandler<DMA_CH0>;
});

static PICTURE: ConstStaticCell<Picture> = ConstStaticCell::new(Picture::new());

/// The panel is mounted a quarter turn round.
const ADDRESS_MODE: SetAddressMode = SetAddressMode::new(
    ColorOrder::Rgb,
    Orientation::new().rotate(Rotation::Deg90),
    RefreshOrder::new(VerticalRefreshOrder::BottomToTop, HorizontalRefreshOrder::LeftToRight),
);

/// Where the display is plugged in.
pub(crate) struct Socket {
    spi: Peri<'static, SPI1>,
    clock: Peri<'static, PIN_10>,
    mosi: Peri<'static, PIN_11>,
    dma: Peri<'static, DMA_CH0>,
    select: Peri<'static, PIN_9>,
    data: Peri<'static, PIN_8>,
    reset: Peri<'static, PIN_12>,
    light: Peri<'static, PIN_13>,
    picture: &'static mut Picture,
}

impl Socket {
    /// Wakes the display.
    pub(crate) async fn open(&mut self) -> Result<St7789<'_, SPI1>, Silent> {
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
        let pins = Pins::new(
            self.select.reborrow(),
            self.data.reborrow(),
            self.reset.reborrow(),
            self.light.reborrow(),
        );
        St7789::open(spi, pins, self.picture, ADDRESS_MODE).await
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
                Input::new(p.PIN_2, Pull::Up),
                Input::new(p.PIN_18, Pull::Up),
                Input::new(p.PIN_16, Pull::Up),
                Input::new(p.PIN_20, Pull::Up),
                Input::new(p.PIN_15, Pull::Up),
                Input::new(p.PIN_17, Pull::Up),
            ],
            display: Socket {
                spi: p.SPI1,
                clock: p.PIN_10,
                mosi: p.PIN_11,
                dma: p.DMA_CH0,
                select: p.PIN_9,
                data: p.PIN_8,
                reset: p.PIN_12,
                light: p.PIN_13,
                picture: PICTURE.take(),
            },
        }
    }
}
