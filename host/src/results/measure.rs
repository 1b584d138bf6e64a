//! Plays a batch of a row's games.

use std::ops::Range;
use std::time::Instant;

use dropwise_core::game::digest;
use dropwise_core::{Controller, Game};

use super::histogram::Histogram;
use super::record::{Hex, Record};
use super::row::Row;
use super::variant::Varied;

/// A game looks whether it should stop after this many pieces: some tens of milliseconds.
const SLICE: u64 = 1 << 17;

/// The same for who thinks longer.
const SHORT_SLICE: u64 = 1 << 10;

/// Who plays a row's games, and what is counted.
enum Seat {
    /// Nothing but lines and pieces.
    Plain(Controller),
    /// Also how high the pile was.
    Watched(Controller),
    /// Another player than the core has.
    Varied(Varied),
}

/// Plays a batch, and gives its record; none if it was told to stop before the end. `stop` is asked now and then, and
/// told how many pieces were placed since.
pub fn play(row: &Row, games: Range<u64>, stop: impl Fn(u64) -> bool) -> Option<Record> {
    let options = row.options;
    let seat = match row.variant {
        Some(variant) => {
            Seat::Varied(Varied { player: row.player, variant, allow_losing: options.allow_losing })
        }
        None if row.heights || options.rescue.is_some() => Seat::Watched(row.controller()),
        None => Seat::Plain(row.controller()),
    };
    let slice = if matches!(seat, Seat::Plain(_)) && options.lookahead == 0 { SLICE } else { SHORT_SLICE };
    let start = Clock::start();
    let mut heights = vec![0; row.rules.height() + 1];
    let mut digests = Vec::with_capacity((games.end - games.start) as usize);
    let mut record = Record {
        row: row.name(),
        key: row.key(),
        games: (games.start, games.end),
        lines: 0,
        squares: 0,
        min: u64::MAX,
        max: 0,
        pieces: 0,
        deeper: 0,
        capped: 0,
        seconds: 0.0,
        digest: Hex(0),
        histogram: Histogram::default(),
        heights: vec![],
    };
    let limit = row.max_pieces.unwrap_or(u64::MAX);
    for index in games {
        let mut game = Game::apart(row.rules, row.seed, index);
        let mut goes_on = true;
        while goes_on && game.pieces() < limit {
            let before = game.pieces();
            let until = limit.min(before.saturating_add(slice));
            goes_on = match &seat {
                Seat::Plain(controller) => {
                    game.play(controller, until);
                    !game.is_over()
                }
                Seat::Watched(controller) => {
                    watched(&mut game, controller, until, &mut record.deeper, &mut heights)
                }
                Seat::Varied(varied) => play_varied(&mut game, varied, until),
            };
            if stop(game.pieces() - before) {
                return None;
            }
        }
        let lines = game.lines();
        record.lines += lines;
        record.squares += u128::from(lines) * u128::from(lines);
        record.min = record.min.min(lines);
        record.max = record.max.max(lines);
        record.pieces += game.pieces();
        record.capped += u64::from(goes_on);
        record.histogram.add(lines);
        digests.push(game.digest());
    }
    record.digest = Hex(digest(digests));
    if row.heights {
        record.heights = heights;
    }
    record.seconds = start.seconds();
    Some(record)
}

/// Plays on; whether the game goes on.
fn watched(
    game: &mut Game<'_>,
    controller: &Controller,
    until: u64,
    deeper: &mut u64,
    heights: &mut [u64],
) -> bool {
    let tall = controller.options().rescue.unwrap_or(usize::MAX);
    let top = heights.len() - 1;
    let mut height = game.well().max_height();
    while game.pieces() < until {
        if game.step(controller).is_none() {
            return false;
        }
        *deeper += u64::from(height > tall);
        height = game.well().max_height();
        // Above the brim only the last piece of a game can stand, where losing is allowed.
        heights[height.min(top)] += 1;
    }
    !game.is_over()
}

