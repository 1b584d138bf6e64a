//! The displays that boards have.

#[cfg(any(feature = "pico-oled", feature = "thumby"))]
pub(crate) mod oled;
#[cfg(any(feature = "picosystem", feature = "pico-lcd-1.3"))]
pub(crate) mod st7789;

use dropwise_core::screen::Palette;
use embedded_graphics::draw_target::DrawTarget;

/// A display does not answer.
pub(crate) struct Silent;

/// A display with a picture of it in RAM: drawing changes the picture, sending shows it.
pub(crate) trait Panel: DrawTarget<Color: Palette> {
    /// Sends what has changed in the picture, without keeping the processor from other tasks.
    async fn send(&mut self) -> Result<(), Silent>;
}
