//! Weights files: a player on disk, with where it came from.
//!
//! ```toml
//! version = 1
//! name = "dellacherie"
//! set = "d"
//!
//! [provenance]
//! method = "Pierre Dellacherie, by hand (Fahey 2003)"
//!
//! [weights]
//! landing_height = { real = -1.0, quantised = -1024 }
//! eroded_cells = { real = 1.0, quantised = 2048 }
//! row_transitions = { real = -1.0, quantised = -2048 }
//! column_transitions = { real = -1.0, quantised = -2048 }
//! holes = { real = -4.0, quantised = -8192 }
//! cumulative_wells = { real = -1.0, quantised = -2048 }
//! ```
//!
//! The integers play; the real weights are what was published or learned. Both are kept, and they must agree under
//! the one rule, [`Player::quantise`], so that no file says one thing and plays another.
//!
//! Reading is strict: what is not understood is an error that names the line and the way out. The weights stand last
//! and each has its line closed by a brace, so a file that was cut off anywhere lacks something that is missed.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::fs;
use std::io::{self, Read, Write as _};
use std::ops::Range;
use std::path::{Path, PathBuf};

use dropwise_core::player::{Known, MAX_WEIGHT, WeightsError};
use dropwise_core::{Feature, Player, Set};
use serde::{Deserialize, Serialize};
use toml::Spanned;

use crate::figures::nearest;

/// The version of the format that is read and written.
pub const VERSION: i64 = 1;

/// No weights file comes near this size; a larger one is not read at all.
const MAX_BYTES: u64 = 1 << 20;

/// The longest name a player may have.
const MAX_NAME: usize = 64;

/// A player with its name, its real weights and its origin.
#[derive(Clone, Debug, PartialEq)]
pub struct Weights {
    /// What the player is called.
    pub name: String,
    /// The weights as published or learned, in the order of the set's features.
    pub real: Vec<f64>,
    /// The same, quantised: what plays.
    pub player: Player,
    /// Where they came from.
    pub provenance: Provenance,
}

/// Where weights came from. All but the method may be unknown.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Provenance {
    /// How they were found: a training method, or a publication.
    pub method: String,
    /// The seed of the training.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// When, as the author writes dates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// Anything else worth keeping.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// How well they play.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<Score>,
}

/// A mean with everything it takes to compare it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Score {
    /// Mean lines a game.
    pub mean: f64,
    /// Lower end of the mean's 95 % interval.
    pub ci95_low: f64,
    /// Upper end of the mean's 95 % interval.
    pub ci95_high: f64,
    /// Mean pieces a game.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lifespan: Option<f64>,
    /// How many games.
    pub games: u64,
    /// Their seed.
    pub seed: u64,
    /// The board, as `--board` spells it.
    pub board: String,
    /// The pieces, as `--pieces` spells them.
    pub pieces: String,
    /// The rule, as `--overflow` spells it.
    pub overflow: String,
}

/// Why a text is not a weights file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong and what to do.
    pub message: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for ParseError {}

/// Why a weights file cannot be read or written.
#[derive(Debug)]
pub enum FileError {
    /// The file system says no.
    Io(PathBuf, io::Error),
    /// The content is wrong.
    Parse(PathBuf, ParseError),
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FileError::Io(path, error) => write!(f, "{}: {error}", path.display()),
            FileError::Parse(path, ParseError { line, message }) => {
                write!(f, "{}:{line}: {message}", path.display())
            }
        }
    }
}

impl std::error::Error for FileError {}

