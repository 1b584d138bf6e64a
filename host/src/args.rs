//! The arguments that several commands share, and what they mean.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use dropwise_core::controller::{MAX_LOOKAHEAD, Options};
use dropwise_core::engine::EngineKind;
use dropwise_core::player::KNOWN;
use dropwise_core::well::{MAX_HEIGHT, MIN_HEIGHT, WIDTH};
use dropwise_core::{Controller, Join, Overflow, Piece, PieceSource, Player, Rules};
use serde::Deserialize;

use crate::figures::nearest;
use crate::output::Failure;
use crate::weights::{FileError, Weights};

/// The arguments that every command has.
#[derive(Args, Clone, Copy, Debug)]
pub struct Common {
    /// Write JSON to standard output: one object, or one per line
    #[arg(long, global = true, help_heading = "Every command")]
    pub json: bool,

    /// The seed of all that is drawn at random; commands that draw nothing ignore it
    #[arg(long, global = true, value_name = "N", default_value_t = 1, help_heading = "Every command")]
    pub seed: u64,
}

/// Who plays.
#[derive(Args, Clone, Debug)]
pub struct PlayerArg {
    /// A known player (`host players` lists them) or a weights file
    #[arg(long, value_name = "NAME|FILE", default_value = "champion20")]
    pub player: String,
}

impl PlayerArg {
    /// The player's weights.
    ///
    /// # Errors
    /// If no player has the name, or the file is not a weights file.
    pub fn load(&self) -> Result<Weights, Failure> {
        find_player(&self.player)
    }
}

/// The known player of this name, or the one in this file.
///
/// # Errors
/// If no player has the name, or the file is not a weights file.
pub fn find_player(name: &str) -> Result<Weights, Failure> {
    if let Some(known) = KNOWN.iter().find(|known| known.name == name) {
        return Ok(Weights::from(known));
    }
    let path = Path::new(name);
    let looks_like_a_file = name.contains(['/', '\\', '.']);
    if !path.exists() && !looks_like_a_file {
        let meant = nearest(name, KNOWN.iter().map(|known| known.name));
        let hint = meant.map_or(String::new(), |meant| format!("did you mean '{meant}'? "));
        return Err(Failure::input(format_args!(
            "unknown player '{name}', and there is no such file; {hint}`host players` lists the known ones"
        )));
    }
    Weights::read(path).map_err(|error| {
        let hint = match error {
            FileError::Io(..) => "; check the path, or name a known player (`host players` lists them)",
            FileError::Parse(..) => "",
        };
        Failure::input(format_args!("cannot use the weights file {error}{hint}"))
    })
}

/// What is played.
#[derive(Args, Clone, Debug)]
pub struct RulesArgs {
    /// The board, 10 wide and 4 to 20 high
    #[arg(long, value_name = "10xHEIGHT", default_value = "10x20", value_parser = parse_board)]
    pub board: Board,

    /// Where pieces come from: uniform | hard:K (S and Z each K times as likely) | bag (of seven) | list:FILE
    /// (letters; one game, until lost or used up)
    #[arg(long, value_name = "SOURCE", default_value = "uniform", value_parser = parse_pieces)]
    pub pieces: Pieces,

    /// A placement that lands above the brim loses before, or only after, its lines are cleared
    #[arg(long, value_enum, default_value_t)]
    pub overflow: OverflowArg,
}

impl RulesArgs {
    /// Reads the list of pieces, if one is played.
    ///
    /// # Errors
    /// If its file cannot be read or holds anything but pieces.
    pub fn load(&self) -> Result<LoadedRules, Failure> {
        let list = match &self.pieces {
            Pieces::List(path) => Some(read_list(path)?),
            _ => None,
        };
        Ok(LoadedRules { args: self.clone(), list })
    }
}

/// What is played, with the list of pieces in memory.
#[derive(Clone, Debug)]
pub struct LoadedRules {
    args: RulesArgs,
    list: Option<Vec<Piece>>,
}

impl LoadedRules {
    /// The rules, as the core has them.
    ///
    /// # Panics
    /// Never: the height was checked when the arguments were parsed.
    pub fn rules(&self) -> Rules<'_> {
        let mut rules = Rules::new(self.args.board.height).expect("the height was checked");
        rules.overflow = self.args.overflow.into();
        rules.pieces = match (&self.args.pieces, &self.list) {
            (Pieces::Hard(times), _) => PieceSource::Hard(*times),
            (Pieces::Bag, _) => PieceSource::Bag,
            (Pieces::List(_), Some(list)) => PieceSource::List(list),
            _ => PieceSource::Uniform,
        };
        rules
    }

    /// Whether there is but one game to play.
    pub fn is_list(&self) -> bool {
        self.list.is_some()
    }
}

