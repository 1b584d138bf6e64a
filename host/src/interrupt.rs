//! Ctrl-C and the system's wish that the program ends, for those who leave things in order first.

use std::sync::atomic::{AtomicBool, Ordering};

static INTERRUPTED: AtomicBool = AtomicBool::new(false);
static LISTENING: AtomicBool = AtomicBool::new(false);

/// From now on Ctrl-C does not end the program: it sets what this returns.
pub fn listen() -> &'static AtomicBool {
    LISTENING.store(true, Ordering::Relaxed);
    // A second handler in one process is refused; the first one serves.
    let _ = ctrlc::set_handler(raise);
    &INTERRUPTED
}

/// Does what Ctrl-C does.
pub fn raise() {
    INTERRUPTED.store(true, Ordering::Relaxed);
}

/// Whether someone leaves things in order when Ctrl-C is pressed.
pub fn is_listened_to() -> bool {
    LISTENING.load(Ordering::Relaxed)
}

/// Whether Ctrl-C was pressed.
pub fn is_raised() -> bool {
    INTERRUPTED.load(Ordering::Relaxed)
}
