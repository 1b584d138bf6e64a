//! Ctrl-C and the system's wish that the program ends, for those who leave things in order first.

use std::sync::atomic::{AtomicBool, Ordering};

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// From now on Ctrl-C does not end the program: it sets what this returns.
pub fn listen() -> &'static AtomicBool {
    // A second handler in one process is refused; the first one serves.
    let _ = ctrlc::set_handler(|| INTERRUPTED.store(true, Ordering::Relaxed));
    &INTERRUPTED
}