fn play_varied(game: &mut Game<'_>, varied: &Varied, until: u64) -> bool {
    while game.pieces() < until {
        let overflow = game.rules().overflow;
        let piece = game.upcoming(0).first().copied();
        let chosen = piece.and_then(|piece| varied.choose(game.well(), piece, overflow));
        if chosen.and_then(|placement| game.place(placement)).is_none() || game.is_over() {
            return false;
        }
    }
    true
}

/// The time that a thread has worked: on a busy machine that is less than the time that went by.
struct Clock {
    start: f64,
    wall: Instant,
}

impl Clock {
    fn start() -> Clock {
        Clock { start: thread_seconds().unwrap_or(0.0), wall: Instant::now() }
    }

    fn seconds(&self) -> f64 {
        // To the microsecond: more digits say nothing.
        let seconds =
            thread_seconds().map_or_else(|| self.wall.elapsed().as_secs_f64(), |now| now - self.start);
        (seconds * 1e6).round() / 1e6
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

#[cfg(test)]
mod tests {
    use super::super::row::tests::row;
    use super::super::variant::Variant;
    use super::*;

    fn timeless(row: &Row, games: Range<u64>) -> Record {
        let mut record = play(row, games, |_| false).unwrap();
        assert_eq!(record.check(), Ok(()));
        record.seconds = 0.0;
        record
    }

    #[test]
    fn a_record_says_what_the_games_were() {
        let row = row("bcts", 6, 30, 10);
        let record = timeless(&row, 10..20);
        let games: Vec<Game<'_>> = (10..20)
            .map(|index| {
                let mut game = Game::apart(row.rules, row.seed, index);
                game.play(&row.controller(), u64::MAX);
                game
            })
            .collect();
        assert_eq!(record.lines, games.iter().map(Game::lines).sum::<u64>());
        assert_eq!(record.pieces, games.iter().map(Game::pieces).sum::<u64>());
        assert_eq!(record.digest.0, digest(games.iter().map(Game::digest)));
        assert_eq!(record.max, games.iter().map(Game::lines).max().unwrap());
        assert_eq!((record.capped, record.deeper, record.heights.len()), (0, 0, 0));
    }

    /// The games without what is counted in them.
    fn bare(record: Record) -> Record {
        Record { row: String::new(), key: Hex(0), deeper: 0, heights: vec![], ..record }
    }

    #[test]
    fn watching_and_playing_the_slow_way_change_nothing() {
        let plain = row("bcts", 6, 30, 10);
        let watched = Row { heights: true, ..plain.clone() };
        let varied = Row { variant: Some(Variant::Unchanged), ..plain.clone() };
        let expected = bare(timeless(&plain, 0..10));
        let seen = timeless(&watched, 0..10);
        assert_eq!(seen.heights.len(), 7);
        assert!(seen.heights[4] > 0 && seen.heights[0] > 0, "{:?}", seen.heights);
        assert_eq!(bare(seen), expected);
        assert_eq!(bare(timeless(&varied, 0..10)), expected);
    }

    #[test]
    fn allowed_losses_end_games_alike() {
        let mut plain = row("bcts", 5, 30, 10);
        plain.options.allow_losing = true;
        let expected = bare(timeless(&plain, 0..10));
        for row in [
            Row { heights: true, ..plain.clone() },
            Row { variant: Some(Variant::Unchanged), ..plain.clone() },
        ] {
            assert_eq!(bare(timeless(&row, 0..10)), expected);
        }
    }

    #[test]
    fn rescue_counts_what_it_looked_at() {
        let mut row = row("bcts", 6, 30, 10);
        row.options.rescue = Some(3);
        let record = timeless(&row, 0..5);
        assert!(record.deeper > 0 && record.deeper < record.pieces);
        row.options.rescue = Some(6);
        assert_eq!(timeless(&row, 0..5).deeper, 0);
    }

    #[test]
    fn games_are_broken_off_at_the_limit_and_batches_when_told() {
        let row = Row { max_pieces: Some(20), ..row("bcts", 8, 30, 10) };
        let record = timeless(&row, 0..5);
        assert_eq!((record.pieces, record.capped), (100, 5));
        assert_eq!(play(&row, 0..5, |_| true), None);
    }
}
