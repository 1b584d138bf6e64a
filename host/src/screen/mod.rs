//! `host screen`: what a device shows, drawn on the laptop by the device's own code.

mod image;

use std::convert::Infallible;
use std::fmt::Write;
use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use dropwise_core::screen::{About, Crash, Falling, Ink, Layout, Page, Palette, Play, Scene, Screen, Speed};
use dropwise_core::well::MAX_ROWS;
use dropwise_core::{Controller, Game, Overflow, Piece, Placement, Player, Rules, Stack, Statistics, Well};
use embedded_graphics::pixelcolor::{BinaryColor, Rgb565, Rgb888};
use embedded_graphics::prelude::*;
use embedded_graphics::primitives::Rectangle;
use ratatui::crossterm::terminal;
use serde_json::json;

use crate::args::{Common, ControlArgs, PlayerArg};
use crate::figures;
use crate::output::{self, Answer, Failure};
use crate::weights::Weights;
use image::{Rows, enlarged, save};

/// Draw what a device shows, as a PNG or in the terminal
///
/// The pixels are those of the device, drawn by the same code.
#[derive(Args, Debug)]
#[command(after_help = HELP)]
pub struct ScreenArgs {
    /// Whose screen
    #[arg(long, value_enum, default_value_t)]
    board: BoardArg,

    /// Which page
    #[arg(long, value_enum, default_value_t)]
    page: PageArg,

    #[command(flatten)]
    player: PlayerArg,

    /// The position after so many pieces of the seed's game, or after its last
    #[arg(long, value_name = "N", default_value_t = 60)]
    pieces: u64,

    /// Go on from there for so many pieces, each seen falling, as an animated PNG
    #[arg(long, value_name = "N", requires = "out", value_parser = clap::value_parser!(u16).range(1..=1000))]
    moves: Option<u16>,

    #[command(flatten)]
    control: ControlArgs,

    /// How fast the game goes
    #[arg(long, value_enum, default_value_t)]
    speed: SpeedArg,

    /// The game is paused
    #[arg(long)]
    paused: bool,

    /// Pixels of the picture for each of the screen
    #[arg(long, value_name = "K", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=16))]
    scale: u8,

    /// Write a PNG; without it the picture is drawn in the terminal
    #[arg(long, value_name = "FILE.png")]
    out: Option<PathBuf>,
}

const HELP: &str = "\
The same seed, player and number of pieces give the position that the device has. Pieces per second, the device's id
and the crash are examples; the statistics are those of 100 games on a 10x10 board.

Examples:
  host screen --out game.png --scale 4
  host screen --board picosystem --player dt20 --seed 7 --pieces 1000 --out game.png
  host screen --board thumby --page weights
  host screen --moves 20 --out game.png           a moving picture
  host screen --board pico-lcd-1.3 --lookahead 2 --paused --out next.png";

/// `--board`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum BoardArg {
    /// Raspberry Pi Pico with an SSD1306, held upright: 64x128
    #[default]
    #[value(name = "pico-oled")]
    PicoOled,
    /// Pimoroni PicoSystem: 240x240, colour
    #[value(name = "picosystem")]
    PicoSystem,
    /// Raspberry Pi Pico with a Waveshare Pico-LCD-1.3: 240x240, colour
    #[value(name = "pico-lcd-1.3")]
    PicoLcd13,
    /// TinyCircuits Thumby: 72x40
    #[value(name = "thumby")]
    Thumby,
}

impl BoardArg {
    /// As the command line spells it.
    pub const fn name(self) -> &'static str {
        match self {
            BoardArg::PicoOled => "pico-oled",
            BoardArg::PicoSystem => "picosystem",
            BoardArg::PicoLcd13 => "pico-lcd-1.3",
            BoardArg::Thumby => "thumby",
        }
    }

    /// The layout of its screen.
    pub const fn layout(self) -> Layout {
        match self {
            BoardArg::PicoOled => Layout::Tall,
            BoardArg::PicoSystem | BoardArg::PicoLcd13 => Layout::Large,
            BoardArg::Thumby => Layout::Small,
        }
    }
}

