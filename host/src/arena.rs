//! Plays many games at once; the same results for any number of threads.
//!
//! A game is known by its number alone: [`Game::new`] takes the run's seed and the game's index, never anything of
//! the worker. Results stand in the order of the indices. So who plays which game, and when, changes nothing.
//!
//! Several controllers can be given at once, for a trainer's candidates: each plays the same games, and all their
//! games share the threads. Under MPI an arena has the threads of all ranks: [`cluster`](crate::cluster).

use std::ops::{ControlFlow, Range};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use dropwise_core::book::Shelf;
use dropwise_core::game::derive_seed;
use dropwise_core::{Controller, Game, Rules};
use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuildError};
use serde::{Deserialize, Serialize};

use crate::climb::climb;
use crate::library::{self, Lender, Library, Memory};
use crate::output::Failure;
use crate::stats::Running;
use crate::together::{self, Bill, Course};

/// A thread reports its progress, and looks whether it should stop, after this many pieces: some milliseconds.
const SLICE: u64 = 1 << 17;

/// So many controllers have books.
const FEW: usize = 4;

/// The threads that play.
#[derive(Debug)]
pub struct Arena {
    pool: ThreadPool,
    #[cfg(feature = "mpi")]
    cluster: Option<crate::cluster::Cluster>,
}

/// What to play.
#[derive(Clone, Debug)]
pub struct Bout<'a> {
    /// The controllers; each plays all of the games.
    pub controllers: &'a [Controller],
    /// The rules.
    pub rules: Rules<'a>,
    /// The seed that starts the games.
    pub seed: u64,
    /// The indices of the games.
    pub games: Range<u64>,
    /// Games are broken off after this many pieces.
    pub max_pieces: u64,
    /// In place of each game, an estimate of its length from so many [climbers](crate::climb) a level.
    pub climbers: Option<u32>,
}

/// How a game ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Score {
    /// Lines cleared.
    pub lines: u64,
    /// Pieces placed.
    pub pieces: u64,
    /// The digest of its moves.
    pub digest: u64,
    /// Whether it was broken off and not lost.
    pub capped: bool,
}

/// How far the games are; read while they are played.
#[derive(Debug, Default)]
pub struct Progress {
    pieces: AtomicU64,
    ended: Mutex<Running>,
    stop: AtomicBool,
}

impl Progress {
    /// Pieces placed so far, in all games.
    pub fn pieces(&self) -> u64 {
        self.pieces.load(Ordering::Relaxed)
    }

    /// The scores of the games that have ended.
    pub fn ended(&self) -> Running {
        *self.ended.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Breaks off all games soon. Their scores then depend on when this was called.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    pub(crate) fn add_pieces(&self, pieces: u64) {
        self.pieces.fetch_add(pieces, Ordering::Relaxed);
    }

    pub(crate) fn end(&self, lines: u64) {
        self.ended.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).add(lines);
    }
}

impl Arena {
    /// An arena with this many threads, or one for each core.
    ///
    /// # Errors
    /// If the system does not start them.
    pub fn new(threads: Option<usize>) -> Result<Arena, Failure> {
        let pool = thread_pool(threads);
        let pool = pool.map_err(|error| Failure::input(format_args!("{error}; try fewer --threads")))?;
        Ok(Arena {
            #[cfg(feature = "mpi")]
            cluster: crate::cluster::Cluster::enlist(threads, pool.current_num_threads())?,
            pool,
        })
    }

    /// How many threads play, on all ranks.
    pub fn threads(&self) -> usize {
        #[cfg(feature = "mpi")]
        if let Some(cluster) = &self.cluster {
            return cluster.threads();
        }
        self.pool.current_num_threads()
    }

    /// How many processes play together: 1, or under MPI the number of ranks.
    pub fn ranks(&self) -> usize {
        #[cfg(feature = "mpi")]
        if let Some(cluster) = &self.cluster {
            return cluster.ranks();
        }
        1
    }

    /// The other ranks, and this one's threads; none if there are no others.
    #[cfg(feature = "mpi")]
    pub(crate) fn cluster(&self) -> Option<(&crate::cluster::Cluster, &ThreadPool)> {
        self.cluster.as_ref().map(|cluster| (cluster, &self.pool))
    }

