//! `cargo xtask`: the one door to every check, and to a release.
//!
//! A check is a [`Step`] and the commands behind it, which are printed as they run: whoever wants only one of them, with
//! other arguments, copies it from there. `cargo xtask ci` runs them all; so does `.ci/run`.

mod commit;
mod release;
mod shell;
mod step;

use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;

use crate::step::Step;

/// Runs Dropwise's checks, and makes its releases
#[derive(Parser)]
#[command(bin_name = "cargo xtask", after_help = HELP, arg_required_else_help = true)]
struct Arguments {
    /// What to do, in this order
    #[arg(required = true, value_name = "STEP")]
    steps: Vec<Step>,
}

const HELP: &str = "\
Examples:
  cargo xtask test                    installs what is missing, then runs every test
  cargo xtask fmt lint doc            before a commit
  cargo xtask ci                      everything that must hold
  cargo xtask release                 firmware, host, weights and checksums, in target/dropwise-VERSION";

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let start = Instant::now();
    for &step in arguments.steps.iter().flat_map(|step| step.parts()) {
        eprintln!("\n== {} ({} s)", step.name(), start.elapsed().as_secs());
        if let Err(failure) = step.run() {
            eprintln!("error: {}: {failure}", step.name());
            return ExitCode::FAILURE;
        }
    }
    eprintln!("\n== done ({} s)", start.elapsed().as_secs());
    ExitCode::SUCCESS
}
