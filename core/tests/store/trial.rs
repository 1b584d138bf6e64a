//! Random sequences of changes, faults and resets: what a store shows is always something it may show.

use crate::flash::{EraseTear, Flash, ProgramTear, Tear};
use crate::model::{Change, NAMES, Refusal, State, player};

/// A store on trial.
pub(crate) trait Subject<const SECTOR: usize>: Sized {
    fn mount(flash: Flash<SECTOR>) -> Self;
    fn release(self) -> Flash<SECTOR>;
    fn flash(&mut self) -> &mut Flash<SECTOR>;
    /// What it shows. None if it cannot tell, which it may not unless the power is off.
    fn state(&mut self) -> Option<State>;
    fn apply(&mut self, change: Change) -> Result<(), Refusal>;
    /// Whether it has read all of the flash.
    fn is_whole(&self) -> bool;
    /// How many bytes of the model's it has room for.
    fn room() -> usize;
    /// How many steps of the flash it takes to come to this state.
    fn steps(state: &State) -> u64;
    /// Whether it can make such a change.
    fn takes(_: Change) -> bool {
        true
    }
}

/// Where a trial's choices come from.
pub(crate) trait Chance {
    /// A number below the limit.
    fn below(&mut self, limit: u64) -> u64;
}

/// What may go wrong.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Faults {
    /// The power, while a program leaves a prefix, and an erase what was there.
    pub(crate) cuts: bool,
    /// The power, while operations leave any bits.
    pub(crate) arbitrary_bits: bool,
    /// Reads.
    pub(crate) reads: bool,
    /// A sector that takes no new bits.
    pub(crate) wear: bool,
}

/// How often the rarer things happened.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    /// A change was cut, and the old state was there after the reset.
    pub(crate) kept: u64,
    /// The same, and the new state was there.
    pub(crate) replaced: u64,
    /// A change failed though the power stayed on.
    pub(crate) failed: u64,
    /// An older state stood in for one that could not be read.
    pub(crate) stand_ins: u64,
}

/// How a store broke the law.
#[derive(Clone, Debug)]
pub(crate) enum Violation {
    /// After a reset it shows something else than the acknowledged state, or that of a failed change since.
    Lost { possible: Vec<State>, shows: Option<State> },
    /// A change was made, refused or failed in another way than it should.
    Wrong { change: Change, result: Result<(), Refusal>, shows: Option<State> },
}

/// What comes of a trial, and of each of its steps.
pub(crate) type Verdict = Result<(), Box<Violation>>;

/// How long a trial is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Length {
    pub(crate) sectors: usize,
    pub(crate) steps: usize,
}

/// Plays one sequence, and counts.
pub(crate) fn trial<const SECTOR: usize, S: Subject<SECTOR>>(
    chance: &mut impl Chance,
    faults: Faults,
    length: Length,
    tally: &mut Tally,
) -> Verdict {
    let mut flash = Flash::<SECTOR>::new(length.sectors);
    if faults.wear && chance.below(8) == 0 {
        flash.worn = 1 << chance.below(length.sectors as u64);
    }
    let mut trial = Trial {
        subject: Some(S::mount(flash)),
        shown: State::default(),
        is_exact: true,
        possible: vec![State::default()],
        history: vec![State::default()],
        faults,
        chance,
        tally,
    };
    for _ in 0..length.steps {
        trial.step()?;
    }
    trial.close()
}

struct Trial<'a, const SECTOR: usize, S, C> {
    /// Always there but while it is reset.
    subject: Option<S>,
    /// What the store showed last.
    shown: State,
    /// Whether that is the newest state, not one that stands in for what could not be read.
    is_exact: bool,
    /// What it may show after a reset: the last acknowledged state, and those of failed changes since.
    possible: Vec<State>,
    /// Every state that the flash may have held.
    history: Vec<State>,
    faults: Faults,
    chance: &'a mut C,
    tally: &'a mut Tally,
}

