//! What a program occupies in flash.

use std::collections::BTreeMap;

use object::Endianness;
use object::elf;
use object::read::elf::{FileHeader, ProgramHeader};

/// Where flash begins and how much of it the boot loader can write (RP2040 data sheet, 2.2 and 2.6.3).
pub(crate) const FLASH_START: u32 = 0x1000_0000;
pub(crate) const FLASH_END: u32 = 0x1100_0000;

/// Flash is written in pages.
pub(crate) const PAGE: usize = 256;

/// The pages of flash that a program fills, by their addresses. What the program leaves open in a page is zero.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Image {
    pages: BTreeMap<u32, [u8; PAGE]>,
}

impl Image {
    /// Takes what is loaded from an ELF file.
    pub(crate) fn from_elf(data: &[u8]) -> Result<Image, String> {
        let say = |error: object::Error| format!("not an ELF file for a 32-bit processor: {error}");
        let header = elf::FileHeader32::<Endianness>::parse(data).map_err(say)?;
        let endian = header.endian().map_err(say)?;
        let mut image = Image::default();
        for segment in header.program_headers(endian, data).map_err(say)? {
            if segment.p_type(endian) != elf::PT_LOAD || segment.p_filesz(endian) == 0 {
                continue;
            }
            let bytes = segment.data(endian, data).map_err(|()| "a segment reaches beyond the file")?;
            image.put(segment.p_paddr(endian), bytes)?;
        }
        if image.pages.is_empty() { Err("nothing in it is loaded".to_owned()) } else { Ok(image) }
    }

    /// Puts bytes at an address.
    pub(crate) fn put(&mut self, address: u32, bytes: &[u8]) -> Result<(), String> {
        let end = u64::from(address) + bytes.len() as u64;
        if address < FLASH_START || end > u64::from(FLASH_END) {
            return Err(format!("{address:#010x} to {end:#010x} is not in flash; link it with memory.x"));
        }
        for (address, &byte) in (address..).zip(bytes) {
            let within = address as usize % PAGE;
            let page = self.pages.entry(address - within as u32).or_insert([0; PAGE]);
            page[within] = byte;
        }
        Ok(())
    }

    /// The pages and their addresses, from the lowest.
    pub(crate) fn pages(&self) -> impl ExactSizeIterator<Item = (u32, &[u8; PAGE])> {
        self.pages.iter().map(|(&address, page)| (address, page))
    }

    /// Bytes in all pages.
    pub(crate) fn len(&self) -> usize {
        self.pages.len() * PAGE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An ELF file for ARM with these segments: (virtual address, physical address, bytes, size in memory).
    pub(crate) fn elf(segments: &[(u32, u32, &[u8], u32)]) -> Vec<u8> {
        let half = |value: u16| value.to_le_bytes();
        let mut file = b"\x7fELF\x01\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
        file.extend([half(2), half(40)].concat()); // executable, ARM
        file.extend([1u32, 0x1000_0100, 52, 0, 0].map(u32::to_le_bytes).concat()); // version, entry, headers' offsets
        file.extend([52u16, 32, segments.len() as u16, 40, 0, 0].map(u16::to_le_bytes).concat());
        let mut offset = 52 + 32 * segments.len() as u32;
        for &(virtual_address, physical, bytes, size) in segments {
            let header = [1, offset, virtual_address, physical, bytes.len() as u32, size, 5, 4];
            file.extend(header.map(u32::to_le_bytes).concat());
            offset += bytes.len() as u32;
        }
        for (_, _, bytes, _) in segments {
            file.extend_from_slice(bytes);
        }
        file
    }

    #[test]
    fn segments_land_where_they_are_loaded_from() {
        let boot = [7; 256];
        let file = elf(&[
            (0x1000_0000, 0x1000_0000, &boot, 256),
            (0x1000_0100, 0x1000_0100, &[1, 2, 3], 3),
            // Variables: they live in RAM, and are copied there from flash.
            (0x2000_4000, 0x1000_0103, &[4, 5], 2),
            // Variables without a first value take no flash.
            (0x2000_4002, 0x2000_4002, &[], 64),
        ]);
        let image = Image::from_elf(&file).unwrap();
        let pages: Vec<_> = image.pages().collect();
        assert_eq!(pages[0], (0x1000_0000, &boot));
        assert_eq!(pages[1].0, 0x1000_0100);
        assert_eq!(pages[1].1[..6], [1, 2, 3, 4, 5, 0]);
        assert_eq!(pages.len(), 2);
    }

    #[test]
    fn what_is_no_program_is_refused() {
        let cases: [(Vec<u8>, &str); 5] = [
            (Vec::new(), "not an ELF file"),
            (b"UF2\n".to_vec(), "not an ELF file"),
            (elf(&[]), "nothing in it is loaded"),
            (elf(&[(0x2000_0000, 0x2000_0000, &[1], 1)]), "is not in flash"),
            (elf(&[(0x10ff_ffff, 0x10ff_ffff, &[1, 2], 2)]), "is not in flash"),
        ];
        for (file, message) in cases {
            let error = Image::from_elf(&file).unwrap_err();
            assert!(error.contains(message), "{error}");
        }
        let mut cut = elf(&[(0x1000_0000, 0x1000_0000, &[1; 100], 100)]);
        cut.truncate(120);
        assert!(Image::from_elf(&cut).unwrap_err().contains("beyond the file"));
    }
}
