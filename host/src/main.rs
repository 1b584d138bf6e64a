//! The command `host`: see `host --help`.

use std::process::ExitCode;

use clap::Parser;
use host::cli::Cli;
use host::{cluster, output};

fn main() -> ExitCode {
    cluster::run(command)
}

fn command() -> ExitCode {
    match Cli::try_parse() {
        Ok(cli) => output::finish(cli.run()),
        Err(error) => {
            // Where nobody listens there is nobody to tell.
            let _ = error.print();
            ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
        }
    }
}
