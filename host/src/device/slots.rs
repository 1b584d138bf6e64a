//! `host device slots`, `select` and `delete`: the players on a device.

use std::fmt::Write;

use clap::Args;
use dropwise_core::wire::Request;
use serde_json::{Value, json};

use super::{WhenArg, device_json, hexadecimal, with_names};
use crate::args::Common;
use crate::link::{Link, PortArgs, Slot};
use crate::output::{self, Answer, FAINT, Failure, GOOD, HEADING};

/// List the players on the device
#[derive(Args, Debug)]
#[command(after_help = SLOTS_HELP)]
pub(super) struct SlotsArgs {}

const SLOTS_HELP: &str = "\
The one with a star plays, also after a restart. A digest stands for a player's weights: equal digests, equal players.

Examples:
  host device slots
  host device slots --json | jq -r 'select(.selected).name'";

/// Let a player play, now and after a restart
#[derive(Args, Debug)]
#[command(after_help = SELECT_HELP)]
pub(super) struct SelectArgs {
    /// The player: `host device slots` lists them
    name: String,

    /// From when on; a game that two players played cannot be replayed
    #[arg(long, value_enum, default_value_t)]
    when: WhenArg,
}

const SELECT_HELP: &str = "\
Examples:
  host device select dt20
  host device select mine --when game";

/// Forget a player that was sent to the device
#[derive(Args, Debug)]
#[command(after_help = DELETE_HELP)]
pub(super) struct DeleteArgs {
    /// The player: `host device slots` lists them
    name: String,
}

const DELETE_HELP: &str = "\
Those that came with the firmware stay. One that plays plays its game to the end.

Examples:
  host device delete mine";

fn slot_json(slot: &Slot) -> Value {
    json!({
        "name": slot.name,
        "set": slot.set_name(),
        "digest": hexadecimal(slot.digest),
        "built_in": slot.built_in,
        "selected": slot.selected,
    })
}

pub(super) fn list(args: &PortArgs, common: Common) -> Result<Answer, Failure> {
    let mut link = Link::connect(args)?;
    let slots = link.slots()?;
    if common.json {
        slots.iter().try_for_each(|slot| output::print_json(&slot_json(slot)))?;
        return Ok(Answer::Yes);
    }
    let width = slots.iter().map(|slot| slot.name.len()).fold(6, usize::max);
    let mut text = format!("  {HEADING}{:<width$}  {:<13}  {:<16}{HEADING:#}\n", "player", "set", "digest");
    for slot in &slots {
        let star = if slot.selected { format!("{GOOD}*{GOOD:#}") } else { " ".into() };
        let origin = if slot.built_in { "built in" } else { "stored" };
        // A String takes everything.
        let _ = writeln!(
            text,
            "{star} {:<width$}  {:<13}  {}  {FAINT}{origin}{FAINT:#}",
            slot.name,
            slot.set_name(),
            hexadecimal(slot.digest)
        );
    }
    let stored = slots.iter().filter(|slot| !slot.built_in).count();
    let _ =
        writeln!(text, "\n{stored} of {} places for players of your own are taken.", link.profile().capacity);
    output::print(text)?;
    Ok(Answer::Yes)
}

pub(super) fn select(args: &SelectArgs, port: &PortArgs, common: Common) -> Result<Answer, Failure> {
    let mut link = Link::connect(port)?;
    let select = Request::Select { slot: &args.name, when: args.when.into() };
    link.order(select).map_err(|error| with_names(&mut link, &args.name, error))?;
    if common.json {
        output::print_json(&json!({
            "device": device_json(&link),
            "selected": args.name,
            "from": args.when.name(),
        }))?;
    } else {
        output::print(format_args!(
            "{} plays from the next {} on, and after a restart.\n",
            args.name,
            args.when.name()
        ))?;
    }
    Ok(Answer::Yes)
}

pub(super) fn delete(args: &DeleteArgs, port: &PortArgs, common: Common) -> Result<Answer, Failure> {
    let mut link = Link::connect(port)?;
    let delete = Request::Delete { slot: &args.name };
    link.order(delete).map_err(|error| with_names(&mut link, &args.name, error))?;
    if common.json {
        output::print_json(&json!({ "device": device_json(&link), "deleted": args.name }))?;
    } else {
        output::print(format_args!("{} is deleted.\n", args.name))?;
    }
    Ok(Answer::Yes)
}
