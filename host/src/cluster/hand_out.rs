//! Who plays which games next: rank 0's book of what was handed out, and the rule by which it goes on.
//!
//! A bout is a table of games, a line for each arm (a candidate, a player) and a column for each game. Every core of a
//! rank plays many games [side by side](crate::together), and a rank is given another one for each that it gives back.
//! Nothing here knows of messages or clocks, so that the cluster and the [study](super::study) of it share every line.
//!
//! What each rule of [`Policy::PRESENT`] is for stands in `docs/cluster.md`, with what it gained.

use std::collections::{BTreeSet, VecDeque};
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::together;

/// A core holds so many times its share of the games that are left, if it has seats for them: the more it holds, the faster
/// it plays, but what it holds towards the end is missed elsewhere. Where cores are few and have many games of a bout, what
/// they hold is much alike, so they may hold more.
fn shares(games: u64, cores: u64) -> u64 {
    if games / cores < MANY { 2 } else { (128 / cores).max(2) }
}

/// So many games for a core are many.
const MANY: u64 = 32;

/// The fewest games for a core while there are any, and those in a race, of which many are played in vain: with one alone
/// it would be idle until the next one comes.
const FEWEST: u64 = 2;

/// So many seconds of cores pass between two looks for messages. A look with all that comes of it is reckoned at 20
/// microseconds of one core: a two hundredth.
const LOOK: f64 = 4e-3;

/// The most seconds between two looks, in a bout and in a race, whose next games depend on what is heard.
const LONGEST_LOOK: f64 = 2e-3;
const LONGEST_LOOK_RACE: f64 = 0.5e-3;

/// The most seconds for which a rank that has [plenty](is_plenty) to play keeps what it has played to itself.
pub const PATIENCE: f64 = 20e-3;

/// The seconds of rank 0 that go into a rank's report and the order that answers it, measured over TCP.
const EXCHANGE: f64 = 12e-6;

/// The games for a core by [`Policy::PLAIN`].
const FIXED: u64 = 4;

/// Whether a rank that was given so many games, and still has so many of them, need not hurry to report.
pub fn is_plenty(given: usize, held: usize) -> bool {
    4 * held > 3 * given
}

/// How many games a core may have in play, of those that its rank holds.
pub fn fair_share(held: usize, cores: usize) -> usize {
    held.div_ceil(cores.max(1)).min(together::PLENTY)
}

/// Some games of one arm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Batch {
    /// Whose.
    pub arm: u32,
    /// The first of them.
    pub first: u64,
    /// How many.
    pub games: u32,
}

impl Batch {
    /// The indices of the games.
    pub fn range(&self) -> Range<u64> {
        self.first..self.first + u64::from(self.games)
    }
}

/// The rules by which games are handed out. No result depends on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// A core holds as many games as make it fast, fewer towards the end; else four. Its rank does not report each of
    /// them while it has plenty.
    pub tables: bool,
    /// Arms whose games last long go first, as far as it is known.
    pub long_first: bool,
    /// Arms of a race play on before the slowest of a round is done.
    pub ahead: bool,
    /// Ranks look for messages the more often the more cores wait for them, and report the less often the more of them
    /// there are.
    pub alert: bool,
    /// A rank is told what is played with its first games; else all are told first.
    pub joined: bool,
}

impl Policy {
    /// A plain one to compare with: a few games for each core, a race round by round.
    pub const PLAIN: Policy =
        Policy { tables: false, long_first: false, ahead: false, alert: false, joined: false };
    /// The one that the cluster uses.
    pub const PRESENT: Policy =
        Policy { tables: true, long_first: true, ahead: true, alert: true, joined: true };
}

#[derive(Clone, Debug, Default)]
struct Arm {
    /// The next game to hand out, and how far they go.
    next: u64,
    end: u64,
    /// Games that came back, and the pieces they took.
    ended: u64,
    pieces: u64,
}

