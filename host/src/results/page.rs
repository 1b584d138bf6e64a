//! The page: `docs/results.md`, made of the plan and the data alone, so the same data give the same page.

use std::fmt::Write;

use dropwise_core::Join;

use super::data::Data;
use super::heights::{Fit, Predictions};
use super::pace::Paces;
use super::plan::{Kind, Plan, Section};
use super::plots::{self, Gain, Gains};
use super::row::Row;
use super::sums::{Ratio, Sums};
use crate::figures::{self, grouped};
use crate::output::Failure;
use crate::train::run::Row as Iteration;

/// A page and its pictures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// Markdown.
    pub text: String,
    /// The name of a picture's file, and the picture.
    pub pictures: Vec<(String, String)>,
}

/// What a page is made of.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// What was to be measured.
    pub plan: &'a Plan,
    /// What was.
    pub data: &'a Data,
    /// How fast.
    pub paces: &'a Paces,
    /// How training went.
    pub curves: &'a [(String, Vec<Iteration>)],
    /// What stands at the end of the page.
    pub learned: &'a str,
    /// Where the page finds its pictures.
    pub pictures: &'a str,
}

const HEAD: &str = "\
# Results

<!-- Made by `host results` from results/plan.toml and results/data; edit those. -->
";

/// What all tables have in common.
const MANNER: &str = "\
Every table is made from the records in `results/data` by `host results`; the command under a table plays what is
missing of it, in batches that survive a stop. Unless a table says otherwise: pieces independent and uniform, overflow
tested before clearing, losing placements avoided, one piece known, of equal values the first placement wins. An
interval is the 95 % interval of the mean, mean +- 1.96 sd / sqrt(N); scores are about exponentially distributed, so sd
is near the mean. A median is right to 1 %. An interval of a ratio takes the two means as independent. Pieces per second
and times per piece are those of one core that plays games of the row alone, hundreds side by side where one piece is
known, measured by `host results --pace`.
";

/// Why the games are fresh.
const SEEDS: &str = "\
## The games are fresh

A game's pieces come from a generator that a hash of (seed, game) starts, and there are two kinds of games: the usual
ones, and games kept apart, which `host results` alone plays. The two kinds take different words of the hash, and no
choice of seeds and games makes a generator of the one kind start as one of the other: the test
`games_kept_apart_start_as_no_usual_game_does` in `core/src/game.rs` has the proof. All players of a table play the same
games.

| games | kind | seed | numbered |
|---|---|---|---|
| candidates of iteration t in training with `--seed S` | usual | hash of (S, t), t from 1 | from 0 |
| the curve of iteration t | usual | hash of (S, t) | from 2^32 |
| candidates, where all iterations play the same games | usual | hash of (S, 2^64 - 1) | from 0 |
| choosing the player of a run | usual | hash of (S, 2^64 - 2) | from 0 |
| the score in a weights file | usual | hash of (S, 2^64 - 3), or of (S, 2^64 - 4) for a mean of runs | from 0 |
| `host evaluate`, `watch`, `bench`, a device | usual | `--seed` | from 0 |
";

