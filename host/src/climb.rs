//! How many lines a player makes a game, told from how seldom its pile climbs.
//!
//! A strong player loses on 10x20 once in a hundred million pieces, which is long to wait for and says little: the
//! lengths of games scatter as much as their mean. But before it loses, its pile climbs from the ground to the brim row
//! by row, and how likely it climbs each next row before it is back on the ground can be seen from few pieces:
//!
//! ```text
//!   brim ----------------------------------X   lost: 8 of 1,000 that set out from row 20
//!     20 ------------------------------/---    1,000 set out from boards on which row 20 was reached
//!        ...                         /
//!      5 ----------/\------------/---          1,000 set out from boards on which row 5 was reached: 430 reach row 6
//!      4 ------/\-/  \---/\----/               so often does a game reach row 4 from the ground
//! ground _____/  V    \_/  \__/
//! ```
//!
//! The product of all is how often a game is lost. This is importance splitting with a fixed effort a level (Kahn and
//! Harris 1951; Garvels, "The splitting method in rare event simulation", 2000); it is unbiased, as every climber
//! sets out from a board that was truly reached, with pieces of its own. With 4,000 climbers a level an estimate for 10x20
//! takes two million pieces, and scatters by some 15 %; as much as 40 games would, of a hundred million pieces each. With
//! few climbers an estimate scatters more, and being a quotient it is too high in the mean.

use std::ops::RangeInclusive;

use dropwise_core::game::derive_seed;
use dropwise_core::{Controller, Game, Rules, Well};

use crate::arena::{Progress, Score};
use crate::together::{self, Bill};

/// A pile of so many rows is on the ground: a strong player is there again within some tens of pieces.
const GROUND: usize = 3;

/// How many climbers a level may have.
pub const CLIMBERS: RangeInclusive<u32> = 10..=1_000_000;

/// Why some games cannot be estimated.
pub const INDEPENDENT: &str =
    "climbers go on from a board with pieces of their own; that takes uniform or hard:K, and no --lookahead";

/// Reads what `--climbers` is given.
///
/// # Errors
/// What is wrong with it.
pub fn parse_climbers(text: &str) -> Result<u32, String> {
    let climbers = text.replace([',', '_'], "").parse().ok().filter(|climbers| CLIMBERS.contains(climbers));
    climbers
        .ok_or_else(|| format!("give a number from {} to {}, like 4000", CLIMBERS.start(), CLIMBERS.end()))
}

/// One estimate of the lines that a player makes a game; the pieces of the score are those it took to find out.
///
/// Pieces must come independently of one another, and unseen: a climber draws its own.
pub fn climb(
    controller: &Controller,
    rules: Rules<'_>,
    seed: u64,
    climbers: u32,
    progress: &Progress,
) -> Score {
    let mut ascent = Ascent { controller, rules, seed, climbers, progress, pieces: 0, lines: 0, digest: 0 };
    match ascent.expectation() {
        Some(lines) => ascent.score(lines as u64, false),
        None => ascent.score(0, true),
    }
}

struct Ascent<'a> {
    controller: &'a Controller,
    rules: Rules<'a>,
    seed: u64,
    climbers: u32,
    progress: &'a Progress,
    /// What was placed and cleared so far, and the digest of all moves.
    pieces: u64,
    lines: u64,
    digest: u64,
}

/// Where a climber ended.
enum End {
    Lost,
    /// On a board as high as it was to climb.
    Reached(Well),
    Grounded,
}

/// So many games are played side by side until their piles have left the ground often enough.
const SETTING_OUT: usize = 64;

/// A game of fewer pieces is a short one.
const SOON: u64 = 1_000;