#[derive(Deserialize)]
struct Header {
    version: Option<Spanned<toml::Value>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[expect(
        dead_code,
        reason = "checked beforehand, so that another version's keys are not called unknown"
    )]
    version: i64,
    name: Spanned<String>,
    set: Spanned<String>,
    provenance: Spanned<Provenance>,
    weights: Spanned<BTreeMap<Spanned<String>, Weight>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Weight {
    real: Spanned<f64>,
    quantised: Spanned<i64>,
}

/// Reads the text of a weights file.
///
/// # Errors
/// If anything about it is not as documented; see [`ParseError`].
///
/// ```
/// use host::weights::{Weights, parse};
///
/// let text = Weights::from(&dropwise_core::player::KNOWN[0]).to_string();
/// assert_eq!(parse(&text).unwrap().name, "dellacherie");
///
/// let error = parse(&text.replace("holes", "potholes")).unwrap_err();
/// assert_eq!(error.line, 13);
/// assert!(error.message.starts_with("unknown feature 'potholes'"));
/// ```
pub fn parse(text: &str) -> Result<Weights, ParseError> {
    let at = |span: Range<usize>, message: String| ParseError { line: line_of(text, span.start), message };
    let syntax = |error: toml::de::Error| {
        let told = error.message().trim().replace('\n', "; ");
        // What is missing is missing at the end.
        let missing = told.starts_with("missing field") && error.span().is_none_or(|span| span.start == 0);
        let line = match error.span() {
            Some(span) if !missing => line_of(text, span.start),
            _ => line_of(text, text.len()),
        };
        ParseError {
            line,
            message: format!(
                "{told}; is the file complete? `host players bcts --save FILE` writes one to compare"
            ),
        }
    };

    let header: Header = toml::from_str(text).map_err(syntax)?;
    if let Some(version) = header.version
        && version.get_ref().as_integer() != Some(VERSION)
    {
        let message = format!(
            "this file has version {}, but this program reads version {VERSION}; use the program that wrote it, or \
             train and save the player again",
            version.get_ref()
        );
        return Err(at(version.span(), message));
    }
    let file: File = toml::from_str(text).map_err(syntax)?;

    let name = file.name.get_ref();
    if !is_name(name) {
        let message = format!("{name:?} is not a name; a name has 1 to {MAX_NAME} printable characters");
        return Err(at(file.name.span(), message));
    }
    let Some(set) = Set::from_name(file.set.get_ref()) else {
        return Err(at(file.set.span(), unknown_set(file.set.get_ref())));
    };
    if file.provenance.get_ref().method.is_empty() {
        let message = "the provenance has an empty method; say how the weights were found".to_owned();
        return Err(at(file.provenance.span(), message));
    }
    if let Some(score) = &file.provenance.get_ref().score
        && ![score.mean, score.ci95_low, score.ci95_high, score.lifespan.unwrap_or(0.0)]
            .iter()
            .all(|number| number.is_finite())
    {
        let message = "the score is not finite; measure it with `host evaluate`, or leave it out".to_owned();
        return Err(at(file.provenance.span(), message));
    }

    let given = file.weights.get_ref();
    if let Some(stranger) = given.keys().find(|key| !set.labels().contains(&key.get_ref().as_str())) {
        return Err(at(stranger.span(), unknown_feature(stranger.get_ref(), set)));
    }
    let (mut real, mut quantised, mut lines) = (vec![], vec![], vec![]);
    for &label in set.labels() {
        let Some(weight) = given.get(label) else {
            let message = format!(
                "set '{set}' has {} features, but {label} has no weight; is the file complete? Add the line \
                 `{label} = {{ real = ..., quantised = ... }}`",
                set.len()
            );
            return Err(at(file.weights.span(), message));
        };
        real.push(*weight.real.get_ref());
        let integer = i16::try_from(*weight.quantised.get_ref()).ok();
        let Some(integer) = integer.filter(|integer| (-MAX_WEIGHT..=MAX_WEIGHT).contains(integer)) else {
            let message = format!(
                "the quantised weight {} of {label} is not between -{MAX_WEIGHT} and {MAX_WEIGHT}; quantise the real \
                 weights again",
                weight.quantised.get_ref()
            );
            return Err(at(weight.quantised.span(), message));
        };
        quantised.push(integer);
        lines.push((weight.real.span(), weight.quantised.span()));
    }
    let player = Player::quantise(set, &real).map_err(|error| {
        let (span, told) = match error {
            WeightsError::NotFinite(i) => {
                (lines[i].0.clone(), format!("the weight of {} is not finite", set.labels()[i]))
            }
            error => (file.weights.span(), error.to_string()),
        };
        at(span, format!("{told}; a weight is a number like -12.629"))
    })?;
    let differing = player.weights().iter().zip(&quantised).position(|(rule, given)| rule != given);
    if let Some(i) = differing {
        let message = format!(
            "the quantised weight {} of {} disagrees with the real weights, which quantise to {}; if the real weights \
             are right, write {} here",
            quantised[i],
            set.labels()[i],
            player.weights()[i],
            player.weights()[i]
        );
        return Err(at(lines[i].1.clone(), message));
    }
    Ok(Weights { name: name.clone(), real, player, provenance: file.provenance.into_inner() })
}

fn is_name(name: &str) -> bool {
    let length = name.chars().count();
    (1..=MAX_NAME).contains(&length) && !name.chars().any(char::is_control)
}

/// The line of a byte, from 1. A position at the very end belongs to the last line that has something on it.
fn line_of(text: &str, byte: usize) -> usize {
    let before = &text.as_bytes()[..byte.min(text.len())];
    let breaks = before.iter().filter(|&&byte| byte == b'\n').count();
    let at_the_end = byte >= text.len() && before.ends_with(b"\n");
    (breaks + 1 - usize::from(at_the_end)).max(1)
}

/// What to say of a set that does not exist.
pub fn unknown_set(name: &str) -> String {
    let names: Vec<&str> = Set::ALL.iter().map(|set| set.name()).collect();
    let meant = nearest(name, names.iter().copied());
    let hint = meant.map_or(String::new(), |meant| format!("; did you mean '{meant}'?"));
    format!("unknown feature set '{name}'{hint}; the sets are {}", names.join(", "))
}

fn unknown_feature(name: &str, set: Set) -> String {
    let labels = set.labels();
    // A feature this set has, under the name that another paper gave it?
    let same = Feature::from_name(name)
        .and_then(|feature| set.features().iter().position(|&own| own == feature))
        .map(|i| labels[i]);
    if let Some(same) = same {
        return format!("set '{set}' calls {name} '{same}'; write it so");
    }
    let what = if Feature::from_name(name).is_some() {
        format!("feature '{name}' is not in set '{set}'")
    } else {
        format!("unknown feature '{name}'")
    };
    let hint = nearest(name, labels.iter().copied());
    let hint = hint.map_or(String::new(), |hint| format!("; did you mean '{hint}'?"));
    format!("{what}{hint}; the features of set '{set}' are {}", labels.join(", "))
}

impl From<&Known> for Weights {
    fn from(known: &Known) -> Weights {
        Weights {
            name: known.name.to_owned(),
            real: known.weights.to_vec(),
            player: known.player,
            provenance: Provenance { method: known.source.to_owned(), ..Provenance::default() },
        }
    }
}

/// The text of a weights file.
impl fmt::Display for Weights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let set = self.player.set();
        let quoted = |text: &str| toml::Value::from(text);
        writeln!(f, "version = {VERSION}")?;
        writeln!(f, "name = {}", quoted(&self.name))?;
        writeln!(f, "set = {}", quoted(set.name()))?;
        writeln!(f, "\n[provenance]")?;
        let Provenance { method, seed, date, note, score } = &self.provenance;
        writeln!(f, "method = {}", quoted(method))?;
        if let Some(seed) = seed {
            writeln!(f, "seed = {seed}")?;
        }
        for (key, text) in [("date", date), ("note", note)] {
            if let Some(text) = text {
                writeln!(f, "{key} = {}", quoted(text))?;
            }
        }
        if let Some(score) = score {
            writeln!(f, "\n[provenance.score]")?;
            writeln!(f, "mean = {:?}", score.mean)?;
            writeln!(f, "ci95_low = {:?}", score.ci95_low)?;
            writeln!(f, "ci95_high = {:?}", score.ci95_high)?;
            if let Some(lifespan) = score.lifespan {
                writeln!(f, "lifespan = {lifespan:?}")?;
            }
            writeln!(f, "games = {}", score.games)?;
            writeln!(f, "seed = {}", score.seed)?;
            writeln!(f, "board = {}", quoted(&score.board))?;
            writeln!(f, "pieces = {}", quoted(&score.pieces))?;
            writeln!(f, "overflow = {}", quoted(&score.overflow))?;
        }
        writeln!(f, "\n[weights]")?;
        for ((label, real), quantised) in set.labels().iter().zip(&self.real).zip(self.player.weights()) {
            // The debug form of a float is the shortest that reads back as the same one.
            writeln!(f, "{label} = {{ real = {real:?}, quantised = {quantised} }}")?;
        }
        Ok(())
    }
}

