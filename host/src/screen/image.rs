//! Pixels as a PNG, and several in a row as an animated one.

use std::path::Path;
use std::time::Duration;

use crate::output::Failure;
use crate::weights::write_aside;

/// Rows of red, green and blue.
pub(super) type Rows = Vec<Vec<[u8; 3]>>;

/// Several pixels for each.
pub(super) fn enlarged(rows: &Rows, scale: usize) -> Rows {
    let wide = |row: &Vec<[u8; 3]>| row.iter().flat_map(|&pixel| std::iter::repeat_n(pixel, scale)).collect();
    rows.iter().flat_map(|row| std::iter::repeat_n(wide(row), scale)).collect()
}

/// Writes a PNG, which moves if it has more than one frame, and tells its bytes.
pub(super) fn save(path: &Path, frames: &[Rows], each: Duration) -> Result<usize, Failure> {
    let bytes =
        png(frames, each).map_err(|error| Failure::input(format_args!("cannot make a PNG: {error}")))?;
    write_aside(path, &bytes).map_err(|error| {
        Failure::input(format_args!("cannot write {}: {error}; check the path", path.display()))
    })?;
    Ok(bytes.len())
}

/// A PNG with a palette: screens have few colours. Of each frame but the first only what has changed is kept.
fn png(frames: &[Rows], each: Duration) -> Result<Vec<u8>, png::EncodingError> {
    let mut palette: Vec<[u8; 3]> = vec![];
    let mut index = |pixel: &[u8; 3]| {
        let index = palette.iter().position(|colour| colour == pixel).unwrap_or_else(|| {
            palette.push(*pixel);
            palette.len() - 1
        });
        u8::try_from(index).expect("a screen has fewer than 256 colours")
    };
    let mut parts = vec![];
    for (i, frame) in frames.iter().enumerate() {
        let part = match i.checked_sub(1).map(|before| Part::changed(&frames[before], frame)) {
            Some(part) => part,
            None => Part::all(frame),
        };
        let rows = &frame[part.y..part.y + part.height];
        let pixels = rows.iter().flat_map(|row| &row[part.x..part.x + part.width]);
        parts.push((part, pixels.map(&mut index).collect::<Vec<u8>>()));
    }
    let mut bytes = vec![];
    let whole = frames.first().map_or(Part::default(), Part::all);
    let mut encoder = png::Encoder::new(&mut bytes, whole.width as u32, whole.height as u32);
    encoder.set_color(png::ColorType::Indexed);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_palette(palette.concat());
    encoder.set_compression(png::Compression::High);
    if frames.len() > 1 {
        encoder.set_animated(frames.len() as u32, 0)?;
        encoder.set_frame_delay(each.as_millis() as u16, 1000)?;
    }
    let mut writer = encoder.write_header()?;
    for (i, (part, pixels)) in parts.iter().enumerate() {
        if i > 0 {
            writer.reset_frame_position()?;
            writer.set_frame_dimension(part.width as u32, part.height as u32)?;
            writer.set_frame_position(part.x as u32, part.y as u32)?;
        }
        writer.write_image_data(pixels)?;
    }
    writer.finish()?;
    Ok(bytes)
}

/// A part of a picture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Part {
    x: usize,
    y: usize,
    width: usize,
    height: usize,
}

impl Part {
    fn all(rows: &Rows) -> Part {
        Part { x: 0, y: 0, width: rows.first().map_or(0, Vec::len), height: rows.len() }
    }

    /// The smallest part that holds every pixel that differs; a single pixel if none does.
    fn changed(before: &Rows, after: &Rows) -> Part {
        let (mut left, mut right, mut top, mut bottom) = (usize::MAX, 0, usize::MAX, 0);
        for (y, (old, new)) in before.iter().zip(after).enumerate() {
            for x in (0..new.len()).filter(|&x| old[x] != new[x]) {
                (left, right) = (left.min(x), right.max(x));
                (top, bottom) = (top.min(y), bottom.max(y));
            }
        }
        if left > right {
            return Part { x: 0, y: 0, width: 1, height: 1 };
        }
        Part { x: left, y: top, width: right - left + 1, height: bottom - top + 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_changed_is_found() {
        let before = vec![vec![[0; 3]; 5]; 4];
        let mut after = before.clone();
        assert_eq!(Part::changed(&before, &after), Part { x: 0, y: 0, width: 1, height: 1 });
        after[1][2] = [1; 3];
        after[3][1] = [2; 3];
        assert_eq!(Part::changed(&before, &after), Part { x: 1, y: 1, width: 2, height: 3 });
    }
}
