//! Colours, so that screens with two of them and with thousands share the drawing.

use embedded_graphics::pixelcolor::{BinaryColor, Rgb565, WebColors};
use embedded_graphics::prelude::*;

use crate::piece::Piece;

/// What a pixel is part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ink {
    /// Where nothing is.
    Back,
    /// Numbers and names.
    Text,
    /// Captions and whatever matters less.
    Faint,
    /// What stands out.
    Accent,
    /// What is wrong.
    Alarm,
    /// Lines around things.
    Frame,
    /// The well where it is empty.
    Well,
    /// A cell that came from this piece.
    Piece(Piece),
    /// A cell of which nothing is known but that it is full.
    Cell,
}

/// A colour type that has every [`Ink`].
pub trait Palette: PixelColor {
    /// The colour of an ink.
    fn of(ink: Ink) -> Self;
}

impl Palette for BinaryColor {
    fn of(ink: Ink) -> BinaryColor {
        match ink {
            Ink::Back | Ink::Well => BinaryColor::Off,
            _ => BinaryColor::On,
        }
    }
}

impl Palette for Rgb565 {
    fn of(ink: Ink) -> Rgb565 {
        match ink {
            Ink::Back => Rgb565::BLACK,
            Ink::Text => Rgb565::WHITE,
            _ => Rgb565::CSS_GRAY,
        }
    }
}
