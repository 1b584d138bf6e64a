//! `host inspect`: what a player thinks of a position.

use std::fmt::{self, Write};
use std::io::{self, BufRead, IsTerminal, Read};
use std::path::PathBuf;
use std::{fs, str};

use clap::Args;
use dropwise_core::feature::{Outcome, SYNONYMS};
use dropwise_core::well::{Landing, WIDTH};
use dropwise_core::{Controller, Feature, Overflow, Piece, Placement, Set, Well};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Number, Value};

use crate::args::{self, Common, ControlArgs, OverflowArg, PlayerArg};
use crate::output::{self, Answer, FAINT, Failure, GOOD, HEADING};
use crate::stack;
use crate::weights::{self, Weights};

/// Explain a decision: every placement of a piece with its features and values, and the one chosen
#[derive(Args, Debug)]
#[command(after_help = HELP)]
pub struct InspectArgs {
    #[command(flatten)]
    player: PlayerArg,

    /// Which features to report: a set's name, or all [default: the player's set]
    #[arg(long, value_name = "all|SET", value_parser = parse_features)]
    features: Option<Features>,

    /// Read the position from a file instead of standard input
    #[arg(long, value_name = "FILE")]
    position: Option<PathBuf>,

    /// The piece to place, where the position is a drawing
    #[arg(long, value_name = "LETTER", value_parser = parse_letter)]
    piece: Option<Piece>,

    /// A placement that lands above the brim loses before, or only after, its lines are cleared
    #[arg(long, value_enum, default_value_t)]
    overflow: OverflowArg,

    #[command(flatten)]
    control: ControlArgs,

    /// How many placements to show a person
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u8).range(1..=34))]
    top: u8,
}

const HELP: &str = r#"A position is a JSON object on one line: rows from the top, 'X' full and '.' empty, as many as the board is high, the
piece, and, for --lookahead, the letters of the pieces that come next:

  {"rows": ["..........", "..........", "..........", "XXXX.XXXXX"], "piece": "T", "next": "SZ"}

or a drawing, one row a line, with the piece given by --piece. Lines that are blank are skipped.

With --json, each position is answered by one line:

  {"placements": [{"orientation", "column", "cells": [[x, y], ...], "lines", "loses", "features": {...}, "value"}, ...],
   "chosen": index or null}

Placements stand in the order that breaks ties. y is 0 at the floor; cells are those where the piece lands, before lines
are cleared. Features are in their own units. The value is the weighted sum as it is played: quantised weights times the
features' integers. Placements that lose have neither, unless --allow-losing.

Examples:
  host inspect --position board.txt --piece T
  host inspect --json --features all < positions.jsonl
  host inspect --player dt20 --lookahead 1 < position.json"#;

/// A board and the piece to place on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position {
    /// The board.
    pub well: Well,
    /// The piece to place.
    pub piece: Piece,
    /// The pieces known to come, for a player that looks ahead.
    pub next: Vec<Piece>,
}

/// Other fields are ignored: positions may carry notes.
#[derive(Deserialize)]
struct PositionJson {
    rows: Vec<String>,
    piece: String,
    #[serde(default)]
    next: String,
}

/// Reads a position from one JSON object.
///
/// # Errors
/// A message that says what is wrong, for any text that is not a position.
///
/// ```
/// use host::inspect::parse_position;
///
/// let rows = r#"["..........", "..........", "..........", "XXXX.XXXXX"]"#;
/// let position = parse_position(&format!(r#"{{"rows": {rows}, "piece": "T"}}"#)).unwrap();
/// assert_eq!((position.well.height(), position.piece.letter()), (4, 'T'));
///
/// let error = parse_position(&format!(r#"{{"rows": {rows}, "piece": "Q"}}"#)).unwrap_err();
/// assert!(error.contains("not a piece"));
/// ```
pub fn parse_position(text: &str) -> Result<Position, String> {
    let json: PositionJson = serde_json::from_str(text).map_err(|error| {
        let told = error.to_string();
        let told = told.split(" at line ").next().unwrap_or_default();
        let (line, column) = (error.line(), error.column());
        let place = if line > 1 { format!("line {line} of it, column {column}") } else { format!("column {column}") };
        format!(
            "not a position: {told} ({place}); write {{\"rows\": [\"..........\", ...], \"piece\": \"T\"}} on one line"
        )
    })?;
    let well = Well::from_rows(&json.rows).map_err(|error| error.to_string())?;
    let mut letters = json.piece.chars();
    let (Some(letter), None) = (letters.next(), letters.next()) else {
        return Err(format!("{:?} is not a piece; the pieces are I, O, T, Z, S, J and L", json.piece));
    };
    let piece = args::parse_piece(letter)?;
    let next = json.next.chars().map(args::parse_piece).collect::<Result<_, _>>()?;
    Ok(Position { well, piece, next })
}

