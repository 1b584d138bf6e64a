//! Any text is a well or is refused; a well is drawn and read back as itself.
#![no_main]

use dropwise_core::Well;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    match Well::from_art(text) {
        Ok(well) => assert_eq!(Well::from_art(&well.to_string()), Ok(well)),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
