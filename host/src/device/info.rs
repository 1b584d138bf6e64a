//! `host device info`: who a device is, and how its game stands.

use std::fmt::Write;
use std::time::Duration;

use clap::Args;
use dropwise_core::wire::{Answer as Said, CrashReport, PROTOCOL, Request, Status};
use serde_json::{Value, json};

use super::{device_json, hexadecimal, rules_words, selected};
use crate::args::Common;
use crate::figures;
use crate::link::{Link, LinkError, PortArgs};
use crate::output::{self, Answer, FAINT, Failure, HEADING};

/// Say who the device is, what it can do, and how its game stands
#[derive(Args, Debug)]
#[command(after_help = HELP)]
pub(super) struct InfoArgs {}

const HELP: &str = "\
The same game on this laptop: `host watch --player PLAYER --seed SEED`, with the board and the pieces that are shown.

Examples:
  host device info
  host device info --device E6605838
  host device info --json | jq .status.pieces_per_second";

/// How a game stands, in JSON.
pub(super) fn status_json(status: &Status<'_>) -> Value {
    let [_, pieces, overflow] = rules_words(&status.rules);
    json!({
        "player": status.player,
        "player_digest": hexadecimal(status.player_digest),
        "seed": status.seed,
        "board": { "width": dropwise_core::well::WIDTH, "height": status.rules.height },
        "pieces": pieces,
        "overflow": overflow,
        "pieces_played": status.pieces,
        "lines": status.lines,
        "digest": hexadecimal(status.digest),
        "pieces_per_second": f64::from(status.rate_tenths) / 10.0,
        "speed": status.speed.name(),
        "paused": status.paused,
        "games": status.games,
        "best": status.best,
        "mean": status.mean_tenths.map(|tenths| tenths as f64 / 10.0),
        "uptime": status.uptime as f64 / 1000.0,
    })
}

/// How a game stands, in names and values.
pub(super) fn status_facts(status: &Status<'_>) -> Vec<(&'static str, String)> {
    let [board, pieces, overflow] = rules_words(&status.rules);
    let paused = if status.paused { ", paused" } else { "" };
    let rate = match status.rate_tenths {
        0 => String::new(),
        tenths => format!(", {} pieces per second", f64::from(tenths) / 10.0),
    };
    let finished = match (status.best, status.mean_tenths) {
        (Some(best), Some(mean)) => format!(
            "{} finished, best {} lines, mean {}",
            figures::grouped(status.games.into()),
            figures::grouped(best),
            figures::lines(mean as f64 / 10.0)
        ),
        _ => "none finished yet".into(),
    };
    vec![
        (
            "plays",
            format!("{} on {board}, pieces {pieces}, overflow tested {overflow} clearing", status.player),
        ),
        (
            "game",
            format!(
                "seed {}, {} pieces, {} lines, digest {}",
                status.seed,
                figures::grouped(status.pieces),
                figures::grouped(status.lines),
                hexadecimal(status.digest)
            ),
        ),
        ("speed", format!("{}{paused}{rate}", status.speed.name())),
        ("games", finished),
        ("up", figures::time(Duration::from_millis(status.uptime))),
    ]
}

/// Why the device started again.
pub(super) fn crash(link: &mut Link) -> Result<Option<(String, Value)>, LinkError> {
    match link.call(Request::Crash)? {
        Said::Crash(Some(CrashReport { kind, message, place })) => {
            let at = if place.is_empty() { String::new() } else { format!(" at {place}") };
            let json = json!({ "kind": kind, "message": message, "place": place });
            Ok(Some((format!("{kind}: {message}{at}"), json)))
        }
        _ => Ok(None),
    }
}

pub(super) fn run(args: &PortArgs, common: Common) -> Result<Answer, Failure> {
    let mut link = Link::connect(args)?;
    let slots = link.slots()?;
    let crash = crash(&mut link)?;
    let stored = slots.iter().filter(|slot| !slot.built_in).count();
    let profile = link.profile().clone();
    let (known, unknown) = &profile.sets;
    let mut sets: Vec<String> = known.iter().map(|set| set.name().to_owned()).collect();
    if common.json {
        let device = device_json(&link);
        let status = status_json(&link.status()?);
        output::print_json(&json!({
            "device": device,
            "protocol": PROTOCOL,
            "weights_format": profile.weights_format,
            "sets": sets,
            "capacity": profile.capacity,
            "stored": stored,
            "selected": selected(&slots).map(|slot| &slot.name),
            "status": status,
            "crash": crash.map(|(_, json)| json),
        }))?;
        return Ok(Answer::Yes);
    }
    if *unknown > 0 {
        sets.push(format!("{unknown} that this program does not know"));
    }
    let mut text =
        format!("{HEADING}{}{HEADING:#}, serial number {}, on {}\n", profile.board, profile.id, link.path());
    let mut facts = vec![
        ("firmware", format!("{}, protocol {PROTOCOL}", profile.firmware)),
        (
            "players",
            format!(
                "{} built in, {stored} stored (room for {}); `host device slots` lists them",
                slots.len() - stored,
                profile.capacity
            ),
        ),
        ("sets", sets.join(", ")),
    ];
    facts.extend(status_facts(&link.status()?));
    facts.push(("crash", crash.map_or("none".into(), |(told, _)| told)));
    for (name, value) in facts {
        // A String takes everything.
        let _ = writeln!(text, "  {FAINT}{name:<9}{FAINT:#} {value}");
    }
    output::print(text)?;
    Ok(Answer::Yes)
}
