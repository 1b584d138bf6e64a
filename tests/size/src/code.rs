//! The functions of a linked program for a Cortex-M0+, read from its code: how much stack each takes and what it
//! calls. Encodings: ARMv6-M manual, A6.7.

use std::collections::BTreeMap;
use std::error::Error;

use object::read::elf::ElfFile32;
use object::{Endianness, Object, ObjectSection, ObjectSymbol, SectionKind, SymbolKind};

/// A function.
pub(crate) struct Function {
    /// Its name, as the compiler mangled it.
    pub(crate) name: String,
    /// Bytes of stack that it takes itself: what its code pushes and takes off the stack pointer.
    pub(crate) frame: u64,
    /// Where the functions begin that it calls by name.
    pub(crate) calls: Vec<u64>,
    /// The first place where it calls through a pointer.
    pub(crate) indirect: Option<u64>,
}

/// Every function of a program, by the address it begins at.
pub(crate) fn functions(file: &ElfFile32<'_, Endianness>) -> Result<BTreeMap<u64, Function>, Box<dyn Error>> {
    // `$t` marks where instructions start, `$d` where constants between them do.
    let marks: BTreeMap<u64, bool> = file
        .symbols()
        .filter_map(|symbol| match symbol.name() {
            Ok(name) if name == "$t" || name.starts_with("$t.") => Some((symbol.address(), true)),
            Ok(name) if name == "$d" || name.starts_with("$d.") => Some((symbol.address(), false)),
            _ => None,
        })
        .collect();
    let is_code = |address: u64| marks.range(..=address).next_back().is_none_or(|(_, &code)| code);
    let mut functions = BTreeMap::new();
    for section in file.sections().filter(|section| section.kind() == SectionKind::Text) {
        let code = Code { bytes: section.data()?, base: section.address() };
        let end = code.base + code.bytes.len() as u64;
        for symbol in file.symbols().filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.size() > 0) {
            let start = symbol.address() & !1;
            if start < code.base || start + symbol.size() > end || !is_code(start) {
                continue;
            }
            functions.insert(start, code.function(symbol.name()?, start, start + symbol.size(), &is_code));
        }
    }
    if functions.is_empty() {
        return Err("no code".into());
    }
    Ok(functions)
}

/// A section of code.
struct Code<'a> {
    bytes: &'a [u8],
    base: u64,
}

impl Code<'_> {
    fn half(&self, address: u64) -> u16 {
        let at = (address - self.base) as usize;
        self.bytes.get(at..at + 2).map_or(0, |half| u16::from_le_bytes([half[0], half[1]]))
    }

    fn word(&self, address: u64) -> u32 {
        u32::from(self.half(address)) | u32::from(self.half(address + 2)) << 16
    }

    /// The function between two addresses.
    fn function(&self, name: &str, start: u64, end: u64, is_code: &dyn Fn(u64) -> bool) -> Function {
        let mut function = Function { name: name.to_owned(), frame: 0, calls: Vec::new(), indirect: None };
        if name.starts_with("__Thumbv6M") {
            // The linker's way to a function that is too far off: push {r0, r1}; ldr r0, [pc, #4]; str r0, [sp, #4];
            // pop {r0, pc}; and the address.
            function.frame = 8;
            function.calls.push(u64::from(self.word(start + 8)) & !1);
            return function;
        }
        let mut constants = [0u32; 16];
        let mut address = start;
        while address < end {
            if !is_code(address) {
                address += 2;
                continue;
            }
            let op = self.half(address);
            let mut size = 2;
            if op & 0xfe00 == 0xb400 {
                // push {...}
                function.frame += 4 * u64::from((op & 0x1ff).count_ones());
            } else if op & 0xff80 == 0xb080 {
                // sub sp, #n
                function.frame += 4 * u64::from(op & 0x7f);
            } else if op & 0xf800 == 0x4800 {
                // ldr r, [pc, #n]: perhaps the size of a frame too large for the instruction above
                let literal = ((address + 4) & !3) + 4 * u64::from(op & 0xff);
                constants[usize::from(op >> 8 & 7)] = self.word(literal);
            } else if op & 0xff87 == 0x4485 {
                // add sp, r
                let taken = constants[usize::from(op >> 3 & 15)] as i32;
                function.frame += u64::from(taken.min(0).unsigned_abs());
            } else if op & 0xff87 == 0x4780 {
                // blx r
                function.indirect.get_or_insert(address);
            } else if op & 0xf800 == 0xe000 {
                // b: a call too if it leaves the function, the last it makes
                let offset = i64::from(op << 5) << 48 >> 52;
                let target = (address as i64 + 4 + offset) as u64;
                if !(start..end).contains(&target) {
                    function.calls.push(target);
                }
            } else if op & 0xf800 == 0xf000 && self.half(address + 2) & 0xd000 == 0xd000 {
                // bl: a call, or a jump in a function too long for the branch above
                let low = self.half(address + 2);
                let sign = i64::from(op >> 10 & 1);
                let i1 = 1 ^ i64::from(low >> 13 & 1) ^ sign;
                let i2 = 1 ^ i64::from(low >> 11 & 1) ^ sign;
                let high = -(sign << 24) | i1 << 23 | i2 << 22;
                let offset = high | i64::from(op & 0x3ff) << 12 | i64::from(low & 0x7ff) << 1;
                let target = (address as i64 + 4 + offset) as u64;
                if !(start + 1..end).contains(&target) {
                    function.calls.push(target);
                }
                size = 4;
            }
            address += size;
        }
        function
    }
}
