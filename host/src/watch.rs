//! `host watch`: a game in the terminal.
//!
//! On a terminal the game is drawn in colour and driven by keys. Elsewhere it is told in plain lines, for so many
//! pieces; with `--json` as one object a move.

use std::fmt::Write;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use clap::Args;
use dropwise_core::feature::Outcome;
use dropwise_core::game::Move;
use dropwise_core::{Controller, Game, Piece, Rules};
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Stylize;
use ratatui::text::Line;
use ratatui::widgets::{Block, Paragraph};
use ratatui::{DefaultTerminal, Frame};
use serde::Serialize;

use crate::args::{Common, ControlArgs, PlayerArg, RulesArgs};
use crate::figures;
use crate::inspect::{Features, Judgements};
use crate::interrupt;
use crate::output::{self, Answer, Failure};
use crate::stack::{self, Stack};
use crate::terminal::{self, Brush, Cell, FRAME};

/// Watch a player play in the terminal
#[derive(Args, Debug)]
#[command(after_help = HELP)]
pub struct WatchArgs {
    #[command(flatten)]
    player: PlayerArg,
    #[command(flatten)]
    rules: RulesArgs,
    #[command(flatten)]
    control: ControlArgs,

    /// Which of the seed's games
    #[arg(long, value_name = "INDEX", default_value_t = 0)]
    game: u64,

    /// Pieces per second at the start, or max
    #[arg(long, value_name = "N|max", default_value = "8", value_parser = parse_speed)]
    speed: Speed,

    /// Stop after this many pieces [default: on a terminal never, else 20]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    max_pieces: Option<u64>,
}

const HELP: &str = "\
Keys: space pause, s or right arrow one step, + and - speed, n new game, ? help, q quit.
Where standard output is not a terminal, each move is told on a line.

Examples:
  host watch
  host watch --player dt20 --board 10x10 --speed 30
  host watch --pieces hard:4 --seed 7 --game 3
  host watch --json --max-pieces 1000 | jq .lines";

/// How many pieces are played where nobody can say stop.
const PLAIN_PIECES: u64 = 20;

/// Pieces per second; none is as fast as it goes.
type Speed = Option<f64>;

/// The speeds that + and - go through; after the last comes unlimited.
const SPEEDS: [f64; 11] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 125.0, 250.0, 500.0, 1000.0];

fn parse_speed(text: &str) -> Result<Speed, String> {
    if text == "max" {
        return Ok(None);
    }
    let speed = text.parse().ok().filter(|speed| (0.1..=1e6).contains(speed));
    speed.map(Some).ok_or_else(|| "give pieces per second from 0.1 to 1000000, or max".into())
}

fn faster(speed: Speed) -> Speed {
    SPEEDS.into_iter().find(|&next| speed.is_some_and(|speed| next > speed))
}

fn slower(speed: Speed) -> Speed {
    let below = SPEEDS.into_iter().rev().find(|&next| speed.is_none_or(|speed| next < speed));
    Some(below.unwrap_or(SPEEDS[0]))
}

/// A game being shown.
struct Show<'a> {
    args: &'a WatchArgs,
    controller: Controller,
    rules: Rules<'a>,
    seed: u64,
    index: u64,
    game: Game<'a>,
    stack: Stack,
}

