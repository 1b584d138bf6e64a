//! The command line as a whole: the commands of `host`, each with a file of its own.

use clap::{Parser, Subcommand};

use crate::args::Common;
use crate::cluster::study::command as study;
use crate::completions::{self, CompletionsArgs};
use crate::manual::{self, ManArgs};
use crate::output::{Answer, Failure};
use crate::train::command as train;
use crate::{bench, device, evaluate, flash, inspect, players, results, screen, watch};

/// Trains and measures Dropwise's Tetris players, and sends them to a device
#[derive(Parser, Debug)]
#[command(name = "host", version, propagate_version = true, after_help = HELP)]
pub struct Cli {
    #[command(flatten)]
    common: Common,
    #[command(subcommand)]
    command: Command,
}

const HELP: &str = "\
Exit codes: 0 success, 1 it ran and the answer is no, 2 wrong usage or input, 3 no device or a link failure.
Data goes to standard output, progress and messages to standard error. NO_COLOR is honoured.

Examples:
  host train                                      a strong player in about a minute
  host watch                                      see the best-known player at work
  host evaluate --board 10x10 --games 1000        how many lines does it make?
  host players                                    who else is there?
  host flash runs/NAME/weights.toml --play        let it play on the device";

#[derive(Subcommand, Debug)]
enum Command {
    Train(Box<train::TrainArgs>),
    Evaluate(evaluate::EvaluateArgs),
    Results(results::ResultsArgs),
    Inspect(inspect::InspectArgs),
    Bench(bench::BenchArgs),
    Players(players::PlayersArgs),
    Screen(screen::ScreenArgs),
    Watch(watch::WatchArgs),
    Flash(flash::FlashArgs),
    Device(device::DeviceArgs),
    Completions(CompletionsArgs),
    Man(ManArgs),
    #[command(hide = true)]
    Cluster(study::ClusterArgs),
    #[command(hide = true)]
    Marathon(bench::MarathonArgs),
}

impl Cli {
    /// Runs the command.
    ///
    /// # Errors
    /// See [`Failure`].
    pub fn run(self) -> Result<Answer, Failure> {
        let Cli { common, command } = self;
        match command {
            Command::Train(args) => train::run(&args, common),
            Command::Evaluate(args) => evaluate::run(&args, common),
            Command::Results(args) => results::run(&args, common),
            Command::Inspect(args) => inspect::run(&args, common),
            Command::Bench(args) => bench::run(&args, common),
            Command::Players(args) => players::run(&args, common),
            Command::Screen(args) => screen::run(&args, common),
            Command::Watch(args) => watch::run(&args, common),
            Command::Flash(args) => flash::run(&args, common),
            Command::Device(args) => device::run(&args, common),
            Command::Completions(args) => completions::run(&args, common),
            Command::Man(args) => manual::run(&args, common),
            Command::Cluster(args) => study::run(&args, common),
            Command::Marathon(args) => bench::marathon(&args, common),
        }
    }
}