/// How the player plays.
#[derive(Args, Clone, Copy, Debug)]
pub struct ControlArgs {
    /// Choose losing placements on their value like any other; by default they are avoided
    #[arg(long)]
    pub allow_losing: bool,

    /// How many next pieces the player knows
    #[arg(long, value_name = "0|1|2", default_value_t = 0, value_parser = clap::value_parser!(u8).range(0..=2))]
    pub lookahead: u8,

    /// Where the pile is higher than this, weigh each placement with the expectation over all seven next pieces
    #[arg(long, value_name = "HEIGHT", value_parser = clap::value_parser!(u8).range(0..=MAX_HEIGHT as i64))]
    pub rescue: Option<u8>,

    /// With --rescue: how a placement's value and those of the best replies are joined
    #[arg(long, value_enum, default_value_t, requires = "rescue")]
    pub join: JoinArg,

    /// Which implementation plays; all choose the same placements
    #[arg(long, value_enum, default_value_t)]
    pub engine: EngineArg,
}

const _: () = assert!(MAX_LOOKAHEAD == 2, "the range of --lookahead");

impl ControlArgs {
    /// How rescue joins values, as the command line spells it.
    pub fn join(&self) -> &'static str {
        Join::from(self.join).name()
    }

    /// The controller that plays so.
    ///
    /// # Errors
    /// If the arguments contradict each other.
    pub fn controller(&self, player: Player) -> Result<Controller, Failure> {
        if self.rescue.is_some() && self.lookahead > 0 {
            return Err(Failure::input(
                "--rescue is for a player that knows no next piece; leave out --lookahead or --rescue",
            ));
        }
        let options = Options {
            allow_losing: self.allow_losing,
            lookahead: usize::from(self.lookahead),
            rescue: self.rescue.map(usize::from),
            join: self.join.into(),
            engine: self.engine.into(),
        };
        Ok(Controller::with_options(player, options))
    }
}

/// How the work is shared.
#[derive(Args, Clone, Copy, Debug)]
pub struct ThreadsArg {
    /// Threads that play [default: one for each core]; the results do not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
}

/// A board as `--board` spells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Board {
    /// Its rows.
    pub height: usize,
}

impl std::fmt::Display for Board {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{WIDTH}x{}", self.height)
    }
}

/// Reads `10x20`.
///
/// # Errors
/// A message for anything but a board 10 wide and 4 to 20 high.
pub fn parse_board(text: &str) -> Result<Board, String> {
    let sides =
        text.split_once('x').and_then(|(w, h)| Some((w.parse::<usize>().ok()?, h.parse::<usize>().ok()?)));
    match sides {
        None => Err("a board is written WIDTHxHEIGHT, like 10x20".into()),
        Some((width, _)) if width != WIDTH => {
            Err(format!("a board is {WIDTH} columns wide, not {width}; try {WIDTH}x{MAX_HEIGHT}"))
        }
        Some((_, height)) if !(MIN_HEIGHT..=MAX_HEIGHT).contains(&height) => Err(format!(
            "a board has {MIN_HEIGHT} to {MAX_HEIGHT} rows, not {height}; try {WIDTH}x{MAX_HEIGHT}"
        )),
        Some((_, height)) => Ok(Board { height }),
    }
}

/// A source of pieces as `--pieces` spells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pieces {
    /// `uniform`
    Uniform,
    /// `hard:K`
    Hard(u8),
    /// `bag`
    Bag,
    /// `list:FILE`
    List(PathBuf),
}

impl std::fmt::Display for Pieces {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Pieces::Uniform => f.write_str("uniform"),
            Pieces::Hard(times) => write!(f, "hard:{times}"),
            Pieces::Bag => f.write_str("bag"),
            Pieces::List(path) => write!(f, "list:{}", path.display()),
        }
    }
}

/// Reads `uniform`, `hard:4`, `bag` or `list:FILE`.
///
/// # Errors
/// A message for anything else.
pub fn parse_pieces(text: &str) -> Result<Pieces, String> {
    match text.split_once(':') {
        None if text == "uniform" => Ok(Pieces::Uniform),
        None if text == "bag" => Ok(Pieces::Bag),
        Some(("hard", times)) => match times.parse() {
            Ok(times @ 1..) => Ok(Pieces::Hard(times)),
            _ => Err("hard:K takes a K from 1 to 255, like hard:4".into()),
        },
        Some(("list", file)) if !file.is_empty() => Ok(Pieces::List(file.into())),
        Some(("list", _)) => Err("list:FILE needs the name of a file with the pieces' letters".into()),
        _ => Err("pieces are uniform, hard:K, bag or list:FILE".into()),
    }
}

/// The longest list of pieces that is read.
const MAX_LIST: u64 = 1 << 28;

