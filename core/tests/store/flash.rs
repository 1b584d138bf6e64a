//! A NOR flash that can be worn out, misread and cut off at any moment.
//!
//! It counts every operation, only clears bits when it programs, and is strict with the store: a program
//! stays within a page and only meets erased bytes.

use embedded_storage::nor_flash::{
    self, ErrorType, NorFlash, NorFlashError, NorFlashErrorKind, ReadNorFlash,
};

const PAGE: usize = 256;

/// Sectors of SECTOR bytes, read and programmed by multiples of WORD.
#[derive(Clone, Debug)]
pub(crate) struct Flash<const SECTOR: usize, const WORD: usize = 1> {
    pub(crate) bytes: Vec<u8>,
    pub(crate) counts: Counts,
    /// These sectors cannot be read; a bit each.
    pub(crate) unreadable: u32,
    /// These sectors do not clear the lowest bit of a byte any more; a bit each.
    pub(crate) worn: u32,
    /// After so many reads, one fails.
    pub(crate) failing_read: Option<u64>,
    /// After so many steps, the power goes. A programmed byte is a step, and so is an erase.
    pub(crate) cut: Option<(u64, Tear)>,
    /// Bytes may be programmed more than once, and across pages.
    pub(crate) lenient: bool,
    is_off: bool,
}

/// What was done to a flash.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) reads: u64,
    pub(crate) bytes_read: u64,
    pub(crate) programs: u64,
    pub(crate) bytes_programmed: u64,
    pub(crate) erases: u64,
}

impl Counts {
    /// Every moment at which the power can go.
    pub(crate) fn steps(&self) -> u64 {
        self.bytes_programmed + self.erases
    }
}

/// What the operation leaves during which the power goes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tear {
    pub(crate) program: ProgramTear,
    pub(crate) erase: EraseTear,
}

/// What is left of a program.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ProgramTear {
    /// The bytes before, and of the byte itself all but these bits that should have been cleared.
    InOrder { spared: u8 },
    /// Any bits of all the operation's bytes.
    Scattered { seed: u64 },
}

/// What is left of an erase.
#[derive(Clone, Copy, Debug)]
pub(crate) enum EraseTear {
    /// So many bytes at the beginning are erased.
    Prefix(usize),
    /// All but so many bytes at the beginning are erased.
    Suffix(usize),
    /// Some of the bits are erased.
    Raised { seed: u64 },
    /// Any bits at all.
    Arbitrary { seed: u64 },
}

/// What the flash says when it does not do its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The power is off.
    Off,
    /// Cannot be read.
    Unreadable,
    /// Used against its rules.
    Misuse(NorFlashErrorKind),
}

impl NorFlashError for Failure {
    fn kind(&self) -> NorFlashErrorKind {
        match self {
            Failure::Misuse(kind) => *kind,
            _ => NorFlashErrorKind::Other,
        }
    }
}

impl From<NorFlashErrorKind> for Failure {
    fn from(kind: NorFlashErrorKind) -> Self {
        Failure::Misuse(kind)
    }
}

impl<const SECTOR: usize, const WORD: usize> Flash<SECTOR, WORD> {
    /// So many erased sectors.
    pub(crate) fn new(sectors: usize) -> Self {
        Flash::of(vec![0xff; sectors * SECTOR])
    }

    /// A flash that holds these bytes.
    pub(crate) fn of(bytes: Vec<u8>) -> Self {
        Flash {
            bytes,
            counts: Counts::default(),
            unreadable: 0,
            worn: 0,
            failing_read: None,
            cut: None,
            lenient: false,
            is_off: false,
        }
    }

    /// The whole of it.
    pub(crate) fn range(&self) -> std::ops::Range<u32> {
        0..self.bytes.len() as u32
    }

    pub(crate) fn sector(&self, index: usize) -> &[u8] {
        &self.bytes[index * SECTOR..][..SECTOR]
    }

    pub(crate) fn is_off(&self) -> bool {
        self.is_off
    }

    /// Power comes back; nothing goes wrong any more but what is worn out or unreadable.
    pub(crate) fn restart(&mut self) {
        (self.is_off, self.cut, self.failing_read) = (false, None, None);
    }

