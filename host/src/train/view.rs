//! What a person or a program sees of a run while it learns.
//!
//! - On a terminal: a few lines at the bottom of the screen, drawn anew ten times a second.
//! - Where standard error is not a terminal: a line an iteration, and now and then one within a long iteration.
//! - With `--json`: the rows of the metrics on standard output.

use std::io::{self, IsTerminal, Stderr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use ratatui::backend::CrosstermBackend;
use ratatui::layout::{Constraint, Layout};
use ratatui::style::{Color, Style, Stylize};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Gauge, Paragraph, Sparkline};
use ratatui::{Frame, Terminal, TerminalOptions, Viewport};

use super::config::Config;
use super::run::Row;
use crate::arena::Progress;
use crate::figures;
use crate::output::{self, Failure};

/// How often the screen is drawn anew, and Ctrl-C looked for.
const FRAME: Duration = Duration::from_millis(100);
/// How long it may be silent where there is no screen.
const PLAIN: Duration = Duration::from_secs(20);
/// Lines of the screen.
const HEIGHT: u16 = 8;

/// What is being played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The candidates of an iteration.
    Training {
        /// Which, from 1.
        iteration: u64,
        /// How many candidates.
        candidates: usize,
    },
    /// The favourite after an iteration.
    Measuring {
        /// Which, from 1.
        iteration: u64,
    },
    /// The last favourites, to choose one.
    Selecting {
        /// How many.
        candidates: usize,
    },
    /// The chosen player.
    Scoring,
}

impl Phase {
    fn describe(self, iterations: u64) -> String {
        match self {
            Phase::Training { iteration, candidates } => {
                format!("iteration {iteration} of {iterations}: {candidates} candidates play")
            }
            Phase::Measuring { iteration } => {
                format!("iteration {iteration} of {iterations}: the favourite plays")
            }
            Phase::Selecting { candidates } => {
                format!("choosing among {candidates} favourites on fresh games")
            }
            Phase::Scoring => "measuring the chosen player on games never used before".into(),
        }
    }
}

/// How a race stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RaceState {
    /// Games that each racing candidate has played.
    pub round: u64,
    /// The most they will play.
    pub limit: u64,
    /// Candidates still racing.
    pub racing: usize,
}

impl RaceState {
    fn describe(self) -> String {
        format!("race: {} still racing, game {} of at most {}", self.racing, self.round, self.limit)
    }
}

#[derive(Debug)]
struct State {
    phase: Phase,
    /// Games of the phase, unless a race ends it earlier.
    games: u64,
    race: Option<RaceState>,
    rows: Vec<Row>,
    progress: Arc<Progress>,
}

/// The view of a run.
#[derive(Debug)]
pub struct View {
    name: String,
    iterations: u64,
    training: String,
    json: bool,
    interrupted: &'static AtomicBool,
    /// Whether there is a screen to draw on; a terminal that does not answer is none.
    screen: AtomicBool,
    start: Instant,
    /// Iterations that were done before this program began.
    before: usize,
    state: Mutex<State>,
}

/// Ctrl-C was pressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interrupted;

