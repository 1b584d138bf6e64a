//! `host device`: what can be asked of a device, one file a group of questions.

mod bench;
mod info;
mod list;
mod log;
mod play;
mod pull;
mod reset;
mod slots;
mod watch;

use clap::{Args, Subcommand, ValueEnum};
use dropwise_core::wire::{GameRules, Refusal, When};
use dropwise_core::{Overflow, PieceSource};
use serde_json::{Value, json};

use crate::args::Common;
use crate::figures::nearest;
use crate::link::{Link, LinkError, PortArgs, Slot};
use crate::output::{Answer, Failure};

/// Talk to a device: its players, its game, its log
#[derive(Args, Debug)]
#[command(after_help = HELP, subcommand_required = true, arg_required_else_help = true)]
pub struct DeviceArgs {
    #[command(flatten)]
    port: PortArgs,
    #[command(subcommand)]
    command: DeviceCommand,
}

const HELP: &str = "\
Which device: --port, --device, $DROPWISE_PORT, or the only one that is plugged in. Of several, a terminal asks.
Exit codes: 0 success, 1 the device says no, 2 wrong usage or input, 3 no device or a link failure.

Examples:
  host device list                                who is plugged in?
  host device slots                               the players on the device
  host device select dt20                         another one plays
  host device watch                               its game, live
  host flash weights.toml --play                  what was learned plays on the device";

#[derive(Debug, Subcommand)]
enum DeviceCommand {
    List(list::ListArgs),
    Info(info::InfoArgs),
    Slots(slots::SlotsArgs),
    Pull(pull::PullArgs),
    Select(slots::SelectArgs),
    Delete(slots::DeleteArgs),
    Play(play::PlayArgs),
    Watch(watch::WatchArgs),
    Bench(bench::BenchArgs),
    Log(log::LogArgs),
    Reset(reset::ResetArgs),
}

/// Runs the command.
///
/// # Errors
/// See [`Failure`].
pub fn run(args: &DeviceArgs, common: Common) -> Result<Answer, Failure> {
    let port = &args.port;
    match &args.command {
        DeviceCommand::List(_) => list::run(port, common),
        DeviceCommand::Info(_) => info::run(port, common),
        DeviceCommand::Slots(_) => slots::list(port, common),
        DeviceCommand::Pull(args) => pull::run(args, port, common),
        DeviceCommand::Select(args) => slots::select(args, port, common),
        DeviceCommand::Delete(args) => slots::delete(args, port, common),
        DeviceCommand::Play(args) => play::run(args, port, common),
        DeviceCommand::Watch(args) => watch::run(args, port, common),
        DeviceCommand::Bench(args) => bench::run(args, port, common),
        DeviceCommand::Log(_) => log::run(port, common),
        DeviceCommand::Reset(args) => reset::run(args, port, common),
    }
}

/// `--when`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum WhenArg {
    /// From the next piece on
    #[default]
    Piece,
    /// From the next game on
    Game,
}

impl From<WhenArg> for When {
    fn from(arg: WhenArg) -> When {
        match arg {
            WhenArg::Piece => When::Piece,
            WhenArg::Game => When::Game,
        }
    }
}

impl WhenArg {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            WhenArg::Piece => "piece",
            WhenArg::Game => "game",
        }
    }
}

/// The device in JSON: where and who.
pub(crate) fn device_json(link: &Link) -> Value {
    let profile = link.profile();
    json!({
        "port": link.path(),
        "board": profile.board,
        "serial": profile.id,
        "firmware": profile.firmware,
    })
}

/// A digest as every command spells it.
pub(crate) fn hexadecimal(digest: u64) -> String {
    format!("{digest:016x}")
}

/// The rules as `--board`, `--pieces` and `--overflow` spell them.
pub(crate) fn rules_words(rules: &GameRules) -> [String; 3] {
    let pieces = rules.rules().map_or(PieceSource::Uniform, |rules| rules.pieces);
    let overflow = match rules.overflow {
        Overflow::Before => "before",
        Overflow::After => "after",
    };
    [format!("10x{}", rules.height), pieces.to_string(), overflow.into()]
}

/// The player that plays after a restart.
pub(crate) fn selected(slots: &[Slot]) -> Option<&Slot> {
    slots.iter().find(|slot| slot.selected)
}

/// An error that has the names of the device's players in it, if one was not found.
pub(crate) fn with_names(link: &mut Link, name: &str, error: LinkError) -> Failure {
    let LinkError::Refused { refusal: Refusal::NoSuchSlot, .. } = error else { return error.into() };
    let names: Vec<String> =
        link.slots().map_or(vec![], |slots| slots.into_iter().map(|slot| slot.name).collect());
    let meant = nearest(name, names.iter().map(String::as_str));
    let hint = meant.map_or(String::new(), |meant| format!("did you mean '{meant}'? "));
    Failure::Refused(format!("the device has no player '{name}'; {hint}its players are {}", names.join(", ")))
}