fn parse_letter(text: &str) -> Result<Piece, String> {
    let mut letters = text.chars();
    match (letters.next(), letters.next()) {
        (Some(letter), None) => args::parse_piece(letter),
        _ => Err("a piece is one letter: I, O, T, Z, S, J or L".into()),
    }
}

/// The features to report, each with the name to report it by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Features(Vec<(&'static str, Feature)>);

impl Features {
    /// No features at all, where only values are wanted.
    pub fn none() -> Features {
        Features(vec![])
    }

    /// Every feature, under each of its names.
    pub fn all() -> Features {
        let named = Feature::ALL.iter().map(|&feature| (feature.name(), feature));
        Features(named.chain(SYNONYMS.iter().copied()).collect())
    }
}

impl From<Set> for Features {
    /// A set's features, as its paper names them.
    fn from(set: Set) -> Features {
        Features(set.labels().iter().copied().zip(set.features().iter().copied()).collect())
    }
}

fn parse_features(text: &str) -> Result<Features, String> {
    if text == "all" {
        return Ok(Features::all());
    }
    let set = Set::from_name(text).ok_or_else(|| format!("{}, or 'all'", weights::unknown_set(text)))?;
    Ok(set.into())
}

/// A feature in its own unit: integers stay integers, half rows are written x.0 or x.5.
fn in_units(feature: Feature, outcome: &Outcome) -> Number {
    let measured = feature.measure(outcome);
    match feature.unit() {
        1 => measured.into(),
        unit => Number::from_f64(f64::from(measured) / f64::from(unit)).unwrap_or_else(|| measured.into()),
    }
}

/// A placement and what the player thinks of it.
#[derive(Clone, Debug)]
pub struct Judged {
    /// The placement.
    pub placement: Placement,
    /// How the piece lands.
    pub landing: Landing,
    /// The features asked for; none where the placement loses and may not be chosen.
    pub features: Vec<(&'static str, Number)>,
    /// Its value as played; none where the placement loses and may not be chosen.
    pub value: Option<i32>,
}

/// Every placement of a piece, in the order that breaks ties, and the one chosen.
#[derive(Clone, Debug)]
pub struct Judgements {
    /// The placements.
    pub placements: Vec<Judged>,
    /// Which of them is chosen; none if all lose and losing is not allowed.
    pub chosen: Option<usize>,
}

impl Judgements {
    /// Lets a controller judge a position.
    pub fn of(
        controller: &Controller,
        well: &Well,
        piece: Piece,
        next: &[Piece],
        overflow: Overflow,
        features: &Features,
    ) -> Judgements {
        let judge = |placement| {
            let outcome = Outcome::of(well, piece, placement, overflow);
            let counts = controller.options().allow_losing || !outcome.landing.loses;
            let features = features.0.iter().filter(|_| counts);
            Judged {
                placement,
                landing: outcome.landing,
                features: features.map(|&(name, feature)| (name, in_units(feature, &outcome))).collect(),
                value: counts.then(|| controller.player().value(&outcome)),
            }
        };
        let choice = controller.choose(well, piece, next, overflow);
        let placements: Vec<Judged> = Placement::all(piece).map(judge).collect();
        let chosen =
            choice.and_then(|choice| placements.iter().position(|judged| judged.placement == choice));
        Judgements { placements, chosen }
    }

