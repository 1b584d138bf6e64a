//! The device's game, drawn on a terminal and driven by keys.

use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use dropwise_core::Speed;
use dropwise_core::wire::Request;
use ratatui::Frame;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::{Constraint, Layout};
use ratatui::style::Stylize;
use ratatui::text::Line;

use super::{Standing, WatchArgs, Watcher};
use crate::device::{hexadecimal, rules_words};
use crate::figures;
use crate::link::mirror::Mirror;
use crate::link::{LinkError, Profile};
use crate::output::Failure;
use crate::terminal::{self, Brush, FRAME};

const KEYS: [&str; 9] = [
    " space        pause and go on",
    " s, right     one piece, then pause",
    " + -, up down faster, slower: watch, fast, turbo",
    " n            give this game up, start another",
    " q, Esc       quit; the device plays on",
    "",
    " []           the last piece",
    " check        whether this laptop, playing the same",
    "              game, makes the same moves",
];

const HINT: &str = " space pause   s step   + - speed   n new game   ? help   q quit";

/// Draws until there is nothing more to see.
pub(super) fn run(watcher: &mut Watcher, args: &WatchArgs, ending: &AtomicBool) -> Result<(), Failure> {
    terminal::with_screen(|terminal| {
        let mut view = View { brush: Brush::new(), help: false, told: None };
        while !watcher.is_done(args, ending) {
            let profile = watcher.link.profile().clone();
            terminal.draw(|frame| {
                view.draw(frame, &profile, watcher.mirror.as_ref(), watcher.standing.as_ref());
            })?;
            let next = Instant::now() + FRAME;
            while let Some(key) = terminal::key(Duration::ZERO)? {
                if !view.press(key, watcher)? {
                    return Ok(());
                }
            }
            while watcher.news(args, next.saturating_duration_since(Instant::now()))?.is_some() {
                if Instant::now() >= next {
                    break;
                }
            }
        }
        Ok(())
    })
}

struct View {
    brush: Brush,
    help: bool,
    /// What the device said to the last key, if it refused.
    told: Option<String>,
}

impl View {
    /// Does what a key asks for: whether to go on.
    fn press(&mut self, key: KeyEvent, watcher: &mut Watcher) -> Result<bool, LinkError> {
        if std::mem::take(&mut self.help) && !matches!(key.code, KeyCode::Char('q' | 'c')) {
            return Ok(true);
        }
        self.told = None;
        let (speed, paused) =
            watcher.standing.map_or((Speed::Watch, false), |standing| (standing.speed, standing.paused));
        let request = match key.code {
            KeyCode::Char('c') if key.modifiers.contains(KeyModifiers::CONTROL) => return Ok(false),
            KeyCode::Char('q') | KeyCode::Esc => return Ok(false),
            KeyCode::Char('?' | 'h') => {
                self.help = true;
                return Ok(true);
            }
            KeyCode::Char(' ') => Request::Pause { paused: !paused },
            KeyCode::Char('s') | KeyCode::Right => Request::Step,
            KeyCode::Char('+' | '=') | KeyCode::Up => Request::Speed { speed: faster(speed) },
            KeyCode::Char('-') | KeyCode::Down => Request::Speed { speed: slower(speed) },
            KeyCode::Char('n') => {
                let rules = watcher.mirror.as_ref().map(Mirror::wire_rules).unwrap_or_default();
                Request::NewGame { seed: None, rules }
            }
            _ => return Ok(true),
        };
        match watcher.link.order(request) {
            Ok(()) => watcher.standing = watcher.standing.map(|standing| changed(standing, request)),
            Err(error @ LinkError::Refused { .. }) => self.told = Some(error.to_string()),
            Err(error) => return Err(error),
        }
        Ok(true)
    }

    fn draw(
        &self,
        frame: &mut Frame<'_>,
        profile: &Profile,
        mirror: Option<&Mirror>,
        standing: Option<&Standing>,
    ) {
        let height = mirror.map_or(dropwise_core::well::MAX_HEIGHT, |mirror| mirror.rules.height());
        let [well, side, keys] = terminal::areas(frame, height);
        let title = match (mirror, standing) {
            (None, _) => " waiting ".into(),
            (_, Some(Standing { paused: true, .. })) => " paused ".into(),
            (Some(mirror), _) => format!(" {} ", mirror.player),
        };
        let cell = |x, y| mirror.map_or(terminal::Cell::Empty, |mirror| mirror.cell(x, y));
        self.brush.well(frame, well, title, height, cell);
        let mut lines = vec![("device", format!("{} {}", profile.board, profile.id))];
        if let Some(mirror) = mirror {
            lines.extend(game_facts(mirror));
        }
        if let Some(standing) = standing {
            lines.extend(device_facts(standing));
        }
        if let Some(mirror) = mirror {
            lines.push(("check", mirror.check().describe()));
        }
        let rows = [Constraint::Length(lines.len() as u16 + 2), Constraint::Min(0)];
        let [facts, _] = Layout::vertical(rows).areas(side);
        terminal::facts(frame, facts, " game ", &lines);
        match &self.told {
            Some(told) => frame.render_widget(Line::from(format!(" {told}")).bold(), keys),
            None => frame.render_widget(Line::from(HINT).dim(), keys),
        }
        if self.help {
            terminal::help(frame, &KEYS);
        }
    }
}

