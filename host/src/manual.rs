//! `host man`: the manual's pages, made of what `--help` says.

use std::path::{Path, PathBuf};

use clap::{Args, Command, CommandFactory};
use clap_mangen::Man;
use serde_json::json;

use crate::args::Common;
use crate::cli::Cli;
use crate::output::{self, Answer, Failure};

/// Print a page of the manual, or write them all
#[derive(Args, Debug)]
#[command(after_help = HELP)]
pub struct ManArgs {
    /// The command that the page is of, like `device watch` [default: host itself]
    #[arg(value_name = "COMMAND")]
    command: Vec<String>,

    /// Write every page to this folder instead
    #[arg(long, value_name = "FOLDER", conflicts_with = "command")]
    out: Option<PathBuf>,
}

const HELP: &str = "\
Examples:
  host man | man -l -
  host man device watch | man -l -
  host man --out ~/.local/share/man/man1          then: man host, man host-train";

/// Runs the command.
///
/// # Errors
/// See [`Failure`].
pub fn run(args: &ManArgs, common: Common) -> Result<Answer, Failure> {
    let mut host = Cli::command().disable_help_subcommand(true);
    host.build();
    if let Some(folder) = &args.out {
        write_all(&host, folder, common)?;
        return Ok(Answer::Yes);
    }
    let mut command = &host;
    for word in &args.command {
        command = command.find_subcommand(word).ok_or_else(|| {
            let known: Vec<&str> = shown(command).map(Command::get_name).collect();
            let (known, name) = (known.join(", "), command.get_name());
            Failure::input(format_args!("'{name}' has no command '{word}'; it has: {known}"))
        })?;
    }
    let (name, page) = page(command)?;
    if common.json {
        output::print_json(&json!({"name": name, "page": page}))?;
    } else {
        output::print(page)?;
    }
    Ok(Answer::Yes)
}

fn shown(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|command| !command.is_hide_set())
}

/// A page and its name, such as `host-device-watch`.
fn page(command: &Command) -> Result<(String, String), Failure> {
    let man = Man::new(command.clone());
    let mut page = vec![];
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if shown(command).next().is_some() {
        man.render_subcommands_section(&mut page)?;
    }
    let mut page = String::from_utf8(page).map_err(Failure::input)?;
    // Examples stay in their columns, which the section that clap_mangen would make of them does not.
    if let Some(notes) = command.get_after_help() {
        page += ".SH NOTES\n.nf\n";
        for line in notes.to_string().lines() {
            // A line that begins with a dot or a quote would be an instruction.
            page += &format!("\\&{}\n", line.replace('\\', "\\e").replace('-', "\\-"));
        }
        page += ".fi\n";
    }
    let name = command.get_display_name().unwrap_or(command.get_name()).to_owned();
    Ok((name, page))
}

fn write_all(host: &Command, folder: &Path, common: Common) -> Result<(), Failure> {
    let failed = |path: &Path, error| {
        Failure::input(format_args!("cannot write {}: {error}; check the path", path.display()))
    };
    std::fs::create_dir_all(folder).map_err(|error| failed(folder, error))?;
    let (mut open, mut files) = (vec![host], vec![]);
    while let Some(command) = open.pop() {
        let (name, page) = page(command)?;
        let path = folder.join(format!("{name}.1"));
        std::fs::write(&path, page).map_err(|error| failed(&path, error))?;
        files.push(path.display().to_string());
        open.extend(shown(command));
    }
    files.sort();
    if common.json {
        output::print_json(&json!({"files": files}))
    } else {
        output::say(format_args!("Wrote {} pages to {}.", files.len(), folder.display()));
        Ok(())
    }
}
