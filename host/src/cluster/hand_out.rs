//! Who plays which games next: rank 0's book of what was handed out, and the rule by which it goes on.
//!
//! A bout is a table of games, a line for each arm (a candidate, a player) and a column for each game. Batches are games
//! of one arm that follow one another. Nothing here knows of messages or clocks, so that the cluster and the
//! [study](super::study) of it share every line.
//!
//! What each rule of [`Policy::PRESENT`] is for stands in `docs/cluster.md`, with what it gained.

use std::collections::VecDeque;
use std::ops::Range;

use serde::{Deserialize, Serialize};

/// So many seconds of cores pass between two looks for messages. A look with all that comes of it is reckoned at 20
/// microseconds of one core: a two hundredth.
const LOOK: f64 = 4e-3;

/// The most seconds between two looks, in a bout and in a race, whose next games depend on what is heard.
const LONGEST_LOOK: f64 = 2e-3;
const LONGEST_LOOK_RACE: f64 = 0.5e-3;

/// The seconds that a message may be late beside the look.
const LATE: f64 = 0.1e-3;

/// The most seconds for which a rank that has more to play keeps what it has played to itself.
pub const PATIENCE: f64 = 20e-3;

/// The seconds of rank 0 that go into a rank's report and the order that answers it, measured over TCP.
const EXCHANGE: f64 = 12e-6;

/// The most games in a batch.
const LARGEST: u64 = 512;

/// The batch size of [`Policy::PLAIN`].
const FIXED: u64 = 4;

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
    /// A rank gets half of its share of what is left at a time, in batches that shrink with it; else batches of four
    /// games, one for each of its cores. It does not report every batch while it has others.
    pub parcels: bool,
    /// A rank has short games in store while a message is on its way.
    pub reserve: bool,
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
    /// A plain one to compare with: small batches of equal size, a race round by round.
    pub const PLAIN: Policy = Policy {
        parcels: false,
        reserve: false,
        long_first: false,
        ahead: false,
        alert: false,
        joined: false,
    };
    /// The one that the cluster uses.
    pub const PRESENT: Policy =
        Policy { parcels: true, reserve: true, long_first: true, ahead: true, alert: true, joined: true };
}

#[derive(Clone, Debug, Default)]
struct Arm {
    /// The next game to hand out, and how far they go.
    next: u64,
    end: u64,
    /// Games that came back, and the seconds they took.
    ended: u64,
    seconds: f64,
}

impl Arm {
    fn left(&self) -> u64 {
        self.end - self.next
    }

    /// Seconds a game; an arm of which nothing came back yet may well be the one that plays longest.
    fn mean(&self) -> f64 {
        if self.ended == 0 { f64::INFINITY } else { self.seconds / self.ended as f64 }
    }
}

#[derive(Clone, Debug)]
struct Rank {
    cores: usize,
    /// What it has not given back.
    held: Vec<Batch>,
}

/// What a rank is about to get.
#[derive(Clone, Copy, Debug)]
struct Parcel {
    rank: usize,
    /// Seconds of games that are still to go in.
    seconds: f64,
    batch: Size,
}

#[derive(Clone, Copy, Debug)]
enum Size {
    Games(u64),
    Seconds(f64),
}

/// The book of a bout.
#[derive(Clone, Debug)]
pub struct HandOut {
    policy: Policy,
    /// Whether arms play in rounds, and how many games a round's end has let through.
    race: Option<u64>,
    /// Batches that were made elsewhere, to be handed out as they are.
    made: VecDeque<Batch>,
    is_made: bool,
    arms: Vec<Arm>,
    ranks: Vec<Rank>,
    cores: u64,
    /// Games not yet handed out.
    left: u64,
    /// The parcel that is being filled.
    parcel: Option<Parcel>,
    ended: u64,
    seconds: f64,
}

