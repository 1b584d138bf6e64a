//! Any text is a weights file or is refused at a line it has; a file that is read is written as one that reads the same.
#![no_main]

use host::weights::parse;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| match parse(text) {
    Ok(weights) => {
        let written = weights.to_string();
        assert_eq!(parse(&written).as_ref(), Ok(&weights), "written as:\n{written}");
    }
    Err(error) => {
        assert!(!error.message.is_empty());
        let lines = text.split('\n').count();
        assert!((1..=lines).contains(&error.line), "line {} of {lines}: {}", error.line, error.message);
    }
});
