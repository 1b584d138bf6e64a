//! The fonts, smallest first: 3x5 letters of our own, then the public domain's fixed fonts of the X Window System, which
//! come with embedded-graphics.
//!
//! The crate u8g2-fonts has handsome ones too, but their licences differ from font to font, and its decoder comes on
//! top of the data. A fixed font needs no decoder; the five have 288, 420, 648, 1,620 and 2,400 bytes.

use embedded_graphics::geometry::Size;
use embedded_graphics::image::ImageRaw;
use embedded_graphics::mono_font::mapping::ASCII;
use embedded_graphics::mono_font::{DecorationDimensions, MonoFont};

pub(super) use embedded_graphics::mono_font::ascii::{
    FONT_5X7 as SMALL, FONT_6X9 as MEDIUM, FONT_9X15_BOLD as BOLD, FONT_10X20 as BIG,
};

/// What every font here has: the printable characters from this on, 16 in a row.
pub(super) const FIRST: u8 = b' ';
pub(super) const COLUMNS: i32 = 16;

const ROWS: usize = 6;
const WIDTH: usize = 4;
const HEIGHT: usize = 6;

/// 4x6 pixels with the gaps: where letters must be as small as they can be read.
pub(super) const TINY: MonoFont<'static> = MonoFont {
    image: ImageRaw::new(&TINY_BITS, (COLUMNS as usize * WIDTH) as u32),
    character_size: Size::new(WIDTH as u32, HEIGHT as u32),
    character_spacing: 0,
    baseline: 4,
    strikethrough: DecorationDimensions::default_strikethrough(HEIGHT as u32),
    underline: DecorationDimensions::default_underline(HEIGHT as u32),
    glyph_mapping: &ASCII,
};

/// The drawing as bits, row by row.
static TINY_BITS: [u8; ROWS * HEIGHT * COLUMNS as usize * WIDTH / 8] = {
    let art = include_bytes!("tiny.txt");
    let mut bits = [0; ROWS * HEIGHT * COLUMNS as usize * WIDTH / 8];
    let (mut i, mut pixel) = (0, 0);
    while i < art.len() {
        match art[i] {
            b'\n' => {}
            drawn => {
                if drawn == b'#' {
                    bits[pixel / 8] |= 0x80 >> (pixel % 8);
                }
                pixel += 1;
            }
        }
        i += 1;
    }
    assert!(pixel == 8 * bits.len(), "a drawing of every character");
    bits
};

#[cfg(test)]
mod tests {
    use embedded_graphics::geometry::{OriginDimensions, Point};
    use embedded_graphics::image::GetPixel;
    use embedded_graphics::pixelcolor::BinaryColor;

    use super::*;

    /// The pixels of a character.
    fn glyph(font: &MonoFont<'_>, byte: u8) -> std::vec::Vec<bool> {
        let (width, height) = (font.character_size.width as i32, font.character_size.height as i32);
        let index = i32::from(byte - FIRST);
        let corner = Point::new(index % COLUMNS * width, index / COLUMNS * height);
        let pixels = (0..height).flat_map(|y| (0..width).map(move |x| Point::new(x, y)));
        pixels.map(|at| font.image.pixel(corner + at) == Some(BinaryColor::On)).collect()
    }

    #[test]
    fn fonts_are_laid_out_alike() {
        for font in [&TINY, &SMALL, &MEDIUM, &BOLD, &BIG] {
            assert_eq!(font.image.size().width, COLUMNS as u32 * font.character_size.width);
            assert_eq!(font.image.size().height, ROWS as u32 * font.character_size.height);
            assert_eq!(
                (font.character_spacing, font.glyph_mapping.index('~')),
                (0, usize::from(b'~' - FIRST))
            );
        }
    }

    #[test]
    fn every_character_has_a_look_of_its_own() {
        for font in [&TINY, &SMALL, &MEDIUM, &BOLD, &BIG] {
            for a in b' '..=b'~' {
                for b in a + 1..=b'~' {
                    assert_ne!(glyph(font, a), glyph(font, b), "{} and {}", char::from(a), char::from(b));
                }
            }
        }
    }
}
