//! What leaves the program: data on standard output, messages on standard error, and how it ends.
//!
//! Every write is checked. A reader that has seen enough (`host inspect ... | head -1`) closes the pipe; that is
//! success, so it travels as [`Failure::ClosedPipe`] and ends the program with 0.

use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use serde::Serialize;

/// What a command that ran to its end has to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Exit code 0.
    Yes,
    /// It ran and the answer is no: exit code 1.
    No,
}

/// Why a command did not run to its end.
#[derive(Debug)]
pub enum Failure {
    /// It ran and the answer is no, which a device gave: exit code 1. Every message says what happened and what to do.
    Refused(String),
    /// Wrong usage or input: exit code 2.
    Input(String),
    /// No device, or a link that fails: exit code 3.
    Link(String),
    /// Nobody reads standard output any more: exit code 0.
    ClosedPipe,
}

impl Failure {
    /// Wrong usage or input.
    pub fn input(message: impl fmt::Display) -> Failure {
        Failure::Input(message.to_string())
    }
}

impl From<io::Error> for Failure {
    /// For writes to standard output; other files name themselves in a [`Failure::Input`].
    fn from(error: io::Error) -> Failure {
        if error.kind() == io::ErrorKind::BrokenPipe {
            Failure::ClosedPipe
        } else {
            Failure::Input(format!("cannot write to standard output: {error}"))
        }
    }
}

/// The exit code of a command, its error told on standard error.
pub fn finish(result: Result<Answer, Failure>) -> ExitCode {
    let (message, code) = match result {
        Ok(Answer::Yes) | Err(Failure::ClosedPipe) => return ExitCode::SUCCESS,
        Ok(Answer::No) => return ExitCode::from(1),
        Err(Failure::Refused(message)) => (message, 1),
        Err(Failure::Input(message)) => (message, 2),
        Err(Failure::Link(message)) => (message, 3),
    };
    say(format_args!("{BAD}error:{BAD:#} {message}"));
    ExitCode::from(code)
}

/// Writes a line to standard error. If nobody listens there, there is nobody to tell.
pub fn say(line: impl fmt::Display) {
    let _ = writeln!(anstream::stderr().lock(), "{line}");
}

/// Writes text to standard output; its colours are taken out unless a terminal shows them and `NO_COLOR` is unset.
///
/// # Errors
/// If standard output does not take it.
pub fn print(text: impl fmt::Display) -> Result<(), Failure> {
    let mut out = anstream::stdout().lock();
    write!(out, "{text}")?;
    Ok(out.flush()?)
}

/// Writes one JSON object on a line of its own, and sends it on its way.
///
/// # Errors
/// If standard output does not take it.
pub fn print_json(object: &impl Serialize) -> Result<(), Failure> {
    let mut line = serde_json::to_string(object).map_err(Failure::input)?;
    line.push('\n');
    let mut out = io::stdout().lock();
    out.write_all(line.as_bytes())?;
    Ok(out.flush()?)
}

/// Fails if nobody reads standard output any more. For those who wait for something to write: a write would tell them,
/// but there may never be one.
///
/// # Errors
/// [`Failure::ClosedPipe`].
pub fn check_reader() -> Result<(), Failure> {
    if is_closed(&io::stdout()) { Err(Failure::ClosedPipe) } else { Ok(()) }
}

/// Whether what is written to a pipe or a terminal reaches nobody.
#[cfg(unix)]
fn is_closed(output: &impl std::os::fd::AsFd) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let mut output = [PollFd::new(output, PollFlags::empty())];
    // These two are told without being asked for.
    let closed = PollFlags::ERR | PollFlags::HUP;
    poll(&mut output, Some(&Timespec::default())).is_ok() && output[0].revents().intersects(closed)
}

#[cfg(not(unix))]
fn is_closed(_: &io::Stdout) -> bool {
    false
}

/// Whether a person sees standard output as it is written, on a terminal that can be drawn on.
pub fn is_screen() -> bool {
    io::stdout().is_terminal()
        && io::stdin().is_terminal()
        && std::env::var_os("TERM").is_none_or(|t| t != "dumb")
}

/// Whether colours are unwelcome (<https://no-color.org>).
pub fn no_color() -> bool {
    std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
}

/// A heading.
pub const HEADING: Style = Style::new().bold();
/// Something less important.
pub const FAINT: Style = Style::new().dimmed();
/// What was chosen, or is right.
pub const GOOD: Style = AnsiColor::Green.on_default().bold();
/// What is wrong.
pub const BAD: Style = AnsiColor::Red.on_default().bold();

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_pipe_without_a_reader_is_closed() {
        let (reader, writer) = io::pipe().expect("a pipe");
        assert!(!is_closed(&writer));
        drop(reader);
        assert!(is_closed(&writer));
        let file = tempfile::tempfile().expect("a file");
        assert!(!is_closed(&file));
    }

    #[test]
    fn a_closed_pipe_is_success_and_a_full_disk_is_not() {
        let closed = Failure::from(io::Error::from(io::ErrorKind::BrokenPipe));
        assert!(matches!(closed, Failure::ClosedPipe));
        assert_eq!(finish(Err(closed)), ExitCode::SUCCESS);
        let full = Failure::from(io::Error::from(io::ErrorKind::StorageFull));
        assert!(matches!(&full, Failure::Input(message) if message.contains("standard output")));
        assert_eq!(finish(Err(full)), ExitCode::from(2));
        assert_eq!(finish(Ok(Answer::No)), ExitCode::from(1));
        assert_eq!(finish(Err(Failure::Refused("no".into()))), ExitCode::from(1));
        assert_eq!(finish(Err(Failure::Link("gone".into()))), ExitCode::from(3));
    }
}