impl Source<'_> {
    /// Makes the page.
    ///
    /// # Errors
    /// If a picture cannot be drawn.
    pub fn page(&self) -> Result<Page, Failure> {
        let mut text = format!("{HEAD}\n{}\n\n{MANNER}", self.plan.text.trim());
        let mut pictures = vec![];
        for section in &self.plan.sections {
            // A String takes everything, so what write! returns says nothing.
            let _ = write!(text, "\n## {}\n", section.title);
            if !section.text.trim().is_empty() {
                let _ = write!(text, "\n{}\n", section.text.trim());
            }
            let (table, picture) = match section.kind {
                Kind::Scores => (self.scores(section), self.distribution(section)?),
                Kind::Comparison => (self.comparison(section), None),
                Kind::Rescue => (self.rescue(section), self.cost(section)?),
                Kind::Heights => (self.heights(section), self.height_picture(section)?),
                Kind::Curves => (self.runs(), self.curve_picture(section)?),
            };
            let _ = write!(text, "\n{table}");
            if section.kind != Kind::Curves {
                let _ = write!(text, "\n`host results --run --only {}`\n", section.name);
            }
            if let Some(svg) = picture {
                let name = format!("{}.svg", section.name);
                let _ = write!(text, "\n![{}]({}/{name})\n", section.title, self.pictures);
                pictures.push((name, svg));
            }
        }
        let seeds = self.plan.seed;
        let _ = write!(text, "\n{SEEDS}| all games of this page | apart | {seeds} | from 0 |\n");
        if !self.learned.trim().is_empty() {
            let _ = write!(text, "\n{}\n", self.learned.trim());
        }
        Ok(Page { text, pictures })
    }

    /// What a row's games add up to, once all that are wanted have been played.
    fn sums(&self, row: &Row) -> Sums {
        let (key, wanted) = (row.key(), self.wanted(row));
        if self.data.has_all(key, wanted) { self.data.sums(key, wanted) } else { Sums::default() }
    }

    fn games(&self, row: &Row) -> String {
        let (key, wanted) = (row.key(), self.wanted(row));
        let done = grouped(self.data.sums(key, wanted).games);
        if self.data.has_all(key, wanted) { done } else { format!("{done} of {}", grouped(wanted)) }
    }

    /// A row that the plan does not have is that of whole games.
    fn wanted(&self, row: &Row) -> u64 {
        self.plan.wanted(row.key()).max(row.games)
    }

    /// Each row with its sums, and the row that it is compared with.
    fn compared<'a>(&self, section: &'a Section) -> Vec<(&'a Row, Sums, Option<&'a Row>)> {
        let mut base = None;
        let mut rows = vec![];
        for row in &section.rows {
            if row.base {
                base = Some(row);
            }
            rows.push((row, self.sums(row), base.filter(|_| !row.base)));
        }
        rows
    }

    /// Lines, in those of another row.
    fn ratio(&self, sums: &Sums, base: Option<&Row>) -> Option<Ratio> {
        sums.ratio(&self.sums(base?))
    }

    /// Time per piece, in that of another row.
    fn time_ratio(&self, row: &Row, base: Option<&Row>) -> Option<f64> {
        Some(self.paces.rate(base?.key())? / self.paces.rate(row.key())?)
    }

    fn scores(&self, section: &Section) -> String {
        let mut table = Table::new(&[
            "player",
            "board",
            "games",
            "mean lines, 95 % interval",
            "median",
            "longest",
            "pieces per second",
            "published",
        ]);
        for row in &section.rows {
            let sums = self.sums(row);
            table.push([
                player(row),
                row.board(),
                self.games(row),
                mean(&sums),
                median(&sums),
                longest(&sums),
                self.paces.rate(row.key()).map_or_else(nothing, figures::short),
                row.published(),
            ]);
        }
        table.text()
    }

    fn comparison(&self, section: &Section) -> String {
        let mut table = Table::new(&[
            "player",
            "board",
            "what differs",
            "games",
            "mean lines, 95 % interval",
            "times the first of its group",
            "median",
            "longest",
            "published",
        ]);
        for (row, sums, base) in self.compared(section) {
            table.push([
                row.player_name.clone(),
                row.board(),
                row.difference(),
                self.games(row),
                mean(&sums),
                self.ratio(&sums, base).map_or_else(nothing, times),
                median(&sums),
                longest(&sums),
                row.published(),
            ]);
        }
        table.text()
    }

    fn rescue(&self, section: &Section) -> String {
        let mut table = Table::new(&[
            "player",
            "board",
            "rescue above",
            "joined by",
            "games",
            "mean lines, 95 % interval",
            "times without",
            "pieces looked at deeper",
            "time per piece, times without",
        ]);
        for (row, sums, base) in self.compared(section) {
            let rescue = row.options.rescue;
            let share =
                rescue.filter(|_| sums.pieces > 0).map(|_| 100.0 * sums.deeper as f64 / sums.pieces as f64);
            table.push([
                row.player_name.clone(),
                row.board(),
                rescue.map_or_else(nothing, |height| height.to_string()),
                rescue.map_or_else(nothing, |_| row.options.join.name().to_owned()),
                self.games(row),
                mean(&sums),
                self.ratio(&sums, base).map_or_else(nothing, times),
                share.map_or_else(nothing, |share| format!("{share:.2} %")),
                self.time_ratio(row, base).map_or_else(nothing, |ratio| format!("{ratio:.2}")),
            ]);
        }
        table.text()
    }

    fn heights(&self, section: &Section) -> String {
        let mut table = Table::new(&[
            "player",
            "board",
            "pieces of a game",
            "games",
            "a row higher is rarer by",
            "fitted heights",
            "predicted lines, all games together",
            "predicted from one game: median (80 % of them)",
            "measured mean lines",
            "games end as at height",
        ]);
        for row in &section.rows {
            let (key, board) = (row.key(), row.rules.height());
            let sums = self.sums(row);
            let fit = Fit::of(&sums.heights);
            let records = self.data.first(key, self.wanted(row));
            let each = records.map(|record| &record.heights[..]).filter(|_| sums.games > 0);
            let each = Predictions::of(each, board);
            let lines = |fit: Fit| figures::lines(fit.lines(board));
            let whole = self.sums(&row.whole_games());
            let end = fit.zip(whole.summary()).map(|(fit, summary)| fit.end(summary.mean));
            let predictions = |p: Predictions| {
                format!(
                    "{} ({} to {})",
                    figures::lines(p.median),
                    figures::lines(p.low),
                    figures::lines(p.high)
                )
            };
            table.push([
                row.player_name.clone(),
                row.board(),
                row.max_pieces.map_or("all".into(), |pieces| format!("the first {}", grouped(pieces))),
                self.games(row),
                fit.map_or_else(nothing, |fit| format!("{:.2}", (-fit.slope).exp())),
                fit.map_or_else(nothing, |fit| format!("{} to {}", fit.heights.0, fit.heights.1)),
                fit.map_or_else(nothing, lines),
                each.map_or_else(nothing, predictions),
                mean(&whole),
                end.map_or_else(nothing, |end| format!("{end:.1}")),
            ]);
        }
        table.text()
    }

    fn runs(&self) -> String {
        if self.curves.is_empty() {
            return "No run is kept here yet.\n".into();
        }
        let mut table =
            Table::new(&["run", "iterations", "pieces placed in training", "best mean of a favourite"]);
        for (name, rows) in self.curves {
            let best = rows.iter().map(|row| row.mean).fold(0.0, f64::max);
            table.push([
                name.clone(),
                grouped(rows.len() as u64),
                rows.last().map_or_else(nothing, |row| grouped(row.pieces)),
                figures::lines(best),
            ]);
        }
        table.text()
    }

    fn distribution(&self, section: &Section) -> Result<Option<String>, Failure> {
        let rows = section.rows.iter().map(|row| (row.name(), self.sums(row)));
        let rows: Vec<_> = rows.filter(|(_, sums)| sums.games > 1).collect();
        drawn(&rows, |rows| {
            plots::distribution("How far games get, against the exponential distribution", rows)
        })
    }

    fn cost(&self, section: &Section) -> Result<Option<String>, Failure> {
        let mut groups: Vec<Gains> = vec![];
        for (row, sums, base) in self.compared(section) {
            let (Some((cost, ratio)), Some(height)) =
                (self.time_ratio(row, base).zip(self.ratio(&sums, base)), row.options.rescue)
            else {
                continue;
            };
            let name = format!("{} {}", row.player_name, row.board());
            let group = groups.iter().position(|other| other.name == name).unwrap_or_else(|| {
                let without = Gain { note: String::new(), cost: 1.0, lines: 1.0 };
                groups.push(Gains { name, points: vec![without], others: vec![] });
                groups.len() - 1
            });
            let join = row.options.join;
            let gain = |note| Gain { note, cost, lines: ratio.times };
            if join == Join::default() {
                groups[group].points.push(gain(height.to_string()));
            } else {
                groups[group].others.push(gain(format!("{height}, {}", join.name())));
            }
        }
        let title = "What looking deeper above a height gives, and what it costs";
        drawn(&groups, |groups| plots::cost(title, groups))
    }

    fn height_picture(&self, section: &Section) -> Result<Option<String>, Failure> {
        let rows = section.rows.iter().map(|row| {
            let pieces =
                row.max_pieces.map_or(String::new(), |pieces| format!(", first {}", grouped(pieces)));
            (
                format!("{} {}{pieces}", row.player_name, row.board()),
                row.rules.height(),
                self.sums(row).heights,
            )
        });
        let rows: Vec<_> = rows.filter(|(_, _, counts)| counts.iter().any(|&count| count > 0)).collect();
        drawn(&rows, |rows| plots::heights("How often piles are how high", rows))
    }

    fn curve_picture(&self, section: &Section) -> Result<Option<String>, Failure> {
        drawn(self.curves, |runs| plots::curves(&section.title, runs))
    }
}

