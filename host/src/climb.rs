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

use dropwise_core::game::{derive_seed, digest_word};
use dropwise_core::{Controller, Game, Rules, Well};

use crate::arena::{Progress, Score};

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

impl Ascent<'_> {
    /// The lines that are to be expected of a game; none if it was told to stop.
    fn expectation(&mut self) -> Option<f64> {
        let mut boards = self.set_out()?;
        // Pieces and lines from one departure to the next.
        let departures = boards.len() as f64;
        let (pieces, lines) = (self.pieces as f64 / departures, self.lines as f64 / self.pieces as f64);
        // How many of those that set out are lost, and how many stand on the present boards.
        let (mut lost, mut standing) = (0.0, 1.0);
        for level in GROUND + 2..=self.rules.height() + 1 {
            if boards.is_empty() {
                break;
            }
            let share = standing / f64::from(self.climbers);
            let mut higher = vec![];
            for climber in 0..self.climbers {
                if self.progress.is_stopped() {
                    return None;
                }
                match self.from(&boards[climber as usize % boards.len()], level, climber) {
                    End::Lost => lost += share,
                    End::Reached(board) => higher.push(board),
                    End::Grounded => {}
                }
            }
            standing = share * higher.len() as f64;
            boards = higher;
        }
        // Where nobody was lost, as many as one of the last would have been, or fewer.
        Some(lines * pieces / if lost > 0.0 { lost } else { standing.max(f64::MIN_POSITIVE) })
    }

    /// Plays games until piles have left the ground as often as there are climbers: the boards on which they did.
    fn set_out(&mut self) -> Option<Vec<Well>> {
        let mut boards = vec![];
        let mut games = 0;
        while boards.len() < self.climbers as usize {
            let mut game = Game::new(self.rules, derive_seed(self.seed, 0), games);
            games += 1;
            let mut climbs = false;
            while boards.len() < self.climbers as usize && self.step(&mut game) {
                let height = game.well().max_height();
                if !climbs && height > GROUND {
                    boards.push(*game.well());
                }
                climbs = height > GROUND;
            }
            if self.progress.is_stopped() {
                return None;
            }
            self.add(&game);
        }
        Some(boards)
    }

    /// One climber, from a board to a level. Beyond the last level there is but the loss.
    fn from(&mut self, board: &Well, level: usize, climber: u32) -> End {
        if board.max_height() >= level {
            return End::Reached(*board);
        }
        let seed = derive_seed(self.seed, level as u64);
        let mut game = Game::new(self.rules, seed, u64::from(climber)).with_well(*board);
        let end = loop {
            if !self.step(&mut game) {
                break End::Lost;
            }
            let height = game.well().max_height();
            if height >= level {
                break End::Reached(*game.well());
            }
            if height <= GROUND {
                break End::Grounded;
            }
        };
        self.add(&game);
        end
    }

    /// Whether the game goes on.
    fn step(&self, game: &mut Game<'_>) -> bool {
        game.step(self.controller).is_some() && !game.is_over()
    }

    fn add(&mut self, game: &Game<'_>) {
        self.pieces += game.pieces();
        self.lines += game.lines();
        self.digest = digest_word(self.digest, game.digest());
        self.progress.add_pieces(game.pieces());
    }

    fn score(&self, lines: u64, capped: bool) -> Score {
        Score { lines, pieces: self.pieces, digest: self.digest, capped }
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