impl Arm {
    fn left(&self) -> u64 {
        self.end - self.next
    }

    /// Pieces a game; an arm of which nothing came back yet may well be the one that plays longest.
    fn mean(&self) -> f64 {
        if self.ended == 0 { f64::INFINITY } else { self.pieces as f64 / self.ended as f64 }
    }
}

#[derive(Clone, Debug)]
struct Rank {
    cores: u64,
    /// What it has not given back, and how many games that is.
    held: BTreeSet<Batch>,
    games: u64,
}

/// The book of a bout.
#[derive(Clone, Debug)]
pub struct HandOut {
    policy: Policy,
    /// The most games that a core plays at a time.
    seats: u64,
    /// Whether arms play in rounds, and the one that is under way.
    race: Option<u64>,
    /// Batches that were made elsewhere, to be handed out as they are.
    made: VecDeque<Batch>,
    arms: Vec<Arm>,
    ranks: Vec<Rank>,
    cores: u64,
    /// Games not yet handed out.
    left: u64,
    /// [`shares`] of this bout.
    shares: u64,
}

impl HandOut {
    /// A bout in which each arm plays the same games; `cores` are those of each rank, `seats` the games that one of them
    /// can play at a time.
    pub fn bout(policy: Policy, cores: &[usize], seats: usize, arms: usize, games: Range<u64>) -> HandOut {
        let arm = Arm { next: games.start, end: games.end.max(games.start), ..Arm::default() };
        let rank = |&cores| Rank { cores: cores as u64, held: BTreeSet::new(), games: 0 };
        let left = arm.left() * arms as u64;
        let all_cores = cores.iter().sum::<usize>() as u64;
        HandOut {
            policy,
            seats: seats as u64,
            race: None,
            made: VecDeque::new(),
            left,
            shares: shares(left, all_cores),
            arms: vec![arm; arms],
            ranks: cores.iter().map(rank).collect(),
            cores: all_cores,
        }
    }

    /// The same as a race: game by game, all arms that are still in it.
    pub fn race(policy: Policy, cores: &[usize], seats: usize, arms: usize, games: Range<u64>) -> HandOut {
        let race = Some(games.start);
        HandOut { race, ..HandOut::bout(policy, cores, seats, arms, games) }
    }

    /// Batches of so many arms that were made elsewhere, in this order. A core that plays one at a time has one seat.
    pub fn batches(
        policy: Policy,
        cores: &[usize],
        seats: usize,
        arms: usize,
        made: VecDeque<Batch>,
    ) -> HandOut {
        let left = made.iter().map(|batch| u64::from(batch.games)).sum();
        let empty = HandOut::bout(policy, cores, seats, arms, 0..0);
        HandOut { made, left, shares: shares(left, empty.cores), ..empty }
    }

    /// Whether nothing is left to hand out and nothing held.
    pub fn is_over(&self) -> bool {
        self.left == 0 && self.ranks.iter().all(|rank| rank.held.is_empty())
    }

    /// How many arms there are.
    pub fn arms(&self) -> usize {
        self.arms.len()
    }

    /// Whether a rank holds something.
    pub fn is_held_by(&self, rank: usize) -> bool {
        !self.ranks[rank].held.is_empty()
    }

    /// The next game, or batch that was made elsewhere, and for which rank; none if there is none or all have enough.
    pub fn hand_out(&mut self) -> Option<(usize, Batch)> {
        let rank = self.in_want()?;
        let batch = self.next_batch()?;
        self.ranks[rank].held.insert(batch);
        self.ranks[rank].games += self.weight(batch);
        Some((rank, batch))
    }

    /// A rank has played a batch, in so many pieces. Whether it is news: not of a batch that was dropped.
    pub fn give_back(&mut self, rank: usize, batch: Batch, pieces: u64) -> bool {
        if !self.ranks[rank].held.remove(&batch) {
            return false;
        }
        self.ranks[rank].games -= self.weight(batch);
        let arm = &mut self.arms[batch.arm as usize];
        arm.ended += u64::from(batch.games);
        arm.pieces += pieces;
        true
    }

