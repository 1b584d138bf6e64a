//! What ranks tell each other, and games and players in a form that can be sent.

use dropwise_core::engine::EngineKind;
use dropwise_core::{Controller, Join, Options, Overflow, PieceSource, Player, Rules, Set};
use serde::{Deserialize, Serialize};

use super::hand_out::Batch;
use super::room::Door;
use crate::arena::{Bout, Score};
use crate::results::row::Row;
use crate::results::variant::Variant;

/// From rank 0 to another.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Order {
    /// Start so many threads, and say who you are: [`Report::Hello`].
    Enlist { threads: Option<usize> },
    /// What the batches from now on are batches of, and the first of them.
    Begin(Start),
    /// Play these. Those of an earlier bout are void.
    Play { bout: u64, batches: Vec<Batch> },
    /// Break off all games of these arms.
    Drop { bout: u64, arms: Vec<u32> },
    /// Answer with [`Report::Pong`].
    Ping,
    /// Leave, after [`Report::Bye`].
    End,
}

/// The beginning of a bout.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Start {
    pub(super) bout: u64,
    pub(super) work: Work,
    pub(super) manners: Manners,
    pub(super) batches: Vec<Batch>,
    /// Where the ranks of this machine have their books, if they share them.
    pub(super) door: Option<Door>,
}

/// How a rank should talk.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Manners {
    /// Seconds between two looks for messages while all cores are at work.
    pub(super) look: f64,
    /// Seconds between two reports, unless there is nothing left to play.
    pub(super) rest: f64,
    /// Whether what was played can wait for longer while there is much more to play.
    pub(super) patient: bool,
}

/// From another rank to rank 0.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Report {
    /// The answer to [`Order::Enlist`].
    Hello { version: String, node: String, threads: Result<usize, String>, door: Option<Door> },
    /// Batches, which are single games in a bout, that were played, and the pieces placed since the last report. Without either it says: still here.
    Played { bout: u64, pieces: u64, done: Vec<Done> },
    /// The answer to [`Order::Ping`], as long as a batch's.
    Pong { done: Done },
    /// The last one.
    Bye,
}

/// A batch that was played.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Done {
    pub(super) batch: Batch,
    pub(super) outcome: Outcome,
}

/// What came of a batch.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Outcome {
    /// Of a game of a bout.
    Score(Score),
    /// Of the results' table, as its line of JSON.
    Record(String),
}

/// What is played.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Work {
    Bout(BoutWork),
    /// Rows of the results' table, a row is an arm; all of their batches, and how many games of them a thread plays at a
    /// time.
    Rows {
        rows: Vec<RowWork>,
        batches: Vec<Batch>,
        seats: usize,
    },
}

/// A [`Bout`] but for its games.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct BoutWork {
    controllers: Vec<Seat>,
    rules: RulesWork,
    seed: u64,
    max_pieces: u64,
    climbers: Option<u32>,
}

/// A player and how it plays.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Seat {
    set: u8,
    weights: Vec<i16>,
    #[serde(with = "OptionsWork")]
    options: Options,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct RulesWork {
    height: usize,
    #[serde(with = "OverflowWork")]
    overflow: Overflow,
    pieces: PiecesWork,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
enum PiecesWork {
    Uniform,
    Hard(u8),
    Bag,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Overflow")]
enum OverflowWork {
    Before,
    After,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Join")]
enum JoinWork {
    Sum,
    Reply,
    Own,
    SumFirst,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "EngineKind")]
enum EngineWork {
    Fastest,
    Scalar,
    General,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Options")]
struct OptionsWork {
    allow_losing: bool,
    lookahead: usize,
    rescue: Option<usize>,
    #[serde(with = "JoinWork")]
    join: Join,
    #[serde(with = "EngineWork")]
    engine: EngineKind,
}

/// What it takes to play games of a [`Row`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct RowWork {
    name: String,
    seat: Seat,
    rules: RulesWork,
    variant: Option<Variant>,
    max_pieces: Option<u64>,
    heights: bool,
    seed: u64,
}

/// Why something that was received makes no sense: the ranks are not the same program.
pub(super) const STRANGE: &str = "ranks are not of the same version";

impl Seat {
    fn of(player: &Player, options: Options) -> Seat {
        Seat { set: player.set().id(), weights: player.weights().to_vec(), options }
    }

    fn player(&self) -> Result<Player, &'static str> {
        let set = Set::from_id(self.set).ok_or(STRANGE)?;
        Player::new(set, &self.weights).map_err(|_| STRANGE)
    }
}

impl RulesWork {
    /// None for a list of pieces: that is a single game, and nothing to share.
    fn of(rules: Rules<'_>) -> Option<RulesWork> {
        let pieces = match rules.pieces {
            PieceSource::Uniform => PiecesWork::Uniform,
            PieceSource::Hard(times) => PiecesWork::Hard(times),
            PieceSource::Bag => PiecesWork::Bag,
            PieceSource::List(_) => return None,
        };
        Some(RulesWork { height: rules.height(), overflow: rules.overflow, pieces })
    }

    fn rules(&self) -> Result<Rules<'static>, &'static str> {
        let pieces = match self.pieces {
            PiecesWork::Uniform => PieceSource::Uniform,
            PiecesWork::Hard(times) => PieceSource::Hard(times),
            PiecesWork::Bag => PieceSource::Bag,
        };
        let mut rules = Rules::new(self.height).map_err(|_| STRANGE)?;
        (rules.overflow, rules.pieces) = (self.overflow, pieces);
        Ok(rules)
    }
}

impl BoutWork {
    /// None if it cannot be shared.
    pub(super) fn of(bout: &Bout<'_>) -> Option<BoutWork> {
        // Named one by one, so that whatever a bout is given one day is not forgotten here.
        let Bout { controllers, rules, seed, games: _, max_pieces, climbers } = bout;
        let seat = |controller: &Controller| Seat::of(controller.player(), *controller.options());
        Some(BoutWork {
            controllers: controllers.iter().map(seat).collect(),
            rules: RulesWork::of(*rules)?,
            seed: *seed,
            max_pieces: *max_pieces,
            climbers: *climbers,
        })
    }

    pub(super) fn controllers(&self) -> Result<Vec<Controller>, &'static str> {
        let controller = |seat: &Seat| Ok(Controller::with_options(seat.player()?, seat.options));
        self.controllers.iter().map(controller).collect()
    }

    /// The bout again, for these controllers and no games.
    pub(super) fn bout<'a>(&self, controllers: &'a [Controller]) -> Result<Bout<'a>, &'static str> {
        Ok(Bout {
            controllers,
            rules: self.rules.rules()?,
            seed: self.seed,
            games: 0..0,
            max_pieces: self.max_pieces,
            climbers: self.climbers,
        })
    }
}

impl RowWork {
    /// None if it cannot be shared.
    pub(super) fn of(row: &Row) -> Option<RowWork> {
        Some(RowWork {
            name: row.player_name.clone(),
            seat: Seat::of(&row.player, row.options),
            rules: RulesWork::of(row.rules)?,
            variant: row.variant,
            max_pieces: row.max_pieces,
            heights: row.heights,
            seed: row.seed,
        })
    }

    pub(super) fn row(&self) -> Result<Row, &'static str> {
        Ok(Row {
            player_name: self.name.clone(),
            player: self.seat.player()?,
            rules: self.rules.rules()?,
            options: self.seat.options,
            variant: self.variant,
            max_pieces: self.max_pieces,
            heights: self.heights,
            seed: self.seed,
            // What rank 0 alone needs to know.
            games: 0,
            batch: 0,
            base: false,
            published: None,
        })
    }
}