fn read_list(path: &Path) -> Result<Vec<Piece>, Failure> {
    let name = path.display();
    let mut text = String::new();
    let read = fs::File::open(path).and_then(|file| file.take(MAX_LIST + 1).read_to_string(&mut text));
    read.map_err(|error| {
        Failure::input(format_args!("cannot read the pieces in {name}: {error}; check the path"))
    })?;
    if text.len() as u64 > MAX_LIST {
        return Err(Failure::input(format_args!(
            "{name} is too long; a list has at most {MAX_LIST} letters"
        )));
    }
    let pieces = parse_list(&text).map_err(|error| Failure::input(format_args!("{name}:{error}")))?;
    if pieces.is_empty() {
        return Err(Failure::input(format_args!("{name} holds no pieces; write letters of IOTZSJL")));
    }
    Ok(pieces)
}

/// Reads pieces' letters; whitespace is ignored.
///
/// # Errors
/// A message that starts with the line and column of what is not a piece.
pub fn parse_list(text: &str) -> Result<Vec<Piece>, String> {
    let mut pieces = vec![];
    for (line, text) in (1..).zip(text.lines()) {
        for (column, letter) in (1..).zip(text.chars()).filter(|(_, letter)| !letter.is_whitespace()) {
            pieces.push(parse_piece(letter).map_err(|message| format!("{line}:{column}: {message}"))?);
        }
    }
    Ok(pieces)
}

/// Reads a piece's letter.
///
/// # Errors
/// A message for any other character.
pub fn parse_piece(letter: char) -> Result<Piece, String> {
    Piece::from_letter(letter)
        .ok_or_else(|| format!("{letter:?} is not a piece; the pieces are I, O, T, Z, S, J and L"))
}

/// `--overflow`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OverflowArg {
    /// Tested before clearing
    #[default]
    Before,
    /// Tested after clearing
    After,
}

impl From<OverflowArg> for Overflow {
    fn from(arg: OverflowArg) -> Overflow {
        match arg {
            OverflowArg::Before => Overflow::Before,
            OverflowArg::After => Overflow::After,
        }
    }
}

impl OverflowArg {
    /// As the command line spells it.
    pub const fn name(self) -> &'static str {
        match self {
            OverflowArg::Before => "before",
            OverflowArg::After => "after",
        }
    }
}

/// `--engine`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum EngineArg {
    /// The fastest one that this machine and the player's set allow
    #[default]
    Fastest,
    /// No SIMD: what the device runs
    Scalar,
    /// Makes every board and counts every feature
    General,
}

impl From<EngineArg> for EngineKind {
    fn from(arg: EngineArg) -> EngineKind {
        match arg {
            EngineArg::Fastest => EngineKind::Fastest,
            EngineArg::Scalar => EngineKind::Scalar,
            EngineArg::General => EngineKind::General,
        }
    }
}

/// `--join`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum JoinArg {
    /// Fewest pieces without a reply first, then both values added up
    #[default]
    Sum,
    /// Fewest pieces without a reply first, then the replies' values alone
    Reply,
    /// Fewest pieces without a reply first, then the placement's own value alone
    Own,
    /// Both values added up; pieces without a reply only break ties
    SumFirst,
}

impl From<JoinArg> for Join {
    fn from(arg: JoinArg) -> Join {
        match arg {
            JoinArg::Sum => Join::Sum,
            JoinArg::Reply => Join::Reply,
            JoinArg::Own => Join::Own,
            JoinArg::SumFirst => Join::SumFirst,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boards() {
        assert_eq!(parse_board("10x4"), Ok(Board { height: 4 }));
        assert_eq!(parse_board("10x20").unwrap().to_string(), "10x20");
        for (text, told) in [
            ("0x0", "10 columns wide, not 0"),
            ("12x20", "10 columns wide, not 12"),
            ("10x99", "4 to 20 rows, not 99"),
            ("10x3", "4 to 20 rows, not 3"),
            ("10x-5", "like 10x20"),
            ("10x99999999999999999999", "like 10x20"),
            ("big", "like 10x20"),
            ("", "like 10x20"),
        ] {
            let message = parse_board(text).expect_err(text);
            assert!(message.contains(told), "{text}: {message}");
        }
    }

    #[test]
    fn sources_of_pieces() {
        for text in ["uniform", "hard:1", "hard:255", "bag", "list:a:b"] {
            assert_eq!(parse_pieces(text).unwrap().to_string(), text);
        }
        for text in ["", "Uniform", "hard", "hard:", "hard:0", "hard:256", "hard:x", "bag:", "list", "list:"]
        {
            parse_pieces(text).expect_err(text);
        }
    }

    #[test]
    fn lists_of_pieces() {
        assert_eq!(parse_list(" TS\r\n\tI\n\n"), Ok(vec![Piece::T, Piece::S, Piece::I]));
        assert!(parse_list("TS\nI Q").unwrap_err().starts_with("2:3: 'Q' is not a piece"));
    }
}
