//! What the display shows is what `dropwise_core::screen` draws of the same scene, pixel by pixel.

use std::convert::Infallible;
use std::path::Path;

use dropwise_core::screen::{About, Crash, Falling, Layout, Page, Palette, Play, Scene, Screen, Speed};
use dropwise_core::{Controller, Game, Player, Rules, Stack, Statistics};
use dropwise_emulator::board::UNIQUE_ID;
use dropwise_emulator::{Board, Device, Log, Picture};
use embedded_graphics::Pixel;
use embedded_graphics::draw_target::DrawTarget;
use embedded_graphics::geometry::{OriginDimensions, Size};
use embedded_graphics::pixelcolor::{BinaryColor, Rgb565, raw::RawU16};
use embedded_graphics::prelude::RawData;
use libtest_mimic::Trial;

use crate::buttons::PLAYERS;
use crate::game::spoil_first;
use crate::{Action, BOTH, FIRST, SECOND, act, act_and_see, first_game, known, ms, on_boards, tests};

pub(crate) fn tests() -> Vec<Trial> {
    let mut tests = on_boards(BOTH, tests![a_falling_piece, a_finished_game, redrawing_leaves_no_trace]);
    tests.append(&mut on_boards(&Board::ALL, tests![every_page]));
    // The others are drawn as on a board that is here.
    tests.append(&mut on_boards(&[Board::PicoOled, Board::Picosystem, Board::Thumby], tests![kept_pictures]));
    tests
}

/// A target to draw on, a word a pixel.
struct Canvas<C> {
    picture: Picture,
    word: fn(C) -> u16,
}

impl<C> OriginDimensions for Canvas<C> {
    fn size(&self) -> Size {
        Size::new(self.picture.width as u32, self.picture.height as u32)
    }
}

impl<C: Palette> DrawTarget for Canvas<C> {
    type Color = C;
    type Error = Infallible;

    fn draw_iter<I: IntoIterator<Item = Pixel<C>>>(&mut self, pixels: I) -> Result<(), Infallible> {
        for Pixel(point, colour) in pixels {
            let (x, y) = (point.x as usize, point.y as usize);
            if x < self.picture.width && y < self.picture.height {
                self.picture.pixels[y * self.picture.width + x] = (self.word)(colour);
            }
        }
        Ok(())
    }
}

const fn layout(board: Board) -> Layout {
    match board {
        Board::PicoOled => Layout::Tall,
        Board::Thumby => Layout::Small,
        Board::Picosystem | Board::PicoLcd13 => Layout::Large,
    }
}

/// A scene drawn here.
pub(crate) fn drawn(board: Board, scene: &Scene<'_>) -> Picture {
    fn draw<C: Palette>(layout: Layout, word: fn(C) -> u16, scene: &Scene<'_>) -> Picture {
        let Size { width, height } = layout.size();
        let (width, height) = (width as usize, height as usize);
        let picture = Picture { width, height, pixels: vec![0; width * height] };
        let mut canvas = Canvas { picture, word };
        let Ok(_) = Screen::new(layout).draw(&mut canvas, scene);
        canvas.picture
    }
    match layout(board) {
        Layout::Large => draw(Layout::Large, |colour: Rgb565| RawU16::from(colour).into_inner(), scene),
        mono => draw(mono, |colour: BinaryColor| if colour.is_on() { u16::MAX } else { 0 }, scene),
    }
}

#[track_caller]
pub(crate) fn assert_shows(device: &mut Device, name: &str, scene: &Scene<'_>) {
    let expected = drawn(device.board(), scene);
    assert_is(device, name, &expected);
}

/// Whether the display shows a picture.
#[track_caller]
fn assert_is(device: &mut Device, name: &str, expected: &Picture) {
    let shown = device.picture();
    if shown == *expected {
        return;
    }
    let name = format!("{}-{name}", device.board().name());
    let differing = shown.pixels.iter().zip(&expected.pixels).filter(|(a, b)| a != b).count();
    panic!(
        "{differing} pixels of {name} differ: {} is shown, {} is right\n{shown}\n{expected}",
        shown.save(&format!("{name}-shown")).display(),
        expected.save(&format!("{name}-right")).display(),
    );
}

pub(crate) fn unique_id() -> String {
    UNIQUE_ID.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A game played here up to where the device's is, with what the screen needs of it.
pub(crate) struct Replay {
    player: Player,
    game: Game<'static>,
    seed: u64,
    stack: Stack,
    id: String,
    pub(crate) statistics: Statistics,
}

impl Replay {
    /// The game of the log after so many pieces, or to its end.
    pub(crate) fn new(player: Player, log: &Log, pieces: u64) -> Replay {
        let seed = log.number("seed");
        let (mut game, mut stack) = (Game::new(Rules::default(), seed, 0), Stack::new());
        let controller = Controller::on_device(player, game.rules().height());
        while game.pieces() < pieces
            && let Some(step) = game.step(&controller)
        {
            stack.follow(&step);
        }
        Replay { player, game, seed, stack, id: unique_id(), statistics: Statistics::new() }
    }

    /// The piece that the player would place next, in a row of its fall.
    fn falling(&self, row: u8) -> Option<Falling> {
        let step = self.game.clone().step(&Controller::on_device(self.player, self.game.rules().height()))?;
        Some(Falling { piece: step.piece, placement: step.placement, row })
    }

    /// The rows in which the next piece falls, if a picture shows that.
    pub(crate) fn rows_of_fall(&self, board: Board, paused: bool, shown: &Picture) -> Vec<u8> {
        let looks_like = |&row: &u8| {
            let mut scene = self.scene(board, Page::Game, Speed::Watch, self.falling(row));
            scene.play.paused = paused;
            drawn(board, &scene) == *shown
        };
        (0..20).filter(looks_like).collect()
    }

    pub(crate) fn scene(
        &self,
        board: Board,
        page: Page,
        speed: Speed,
        falling: Option<Falling>,
    ) -> Scene<'_> {
        Scene {
            page,
            play: Play {
                well: self.game.well(),
                stack: (layout(board) == Layout::Large).then_some(&self.stack),
                falling,
                next: &[],
                lines: self.game.lines(),
                pieces: self.game.pieces(),
                rate_tenths: 0,
                seed: self.seed,
                speed,
                paused: true,
                finished: false,
            },
            player: &self.player,
            name: FIRST,
            statistics: &self.statistics,
            about: About {
                version: env!("CARGO_PKG_VERSION"),
                board: board.name(),
                id: &self.id,
                connect: About::CONNECT,
            },
            crash: Crash::NONE,
        }
    }
}

