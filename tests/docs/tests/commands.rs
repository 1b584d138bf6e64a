//! Every command that the documents show is run, as it stands or in a shorter form that `commands.toml` tells.
//!
//! The commands of a page are typed one after the other in a folder of the page's own, into a shell in which `cargo host`
//! is the program that was built for the tests. Device commands find an emulated handheld plugged in. What a page shows
//! of their output must be what they print, numbers aside.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;
use std::{env, fs};

use clap::Parser;
use dropwise_docs::page::Shown;
use dropwise_docs::{Page, root};
use dropwise_emulator::{Board, Device, Port, setup};
use host::cli::Cli;
use libtest_mimic::{Arguments, Failed, Trial};
use serde::Deserialize;

/// How a command is run.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    /// As the documents show it.
    shown: String,
    /// A shorter form that is run instead.
    run: Option<String>,
    /// What must be there.
    needs: Option<Need>,
    /// The step of `cargo xtask ci` that runs it instead of this test.
    step: Option<String>,
    /// Why nothing can run it.
    excuse: Option<String>,
    /// Files that it makes and the project keeps: they must be the same.
    #[serde(default)]
    makes: Vec<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Need {
    /// The device's target.
    Setup,
    /// A handheld on the desk.
    Device,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    command: Vec<Entry>,
}

fn table() -> Vec<Entry> {
    let text = include_str!("commands.toml");
    toml::from_str::<Table>(text).unwrap_or_else(|error| panic!("commands.toml: {error}")).command
}

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let missing = setup::missing();
    if let (Some(missing), Ok("true")) = (&missing, env::var("CI").as_deref()) {
        eprintln!("error: commands of the documents cannot run: {missing}");
        return ExitCode::FAILURE;
    }
    let is_set_up = missing.is_none();
    let mut tests = vec![
        Trial::test("every_command_is_known", || every_command_is_known().map_err(Failed::from)),
        Trial::test("commands_in_sentences_are_understood", || {
            commands_in_sentences_are_understood().map_err(Failed::from)
        }),
    ];
    for page in Page::all().into_iter().filter(|page| !page.commands().is_empty()) {
        let name = page.path.display().to_string();
        tests.push(Trial::test(name, move || run_page(&page, is_set_up).map_err(Failed::from)));
    }
    let conclusion = libtest_mimic::run(&arguments, tests);
    if let Some(missing) = missing {
        eprintln!("The documents' commands that need a device were SKIPPED: {missing}\n");
    }
    conclusion.exit_code()
}

/// Nothing is shown that is not in the table, and nothing is in the table that is not shown.
fn every_command_is_known() -> Result<(), String> {
    let mut wrong = vec![];
    let table = table();
    let known: BTreeSet<&str> = table.iter().map(|entry| entry.shown.as_str()).collect();
    let pages = Page::all();
    let mut seen = BTreeSet::new();
    for page in &pages {
        for Shown { command, line, .. } in page.commands() {
            if !known.contains(command.as_str()) {
                wrong.push(format!("{}:{line}: not in commands.toml: {command}", page.path.display()));
            }
            seen.insert(command);
        }
    }
    for entry in &table {
        if !seen.contains(&entry.shown) {
            wrong.push(format!("commands.toml: no page shows this any more: {}", entry.shown));
        }
        let ways = [entry.run.is_some(), entry.step.is_some(), entry.excuse.is_some()];
        if ways.into_iter().filter(|&way| way).count() > 1 {
            wrong.push(format!("commands.toml: one way at most to run {}", entry.shown));
        }
        if let Some(step) = &entry.step
            && !ci_steps().contains(step)
        {
            wrong.push(format!("commands.toml: `cargo xtask ci` has no step {step}"));
        }
    }
    told(wrong)
}

/// The source of `cargo xtask`'s steps, and what calls it.
const STEPS: &str = include_str!("../../../xtask/src/step.rs");
const CI: &str = include_str!("../../../.ci/run");

/// The steps that `cargo xtask ci` runs, and that one itself if CI runs it.
fn ci_steps() -> Vec<String> {
    let list = STEPS.split_once("const ALL: ").and_then(|(_, rest)| rest.split_once("];"));
    let mut steps = step_names(list.expect("xtask has a list of steps").0);
    steps.extend(CI.contains("exec cargo xtask ci\n").then(|| "ci".to_owned()));
    steps
}

/// The steps that a piece of xtask's source names.
fn step_names(source: &str) -> Vec<String> {
    let names = source.split("Step::").skip(1);
    names
        .map(|rest| rest.chars().take_while(|c| c.is_alphanumeric()).collect::<String>().to_lowercase())
        .collect()
}

/// Commands of `host` and xtask in the middle of a sentence are not run, but their words must be right.
fn commands_in_sentences_are_understood() -> Result<(), String> {
    let mut wrong = vec![];
    let mut understood = 0;
    for page in Page::all() {
        for (code, line) in page.code() {
            let steps = code.strip_prefix("cargo xtask ").unwrap_or_default().split_whitespace();
            for step in steps.filter(|step| !step.starts_with("--")) {
                if !step_names(STEPS).iter().any(|name| name == step) {
                    wrong.push(format!("{}:{line}: xtask has no step {step}", page.path.display()));
                }
            }
            let code = code.strip_prefix("cargo ").unwrap_or(&code);
            // `host` alone, and a command that is only named, such as `host device`, are words like others.
            if !code.starts_with("host ") || !code.contains(" --") {
                continue;
            }
            match Cli::try_parse_from(filled_in(code)) {
                Ok(_) => understood += 1,
                Err(error) if !error.use_stderr() => understood += 1,
                Err(error) => wrong.push(format!("{}:{line}: {code}\n{error}", page.path.display())),
            }
        }
    }
    if understood < 10 {
        wrong.push(format!("only {understood} commands were found in sentences"));
    }
    told(wrong)
}