impl<const SECTOR: usize, S: Subject<SECTOR>, C: Chance> Trial<'_, SECTOR, S, C> {
    fn step(&mut self) -> Verdict {
        let change = self.change();
        self.plan_faults(change);
        self.apply(change)?;
        let is_off = self.flash().is_off();
        if is_off || self.chance.below(4) == 0 {
            self.reset()?;
        }
        Ok(())
    }

    /// When everything works again, the state is one that was possible, and the store works.
    fn close(mut self) -> Verdict {
        self.flash().unreadable = 0;
        self.faults.reads = false;
        self.reset()?;
        let change = self.change();
        self.apply(change)?;
        self.reset()
    }

    fn flash(&mut self) -> &mut Flash<SECTOR> {
        self.subject.as_mut().expect("a subject").flash()
    }

    fn change(&mut self) -> Change {
        loop {
            let name = self.chance.below(NAMES.len() as u64) as usize;
            let change = match self.chance.below(8) {
                0 => Change::Delete(name),
                1 => Change::Select(Some(name)),
                2 if name == 0 => Change::Select(None),
                _ => Change::Save(name, player(self.chance.below(40) as usize)),
            };
            if S::takes(change) {
                return change;
            }
        }
    }

    fn plan_faults(&mut self, change: Change) {
        if self.faults.cuts && self.flash().cut.is_none() && self.chance.below(2) == 0 {
            let steps = S::steps(&self.shown.after(change, S::room()).unwrap_or_default());
            let step = match self.chance.below(8) {
                0 => 0,
                1 => steps - 1,
                2 | 3 => steps - 1 - self.chance.below(steps.min(20)),
                _ => self.chance.below(steps),
            };
            let tear = self.tear();
            self.flash().cut = Some((step, tear));
        }
        if self.faults.reads {
            match self.chance.below(32) {
                0 => self.flash().failing_read = Some(self.chance.below(24)),
                1 => {
                    let sectors = self.flash().bytes.len() / SECTOR;
                    self.flash().unreadable = 1 << self.chance.below(sectors as u64);
                }
                2..16 => self.flash().unreadable = 0,
                _ => {}
            }
        }
    }

    fn tear(&mut self) -> Tear {
        let seed = self.chance.below(u64::MAX);
        let kind = if self.faults.arbitrary_bits { self.chance.below(8) } else { 0 };
        let program = match kind {
            0..6 => ProgramTear::InOrder {
                spared: [0xff, 0, seed as u8, (seed >> 8) as u8][seed as usize >> 16 & 3],
            },
            _ => ProgramTear::Scattered { seed },
        };
        let length = (seed >> 16) as usize % (SECTOR + 1);
        let erase = match kind {
            0 => EraseTear::Prefix(0),
            1 => EraseTear::Prefix(length),
            2 => EraseTear::Suffix(length),
            3 => EraseTear::Prefix(SECTOR),
            4 | 5 => EraseTear::Raised { seed },
            _ => EraseTear::Arbitrary { seed },
        };
        Tear { program, erase }
    }

    fn apply(&mut self, change: Change) -> Verdict {
        let flash = self.flash();
        let steps = flash.counts.steps();
        let sectors = flash.bytes.len() / SECTOR;
        let has_read_faults = flash.failing_read.is_some() || flash.unreadable != 0;
        let is_worn_out = flash.worn != 0 && sectors == 2;

        let subject = self.subject.as_mut().expect("a subject");
        let result = subject.apply(change);
        let is_off = subject.flash().is_off();
        let wrote = subject.flash().counts.steps() != steps;
        let shows = if is_off { None } else { subject.state() };
        let wrong = || Err(Box::new(Violation::Wrong { change, result, shows }));
        if shows.is_none() && !subject.flash().is_off() {
            return wrong();
        }
        // What is changed is what the store showed, or what it now can read.
        let bases = if self.is_exact { std::slice::from_ref(&self.shown) } else { &self.possible[..] };
        let outcomes: Vec<_> = bases.iter().map(|base| (*base, base.after(change, S::room()))).collect();

        if result == Err(Refusal::Flash) {
            if !(is_off || has_read_faults || is_worn_out) {
                return wrong();
            }
            self.tally.failed += u64::from(!is_off);
            if wrote {
                let new = outcomes.iter().filter_map(|(_, new)| new.ok());
                self.history.extend(new.clone());
                self.possible.extend(new);
            }
            let may_show = |state: &State| match self.is_exact {
                true => *state == self.shown,
                false => self.history.contains(state),
            };
            if !shows.as_ref().is_none_or(may_show) {
                return wrong();
            }
            self.shown = shows.unwrap_or(self.shown);
            return Ok(());
        }
        let is_so = |(base, new): &&(State, Result<State, Refusal>)| match (result, new) {
            (Ok(()), Ok(new)) => shows.is_none_or(|state| state == *new),
            (Err(refusal), Err(due)) => refusal == *due && shows.is_none_or(|state| state == *base),
            _ => false,
        };
        let Some((base, new)) = outcomes.iter().find(is_so).filter(|_| !is_off) else { return wrong() };
        self.is_exact = true;
        self.shown = new.unwrap_or(*base);
        if result.is_ok() {
            self.possible.clear();
            self.possible.push(self.shown);
            self.history.push(self.shown);
        }
        Ok(())
    }

    fn reset(&mut self) -> Verdict {
        let mut flash = self.subject.take().expect("a subject").release();
        let was_cut = flash.is_off();
        flash.restart();
        if self.faults.reads && self.chance.below(8) == 0 {
            flash.failing_read = Some(self.chance.below(12));
        }
        let is_readable = flash.failing_read.is_none() && flash.unreadable == 0;
        let mut subject = S::mount(flash);
        let (shows, is_whole) = (subject.state(), subject.is_whole());
        subject.flash().failing_read = None;
        self.subject = Some(subject);
        self.is_exact = is_whole;
        match shows {
            Some(state) if is_whole && self.possible.contains(&state) => {
                if was_cut && self.possible[1..].iter().any(|new| *new != self.possible[0]) {
                    let is_old = state == self.possible[0];
                    *if is_old { &mut self.tally.kept } else { &mut self.tally.replaced } += 1;
                }
                self.shown = state;
                self.possible.clear();
                self.possible.push(state);
                Ok(())
            }
            Some(state) if !is_whole && !is_readable && self.history.contains(&state) => {
                self.tally.stand_ins += u64::from(!self.possible.contains(&state));
                self.shown = state;
                Ok(())
            }
            shows => Err(Box::new(Violation::Lost { possible: self.possible.clone(), shows })),
        }
    }
}
