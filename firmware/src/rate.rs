//! Pieces per second.

use embassy_time::Instant;

/// Pieces per second, measured from piece to piece over a second or more.
pub(crate) struct Rate {
    /// In tenths.
    pub(crate) tenths: u32,
    /// The piece it is measured from, and when that was placed.
    from: Option<(u64, Instant)>,
}

impl Rate {
    /// Not known yet.
    pub(crate) const fn new() -> Rate {
        Rate { tenths: 0, from: None }
    }

    /// The next piece says nothing about the speed of play.
    pub(crate) fn pause(&mut self) {
        *self = Rate::new();
    }

    /// So many pieces are placed by now.
    pub(crate) fn count(&mut self, pieces: u64) {
        let now = Instant::now();
        let Some((first, since)) = self.from else {
            self.from = Some((pieces, now));
            return;
        };
        let micros = now.saturating_duration_since(since).as_micros();
        if micros >= 1_000_000 {
            self.tenths = ((pieces - first) * 10_000_000 / micros) as u32;
            self.from = Some((pieces, now));
        }
    }
}