impl HandOut {
    /// A bout in which each arm plays the same games; `cores` are those of each rank.
    pub fn bout(policy: Policy, cores: &[usize], arms: usize, games: Range<u64>) -> HandOut {
        let arm = Arm { next: games.start, end: games.end.max(games.start), ..Arm::default() };
        let ranks = cores.iter().map(|&cores| Rank { cores, held: vec![] }).collect();
        HandOut {
            policy,
            race: None,
            made: VecDeque::new(),
            is_made: false,
            left: arm.left() * arms as u64,
            parcel: None,
            arms: vec![arm; arms],
            ranks,
            cores: cores.iter().sum::<usize>() as u64,
            ended: 0,
            seconds: 0.0,
        }
    }

    /// The same as a race: game by game, all arms that are still in it.
    pub fn race(policy: Policy, cores: &[usize], arms: usize, games: Range<u64>) -> HandOut {
        let race = Some(games.start + 1);
        HandOut { race, ..HandOut::bout(policy, cores, arms, games) }
    }

    /// Batches of so many arms that were made elsewhere, in this order.
    pub fn batches(policy: Policy, cores: &[usize], arms: usize, made: VecDeque<Batch>) -> HandOut {
        let left = made.iter().map(|batch| u64::from(batch.games)).sum();
        HandOut { made, is_made: true, left, ..HandOut::bout(policy, cores, arms, 0..0) }
    }

    /// Whether nothing is left to hand out and nothing held.
    pub fn is_over(&self) -> bool {
        self.left == 0 && self.ranks.iter().all(|rank| rank.held.is_empty())
    }

    /// How many arms there are.
    pub fn arms(&self) -> usize {
        self.arms.len()
    }

    /// Whether all cores of a rank are at work.
    pub fn is_busy(&self, rank: usize) -> bool {
        self.ranks[rank].held.len() >= self.ranks[rank].cores
    }

    /// Whether a rank holds something.
    pub fn is_held_by(&self, rank: usize) -> bool {
        !self.ranks[rank].held.is_empty()
    }

    /// The next batch, and for which rank; none if there is none or all have enough.
    pub fn hand_out(&mut self) -> Option<(usize, Batch)> {
        let mut parcel = match self.parcel.take() {
            Some(parcel) => parcel,
            None => self.new_parcel()?,
        };
        let batch = self.next_batch(parcel.batch)?;
        parcel.seconds -= self.cost(&self.arms[batch.arm as usize]) * f64::from(batch.games);
        self.parcel = (parcel.seconds > 0.0).then_some(parcel);
        self.ranks[parcel.rank].held.push(batch);
        Some((parcel.rank, batch))
    }

    fn new_parcel(&self) -> Option<Parcel> {
        let rank = self.in_want()?;
        let one = |games| Some(Parcel { rank, seconds: 0.0, batch: Size::Games(games) });
        if self.race.is_some() || self.is_made {
            return one(1);
        }
        if !self.policy.parcels {
            return one(FIXED);
        }
        let left: f64 = self.arms.iter().map(|arm| arm.left() as f64 * self.cost(arm)).sum();
        let cores = self.ranks[rank].cores as f64;
        let seconds = left * cores / (2 * self.cores) as f64;
        // Towards the end there is a game for each idle core.
        if seconds < cores * self.mean() {
            return one(1);
        }
        Some(Parcel { rank, seconds, batch: Size::Seconds(seconds / (4.0 * cores)) })
    }

    /// Seconds that a game of an arm takes, as far as it is known.
    fn cost(&self, arm: &Arm) -> f64 {
        let mean = arm.mean();
        if mean.is_finite() { mean } else { self.mean() }
    }

    /// A rank has played a batch, in so many seconds of a core. Whether it is news: not of a batch that was dropped.
    pub fn give_back(&mut self, rank: usize, batch: Batch, seconds: f64) -> bool {
        let held = &mut self.ranks[rank].held;
        let Some(found) = held.iter().position(|other| *other == batch) else { return false };
        held.swap_remove(found);
        let (games, arm) = (u64::from(batch.games), &mut self.arms[batch.arm as usize]);
        arm.ended += games;
        arm.seconds += seconds;
        self.ended += games;
        self.seconds += seconds;
        true
    }

