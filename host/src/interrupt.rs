//! Ctrl-C and the system's wish that the program ends, for those who leave things in order first.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::output;

static INTERRUPTED: AtomicBool = AtomicBool::new(false);
static LISTENING: AtomicBool = AtomicBool::new(false);
static LAST_WORDS: Mutex<String> = Mutex::new(String::new());

/// From now on Ctrl-C does not end the program: it sets what this returns.
pub fn listen() -> &'static AtomicBool {
    LISTENING.store(true, Ordering::Relaxed);
    // A second handler in one process is refused; the first one serves.
    let _ = ctrlc::set_handler(|| {
        raise();
        say_last_words();
    });
    &INTERRUPTED
}

/// What is to be said at once when Ctrl-C is pressed, for those who may have no time left to say it in order.
pub fn prepare(last_words: String) {
    *LAST_WORDS.lock().unwrap_or_else(PoisonError::into_inner) = last_words;
}

/// Says what was prepared, once.
pub fn say_last_words() {
    let words = std::mem::take(&mut *LAST_WORDS.lock().unwrap_or_else(PoisonError::into_inner));
    if !words.is_empty() {
        output::say(words);
    }
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
