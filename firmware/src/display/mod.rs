//! The displays that boards have.

#[cfg(any(feature = "pico-oled", feature = "thumby"))]
pub(crate) mod oled;
#[cfg(any(feature = "picosystem", feature = "pico-lcd-1.3"))]
pub(crate) mod st7789;

use dropwise_core::screen::Palette;
use embedded_graphics::draw_target::DrawTarget;
use embedded_graphics::primitives::Rectangle;

/// A display does not answer.
pub(crate) struct Silent;

/// A display with a picture of it in RAM: drawing changes the picture, sending shows it.
pub(crate) trait Panel: DrawTarget<Color: Palette> {
    /// Sends the part of the picture that has changed, without keeping the processor from other tasks.
    async fn send(&mut self, changed: &Rectangle) -> Result<(), Silent>;
}