impl<'a> Ascent<'a> {
    /// The lines that are to be expected of a game; none if it was told to stop.
    fn expectation(&mut self) -> Option<f64> {
        let mut boards = self.set_out()?;
        // Pieces and lines from one departure to the next.
        let departures = boards.len() as f64;
        let (pieces, lines) = (self.pieces as f64 / departures, self.lines as f64 / self.pieces as f64);
        // How many of those that set out are lost, and how many stand on the present boards.
        let (mut lost, mut standing, mut share) = (0.0, 1.0, 1.0);
        for level in GROUND + 2..=self.rules.height() + 1 {
            if boards.is_empty() {
                break;
            }
            let ends = self.climb_to(level, &boards)?;
            share = standing / f64::from(self.climbers);
            lost += share * ends.iter().filter(|end| matches!(end, End::Lost)).count() as f64;
            let reached = |end| if let End::Reached(board) = end { Some(board) } else { None };
            boards = ends.into_iter().filter_map(reached).collect();
            standing = share * boards.len() as f64;
        }
        // Where nobody was lost, as if one of the last had been.
        Some(lines * pieces / if lost > 0.0 { lost } else { share })
    }

    /// Plays games until piles have left the ground at least as often as there are climbers: the boards on which they
    /// did.
    fn set_out(&mut self) -> Option<Vec<Well>> {
        let games = SETTING_OUT.min(self.climbers as usize);
        let enough = (self.climbers as usize).div_ceil(games);
        let start = Start { boards: vec![], climbs: false, games: 0 };
        let starts = (0..games).map(|_| start.clone()).collect();
        let mut bill = Departures { ascent: self, enough, starts, waiting: (0..games).rev().collect() };
        together::play(&mut bill, games);
        let boards = bill.starts.into_iter().flat_map(|start| start.boards).collect();
        (!self.progress.is_stopped()).then_some(boards)
    }

    /// Lets climbers set out from the boards for a level: where each of them ended.
    fn climb_to(&mut self, level: usize, boards: &[Well]) -> Option<Vec<End>> {
        let ends = (0..self.climbers).map(|_| End::Grounded).collect();
        let mut bill =
            Climb { seed: derive_seed(self.seed, level as u64), ascent: self, level, boards, next: 0, ends };
        together::play(&mut bill, together::PLENTY);
        let ends = bill.ends;
        (!self.progress.is_stopped()).then_some(ends)
    }

    fn add(&mut self, game: &Game<'_>) {
        self.pieces += game.pieces();
        self.lines += game.lines();
        // Added up, so that it does not matter which game ends first.
        self.digest = self.digest.wrapping_add(game.digest());
        self.progress.add_pieces(game.pieces());
    }

    fn score(&self, lines: u64, capped: bool) -> Score {
        Score { lines, pieces: self.pieces, digest: self.digest, capped }
    }
}

/// One of the games that wait for piles to leave the ground, and those that come after it when it is lost.
#[derive(Clone)]
struct Start {
    boards: Vec<Well>,
    climbs: bool,
    games: u64,
}

/// Games until each has left the ground often enough.
struct Departures<'t, 'a> {
    ascent: &'t mut Ascent<'a>,
    enough: usize,
    starts: Vec<Start>,
    /// Those that are to begin a game.
    waiting: Vec<usize>,
}

impl<'a> Bill<'a> for Departures<'_, 'a> {
    fn next(&mut self) -> Option<(usize, &'a Controller, Game<'a>)> {
        let number = self.waiting.pop().filter(|_| !self.ascent.progress.is_stopped())?;
        let start = &mut self.starts[number];
        start.climbs = false;
        start.games += 1;
        let seed = derive_seed(self.ascent.seed, 0);
        let index = (start.games - 1) * SETTING_OUT as u64 + number as u64;
        Some((number, self.ascent.controller, Game::new(self.ascent.rules, seed, index)))
    }

    fn goes_on(&mut self, number: usize, game: &Game<'a>) -> bool {
        let (start, height) = (&mut self.starts[number], game.well().max_height());
        if !start.climbs && height > GROUND {
            start.boards.push(*game.well());
        }
        start.climbs = height > GROUND;
        // A game that is soon lost is played to its end: broken off, it would tell more of how games begin.
        !game.is_over() && (start.boards.len() < self.enough || game.pieces() < SOON)
    }

    fn end(&mut self, number: usize, game: Game<'a>) {
        self.ascent.add(&game);
        if self.starts[number].boards.len() < self.enough {
            self.waiting.push(number);
        }
    }
}

/// Climbers on their way to a level. Beyond the last level there is but the loss.
struct Climb<'t, 'a> {
    ascent: &'t mut Ascent<'a>,
    seed: u64,
    level: usize,
    boards: &'t [Well],
    next: usize,
    ends: Vec<End>,
}

