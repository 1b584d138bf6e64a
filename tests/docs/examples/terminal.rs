//! A picture of a terminal, as a program draws on it: runs a command on a terminal of its own and writes the screen as it
//! is after some seconds, or at the command's end, to an SVG file.
//!
//! ```console
//! $ cargo run -p dropwise-docs --example terminal -- train.svg 100x12 10 cargo host train
//! ```

use std::error::Error;
use std::fmt::Write as _;
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::num::NonZero;
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use vt100::{Color, Parser};

/// A character's place in the picture.
const WIDTH: usize = 8;
const HEIGHT: usize = 18;
const MARGIN: usize = 12;

const PAPER: &str = "#14181f";
const INK: &str = "#d6dbe3";

/// The sixteen colours, as xterm numbers them.
const COLOURS: [&str; 16] = [
    "#14181f", "#e5534b", "#57ab5a", "#c69026", "#539bf5", "#b083f0", "#39c5cf", "#909dab", "#636e7b",
    "#ff938a", "#6bc46d", "#daaa3f", "#6cb6ff", "#dcbdfb", "#56d4dd", "#cdd9e5",
];

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [out, size, seconds, program, words @ ..] = &arguments[..] else {
        return Err("usage: terminal FILE.svg COLUMNSxROWS SECONDS COMMAND...".into());
    };
    let (columns, rows) = size.split_once('x').ok_or("a size is COLUMNSxROWS")?;
    let (columns, rows): (NonZero<u16>, NonZero<u16>) = (columns.parse()?, rows.parse()?);
    let seconds = Duration::from_secs_f64(seconds.parse()?);

    let screen = screen_after(Command::new(program).args(words), (columns, rows), seconds)?;
    let title = format!("$ {}", arguments[3..].join(" "));
    fs::write(out, svg(screen.screen(), &title))?;
    Ok(())
}

/// What a command has drawn after a time, or by its end.
fn screen_after(
    command: &mut Command,
    (columns, rows): (NonZero<u16>, NonZero<u16>),
    time: Duration,
) -> Result<Parser, Box<dyn Error>> {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
    grantpt(&master)?;
    unlockpt(&master)?;
    let size = Winsize { ws_row: rows.get(), ws_col: columns.get(), ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(&master, size)?;
    let name = ptsname(&master, vec![])?;
    let terminal = OpenOptions::new().read(true).write(true).open(name.to_str()?)?;
    let stdio = || -> Result<Stdio, std::io::Error> { Ok(terminal.try_clone()?.into()) };
    command.env("TERM", "xterm-256color").env("COLORTERM", "truecolor").env_remove("NO_COLOR");
    let mut child = command.stdin(stdio()?).stdout(stdio()?).stderr(stdio()?).process_group(0).spawn()?;
    drop(terminal);

    let mut keyboard = File::from(master.as_fd().try_clone_to_owned()?);
    let mut display = File::from(master);
    let (sender, drawn) = mpsc::channel();
    thread::spawn(move || {
        let mut buffer = [0; 4096];
        while let Ok(length @ 1..) = display.read(&mut buffer) {
            if sender.send(buffer[..length].to_vec()).is_err() {
                return;
            }
        }
    });
    let mut parser = Parser::new(rows, columns, 0);
    let end = Instant::now() + time;
    // Until the time is over, or the command.
    while let Ok(bytes) = drawn.recv_timeout(end.saturating_duration_since(Instant::now())) {
        parser.process(&bytes);
        // A program that draws asks where the cursor is.
        if bytes.windows(4).any(|window| window == b"\x1b[6n") {
            let (row, column) = parser.screen().cursor_position();
            write!(keyboard, "\x1b[{};{}R", row + 1, column + 1)?;
        }
    }
    child.kill()?;
    child.wait()?;
    Ok(parser)
}

fn colour(colour: Color, default: &str) -> String {
    match colour {
        Color::Default => default.to_owned(),
        Color::Idx(index @ 0..16) => COLOURS[usize::from(index)].to_owned(),
        // The cube of 216 colours, then 24 greys.
        Color::Idx(index @ 16..232) => {
            let part = |step: u8| if step == 0 { 0 } else { 55 + 40 * u32::from(step) };
            let cube = index - 16;
            format!("#{:02x}{:02x}{:02x}", part(cube / 36), part(cube / 6 % 6), part(cube % 6))
        }
        Color::Idx(index) => format!("#{0:02x}{0:02x}{0:02x}", 8 + 10 * u32::from(index - 232)),
        Color::Rgb(red, green, blue) => format!("#{red:02x}{green:02x}{blue:02x}"),
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// The screen, with the command above it.
fn svg(screen: &vt100::Screen, title: &str) -> String {
    let (rows, columns) = screen.size();
    let (rows, columns) = (rows.get(), columns.get());
    let (width, height) =
        (usize::from(columns) * WIDTH + 2 * MARGIN, (usize::from(rows) + 1) * HEIGHT + 2 * MARGIN);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" xml:space=\"preserve\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\">\n\
         <style>text{{font:13.3px ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace;white-space:pre}}</style>\n\
         <rect width=\"{width}\" height=\"{height}\" rx=\"8\" fill=\"{PAPER}\"/>\n\
         <text x=\"{MARGIN}\" y=\"{}\" fill=\"#909dab\">{}</text>\n",
        MARGIN + HEIGHT - 5,
        escaped(title),
    );
    for row in 0..rows {
        let mut column = 0;
        while column < columns {
            let Some(cell) = screen.cell(row, column) else { break };
            let look = |cell: &vt100::Cell| {
                (cell.fgcolor(), cell.bgcolor(), cell.bold(), cell.dim(), cell.inverse())
            };
            let (first, style) = (column, look(cell));
            let mut text = String::new();
            while let Some(cell) = screen.cell(row, column).filter(|cell| look(cell) == style) {
                text += if cell.has_contents() { cell.contents() } else { " " };
                column += 1;
            }
            let (ink, paper, bold, dim, inverse) = style;
            let (mut ink, mut paper) = (colour(ink, INK), colour(paper, PAPER));
            if inverse {
                (ink, paper) = (paper, ink);
            }
            let (x, y) = (MARGIN + usize::from(first) * WIDTH, MARGIN + (usize::from(row) + 1) * HEIGHT);
            let run = usize::from(column - first) * WIDTH;
            if paper != PAPER {
                writeln!(
                    svg,
                    "<rect x=\"{x}\" y=\"{y}\" width=\"{run}\" height=\"{HEIGHT}\" fill=\"{paper}\"/>"
                )
                .expect("a string takes everything");
            }
            if !text.trim().is_empty() {
                let weight = if bold { " font-weight=\"bold\"" } else { "" };
                let faint = if dim { " opacity=\".6\"" } else { "" };
                writeln!(
                    svg,
                    "<text x=\"{x}\" y=\"{}\" textLength=\"{run}\" lengthAdjust=\"spacingAndGlyphs\" \
                     fill=\"{ink}\"{weight}{faint}>{}</text>",
                    y + HEIGHT - 5,
                    escaped(&text)
                )
                .expect("a string takes everything");
            }
        }
    }
    svg + "</svg>\n"
}
