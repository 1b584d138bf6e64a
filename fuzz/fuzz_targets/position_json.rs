//! Any text is a position or is refused; a position that is read is written as one that reads the same.
#![no_main]

use host::inspect::parse_position;
use libfuzzer_sys::fuzz_target;
use serde_json::json;

fuzz_target!(|text: &str| match parse_position(text) {
    Ok(position) => {
        let drawn = position.well.to_string();
        let written = json!({
            "rows": drawn.lines().collect::<Vec<_>>(),
            "piece": position.piece.to_string(),
            "next": position.next.iter().map(|piece| piece.letter()).collect::<String>(),
        });
        assert_eq!(parse_position(&written.to_string()), Ok(position));
    }
    Err(message) => assert!(!message.is_empty()),
});