impl<'a> Bill<'a> for Climb<'_, 'a> {
    fn next(&mut self) -> Option<(usize, &'a Controller, Game<'a>)> {
        while self.next < self.ends.len() && !self.ascent.progress.is_stopped() {
            let climber = self.next;
            self.next += 1;
            let board = self.boards[climber % self.boards.len()];
            if board.max_height() < self.level {
                let game = Game::new(self.ascent.rules, self.seed, climber as u64).with_well(board);
                return Some((climber, self.ascent.controller, game));
            }
            self.ends[climber] = End::Reached(board);
        }
        None
    }

    fn goes_on(&mut self, _number: usize, game: &Game<'a>) -> bool {
        !game.is_over() && (GROUND + 1..self.level).contains(&game.well().max_height())
    }

    fn end(&mut self, number: usize, game: Game<'a>) {
        self.ascent.add(&game);
        if game.is_over() {
            self.ends[number] = End::Lost;
        } else if game.well().max_height() >= self.level {
            self.ends[number] = End::Reached(*game.well());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arena::{Arena, Bout};
    use crate::stats::Summary;
    use dropwise_core::{Player, Set};

    fn summary(
        controller: Controller,
        rules: Rules<'_>,
        games: u64,
        climbers: Option<u32>,
    ) -> (Summary, u64) {
        let arena = Arena::new(Some(2)).unwrap();
        let bout = Bout {
            controllers: &[controller],
            rules,
            seed: 5,
            games: 0..games,
            max_pieces: u64::MAX,
            climbers,
        };
        let scores = arena.play(&bout, &Progress::default()).swap_remove(0);
        let lines: Vec<u64> = scores.iter().map(|score| score.lines).collect();
        (Summary::of(&lines).unwrap(), scores.iter().map(|score| score.pieces).sum())
    }

    /// The estimates and the games agree, for players that live long and for one that does not.
    #[test]
    fn estimates_are_those_of_games_played_to_the_end() {
        let clumsy = Player::new(Set::D, &[-1, 0, 0, 0, 0, 0]).unwrap();
        let cases =
            [(Player::known("bcts").unwrap(), 8), (Player::known("dellacherie").unwrap(), 9), (clumsy, 20)];
        for (player, height) in cases {
            let (controller, rules) = (Controller::new(player), Rules::new(height).unwrap());
            let (played, _) = summary(controller, rules, 1_500, None);
            let (estimated, _) = summary(controller, rules, 30, Some(1_000));
            let half = |summary: &Summary| summary.ci95_high.unwrap() - summary.mean;
            let apart = (played.mean - estimated.mean).abs();
            assert!(
                apart < 1.5 * half(&played).hypot(half(&estimated)),
                "{player:?}: {played:?} {estimated:?}"
            );
            assert!(half(&estimated) < 0.1 * estimated.mean, "{estimated:?}");
        }
    }

    /// What it is for: where games are long, the same pieces tell far more.
    #[test]
    fn estimates_tell_more_than_games_of_as_many_pieces() {
        let (controller, rules) = (Controller::new(Player::known("dt10").unwrap()), Rules::new(12).unwrap());
        let variance_a_piece = |games, climbers| {
            let (lines, pieces) = summary(controller, rules, games, climbers);
            (lines.sd.unwrap() / lines.mean).powi(2) * pieces as f64 / games as f64
        };
        let (played, estimated) = (variance_a_piece(100, None), variance_a_piece(20, Some(1_000)));
        assert!(5.0 * estimated < played, "{estimated} {played}");
    }

    #[test]
    fn stopping_breaks_an_estimate_off() {
        let progress = Progress::default();
        progress.stop();
        let controller = Controller::new(Player::known("bcts").unwrap());
        let score = climb(&controller, Rules::default(), 1, 100, &progress);
        assert!(score.capped);
    }

    #[test]
    fn numbers_of_climbers_are_checked() {
        assert_eq!(parse_climbers("4,000"), Ok(4_000));
        for bad in ["9", "-1", "many", "1000001", ""] {
            assert!(parse_climbers(bad).unwrap_err().contains("from 10 to 1000000"), "{bad}");
        }
    }
}