impl View {
    /// The view of a run that has these rows already; `interrupted` is set by Ctrl-C.
    pub fn new(
        config: &Config,
        name: &str,
        rows: Vec<Row>,
        json: bool,
        interrupted: &'static AtomicBool,
    ) -> View {
        let before = rows.len();
        let state = State { phase: Phase::Scoring, games: 0, race: None, rows, progress: Arc::default() };
        View {
            name: name.to_owned(),
            iterations: config.iterations,
            training: format!(
                "{} learns {} on {}, seed {}",
                config.method.name().name(),
                config.set,
                config.training.describe(),
                config.seed
            ),
            json,
            interrupted,
            screen: AtomicBool::new(
                io::stderr().is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb"),
            ),
            start: Instant::now(),
            before,
            state: Mutex::new(state),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Something else is played from now on. The games report to what this returns, and end soon after Ctrl-C.
    pub fn begin(&self, phase: Phase, games: u64) -> Arc<Progress> {
        let progress = Arc::new(Progress::default());
        let mut state = self.state();
        (state.phase, state.games, state.race) = (phase, games, None);
        state.progress = Arc::clone(&progress);
        drop(state);
        if self.interrupted.load(Ordering::Relaxed) {
            progress.stop();
        }
        progress
    }

    /// How the race stands.
    pub fn race(&self, race: RaceState) {
        self.state().race = Some(race);
    }

    /// Whether what was played can be used: games that Ctrl-C broke off cannot.
    ///
    /// # Errors
    /// If Ctrl-C was pressed.
    pub fn check(&self) -> Result<(), Interrupted> {
        if self.interrupted.load(Ordering::Relaxed) { Err(Interrupted) } else { Ok(()) }
    }

    /// An iteration is complete.
    ///
    /// # Errors
    /// If standard output does not take it.
    pub fn row(&self, row: Row) -> Result<(), Failure> {
        if self.json {
            output::print_json(&row)?;
        } else if !self.screen.load(Ordering::Relaxed) {
            output::say(plain(&row, self.iterations));
        }
        self.state().rows.push(row);
        Ok(())
    }

    /// Shows the run while the work goes on.
    pub fn during<T>(&self, work: impl FnOnce() -> T) -> T {
        thread::scope(|scope| {
            // Dropping the sender when the work is done ends the display.
            let (over, watch) = mpsc::channel::<()>();
            scope.spawn(move || self.show(&watch));
            let done = work();
            drop(over);
            done
        })
    }

    fn show(&self, watch: &mpsc::Receiver<()>) {
        let mut terminal = if self.screen.load(Ordering::Relaxed) { open() } else { None };
        self.screen.store(terminal.is_some(), Ordering::Relaxed);
        let mut told = Instant::now();
        let mut rows = self.before;
        if !self.json && terminal.is_none() {
            output::say(format_args!("{}: {}", self.name, self.training));
        }
        while watch.recv_timeout(FRAME) == Err(mpsc::RecvTimeoutError::Timeout) {
            let state = self.state();
            if self.interrupted.load(Ordering::Relaxed) {
                state.progress.stop();
            }
            if let Some(terminal) = &mut terminal {
                // A frame that could not be drawn is followed by another.
                let _ = terminal.draw(|frame| self.draw(frame, &state));
            } else if !self.json && state.rows.len() == rows && told.elapsed() >= PLAIN {
                output::say(self.status(&state));
                told = Instant::now();
            } else if state.rows.len() != rows {
                (rows, told) = (state.rows.len(), Instant::now());
            }
        }
        if let Some(terminal) = &mut terminal {
            // What comes next starts where the view began.
            let _ = terminal.clear();
            let _ = terminal.show_cursor();
        }
    }

    /// What is played just now, and how far it is.
    fn status(&self, state: &State) -> String {
        let done = figures::grouped(state.progress.ended().len());
        let what = state.phase.describe(self.iterations);
        let race = state.race.map_or(String::new(), |race| format!("; {}", race.describe()));
        format!("{what}, {done} of {} games{race}", figures::grouped(state.games))
    }

    /// The time that the remaining iterations take, if they take as long as the last ones did.
    fn left(&self, state: &State) -> Option<Duration> {
        let recent = &state.rows[self.before.min(state.rows.len())..];
        let window = &recent[recent.len().saturating_sub(6)..];
        let (first, last) = (window.first()?, window.last()?);
        let steps = last.iteration.checked_sub(first.iteration).filter(|&steps| steps > 0)?;
        let each = (last.seconds - first.seconds).max(0.0) / steps as f64;
        Some(Duration::from_secs_f64(each * self.iterations.saturating_sub(last.iteration) as f64))
    }

    fn draw(&self, frame: &mut Frame<'_>, state: &State) {
        let accent = if output::no_color() { Style::new().bold() } else { Style::new().fg(Color::Cyan) };
        let [title, phase, best, spread, curve, bar, time] = Layout::vertical([
            Constraint::Length(1),
            Constraint::Length(1),
            Constraint::Length(1),
            Constraint::Length(1),
            Constraint::Length(2),
            Constraint::Length(1),
            Constraint::Length(1),
        ])
        .areas(frame.area());
        let heading = Line::from(vec![
            Span::from(self.name.clone()).bold(),
            Span::from(format!("  {}", self.training)).dim(),
        ]);
        frame.render_widget(Paragraph::new(heading), title);

        let done = state.progress.ended().len();
        let mut what = state.phase.describe(self.iterations);
        if let Phase::Training { candidates, .. } = state.phase
            && state.race.is_none()
            && state.games > 0
        {
            let each = (state.games / candidates.max(1) as u64).max(1);
            what = format!("{what}, {} done", done / each);
        }
        if let Some(race) = state.race {
            what = format!("{what}; {}", race.describe());
        }
        frame.render_widget(Paragraph::new(what), phase);

        if let Some(row) = state.rows.last() {
            let mut line = vec![Span::from("favourite "), Span::styled(score(row), accent)];
            if row.games_spared > 0 {
                let all = row.games + row.games_spared;
                line.push(
                    Span::from(format!("  races spare {} % of the games", 100 * row.games_spared / all))
                        .dim(),
                );
            }
            frame.render_widget(Paragraph::new(Line::from(line)), best);
            let text =
                format!("spread {:.4}  {} pieces placed", row.spread, figures::short(row.pieces as f64));
            frame.render_widget(Paragraph::new(text).dim(), spread);
        }
        // The newest that fit; from zero, so that a step up looks as large as it is.
        let width = usize::from(curve.width);
        let from = state.rows.len().saturating_sub(width);
        let heights = state.rows[from..].iter().map(|row| (row.mean * 100.0) as u64);
        frame.render_widget(Sparkline::default().data(heights.collect::<Vec<u64>>()).style(accent), curve);

        let ratio = if state.games == 0 { 0.0 } else { (done as f64 / state.games as f64).min(1.0) };
        let label = format!("{} of {} games", figures::grouped(done), figures::grouped(state.games));
        let gauge = Gauge::default().ratio(ratio).label(label).gauge_style(accent).use_unicode(true);
        frame.render_widget(gauge, bar);

        let left = self
            .left(state)
            .map_or(String::new(), |left| format!(", {} of training left", figures::time(left)));
        let text =
            format!("{} so far{left}; Ctrl-C stops, --resume goes on", figures::time(self.start.elapsed()));
        frame.render_widget(Paragraph::new(text).dim(), time);
    }
}

/// A few lines at the bottom, if the terminal can be drawn on.
fn open() -> Option<Terminal<CrosstermBackend<Stderr>>> {
    let options = TerminalOptions { viewport: Viewport::Inline(HEIGHT) };
    Terminal::with_options(CrosstermBackend::new(io::stderr()), options).ok()
}

/// The favourite's mean with its interval.
fn score(row: &Row) -> String {
    let half = row.ci95_high.map_or(String::new(), |high| format!(" +-{}", figures::lines(high - row.mean)));
    format!("{}{half} lines", figures::lines(row.mean))
}

/// An iteration as a line.
fn plain(row: &Row, iterations: u64) -> String {
    format!(
        "iteration {:>3} of {iterations}: favourite {}, spread {:.4}, {} pieces, {}",
        row.iteration,
        score(row),
        row.spread,
        figures::short(row.pieces as f64),
        figures::time(Duration::from_secs_f64(row.seconds.max(0.0)))
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::preset;
    use ratatui::backend::TestBackend;

    static NEVER: AtomicBool = AtomicBool::new(false);

    fn row(iteration: u64) -> Row {
        Row {
            iteration,
            seconds: iteration as f64 * 0.5,
            pieces: 1_500_000 * iteration,
            games: 300 * iteration,
            games_spared: 700 * iteration,
            fitness: [500.0, 300.0, 10.0],
            mean: 40.0 * iteration as f64,
            ci95_low: Some(30.0 * iteration as f64),
            ci95_high: Some(50.0 * iteration as f64),
            spread: 0.5 / iteration as f64,
            weights: vec![1.0; 9],
            digest: String::new(),
        }
    }

    fn drawn(view: &View, width: u16, height: u16) -> String {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("a backend in memory");
        terminal.draw(|frame| view.draw(frame, &view.state())).expect("drawn");
        let buffer = terminal.backend().buffer();
        let lines = buffer.content().chunks(usize::from(width));
        lines.map(|line| line.iter().map(|cell| cell.symbol()).collect::<String>() + "\n").collect()
    }

    #[test]
    fn the_screen_tells_all() {
        let view = View::new(&preset::default(), "run", (1..=3).map(row).collect(), false, &NEVER);
        view.begin(Phase::Training { iteration: 4, candidates: 20 }, 2000);
        view.race(RaceState { round: 5, limit: 12, racing: 9 });
        view.state().rows.extend([row(4), row(5)]);
        let text = drawn(&view, 120, HEIGHT);
        for told in [
            "run  cma-es learns dt on 10x20 hard:4, seed 1",
            "iteration 4 of 70: 20 candidates play; race: 9 still racing, game 5 of at most 12",
            "favourite 200 +-50 lines  races spare 70 % of the games",
            "spread 0.1000  7.50 M pieces placed",
            "0 of 2,000 games",
            "32.5 s of training left",
        ] {
            assert!(text.contains(told), "{told} is missing from\n{text}");
        }
    }

    #[test]
    fn every_size_can_be_drawn() {
        let view = View::new(&preset::default(), "run", (1..=300).map(row).collect(), false, &NEVER);
        for (width, height) in [(1, 1), (5, 3), (20, 8), (200, 8), (80, 40)] {
            drawn(&view, width, height);
        }
    }
}