fn game_facts(mirror: &Mirror) -> Vec<(&'static str, String)> {
    let [board, pieces, _] = rules_words(&mirror.wire_rules());
    vec![
        ("player", mirror.player.clone()),
        ("lines", figures::grouped(mirror.lines)),
        ("pieces", figures::grouped(mirror.pieces)),
        ("height", format!("{} of {}", mirror.height(), mirror.rules.height())),
        ("board", board),
        ("source", pieces),
        ("seed", mirror.seed.to_string()),
        ("digest", hexadecimal(mirror.digest)),
    ]
}

fn device_facts(standing: &Standing) -> Vec<(&'static str, String)> {
    let best = standing.best.map_or(String::new(), |best| format!(", best {} lines", figures::grouped(best)));
    vec![
        ("speed", standing.speed.name().into()),
        ("pieces/s", format!("{}", f64::from(standing.rate_tenths) / 10.0)),
        ("games", format!("{} finished{best}", figures::grouped(standing.games.into()))),
    ]
}

/// How the device stands once it did what a key asked for; it will say so itself within a second.
fn changed(standing: Standing, request: Request<'_>) -> Standing {
    match request {
        Request::Pause { paused } => Standing { paused, ..standing },
        Request::Step => Standing { paused: true, ..standing },
        Request::Speed { speed } => Standing { speed, ..standing },
        _ => standing,
    }
}

fn faster(speed: Speed) -> Speed {
    if speed == Speed::Turbo { speed } else { speed.next() }
}

fn slower(speed: Speed) -> Speed {
    match speed {
        Speed::Turbo => Speed::Fast,
        Speed::Fast | Speed::Watch => Speed::Watch,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dropwise_core::wire::{Board, GameRules};
    use dropwise_core::{Controller, Game, Player, Rules};
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    fn drawn(width: u16, height: u16, mirror: Option<&Mirror>, paused: bool, help: bool) -> String {
        let profile = Profile {
            firmware: "0.1.0".into(),
            board: "pico-oled".into(),
            id: "E660583883834B27".into(),
            sets: (vec![], 0),
            weights_format: 1,
            capacity: 8,
            max_name: 24,
        };
        let standing =
            Standing { rate_tenths: 8125, speed: Speed::Turbo, paused, games: 3, best: Some(12_345) };
        let view = View { brush: Brush { colour: false }, help, told: None };
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        terminal.draw(|frame| view.draw(frame, &profile, mirror, Some(&standing))).unwrap();
        terminal.backend().to_string()
    }

    fn mirror() -> Mirror {
        let player = Player::known("bcts").unwrap();
        let mut game = Game::new(Rules::default(), 7, 0);
        let board = Board {
            player: "bcts",
            seed: 7,
            rules: GameRules::default(),
            pieces: 0,
            lines: 0,
            digest: game.digest(),
            columns: *game.well().columns(),
        };
        let mut mirror = Mirror::new(&board, Some(player)).unwrap();
        let controller = Controller::on_device(player, game.rules().height());
        for before in 0..3 {
            let code = game.step(&controller).unwrap().code();
            assert_eq!(mirror.take(before, &code.to_le_bytes()).len(), 1);
        }
        mirror
    }

    #[test]
    fn the_screen_shows_the_board_and_the_facts() {
        let mirror = mirror();
        let screen = drawn(80, 24, Some(&mirror), false, false);
        for part in [
            "pico-oled E660583883834B27",
            "player   bcts",
            "pieces   3",
            "seed     7",
            "speed    turbo",
            "pieces/s 812.5",
            "3 finished, best 12,345 lines",
            "same moves as this laptop",
            "q quit",
        ] {
            assert!(screen.contains(part), "{part} in\n{screen}");
        }
        assert!(drawn(80, 24, Some(&mirror), true, false).contains("paused"));
        assert!(drawn(80, 24, None, false, false).contains("waiting"));
        assert!(drawn(80, 24, Some(&mirror), false, true).contains("any key closes"));
    }

    #[test]
    fn no_screen_is_too_small_or_too_large() {
        for (width, height) in [(1, 1), (2, 2), (18, 3), (22, 10), (40, 12), (300, 90)] {
            for help in [false, true] {
                drawn(width, height, Some(&mirror()), false, help);
                drawn(width, height, None, true, help);
            }
        }
    }

    #[test]
    fn speeds_have_ends() {
        assert_eq!(Speed::ALL.map(faster), [Speed::Fast, Speed::Turbo, Speed::Turbo]);
        assert_eq!(Speed::ALL.map(slower), [Speed::Watch, Speed::Watch, Speed::Fast]);
    }
}
