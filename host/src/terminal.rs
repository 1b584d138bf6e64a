//! A game in the terminal: the well in colour, facts beside it, a window of help, and the keys.

use std::io;
use std::time::Duration;

use dropwise_core::Piece;
use dropwise_core::well::WIDTH;
use ratatui::crossterm::event::{self, Event, KeyEvent, KeyEventKind};
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style, Stylize};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Clear, Paragraph};
use ratatui::{DefaultTerminal, Frame};

use crate::output::{self, Failure};

/// The longest time between two pictures.
pub(crate) const FRAME: Duration = Duration::from_millis(33);

/// Gives the terminal to a program that draws on all of it, and puts it back afterwards, also after a panic.
pub(crate) fn with_screen<T>(
    program: impl FnOnce(&mut DefaultTerminal) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let mut terminal = ratatui::try_init()?;
    let result = program(&mut terminal);
    ratatui::try_restore()?;
    result
}

/// The next key that was typed; none if there is none within this time.
pub(crate) fn key(mut patience: Duration) -> io::Result<Option<KeyEvent>> {
    while event::poll(patience)? {
        match event::read()? {
            Event::Key(key) if key.kind != KeyEventKind::Release => return Ok(Some(key)),
            // A window of another size, or a key let go.
            _ => patience = Duration::ZERO,
        }
    }
    Ok(None)
}

/// The parts of the screen: the well, what stands beside it, and the line of keys.
pub(crate) fn areas(frame: &Frame<'_>, height: usize) -> [Rect; 3] {
    let [main, keys] = Layout::vertical([Constraint::Min(0), Constraint::Length(1)]).areas(frame.area());
    let columns = [Constraint::Length(2 * WIDTH as u16 + 2), Constraint::Min(0)];
    let [well, side] = Layout::horizontal(columns).areas(main);
    [Rect { height: well.height.min(height as u16 + 2), ..well }, side, keys]
}

/// A cell of the well, as it is seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cell {
    Empty,
    /// Of a piece that fell before.
    Lying(Piece),
    /// Of a piece that nobody saw fall.
    Unknown,
    /// Of the last piece.
    Last(Piece),
    /// Of a piece on its way down.
    Falling(Piece),
    /// Where a piece will land.
    Ghost(Piece),
}

/// Draws, with or without colours.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Brush {
    pub(crate) colour: bool,
}

impl Brush {
    /// With colours, if they are welcome.
    pub(crate) fn new() -> Brush {
        Brush { colour: !output::no_color() }
    }

    /// The well, as many rows of it as there is room for, its floor always among them.
    pub(crate) fn well(
        self,
        frame: &mut Frame<'_>,
        area: Rect,
        title: String,
        height: usize,
        cell: impl Fn(usize, usize) -> Cell,
    ) {
        let visible = usize::from(area.height.saturating_sub(2)).min(height);
        let row = |y| Line::from((0..WIDTH).map(|x| self.cell(cell(x, y))).collect::<Vec<_>>());
        let lines: Vec<Line<'_>> = (0..visible).rev().map(row).collect();
        frame.render_widget(Paragraph::new(lines).block(Block::bordered().title(title)), area);
    }

    fn cell(self, cell: Cell) -> Span<'static> {
        let style = Style::new();
        match (cell, self.colour) {
            (Cell::Empty, _) => Span::styled(" .", style.add_modifier(Modifier::DIM)),
            (Cell::Unknown, false) => Span::raw("##"),
            (Cell::Lying(piece), false) => Span::raw(format!("{piece}{piece}")),
            (Cell::Last(piece) | Cell::Falling(piece), false) => Span::raw(format!("[{piece}")),
            (Cell::Ghost(_), false) => Span::raw("::"),
            (Cell::Unknown, true) => Span::styled("  ", style.bg(Color::DarkGray)),
            (Cell::Lying(piece), true) => Span::styled("  ", style.bg(colour(piece))),
            (Cell::Last(piece), true) => Span::styled("[]", style.fg(Color::Black).bg(colour(piece))),
            (Cell::Falling(piece), true) => {
                Span::styled("[]", style.fg(Color::White).bg(colour(piece)).bold())
            }
            (Cell::Ghost(piece), true) => Span::styled("::", style.fg(colour(piece))),
        }
    }

    /// Something about a piece, in its colour.
    pub(crate) fn title(self, piece: Piece, title: String) -> Span<'static> {
        if self.colour { Span::from(title).fg(colour(piece)) } else { Span::from(title) }
    }
}

/// The colours that most games give the pieces.
const fn colour(piece: Piece) -> Color {
    match piece {
        Piece::I => Color::Cyan,
        Piece::O => Color::Yellow,
        Piece::T => Color::Magenta,
        Piece::Z => Color::Red,
        Piece::S => Color::Green,
        Piece::J => Color::Blue,
        Piece::L => Color::Indexed(208),
    }
}

/// Names and values in a box.
pub(crate) fn facts(frame: &mut Frame<'_>, area: Rect, title: &str, facts: &[(&str, String)]) {
    let line = |(name, value): &(&str, String)| {
        Line::from(vec![Span::raw(format!(" {name:<9}")).dim(), Span::raw(value.clone())])
    };
    let lines: Vec<Line<'_>> = facts.iter().map(line).collect();
    frame.render_widget(Paragraph::new(lines).block(Block::bordered().title(title)), area);
}

/// A window of help over everything else.
pub(crate) fn help(frame: &mut Frame<'_>, text: &[&str]) {
    let area = frame.area();
    let (width, height) = (56.min(area.width), (text.len() as u16 + 2).min(area.height));
    let popup = Rect { x: (area.width - width) / 2, y: (area.height - height) / 2, width, height };
    frame.render_widget(Clear, popup);
    let lines: Vec<Line<'_>> = text.iter().copied().map(Line::from).collect();
    let block = Block::bordered().title(" help ").title_bottom(" any key closes ");
    frame.render_widget(Paragraph::new(lines).block(block), popup);
}

/// The board in letters, top row first: `.` is empty, `#` a piece that nobody saw fall.
pub(crate) fn letters(height: usize, cell: impl Fn(usize, usize) -> Cell) -> String {
    let mut text = String::new();
    for y in (0..height).rev() {
        text.extend((0..WIDTH).map(|x| match cell(x, y) {
            Cell::Empty | Cell::Ghost(_) => '.',
            Cell::Unknown => '#',
            Cell::Lying(piece) | Cell::Last(piece) | Cell::Falling(piece) => piece.letter(),
        }));
        text.push('\n');
    }
    text
}
