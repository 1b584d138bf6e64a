//! Commands: shown, run in the project's folder, and their failure told.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Whether it went well; if not, what did not.
pub(crate) type Outcome<T = ()> = Result<T, String>;

/// The project's folder.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the project")
}

/// Where cargo puts what it builds.
pub(crate) fn target() -> PathBuf {
    let chosen = env::var_os("CARGO_TARGET_DIR").map(|folder| root().join(folder));
    chosen.unwrap_or_else(|| root().join("target"))
}

/// A command of words that spaces separate, to be run in the project's folder. A first word that is a path is found there.
pub(crate) fn command(words: &str) -> Command {
    let mut words = words.split_whitespace();
    let program = words.next().expect("a command has a name");
    let mut command =
        if program.contains('/') { Command::new(root().join(program)) } else { Command::new(program) };
    command.args(words).current_dir(root());
    command
}

/// Runs a command of words that spaces separate.
pub(crate) fn sh(words: &str) -> Outcome {
    run(&mut command(words))
}

/// Shows a command and runs it.
pub(crate) fn run(command: &mut Command) -> Outcome {
    eprintln!("$ {}", shown(command));
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("`{}` ended with {status}", shown(command))),
        Err(error) => Err(format!("cannot start `{}`: {error}", shown(command))),
    }
}

/// Whether a command, which is not shown, ends well.
pub(crate) fn succeeds(words: &str) -> bool {
    let status = command(words).stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

/// What a command of words, which is not shown, prints.
pub(crate) fn printed(words: &str) -> Outcome<String> {
    stdout(&mut command(words))
}

/// What a command, which is not shown, prints.
pub(crate) fn stdout(command: &mut Command) -> Outcome<String> {
    let output = command.stderr(Stdio::inherit()).output();
    let output = output.map_err(|error| format!("cannot start `{}`: {error}", shown(command)))?;
    if !output.status.success() {
        return Err(format!("`{}` ended with {}", shown(command), output.status));
    }
    String::from_utf8(output.stdout).map_err(|_| format!("`{}` does not print text", shown(command)))
}

/// A command as a person would type it.
fn shown(command: &Command) -> String {
    let set = command.get_envs().filter_map(|(name, value)| Some((name, value?)));
    let mut words: Vec<String> = set.map(|(name, value)| format!("{}={}", word(name), word(value))).collect();
    let program = Path::new(command.get_program());
    words.push(word(program.strip_prefix(root()).unwrap_or(program).as_os_str()));
    words.extend(command.get_args().map(word));
    words.join(" ")
}

fn word(word: &OsStr) -> String {
    let word = word.to_string_lossy();
    if word.contains([' ', '"']) || word.is_empty() { format!("'{word}'") } else { word.into_owned() }
}
