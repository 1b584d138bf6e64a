//! SSD1306: small, monochrome, one bit a pixel.

use display_interface::AsyncWriteOnlyDataCommand;
use embedded_graphics::primitives::Rectangle;
use ssd1306::Ssd1306Async;
use ssd1306::mode::{BufferedGraphicsModeAsync, DisplayConfigAsync};
use ssd1306::prelude::DisplayRotation;
use ssd1306::size::DisplaySizeAsync;

use super::{Panel, Silent};

/// An SSD1306 on any bus.
pub(crate) type Oled<Bus, Size> = Ssd1306Async<Bus, Size, BufferedGraphicsModeAsync<Size>>;

/// Wakes the display and clears it.
pub(crate) async fn open<Bus, Size>(
    bus: Bus,
    size: Size,
    rotation: DisplayRotation,
) -> Result<Oled<Bus, Size>, Silent>
where
    Bus: AsyncWriteOnlyDataCommand,
    Size: DisplaySizeAsync,
{
    let mut oled = Ssd1306Async::new(bus, size, rotation).into_buffered_graphics_mode();
    oled.init().await.map_err(|_| Silent)?;
    oled.flush().await.map_err(|_| Silent)?;
    Ok(oled)
}

impl<Bus, Size> Panel for Oled<Bus, Size>
where
    Bus: AsyncWriteOnlyDataCommand,
    Size: DisplaySizeAsync,
{
    /// The driver keeps track of what has changed by itself.
    async fn send(&mut self, _changed: &Rectangle) -> Result<(), Silent> {
        self.flush().await.map_err(|_| Silent)
    }
}