    /// An arm plays no more. The ranks that hold games of it, which they need not play.
    pub fn drop_arm(&mut self, arm: usize) -> Vec<usize> {
        self.left -= self.arms[arm].left();
        self.arms[arm].end = self.arms[arm].next;
        let mut holders = vec![];
        for (number, rank) in self.ranks.iter_mut().enumerate() {
            let before = rank.held.len();
            rank.held.retain(|batch| batch.arm as usize != arm);
            if rank.held.len() < before {
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
        let waiting = if rank == 0 { self.cores as f64 } else { self.ranks[rank].cores as f64 };
        longest.min(LOOK / waiting)
    }

    /// Whether a rank that has more to play may keep what it has played to itself for a while.
    pub fn is_patient(&self) -> bool {
        self.policy.parcels && self.race.is_none() && !self.is_made
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
        self.race = self.race.map(|until| until + 1);
    }

    /// Seconds a game so far; a first guess is that it is not short.
    fn mean(&self) -> f64 {
        if self.ended == 0 { 1.0 } else { self.seconds / self.ended as f64 }
    }

    /// The rank that should get the next batch: one with an idle core, or else one that will have one soon.
    fn in_want(&self) -> Option<usize> {
        if self.left == 0 {
            return None;
        }
        let idle = |rank: &Rank| rank.held.len() < rank.cores;
        if let Some(rank) = self.ranks.iter().position(idle) {
            return Some(rank);
        }
        // Towards the end what is in store at one rank is missed at another.
        if !self.policy.reserve || self.left < self.cores {
            return None;
        }
        let (mean, reach) = (self.mean(), 2.0 * self.look(0) + LATE);
        let soon = |rank: &Rank| {
            let stored: u64 = rank.held[rank.cores..].iter().map(|batch| u64::from(batch.games)).sum();
            mean < reach && stored as f64 * mean < reach * rank.cores as f64
        };
        self.ranks.iter().position(soon)
    }

    fn next_batch(&mut self, size: Size) -> Option<Batch> {
        if let Some(batch) = self.made.pop_front() {
            self.left -= u64::from(batch.games);
            return Some(batch);
        }
        let until = self.race.filter(|_| !self.policy.ahead).unwrap_or(u64::MAX);
        let ready = || self.arms.iter().enumerate().filter(|(_, arm)| arm.left() > 0 && arm.next < until);
        let (number, _) = if self.race.is_some() {
            ready().min_by_key(|(_, arm)| arm.next)?
        } else if self.policy.long_first {
            // Of those that are alike, the one that has played least.
            ready().max_by(|(_, a), (_, b)| a.mean().total_cmp(&b.mean()).then(b.next.cmp(&a.next)))?
        } else {
            ready().next()?
        };
        let games = match size {
            Size::Games(games) => games,
            Size::Seconds(seconds) => (seconds / self.cost(&self.arms[number]).max(1e-9)) as u64,
        };
        let arm = &mut self.arms[number];
        let games = games.clamp(1, LARGEST).min(arm.left());
        let batch = Batch { arm: number as u32, first: arm.next, games: games as u32 };
        arm.next += games;
        self.left -= games;
        Some(batch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Hands out all, each rank giving back what it holds in turn; the games in the order they were handed out.
    fn exhaust(mut book: HandOut, seconds: impl Fn(Batch) -> f64) -> Vec<(usize, Batch)> {
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
                Some((rank, batch)) => assert!(book.give_back(rank, batch, seconds(batch))),
                None => book.next_round(),
            }
        }
    }

    #[test]
    fn every_game_is_handed_out_once() {
        for policy in [Policy::PLAIN, Policy::PRESENT] {
            for book in [
                HandOut::bout(policy, &[1, 2], 7, 3..40),
                HandOut::race(policy, &[1, 2], 7, 3..40),
                HandOut::bout(policy, &[1; 300], 7, 3..40),
            ] {
                let batches = exhaust(book, |batch| f64::from(batch.games) * 1e-5);
                let games: Vec<(u32, u64)> = batches
                    .iter()
                    .flat_map(|(_, batch)| batch.range().map(move |game| (batch.arm, game)))
                    .collect();
                assert_eq!(games.len(), 7 * 37);
                assert_eq!(games.iter().collect::<BTreeSet<_>>().len(), 7 * 37);
            }
        }
    }

    #[test]
    fn nothing_to_play_is_over_at_once() {
        assert!(HandOut::bout(Policy::PRESENT, &[2], 0, 0..9).is_over());
        let mut none = HandOut::race(Policy::PRESENT, &[2], 3, 5..5);
        assert!(none.is_over() && none.hand_out().is_none());
    }

    #[test]
    fn batches_shrink_to_single_games() {
        let batches = exhaust(HandOut::bout(Policy::PRESENT, &[2, 2], 1, 0..1000), |_| 1.0);
        assert_eq!(batches[0].1.games, 1000 / 4 / 8);
        assert!(batches[batches.len() - 4..].iter().all(|(_, batch)| batch.games == 1));
        assert!(batches.len() < 200, "{}", batches.len());
    }

    #[test]
    fn short_games_are_kept_in_store_and_long_ones_not() {
        let after_one = |seconds: f64| {
            let mut book = HandOut::bout(Policy { parcels: false, ..Policy::PRESENT }, &[1, 1], 1, 0..1000);
            while book.hand_out().is_some() {}
            let batch = book.ranks[0].held[0];
            book.give_back(0, batch, f64::from(batch.games) * seconds);
            while book.hand_out().is_some() {}
            book.ranks[1].held.len()
        };
        assert_eq!(after_one(0.1), 1);
        assert!(after_one(1e-4) > 4);
    }

    #[test]
    fn arms_that_play_long_come_first() {
        let mut book = HandOut::bout(Policy::PRESENT, &[3], 3, 0..50);
        let first: Vec<Batch> = std::iter::from_fn(|| book.hand_out()).map(|(_, batch)| batch).collect();
        assert_eq!(first.iter().map(|batch| batch.arm).collect::<BTreeSet<_>>().len(), 3);
        for batch in first {
            book.give_back(0, batch, [0.1, 0.3, 0.2][batch.arm as usize] * f64::from(batch.games));
        }
        assert_eq!(book.hand_out().map(|(_, batch)| batch.arm), Some(1));
    }

    #[test]
    fn a_race_waits_for_its_round_or_plays_ahead_lowest_games_first() {
        let waiting = exhaust(HandOut::race(Policy::PLAIN, &[4], 2, 0..3), |_| 1.0);
        let ahead = exhaust(HandOut::race(Policy::PRESENT, &[4], 2, 0..3), |_| 1.0);
        for batches in [&waiting, &ahead] {
            let games: Vec<u64> = batches.iter().map(|(_, batch)| batch.first).collect();
            assert_eq!(games, [0, 0, 1, 1, 2, 2]);
        }
        let mut book = HandOut::race(Policy::PLAIN, &[4], 2, 0..3);
        assert_eq!(std::iter::from_fn(|| book.hand_out()).count(), 2);
        let mut book = HandOut::race(Policy::PRESENT, &[4], 2, 0..3);
        assert_eq!(std::iter::from_fn(|| book.hand_out()).count(), 4);
    }

    #[test]
    fn dropped_arms_play_no_more_and_their_games_are_no_news() {
        let mut book = HandOut::race(Policy::PRESENT, &[2, 2], 3, 0..10);
        let given: Vec<(usize, Batch)> = std::iter::from_fn(|| book.hand_out()).collect();
        let (rank, batch) = given[1];
        assert_eq!(batch.arm, 1);
        assert_eq!(book.drop_arm(1), [rank]);
        assert!(!book.give_back(rank, batch, 1.0));
        let (rank, batch) = given[0];
        assert!(book.give_back(rank, batch, 1.0));
        let rest = exhaust(book, |_| 1.0);
        assert!(rest.iter().all(|(_, batch)| batch.arm != 1));
        assert_eq!(rest.len(), 20 - given.len() + 1);
    }
}