/// Pauses the game and lands the piece that falls: a scene that follows from seed and pieces alone.
fn settle(device: &mut Device) -> u64 {
    act_and_see(device, Action::Pause, "paused=true");
    act(device, Action::Step);
    device.run(ms(100));
    u64::from(device.word("DROPWISE_PIECES"))
}

fn every_page(board: Board) {
    let mut device = Device::start(board);
    let game = first_game(&mut device);
    act_and_see(&mut device, Action::Speed, "speed=fast");
    device.run(2 * SECOND);
    let pieces = settle(&mut device);
    assert!(pieces > 40, "{pieces} pieces");
    let replay = Replay::new(known(FIRST), &game, pieces);
    for page in [Page::Game, Page::Statistics, Page::Weights, Page::About, Page::Game] {
        device.run(ms(100));
        assert_shows(&mut device, page.name(), &replay.scene(board, page, Speed::Fast, None));
        act(&mut device, Action::Page);
    }
}

/// In mid-air: the row is not told, so it is one of those that the piece passes.
fn a_falling_piece(board: Board) {
    let mut device = Device::start(board);
    let game = first_game(&mut device);
    device.run(ms(1700));
    act_and_see(&mut device, Action::Pause, "paused=true");
    device.run(ms(100));
    let pieces = u64::from(device.word("DROPWISE_PIECES"));
    let replay = Replay::new(known(FIRST), &game, pieces);
    let shown = device.picture();
    let rows = replay.rows_of_fall(board, true, &shown);
    assert_eq!(rows.len(), 1, "rows that look like it after {pieces} pieces:\n{shown}");
}

fn a_finished_game(board: Board) {
    let mut device = Device::off(board, 3);
    let loser = spoil_first(&mut device);
    device.power_on();
    let game = first_game(&mut device);
    act_and_see(&mut device, Action::Speed, "speed=fast");
    device.expect_log(30 * SECOND, "end ");
    device.run(ms(200));
    let mut replay = Replay::new(loser, &game, u64::MAX);
    replay.statistics.record(replay.game.lines());
    let mut scene = replay.scene(board, Page::Game, Speed::Fast, None);
    (scene.play.paused, scene.play.finished) = (false, true);
    // The rate at which the last pieces came is not told.
    let shown = device.picture();
    let matching = (0..=400).find(|&tenths| {
        scene.play.rate_tenths = tenths;
        drawn(board, &scene) == shown
    });
    if matching.is_none() {
        scene.play.rate_tenths = 303;
        assert_shows(&mut device, "finished", &scene);
    }
    // The game counts, whatever is being played by now.
    act_and_see(&mut device, Action::Page, "page=statistics");
    device.run(ms(100));
    assert_shows(&mut device, "statistics", &replay.scene(board, Page::Statistics, Speed::Fast, None));
}

/// Pages that do not depend on the game are those that `host screen` drew and somebody has looked at.
fn kept_pictures(board: Board) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../host/tests/data/screens");
    let assert_kept = |device: &mut Device, name: &str| {
        device.run(ms(100));
        let kept = Picture::read(&folder.join(format!("{}-{name}.png", board.name())));
        assert_is(device, name, &kept);
    };
    let mut device = Device::start(board);
    first_game(&mut device);
    for page in ["statistics", "weights", "about", "game"] {
        act_and_see(&mut device, Action::Page, &format!("page={page}"));
        if page == "weights" || page == "about" {
            assert_kept(&mut device, page);
        }
    }
    for player in &PLAYERS[1..=PLAYERS.iter().position(|&name| name == "bdu").unwrap_or(0)] {
        act_and_see(&mut device, Action::Player, &format!("player={player}"));
    }
    act(&mut device, Action::Page);
    act_and_see(&mut device, Action::Page, "page=weights");
    assert_kept(&mut device, "weights-28");
}

/// Redrawing only what changed leaves no trace: after many frames the picture is that of the last scene alone.
fn redrawing_leaves_no_trace(board: Board) {
    let mut device = Device::seeded(board, 4);
    let game = first_game(&mut device);
    act_and_see(&mut device, Action::Speed, "speed=fast");
    for _ in 0..4 {
        device.run(3 * SECOND);
        for _ in 0..4 {
            act(&mut device, Action::Page);
        }
    }
    let pieces = settle(&mut device);
    let replay = Replay::new(known(FIRST), &game, pieces);
    assert_shows(&mut device, "redrawn", &replay.scene(board, Page::Game, Speed::Fast, None));
}