    /// How many of the next steps are done before the power goes, if it goes.
    fn cut_within(&mut self, steps: usize) -> Option<(usize, Tear)> {
        let (left, tear) = self.cut?;
        if left < steps as u64 {
            self.is_off = true;
            return Some((left as usize, tear));
        }
        self.cut = Some((left - steps as u64, tear));
        None
    }
}

impl<const SECTOR: usize, const WORD: usize> ErrorType for Flash<SECTOR, WORD> {
    type Error = Failure;
}

impl<const SECTOR: usize, const WORD: usize> ReadNorFlash for Flash<SECTOR, WORD> {
    const READ_SIZE: usize = WORD;

    fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), Failure> {
        if self.is_off {
            return Err(Failure::Off);
        }
        nor_flash::check_read(self, offset, bytes.len())?;
        self.counts.reads += 1;
        self.counts.bytes_read += bytes.len() as u64;
        match self.failing_read {
            Some(0) => {
                self.failing_read = None;
                return Err(Failure::Unreadable);
            }
            Some(reads) => self.failing_read = Some(reads - 1),
            None => {}
        }
        let offset = offset as usize;
        if self.unreadable >> (offset / SECTOR) & 1 == 1 {
            return Err(Failure::Unreadable);
        }
        bytes.copy_from_slice(&self.bytes[offset..][..bytes.len()]);
        Ok(())
    }

    fn capacity(&self) -> usize {
        self.bytes.len()
    }
}

impl<const SECTOR: usize, const WORD: usize> NorFlash for Flash<SECTOR, WORD> {
    const WRITE_SIZE: usize = WORD;
    const ERASE_SIZE: usize = SECTOR;

    fn erase(&mut self, from: u32, to: u32) -> Result<(), Failure> {
        if self.is_off {
            return Err(Failure::Off);
        }
        nor_flash::check_erase(self, from, to)?;
        for start in (from as usize..to as usize).step_by(SECTOR) {
            self.counts.erases += 1;
            let cut = self.cut_within(1);
            let sector = &mut self.bytes[start..][..SECTOR];
            match cut {
                Some((_, tear)) => {
                    tear.erase.apply(sector);
                    return Err(Failure::Off);
                }
                None => sector.fill(0xff),
            }
        }
        Ok(())
    }

    fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), Failure> {
        if self.is_off {
            return Err(Failure::Off);
        }
        nor_flash::check_write(self, offset, bytes.len())?;
        self.counts.programs += 1;
        self.counts.bytes_programmed += bytes.len() as u64;
        let start = offset as usize;
        let stuck = (self.worn >> (start / SECTOR) & 1) as u8;
        let cut = self.cut_within(bytes.len());
        let cells = &mut self.bytes[start..][..bytes.len()];
        if !self.lenient {
            assert!(start % PAGE + bytes.len() <= PAGE, "a program across pages");
            assert!(cells.iter().all(|&cell| cell == 0xff), "a program over one that was not erased");
        }
        let in_order = match cut {
            None => bytes.len(),
            Some((done, Tear { program: ProgramTear::InOrder { spared }, .. })) => {
                cells[done] &= bytes[done] | spared;
                done
            }
            Some((_, Tear { program: ProgramTear::Scattered { seed }, .. })) => {
                let mut noise = Noise(seed);
                for (cell, &byte) in cells.iter_mut().zip(bytes) {
                    *cell &= byte | noise.next() as u8;
                }
                0
            }
        };
        for (cell, &byte) in cells[..in_order].iter_mut().zip(bytes) {
            *cell &= byte | stuck;
        }
        if cut.is_some() { Err(Failure::Off) } else { Ok(()) }
    }
}

impl EraseTear {
    fn apply(self, sector: &mut [u8]) {
        match self {
            EraseTear::Prefix(length) => sector[..length].fill(0xff),
            EraseTear::Suffix(start) => sector[start..].fill(0xff),
            EraseTear::Raised { seed } => {
                let mut noise = Noise(seed);
                sector.iter_mut().for_each(|byte| *byte |= noise.next() as u8);
            }
            EraseTear::Arbitrary { seed } => {
                let mut noise = Noise(seed);
                sector.iter_mut().for_each(|byte| *byte = noise.next() as u8);
            }
        }
    }
}

/// A few thousand numbers that look random, from one (Vigna's SplitMix64).
#[derive(Clone, Debug)]
pub(crate) struct Noise(pub(crate) u64);

impl Noise {
    #[allow(clippy::should_implement_trait)]
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }
}
