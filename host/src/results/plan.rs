//! What is to be measured: `plan.toml`, its sections and their rows.
//!
//! ```toml
//! version = 1
//! seed = 6
//! text = "What stands at the top of the page."
//!
//! [[section]]
//! name = "small"
//! title = "A small board"
//! kind = "scores"
//! text = "What stands above the table."
//! rows = [
//!     { player = "bcts", board = "10x10", games = 1000 },
//!     { player = "mine", board = "10x10", games = 1000, rescue = 7 },
//! ]
//! ```
//!
//! A player is a known one, or `players/NAME.toml` beside the plan. To measure one more is one more line.

use std::fs;
use std::path::Path;

use dropwise_core::well::MAX_HEIGHT;
use dropwise_core::{Options, PieceSource, Player, Rules};
use serde::Deserialize;

use super::record::Hex;
use super::row::Row;
use super::variant::Variant;
use crate::args::{JoinArg, OverflowArg, Pieces, parse_board, parse_pieces};
use crate::figures::nearest;
use crate::output::Failure;
use crate::weights::Weights;

/// The version of the format that is read.
const VERSION: u32 = 1;

/// What a section's table and pictures show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Players beside what was published of them; their scores against the exponential distribution.
    Scores,
    /// Rows beside the one they are compared with.
    Comparison,
    /// What looking deeper gives, and what it costs.
    Rescue,
    /// How often piles are how high, and what that predicts.
    Heights,
    /// How training went, from the files in `curves`.
    Curves,
}

/// What is to be measured.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The seed of the games.
    pub seed: u64,
    /// What stands at the top of the page.
    pub text: String,
    /// In the order of the page.
    pub sections: Vec<Section>,
}

