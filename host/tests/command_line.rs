//! What the command line tells of itself: help with examples, completions, the manual; and colours.

#[allow(dead_code, reason = "each test binary uses a part")]
mod common;

use clap::{Command, CommandFactory, Parser};
use common::{command, host, run};
use host::cli::Cli;

/// Every command that is shown, with the words that call it.
fn commands() -> Vec<(Vec<String>, Command)> {
    let (mut open, mut found) = (vec![(vec![], Cli::command())], vec![]);
    while let Some((words, command)) = open.pop() {
        for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set()) {
            let name = sub.get_name().to_owned();
            open.push((words.iter().cloned().chain([name]).collect(), sub.clone()));
        }
        found.push((words, command));
    }
    found
}

/// The words of an example: its first command, without what redirects its output and what explains it.
fn words(example: &str) -> Vec<&str> {
    let (command, _) = example.split_once("  ").unwrap_or((example, ""));
    let command = command.split(['|', '>', '<', '&']).find(|part| part.trim_start().starts_with("host"));
    command.unwrap_or_default().split_whitespace().collect()
}

#[test]
fn every_command_has_examples_that_it_understands() {
    for (path, command) in commands() {
        let name = path.join(" ");
        let help = command.get_after_help().unwrap_or_else(|| panic!("{name} has no examples")).to_string();
        let (_, examples) =
            help.split_once("Examples:\n").unwrap_or_else(|| panic!("{name} has no examples"));
        assert!(examples.lines().count() > 0, "{name}");
        for example in examples.lines() {
            let words = words(example.trim_start());
            assert!(!words.is_empty(), "in the help of '{name}': {example}");
            if let Err(error) = Cli::try_parse_from(&words) {
                panic!("in the help of '{name}': {example}\n{error}");
            }
        }
        // Shells complete in no time, so nobody reads an empty description.
        assert!(command.get_about().is_some(), "{name} says nothing of itself");
    }
}

#[test]
fn there_are_completions_for_every_shell() {
    for (shell, told) in [
        ("bash", "complete -F _host"),
        ("zsh", "#compdef host"),
        ("fish", "complete -c host"),
        ("elvish", "edit:completion"),
        ("powershell", "Register-ArgumentCompleter"),
    ] {
        let script = host(&format!("completions {shell}"));
        assert_eq!(script.code, Some(0), "{}", script.stderr);
        assert!(script.stdout.contains(told), "{shell}");
        for name in ["evaluate", "--rescue"] {
            assert!(script.stdout.contains(name), "{shell} does not know {name}");
        }
        assert_eq!(host(&format!("completions {shell} --json")).json()["script"], script.stdout);
    }
    let unknown = host("completions tcsh");
    assert_eq!(unknown.code, Some(2));
    assert!(unknown.stderr.contains("bash"), "{}", unknown.stderr);
}

#[test]
fn the_manual_has_a_page_a_command() {
    let folder = tempfile::tempdir().expect("a folder");
    let written = run(command().args(["man", "--json", "--out"]).arg(folder.path()));
    let files = written.json()["files"].as_array().expect("files").len();
    assert_eq!(files, commands().len());
    for (path, command) in commands() {
        let name = ["host"].into_iter().chain(path.iter().map(String::as_str)).collect::<Vec<_>>().join("-");
        let page = std::fs::read_to_string(folder.path().join(format!("{name}.1"))).expect(&name);
        assert!(page.contains(&format!(".TH {name} 1")), "{name}");
        assert!(page.contains("Examples:"), "{name}");
        for argument in command.get_arguments().filter(|argument| !argument.is_hide_set()) {
            let long = argument.get_long().unwrap_or_default().replace('-', "\\-");
            assert!(page.contains(&long), "{name} does not tell of {long}");
        }
        // An instruction of roff is a dot and a word; a line of an example must not be one.
        let is_instruction = |line: &&str| line.starts_with('.') || line.starts_with('\'');
        for line in page.lines().filter(is_instruction) {
            let known = [".ie", ".el", ".TH", ".SH", ".RS", ".RE", ".TP", ".br", ".nf", ".fi", ".IP"];
            assert!(known.iter().any(|known| line.starts_with(known)), "{name}: {line}");
        }
        assert_eq!(host(&format!("man {}", path.join(" "))).stdout, page);
    }
    let unknown = host("man device wtach");
    assert_eq!(unknown.code, Some(2));
    assert!(unknown.stderr.contains("'device' has no command 'wtach'; it has: list,"), "{}", unknown.stderr);
}

#[test]
fn a_folder_that_cannot_be_made_is_told() {
    let file = tempfile::NamedTempFile::new().expect("a file");
    let refused = run(command().args(["man", "--out"]).arg(file.path()));
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("cannot write"), "{}", refused.stderr);
}

#[test]
fn colours_are_for_terminals_and_no_color_is_heard() {
    for arguments in ["--help", "players", "players bcts", "train --list", "evaluate --games 2 --board 10x6"]
    {
        let plain = run(command().args(arguments.split(' ')).current_dir(std::env::temp_dir()));
        assert!(!plain.stdout.contains('\x1b') && !plain.stderr.contains('\x1b'), "{arguments}");
    }
    // Where colours are forced they are there, unless they are unwelcome.
    let forced = |arguments: &str| {
        let mut host = command();
        host.args(arguments.split(' ')).env("CLICOLOR_FORCE", "1");
        host
    };
    assert!(run(&mut forced("players")).stdout.contains('\x1b'));
    assert!(!run(forced("players").env("NO_COLOR", "1")).stdout.contains('\x1b'));
}
