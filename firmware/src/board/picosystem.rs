//! picosystem: Pimoroni's, an ST7789 of 240x240 pixels and a cross. Nothing to wire.
//!
//! ```text
//!   ST7789    SCK  GPIO 6   MOSI GPIO 7   CS   GPIO 5   DC  GPIO 9   reset GPIO 4   light GPIO 12    SPI 0
//!   buttons   up   GPIO 23  down GPIO 20  left GPIO 22  right GPIO 21   A GPIO 18   B GPIO 19
//! ```

use dropwise_core::screen::Layout;
use embassy_rp::gpio::{Input, Pull};
use embassy_rp::peripherals::{DMA_CH0, PIN_4, PIN_5, PIN_6, PIN_7, PIN_9, PIN_12, SPI0};
use embassy_rp::spi::{self, Spi};
use embassy_rp::{Peri, Peripherals, bind_interrupts, dma};
use mipidsi::dcs::SetAddressMode;
use mipidsi::options::{ColorOrder, HorizontalRefreshOrder, Orientation, RefreshOrder, VerticalRefreshOrder};
use static_cell::ConstStaticCell;

use super::Board;
use crate::action::Action;
use crate::display::Silent;
use crate::display::st7789::{FREQUENCY, Picture, Pins, St7789};

pub(crate) const NAME: &str = "picosystem";
pub(crate) const LAYOUT: Layout = Layout::Large;
pub(crate) const COLOURS: bool = true;

pub(crate) use super::cross::KEYS;
pub(crate) const BUTTONS: usize = KEYS.len();
pub(crate) const TOGETHER: Option<Action> = None;

bind_interrupts!(struct Interrupts {
    DMA_IRQ_0 => dma::InterruptHandler<DMA_CH0>;
});

static PICTURE: ConstStaticCell<Picture> = ConstStaticCell::new(Picture::new());

/// The panel is refreshed from right to left, as its maker's own driver has it.
const ADDRESS_MODE: SetAddressMode = SetAddressMode::new(
    ColorOrder::Rgb,
    Orientation::new(),
    RefreshOrder::new(VerticalRefreshOrder::TopToBottom, HorizontalRefreshOrder::RightToLeft),
);

/// Where the display is plugged in.
pub(crate) struct Socket {
    spi: Peri<'static, SPI0>,
    clock: Peri<'static, PIN_6>,
    mosi: Peri<'static, PIN_7>,
    dma: Peri<'static, DMA_CH0>,
    select: Peri<'static, PIN_5>,
    data: Peri<'static, PIN_9>,
    reset: Peri<'static, PIN_4>,
    light: Peri<'static, PIN_12>,
    picture: &'static mut Picture,
}

impl Socket {
    /// Wakes the display.
    pub(crate) async fn open(&mut self) -> Result<St7789<'_, SPI0>, Silent> {
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
                Input::new(p.PIN_23, Pull::Up),
                Input::new(p.PIN_20, Pull::Up),
                Input::new(p.PIN_22, Pull::Up),
                Input::new(p.PIN_21, Pull::Up),
                Input::new(p.PIN_18, Pull::Up),
                Input::new(p.PIN_19, Pull::Up),
            ],
            display: Socket {
                spi: p.SPI0,
                clock: p.PIN_6,
                mosi: p.PIN_7,
                dma: p.DMA_CH0,
                select: p.PIN_5,
                data: p.PIN_9,
                reset: p.PIN_4,
                light: p.PIN_12,
                picture: PICTURE.take(),
            },
        }
    }
}
