//! The greedy choice of a placement, look-ahead over known pieces, and rescue from tall piles.

use crate::engine::{Best, Engine, EngineKind, Judgement};
#[cfg(feature = "simd")]
use crate::engine::{Count, best_each};
use crate::feature::Outcome;
use crate::piece::Piece;
#[cfg(feature = "simd")]
use crate::placement::MAX_PLACEMENTS;
use crate::placement::Placement;
use crate::player::Player;
use crate::well::{Overflow, Well};

/// The most pieces that look-ahead can see beside the current one.
pub const MAX_LOOKAHEAD: usize = 2;

/// A device looks deeper where fewer than so many rows are free: on 10x20 that is one piece of four thousand, and a champion
/// makes nearly twice the lines by it (docs/results.md).
pub const DEVICE_RESCUE: usize = 6;

/// On lower boards tall piles are no exception, and looking deeper would make a device slow.
const DEVICE_HEIGHT: usize = 16;

/// How a player uses its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Options {
    /// Choose losing placements on their value like any other. By default they are never chosen.
    pub allow_losing: bool,
    /// How many next pieces the player knows, at most [`MAX_LOOKAHEAD`]. The research game has 0.
    pub lookahead: usize,
    /// Where the pile is higher than this, weigh each placement with the expectation over all seven next pieces.
    pub rescue: Option<usize>,
    /// What rescue goes by.
    pub join: Join,
    /// Which implementation to use; all choose the same.
    pub engine: EngineKind,
}

/// How rescue joins the value of a placement and those of the best replies to it, one for each of the seven pieces.
/// All but the last take first what leaves the fewest pieces without a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Join {
    /// The placement's own value and the mean of the replies', added up.
    #[default]
    Sum,
    /// The mean of the replies' values alone.
    Reply,
    /// The placement's own value alone.
    Own,
    /// The sum first, the placement's own value standing in for a reply that there is not; pieces without a reply
    /// only break ties.
    SumFirst,
}

impl Join {
    /// Its name, as a command line spells it.
    pub const fn name(self) -> &'static str {
        match self {
            Join::Sum => "sum",
            Join::Reply => "reply",
            Join::Own => "own",
            Join::SumFirst => "sum-first",
        }
    }
}

/// How many of the known pieces can be placed on a way, and its worth: the greater is better.
type Way = (usize, i32);

/// The best replies to a placement, one for each piece.
#[derive(Clone, Copy, Default)]
struct Replies {
    /// How many pieces have one.
    alive: i32,
    /// Their values, added up.
    values: i32,
}

impl Replies {
    #[inline]
    fn add(&mut self, reply: Option<Best>, standing: i32) {
        if let Some(reply) = reply {
            self.alive += 1;
            self.values += reply.value + standing;
        }
    }

    /// What a placement of this value is worth with its replies: the greater counts more.
    #[inline]
    fn joined(self, own: i32, join: Join) -> (i32, i32) {
        let all = Piece::NUM as i32;
        let Replies { alive, values } = self;
        match join {
            Join::Sum => (alive, all * own + values),
            Join::Reply => (alive, values),
            Join::Own => (alive, own),
            Join::SumFirst => (all * own + values + (all - alive) * own, alive),
        }
    }
}

/// A player at the controls.
#[derive(Clone, Copy, Debug)]
pub struct Controller {
    engine: Engine,
    options: Options,
}

impl Controller {
    /// A greedy one-piece controller that avoids losing.
    ///
    /// ```
    /// use dropwise_core::{Controller, Player};
    /// let controller = Controller::new(Player::known("dt20").unwrap());
    /// assert_eq!(controller.options().lookahead, 0);
    /// ```
    pub fn new(player: Player) -> Controller {
        Controller::with_options(player, Options::default())
    }

    /// A controller as a device plays on a board so high: with rescue where the pile of a high board comes within
    /// [`DEVICE_RESCUE`] rows of the brim.
    ///
    /// ```
    /// use dropwise_core::{Controller, Player};
    /// let champion = Player::known("champion20").unwrap();
    /// assert_eq!(Controller::on_device(champion, 20).options().rescue, Some(14));
    /// assert_eq!(Controller::on_device(champion, 10).options().rescue, None);
    /// ```
    pub fn on_device(player: Player, height: usize) -> Controller {
        let rescue = if height >= DEVICE_HEIGHT { Some(height - DEVICE_RESCUE) } else { None };
        Controller::with_options(player, Options { rescue, ..Options::default() })
    }

