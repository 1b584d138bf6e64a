//! How long a thread has worked.

use std::time::Instant;

/// The time that a thread has worked: on a busy machine that is less than the time that went by.
pub(crate) struct Clock {
    start: f64,
    wall: Instant,
}

impl Clock {
    pub(crate) fn start() -> Clock {
        Clock { start: thread_seconds().unwrap_or(0.0), wall: Instant::now() }
    }

    pub(crate) fn seconds(&self) -> f64 {
        thread_seconds().map_or_else(|| self.wall.elapsed().as_secs_f64(), |now| now - self.start)
    }
}

#[cfg(target_os = "linux")]
fn thread_seconds() -> Option<f64> {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Some(time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9)
}

#[cfg(not(target_os = "linux"))]
fn thread_seconds() -> Option<f64> {
    None
}