    /// An arm of a bout plays no more. The ranks that hold games of it, which they need not play.
    pub fn drop_arm(&mut self, arm: usize) -> Vec<usize> {
        self.left -= self.arms[arm].left();
        self.arms[arm].end = self.arms[arm].next;
        let mut holders = vec![];
        for (number, rank) in self.ranks.iter_mut().enumerate() {
            let before = rank.held.len();
            rank.held.retain(|batch| batch.arm as usize != arm);
            if rank.held.len() < before {
                rank.games -= (before - rank.held.len()) as u64;
                holders.push(number);
            }
        }
        holders
    }

    /// The seconds between two looks for messages of a rank whose cores are all at work. The more cores wait for rank
    /// 0, the more often it looks; the others look for themselves alone.
    pub fn look(&self, rank: usize) -> f64 {
        let longest = if self.race.is_some() { LONGEST_LOOK_RACE } else { LONGEST_LOOK };
        if !self.policy.alert {
            return longest;
        }
        let waiting = if rank == 0 { self.cores } else { self.ranks[rank].cores };
        longest.min(LOOK / waiting as f64)
    }

    /// Whether a rank that has plenty to play may keep what it has played to itself for a while.
    pub fn is_patient(&self) -> bool {
        self.policy.tables && self.race.is_none() && self.seats > 1
    }

    /// The seconds between two reports of a rank that has something to play: were all to report more often, rank 0
    /// would have no time to answer.
    pub fn rest(&self) -> f64 {
        if self.policy.alert { EXCHANGE * self.ranks.len() as f64 } else { 0.0 }
    }

    /// Whether ranks are told what is played only when they get something to play.
    pub fn is_joined(&self) -> bool {
        self.policy.joined
    }

    /// A race's next round begins.
    pub fn next_round(&mut self) {
        self.race = self.race.map(|round| round + 1);
    }

    /// How much of a rank's cores a batch takes: where they play one at a time, one.
    fn weight(&self, batch: Batch) -> u64 {
        if self.seats == 1 { 1 } else { u64::from(batch.games) }
    }

    /// How many games a core should hold.
    fn games_for_a_core(&self) -> u64 {
        let games = match (self.policy.tables, self.race) {
            (false, _) => FIXED,
            (true, Some(_)) => FEWEST,
            (true, None) => (self.shares * self.left / self.cores).max(FEWEST),
        };
        // A few wait for a seat, so that none stands empty while a message is on its way.
        games.min(self.seats + self.seats / 8)
    }

    /// The rank that should get the next game: the one with the fewest for its cores, unless it has enough.
    fn in_want(&self) -> Option<usize> {
        if self.left == 0 {
            return None;
        }
        let (number, rank) = self
            .ranks
            .iter()
            .enumerate()
            .min_by(|(_, a), (_, b)| (a.games * b.cores).cmp(&(b.games * a.cores)))?;
        (rank.games < self.games_for_a_core() * rank.cores).then_some(number)
    }

