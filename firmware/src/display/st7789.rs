//! ST7789: 240x240 pixels in colour, on SPI.
//!
//! The picture is kept in RAM as the display wants it, and what has changed is sent by DMA. Commands are those of
//! `mipidsi`; its own driver would wait for the bus and for the display with the processor.

use core::convert::Infallible;

use embassy_rp::Peri;
use embassy_rp::gpio::{Level, Output, Pin};
use embassy_rp::spi::{Async, Instance, Spi};
use embassy_time::Timer;
use embedded_graphics::Pixel;
use embedded_graphics::draw_target::DrawTarget;
use embedded_graphics::geometry::{OriginDimensions, Point, Size};
use embedded_graphics::pixelcolor::Rgb565;
use embedded_graphics::pixelcolor::raw::ToBytes;
use embedded_graphics::primitives::Rectangle;
use mipidsi::dcs::{
    BitsPerPixel, DcsCommand, EnterNormalMode, ExitSleepMode, PixelFormat, SetAddressMode, SetColumnAddress,
    SetDisplayOn, SetInvertMode, SetPageAddress, SetPixelFormat, WriteMemoryStart,
};
use mipidsi::options::ColorInversion;

use super::{Panel, Silent};

/// Pixels in a row, and rows.
const SIDE: usize = 240;

/// As fast as the RP2040 can; the display takes 16 ns a bit (ST7789VW data sheet, 7.4.2).
pub(crate) const FREQUENCY: u32 = 62_500_000;

/// The picture: rows from the top, pixels from the left, the more significant byte first.
pub(crate) struct Picture([[[u8; 2]; SIDE]; SIDE]);

impl Picture {
    /// All black.
    pub(crate) const fn new() -> Picture {
        Picture([[[0; 2]; SIDE]; SIDE])
    }
}

/// The pins beside the bus.
pub(crate) struct Pins<'d> {
    /// Low while the display is spoken to.
    pub(crate) select: Output<'d>,
    /// Low for a command, high for data.
    pub(crate) data: Output<'d>,
    /// Low resets.
    pub(crate) reset: Output<'d>,
    /// High lights up.
    pub(crate) light: Output<'d>,
}

impl<'d> Pins<'d> {
    /// All at rest, dark.
    pub(crate) fn new(
        select: Peri<'d, impl Pin>,
        data: Peri<'d, impl Pin>,
        reset: Peri<'d, impl Pin>,
        light: Peri<'d, impl Pin>,
    ) -> Pins<'d> {
        Pins {
            select: Output::new(select, Level::High),
            data: Output::new(data, Level::High),
            reset: Output::new(reset, Level::High),
            light: Output::new(light, Level::Low),
        }
    }
}

/// An ST7789.
pub(crate) struct St7789<'d, T: Instance> {
    spi: Spi<'d, T, Async>,
    pins: Pins<'d>,
    picture: &'d mut Picture,
}

impl<'d, T: Instance> St7789<'d, T> {
    /// Wakes the display, clears it and lights it up.
    pub(crate) async fn open(
        spi: Spi<'d, T, Async>,
        pins: Pins<'d>,
        picture: &'d mut Picture,
        address_mode: SetAddressMode,
    ) -> Result<Self, Silent> {
        let mut display = St7789 { spi, pins, picture };
        display.picture.0.as_flattened_mut().fill([0; 2]);
        // Times: ST7789VW data sheet, 7.4.5 (reset) and 9.1.12 (sleep out).
        display.pins.reset.set_low();
        Timer::after_micros(20).await;
        display.pins.reset.set_high();
        Timer::after_millis(120).await;
        display.command(ExitSleepMode).await?;
        Timer::after_millis(5).await;
        display.command(address_mode).await?;
        display.command(SetPixelFormat::new(PixelFormat::with_all(BitsPerPixel::Sixteen))).await?;
        display.command(SetInvertMode::new(ColorInversion::Inverted)).await?;
        display.command(EnterNormalMode).await?;
        let all = Rectangle::new(Point::zero(), display.size());
        display.send(&all).await?;
        display.command(SetDisplayOn).await?;
        display.pins.light.set_high();
        Ok(display)
    }

    async fn command(&mut self, command: impl DcsCommand) -> Result<(), Silent> {
        let mut parameters = [0; 4];
        let count = command.fill_params_buf(&mut parameters);
        self.pins.select.set_low();
        self.pins.data.set_low();
        self.spi.write(&[command.instruction()]).await.map_err(|_| Silent)?;
        self.pins.data.set_high();
        if count > 0 {
            self.spi.write(&parameters[..count]).await.map_err(|_| Silent)?;
        }
        self.pins.select.set_high();
        Ok(())
    }
}

impl<T: Instance> Panel for St7789<'_, T> {
    async fn send(&mut self, changed: &Rectangle) -> Result<(), Silent> {
        let area = changed.intersection(&Rectangle::new(Point::zero(), self.size()));
        let Some(end) = area.bottom_right() else { return Ok(()) };
        let (left, top, right, bottom) =
            (area.top_left.x as usize, area.top_left.y as usize, end.x as usize, end.y as usize);
        self.command(SetColumnAddress::new(left as u16, right as u16)).await?;
        self.command(SetPageAddress::new(top as u16, bottom as u16)).await?;
        self.command(WriteMemoryStart).await?;
        self.pins.select.set_low();
        let rows = &self.picture.0[top..=bottom];
        if right - left + 1 == SIDE {
            let bytes = rows.as_flattened().as_flattened();
            self.spi.write(bytes).await.map_err(|_| Silent)?;
        } else {
            for row in rows {
                self.spi.write(row[left..=right].as_flattened()).await.map_err(|_| Silent)?;
            }
        }
        self.pins.select.set_high();
        Ok(())
    }
}

impl<T: Instance> OriginDimensions for St7789<'_, T> {
    fn size(&self) -> Size {
        Size::new(SIDE as u32, SIDE as u32)
    }
}

impl<T: Instance> DrawTarget for St7789<'_, T> {
    type Color = Rgb565;
    type Error = Infallible;

    fn draw_iter<I>(&mut self, pixels: I) -> Result<(), Infallible>
    where
        I: IntoIterator<Item = Pixel<Rgb565>>,
    {
        for Pixel(point, colour) in pixels {
            let (Ok(x), Ok(y)) = (usize::try_from(point.x), usize::try_from(point.y)) else { continue };
            if let Some(pixel) = self.picture.0.get_mut(y).and_then(|row| row.get_mut(x)) {
                *pixel = colour.to_be_bytes();
            }
        }
        Ok(())
    }

    fn fill_solid(&mut self, area: &Rectangle, colour: Rgb565) -> Result<(), Infallible> {
        let area = area.intersection(&Rectangle::new(Point::zero(), self.size()));
        if let Some(end) = area.bottom_right() {
            let (left, right) = (area.top_left.x as usize, end.x as usize);
            for row in &mut self.picture.0[area.top_left.y as usize..=end.y as usize] {
                row[left..=right].fill(colour.to_be_bytes());
            }
        }
        Ok(())
    }
}