impl<'a> Show<'a> {
    fn new(args: &'a WatchArgs, controller: Controller, rules: Rules<'a>, seed: u64, index: u64) -> Show<'a> {
        Show {
            args,
            controller,
            rules,
            seed,
            index,
            game: Game::new(rules, seed, index),
            stack: Stack::new(),
        }
    }

    fn restart(&mut self, index: u64) {
        *self = Show::new(self.args, self.controller, self.rules, self.seed, index);
    }

    /// Whether no piece will follow.
    fn has_ended(&self) -> bool {
        self.game.is_over() || self.args.max_pieces.is_some_and(|most| self.game.pieces() >= most)
    }

    /// Plays one piece.
    fn step(&mut self) -> Option<Move> {
        if self.has_ended() {
            return None;
        }
        let step = self.game.step(&self.controller)?;
        self.stack.follow(&step);
        Some(step)
    }

    /// What lies in a cell.
    fn cell(&self, x: usize, y: usize) -> Cell {
        match self.stack.get(x, y) {
            None => Cell::Empty,
            Some(piece) if self.stack.is_last(x, y) => Cell::Last(piece),
            Some(piece) => Cell::Lying(piece),
        }
    }

    /// What the player thinks of the piece to be placed.
    fn decision(&mut self) -> Option<(Piece, Judgements)> {
        if self.has_ended() {
            return None;
        }
        let well = *self.game.well();
        let [piece, next @ ..] = self.game.upcoming(self.controller.options().lookahead) else {
            return None;
        };
        let (features, overflow) = (&Features::none(), self.rules.overflow);
        let judgements = Judgements::of(&self.controller, &well, *piece, next, overflow, features);
        Some((*piece, judgements))
    }

    fn summary(&self) -> String {
        let end = if self.game.is_over() { "over" } else { "stopped" };
        format!(
            "{}, seed {}, game {}: {end} after {} pieces, {} lines, digest {:016x}",
            self.args.player.player,
            self.seed,
            self.index,
            figures::grouped(self.game.pieces()),
            figures::grouped(self.game.lines()),
            self.game.digest()
        )
    }
}

/// Runs the command.
///
/// # Errors
/// See [`Failure`].
pub fn run(args: &WatchArgs, common: Common) -> Result<Answer, Failure> {
    let controller = args.control.controller(args.player.load()?.player)?;
    let loaded = args.rules.load()?;
    let mut show = Show::new(args, controller, loaded.rules(), common.seed, args.game);
    if common.json || !output::is_screen() {
        plain(&mut show, common.json)?;
    } else {
        let ending = interrupt::listen();
        terminal::with_screen(|terminal| Ok(Screen::new(&mut show).run(terminal, ending)?))?;
        output::print(format_args!("{}\n", show.summary()))?;
    }
    Ok(Answer::Yes)
}

#[derive(Serialize)]
struct MoveJson {
    game: u64,
    number: u64,
    piece: String,
    orientation: u8,
    column: u8,
    cells: Vec<(usize, usize)>,
    cleared: u8,
    loses: bool,
    value: i32,
    lines: u64,
    height: usize,
    digest: String,
}

/// A line a move, then the board.
fn plain(show: &mut Show<'_>, json: bool) -> Result<(), Failure> {
    let most = show.args.max_pieces.unwrap_or(PLAIN_PIECES);
    if !json {
        let rules = &show.args.rules;
        output::print(format_args!(
            "{} on {}, pieces {}, overflow tested {} clearing; seed {}, game {}\n\n",
            show.args.player.player,
            rules.board,
            rules.pieces,
            rules.overflow.name(),
            show.seed,
            show.index
        ))?;
    }
    while show.game.pieces() < most {
        let before = *show.game.well();
        let Some(Move { piece, placement, landing }) = show.step() else { break };
        let outcome = Outcome::of(&before, piece, placement, show.rules.overflow);
        let value = show.controller.player().value(&outcome);
        let game = &show.game;
        if json {
            output::print_json(&MoveJson {
                game: show.index,
                number: game.pieces(),
                piece: piece.to_string(),
                orientation: placement.orientation,
                column: placement.column,
                cells: stack::cells(piece, placement, usize::from(landing.row)),
                cleared: landing.lines,
                loses: landing.loses,
                value,
                lines: game.lines(),
                height: game.well().max_height(),
                digest: format!("{:016x}", game.digest()),
            })?;
        } else {
            output::print(format_args!(
                "{:>6}  {piece}  orientation {}  column {}  value {value:>9}  height {:>2}  lines {}\n",
                game.pieces(),
                placement.orientation,
                placement.column,
                game.well().max_height(),
                game.lines()
            ))?;
        }
    }
    if json {
        Ok(())
    } else {
        let height = show.rules.height().max(show.game.well().max_height());
        let board = terminal::letters(height, |x, y| show.cell(x, y));
        output::print(format_args!("\n{board}\n{}\n", show.summary()))
    }
}

/// Up to this speed a piece is seen falling.
const FALLING: f64 = 8.0;
/// How many placements stand beside the board.
const SHOWN: usize = 8;

