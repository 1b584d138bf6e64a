//! `host players`: the known players, sets and features.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use dropwise_core::feature::SYNONYMS;
use dropwise_core::player::{KNOWN, MAX_WEIGHT};
use dropwise_core::{Feature, Set};
use serde::Serialize;
use serde_json::{Value, json};

use crate::args::{self, Common};
use crate::figures;
use crate::output::{self, Answer, FAINT, Failure, HEADING};
use crate::published::Published;
use crate::weights::Weights;

/// List the known players, or show one's weights; save it as a weights file
#[derive(Args, Debug)]
#[command(after_help = HELP)]
pub struct PlayersArgs {
    /// Show this player's weights: a known player or a weights file
    #[arg(value_name = "NAME|FILE")]
    name: Option<String>,

    /// Write the player to a weights file
    #[arg(long, value_name = "FILE", requires = "name")]
    save: Option<PathBuf>,

    /// With --save: replace the file if there is one
    #[arg(long, requires = "save")]
    force: bool,

    /// List the feature sets instead
    #[arg(long, conflicts_with_all = ["name", "features"])]
    sets: bool,

    /// List the features instead
    #[arg(long, conflicts_with = "name")]
    features: bool,
}

const HELP: &str = "\
Examples:
  host players
  host players bcts
  host players bcts --save bcts.toml              a weights file to start from
  host players --features                         what players look at";

#[derive(Serialize)]
struct PublishedJson {
    board: String,
    mean: f64,
    interval: Option<f64>,
    source: &'static str,
}

fn published(name: &str) -> Vec<PublishedJson> {
    let json = |row: &Published| PublishedJson {
        board: format!("10x{}", row.height),
        mean: row.mean,
        interval: row.interval,
        source: row.source,
    };
    Published::of(name).map(json).collect()
}

fn weights_json(weights: &Weights) -> Value {
    let set = weights.player.set();
    let each = set.labels().iter().zip(&weights.real).zip(weights.player.weights());
    let each = each
        .map(|((label, real), quantised)| json!({"feature": label, "real": real, "quantised": quantised}));
    json!({
        "name": weights.name,
        "set": set.name(),
        "provenance": weights.provenance,
        "published": published(&weights.name),
        "weights": each.collect::<Vec<_>>(),
    })
}

/// Runs the command.
///
/// # Errors
/// See [`Failure`].
pub fn run(args: &PlayersArgs, common: Common) -> Result<Answer, Failure> {
    if args.sets {
        sets(common)?;
    } else if args.features {
        features(common)?;
    } else if let Some(name) = &args.name {
        let weights = args::find_player(name)?;
        match &args.save {
            Some(path) => save(args, common, &weights, path)?,
            None if common.json => output::print_json(&weights_json(&weights))?,
            None => output::print(describe(&weights))?,
        }
    } else {
        list(common)?;
    }
    Ok(Answer::Yes)
}

fn save(args: &PlayersArgs, common: Common, weights: &Weights, path: &Path) -> Result<(), Failure> {
    let name = path.display();
    if path.exists() && !args.force {
        return Err(Failure::input(format_args!("{name} exists already; add --force to replace it")));
    }
    weights.write(path).map_err(|error| Failure::input(format_args!("cannot save {error}")))?;
    if common.json {
        output::print_json(&json!({"saved": name.to_string(), "name": weights.name}))
    } else {
        output::say(format_args!("Saved {} to {name}.", weights.name));
        Ok(())
    }
}

/// The published means, highest board first: `35,000,000 +-20 % on 10x20`.
fn scores(name: &str) -> Vec<String> {
    let mut rows: Vec<&Published> = Published::of(name).collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.height));
    rows.into_iter()
        .map(|row| {
            let interval = row.interval.map_or(String::new(), |part| format!(" +-{} %", part * 100.0));
            format!("{}{interval} on 10x{}: {}", figures::lines(row.mean), row.height, row.source)
        })
        .collect()
}