    /// Plays a bout. The scores stand controller by controller, each controller's in the order of the games.
    ///
    /// ```
    /// use dropwise_core::{Controller, Player, Rules};
    /// use host::arena::{Arena, Bout, Progress};
    ///
    /// let controllers = ["bcts", "dt10"].map(|name| Controller::new(Player::known(name).unwrap()));
    /// let bout = Bout {
    ///     controllers: &controllers,
    ///     rules: Rules::new(5).unwrap(),
    ///     seed: 1,
    ///     games: 0..10,
    ///     max_pieces: u64::MAX,
    ///     climbers: None,
    /// };
    /// let scores = Arena::new(Some(2)).unwrap().play(&bout, &Progress::default());
    /// assert_eq!(scores.len(), 2);
    /// assert_eq!(scores, Arena::new(Some(1)).unwrap().play(&bout, &Progress::default()));
    /// ```
    pub fn play(&self, bout: &Bout<'_>, progress: &Progress) -> Vec<Vec<Score>> {
        #[cfg(feature = "mpi")]
        if let Some(scores) =
            self.cluster.as_ref().and_then(|cluster| cluster.play(&self.pool, bout, progress))
        {
            return scores;
        }
        let games = bout.games.end.saturating_sub(bout.games.start) as usize;
        let all = bout.controllers.len() * games;
        let mut scores = if bout.climbers.is_some() {
            // Estimates take turns: each plays many games of its own side by side.
            let estimate = |i: usize| estimate(bout, i / games, (i % games) as u64, progress);
            self.pool.install(|| (0..all).into_par_iter().with_max_len(1).map(estimate).collect())
        } else {
            let next = AtomicUsize::new(0);
            let library = library(bout, &Memory::own);
            let seats = all.div_ceil(self.threads().max(1)).min(together::PLENTY);
            let played = self.pool.broadcast(|_| {
                let next = || next.fetch_add(1, Ordering::Relaxed);
                Round::new(bout, library.as_ref(), progress, || Some(next()).filter(|&i| i < all)).play(seats)
            });
            in_order(played.into_iter().flatten().collect())
        };
        let mut by_controller: Vec<Vec<Score>> = Vec::with_capacity(bout.controllers.len());
        for _ in bout.controllers {
            let rest = scores.split_off(games);
            by_controller.push(std::mem::replace(&mut scores, rest));
        }
        by_controller
    }

    /// Plays a bout game by game: `feed` gets a game's scores, one for each controller that played it, in their order,
    /// and says which controllers play the next one. It ends when none do, or after the last game.
    ///
    /// ```
    /// use dropwise_core::{Controller, Player, Rules};
    /// use host::arena::{Arena, Bout, Progress};
    ///
    /// let controllers = ["bcts", "dt10"].map(|name| Controller::new(Player::known(name).unwrap()));
    /// let rules = Rules::new(5).unwrap();
    /// let (seed, max_pieces) = (1, u64::MAX);
    /// let bout = Bout { controllers: &controllers, rules, seed, games: 0..10, max_pieces, climbers: None };
    /// let mut fed = vec![];
    /// Arena::new(Some(2)).unwrap().rounds(&bout, &Progress::default(), |scores| {
    ///     fed.push(scores.len());
    ///     if fed.len() < 3 { vec![0, 1] } else { vec![1] }
    /// });
    /// assert_eq!(fed, [2, 2, 2, 1, 1, 1, 1, 1, 1, 1]);
    /// ```
    pub fn rounds(&self, bout: &Bout<'_>, progress: &Progress, mut feed: impl FnMut(&[Score]) -> Vec<usize>) {
        #[cfg(feature = "mpi")]
        if self.cluster.as_ref().is_some_and(|cluster| cluster.rounds(&self.pool, bout, progress, &mut feed))
        {
            return;
        }
        let mut controllers = bout.controllers.to_vec();
        for game in bout.games.clone() {
            let round = Bout { controllers: &controllers, games: game..game + 1, ..bout.clone() };
            let scores: Vec<Score> = self.play(&round, progress).into_iter().flatten().collect();
            controllers = feed(&scores).into_iter().map(|index| bout.controllers[index]).collect();
            if controllers.is_empty() {
                return;
            }
        }
    }

