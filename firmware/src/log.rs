//! What happens, in short lines: to a probe at once, by defmt; and the last ones are kept for a laptop that asks.

use core::cell::RefCell;
use core::fmt::{self, Write};

use embassy_sync::blocking_mutex::Mutex;
use embassy_sync::blocking_mutex::raw::CriticalSectionRawMutex;
use embassy_time::Instant;
use heapless::{Deque, String};

/// How many lines are kept.
const KEPT: usize = 16;
/// The longest line. What does not fit is left out.
const LONGEST: usize = 120;

/// A line of the log.
#[derive(Clone)]
pub(crate) struct Line {
    /// Counted from 0 since the start.
    pub(crate) number: u32,
    /// Milliseconds since the start.
    pub(crate) uptime: u64,
    /// What is said.
    pub(crate) text: String<LONGEST>,
}

static LINES: Mutex<CriticalSectionRawMutex, RefCell<Lines>> =
    Mutex::new(RefCell::new(Lines { kept: Deque::new(), said: 0 }));

struct Lines {
    kept: Deque<Line, KEPT>,
    said: u32,
}

/// Says something that is as it should be.
macro_rules! say {
    ($($text:tt)*) => {{
        let line = $crate::log::keep(format_args!($($text)*));
        defmt::info!("{=str}", line.text.as_str());
    }};
}
pub(crate) use say;

/// Says something that is not as it should be.
macro_rules! complain {
    ($($text:tt)*) => {{
        let line = $crate::log::keep(format_args!($($text)*));
        defmt::warn!("{=str}", line.text.as_str());
    }};
}
pub(crate) use complain;

/// Keeps a line for a laptop.
pub(crate) fn keep(text: fmt::Arguments<'_>) -> Line {
    let mut line = Line { number: 0, uptime: Instant::now().as_millis(), text: String::new() };
    // Fails where the line is full, which is all right.
    let _ = line.text.write_fmt(text);
    LINES.lock(|lines| {
        let mut lines = lines.borrow_mut();
        line.number = lines.said;
        lines.said = lines.said.wrapping_add(1);
        if lines.kept.is_full() {
            lines.kept.pop_front();
        }
        let _ = lines.kept.push_back(line.clone());
    });
    line
}

/// The first line that is kept of those from a number on.
pub(crate) fn from(number: u32) -> Option<Line> {
    LINES.lock(|lines| lines.borrow().kept.iter().find(|line| line.number >= number).cloned())
}
