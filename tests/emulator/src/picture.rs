//! What the display shows.

use std::fmt;
use std::fs::File;
use std::io::{BufReader, BufWriter};
use std::path::{Path, PathBuf};

use crate::firmware::own_folder;

/// The pixels of a display, from the top left, row by row.
#[derive(Clone, PartialEq, Eq)]
pub struct Picture {
    /// Pixels in a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// 0 and 0xffff on a monochrome display; red in the five high bits, green in six, blue in five else.
    pub pixels: Vec<u16>,
}

impl Picture {
    pub(crate) fn new(width: usize, height: usize, colour: bool, bytes: &[u8]) -> Picture {
        let pixels = if colour {
            bytes.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]])).collect()
        } else {
            bytes.iter().map(|&lit| if lit == 0 { 0 } else { u16::MAX }).collect()
        };
        Picture { width, height, pixels }
    }

    /// A picture from a PNG file of red, green and blue, a byte each.
    ///
    /// # Panics
    /// If there is none.
    pub fn read(path: &Path) -> Picture {
        let refuse = |why: &dyn fmt::Display| -> ! { panic!("{} is no picture: {why}", path.display()) };
        let file = File::open(path).unwrap_or_else(|error| refuse(&error));
        let mut decoder = png::Decoder::new(BufReader::new(file));
        decoder.set_transformations(png::Transformations::EXPAND);
        let mut reader = decoder.read_info().unwrap_or_else(|error| refuse(&error));
        let mut bytes = vec![0; reader.output_buffer_size().unwrap_or(0)];
        let info = reader.next_frame(&mut bytes).unwrap_or_else(|error| refuse(&error));
        assert_eq!(info.color_type, png::ColorType::Rgb, "{}", path.display());
        let word =
            |rgb: &[u8]| u16::from(rgb[0] >> 3) << 11 | u16::from(rgb[1] >> 2) << 5 | u16::from(rgb[2] >> 3);
        let pixels = bytes[..info.buffer_size()].chunks_exact(3).map(word).collect();
        Picture { width: info.width as usize, height: info.height as usize, pixels }
    }

    /// The pixel in a column of a row.
    pub fn pixel(&self, x: usize, y: usize) -> u16 {
        self.pixels[y * self.width + x]
    }

    /// The rows, from the top.
    pub fn rows(&self) -> impl Iterator<Item = &[u16]> {
        self.pixels.chunks_exact(self.width)
    }

    /// Turned by quarters, clockwise.
    pub(crate) fn turned(self, quarters: u8) -> Picture {
        if quarters == 0 {
            return self;
        }
        let (width, height) = (self.height, self.width);
        let pixels =
            (0..width * height).map(|i| self.pixel(i / width, self.height - 1 - i % width)).collect();
        Picture { width, height, pixels }.turned(quarters - 1)
    }

    /// Whether nothing is lit.
    pub fn is_dark(&self) -> bool {
        self.pixels.iter().all(|&pixel| pixel == 0)
    }

    /// Saves the picture as PNG in cargo's target folder and says where.
    ///
    /// # Panics
    /// If it cannot be written.
    pub fn save(&self, name: &str) -> PathBuf {
        let path = own_folder().join(format!("{name}.png"));
        self.write(&path).unwrap_or_else(|error| panic!("cannot write {}: {error}", path.display()));
        path
    }

    fn write(&self, path: &Path) -> Result<(), png::EncodingError> {
        let file = BufWriter::new(File::create(path)?);
        let mut encoder = png::Encoder::new(file, self.width as u32, self.height as u32);
        encoder.set_color(png::ColorType::Rgb);
        let stretch = |value: u16, bits: u16| (u32::from(value) * 255 / ((1 << bits) - 1)) as u8;
        let bytes: Vec<u8> = self
            .pixels
            .iter()
            .flat_map(|pixel| [stretch(pixel >> 11, 5), stretch(pixel >> 5 & 63, 6), stretch(pixel & 31, 5)])
            .collect();
        encoder.write_header()?.write_image_data(&bytes)
    }
}

/// The picture as text: two rows of pixels a line, lit or not.
impl fmt::Display for Picture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for y in (0..self.height).step_by(2) {
            for x in 0..self.width {
                let lit = |y| y < self.height && self.pixel(x, y) != 0;
                f.write_str(match (lit(y), lit(y + 1)) {
                    (true, true) => "█",
                    (true, false) => "▀",
                    (false, true) => "▄",
                    (false, false) => " ",
                })?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

impl fmt::Debug for Picture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Picture of {}x{}", self.width, self.height)
    }
}
