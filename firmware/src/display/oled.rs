//! SSD1306: small, monochrome, one bit a pixel.
//!
//! The picture is kept in RAM twice, as it should be and as the display has it, and only bytes that differ are sent: a
//! whole picture takes most of a frame's time on I2C, a piece that falls by a row a tenth of it.
//!
//! ```text
//!   a display of 128x64:      held upright, with its pins to the left:
//!   pages of 8 rows            x goes down the rows, y along the columns
//!   0 |||||||| ... |           and the display mirrors the columns
//!   1 |||||||| ... |  bytes are columns of 8 pixels, the lowest bit at the top
//! ```

use core::ops::Range;

use display_interface::{AsyncWriteOnlyDataCommand, DisplayError};
use embedded_graphics::Pixel;
use embedded_graphics::draw_target::DrawTarget;
use embedded_graphics::geometry::{OriginDimensions, Point, Size};
use embedded_graphics::pixelcolor::BinaryColor;
use embedded_graphics::primitives::Rectangle;
use ssd1306::Ssd1306Async;
use ssd1306::command::AddrMode;
use ssd1306::mode::BasicMode;
use ssd1306::prelude::DisplayRotation;
use ssd1306::size::DisplaySizeAsync;

use super::{Panel, Silent};

/// Bytes that are alike between two that differ are sent along if they are fewer than what it takes to skip them: two
/// commands and three addresses.
const GAP: usize = 12;

/// The picture: so many columns, and pages of eight rows.
pub(crate) struct Picture<const COLUMNS: usize, const PAGES: usize> {
    drawn: [[u8; COLUMNS]; PAGES],
    shown: [[u8; COLUMNS]; PAGES],
}

impl<const COLUMNS: usize, const PAGES: usize> Picture<COLUMNS, PAGES> {
    /// All dark.
    pub(crate) const fn new() -> Self {
        Picture { drawn: [[0; COLUMNS]; PAGES], shown: [[0; COLUMNS]; PAGES] }
    }
}

/// An SSD1306 on any bus.
pub(crate) struct Oled<'d, Bus, Model, const COLUMNS: usize, const PAGES: usize> {
    driver: Ssd1306Async<Bus, Model, BasicMode>,
    upright: bool,
    picture: &'d mut Picture<COLUMNS, PAGES>,
}

impl From<DisplayError> for Silent {
    fn from(_: DisplayError) -> Silent {
        Silent
    }
}

impl<'d, Bus, Model, const COLUMNS: usize, const PAGES: usize> Oled<'d, Bus, Model, COLUMNS, PAGES>
where
    Bus: AsyncWriteOnlyDataCommand,
    Model: DisplaySizeAsync,
{
    /// Wakes the display and clears it.
    pub(crate) async fn open(
        bus: Bus,
        model: Model,
        upright: bool,
        picture: &'d mut Picture<COLUMNS, PAGES>,
    ) -> Result<Self, Silent> {
        let rotation = if upright { DisplayRotation::Rotate90 } else { DisplayRotation::Rotate0 };
        let mut oled = Oled { driver: Ssd1306Async::new(bus, model, rotation), upright, picture };
        oled.picture.drawn.as_flattened_mut().fill(0);
        oled.driver.init_with_addr_mode(AddrMode::Horizontal).await?;
        for page in 0..PAGES {
            oled.send_columns(page, 0..COLUMNS).await?;
        }
        Ok(oled)
    }

    async fn send_columns(&mut self, page: usize, columns: Range<usize>) -> Result<(), Silent> {
        // A small panel sits in the middle of what the chip could drive, and the other way round when mirrored.
        let margin = Model::DRIVER_COLS - Model::WIDTH - Model::OFFSETX;
        let offset = if self.upright { margin } else { Model::OFFSETX };
        let (left, right) = (offset + columns.start as u8, offset + columns.end as u8);
        let row = 8 * page as u8;
        self.driver.set_draw_area((left, row), (right, row + 8)).await?;
        let Picture { drawn, shown } = &mut *self.picture;
        let bytes = &drawn[page][columns.clone()];
        self.driver.draw(bytes).await?;
        shown[page][columns].copy_from_slice(bytes);
        Ok(())
    }

    /// Sets the pixels in some columns and rows of the display itself.
    fn fill(&mut self, columns: Range<usize>, rows: Range<usize>, on: bool) {
        for (page, bytes) in self.picture.drawn.iter_mut().enumerate() {
            let (top, bottom) = (rows.start.max(8 * page), rows.end.min(8 * page + 8));
            if top < bottom {
                let mask = (0xff >> (8 - (bottom - top))) << (top - 8 * page);
                for byte in &mut bytes[columns.clone()] {
                    *byte = if on { *byte | mask } else { *byte & !mask };
                }
            }
        }
    }
}

impl<Bus, Model, const COLUMNS: usize, const PAGES: usize> Panel for Oled<'_, Bus, Model, COLUMNS, PAGES>
where
    Bus: AsyncWriteOnlyDataCommand,
    Model: DisplaySizeAsync,
{
    async fn send(&mut self) -> Result<(), Silent> {
        for page in 0..PAGES {
            let mut from = 0;
            loop {
                let (drawn, shown) = (&self.picture.drawn[page], &self.picture.shown[page]);
                let differs = |&column: &usize| drawn[column] != shown[column];
                let Some(start) = (from..COLUMNS).find(differs) else { break };
                let mut end = start + 1;
                while let Some(next) = (end..COLUMNS.min(end + GAP)).find(differs) {
                    end = next + 1;
                }
                self.send_columns(page, start..end).await?;
                from = end;
            }
        }
        Ok(())
    }
}

impl<Bus, Model, const COLUMNS: usize, const PAGES: usize> OriginDimensions
    for Oled<'_, Bus, Model, COLUMNS, PAGES>
{
    fn size(&self) -> Size {
        let (width, height) = (COLUMNS as u32, 8 * PAGES as u32);
        if self.upright { Size::new(height, width) } else { Size::new(width, height) }
    }
}

impl<Bus, Model, const COLUMNS: usize, const PAGES: usize> DrawTarget for Oled<'_, Bus, Model, COLUMNS, PAGES>
where
    Bus: AsyncWriteOnlyDataCommand,
    Model: DisplaySizeAsync,
{
    type Color = BinaryColor;
    type Error = Silent;

    fn draw_iter<I>(&mut self, pixels: I) -> Result<(), Silent>
    where
        I: IntoIterator<Item = Pixel<BinaryColor>>,
    {
        for Pixel(point, colour) in pixels {
            let (Ok(x), Ok(y)) = (usize::try_from(point.x), usize::try_from(point.y)) else { continue };
            let (column, row) = if self.upright { (y, x) } else { (x, y) };
            if let Some(byte) = self.picture.drawn.get_mut(row / 8).and_then(|page| page.get_mut(column)) {
                let bit = 1 << (row % 8);
                *byte = if colour.is_on() { *byte | bit } else { *byte & !bit };
            }
        }
        Ok(())
    }

    fn fill_solid(&mut self, area: &Rectangle, colour: BinaryColor) -> Result<(), Silent> {
        let area = area.intersection(&Rectangle::new(Point::zero(), self.size()));
        let Some(end) = area.bottom_right() else { return Ok(()) };
        let across = area.top_left.x as usize..end.x as usize + 1;
        let down = area.top_left.y as usize..end.y as usize + 1;
        let (columns, rows) = if self.upright { (down, across) } else { (across, down) };
        self.fill(columns, rows, colour.is_on());
        Ok(())
    }
}