    /// Works through jobs that are not bouts: each thread takes the next one when it is done with one.
    ///
    /// ```
    /// use std::sync::atomic::{AtomicU32, Ordering};
    ///
    /// let sum = AtomicU32::new(0);
    /// let arena = host::arena::Arena::new(Some(2)).unwrap();
    /// arena.share(&[1, 2, 3], |job| drop(sum.fetch_add(*job, Ordering::Relaxed)));
    /// assert_eq!(sum.into_inner(), 6);
    /// ```
    pub fn share<J: Sync>(&self, jobs: &[J], work: impl Fn(&J) + Sync) {
        let next = AtomicUsize::new(0);
        self.pool.broadcast(|_| {
            while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                work(job);
            }
        });
    }
}

/// So many threads, or one for each core.
pub(crate) fn thread_pool(threads: Option<usize>) -> Result<ThreadPool, ThreadPoolBuildError> {
    rayon::ThreadPoolBuilder::new().num_threads(threads.unwrap_or(0)).build()
}

/// The scores of games, in the order of their numbers.
fn in_order(mut played: Vec<(usize, Score)>) -> Vec<Score> {
    played.sort_unstable_by_key(|&(number, _)| number);
    played.into_iter().map(|(_, score)| score).collect()
}

/// Books for a bout of long games: many of one player, or of a few. A trainer's candidates are too many, and soon gone.
pub(crate) fn library(bout: &Bout<'_>, lender: Lender<'_>) -> Option<Library> {
    // Small ones: the system takes its time to give memory, and most bouts are over in a minute.
    let memory = bout.controllers.len() * library::LEAST;
    let may_be_long = bout.max_pieces > library::LONG && bout.controllers.len() <= FEW;
    let games = bout.controllers.iter().map(|controller| (controller, &bout.rules));
    may_be_long.then(|| Library::lent(games, memory, lender)).flatten()
}

/// One estimate in place of a game, by its number in the bout.
pub(crate) fn estimate(bout: &Bout<'_>, controller: usize, game: u64, progress: &Progress) -> Score {
    let seed = derive_seed(bout.seed, bout.games.start + game);
    let climbers = bout.climbers.unwrap_or_default();
    let score = climb(&bout.controllers[controller], bout.rules, seed, climbers, progress);
    progress.end(score.lines);
    score
}

/// The games of a bout that one thread plays. They are numbered controller by controller.
struct Round<'a, N> {
    bout: &'a Bout<'a>,
    library: Option<&'a Library>,
    progress: &'a Progress,
    next: N,
    /// Pieces that were not reported yet.
    pieces: u64,
    stops: bool,
    scores: Vec<(usize, Score)>,
}

impl<'a, N: FnMut() -> Option<usize>> Round<'a, N> {
    fn new(
        bout: &'a Bout<'a>,
        library: Option<&'a Library>,
        progress: &'a Progress,
        next: N,
    ) -> Round<'a, N> {
        Round { bout, library, progress, next, pieces: 0, stops: progress.is_stopped(), scores: vec![] }
    }

    fn play(mut self, seats: usize) -> Vec<(usize, Score)> {
        together::play(&mut self, seats);
        self.progress.add_pieces(self.pieces);
        self.scores
    }

    /// Counts pieces, and now and then tells of them and looks whether to stop.
    fn count(&mut self, pieces: u64) {
        self.pieces += pieces;
        if self.pieces >= SLICE {
            self.progress.add_pieces(std::mem::take(&mut self.pieces));
            self.stops = self.progress.is_stopped();
        }
    }
}

