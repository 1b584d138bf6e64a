//! The deepest stack a linked program can reach.
//!
//! Frames are added up along the deepest path of direct calls. It is an upper bound as long as no function calls
//! itself, which is checked, and nothing is called through a pointer, which is checked too. An exception would need 32
//! bytes more, and its handler's own.

use std::collections::BTreeMap;
use std::error::Error;

use object::Endianness;
use object::read::elf::ElfFile32;

use crate::code::{self, Function};

/// The bytes of stack that the function of this name and all it calls need at most.
pub(crate) fn deepest(file: &ElfFile32<'_, Endianness>, entry: &str) -> Result<u64, Box<dyn Error>> {
    let functions = code::functions(file)?;
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
    if let Some(at) = function.indirect {
        let name = &function.name;
        return Err(format!("{name} calls through a pointer at {at:#x}: there is no bound").into());
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