/// `--page`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum PageArg {
    /// The game in play
    #[default]
    Game,
    /// The finished games
    Statistics,
    /// The player's features and their weights
    Weights,
    /// The device and how to connect it
    About,
    /// Why the device started again
    Crash,
}

impl From<PageArg> for Page {
    fn from(arg: PageArg) -> Page {
        match arg {
            PageArg::Game => Page::Game,
            PageArg::Statistics => Page::Statistics,
            PageArg::Weights => Page::Weights,
            PageArg::About => Page::About,
            PageArg::Crash => Page::Crash,
        }
    }
}

/// `--speed`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum SpeedArg {
    /// Each piece is seen falling
    #[default]
    Watch,
    /// Many pieces a second
    Fast,
    /// As many as the chip can
    Turbo,
}

impl From<SpeedArg> for Speed {
    fn from(arg: SpeedArg) -> Speed {
        arg.example().0
    }
}

impl SpeedArg {
    /// The speed, and pieces per second in tenths as an example of it.
    const fn example(self) -> (Speed, u32) {
        match self {
            SpeedArg::Watch => (Speed::Watch, 15),
            SpeedArg::Fast => (Speed::Fast, 300),
            SpeedArg::Turbo => (Speed::Turbo, 98_700),
        }
    }
}

/// The pixels of a screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture<C> {
    size: Size,
    pixels: Vec<C>,
}

impl<C: Palette + Into<Rgb888>> Picture<C> {
    /// A scene on an empty screen.
    pub fn of(layout: Layout, scene: &Scene<'_>) -> Picture<C> {
        let size = layout.size();
        let mut picture =
            Picture { size, pixels: vec![C::of(Ink::Back); (size.width * size.height) as usize] };
        let Ok(_) = Screen::new(layout).draw(&mut picture, scene);
        picture
    }

    /// The rows of colours, red, green and blue.
    fn rows(&self) -> impl Iterator<Item = Vec<[u8; 3]>> {
        let colour = |&pixel: &C| {
            let colour: Rgb888 = pixel.into();
            [colour.r(), colour.g(), colour.b()]
        };
        self.pixels.chunks(self.size.width as usize).map(move |row| row.iter().map(colour).collect())
    }
}

impl<C> OriginDimensions for Picture<C> {
    fn size(&self) -> Size {
        self.size
    }
}

impl<C: PixelColor> DrawTarget for Picture<C> {
    type Color = C;
    type Error = Infallible;

    fn draw_iter<I: IntoIterator<Item = Pixel<C>>>(&mut self, pixels: I) -> Result<(), Infallible> {
        let area = Rectangle::new(Point::zero(), self.size);
        for Pixel(at, colour) in pixels {
            if area.contains(at) {
                self.pixels[at.x as usize + at.y as usize * self.size.width as usize] = colour;
            }
        }
        Ok(())
    }
}