struct Screen<'s, 'a> {
    show: &'s mut Show<'a>,
    speed: Speed,
    paused: bool,
    help: bool,
    brush: Brush,
    /// When the next piece is due.
    due: Instant,
    /// When pieces were last counted, how many there were, and how many a second came since the time before.
    counted: (Instant, u64),
    rate: f64,
}

enum Key {
    Quit,
    Stay,
}

impl<'s, 'a> Screen<'s, 'a> {
    fn new(show: &'s mut Show<'a>) -> Screen<'s, 'a> {
        let speed = show.args.speed;
        let mut screen = Screen {
            show,
            speed,
            paused: false,
            help: false,
            brush: Brush::new(),
            due: Instant::now(),
            counted: (Instant::now(), 0),
            rate: 0.0,
        };
        screen.due = Instant::now() + screen.interval();
        screen
    }

    fn interval(&self) -> Duration {
        self.speed.map_or(Duration::ZERO, |speed| Duration::from_secs_f64(1.0 / speed))
    }

    fn run(mut self, terminal: &mut DefaultTerminal, ending: &AtomicBool) -> io::Result<()> {
        loop {
            terminal.draw(|frame| self.draw(frame))?;
            let drawn = Instant::now();
            let wait = match self.speed {
                _ if self.is_resting() => FRAME,
                None => Duration::ZERO,
                Some(_) => self.due.saturating_duration_since(drawn).min(FRAME),
            };
            // All that was typed, then on.
            let mut patience = wait;
            while let Some(key) = terminal::key(patience)? {
                if let Key::Quit = self.press(key) {
                    return Ok(());
                }
                patience = Duration::ZERO;
            }
            if ending.load(Ordering::Relaxed) {
                return Ok(());
            }
            self.play(Instant::now() + FRAME);
        }
    }

    /// Whether nothing moves.
    fn is_resting(&self) -> bool {
        self.paused || self.show.has_ended()
    }

    /// Plays what is due, but no longer than until it is time for a picture.
    fn play(&mut self, until: Instant) {
        while !self.is_resting() && Instant::now() >= self.due && Instant::now() < until {
            // Without a limit, look at the clock less often than pieces fall.
            let batch = if self.speed.is_none() { 8 } else { 1 };
            for _ in 0..batch {
                self.show.step();
            }
            // If the machine cannot keep up, do not try to catch up.
            self.due = (self.due + self.interval()).max(Instant::now() - FRAME);
        }
        let (since, pieces) = self.counted;
        let elapsed = since.elapsed();
        let wait = if self.rate > 0.0 { Duration::from_secs(1) } else { Duration::from_millis(250) };
        if elapsed >= wait {
            self.rate = self.show.game.pieces().saturating_sub(pieces) as f64 / elapsed.as_secs_f64();
            self.counted = (Instant::now(), self.show.game.pieces());
        }
    }

    fn press(&mut self, key: KeyEvent) -> Key {
        if self.help {
            self.help = false;
            if !matches!(key.code, KeyCode::Char('q' | 'c')) {
                return Key::Stay;
            }
        }
        match key.code {
            KeyCode::Char('c') if key.modifiers.contains(KeyModifiers::CONTROL) => return Key::Quit,
            KeyCode::Char('q') | KeyCode::Esc => return Key::Quit,
            KeyCode::Char(' ') => self.paused = !self.paused,
            KeyCode::Char('s') | KeyCode::Right => {
                self.paused = true;
                self.show.step();
            }
            KeyCode::Char('+' | '=') | KeyCode::Up => self.speed = faster(self.speed),
            KeyCode::Char('-') | KeyCode::Down => self.speed = slower(self.speed),
            KeyCode::Char('n') => {
                self.show.restart(self.show.index.wrapping_add(1));
                self.counted = (Instant::now(), 0);
                self.rate = 0.0;
            }
            KeyCode::Char('?' | 'h') => self.help = true,
            _ => return Key::Stay,
        }
        self.due = Instant::now() + self.interval();
        Key::Stay
    }

