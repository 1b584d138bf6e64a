//! A cluster by the clock of a simulation: recorded games are played again, handed out as the true one does.
//!
//! What is modelled: a core plays its games side by side, all alike, the faster the more there are; rank 0 handles messages
//! one after the other and looks for them now and then while its own threads play; a message is some time on its way; a
//! rank whose cores are all busy looks for orders, and for what it has to report, now and then; dropped games end after
//! half a slice. What is not: that rank 0's messages take time of its own threads, that threads share a machine's caches,
//! and that cores differ.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, VecDeque};

use super::trace::{Bout, Pace, Trace};
use crate::cluster::hand_out::{Batch, HandOut, PATIENCE, Policy, fair_share, is_plenty};
use crate::train::race::Race;

/// What messages cost, in seconds.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Costs {
    /// From one rank to another.
    pub latency: f64,
    /// Of rank 0, for a message sent or received.
    pub handling: f64,
}

/// How long games go on that were dropped; see the crew.
const SLICE_PIECES: f64 = (1 << 14) as f64;

/// How many cores, and how many of them a rank has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Machine {
    /// All.
    pub cores: usize,
    /// Of a rank.
    pub cores_per_rank: usize,
}

impl Machine {
    fn ranks(self) -> Vec<usize> {
        let whole = self.cores / self.cores_per_rank;
        let rest = self.cores % self.cores_per_rank;
        std::iter::repeat_n(self.cores_per_rank, whole).chain((rest > 0).then_some(rest)).collect()
    }
}

/// What a replay took, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Outcome {
    /// From beginning to end.
    pub time: f64,
    /// Of one core that always has enough games to be at its fastest, for the games that count.
    pub work: f64,
    /// From beginning to end if messages took no time: each bout as long as its longest game alone, or as its work
    /// divided among the cores, and the thinking between.
    pub bound: f64,
    /// Of that, the thinking.
    pub thinking: f64,
}

impl Outcome {
    /// The share of all cores' time that went into games that count.
    pub fn efficiency(&self, machine: Machine) -> f64 {
        self.work / (self.time * machine.cores as f64)
    }

    /// The most that it could be.
    pub fn bound(&self, machine: Machine) -> f64 {
        self.work / (self.bound * machine.cores as f64)
    }
}

/// Plays a trace again. Without costs every message is noticed at once.
pub fn replay(trace: &Trace, policy: Policy, machine: Machine, costs: Option<Costs>) -> Outcome {
    let mut sum = Outcome::default();
    let pace = &trace.head.pace;
    for bout in &trace.bouts {
        let cores = machine.ranks();
        let (arms, games) = (bout.pieces.len(), bout.pieces[0].len() as u64);
        let book = match &bout.race {
            None => HandOut::bout(policy, &cores, pace.seats(), arms, 0..games),
            Some(rules) => HandOut::race(policy, &cores, pace.seats(), arms, 0..u64::from(rules.limit)),
        };
        let mut referee = Referee::new(bout);
        let clock = Clock::new(bout, pace, costs, &cores);
        let time = clock.run(book, |book, batch| referee.take(book, batch));
        let counted = |arm: usize| bout.pieces[arm].iter().take(referee.counted[arm] as usize);
        let work = (0..arms).flat_map(counted).sum::<u64>() as f64 / pace.best();
        let longest = (0..arms).flat_map(counted).copied().max().unwrap_or(0) as f64 / pace.of(1);
        sum.time += bout.think + time;
        sum.work += work;
        sum.bound += bout.think + longest.max(work / machine.cores as f64);
        sum.thinking += bout.think;
    }
    sum
}

/// Decides a race as the trainer would.
struct Referee<'a> {
    bout: &'a Bout,
    race: Option<Race>,
    /// Games of each arm that came back, in no order.
    known: Vec<Vec<bool>>,
    /// Games of each arm that count.
    counted: Vec<u64>,
}