    /// A controller with options.
    ///
    /// # Panics
    /// If more than [`MAX_LOOKAHEAD`] next pieces are asked for.
    ///
    /// ```
    /// use dropwise_core::{Controller, Options, Player};
    /// let options = Options { lookahead: 1, ..Options::default() };
    /// let controller = Controller::with_options(Player::known("bcts").unwrap(), options);
    /// assert_eq!(controller.options().lookahead, 1);
    /// ```
    pub fn with_options(player: Player, options: Options) -> Controller {
        assert!(options.lookahead <= MAX_LOOKAHEAD, "look-ahead sees at most two next pieces");
        Controller { engine: Engine::new(player, options.engine), options }
    }

    /// The player.
    pub fn player(&self) -> &Player {
        self.engine.player()
    }

    /// The options.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// The engine.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Whether the choice on this board is the engine's alone, seeing one piece, by the usual judgement.
    #[inline]
    pub fn is_plain(&self, well: &Well, overflow: Overflow) -> bool {
        let Options { allow_losing, lookahead, rescue, .. } = self.options;
        overflow == Overflow::Before
            && !allow_losing
            && lookahead == 0
            && rescue.is_none_or(|height| well.max_height() <= height)
    }

    /// The placement this controller chooses, or none if all lose and losing is not allowed. `next` holds the pieces
    /// known to come; more than [`Options::lookahead`] are ignored.
    ///
    /// ```
    /// use dropwise_core::{Controller, Overflow, Piece, Placement, Player, Well};
    ///
    /// let well = Well::from_art("
    ///     ..........
    ///     ..........
    ///     ..........
    ///     XXXX.XXXXX
    ///     XXXX.XXXXX
    ///     XXXX.XXXXX
    ///     XXXX.XXXXX
    /// ").unwrap();
    /// let controller = Controller::new(Player::known("bcts").unwrap());
    /// let choice = controller.choose(&well, Piece::I, &[], Overflow::Before);
    /// assert_eq!(choice, Some(Placement { orientation: 0, column: 4 }));
    /// ```
    #[inline(always)]
    pub fn choose(&self, well: &Well, piece: Piece, next: &[Piece], overflow: Overflow) -> Option<Placement> {
        let judgement = Judgement { overflow, allow_losing: self.options.allow_losing };
        let known = next.len().min(self.options.lookahead);
        if known > 0 {
            let found = self.look_ahead(well, piece, &next[..known], judgement);
            return found.map(|(_, placement)| placement);
        }
        if self.options.rescue.is_some_and(|height| well.max_height() > height) {
            return self.rescue(well, piece, judgement);
        }
        self.engine.best(well, piece, judgement).map(|best| best.placement)
    }

    /// Bodoia and Puranik's agent: the best over all combinations of placements of the known pieces. Terms about how
    /// a piece lands are summed along the way, the board is judged where it ends. A way that ends in a loss counts
    /// less than any that does not; among those, the longer one counts more.
    #[inline(never)]
    fn look_ahead(
        &self,
        well: &Well,
        piece: Piece,
        next: &[Piece],
        judgement: Judgement,
    ) -> Option<(Way, Placement)> {
        #[cfg(feature = "simd")]
        if let &[next] = next
            && self.engine.boards_at_once() > 1
        {
            let branches = self.branches(well, piece, judgement);
            let replies = branches.replies(&self.engine, next, judgement);
            return branches.best(|place, count| match replies[place] {
                Some(reply) => (1, count.landing + reply.value + count.standing),
                None => (0, count.value),
            });
        }
        let mut best: Option<(Way, Placement)> = None;
        for (placement, outcome) in self.outcomes(well, piece, judgement) {
            let way = self.way(&outcome, next, judgement);
            if best.is_none_or(|(most, _)| way > most) {
                best = Some((way, placement));
            }
        }
        best
    }

    /// The best way from here.
    fn way(&self, outcome: &Outcome, next: &[Piece], judgement: Judgement) -> Way {
        let count = self.engine.count(outcome);
        let well = &outcome.well;
        let goes_on = match *next {
            _ if outcome.landing.loses => None,
            [] => None,
            [piece] => self.engine.best(well, piece, judgement).map(|best| (0, best.value + count.standing)),
            [piece, ref rest @ ..] => self.look_ahead(well, piece, rest, judgement).map(|(way, _)| way),
        };
        goes_on.map_or((0, count.value), |(steps, worth)| (steps + 1, count.landing + worth))
    }