/// Runs the command.
///
/// # Errors
/// See [`Failure`].
pub fn run(args: &ScreenArgs, common: Common) -> Result<Answer, Failure> {
    if let Some(path) = &args.out
        && path.extension().is_none_or(|extension| !extension.eq_ignore_ascii_case("png"))
    {
        let name = path.display();
        return Err(Failure::input(format_args!("--out writes a PNG; {name} should end in .png")));
    }
    if common.json && args.out.is_none() {
        return Err(Failure::input(
            "--json tells of the file that --out writes; give --out FILE.png as well",
        ));
    }
    let weights = args.player.load()?;
    let controller = args.control.controller(weights.player)?;
    let mut table = Table::after(args.pieces, &controller, common.seed);
    let still = table.position(HALF_WAY);
    let mut statistics = match args.page {
        PageArg::Game | PageArg::Statistics => examples(weights.player, common.seed),
        _ => Statistics::new(),
    };
    if still.finished {
        statistics.record(still.lines);
    }
    let layout = args.board.layout();
    let picture = |position: &Position| {
        let scene = scene(args, common, &weights, &statistics, position);
        let rows = match layout {
            Layout::Large => Picture::<Rgb565>::of(layout, &scene).rows().collect(),
            Layout::Tall | Layout::Small => Picture::<BinaryColor>::of(layout, &scene).rows().collect(),
        };
        enlarged(&rows, args.scale.into())
    };
    let frames: Vec<Rows> = match args.moves {
        None => vec![picture(&still)],
        Some(moves) => table.positions(moves).iter().map(picture).collect(),
    };
    let rows = &frames[0];
    let Some(path) = &args.out else {
        show(rows, layout == Layout::Large)?;
        return Ok(Answer::Yes);
    };
    let bytes = save(path, &frames, FRAME)?;
    let (name, width, height) = (path.display(), rows.first().map_or(0, Vec::len), rows.len());
    if common.json {
        output::print_json(&json!({
            "out": name.to_string(),
            "width": width,
            "height": height,
            "board": args.board.name(),
            "page": Page::from(args.page).name(),
            "frames": frames.len(),
            "player": weights.name,
            "seed": common.seed,
            "pieces": still.pieces,
            "lines": still.lines,
            "finished": still.finished,
        }))?;
    } else {
        let bytes = figures::grouped(bytes as u64);
        output::say(format_args!("Wrote {name}, {width}x{height} pixels, {bytes} bytes."));
    }
    Ok(Answer::Yes)
}

/// What is drawn of a position.
fn scene<'a>(
    args: &ScreenArgs,
    common: Common,
    weights: &'a Weights,
    statistics: &'a Statistics,
    position: &'a Position,
) -> Scene<'a> {
    let (speed, rate_tenths) = args.speed.example();
    Scene {
        page: args.page.into(),
        play: Play {
            well: &position.well,
            stack: Some(&position.stack),
            falling: position.falling,
            next: &position.next,
            lines: position.lines,
            pieces: position.pieces,
            rate_tenths,
            seed: common.seed,
            speed,
            paused: args.paused,
            finished: position.finished,
        },
        player: &weights.player,
        name: &weights.name,
        statistics,
        about: About {
            version: env!("CARGO_PKG_VERSION"),
            board: args.board.name(),
            id: "e66038b713596730",
            connect: About::CONNECT,
        },
        crash: Crash {
            kind: "panic",
            message: "index out of bounds: the len is 20 but the index is 20 (an example)",
            place: "firmware/src/main.rs:123:45",
        },
    }
}

/// What the game page shows of a game.
struct Position {
    well: Well,
    stack: Stack,
    falling: Option<Falling>,
    next: Vec<Piece>,
    lines: u64,
    pieces: u64,
    finished: bool,
}

/// How many quarters of its way a piece has before it, picture by picture.
const WAYS: [usize; 5] = [4, 3, 2, 1, 0];
const WHOLE_WAY: usize = 4;
const HALF_WAY: usize = 2;

/// How long a frame is seen.
const FRAME: Duration = Duration::from_millis(80);

/// A device's game 0.
struct Table<'a> {
    game: Game<'a>,
    stack: Stack,
    controller: &'a Controller,
}