impl<'a> Referee<'a> {
    fn new(bout: &'a Bout) -> Referee<'a> {
        let (arms, games) = (bout.pieces.len(), bout.pieces[0].len());
        let race = bout.race.as_ref().map(|rules| Race::new(rules.config, arms, rules.mu, rules.limit));
        let counted = vec![if race.is_some() { 0 } else { games as u64 }; arms];
        Referee { bout, race, known: vec![vec![false; games]; arms], counted }
    }

    /// The arms that need not play on.
    fn take(&mut self, book: &mut HandOut, batch: Batch) -> Vec<usize> {
        let Some(race) = &mut self.race else { return vec![] };
        batch.range().for_each(|game| self.known[batch.arm as usize][game as usize] = true);
        let mut dropped = vec![];
        loop {
            let (playing, game) = (race.playing(), race.round() as usize);
            if playing.is_empty() || !playing.iter().all(|&arm| self.known[arm][game]) {
                return dropped;
            }
            race.feed(&playing.iter().map(|&arm| self.bout.lines[arm][game] as f64).collect::<Vec<f64>>());
            book.next_round();
            playing.iter().for_each(|&arm| self.counted[arm] += 1);
            let racing = race.playing();
            dropped.extend(playing.into_iter().filter(|arm| !racing.contains(arm)));
        }
    }
}

/// In nanoseconds.
type Time = u64;

fn nanoseconds(seconds: f64) -> Time {
    (seconds * 1e9) as Time
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// The next game of a core ends, unless its table has changed since.
    End(usize, usize, u64),
    /// Games reach a rank.
    Games(usize, Vec<Batch>),
    /// Arms to drop reach the tables of a rank.
    Drop(usize, Vec<u32>),
    /// A rank has kept what it played to itself for long enough.
    Say(usize),
    /// A report reaches rank 0.
    Report(usize, Vec<Batch>),
    /// Rank 0 looks at what there is.
    Look,
}

/// A core's table: all its games go on alike, the more of them the faster in all.
#[derive(Debug, Default)]
struct Table {
    /// The games in play by the pieces that each of them will have been served at its end, counted like `served`.
    games: BTreeMap<(u64, u64), Batch>,
    /// The pieces, in billionths, that a game in play from the beginning would have been served; and when that was.
    served: u64,
    at: Time,
    /// How often it has changed.
    changes: u64,
}

/// A piece in the units of [`Table::served`].
const PIECE: f64 = 1e6;

impl Table {
    /// Pieces a nanosecond of each of its games, in the units above.
    fn speed(&self, pace: &Pace) -> f64 {
        let games = self.games.len();
        pace.of(games) / games.max(1) as f64 * 1e-9 * PIECE
    }

    fn advance(&mut self, now: Time, pace: &Pace) {
        self.served += ((now - self.at) as f64 * self.speed(pace)) as u64;
        self.at = now;
        self.changes += 1;
    }

    /// When the next of its games ends.
    fn next_end(&self, pace: &Pace) -> Option<Time> {
        let (&(end, _), _) = self.games.first_key_value()?;
        Some(self.at + (end.saturating_sub(self.served) as f64 / self.speed(pace)).ceil() as Time)
    }
}

#[derive(Debug, Default)]
struct Rank {
    tables: Vec<Table>,
    waiting: VecDeque<Batch>,
    /// What was played and not yet reported, and when something was last.
    unsaid: Vec<Batch>,
    said: Time,
    /// How many games it held when it was last given some.
    given: usize,
}

impl Rank {
    fn held(&self) -> usize {
        self.waiting.len() + self.tables.iter().map(|table| table.games.len()).sum::<usize>()
    }
}

struct Clock<'a> {
    bout: &'a Bout,
    pace: &'a Pace,
    free: bool,
    costs: Costs,
    ranks: Vec<Rank>,
    events: BinaryHeap<Reverse<(Time, u64, Event)>>,
    number: u64,
    /// What rank 0 has not looked at.
    inbox: Vec<(usize, Vec<Batch>)>,
    /// Until when rank 0 is busy with messages, and when it will look again.
    busy: Time,
    look: Option<Time>,
    /// How late a message is noticed by rank 0 and by others, in the mean, where all cores are at work.
    late: [Time; 2],
    patient: bool,
    rest: Time,
}

