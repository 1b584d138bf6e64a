//! Ctrl-C and the system's wish that the program ends, for those who leave things in order first.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::output;

static INTERRUPTED: AtomicBool = AtomicBool::new(false);
static ADVICE: Mutex<String> = Mutex::new(String::new());

/// From now on Ctrl-C does not end the program: it sets what this returns.
pub fn listen() -> &'static AtomicBool {
    // A second handler in one process is refused; the first one serves.
    let _ = ctrlc::set_handler(|| {
        raise();
        if let Some(advice) = take_advice() {
            output::say(format_args!(
                "told to end, by Ctrl-C or because a rank died (mpirun says which); {advice}"
            ));
        }
    });
    &INTERRUPTED
}

/// How to go on after an end that comes at once: what Ctrl-C says without delay, for those who may have no time left to
/// say it in order.
pub fn prepare(advice: String) {
    *ADVICE.lock().unwrap_or_else(PoisonError::into_inner) = advice;
}

/// What was prepared; once, so that it is not said twice.
pub fn take_advice() -> Option<String> {
    let advice = std::mem::take(&mut *ADVICE.lock().unwrap_or_else(PoisonError::into_inner));
    (!advice.is_empty()).then_some(advice)
}

/// Does what Ctrl-C does.
fn raise() {
    INTERRUPTED.store(true, Ordering::Relaxed);
}

/// Whether Ctrl-C was pressed.
pub fn is_raised() -> bool {
    INTERRUPTED.load(Ordering::Relaxed)
}
