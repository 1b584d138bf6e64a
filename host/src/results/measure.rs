//! Plays one batch of a row's games, on one thread.

use std::cell::RefCell;
use std::ops::Range;

use dropwise_core::Game;

use super::clock::Clock;
use super::record::Record;
use super::row::Row;
use super::sitting::{self, Batch, Ended, Sitting};
use super::variant::Varied;

/// A game looks whether it should stop after this many pieces.
const SLICE: u64 = 1 << 10;

/// Plays a batch, and gives its record; none if it was told to stop before the end. `stop` is asked now and then, and
/// told how many pieces were placed since.
pub fn play(row: &Row, games: Range<u64>, stop: impl Fn(u64) -> bool) -> Option<Record> {
    let batch = Batch { row, games };
    if batch.is_sociable() {
        let batches = [batch];
        let record = RefCell::new(None);
        Sitting::new(&batches, vec![], 1, 0).play(
            stop,
            |_, played| drop(record.replace(Some(played))),
            |_| {},
        );
        return record.into_inner();
    }
    if let Some(variant) = row.variant {
        let varied = Varied { player: row.player, variant, allow_losing: row.options.allow_losing };
        return one_by_one(batch, |game, until| play_varied(game, &varied, until), stop);
    }
    let controller = row.controller();
    let play = |game: &mut Game<'_>, until| {
        game.play(&controller, until);
        !game.is_over()
    };
    one_by_one(batch, play, stop)
}

/// Plays games one after the other; `play` plays on until so many pieces are placed, and says whether the game goes on.
fn one_by_one(
    batch: Batch<'_>,
    play: impl Fn(&mut Game<'_>, u64) -> bool,
    stop: impl Fn(u64) -> bool,
) -> Option<Record> {
    let Batch { row, games } = batch;
    let limit = row.max_pieces.unwrap_or(u64::MAX);
    let mut ended = vec![];
    for index in games.clone() {
        let clock = Clock::start();
        let mut game = Game::apart(row.rules, row.seed, index);
        let mut goes_on = true;
        while goes_on && game.pieces() < limit {
            let before = game.pieces();
            goes_on = play(&mut game, limit.min(before.saturating_add(SLICE)));
            if stop(game.pieces() - before) {
                return None;
            }
        }
        ended.push(Ended::new(index, &game, goes_on, clock.seconds()));
    }
    Some(sitting::record(row, &games, ended))
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

#[cfg(test)]
mod tests {
    use dropwise_core::game::digest;

    use super::super::record::Hex;
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
