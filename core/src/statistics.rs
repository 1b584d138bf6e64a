//! What the finished games of a device add up to: games, best, mean, and how the scores are spread.

/// How many groups of scores a [`Statistics`] counts.
pub const GROUPS: usize = 40;

/// The scores of finished games, in lines. Counters that cannot grow any more stay where they are.
///
/// ```
/// use dropwise_core::statistics::Statistics;
///
/// let mut statistics = Statistics::new();
/// for lines in [0, 5, 6, 100] {
///     statistics.record(lines);
/// }
/// assert_eq!((statistics.games(), statistics.best(), statistics.mean_tenths()), (4, Some(100), Some(277)));
/// // 5 and 6 are both from 4 to 7.
/// assert_eq!(statistics.histogram()[3], 2);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Statistics {
    games: u32,
    lines: u64,
    best: u64,
    histogram: [u32; GROUPS],
}

impl Default for Statistics {
    fn default() -> Statistics {
        Statistics::new()
    }
}

impl Statistics {
    /// No game yet.
    pub const fn new() -> Statistics {
        Statistics { games: 0, lines: 0, best: 0, histogram: [0; GROUPS] }
    }

    /// Takes in a finished game's lines.
    ///
    /// ```
    /// use dropwise_core::Statistics;
    /// let mut statistics = Statistics::new();
    /// statistics.record(10);
    /// statistics.record(21);
    /// assert_eq!((statistics.games(), statistics.best(), statistics.lines()), (2, Some(21), 31));
    /// assert_eq!(statistics.mean_tenths(), Some(155));
    /// ```
    pub const fn record(&mut self, lines: u64) {
        self.games = self.games.saturating_add(1);
        self.lines = self.lines.saturating_add(lines);
        if lines > self.best {
            self.best = lines;
        }
        let group = &mut self.histogram[Statistics::group(lines)];
        *group = group.saturating_add(1);
    }

    /// The group of a score: 0 lines, 1, 2 to 3, 4 to 7, each next one twice as wide. A player's scores are about
    /// exponentially distributed, and players differ by a factor of a million: only doubling groups show them all.
    pub const fn group(lines: u64) -> usize {
        let group = (u64::BITS - lines.leading_zeros()) as usize;
        if group < GROUPS { group } else { GROUPS - 1 }
    }

    /// The fewest lines of a group.
    pub const fn group_start(group: usize) -> u64 {
        match group {
            0 => 0,
            64.. => u64::MAX,
            _ => 1 << (group - 1),
        }
    }

    /// Finished games.
    pub const fn games(&self) -> u32 {
        self.games
    }

    /// Lines of the best game; none before the first.
    pub const fn best(&self) -> Option<u64> {
        if self.games == 0 { None } else { Some(self.best) }
    }

    /// Lines of all games together.
    pub const fn lines(&self) -> u64 {
        self.lines
    }

    /// Mean lines a game in tenths, rounded down; none before the first game.
    pub const fn mean_tenths(&self) -> Option<u64> {
        if self.games == 0 {
            return None;
        }
        let games = self.games as u64;
        let (whole, rest) = (self.lines / games, self.lines % games);
        Some(whole.saturating_mul(10).saturating_add(rest * 10 / games))
    }

    /// Games in each [group](Statistics::group).
    pub const fn histogram(&self) -> &[u32; GROUPS] {
        &self.histogram
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_double_and_cover_every_score() {
        for group in 0..GROUPS - 1 {
            let (first, next) = (Statistics::group_start(group), Statistics::group_start(group + 1));
            assert_eq!(Statistics::group(first), group);
            assert_eq!(Statistics::group(next - 1), group);
        }
        assert_eq!(Statistics::group(u64::MAX), GROUPS - 1);
        assert_eq!(Statistics::group_start(usize::MAX), u64::MAX);
    }

    #[test]
    fn counters_stay_at_their_ends() {
        let mut statistics = Statistics::new();
        assert_eq!((statistics.best(), statistics.mean_tenths()), (None, None));
        statistics.record(0);
        assert_eq!((statistics.best(), statistics.mean_tenths()), (Some(0), Some(0)));
        statistics =
            Statistics { games: u32::MAX, lines: u64::MAX - 1, best: 7, histogram: [u32::MAX; GROUPS] };
        statistics.record(u64::MAX);
        assert_eq!((statistics.games(), statistics.lines()), (u32::MAX, u64::MAX));
        assert_eq!(statistics.best(), Some(u64::MAX));
        assert_eq!(statistics.histogram()[GROUPS - 1], u32::MAX);
        // (2^64 - 1) / (2^32 - 1) is 2^32 + 1 exactly.
        assert_eq!(statistics.mean_tenths(), Some(10 * ((1 << 32) + 1)));
        let one = Statistics { games: 1, lines: u64::MAX, best: u64::MAX, histogram: [0; GROUPS] };
        assert_eq!(one.mean_tenths(), Some(u64::MAX), "as much as can be told");
    }
}