impl<'a, N: FnMut() -> Option<usize>> Bill<'a> for Round<'a, N> {
    fn next(&mut self) -> Option<(usize, &'a Controller, Game<'a>)> {
        let games = self.bout.games.end - self.bout.games.start;
        loop {
            let number = (self.next)()?;
            let index = self.bout.games.start + number as u64 % games;
            let game = Game::new(self.bout.rules, self.bout.seed, index);
            if !self.stops && self.bout.max_pieces > 0 {
                return Some((number, &self.bout.controllers[number / games as usize], game));
            }
            self.end(number, game);
        }
    }

    fn shelf(&self) -> Option<Shelf<'a>> {
        self.library.map(Library::shelf)
    }

    fn course(&self, number: usize) -> Option<Course> {
        let games = (self.bout.games.end - self.bout.games.start) as usize;
        let book = self.library?.book(&self.bout.controllers[number / games], &self.bout.rules)?;
        Some(Course { book, from: library::LONG, until: self.bout.max_pieces })
    }

    fn by_book(&mut self, pieces: u64) -> ControlFlow<()> {
        self.count(pieces);
        if self.stops { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn goes_on(&mut self, _number: usize, game: &Game<'a>) -> bool {
        self.count(1);
        !self.stops && !game.is_over() && game.pieces() < self.bout.max_pieces
    }

    fn end(&mut self, number: usize, game: Game<'a>) {
        self.progress.end(game.lines());
        let (lines, pieces, digest) = (game.lines(), game.pieces(), game.digest());
        self.scores.push((number, Score { lines, pieces, digest, capped: !game.is_over() }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dropwise_core::Player;

    fn bout(controllers: &[Controller], max_pieces: u64) -> Bout<'_> {
        Bout { controllers, rules: Rules::new(6).unwrap(), seed: 9, games: 3..40, max_pieces, climbers: None }
    }

    #[test]
    fn every_game_is_the_one_its_index_says() {
        let controllers =
            ["dellacherie", "bcts", "dt20"].map(|name| Controller::new(Player::known(name).unwrap()));
        let progress = Progress::default();
        let scores = Arena::new(Some(3)).unwrap().play(&bout(&controllers, u64::MAX), &progress);
        let mut pieces = 0;
        for (controller, scores) in controllers.iter().zip(&scores) {
            for (index, score) in (3..40).zip(scores) {
                let mut game = Game::new(Rules::new(6).unwrap(), 9, index);
                game.play(controller, u64::MAX);
                assert_eq!((score.lines, score.digest), (game.lines(), game.digest()));
                assert!(!score.capped);
                pieces += score.pieces;
            }
        }
        assert_eq!((progress.pieces(), progress.ended().len()), (pieces, 3 * 37));
    }

    /// On a board where they go by books.
    #[test]
    fn long_games_are_those_their_indices_say() {
        let controllers = ["dt20", "bcts"].map(|name| Controller::new(Player::known(name).unwrap()));
        let rules = Rules::new(10).unwrap();
        let bout = Bout { rules, games: 0..9, ..bout(&controllers, 3_000) };
        let progress = Progress::default();
        let scores = Arena::new(Some(2)).unwrap().play(&bout, &progress);
        for (controller, scores) in controllers.iter().zip(&scores) {
            for (index, score) in (0..9).zip(scores) {
                let mut game = Game::new(rules, 9, index);
                game.play(controller, 3_000);
                assert_eq!(
                    (score.lines, score.pieces, score.digest),
                    (game.lines(), game.pieces(), game.digest())
                );
            }
        }
        let placed: u64 = scores.iter().flatten().map(|score| score.pieces).sum();
        assert_eq!(progress.pieces(), placed);
    }

    #[test]
    fn capped_games_say_so() {
        let controllers = [Controller::new(Player::known("bcts").unwrap())];
        let scores = Arena::new(Some(2)).unwrap().play(&bout(&controllers, 3), &Progress::default());
        assert!(scores[0].iter().all(|score| score.capped && score.pieces == 3));
    }

    #[test]
    fn no_games_and_no_controllers_give_no_scores() {
        let arena = Arena::new(Some(1)).unwrap();
        assert!(arena.play(&bout(&[], u64::MAX), &Progress::default()).is_empty());
        let controllers = [Controller::new(Player::known("bcts").unwrap())];
        let none = Bout { games: 5..5, ..bout(&controllers, u64::MAX) };
        assert_eq!(arena.play(&none, &Progress::default()), [vec![]]);
    }

    #[test]
    fn stopping_breaks_off_games() {
        let controllers = [Controller::new(Player::known("bcts").unwrap())];
        let progress = Progress::default();
        progress.stop();
        let scores = Arena::new(Some(1)).unwrap().play(&bout(&controllers, u64::MAX), &progress);
        assert!(scores[0].iter().all(|score| score.capped && score.pieces == 0));
    }
}