    /// The indices of the placements that may be chosen, by value; of equals the first in order stands first.
    pub fn ranking(&self) -> Vec<usize> {
        let mut ranking: Vec<usize> =
            (0..self.placements.len()).filter(|&i| self.placements[i].value.is_some()).collect();
        ranking.sort_by_key(|&i| std::cmp::Reverse(self.placements[i].value));
        ranking
    }
}

#[derive(Serialize)]
struct JudgementsJson {
    placements: Vec<JudgedJson>,
    chosen: Option<usize>,
}

#[derive(Serialize)]
struct JudgedJson {
    orientation: u8,
    column: u8,
    cells: Vec<(usize, usize)>,
    lines: u8,
    loses: bool,
    features: Map<String, Value>,
    value: Option<i32>,
}

impl JudgementsJson {
    fn new(piece: Piece, judgements: Judgements) -> JudgementsJson {
        let json = |judged: Judged| JudgedJson {
            orientation: judged.placement.orientation,
            column: judged.placement.column,
            cells: stack::cells(piece, judged.placement, usize::from(judged.landing.row)),
            lines: judged.landing.lines,
            loses: judged.landing.loses,
            features: judged
                .features
                .into_iter()
                .map(|(name, n)| (name.to_owned(), Value::Number(n)))
                .collect(),
            value: judged.value,
        };
        JudgementsJson {
            placements: judgements.placements.into_iter().map(json).collect(),
            chosen: judgements.chosen,
        }
    }
}

/// The longest line of input; a position has some 400 characters.
const MAX_LINE: u64 = 1 << 20;

/// Runs the command.
///
/// # Errors
/// See [`Failure`].
pub fn run(args: &InspectArgs, common: Common) -> Result<Answer, Failure> {
    let weights = args.player.load()?;
    let controller = args.control.controller(weights.player)?;
    let features = args.features.clone().unwrap_or_else(|| weights.player.set().into());
    let inspector = Inspector { args, weights, controller, features, json: common.json };
    match &args.position {
        Some(path) => {
            let name = path.display();
            let file = fs::File::open(path).map_err(|error| {
                Failure::input(format_args!("cannot read the position in {name}: {error}"))
            })?;
            inspector.read(&name, io::BufReader::new(file))
        }
        None => {
            if io::stdin().is_terminal() {
                output::say("Type a position as JSON, or end with Ctrl-D; `host inspect --help` shows how.");
            }
            inspector.read(&"standard input", io::stdin().lock())
        }
    }
}

struct Inspector<'a> {
    args: &'a InspectArgs,
    weights: Weights,
    controller: Controller,
    features: Features,
    json: bool,
}

