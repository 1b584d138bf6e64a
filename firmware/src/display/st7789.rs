//! ST7789: 240x240 pixels in colour, on SPI.
//!
//! The picture is kept in RAM as the display wants it, and of each row the part that was drawn on is sent by DMA.
//! Commands are those of `mipidsi`; its own driver would wait for the bus and for the display with the processor.

use core::convert::Infallible;

use embassy_rp::Peri;
use embassy_rp::gpio::{Level, Output, Pin};
use embassy_rp::spi::{Async, Instance, Spi};
use embassy_time::Timer;
use embedded_graphics::Pixel;
use embedded_graphics::draw_target::DrawTarget;
use embedded_graphics::geometry::{OriginDimensions, Point, Size};
use embedded_graphics::pixelcolor::raw::ToBytes;
use embedded_graphics::pixelcolor::{Rgb565, RgbColor};
use embedded_graphics::primitives::{PointsIter, Rectangle};
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

/// Pixels that need not be sent are sent along if they are fewer than this a row: a window of its own takes as long.
const GAP: usize = 32;

/// The picture: rows from the top, pixels from the left, the more significant byte first.
pub(crate) struct Picture {
    rows: [[[u8; 2]; SIDE]; SIDE],
    /// Of each row, what was drawn on since it was sent.
    drawn: [Span; SIDE],
}

/// From a pixel to before another.
#[derive(Clone, Copy)]
struct Span {
    left: u8,
    right: u8,
}

impl Span {
    /// All zeros, so that the picture's first value takes no flash.
    const EMPTY: Span = Span { left: 0, right: 0 };

    fn width(self) -> usize {
        usize::from(self.right - self.left)
    }

    fn with(self, other: Span) -> Span {
        if self.width() == 0 {
            return other;
        }
        Span { left: self.left.min(other.left), right: self.right.max(other.right) }
    }
}

impl Picture {
    /// All black.
    pub(crate) const fn new() -> Picture {
        Picture { rows: [[[0; 2]; SIDE]; SIDE], drawn: [Span::EMPTY; SIDE] }
    }

    /// The next rows from here on that were drawn on, about as wide as each other: the first, the one after the last,
    /// and the part of them.
    fn next_drawn(&self, from: usize) -> Option<(usize, usize, Span)> {
        let top = (from..SIDE).find(|&row| self.drawn[row].width() > 0)?;
        let (mut bottom, mut span) = (top + 1, self.drawn[top]);
        while let Some(&next) = self.drawn.get(bottom) {
            let both = span.with(next);
            if next.width() == 0 || both.width() > span.width().min(next.width()) + GAP {
                break;
            }
            (bottom, span) = (bottom + 1, both);
        }
        Some((top, bottom, span))
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
        let Ok(()) = display.clear(Rgb565::BLACK);
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
        display.send().await?;
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
    async fn send(&mut self) -> Result<(), Silent> {
        let mut from = 0;
        while let Some((top, bottom, span)) = self.picture.next_drawn(from) {
            self.command(SetColumnAddress::new(span.left.into(), u16::from(span.right) - 1)).await?;
            self.command(SetPageAddress::new(top as u16, bottom as u16 - 1)).await?;
            self.command(WriteMemoryStart).await?;
            self.pins.select.set_low();
            let rows = &self.picture.rows[top..bottom];
            if span.width() == SIDE {
                self.spi.write(rows.as_flattened().as_flattened()).await.map_err(|_| Silent)?;
            } else {
                for row in rows {
                    let part = &row[span.left.into()..span.right.into()];
                    self.spi.write(part.as_flattened()).await.map_err(|_| Silent)?;
                }
            }
            self.pins.select.set_high();
            self.picture.drawn[top..bottom].fill(Span::EMPTY);
            from = bottom;
        }
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
            if x < SIDE && y < SIDE {
                self.picture.rows[y][x] = colour.to_be_bytes();
                let span = Span { left: x as u8, right: x as u8 + 1 };
                self.picture.drawn[y] = self.picture.drawn[y].with(span);
            }
        }
        Ok(())
    }

    fn fill_contiguous<I>(&mut self, area: &Rectangle, colours: I) -> Result<(), Infallible>
    where
        I: IntoIterator<Item = Rgb565>,
    {
        let inside = area.intersection(&Rectangle::new(Point::zero(), self.size()));
        if inside != *area {
            return self.draw_iter(area.points().zip(colours).map(|(point, colour)| Pixel(point, colour)));
        }
        let Some(end) = area.bottom_right() else { return Ok(()) };
        let span = Span { left: area.top_left.x as u8, right: end.x as u8 + 1 };
        let mut colours = colours.into_iter();
        for y in area.top_left.y as usize..=end.y as usize {
            for (pixel, colour) in
                self.picture.rows[y][span.left.into()..span.right.into()].iter_mut().zip(&mut colours)
            {
                *pixel = colour.to_be_bytes();
            }
            self.picture.drawn[y] = self.picture.drawn[y].with(span);
        }
        Ok(())
    }

    fn fill_solid(&mut self, area: &Rectangle, colour: Rgb565) -> Result<(), Infallible> {
        let area = area.intersection(&Rectangle::new(Point::zero(), self.size()));
        if let Some(end) = area.bottom_right() {
            let span = Span { left: area.top_left.x as u8, right: end.x as u8 + 1 };
            for y in area.top_left.y as usize..=end.y as usize {
                self.picture.rows[y][span.left.into()..span.right.into()].fill(colour.to_be_bytes());
                self.picture.drawn[y] = self.picture.drawn[y].with(span);
            }
        }
        Ok(())
    }
}
