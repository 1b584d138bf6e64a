//! `host completions`: what a shell needs to complete the command line.

use clap::{Args, CommandFactory};
use clap_complete::Shell;
use serde_json::json;

use crate::args::Common;
use crate::cli::Cli;
use crate::output::{self, Answer, Failure};

/// Print a script that lets a shell complete the command line
#[derive(Args, Debug)]
#[command(after_help = HELP)]
pub struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

const HELP: &str = "\
The script is for a program that is called host and lies on the PATH, as after `cargo install --path host`.

Examples:
  host completions bash > ~/.local/share/bash-completion/completions/host
  host completions zsh > ~/.zfunc/_host           with ~/.zfunc in fpath
  host completions fish > ~/.config/fish/completions/host.fish";

/// Runs the command.
///
/// # Errors
/// See [`Failure`].
pub fn run(args: &CompletionsArgs, common: Common) -> Result<Answer, Failure> {
    let mut script = vec![];
    clap_complete::generate(args.shell, &mut Cli::command(), "host", &mut script);
    let script = String::from_utf8(script).map_err(Failure::input)?;
    if common.json {
        output::print_json(&json!({"shell": args.shell.to_string(), "script": script}))?;
    } else {
        output::print(script)?;
    }
    Ok(Answer::Yes)
}
