//! The greedy choice of a placement, look-ahead over known pieces, and rescue from tall piles.

use crate::engine::{Engine, EngineKind, Judgement};
use crate::feature::Outcome;
use crate::piece::Piece;
use crate::placement::Placement;
use crate::player::Player;
use crate::well::{Overflow, Well};

/// The most pieces that look-ahead can see beside the current one.
pub const MAX_LOOKAHEAD: usize = 2;

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
            return self.look_ahead(well, piece, &next[..known], judgement);
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
    ) -> Option<Placement> {
        let mut best: Option<((usize, i32), Placement)> = None;
        for (placement, outcome) in self.outcomes(well, piece, judgement) {
            let worth = self.way(&outcome, next, judgement);
            if best.is_none_or(|(most, _)| worth > most) {
                best = Some((worth, placement));
            }
        }
        best.map(|(_, placement)| placement)
    }

    /// How many of the next pieces can be placed on the best way from here, and its worth.
    fn way(&self, outcome: &Outcome, next: &[Piece], judgement: Judgement) -> (usize, i32) {
        let player = self.engine.player();
        let dead_end = (0, player.value(outcome));
        if outcome.landing.loses {
            return dead_end;
        }
        let Some((&piece, rest)) = next.split_first() else {
            return dead_end;
        };
        let well = &outcome.well;
        let so_far = player.action_value(outcome);
        if rest.is_empty() {
            let best = self.engine.best(well, piece, judgement);
            return best.map_or(dead_end, |best| (1, so_far + best.value + self.engine.standing(well)));
        }
        let ways =
            self.outcomes(well, piece, judgement).map(|(_, outcome)| self.way(&outcome, rest, judgement));
        ways.max().map_or(dead_end, |(steps, worth)| (steps + 1, so_far + worth))
    }

    /// CS3243's look-ahead. Each placement is followed by the best reply to each of the seven pieces, and what comes of
    /// it is [joined](Join).
    #[inline(never)]
    fn rescue(&self, well: &Well, piece: Piece, judgement: Judgement) -> Option<Placement> {
        let mut best: Option<((i32, i32), Placement)> = None;
        for (placement, outcome) in self.outcomes(well, piece, judgement) {
            let own = self.engine.value(&outcome);
            let (mut alive, mut replies) = (0, 0);
            if !outcome.landing.loses {
                let standing = self.engine.standing(&outcome.well);
                for reply in Piece::ALL {
                    if let Some(reply) = self.engine.best(&outcome.well, reply, judgement) {
                        alive += 1;
                        replies += reply.value + standing;
                    }
                }
            }
            let all = Piece::NUM as i32;
            let worth = match self.options.join {
                Join::Sum => (alive, all * own + replies),
                Join::Reply => (alive, replies),
                Join::Own => (alive, own),
                Join::SumFirst => (all * own + replies + (all - alive) * own, alive),
            };
            if best.is_none_or(|(most, _)| worth > most) {
                best = Some((worth, placement));
            }
        }
        best.map(|(_, placement)| placement)
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