/// A command's words with something for each placeholder, which is written in capital letters; brackets hold what may be
/// left out.
fn filled_in(code: &str) -> Vec<&str> {
    let stands_for = |flag: &str| match flag {
        "--noise" => "none",
        "--set" => "bcts",
        "--crossover" => "one-point",
        _ => "1",
    };
    let mut words: Vec<&str> = vec![];
    for word in code.split_whitespace().map(|word| word.trim_matches(['[', ']'])) {
        let is_placeholder = word.chars().all(|c| c.is_ascii_uppercase());
        words.push(if is_placeholder { stands_for(words.last().copied().unwrap_or_default()) } else { word });
    }
    words
}

fn told(wrong: Vec<String>) -> Result<(), String> {
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}

/// Runs a page's commands in their order.
fn run_page(page: &Page, is_set_up: bool) -> Result<(), String> {
    let table = table();
    let mut desk = Desk::new();
    for shown in page.commands() {
        let place = format!("{}:{}: {}", page.path.display(), shown.line, shown.command);
        // That there is an entry is another test's.
        let Some(entry) = table.iter().find(|entry| entry.shown == shown.command) else { continue };
        if entry.step.is_some() || entry.excuse.is_some() || (entry.needs.is_some() && !is_set_up) {
            continue;
        }
        let command = entry.run.as_ref().unwrap_or(&entry.shown);
        let output = desk.run(command, entry.needs == Some(Need::Device))?;
        let all = format!("{}{}", output.stdout, output.stderr);
        if !output.ends_well {
            return Err(format!("{place}\nfails, run as: {command}\n{all}"));
        }
        has_lines(&shown.output, &all)
            .map_err(|line| format!("{place}\ndoes not print the line: {line}\nrun as: {command}\n{all}"))?;
        for file in &entry.makes {
            let read =
                |path: PathBuf| fs::read(&path).map_err(|error| format!("{}: {error}", path.display()));
            if read(desk.folder.path().join(file))? != read(root().join(file))? {
                let file = file.display();
                let advice = "run it in the project's folder, and look at what it makes";
                return Err(format!("{place}\nmakes another {file} than the project keeps; {advice}"));
            }
        }
    }
    Ok(())
}

/// Whether text has these lines in their order, numbers aside; if not, the first that it has not.
fn has_lines(lines: &[String], text: &str) -> Result<(), String> {
    let mut rest = text.lines().map(without_numbers);
    for line in lines {
        if !rest.any(|found| found == without_numbers(line)) {
            return Err(line.clone());
        }
    }
    Ok(())
}

/// A line with one zero for each number, and spaces that do not depend on its length.
fn without_numbers(line: &str) -> String {
    let mut kept = String::new();
    for c in line.split_whitespace().collect::<Vec<_>>().join(" ").chars() {
        let c = if c.is_ascii_digit() { '0' } else { c };
        if c != '0' || !kept.ends_with(['0', ',', '.']) {
            kept.push(c);
        }
    }
    kept
}

/// A folder to work in, programs to work with, and a handheld once it is needed.
struct Desk {
    folder: tempfile::TempDir,
    programs: tempfile::TempDir,
    port: Option<Port>,
}

struct Output {
    ends_well: bool,
    stdout: String,
    stderr: String,
}

impl Desk {
    fn new() -> Desk {
        let [folder, programs] = [(); 2].map(|()| tempfile::tempdir().expect("a folder"));
        // `cargo host` would build its own, with all optimisations; everything else is cargo's, in the project's folder.
        // A busy machine may need longer to answer than a device does.
        let cargo = env::var("CARGO").unwrap_or_else(|_| "cargo".into());
        let script = format!(
            "#!/bin/sh\n\
             case \"$1 $2\" in\n\
             'host device' | 'host flash') shift; exec '{host}' \"$@\" --timeout 60 ;;\n\
             'host '*) shift; exec '{host}' \"$@\" ;;\n\
             '+'*) cd '{root}' && exec cargo \"$@\" ;;\n\
             *) cd '{root}' && exec '{cargo}' \"$@\" ;;\n\
             esac\n",
            host = dropwise_emulator::host().display(),
            root = root().display(),
        );
        let path = programs.path().join("cargo");
        fs::write(&path, script).expect("a script");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("a program");
        Desk { folder, programs, port: None }
    }

    fn run(&mut self, command: &str, with_device: bool) -> Result<Output, String> {
        let path = env::var("PATH").unwrap_or_default();
        let mut shell = Command::new("bash");
        shell
            .args(["-e", "-o", "pipefail", "-c", command])
            .current_dir(self.folder.path())
            .env("PROJECT", root())
            .env("PATH", format!("{}:{path}", self.programs.path().display()))
            // Its own settings are not to reach the cargo of the commands.
            .env_remove("CI")
            .stdin(Stdio::null());
        if with_device {
            let folder = self.folder.path();
            let port = self.port.get_or_insert_with(|| {
                let mut device = Device::start(Board::PicoOled);
                device.expect_usb(Duration::from_secs(1));
                Port::new(device, &folder.join("port"))
            });
            shell.env("DROPWISE_PORT", port.path());
        }
        let output = shell.output().map_err(|error| format!("cannot start bash: {error}"))?;
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Ok(Output {
            ends_well: output.status.success(),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        })
    }
}