impl Weights {
    /// Reads a weights file.
    ///
    /// # Errors
    /// If the file cannot be read, or [`parse`] refuses it.
    pub fn read(path: &Path) -> Result<Weights, FileError> {
        let io = |error| FileError::Io(path.to_owned(), error);
        let mut bytes = vec![];
        let file = fs::File::open(path).map_err(io)?;
        file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(io)?;
        if bytes.len() as u64 > MAX_BYTES {
            let message = "too large for a weights file; is it the right one?".to_owned();
            return Err(FileError::Parse(path.to_owned(), ParseError { line: 1, message }));
        }
        let text = std::str::from_utf8(&bytes).map_err(|error| {
            let line = 1 + bytes[..error.valid_up_to()].iter().filter(|&&byte| byte == b'\n').count();
            let message = "not text; a weights file is TOML in UTF-8, is it the right one?".to_owned();
            FileError::Parse(path.to_owned(), ParseError { line, message })
        })?;
        parse(text).map_err(|error| FileError::Parse(path.to_owned(), error))
    }

    /// Writes a weights file. It is written aside and renamed, so there is never half a file under its name.
    ///
    /// # Errors
    /// If the file system says no.
    pub fn write(&self, path: &Path) -> Result<(), FileError> {
        let mut text = String::new();
        let written = write!(text, "{self}");
        debug_assert!(written.is_ok(), "a String takes everything");
        write_aside(path, text.as_bytes()).map_err(|error| FileError::Io(path.to_owned(), error))
    }
}