    fn next_batch(&mut self) -> Option<Batch> {
        if let Some(batch) = self.made.pop_front() {
            self.left -= u64::from(batch.games);
            return Some(batch);
        }
        let until = self.race.filter(|_| !self.policy.ahead).map_or(u64::MAX, |round| round + 1);
        let ready = || self.arms.iter().enumerate().filter(|(_, arm)| arm.left() > 0 && arm.next < until);
        let (number, _) = if self.race.is_some() {
            ready().min_by_key(|(_, arm)| arm.next)?
        } else if self.policy.long_first {
            // Of those that are alike, the one that has played least.
            ready().max_by(|(_, a), (_, b)| a.mean().total_cmp(&b.mean()).then(b.next.cmp(&a.next)))?
        } else {
            ready().next()?
        };
        let arm = &mut self.arms[number];
        let batch = Batch { arm: number as u32, first: arm.next, games: 1 };
        arm.next += 1;
        self.left -= 1;
        Some(batch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEATS: usize = together::PLENTY;

    /// Hands out all, each rank giving back what it holds in turn; the games in the order they were handed out.
    fn exhaust(mut book: HandOut, pieces: impl Fn(Batch) -> u64) -> Vec<(usize, Batch)> {
        let mut all = vec![];
        loop {
            while let Some((rank, batch)) = book.hand_out() {
                all.push((rank, batch));
            }
            if book.is_over() {
                return all;
            }
            let held = (0..book.ranks.len()).find_map(|rank| {
                let batch = book.ranks[rank].held.first().copied()?;
                Some((rank, batch))
            });
            match held {
                Some((rank, batch)) => assert!(book.give_back(rank, batch, pieces(batch))),
                None => book.next_round(),
            }
        }
    }

    #[test]
    fn every_game_is_handed_out_once() {
        for policy in [Policy::PLAIN, Policy::PRESENT] {
            for book in [
                HandOut::bout(policy, &[1, 2], SEATS, 7, 3..40),
                HandOut::bout(policy, &[1, 2], 1, 7, 3..40),
                HandOut::race(policy, &[1, 2], SEATS, 7, 3..40),
                HandOut::bout(policy, &[1; 300], SEATS, 7, 3..40),
            ] {
                let batches = exhaust(book, |_| 10);
                let games: BTreeSet<(u32, u64)> =
                    batches.iter().map(|(_, batch)| (batch.arm, batch.first)).collect();
                assert!(batches.iter().all(|(_, batch)| batch.games == 1));
                assert_eq!((batches.len(), games.len()), (7 * 37, 7 * 37));
            }
        }
    }

    #[test]
    fn nothing_to_play_is_over_at_once() {
        assert!(HandOut::bout(Policy::PRESENT, &[2], SEATS, 0, 0..9).is_over());
        let mut none = HandOut::race(Policy::PRESENT, &[2], SEATS, 3, 5..5);
        assert!(none.is_over() && none.hand_out().is_none());
    }

    fn held(book: &HandOut) -> Vec<u64> {
        book.ranks.iter().map(|rank| rank.games).collect()
    }

    #[test]
    fn tables_are_filled_alike_and_topped_up_and_shrink_towards_the_end() {
        const CORES: u64 = 96;
        let mut book = HandOut::bout(Policy::PRESENT, &[64, 32], 20, 1, 0..30_000);
        while book.hand_out().is_some() {}
        assert_eq!(held(&book), [64 * 22, 32 * 22]);
        let batch = *book.ranks[1].held.first().unwrap();
        assert!(book.give_back(1, batch, 10));
        assert_eq!(book.hand_out().map(|(rank, _)| rank), Some(1));
        assert_eq!(book.hand_out(), None);
        let mut most = vec![];
        while !book.is_over() {
            let fullest = if book.ranks[0].games > 2 * book.ranks[1].games { 0 } else { 1 };
            let rank = if book.is_held_by(fullest) { fullest } else { 1 - fullest };
            let batch = *book.ranks[rank].held.first().unwrap();
            book.give_back(rank, batch, 10);
            while book.hand_out().is_some() {}
            most.push(held(&book).iter().sum::<u64>());
        }
        assert!(most.is_sorted_by(|a, b| a >= b), "{most:?}");
        // When nothing is left to hand out a core holds a few.
        assert_eq!(most[most.len() - 1 - (CORES * FEWEST) as usize], CORES * FEWEST);
    }

    #[test]
    fn a_few_cores_with_many_games_keep_full_tables_to_the_end() {
        let (all, most) = (1_200, 512 + 64);
        let mut book = HandOut::bout(Policy::PRESENT, &[1, 1], SEATS, 1, 0..all);
        while book.hand_out().is_some() {}
        // Until 64 shares of what is left are less than that.
        for left in (17..all - 2 * most).rev() {
            assert_eq!(held(&book), [most; 2]);
            let batch = *book.ranks[0].held.first().unwrap();
            assert!(book.give_back(0, batch, 10) && book.hand_out().is_some(), "{left}");
        }
        let mut few = HandOut::bout(Policy::PRESENT, &[1, 1], SEATS, 1, 0..2 * MANY - 1);
        while few.hand_out().is_some() {}
        assert_eq!(held(&few), [MANY / 3 * 2 + 1; 2], "twice what is left for each");
    }

    #[test]
    fn where_a_core_plays_one_at_a_time_it_holds_one() {
        let batch = |first| Batch { arm: 0, first, games: 5 };
        let made: VecDeque<Batch> = (0..9).map(|i| batch(5 * i)).collect();
        let mut book = HandOut::batches(Policy::PRESENT, &[2, 1], 1, 1, made);
        let mut given: Vec<usize> = std::iter::from_fn(|| book.hand_out()).map(|(rank, _)| rank).collect();
        given.sort_unstable();
        assert_eq!(given, [0, 0, 1]);
        assert_eq!(exhaust(book, |_| 1).len(), 6);
    }

    #[test]
    fn arms_that_play_long_come_first() {
        let mut book = HandOut::bout(Policy::PRESENT, &[3], SEATS, 3, 0..50);
        let first: Vec<Batch> = std::iter::from_fn(|| book.hand_out()).map(|(_, batch)| batch).collect();
        assert_eq!(first.iter().map(|batch| batch.arm).collect::<BTreeSet<_>>().len(), 3);
        for batch in first {
            book.give_back(0, batch, [100, 300, 200][batch.arm as usize]);
        }
        assert_eq!(book.hand_out().map(|(_, batch)| batch.arm), Some(1));
    }

    #[test]
    fn a_race_waits_for_its_round_or_plays_ahead_lowest_games_first() {
        let waiting = exhaust(HandOut::race(Policy::PLAIN, &[4], SEATS, 2, 0..3), |_| 1);
        let ahead = exhaust(HandOut::race(Policy::PRESENT, &[4], SEATS, 2, 0..3), |_| 1);
        for batches in [&waiting, &ahead] {
            let games: Vec<u64> = batches.iter().map(|(_, batch)| batch.first).collect();
            assert_eq!(games, [0, 0, 1, 1, 2, 2]);
        }
        let mut book = HandOut::race(Policy::PLAIN, &[4], SEATS, 2, 0..3);
        assert_eq!(std::iter::from_fn(|| book.hand_out()).count(), 2);
        book.next_round();
        assert_eq!(std::iter::from_fn(|| book.hand_out()).count(), 2);
        let mut book = HandOut::race(Policy::PRESENT, &[2], SEATS, 2, 0..3);
        assert_eq!(std::iter::from_fn(|| book.hand_out()).count(), 2 * FEWEST as usize);
    }

    #[test]
    fn dropped_arms_play_no_more_and_their_games_are_no_news() {
        let mut book = HandOut::race(Policy::PRESENT, &[1, 1], SEATS, 4, 0..10);
        let given: Vec<(usize, Batch)> = std::iter::from_fn(|| book.hand_out()).collect();
        let (rank, batch) = given[1];
        assert_eq!(batch.arm, 1);
        assert_eq!(book.drop_arm(1), [rank]);
        assert!(!book.give_back(rank, batch, 1));
        let (rank, batch) = given[0];
        assert!(book.give_back(rank, batch, 1));
        let rest = exhaust(book, |_| 1);
        assert!(rest.iter().all(|(_, batch)| batch.arm != 1));
        assert_eq!(rest.len(), 30 - given.len() + 1);
    }
}
