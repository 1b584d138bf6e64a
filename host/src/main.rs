//! The command `host`: see `host --help`.

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use host::args::Common;
use host::cluster::study::command as study;
use host::train::command as train;
use host::{bench, cluster, device, evaluate, flash, inspect, output, players, results, screen, watch};

/// Trains and measures Dropwise's Tetris players, and sends them to a device
#[derive(Parser)]
#[command(version, propagate_version = true, after_help = HELP)]
struct Cli {
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

#[derive(Subcommand)]
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
    #[command(hide = true)]
    Cluster(study::ClusterArgs),
    #[command(hide = true)]
    Marathon(bench::MarathonArgs),
}

fn main() -> ExitCode {
    cluster::run(command)
}

fn command() -> ExitCode {
    let Cli { common, command } = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Where nobody listens there is nobody to tell.
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    output::finish(match command {
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
        Command::Cluster(args) => study::run(&args, common),
        Command::Marathon(args) => bench::marathon(&args, common),
    })
}
