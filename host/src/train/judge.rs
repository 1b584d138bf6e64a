//! How fit candidates are: each is quantised, becomes a player, and plays the iteration's games.
//!
//! Without a race every candidate plays every game. With one, all arms still in the race play game 0, then game 1,
//! and so on; the race reads the scores in the order of the arms, so that nothing depends on which thread was first.

use dropwise_core::controller::Options;
use dropwise_core::game::digest;
use dropwise_core::player::WeightsError;
use dropwise_core::{Controller, Player, Rules, Set};

use super::config::Fitness;
use super::race::Race;
use crate::arena::{Arena, Bout, Progress, Score};

/// What candidates play, and what counts.
#[derive(Clone, Copy, Debug)]
pub struct Judge<'a> {
    /// The threads that play.
    pub arena: &'a Arena,
    /// What the weights are the weights of.
    pub set: Set,
    /// How candidates play.
    pub options: Options,
    /// The rules.
    pub rules: Rules<'a>,
    /// Games are broken off after this many pieces.
    pub max_pieces: u64,
    /// In place of each game, an estimate of its length from so many [climbers](crate::climb) a level.
    pub climbers: Option<u32>,
    /// What makes a candidate fit.
    pub fitness: Fitness,
}

/// What the games said.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Verdict {
    /// How fit each candidate was.
    pub fitness: Vec<f64>,
    /// Games played.
    pub games: u64,
    /// Pieces placed.
    pub pieces: u64,
    /// A digest of all moves.
    pub digest: u64,
}

impl Judge<'_> {
    /// The players that candidates become.
    ///
    /// # Errors
    /// If a weight is not finite or there are too few.
    pub fn players(&self, candidates: &[Vec<f64>]) -> Result<Vec<Controller>, WeightsError> {
        let player = |weights: &Vec<f64>| {
            Player::quantise(self.set, weights).map(|player| Controller::with_options(player, self.options))
        };
        candidates.iter().map(player).collect()
    }

    /// Lets each controller play the games.
    pub fn play(
        &self,
        controllers: &[Controller],
        seed: u64,
        games: std::ops::Range<u64>,
        progress: &Progress,
    ) -> Vec<Vec<Score>> {
        let Judge { rules, max_pieces, climbers, .. } = *self;
        let bout = Bout { controllers, rules, seed, games, max_pieces, climbers };
        self.arena.play(&bout, progress)
    }

    /// How fit candidates are that all play the same games.
    ///
    /// # Errors
    /// If a candidate is not a player: [`Judge::players`].
    pub fn judge(
        &self,
        candidates: &[Vec<f64>],
        seed: u64,
        games: u64,
        progress: &Progress,
    ) -> Result<Verdict, WeightsError> {
        let scores = self.play(&self.players(candidates)?, seed, 0..games, progress);
        let fitness = scores.iter().map(|scores| self.fitness_of(scores)).collect();
        let all = || scores.iter().flatten();
        Ok(Verdict {
            fitness,
            games: all().count() as u64,
            pieces: all().map(|score| score.pieces).sum(),
            digest: digest(all().map(|score| score.digest)),
        })
    }

    /// How fit candidates are that race: game by game, those still racing play it. `watch` sees the race after each.
    ///
    /// # Errors
    /// If a candidate is not a player: [`Judge::players`].
    pub fn race(
        &self,
        candidates: &[Vec<f64>],
        seed: u64,
        race: &mut Race,
        progress: &Progress,
        watch: impl Fn(&Race),
    ) -> Result<Verdict, WeightsError> {
        let arms = race.playing();
        let players = self.players(candidates)?;
        let controllers: Vec<Controller> = arms.iter().map(|&arm| players[arm]).collect();
        let (mut pieces, mut digests) = (0, vec![]);
        let Judge { rules, max_pieces, climbers, .. } = *self;
        let games = u64::from(race.round())..u64::from(race.limit());
        let bout = Bout { controllers: &controllers, rules, seed, games, max_pieces, climbers };
        self.arena.rounds(&bout, progress, |round| {
            pieces += round.iter().map(|score| score.pieces).sum::<u64>();
            digests.extend(round.iter().map(|score| score.digest));
            race.feed(&round.iter().map(|&score| self.fitness_of(&[score])).collect::<Vec<f64>>());
            watch(race);
            race.playing().iter().filter_map(|arm| arms.binary_search(arm).ok()).collect()
        });
        Ok(Verdict { fitness: race.fitness(), games: race.evaluations(), pieces, digest: digest(digests) })
    }

    /// How fit a candidate with these scores is.
    pub fn fitness_of(&self, scores: &[Score]) -> f64 {
        let lines: u64 = scores.iter().map(|score| score.lines).sum();
        match self.fitness {
            Fitness::Lines => lines as f64 / scores.len().max(1) as f64,
            Fitness::LinesPerPiece => {
                let pieces: u64 = scores.iter().map(|score| score.pieces).sum();
                lines as f64 / pieces.max(1) as f64
            }
        }
    }
}