fn list(common: Common) -> Result<(), Failure> {
    if common.json {
        let players = KNOWN.iter().map(|known| weights_json(&Weights::from(known)));
        return players.into_iter().try_for_each(|player| output::print_json(&player));
    }
    let mut text = String::new();
    for (i, known) in KNOWN.iter().enumerate() {
        let gap = if i > 0 { "\n" } else { "" };
        let set = known.player.set();
        // A String takes everything, so what writeln! returns says nothing.
        let _ = writeln!(
            text,
            "{gap}{HEADING}{:<12}{HEADING:#} {FAINT}set {set}, {} weights{FAINT:#}\n  {}",
            known.name,
            set.len(),
            known.source
        );
        for score in scores(known.name) {
            let _ = writeln!(text, "  {FAINT}{score}{FAINT:#}");
        }
    }
    let _ = writeln!(text, "\nScores are mean lines per game. `host players NAME` shows the weights.");
    output::print(text)
}

fn describe(weights: &Weights) -> String {
    let set = weights.player.set();
    let provenance = &weights.provenance;
    let mut text = format!("{HEADING}{}{HEADING:#}: set {set}\n  {}\n", weights.name, provenance.method);
    let seed = provenance.seed.map(|seed| format!("seed {seed}"));
    for detail in [&seed, &provenance.date, &provenance.note].into_iter().flatten() {
        let _ = writeln!(text, "  {detail}");
    }
    if let Some(score) = &provenance.score {
        let _ = writeln!(
            text,
            "  {} lines per game (95 % interval {} to {}, N = {}) on {}, pieces {}, overflow tested {} clearing",
            figures::lines(score.mean),
            figures::lines(score.ci95_low),
            figures::lines(score.ci95_high),
            figures::grouped(score.games),
            score.board,
            score.pieces,
            score.overflow
        );
    }
    for score in scores(&weights.name) {
        let _ = writeln!(text, "  {FAINT}{score}{FAINT:#}");
    }
    let width = set.labels().iter().map(|label| label.len()).fold(7, usize::max);
    let _ =
        writeln!(text, "\n  {HEADING}{:<width$} {:>14} {:>10}{HEADING:#}", "feature", "weight", "quantised");
    for ((label, real), quantised) in set.labels().iter().zip(&weights.real).zip(weights.player.weights()) {
        let _ = writeln!(text, "  {label:<width$} {real:>14} {quantised:>10}");
    }
    let _ = writeln!(
        text,
        "\nQuantised weights are those that play: each weight divided by its feature's unit, all scaled by \
         a power of two to integers of at most {MAX_WEIGHT}."
    );
    text
}

fn sets(common: Common) -> Result<(), Failure> {
    if common.json {
        return Set::ALL
            .iter()
            .try_for_each(|set| output::print_json(&json!({"set": set.name(), "features": set.labels()})));
    }
    let mut text = String::new();
    for set in Set::ALL {
        let _ = writeln!(text, "{HEADING}{:<14}{HEADING:#} {} features", set.name(), set.len());
        let mut line = String::from(" ");
        for label in set.labels() {
            if line.len() + label.len() > 100 {
                let _ = writeln!(text, "{line}");
                line = String::from(" ");
            }
            let _ = write!(line, " {label}");
        }
        let _ = writeln!(text, "{line}");
    }
    output::print(text)
}

fn features(common: Common) -> Result<(), Failure> {
    let synonyms =
        |feature: Feature| SYNONYMS.iter().filter(move |(_, of)| *of == feature).map(|(name, _)| *name);
    if common.json {
        return Feature::ALL.iter().try_for_each(|&feature| {
            let kind = if feature.is_action() { "action" } else { "board" };
            output::print_json(&json!({
                "feature": feature.name(),
                "synonyms": synonyms(feature).collect::<Vec<_>>(),
                "describes": kind,
                "unit": feature.unit(),
                "description": feature.description(),
            }))
        });
    }
    let width = Feature::ALL.iter().map(|feature| feature.name().len()).fold(0, usize::max);
    let mut text = String::new();
    for &feature in Feature::ALL {
        let also: Vec<&str> = synonyms(feature).collect();
        let also = if also.is_empty() { String::new() } else { format!(" (also {})", also.join(", ")) };
        let _ = writeln!(
            text,
            "{HEADING}{:<width$}{HEADING:#}  {}{FAINT}{also}{FAINT:#}",
            feature.name(),
            feature.description()
        );
    }
    output::print(text)
}