impl Inspector<'_> {
    /// Answers each position as it is read, so that a program can hold a dialogue.
    fn read(&self, name: &dyn fmt::Display, mut input: impl BufRead) -> Result<Answer, Failure> {
        let mut drawing: Vec<String> = vec![];
        let mut answered = 0;
        for number in 1.. {
            let fail =
                |message: &dyn fmt::Display| Failure::input(format_args!("{name}, line {number}: {message}"));
            let mut bytes = vec![];
            let read = input.by_ref().take(MAX_LINE).read_until(b'\n', &mut bytes);
            if read.map_err(|error| fail(&error))? == 0 {
                break;
            }
            if bytes.len() as u64 == MAX_LINE {
                return Err(fail(&"too long for a position; is it the right file?"));
            }
            let line = str::from_utf8(&bytes)
                .map_err(|_| fail(&"not text; a position is JSON or a drawing in UTF-8"))?;
            let line = line.trim();
            if line.is_empty() {
                continue;
            }
            if self.args.piece.is_some() {
                if line.starts_with('{') {
                    return Err(fail(&"a JSON position names its piece; leave out --piece"));
                }
                drawing.push(line.to_owned());
                continue;
            }
            if line.chars().all(|cell| matches!(cell, 'X' | '.')) {
                return Err(fail(&"a drawing does not say which piece to place; add --piece T"));
            }
            let position = parse_position(line).map_err(|error| fail(&error))?;
            self.answer(&position, answered)?;
            answered += 1;
        }
        if let Some(piece) = self.args.piece {
            let well =
                Well::from_rows(&drawing).map_err(|error| Failure::input(format_args!("{name}: {error}")))?;
            self.answer(&Position { well, piece, next: vec![] }, answered)?;
        } else if answered == 0 && !self.json {
            return Err(Failure::input(format_args!(
                "{name} holds no position; `host inspect --help` shows how"
            )));
        }
        Ok(Answer::Yes)
    }

    fn answer(&self, position: &Position, number: usize) -> Result<(), Failure> {
        let Position { well, piece, next } = position;
        let overflow = self.args.overflow.into();
        let judgements = Judgements::of(&self.controller, well, *piece, next, overflow, &self.features);
        if self.json {
            return output::print_json(&JudgementsJson::new(*piece, judgements));
        }
        let gap = if number > 0 { "\n" } else { "" };
        output::print(format_args!("{gap}{}", self.explain(position, &judgements)))
    }

    /// The decision for a person: the board with the chosen placement, then placements side by side, best first.
    fn explain(&self, position: &Position, judgements: &Judgements) -> String {
        let Position { well, piece, next } = position;
        let mut text = String::new();
        // A String takes everything, so what write! returns says nothing.
        let _ = writeln!(
            text,
            "{HEADING}{} places {piece}{HEADING:#} on {WIDTH}x{}, overflow tested {} clearing\n",
            self.args.player.player,
            well.height(),
            self.args.overflow.name()
        );
        let chosen = judgements.chosen.map(|i| &judgements.placements[i]);
        let landed = chosen
            .map_or(vec![], |judged| stack::cells(*piece, judged.placement, usize::from(judged.landing.row)));
        let top = landed.iter().map(|&(_, y)| y + 1).fold(well.height(), usize::max);
        for y in (0..top).rev() {
            let _ = write!(text, "  {FAINT}{y:>2}{FAINT:#} ");
            for x in 0..WIDTH {
                let _ = if landed.contains(&(x, y)) {
                    write!(text, "{GOOD}{piece}{GOOD:#}")
                } else if well.is_full(x, y) {
                    text.write_char('X')
                } else {
                    write!(text, "{FAINT}.{FAINT:#}")
                };
            }
            text.push('\n');
        }
        let _ = writeln!(text, "     {FAINT}0123456789{FAINT:#}\n");

        let losing = judgements.placements.iter().filter(|judged| judged.landing.loses).count();
        let all = judgements.placements.len();
        let Some(chosen) = chosen else {
            let _ = writeln!(text, "  Every one of the {all} placements loses: the game is over.");
            return text;
        };
        let Placement { orientation, column } = chosen.placement;
        let _ = write!(text, "  {GOOD}chosen: orientation {orientation}, column {column}{GOOD:#}");
        let how = match (self.args.control.lookahead.min(next.len() as u8), self.args.control.rescue) {
            (0, Some(height)) if well.max_height() > height.into() => {
                " by the expectation over the next piece"
            }
            (0, _) => "",
            _ => " by looking ahead",
        };
        let _ = writeln!(text, "{how}; {all} placements, {losing} of them lose\n");
        self.table(&mut text, judgements);
        text
    }

    fn table(&self, text: &mut String, judgements: &Judgements) {
        let ranking = judgements.ranking();
        // The chosen one first: with look-ahead it need not be the one of the highest value.
        let mut columns = ranking.clone();
        columns.sort_by_key(|&i| judgements.chosen != Some(i));
        columns.truncate(self.args.top.into());
        let shown: Vec<&Judged> = columns.iter().map(|&i| &judgements.placements[i]).collect();
        let Some(best) = ranking.first().and_then(|&i| judgements.placements[i].value) else {
            return;
        };

        let label = self.features.0.iter().map(|(name, _)| name.len()).fold(11, usize::max);
        let mut row = |name: &str, weight: &str, cells: Vec<String>| {
            let _ = write!(text, "  {name:<label$} {FAINT}{weight:>9}{FAINT:#}");
            for (cell, i) in cells.iter().zip(&columns) {
                let _ = if judgements.chosen == Some(*i) {
                    write!(text, "  {GOOD}{cell:>8}{GOOD:#}")
                } else {
                    write!(text, "  {cell:>8}")
                };
            }
            text.push('\n');
        };
        let of =
            |cell: &dyn Fn(&Judged) -> String| shown.iter().map(|judged| cell(judged)).collect::<Vec<_>>();
        let rank = |i: &usize| ranking.iter().position(|ranked| ranked == i).map_or(0, |rank| rank + 1);
        row("by value", "weight", columns.iter().map(|i| format!("#{}", rank(i))).collect());
        row("orientation", "", of(&|judged| judged.placement.orientation.to_string()));
        row("column", "", of(&|judged| judged.placement.column.to_string()));
        row("lines", "", of(&|judged| judged.landing.lines.to_string()));
        let player = &self.weights.player;
        for (i, &(name, feature)) in self.features.0.iter().enumerate() {
            let own = player.set().features().iter().position(|&own| own == feature);
            let weight = own.map_or(String::new(), |own| short_weight(self.weights.real[own]));
            row(name, &weight, of(&|judged| number(&judged.features[i].1)));
        }
        row("value", "", of(&|judged| judged.value.map_or(String::new(), |value| value.to_string())));
        row(
            "below best",
            "",
            of(&|judged| judged.value.map_or(String::new(), |value| (best - value).to_string())),
        );
    }
}

