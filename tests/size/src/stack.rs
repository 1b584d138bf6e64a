//! The deepest stack a linked program for a Cortex-M0+ can reach, read from its code.
//!
//! A function's frame is what its code pushes and takes off the stack pointer; frames are added up along the deepest
//! path of direct calls. It is an upper bound as long as no function calls itself, which is checked, and nothing is
//! called through a pointer, which is checked too. An exception would need 32 bytes more, and its handler's own.

use std::collections::BTreeMap;
use std::error::Error;

use object::read::elf::ElfFile32;
use object::{Endianness, Object, ObjectSection, ObjectSymbol, SymbolKind};

struct Function {
    name: String,
    frame: u64,
    calls: Vec<u64>,
}

/// The bytes of stack that the function of this name and all it calls need at most.
pub(crate) fn deepest(file: &ElfFile32<'_, Endianness>, entry: &str) -> Result<u64, Box<dyn Error>> {
    let functions = functions(file)?;
    let start = functions.iter().find(|(_, function)| function.name == entry);
    let (&start, _) = start.ok_or_else(|| format!("no function {entry}"))?;
    depth(&functions, start, &mut Vec::new(), &mut BTreeMap::new())
}

fn depth(
    functions: &BTreeMap<u64, Function>,
    address: u64,
    path: &mut Vec<u64>,
    known: &mut BTreeMap<u64, u64>,
) -> Result<u64, Box<dyn Error>> {
    if let Some(&depth) = known.get(&address) {
        return Ok(depth);
    }
    let function =
        functions.get(&address).ok_or_else(|| format!("a call to {address:#x}, which is no function"))?;
    if path.contains(&address) {
        return Err(format!("{} calls itself: there is no bound", function.name).into());
    }
    path.push(address);
    let mut below = 0;
    for &call in &function.calls {
        below = below.max(depth(functions, call, path, known)?);
    }
    path.pop();
    known.insert(address, function.frame + below);
    Ok(function.frame + below)
}

fn functions(file: &ElfFile32<'_, Endianness>) -> Result<BTreeMap<u64, Function>, Box<dyn Error>> {
    let text = file.section_by_name(".text").ok_or("no code")?;
    let (code, base) = (text.data()?, text.address());
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
    for symbol in file.symbols().filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.size() > 0) {
        let start = symbol.address() & !1;
        if start < base || start + symbol.size() > base + code.len() as u64 {
            continue;
        }
        let name = symbol.name()?.to_owned();
        let function = read(code, base, start, start + symbol.size(), &is_code)
            .map_err(|error| format!("{name}: {error}"))?;
        let calls = function.1;
        functions.insert(start, Function { name, frame: function.0, calls });
    }
    Ok(functions)
}

/// The frame of the function between two addresses, and what it calls. Encodings: ARMv6-M manual, A6.7.
fn read(
    code: &[u8],
    base: u64,
    start: u64,
    end: u64,
    is_code: &dyn Fn(u64) -> bool,
) -> Result<(u64, Vec<u64>), String> {
    let half = |address: u64| {
        let at = (address - base) as usize;
        u16::from_le_bytes([code[at], code[at + 1]])
    };
    let word = |address: u64| u32::from(half(address)) | u32::from(half(address + 2)) << 16;
    let (mut frame, mut calls) = (0, Vec::new());
    let mut constants = [0u32; 16];
    let mut address = start;
    while address < end {
        if !is_code(address) {
            address += 2;
            continue;
        }
        let op = half(address);
        let mut size = 2;
        if op & 0xfe00 == 0xb400 {
            // push {...}
            frame += 4 * u64::from((op & 0x1ff).count_ones());
        } else if op & 0xff80 == 0xb080 {
            // sub sp, #n
            frame += 4 * u64::from(op & 0x7f);
        } else if op & 0xf800 == 0x4800 {
            // ldr r, [pc, #n]: perhaps the size of a frame too large for the instruction above
            let literal = ((address + 4) & !3) + 4 * u64::from(op & 0xff);
            constants[usize::from(op >> 8 & 7)] = word(literal);
        } else if op & 0xff87 == 0x4485 {
            // add sp, r
            let taken = constants[usize::from(op >> 3 & 15)] as i32;
            frame += u64::from(taken.min(0).unsigned_abs());
        } else if op & 0xff87 == 0x4780 {
            // blx r
            return Err(format!("calls through a pointer at {address:#x}: there is no bound"));
        } else if op & 0xf800 == 0xe000 {
            // b: a call too if it leaves the function, the last it makes
            let offset = i64::from(op << 5) << 48 >> 52;
            let target = (address as i64 + 4 + offset) as u64;
            if !(start..end).contains(&target) {
                calls.push(target);
            }
        } else if op & 0xf800 == 0xf000 && half(address + 2) & 0xd000 == 0xd000 {
            // bl: a call, or a jump in a function too long for the branch above
            let low = half(address + 2);
            let sign = i64::from(op >> 10 & 1);
            let i1 = 1 ^ i64::from(low >> 13 & 1) ^ sign;
            let i2 = 1 ^ i64::from(low >> 11 & 1) ^ sign;
            let high = -(sign << 24) | i1 << 23 | i2 << 22;
            let offset = high | i64::from(op & 0x3ff) << 12 | i64::from(low & 0x7ff) << 1;
            let target = (address as i64 + 4 + offset) as u64;
            if !(start + 1..end).contains(&target) {
                calls.push(target);
            }
            size = 4;
        }
        address += size;
    }
    Ok((frame, calls))
}