/// Writes a file aside, syncs it and renames it, so that there is never half a file under its name.
pub(crate) fn write_aside(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let name = path.file_name().ok_or_else(|| io::Error::other("not a file name"))?;
    let mut aside_name = name.to_owned();
    aside_name.push(format!(".{}.tmp", std::process::id()));
    let aside = path.with_file_name(aside_name);
    let write = || {
        let mut file = fs::File::create(&aside)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&aside, path)
    };
    write().inspect_err(|_| {
        // The first error is the one to tell; what is left behind is only clutter.
        let _ = fs::remove_file(&aside);
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use dropwise_core::player::KNOWN;

    fn full() -> Weights {
        let mut weights = Weights::from(&KNOWN[1]);
        weights.name = "a \"name\" \\ with ünïcode".into();
        weights.provenance = Provenance {
            method: "cross-entropy\nin two lines".into(),
            seed: Some(u64::MAX),
            date: Some("2026-11-16".into()),
            note: Some("it's ''' tricky \"\"\"".into()),
            score: Some(Score {
                mean: 3831.0625,
                ci95_low: 1e-9,
                ci95_high: 1e300,
                lifespan: Some(9600.5),
                games: 10_000,
                seed: 3,
                board: "10x10".into(),
                pieces: "hard:4".into(),
                overflow: "before".into(),
            }),
        };
        weights
    }

    #[test]
    fn what_is_written_is_read_back_exactly() {
        for known in &KNOWN {
            let weights = Weights::from(known);
            assert_eq!(parse(&weights.to_string()), Ok(weights));
        }
        assert_eq!(parse(&full().to_string()), Ok(full()));
    }

    #[test]
    fn a_file_cut_off_anywhere_is_missed() {
        for weights in [Weights::from(&KNOWN[1]), full()] {
            let text = weights.to_string();
            for cut in (0..text.len()).filter(|&cut| text.is_char_boundary(cut)) {
                match parse(&text[..cut]) {
                    // Only the last line break may go missing.
                    Ok(read) => assert_eq!((read, cut), (weights.clone(), text.len() - 1)),
                    Err(error) => {
                        let last = text[..cut].lines().count().max(1);
                        assert!((1..=last).contains(&error.line), "{cut}: {error}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_wrong_byte_anywhere_is_read_or_refused_on_a_line_of_the_file() {
        let text = full().to_string();
        let lines = text.lines().count() + 1;
        for (at, _) in text.char_indices() {
            for byte in ["", "\n", "\"", "=", "[", "]", "{", "}", ".", "-", "9", "x", "\0", "\u{fffd}"] {
                let rest = text[at..].chars().next().map_or(at, |c| at + c.len_utf8());
                if let Err(error) = parse(&format!("{}{byte}{}", &text[..at], &text[rest..])) {
                    assert!((1..=lines).contains(&error.line), "{at} {byte:?}: {error}");
                }
            }
        }
    }

    #[test]
    fn every_wrong_file_is_told_its_line_and_the_way_out() {
        let good = Weights::from(&KNOWN[0]).to_string();
        let holes = format!("quantised = {}", KNOWN[0].player.weights()[4]);
        let cases: [(&str, &str, usize, &str); 22] = [
            ("version = 1", "version = 2", 1, "version 2, but this program reads version 1"),
            ("version = 1", "version = \"1\"", 1, "version \"1\""),
            ("version = 1", "vision = 1", 1, "unknown field `vision`"),
            ("name = \"dellacherie\"", "name = \"\"", 2, "is not a name"),
            ("name = \"dellacherie\"", "name = 7", 2, "invalid type"),
            ("name = \"dellacherie\"", "name = \"dellacherie", 2, "is the file complete?"),
            ("set = \"d\"", "set = \"bctss\"", 3, "did you mean 'bcts'?"),
            ("set = \"d\"", "set = \"bcts\"", 8, "set 'bcts' has 8 features, but hole_depth has no weight"),
            ("method = \"Pierre Dellacherie, by hand (Fahey 2003)\"", "", 5, "missing field `method`"),
            ("method = \"Pierre Dellacherie, by hand (Fahey 2003)\"", "method = \"\"", 5, "empty method"),
            ("[weights]", "author = 1\n[weights]", 8, "unknown field `author`"),
            ("holes =", "holse =", 13, "unknown feature 'holse'; did you mean 'holes'?"),
            ("holes =", "potholes =", 13, "unknown feature 'potholes'; the features of set 'd' are"),
            ("holes =", "closed_holes =", 13, "set 'd' calls closed_holes 'holes'"),
            ("holes =", "hole_depth =", 13, "feature 'hole_depth' is not in set 'd'"),
            ("holes =", "eroded_cells =", 13, "duplicate key"),
            ("holes = { real = -4.0", "holes = { real = nan", 13, "the weight of holes is not finite"),
            ("holes = { real = -4.0", "holes = { real = -inf", 13, "the weight of holes is not finite"),
            ("holes = { real = -4.0", "holes = { weight = -4.0", 13, "unknown field `weight`"),
            (&holes, "quantised = -16384", 13, "not between -16383 and 16383"),
            (&holes, "quantised = -99999999999999999999", 13, "is the file complete?"),
            (&holes, "quantised = 5", 13, "disagrees with the real weights, which quantise to"),
        ];
        for (from, to, line, message) in cases {
            assert!(good.contains(from), "{from}");
            let error = parse(&good.replace(from, to)).expect_err(to);
            assert_eq!(error.line, line, "{to}: {error}");
            assert!(error.message.contains(message), "{to}: {error}");
        }
        let error = parse("").unwrap_err();
        assert_eq!(error.line, 1);
    }

    #[test]
    fn writing_replaces_the_whole_file_or_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("w.toml");
        Weights::from(&KNOWN[1]).write(&path).unwrap();
        full().write(&path).unwrap();
        assert_eq!(Weights::read(&path).unwrap(), full());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left aside");
        assert!(full().write(&folder.path().join("no/such/folder.toml")).is_err());
        assert!(matches!(Weights::read(folder.path()), Err(FileError::Io(..))));
    }
}
