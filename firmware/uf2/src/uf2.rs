//! UF2, the format of Microsoft's that boot loaders take by drag and drop: blocks of 512 bytes, each of which says by
//! itself where its part goes, because a file system may deliver them in any order.
//!
//! ```text
//!     0  "UF2\n"               16  bytes of data: 256
//!     4  0x9e5d5157            20  number of this block
//!     8  flags: has a family   24  number of blocks
//!    12  address of the data   28  family: RP2040
//!    32  the data, 476 bytes, of which 256 count
//!   508  0x0ab16f30
//! ```

use crate::image::{Image, PAGE};

/// Bytes of a block.
pub(crate) const BLOCK: usize = 512;

const START: [u32; 2] = [0x0a32_4655, 0x9e5d_5157];
const END: u32 = 0x0ab1_6f30;
const HAS_FAMILY: u32 = 0x2000;
/// The RP2040's, in the list of families that Microsoft keeps.
const FAMILY: u32 = 0xe48b_ff56;
const DATA: usize = 32;

/// Makes the file.
pub(crate) fn write(image: &Image) -> Vec<u8> {
    let pages = image.pages();
    let count = pages.len() as u32;
    let mut file = Vec::with_capacity(pages.len() * BLOCK);
    for (number, (address, page)) in (0..).zip(pages) {
        let header = [START[0], START[1], HAS_FAMILY, address, PAGE as u32, number, count, FAMILY];
        file.extend(header.map(u32::to_le_bytes).concat());
        file.extend_from_slice(page);
        file.resize(file.len() + BLOCK - DATA - PAGE - 4, 0);
        file.extend(END.to_le_bytes());
    }
    file
}

/// Reads a file as a boot loader does.
pub(crate) fn read(file: &[u8]) -> Result<Image, String> {
    if !file.len().is_multiple_of(BLOCK) {
        return Err(format!("{} bytes are no whole number of blocks", file.len()));
    }
    let mut image = Image::default();
    let count = file.len() / BLOCK;
    for (number, block) in file.chunks_exact(BLOCK).enumerate() {
        let word = |at: usize| u32::from_le_bytes([block[at], block[at + 1], block[at + 2], block[at + 3]]);
        let expected = [
            (0, START[0]),
            (4, START[1]),
            (8, HAS_FAMILY),
            (16, PAGE as u32),
            (20, number as u32),
            (24, count as u32),
            (28, FAMILY),
            (BLOCK - 4, END),
        ];
        for (at, value) in expected {
            if word(at) != value {
                return Err(format!("block {number}: {:#x} at {at}, not {value:#x}", word(at)));
            }
        }
        image.put(word(12), &block[DATA..DATA + PAGE])?;
    }
    Ok(image)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::image::FLASH_START;

    #[test]
    fn a_block_is_laid_out_as_the_format_says() {
        let mut image = Image::default();
        image.put(FLASH_START + 0x1fe, &[0xaa, 0xbb, 0xcc]).unwrap();
        let file = write(&image);
        assert_eq!(file.len(), 2 * BLOCK);
        let second = &file[BLOCK..];
        assert_eq!(&file[..4], b"UF2\n");
        assert_eq!(file[12..16], 0x1000_0100u32.to_le_bytes());
        assert_eq!(second[12..16], 0x1000_0200u32.to_le_bytes());
        assert_eq!(second[20..28], [1, 0, 0, 0, 2, 0, 0, 0]);
        assert_eq!(second[28..32], [0x56, 0xff, 0x8b, 0xe4]);
        assert_eq!((file[32 + 0xfe], file[32 + 0xff], second[32]), (0xaa, 0xbb, 0xcc));
        assert_eq!(second[508..], [0x30, 0x6f, 0xb1, 0x0a]);
    }

    #[test]
    fn a_damaged_file_is_noticed() {
        let mut image = Image::default();
        image.put(FLASH_START, &[1; 600]).unwrap();
        let file = write(&image);
        assert!(read(&file[1..]).is_err());
        assert!(read(&file[BLOCK..]).is_err());
        for at in [0, 4, 8, 16, 20, 24, 28, 511] {
            let mut damaged = file.clone();
            damaged[BLOCK + at] ^= 1;
            assert!(read(&damaged).is_err(), "byte {at}");
        }
    }

    proptest! {
        #[test]
        fn blocks_reproduce_the_program(
            parts in prop::collection::vec((0u32..5000, prop::collection::vec(any::<u8>(), 1..700)), 1..6),
        ) {
            let mut image = Image::default();
            for (offset, bytes) in &parts {
                image.put(FLASH_START + offset, bytes).unwrap();
            }
            prop_assert_eq!(read(&write(&image)).unwrap(), image);
        }
    }
}