    fn draw(&mut self, frame: &mut Frame<'_>) {
        let [well, side, keys] = terminal::areas(frame, self.show.rules.height());
        let [facts, values] = Layout::vertical([Constraint::Length(11), Constraint::Min(0)]).areas(side);
        let values = Rect { height: values.height.min(SHOWN as u16 + 3), ..values };

        let decision = self.show.decision();
        self.draw_well(frame, well, decision.as_ref());
        self.draw_facts(frame, facts);
        self.draw_values(frame, values, decision.as_ref());
        let hint = " space pause   s step   + - speed   n new game   ? help   q quit";
        frame.render_widget(Line::from(hint).dim(), keys);
        if self.help {
            terminal::help(frame, &KEYS);
        }
    }

    fn draw_well(&self, frame: &mut Frame<'_>, area: Rect, decision: Option<&(Piece, Judgements)>) {
        let height = self.show.rules.height();
        // Where the piece will land, and where it is seen falling.
        let chosen = decision.and_then(|(piece, judged)| Some((*piece, &judged.placements[judged.chosen?])));
        let (mut ghost, mut falling) = (vec![], vec![]);
        if let Some((piece, judged)) = chosen {
            let row = usize::from(judged.landing.row);
            ghost = stack::cells(piece, judged.placement, row);
            if self.paused || self.speed.is_some_and(|speed| speed <= FALLING) {
                let top = (height - judged.placement.shape(piece).height).max(row);
                let left = self.due.saturating_duration_since(Instant::now()).as_secs_f64();
                let part =
                    if self.paused { 1.0 } else { (left / self.interval().as_secs_f64()).clamp(0.0, 1.0) };
                let seen = row + ((top - row) as f64 * part).round() as usize;
                falling = stack::cells(piece, judged.placement, seen);
            }
        }
        let cell = |x, y| match (chosen, self.show.cell(x, y)) {
            (Some((piece, _)), _) if falling.contains(&(x, y)) => Cell::Falling(piece),
            (Some((piece, _)), Cell::Empty) if ghost.contains(&(x, y)) => Cell::Ghost(piece),
            (_, lying) => lying,
        };
        let title = match (self.show.game.is_over(), self.show.has_ended(), self.paused) {
            (true, ..) => " game over ".to_owned(),
            (_, true, _) => " stopped ".to_owned(),
            (.., true) => " paused ".to_owned(),
            _ => format!(" {} ", self.show.args.player.player),
        };
        self.brush.well(frame, area, title, height, cell);
    }

    fn draw_facts(&self, frame: &mut Frame<'_>, area: Rect) {
        let show = &*self.show;
        let game = &show.game;
        let speed = match self.speed {
            None => "unlimited".into(),
            Some(speed) => format!("{speed}/s"),
        };
        let facts = [
            ("lines", figures::grouped(game.lines())),
            ("pieces", figures::grouped(game.pieces())),
            ("height", format!("{} of {}", game.well().max_height(), show.rules.height())),
            ("pieces/s", format!("{} (speed {speed})", figures::short(self.rate))),
            ("source", show.args.rules.pieces.to_string()),
            ("engine", show.controller.engine().name().into()),
            ("seed", show.seed.to_string()),
            ("game", show.index.to_string()),
            ("digest", format!("{:016x}", game.digest())),
        ];
        terminal::facts(frame, area, " game ", &facts);
    }

    fn draw_values(&self, frame: &mut Frame<'_>, area: Rect, decision: Option<&(Piece, Judgements)>) {
        let Some((piece, judgements)) = decision else {
            let text = Paragraph::new(" press n for the next game").block(Block::bordered());
            frame.render_widget(text, area);
            return;
        };
        let mut ranking = judgements.ranking();
        // With look-ahead or rescue the chosen one need not have the highest value.
        ranking.sort_by_key(|&i| judgements.chosen != Some(i));
        let mut lines = vec![Line::from("   turn column      value   below").dim()];
        let best = ranking.iter().filter_map(|&i| judgements.placements[i].value).max().unwrap_or(0);
        for &i in ranking.iter().take(SHOWN) {
            let judged = &judgements.placements[i];
            let value = judged.value.unwrap_or(best);
            let chosen = judgements.chosen == Some(i);
            let mut text = String::new();
            // A String takes everything.
            let _ = write!(
                text,
                " {} {:>4} {:>6} {value:>10} {:>7}",
                if chosen { '>' } else { ' ' },
                judged.placement.orientation,
                judged.placement.column,
                best - value
            );
            let line = Line::from(text);
            lines.push(if chosen { line.bold() } else { line });
        }
        let next: Vec<String> = self.upcoming().iter().map(Piece::to_string).collect();
        let then = if next.is_empty() { String::new() } else { format!(", then {}", next.join(" ")) };
        let title = format!(" {piece}: best of {}{then} ", judgements.placements.len());
        let title = self.brush.title(*piece, title);
        frame.render_widget(Paragraph::new(lines).block(Block::bordered().title(title)), area);
    }