impl<'a> Table<'a> {
    fn after(pieces: u64, controller: &'a Controller, seed: u64) -> Table<'a> {
        let mut table = Table { game: Game::new(Rules::default(), seed, 0), stack: Stack::new(), controller };
        while table.game.pieces() < pieces && table.step() {}
        table
    }

    /// Plays a piece; says whether there was one.
    fn step(&mut self) -> bool {
        let step = self.game.step(self.controller);
        if let Some(step) = &step {
            self.stack.follow(step);
        }
        step.is_some()
    }

    /// As the next piece has so many quarters of its way before it.
    fn position(&mut self, quarters: usize) -> Position {
        let well = *self.game.well();
        let upcoming = self.game.upcoming(self.controller.options().lookahead).to_vec();
        let (piece, next) = upcoming.split_first().expect("pieces come for ever");
        let chosen = self.controller.choose(&well, *piece, next, Overflow::Before);
        let chosen = chosen.filter(|_| !self.game.is_over());
        Position {
            well,
            stack: self.stack,
            falling: chosen.map(|placement| falling(&well, *piece, placement, quarters)),
            next: next.to_vec(),
            lines: self.game.lines(),
            pieces: self.game.pieces(),
            finished: chosen.is_none(),
        }
    }

    /// So many pieces falling one after the other, or as many as there are.
    fn positions(mut self, moves: u16) -> Vec<Position> {
        let mut positions = vec![];
        for _ in 0..moves {
            positions.extend(WAYS.map(|quarters| self.position(quarters)));
            if !self.step() {
                break;
            }
        }
        positions
    }
}

/// A piece between the brim and where it lands.
fn falling(well: &Well, piece: Piece, placement: Placement, quarters: usize) -> Falling {
    let landing = { *well }.drop(piece, placement, Overflow::Before).row;
    let top = (well.height() - placement.shape(piece).height).min(MAX_ROWS) as u8;
    let way = usize::from(top.saturating_sub(landing)) * quarters;
    Falling { piece, placement, row: landing + way.div_ceil(WHOLE_WAY) as u8 }
}

/// Games on a low board without look-ahead, short enough to wait for.
fn examples(player: Player, seed: u64) -> Statistics {
    const GAMES: u64 = 100;
    const HEIGHT: usize = 10;
    const MOST: u64 = 100_000;
    let controller = Controller::new(player);
    let rules = Rules::new(HEIGHT).expect("a height from 4 to 20");
    let mut statistics = Statistics::new();
    for index in 0..GAMES {
        let mut game = Game::new(rules, seed, index);
        game.play(&controller, MOST);
        statistics.record(game.lines());
    }
    statistics
}

/// Draws in the terminal, two rows of pixels in one of characters.
fn show(rows: &[Vec<[u8; 3]>], in_colour: bool) -> Result<(), Failure> {
    let width = rows.first().map_or(0, Vec::len);
    let advice = "give --out FILE.png";
    if io::stdout().is_terminal()
        && let Ok((columns, _)) = terminal::size()
        && usize::from(columns) < width
    {
        return Err(Failure::input(format_args!(
            "the picture is {width} characters wide, the terminal {columns}; {advice}"
        )));
    }
    if in_colour && (!io::stdout().is_terminal() || output::no_color()) {
        return Err(Failure::input(format_args!(
            "this screen has colours, which can only be shown on a terminal that has them; {advice}"
        )));
    }
    let black = vec![[0; 3]; width];
    let mut text = String::new();
    for pair in rows.chunks(2) {
        let (upper, lower) = (&pair[0], pair.get(1).unwrap_or(&black));
        for (up, low) in upper.iter().zip(lower) {
            let written = if in_colour {
                let [(a, b, c), (d, e, f)] = [up, low].map(|&[r, g, b]| (r, g, b));
                write!(text, "\x1b[38;2;{a};{b};{c};48;2;{d};{e};{f}m\u{2580}")
            } else {
                text.write_char(match (up[0] > 0, low[0] > 0) {
                    (true, true) => '\u{2588}',
                    (true, false) => '\u{2580}',
                    (false, true) => '\u{2584}',
                    (false, false) => ' ',
                })
            };
            debug_assert!(written.is_ok(), "a String takes everything");
        }
        text.push_str(if in_colour { "\x1b[0m\n" } else { "\n" });
    }
    output::print(text)
}
