//! The command `host`: see `host --help`.

use std::process::ExitCode;

use clap::Parser;
use host::cli::Cli;
use host::output;

fn main() -> ExitCode {
    output::finish(Cli::parse().run())
}
