//! Worked examples: blocks of code that say which file they belong to, to be applied to a copy of the sources.
//!
//! What stands behind the fence says what a block does:
//!
//! - `rust new=PATH`: the whole of a new file;
//! - `diff in=PATH`: changes of a file;
//! - `diff copy=PATH to=PATH`: changes of a copy of it.
//!
//! A diff has no numbers and needs no context. Its lines are taken in their order: one that begins with a space is looked
//! for, from where the one before was found; `+` adds a line there; `-` looks for a line too, and takes it out.

use std::fs;
use std::path::Path;

use crate::page::Block;

/// Does what a block says to the sources in a folder; says whether it was a worked example at all.
///
/// # Errors
/// If it does not fit the sources.
pub fn apply(block: &Block, tree: &Path) -> Result<bool, String> {
    let told = |error: String| format!("line {}: {error}", block.line);
    let words: Vec<&str> = block.info.split_whitespace().collect();
    let value = |key: &str| words.iter().find_map(|word| word.strip_prefix(key)?.strip_prefix('='));
    let read =
        |path: &str| fs::read_to_string(tree.join(path)).map_err(|error| told(format!("{path}: {error}")));
    let (path, text) = match (value("new"), value("in"), value("copy"), value("to")) {
        (Some(new), None, None, None) if tree.join(new).exists() => {
            return Err(told(format!("{new} exists already")));
        }
        (Some(new), None, None, None) => (new, block.text.clone()),
        (None, Some(path), None, None) => (path, changed(&read(path)?, &block.text).map_err(told)?),
        (None, None, Some(from), Some(to)) => (to, changed(&read(from)?, &block.text).map_err(told)?),
        (None, None, None, None) => return Ok(false),
        _ => return Err(told(format!("what is '{}'?", block.info))),
    };
    fs::write(tree.join(path), text).map_err(|error| told(format!("{path}: {error}")))?;
    Ok(true)
}

/// A text after a diff.
fn changed(text: &str, diff: &str) -> Result<String, String> {
    let mut rest = text.lines();
    let mut done: Vec<&str> = vec![];
    for line in diff.lines() {
        let (kind, wanted) = line.split_at_checked(1).unwrap_or((" ", ""));
        if kind == "+" {
            done.push(wanted);
            continue;
        }
        loop {
            let found =
                rest.next().ok_or_else(|| format!("the file has no line (after those before): {wanted}"))?;
            if found != wanted {
                done.push(found);
                continue;
            }
            match kind {
                "-" => {}
                " " => done.push(found),
                _ => return Err(format!("a line begins with a space, + or -: {line}")),
            }
            break;
        }
    }
    done.extend(rest);
    Ok(done.join("\n") + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_added_and_taken_out_in_order() {
        let text = "a\nb\nc\nb\nd\n";
        assert_eq!(changed(text, " c\n b\n+x\n-d\n+y\n").as_deref(), Ok("a\nb\nc\nb\nx\ny\n"));
        assert_eq!(changed(text, "").as_deref(), Ok(text));
        assert!(changed(text, " d\n a\n").is_err_and(|error| error.ends_with(": a")));
        assert!(changed(text, "a\n").is_err());
    }
}