    /// The pieces that the player knows to come.
    fn upcoming(&self) -> Vec<Piece> {
        // A look at the queue may draw from it, so look at a copy.
        let mut game = self.show.game.clone();
        game.upcoming(self.show.controller.options().lookahead).iter().skip(1).copied().collect()
    }
}

const KEYS: [&str; 11] = [
    " space        pause and go on",
    " s, right     one piece, then pause",
    " + -, up down faster, slower; past 1000: unlimited",
    " n            the seed's next game",
    " q, Esc       quit",
    "",
    " [] the falling and the last piece",
    " :: where the piece will land",
    " value        what the player thinks of a placement;",
    "              the highest is chosen",
    "",
];

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;
    use dropwise_core::Player;
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        args: WatchArgs,
    }

    /// Plays some pieces and draws the screen at this size.
    fn drawn_at(width: u16, height: u16, arguments: &[&str], pieces: usize, help: bool) -> String {
        let args = Line::parse_from([&["watch"], arguments].concat()).args;
        let controller = args.control.controller(Player::known("bcts").unwrap()).unwrap();
        let loaded = args.rules.load().unwrap();
        let mut show = Show::new(&args, controller, loaded.rules(), 1, 0);
        for _ in 0..pieces {
            show.step();
        }
        let mut screen =
            Screen { help, paused: true, brush: Brush { colour: false }, ..Screen::new(&mut show) };
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        terminal.draw(|frame| screen.draw(frame)).unwrap();
        terminal.backend().to_string()
    }

    #[test]
    fn the_screen_shows_the_board_the_facts_and_the_values() {
        let screen = drawn_at(80, 24, &["--board", "10x10"], 3, false);
        for part in
            ["OO", "pieces   3", "lines    0", "seed     1", "digest", "best of", "> ", "q quit", "paused"]
        {
            assert!(screen.contains(part), "{part} in\n{screen}");
        }
        let ended = drawn_at(80, 24, &["--board", "10x4"], 100_000, false);
        assert!(ended.contains("game over") && ended.contains("press n"), "{ended}");
        let stopped = drawn_at(80, 24, &["--max-pieces", "2"], 5, false);
        assert!(stopped.contains("stopped") && stopped.contains("pieces   2"), "{stopped}");
        assert!(drawn_at(80, 24, &[], 0, true).contains("any key closes"));
        assert!(drawn_at(80, 24, &["--lookahead", "2"], 9, false).contains(", then "));
    }

    #[test]
    fn no_screen_is_too_small_or_too_large() {
        for (width, height) in [(1, 1), (2, 2), (18, 3), (22, 10), (40, 12), (300, 90)] {
            for help in [false, true] {
                drawn_at(width, height, &[], 30, help);
            }
        }
    }

    #[test]
    fn speeds_go_up_to_unlimited_and_down_to_one() {
        let mut speed = Some(1.0);
        let mut seen = vec![];
        while let Some(now) = speed {
            seen.push(now);
            speed = faster(speed);
        }
        assert_eq!(seen, SPEEDS);
        assert_eq!(faster(None), None);
        for expected in SPEEDS.into_iter().rev().chain([1.0]) {
            speed = slower(speed);
            assert_eq!(speed, Some(expected));
        }
        assert_eq!(faster(Some(30.0)), Some(32.0));
        assert_eq!(slower(Some(30.0)), Some(16.0));
    }

    #[test]
    fn speeds_have_bounds() {
        assert_eq!(parse_speed("max"), Ok(None));
        assert_eq!(parse_speed("2.5"), Ok(Some(2.5)));
        for text in ["0", "-3", "nan", "inf", "fast"] {
            parse_speed(text).expect_err(text);
        }
    }
}