impl<'a> Clock<'a> {
    fn new(bout: &'a Bout, pace: &'a Pace, costs: Option<Costs>, cores: &[usize]) -> Clock<'a> {
        let free = costs.is_none();
        let costs = costs.unwrap_or(Costs { latency: 0.0, handling: 0.0 });
        let table = |_| Table::default();
        let rank = |&cores| Rank { tables: (0..cores).map(table).collect(), ..Rank::default() };
        Clock {
            bout,
            pace,
            free,
            costs,
            ranks: cores.iter().map(rank).collect(),
            events: BinaryHeap::new(),
            number: 0,
            inbox: vec![],
            busy: 0,
            look: None,
            late: [0; 2],
            patient: false,
            rest: 0,
        }
    }

    fn at(&mut self, time: Time, event: Event) {
        self.number += 1;
        self.events.push(Reverse((time, self.number, event)));
    }

    /// The seconds until all of a book is played.
    fn run(mut self, mut book: HandOut, mut take: impl FnMut(&mut HandOut, Batch) -> Vec<usize>) -> f64 {
        let others = self.ranks.len() - 1;
        if !self.free {
            self.late = [0, 1.min(others)].map(|rank| nanoseconds(book.look(rank) / 2.0));
            (self.patient, self.rest) = (book.is_patient(), nanoseconds(book.rest()));
        }
        if !book.is_joined() {
            self.busy = nanoseconds(self.costs.handling) * others as Time;
        }
        self.at(self.busy, Event::Look);
        self.look = Some(self.busy);
        while let Some(Reverse((now, _, event))) = self.events.pop() {
            match event {
                Event::End(rank, core, changes) => self.end(now, rank, core, changes),
                Event::Games(rank, batches) => self.take_in(now, rank, batches),
                Event::Drop(rank, arms) => self.drop(now, rank, &arms),
                Event::Say(rank) => self.say(now, rank),
                Event::Report(rank, done) => {
                    self.inbox.push((rank, done));
                    let wait = if self.is_busy(0) { self.late[0] } else { 0 };
                    self.look_at(now + wait);
                }
                Event::Look if self.look == Some(now) => {
                    self.look = None;
                    self.lead(now, &mut book, &mut take);
                    if book.is_over() {
                        return self.busy as f64 * 1e-9;
                    }
                }
                Event::Look => {}
            }
        }
        unreachable!("a book that is not over has games that end")
    }

    fn is_busy(&self, rank: usize) -> bool {
        self.ranks[rank].tables.iter().all(|table| !table.games.is_empty())
    }

    /// Rank 0 looks at this time or earlier.
    fn look_at(&mut self, time: Time) {
        let time = time.max(self.busy);
        if self.look.is_none_or(|look| look > time) {
            self.look = Some(time);
            self.at(time, Event::Look);
        }
    }

    fn lead(
        &mut self,
        now: Time,
        book: &mut HandOut,
        take: &mut impl FnMut(&mut HandOut, Batch) -> Vec<usize>,
    ) {
        let (handling, latency) = (nanoseconds(self.costs.handling), nanoseconds(self.costs.latency));
        let mut clock = now;
        let mut dropped: BTreeMap<usize, Vec<u32>> = BTreeMap::new();
        let inbox = std::mem::take(&mut self.inbox);
        clock += handling * inbox.iter().filter(|(rank, _)| *rank > 0).count() as Time;
        for (rank, batch) in
            inbox.into_iter().flat_map(|(rank, done)| done.into_iter().map(move |one| (rank, one)))
        {
            if book.give_back(rank, batch, self.pieces(batch)) {
                for arm in take(book, batch) {
                    book.drop_arm(arm)
                        .into_iter()
                        .for_each(|rank| dropped.entry(rank).or_default().push(arm as u32));
                }
            }
        }
        let mut parcels: BTreeMap<usize, Vec<Batch>> = BTreeMap::new();
        while let Some((rank, batch)) = book.hand_out() {
            parcels.entry(rank).or_default().push(batch);
        }
        let slice = nanoseconds(SLICE_PIECES / 2.0 / self.pace.of(1));
        for (rank, arms) in dropped {
            clock += if rank == 0 { 0 } else { handling };
            let noticed = if rank == 0 { clock } else { self.noticed(clock + latency, rank) };
            self.at(noticed + slice, Event::Drop(rank, arms));
        }
        for (rank, batches) in parcels {
            if rank == 0 {
                self.take_in(clock, 0, batches);
            } else {
                clock += handling;
                let noticed = self.noticed(clock + latency, rank);
                self.at(noticed, Event::Games(rank, batches));
            }
        }
        self.busy = clock;
    }

    fn pieces(&self, batch: Batch) -> u64 {
        self.bout.pieces[batch.arm as usize][batch.first as usize]
    }

    /// When a rank notices what arrives: one that has a core to spare at once.
    fn noticed(&self, arrives: Time, rank: usize) -> Time {
        if self.is_busy(rank) { arrives + self.late[1] } else { arrives }
    }

    fn take_in(&mut self, now: Time, rank: usize, batches: Vec<Batch>) {
        self.ranks[rank].waiting.extend(batches);
        self.ranks[rank].given = self.ranks[rank].held();
        self.sit_down(now, rank);
    }

    fn drop(&mut self, now: Time, rank: usize, arms: &[u32]) {
        let is_dropped = |batch: &Batch| arms.contains(&batch.arm);
        self.ranks[rank].waiting.retain(|batch| !is_dropped(batch));
        for core in 0..self.ranks[rank].tables.len() {
            let table = &mut self.ranks[rank].tables[core];
            if table.games.values().any(is_dropped) {
                table.advance(now, self.pace);
                table.games.retain(|_, batch| !is_dropped(batch));
                self.schedule(rank, core);
            }
        }
        self.sit_down(now, rank);
    }

    /// Lets games that wait be taken up, each by the emptiest table.
    fn sit_down(&mut self, now: Time, rank: usize) {
        let mut changed = BTreeSet::new();
        while !self.ranks[rank].waiting.is_empty() {
            let ranked = &mut self.ranks[rank];
            let share = fair_share(ranked.held(), ranked.tables.len());
            let emptiest = ranked.tables.iter().enumerate().min_by_key(|(_, table)| table.games.len());
            let Some((core, _)) = emptiest.filter(|(_, table)| table.games.len() < share) else { break };
            let Some(batch) = self.ranks[rank].waiting.pop_front() else { break };
            let pieces = (self.pieces(batch) as f64 * PIECE) as u64;
            self.number += 1;
            let table = &mut self.ranks[rank].tables[core];
            table.advance(now, self.pace);
            table.games.insert((table.served + pieces.max(1), self.number), batch);
            changed.insert(core);
        }
        changed.into_iter().for_each(|core| self.schedule(rank, core));
    }

    fn schedule(&mut self, rank: usize, core: usize) {
        let table = &self.ranks[rank].tables[core];
        let changes = table.changes;
        if let Some(end) = table.next_end(self.pace) {
            self.at(end, Event::End(rank, core, changes));
        }
    }

    fn end(&mut self, now: Time, rank: usize, core: usize, changes: u64) {
        let table = &mut self.ranks[rank].tables[core];
        if table.changes != changes {
            return;
        }
        table.advance(now, self.pace);
        let Some((_, batch)) = table.games.pop_first() else { return };
        self.schedule(rank, core);
        self.sit_down(now, rank);
        if rank == 0 {
            self.inbox.push((0, vec![batch]));
            let wait = if self.is_busy(0) { self.late[0] } else { 0 };
            return self.look_at(now + wait);
        }
        self.ranks[rank].unsaid.push(batch);
        self.say(now, rank);
    }

    /// Reports what a rank has played, if it is time to.
    fn say(&mut self, now: Time, rank: usize) {
        if self.ranks[rank].unsaid.is_empty() {
            return;
        }
        let late = if self.is_busy(rank) { self.late[1] } else { 0 };
        let ranked = &mut self.ranks[rank];
        let wait = match ranked.held() {
            0 => 0,
            held if self.patient && is_plenty(ranked.given, held) => nanoseconds(PATIENCE),
            _ => self.rest,
        };
        let due = ranked.said + wait;
        if due > now {
            return self.at(due, Event::Say(rank));
        }
        ranked.said = now;
        let done = std::mem::take(&mut ranked.unsaid);
        let arrives = now + late + nanoseconds(self.costs.latency);
        self.at(arrives, Event::Report(rank, done));
    }
}