/// A section of the page.
#[derive(Clone, Debug)]
pub struct Section {
    /// Its short name: that of its data file and its pictures, and what `--only` takes.
    pub name: String,
    /// Its heading.
    pub title: String,
    /// What stands above the table.
    pub text: String,
    /// What it shows.
    pub kind: Kind,
    /// In the order of the table.
    pub rows: Vec<Row>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PlanFile {
    version: u32,
    seed: u64,
    #[serde(default)]
    text: String,
    #[serde(default)]
    section: Vec<SectionFile>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SectionFile {
    name: String,
    title: String,
    #[serde(default)]
    text: String,
    kind: Kind,
    #[serde(default)]
    rows: Vec<RowFile>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct RowFile {
    player: String,
    board: String,
    games: u64,
    pieces: Option<String>,
    #[serde(default)]
    overflow: OverflowArg,
    #[serde(default)]
    allow_losing: bool,
    #[serde(default)]
    lookahead: u8,
    rescue: Option<u8>,
    #[serde(default)]
    join: JoinArg,
    variant: Option<Variant>,
    max_pieces: Option<u64>,
    #[serde(default)]
    heights: bool,
    seed: Option<u64>,
    batch: Option<u64>,
    #[serde(default)]
    base: bool,
    published: Option<String>,
}

impl Plan {
    /// How many games are wanted of the rows with this [key](Row::key).
    pub fn wanted(&self, key: Hex) -> u64 {
        let rows = self.sections.iter().flat_map(|section| &section.rows);
        rows.filter(|row| row.key() == key).map(|row| row.games).max().unwrap_or(0)
    }

    /// Reads the plan in a folder, and the players it names.
    ///
    /// # Errors
    /// If it is not a plan, or a player is not there.
    pub fn read(folder: &Path) -> Result<Plan, Failure> {
        let path = folder.join("plan.toml");
        let name = path.display();
        let text = fs::read_to_string(&path).map_err(|error| {
            Failure::input(format_args!("cannot read the plan {name}: {error}; --folder DIR looks elsewhere"))
        })?;
        let bad = |what: String| Failure::input(format_args!("{name}: {what}"));
        let file: PlanFile = toml::from_str(&text).map_err(|error| bad(error.to_string()))?;
        if file.version != VERSION {
            let version = file.version;
            return Err(bad(format!("it has version {version}, but this program reads version {VERSION}")));
        }
        let mut sections: Vec<Section> = vec![];
        for mut section in file.section {
            let plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
            if section.name.is_empty() || !section.name.chars().all(plain) {
                return Err(bad(format!(
                    "a section's name has letters, digits and '-': not '{}'",
                    section.name
                )));
            }
            if sections.iter().any(|other| other.name == section.name) {
                return Err(bad(format!("there are two sections '{}'", section.name)));
            }
            let rows = std::mem::take(&mut section.rows).into_iter().map(|row| {
                let what = |message: String| bad(format!("section {}: {message}", section.name));
                resolve(row, file.seed, folder).map_err(what)
            });
            let rows: Vec<Row> = rows.collect::<Result<_, _>>()?;
            if let Some(twice) = repeated(&rows) {
                return Err(bad(format!("section {}: '{twice}' stands there twice", section.name)));
            }
            let SectionFile { name, title, text, kind, .. } = section;
            sections.push(Section { name, title, text, kind, rows });
        }
        Ok(Plan { seed: file.seed, text: file.text, sections })
    }

    /// The sections and rows that `--only` chooses: `SECTION`, or `SECTION/PART-OF-A-ROW'S-NAME`.
    ///
    /// # Errors
    /// If there are none.
    pub fn only(&self, chosen: Option<&str>) -> Result<Vec<(&Section, &Row)>, Failure> {
        let rows =
            self.sections.iter().flat_map(|section| section.rows.iter().map(move |row| (section, row)));
        let Some(chosen) = chosen else { return Ok(rows.collect()) };
        let (section, part) = chosen.split_once('/').unwrap_or((chosen, ""));
        let names = self.sections.iter().map(|section| section.name.as_str());
        if names.clone().all(|name| name != section) {
            let meant = nearest(section, names.clone());
            let hint = meant.map_or(String::new(), |meant| format!("did you mean '{meant}'? "));
            return Err(Failure::input(format_args!(
                "the plan has no section '{section}'; {hint}Its sections: {}",
                names.collect::<Vec<_>>().join(", ")
            )));
        }
        let found: Vec<_> =
            rows.filter(|(of, row)| of.name == section && row.name().contains(part)).collect();
        if found.is_empty() {
            return Err(Failure::input(format_args!(
                "section '{section}' has no row with '{part}' in its name; `host results --list` shows the names"
            )));
        }
        Ok(found)
    }
}

fn repeated(rows: &[Row]) -> Option<String> {
    let twice =
        rows.iter().enumerate().find(|(i, row)| rows[..*i].iter().any(|other| other.key() == row.key()));
    twice.map(|(_, row)| row.name())
}

fn resolve(row: RowFile, seed: u64, folder: &Path) -> Result<Row, String> {
    let player = find_player(&row.player, folder)?;
    let height = parse_board(&row.board)?.height;
    let mut rules = Rules::new(height).map_err(|error| error.to_string())?;
    rules.overflow = row.overflow.into();
    rules.pieces = match row.pieces.as_deref().map_or(Ok(Pieces::Uniform), parse_pieces)? {
        Pieces::Uniform => PieceSource::Uniform,
        Pieces::Hard(times) => PieceSource::Hard(times),
        Pieces::Bag => PieceSource::Bag,
        Pieces::List(_) => return Err("a list of pieces is one game, not a measurement".into()),
    };
    if row.lookahead > 2 || row.rescue.is_some_and(|rescue| usize::from(rescue) > MAX_HEIGHT) {
        return Err("lookahead is at most 2, and rescue at most 20".into());
    }
    if row.rescue.is_some() && row.lookahead > 0 {
        return Err("rescue is for a player that knows no next piece; leave out one of the two".into());
    }
    if row.variant.is_some() && (row.rescue.is_some() || row.lookahead > 0 || row.heights) {
        return Err("a variant plays with the piece it has alone: no lookahead, rescue or heights".into());
    }
    if row.games == 0 || row.batch == Some(0) || row.max_pieces == Some(0) {
        return Err("games, batch and max-pieces are at least 1".into());
    }
    let mut resolved = Row {
        player_name: row.player,
        player,
        rules,
        options: Options {
            allow_losing: row.allow_losing,
            lookahead: usize::from(row.lookahead),
            rescue: row.rescue.map(usize::from),
            join: row.join.into(),
            ..Options::default()
        },
        variant: row.variant,
        max_pieces: row.max_pieces,
        heights: row.heights,
        seed: row.seed.unwrap_or(seed),
        games: row.games,
        batch: 1,
        base: row.base,
        published: row.published,
    };
    resolved.batch = row.batch.unwrap_or_else(|| usual_batch(&resolved));
    Ok(resolved)
}

/// As many games as a core plays in some ten seconds, if the player is a good one. Heights are kept game by game, as
/// each gives a prediction.
fn usual_batch(row: &Row) -> u64 {
    let games = match row.rules.height() {
        _ if row.heights => 1,
        ..=10 => 10_000,
        11..=13 => 1_000,
        14..=16 => 100,
        17..=18 => 10,
        _ => 1,
    };
    let thinks_long = row.variant.is_some() || row.options.rescue.is_some() || row.options.lookahead > 0;
    let slow = thinks_long || row.controller().engine().name() == "general";
    if slow { u64::max(games / 10, 1) } else { games }
}

fn find_player(name: &str, folder: &Path) -> Result<Player, String> {
    if let Some(player) = Player::known(name) {
        return Ok(player);
    }
    let path = folder.join("players").join(format!("{name}.toml"));
    if !path.exists() {
        return Err(format!(
            "unknown player '{name}': neither a known one (`host players` lists them) nor the file {}",
            path.display()
        ));
    }
    Weights::read(&path).map(|weights| weights.player).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use dropwise_core::Set;
    use dropwise_core::player::KNOWN;

    fn projects_plan() -> Plan {
        Plan::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../results")).expect("the project's plan")
    }

    #[test]
    fn every_published_player_is_measured_on_three_boards() {
        let plan = projects_plan();
        for known in KNOWN.iter().filter(|known| known.player.set() != Set::Dropwise) {
            for (board, games) in [("10x10", 100_000), ("10x16", 10_000), ("10x20", 100)] {
                let rows = plan.only(Some(&format!("{board}/{} {board}", known.name))).expect("a row");
                assert!(rows.iter().any(|(_, row)| row.games >= games), "{} on {board}", known.name);
            }
        }
    }

    /// They are built in; the file says where they come from.
    #[test]
    fn champions_are_as_their_training_left_them() {
        for name in ["champion10", "champion20"] {
            let file = format!("../results/players/{name}.toml");
            let learned =
                Weights::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).expect("a weights file");
            assert_eq!(Some(learned.player), Player::known(name));
        }
    }

    /// Else how games are kept would depend on which section was played first.
    #[test]
    fn the_same_games_are_asked_for_in_the_same_batches() {
        let plan = projects_plan();
        let rows: Vec<&Row> = plan.sections.iter().flat_map(|section| &section.rows).collect();
        for (i, row) in rows.iter().enumerate() {
            for other in &rows[..i] {
                assert!(row.key() != other.key() || row.batch == other.batch, "{}", row.name());
            }
        }
    }
}