/// Draws what there is; no picture of nothing.
fn drawn<T>(
    rows: &[T],
    draw: impl FnOnce(&[T]) -> Result<String, Failure>,
) -> Result<Option<String>, Failure> {
    if rows.is_empty() { Ok(None) } else { draw(rows).map(Some) }
}

fn nothing() -> String {
    String::new()
}

/// The player, with what sets the row apart.
fn player(row: &Row) -> String {
    let difference = row.difference();
    let name = &row.player_name;
    if difference.is_empty() { name.clone() } else { format!("{name}, {difference}") }
}

fn mean(sums: &Sums) -> String {
    let Some(summary) = sums.summary() else { return "not measured yet".into() };
    let mean = figures::lines(summary.mean);
    let interval = summary.ci95_low.zip(summary.ci95_high);
    let interval =
        interval.map(|(low, high)| format!(" ({} to {})", figures::lines(low), figures::lines(high)));
    format!("{mean}{}", interval.unwrap_or_default())
}

fn median(sums: &Sums) -> String {
    sums.summary().map_or_else(nothing, |summary| figures::lines(summary.median))
}

fn longest(sums: &Sums) -> String {
    sums.summary().map_or_else(nothing, |summary| grouped(summary.max))
}

fn times(ratio: Ratio) -> String {
    format!("{:.3} ({:.3} to {:.3})", ratio.times, ratio.low, ratio.high)
}

/// A table in Markdown.
struct Table {
    text: String,
}

impl Table {
    fn new(head: &[&str]) -> Table {
        let mut table = Table { text: String::new() };
        table.line(head);
        table.line(&vec!["---"; head.len()]);
        // A line of dashes has no room beside them, as the project's other tables have it.
        table.text = table.text.replace(" --- ", "---");
        table
    }

    fn line(&mut self, cells: &[impl AsRef<str>]) {
        for cell in cells {
            // What comes from a file must not break the table.
            let _ = write!(self.text, "| {} ", cell.as_ref().replace('|', "/").replace('\n', " "));
        }
        self.text.push_str("|\n");
    }

    fn push<const N: usize>(&mut self, cells: [String; N]) {
        self.line(&cells);
    }

    fn text(self) -> String {
        self.text
    }
}