#[cfg(test)]
mod tests {
    use super::super::trace::tests::bout;
    use super::super::trace::{Head, Pace, Trace};
    use super::*;

    const FREE: Option<Costs> = None;

    fn trace(bouts: Vec<Bout>) -> Trace {
        Trace {
            head: Head { title: String::new(), command: String::new(), pace: Pace::constant(1000.0) },
            bouts,
        }
    }

    fn machine(cores: usize, cores_per_rank: usize) -> Machine {
        Machine { cores, cores_per_rank }
    }

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 0.002
    }

    #[test]
    fn one_core_plays_one_game_after_the_other() {
        let trace = trace(vec![bout(&[&[1000, 3000], &[500, 500]], None)]);
        for policy in [Policy::PLAIN, Policy::PRESENT] {
            let outcome = replay(&trace, policy, machine(1, 1), FREE);
            assert!(close(outcome.time, 5.0) && close(outcome.work, 5.0), "{outcome:?}");
            assert!(close(outcome.efficiency(machine(1, 1)), 1.0));
        }
    }

    #[test]
    fn the_longest_game_bounds_a_bout_on_many_cores() {
        let trace = trace(vec![bout(&[&[1000, 3000], &[500, 500]], None)]);
        let outcome = replay(&trace, Policy::PRESENT, machine(8, 2), FREE);
        assert!(close(outcome.time, 3.0) && close(outcome.bound, 3.0), "{outcome:?}");
        assert!(close(outcome.efficiency(machine(8, 2)), 5.0 / 24.0));
    }

    #[test]
    fn messages_take_time() {
        let costs = Some(Costs { latency: 0.1, handling: 0.01 });
        let games: Vec<u64> = vec![1000; 8];
        let trace = trace(vec![bout(&[&games], None)]);
        let free = replay(&trace, Policy::PLAIN, machine(4, 1), FREE);
        let dear = replay(&trace, Policy::PLAIN, machine(4, 1), costs);
        assert!(close(free.time, 2.0), "{free:?}");
        // Two games for each core, side by side. The first of the others is told what is played after 0.03 seconds, what it
        // plays at 0.04, hears of it at 0.14, is done at 2.14 and heard at 2.24. Then rank 0 handles six reports.
        assert!(close(dear.time, 2.24 + 6.0 * 0.01), "{dear:?}");
    }

    #[test]
    fn a_race_is_the_same_race_however_it_is_handed_out() {
        // The second arm is far better than the others, which are dropped; its games are long.
        let arms: Vec<Vec<u64>> = (0..4)
            .map(|arm| (0..30).map(|game| if arm == 1 { 9000 } else { 100 + game }).collect())
            .collect();
        let lines: Vec<&[u64]> = arms.iter().map(Vec::as_slice).collect();
        let trace = trace(vec![bout(&lines, Some(30))]);
        let outcomes = [
            replay(&trace, Policy::PLAIN, machine(1, 1), FREE),
            replay(&trace, Policy::PLAIN, machine(16, 2), FREE),
            replay(&trace, Policy::PRESENT, machine(16, 2), FREE),
        ];
        assert!(outcomes.iter().all(|outcome| close(outcome.work, outcomes[0].work)), "{outcomes:?}");
        let rounds = outcomes[1].time / 9.0;
        assert!(rounds > 1.9, "round by round: {outcomes:?}");
        assert!(outcomes[2].time < 0.6 * outcomes[1].time, "ahead: {outcomes:?}");
    }
}