    /// CS3243's look-ahead. Each placement is followed by the best reply to each of the seven pieces, and what comes of
    /// it is [joined](Join).
    #[inline(never)]
    fn rescue(&self, well: &Well, piece: Piece, judgement: Judgement) -> Option<Placement> {
        let join = self.options.join;
        #[cfg(feature = "simd")]
        if self.engine.boards_at_once() > 1 {
            let branches = self.branches(well, piece, judgement);
            let mut replies = [Replies::default(); MAX_PLACEMENTS];
            for reply in Piece::ALL {
                let best = branches.replies(&self.engine, reply, judgement);
                for place in 0..branches.alive {
                    replies[place].add(best[place], branches.counts[place].standing);
                }
            }
            let best = branches.best(|place, count| replies[place].joined(count.value, join));
            return best.map(|(_, placement)| placement);
        }
        let mut best: Option<((i32, i32), Placement)> = None;
        for (placement, outcome) in self.outcomes(well, piece, judgement) {
            let count = self.engine.count(&outcome);
            let mut replies = Replies::default();
            if !outcome.landing.loses {
                for reply in Piece::ALL {
                    replies.add(self.engine.best(&outcome.well, reply, judgement), count.standing);
                }
            }
            let worth = replies.joined(count.value, join);
            if best.is_none_or(|(most, _)| worth > most) {
                best = Some((worth, placement));
            }
        }
        best.map(|(_, placement)| placement)
    }

    /// What all placements lead to, to look for replies on all boards at once.
    #[cfg(feature = "simd")]
    fn branches(&self, well: &Well, piece: Piece, judgement: Judgement) -> Branches {
        let (first, nothing) =
            (Placement { orientation: 0, column: 0 }, Count { landing: 0, value: 0, standing: 0 });
        let mut branches = Branches {
            alive: 0,
            lost: 0,
            placements: [first; MAX_PLACEMENTS],
            counts: [nothing; MAX_PLACEMENTS],
            wells: [*well; MAX_PLACEMENTS],
        };
        for (placement, outcome) in self.outcomes(well, piece, judgement) {
            let place = if outcome.landing.loses {
                branches.lost += 1;
                MAX_PLACEMENTS - branches.lost
            } else {
                branches.alive += 1;
                branches.alive - 1
            };
            branches.placements[place] = placement;
            branches.counts[place] = self.engine.count(&outcome);
            branches.wells[place] = outcome.well;
        }
        branches
    }

    /// Every placement that may be chosen, and what it leads to.
    fn outcomes(
        &self,
        well: &Well,
        piece: Piece,
        judgement: Judgement,
    ) -> impl Iterator<Item = (Placement, Outcome)> {
        let of = move |placement| (placement, Outcome::of(well, piece, placement, judgement.overflow));
        Placement::all(piece)
            .map(of)
            .filter(move |(_, outcome)| judgement.allow_losing || !outcome.landing.loses)
    }
}

/// What all placements of a piece lead to.
#[cfg(feature = "simd")]
struct Branches {
    /// Boards on which the game goes on stand first, so that they can be looked at together; the others, which have no
    /// replies, from the end on.
    alive: usize,
    lost: usize,
    placements: [Placement; MAX_PLACEMENTS],
    counts: [Count; MAX_PLACEMENTS],
    wells: [Well; MAX_PLACEMENTS],
}

#[cfg(feature = "simd")]
impl Branches {
    /// The best reply on each board.
    fn replies(&self, engine: &Engine, piece: Piece, judgement: Judgement) -> [Option<Best>; MAX_PLACEMENTS] {
        let mut boards = [(engine, &self.wells[0]); MAX_PLACEMENTS];
        for (board, well) in boards.iter_mut().zip(&self.wells) {
            board.1 = well;
        }
        let mut best = [None; MAX_PLACEMENTS];
        best_each(&boards[..self.alive], piece, judgement, &mut best[..self.alive]);
        best
    }

    /// The placement of the greatest worth; of equal ones the first in the order of [`Placement::all`].
    fn best<T: PartialOrd>(&self, worth: impl Fn(usize, &Count) -> T) -> Option<(T, Placement)> {
        let order = |placement: Placement| (placement.orientation, placement.column);
        let mut best: Option<(T, Placement)> = None;
        for place in (0..self.alive).chain(MAX_PLACEMENTS - self.lost..MAX_PLACEMENTS) {
            let (worth, placement) = (worth(place, &self.counts[place]), self.placements[place]);
            let is_better = best.as_ref().is_none_or(|(most, other)| {
                worth > *most || worth == *most && order(placement) < order(*other)
            });
            if is_better {
                best = Some((worth, placement));
            }
        }
        best
    }
}
