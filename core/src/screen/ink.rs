//! Colours, so that screens with two of them and with thousands share the drawing.

use embedded_graphics::pixelcolor::{BinaryColor, Rgb565};
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
    /// What is good.
    Good,
    /// What is wrong.
    Alarm,
    /// Lines around things.
    Frame,
    /// The well where it is empty.
    Well,
    /// The lines between the cells of the well.
    Grid,
    /// A full cell, and the piece it came from if that is known.
    Cell(Option<Piece>, Shade),
}

/// Light falls on a cell from above and from the left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shade {
    /// Edges towards the light.
    Light,
    /// The face.
    Plain,
    /// Edges away from the light, and where a piece will land.
    Dark,
}

/// A colour type that has every [`Ink`].
pub trait Palette: PixelColor {
    /// The colour of an ink.
    fn of(ink: Ink) -> Self;
}

impl Palette for BinaryColor {
    fn of(ink: Ink) -> BinaryColor {
        match ink {
            Ink::Back | Ink::Well | Ink::Grid => BinaryColor::Off,
            _ => BinaryColor::On,
        }
    }
}

impl Palette for Rgb565 {
    fn of(ink: Ink) -> Rgb565 {
        match ink {
            Ink::Back => rgb(0x0a0c18),
            Ink::Text => rgb(0xf4f6ff),
            Ink::Faint => rgb(0x8490b8),
            Ink::Accent => rgb(0xffc83c),
            Ink::Good => rgb(0x58dc78),
            Ink::Alarm => rgb(0xff5c5c),
            Ink::Frame => rgb(0x48548c),
            Ink::Well => rgb(0x141830),
            Ink::Grid => rgb(0x1c2240),
            Ink::Cell(piece, shade) => {
                let [light, plain, dark] = match piece {
                    Some(Piece::I) => [rgb(0xa8f4ff), rgb(0x30c8e8), rgb(0x107890)],
                    Some(Piece::O) => [rgb(0xfff0a0), rgb(0xf0c828), rgb(0x907008)],
                    Some(Piece::T) => [rgb(0xe0b8ff), rgb(0xa860e8), rgb(0x602c98)],
                    Some(Piece::Z) => [rgb(0xffb0b0), rgb(0xe84858), rgb(0x901c30)],
                    Some(Piece::S) => [rgb(0xb8ffb8), rgb(0x48c858), rgb(0x187828)],
                    Some(Piece::J) => [rgb(0xb0c8ff), rgb(0x4878f0), rgb(0x204098)],
                    Some(Piece::L) => [rgb(0xffd8a8), rgb(0xf08c30), rgb(0x985010)],
                    None => [rgb(0xd0d8f0), rgb(0x98a4c8), rgb(0x586488)],
                };
                match shade {
                    Shade::Light => light,
                    Shade::Plain => plain,
                    Shade::Dark => dark,
                }
            }
        }
    }
}

/// A colour written as on the web, with the bits that 16-bit screens have.
const fn rgb(web: u32) -> Rgb565 {
    Rgb565::new((web >> 19) as u8 & 0x1f, (web >> 10) as u8 & 0x3f, (web >> 3) as u8 & 0x1f)
}
