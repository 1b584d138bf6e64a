//! `host device play`: a new game on a device, or another way to go on with the one that is on.

use std::fmt::Write;
use std::time::{Duration, Instant};

use clap::Args;
use dropwise_core::wire::{GameRules, Request};
use serde_json::json;

use super::device_json;
use super::info::{status_facts, status_json};
use crate::args::{Common, RulesArgs};
use crate::link::{Link, PortArgs};
use crate::output::{self, Answer, FAINT, Failure};
use crate::screen::SpeedArg;

/// Start a new game on the device, or change how its game goes
#[derive(Args, Debug)]
#[command(after_help = HELP)]
pub(super) struct PlayArgs {
    #[command(flatten)]
    rules: RulesArgs,

    /// Let the device draw the seed
    #[arg(long)]
    random: bool,

    /// How fast to play [default: as before]
    #[arg(long, value_enum)]
    speed: Option<SpeedArg>,

    /// Hold the game before its next piece
    #[arg(long)]
    pause: bool,

    /// Hold the game, and place so many pieces one by one
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    step: Option<u32>,

    /// Go on with the game that is on; without --pause or --step, one that is held is let go
    #[arg(long = "continue", conflicts_with_all = ["board", "pieces", "overflow", "random"])]
    go_on: bool,
}

const HELP: &str = "\
The player that is selected plays game 0 of the seed, the one that `host watch --seed N` shows.

Examples:
  host device play --seed 7 --board 10x10 --speed turbo
  host device play --random --pieces hard:4
  host device play --continue --pause
  host device play --continue --step 10
  host device play --continue --speed fast";

/// How long a step may take; where the game is lost, there is none.
const STEP: Duration = Duration::from_secs(1);

pub(super) fn run(args: &PlayArgs, port: &PortArgs, common: Common) -> Result<Answer, Failure> {
    let loaded = args.rules.load()?;
    let Some(rules) = GameRules::of(&loaded.rules()) else {
        return Err(Failure::input("a device cannot be given a list of pieces; take uniform, hard:K or bag"));
    };
    let mut link = Link::connect(port)?;
    let hold = args.pause || args.step.is_some();
    if let Some(speed) = args.speed {
        link.order(Request::Speed { speed: speed.into() })?;
    }
    // A game that is held stays held when another begins: no piece falls in between.
    link.order(Request::Pause { paused: hold || !args.go_on })?;
    if !args.go_on {
        let seed = (!args.random).then_some(common.seed);
        link.order(Request::NewGame { seed, rules })?;
    }
    if !hold {
        link.order(Request::Pause { paused: false })?;
    }
    for _ in 0..args.step.unwrap_or(0) {
        step(&mut link)?;
    }
    let device = device_json(&link);
    let status = link.status()?;
    if common.json {
        output::print_json(&json!({ "device": device, "status": status_json(&status) }))?;
        return Ok(Answer::Yes);
    }
    let mut text = String::new();
    for (name, value) in status_facts(&status) {
        // A String takes everything.
        let _ = writeln!(text, "{FAINT}{name:<6}{FAINT:#} {value}");
    }
    output::print(text)?;
    Ok(Answer::Yes)
}

/// Places one piece and sees it placed.
fn step(link: &mut Link) -> Result<(), Failure> {
    let before = link.status()?.pieces;
    link.order(Request::Step)?;
    let end = Instant::now() + STEP;
    while link.status()?.pieces == before {
        if Instant::now() > end {
            return Err(Failure::Refused(format!(
                "the device places no further piece after {before}; its game is over"
            )));
        }
    }
    Ok(())
}