/// A weight in few characters.
fn short_weight(weight: f64) -> String {
    if weight == 0.0 || (0.001..100_000.0).contains(&weight.abs()) {
        format!("{weight:.3}")
    } else {
        format!("{weight:.1e}")
    }
}

fn number(number: &Number) -> String {
    match number.as_f64() {
        Some(real) if number.is_f64() && (real * 2.0).fract() == 0.0 => format!("{real:.1}"),
        Some(real) if number.is_f64() => format!("{real:.3}"),
        _ => number.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dropwise_core::Player;

    fn position(rows: &[&str], piece: &str) -> String {
        serde_json::json!({ "rows": rows, "piece": piece }).to_string()
    }

    const EMPTY: &str = "..........";

    #[test]
    fn wrong_positions_are_told_what_is_wrong() {
        let good = position(&[EMPTY; 4], "T");
        assert!(parse_position(&good).is_ok());
        for (text, told) in [
            (position(&[EMPTY, EMPTY, EMPTY, "XXXXXXXXXX"], "T"), "row 4 from the top is full"),
            (position(&[EMPTY, EMPTY, ".........", EMPTY], "T"), "has 9 cells, not 10"),
            (position(&[EMPTY, "...........", EMPTY, EMPTY], "T"), "has 11 cells, not 10"),
            (position(&[EMPTY, EMPTY, EMPTY, "....#....."], "T"), "'#'"),
            (position(&[EMPTY; 3], "T"), "4 to 20 rows, not 3"),
            (position(&[EMPTY; 21], "T"), "4 to 20 rows, not 21"),
            (position(&[EMPTY; 4], "Q"), "'Q' is not a piece"),
            (position(&[EMPTY; 4], "t"), "'t' is not a piece"),
            (position(&[EMPTY; 4], ""), "\"\" is not a piece"),
            (position(&[EMPTY; 4], "TT"), "\"TT\" is not a piece"),
            (good.replace("\"T\"", "7"), "invalid type"),
            (good.replace("piece", "peace"), "missing field `piece`"),
            (good.replace("{\"rows", "{\"piece\":\"T\",\"rows"), "duplicate field `piece`"),
            (good.replace(",\"piece\":\"T\"", ""), "missing field `piece`"),
            (good.replace("\"T\"}", "\"T\",\"next\":\"SQ\"}"), "'Q' is not a piece"),
            (format!("{good} x"), "trailing characters"),
            ("hello".into(), "not a position"),
            (String::new(), "not a position"),
            ("[".repeat(10_000), "not a position"),
        ] {
            let error = parse_position(&text).expect_err(&text);
            assert!(error.contains(told), "{text}: {error}");
        }
        for cut in 0..good.len() {
            assert!(parse_position(&good[..cut]).is_err(), "{cut}");
        }
    }

    #[test]
    fn the_chosen_one_ranks_first() {
        let controller = Controller::new(Player::known("bcts").unwrap());
        let features = Features::from(Set::Bcts);
        let well = Well::new(20).unwrap();
        for piece in Piece::ALL {
            let judgements = Judgements::of(&controller, &well, piece, &[], Overflow::Before, &features);
            assert_eq!(judgements.chosen, judgements.ranking().first().copied());
            assert_eq!(judgements.placements.len(), Placement::all(piece).count());
        }
    }

    #[test]
    fn all_features_have_names_of_their_own() {
        let mut names: Vec<&str> = Features::all().0.iter().map(|(name, _)| *name).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        assert_eq!(count, Feature::ALL.len() + SYNONYMS.len());
    }
}
