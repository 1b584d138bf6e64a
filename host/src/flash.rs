//! `host flash`: what was learned, to a device.

use std::io::{self, IsTerminal};

use clap::Args;
use dropwise_core::Player;
use dropwise_core::wire::{Answer as Said, MAX_CHUNK, MAX_WEIGHTS, Request, encode_weights};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::json;

use crate::args::{self, Common};
use crate::device::{WhenArg, device_json, hexadecimal, selected};
use crate::link::{Link, LinkError, PortArgs, Slot};
use crate::output::{self, Answer, Failure, GOOD};

/// Send a player to a device
///
/// It is kept in flash, through restarts and power cuts, and read back to see that it arrived.
#[derive(Args, Debug)]
#[command(after_help = HELP)]
pub struct FlashArgs {
    /// A weights file, or a known player (`host players` lists them)
    #[arg(value_name = "FILE|PLAYER")]
    player: String,

    /// What to call it on the device [default: its own name]
    #[arg(long, value_name = "NAME")]
    slot: Option<String>,

    /// Let it play, now and after a restart
    #[arg(long)]
    play: bool,

    /// From when on it plays; a game that two players played cannot be replayed
    #[arg(long, value_enum, default_value_t, requires = "play")]
    when: WhenArg,

    #[command(flatten)]
    port: PortArgs,
}

const HELP: &str = "\
A slot of the same name is replaced, all at once: a cable pulled in between leaves the old weights.
Exit codes: 0 success, 1 the device says no, 2 wrong usage or input, 3 no device or a link failure.

Examples:
  host flash runs/mine/weights.toml --play
  host flash weights.toml --slot best --play --when game
  host flash dt20 --slot copy";

/// Runs the command.
///
/// # Errors
/// See [`Failure`].
pub fn run(args: &FlashArgs, common: Common) -> Result<Answer, Failure> {
    let weights = args::find_player(&args.player)?;
    let (player, name) = (weights.player, args.slot.as_ref().unwrap_or(&weights.name));
    let mut link = Link::connect(&args.port)?;
    check(&link, &player, name)?;
    let written = match built_in(&link.slots()?, name) {
        Some(digest) if digest == player.digest() => false,
        _ => send(&mut link, name, &player)?,
    };
    if link.read(name)? != player {
        return Err(Failure::Refused(format!(
            "the device gives other weights for '{name}' than it was sent; its flash chip may be worn out"
        )));
    }
    if args.play {
        link.order(Request::Select { slot: name, when: args.when.into() })?;
    }
    report(args, common, &mut link, name, &player, written)
}

/// Whether the device can have this player under this name, before anything is sent.
fn check(link: &Link, player: &Player, name: &str) -> Result<(), Failure> {
    link.check_format()?;
    let profile = link.profile();
    let printable = name.bytes().all(|byte| (b' '..=b'~').contains(&byte));
    if name.is_empty() || name.len() > profile.max_name.into() || !printable {
        return Err(Failure::input(format_args!(
            "'{name}' is no name for a device, which takes 1 to {} ASCII characters; choose one with --slot NAME",
            profile.max_name
        )));
    }
    let (sets, _) = &profile.sets;
    if !sets.contains(&player.set()) {
        let names: Vec<&str> = sets.iter().map(|set| set.name()).collect();
        return Err(Failure::Refused(format!(
            "the device does not have the feature set '{}' that this player looks at; it has {}. Update its firmware \
             (docs/boards.md)",
            player.set(),
            names.join(", ")
        )));
    }
    Ok(())
}

/// The digest of the player that came with the firmware under this name.
fn built_in(slots: &[Slot], name: &str) -> Option<u64> {
    slots.iter().find(|slot| slot.built_in && slot.name == name).map(|slot| slot.digest)
}

/// Sends a player: whether flash was written.
fn send(link: &mut Link, slot: &str, player: &Player) -> Result<bool, Failure> {
    let mut buffer = [0; MAX_WEIGHTS];
    let bytes = encode_weights(player, &mut buffer);
    let bar = progress(bytes.len() as u64, slot);
    let begin =
        Request::Begin { slot, set: player.set().id(), length: bytes.len() as u16, digest: player.digest() };
    link.order(begin)?;
    for (index, bytes) in (0..).zip(bytes.chunks(MAX_CHUNK)) {
        link.order(Request::Chunk { index, bytes })?;
        bar.inc(bytes.len() as u64);
    }
    let written = match link.call(Request::Commit)? {
        Said::Saved { written } => written,
        _ => return Err(LinkError::Nonsense { what: format!("save '{slot}'") }.into()),
    };
    bar.finish_and_clear();
    Ok(written)
}

/// On a terminal; elsewhere nothing is to be seen of it.
fn progress(bytes: u64, name: &str) -> ProgressBar {
    let target =
        if io::stderr().is_terminal() { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let bar = ProgressBar::with_draw_target(Some(bytes), target);
    let style = ProgressStyle::with_template("{prefix} [{bar:24}] {pos}/{len} bytes");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("=> "));
    bar.set_prefix(name.to_owned());
    bar
}

/// Says what the device has and what it will play.
fn report(
    args: &FlashArgs,
    common: Common,
    link: &mut Link,
    name: &str,
    player: &Player,
    written: bool,
) -> Result<Answer, Failure> {
    let slots = link.slots()?;
    let plays = selected(&slots);
    if common.json {
        output::print_json(&json!({
            "device": device_json(link),
            "slot": name,
            "set": player.set().name(),
            "digest": hexadecimal(player.digest()),
            "written": written,
            "verified": true,
            "plays": plays.map(|slot| json!({
                "name": slot.name,
                "digest": hexadecimal(slot.digest),
                "from": args.play.then_some(args.when.name()),
            })),
        }))?;
        return Ok(Answer::Yes);
    }
    let profile = link.profile();
    let what = if written { "is on" } else { "was already on" };
    let next = match plays {
        Some(slot) if args.play => {
            format!(
                "The device plays {} from the next {} on, and after a restart.",
                slot.name,
                args.when.name()
            )
        }
        Some(slot) if slot.name == name => {
            format!("The device plays {name} from the next game on, and after a restart.")
        }
        Some(slot) => format!(
            "The device goes on playing {}; `host device select {}` lets {name} play.",
            slot.name,
            quoted(name)
        ),
        None => "The device does not say who plays.".into(),
    };
    output::print(format_args!(
        "{name} (set {}, {} weights) {what} {} {}, {GOOD}read back and the same{GOOD:#}.\n{next}\n",
        player.set(),
        player.weights().len(),
        profile.board,
        profile.id
    ))?;
    Ok(Answer::Yes)
}

/// A name as a shell takes it.
fn quoted(name: &str) -> String {
    let plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.+".contains(&byte));
    if plain { name.into() } else { format!("'{}'", name.replace('\'', r"'\''")) }
}
