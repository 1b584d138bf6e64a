//! `host screen`: what a device shows, drawn on the laptop by the device's own code.

use std::convert::Infallible;
use std::fmt::Write;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

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
use crate::weights::write_aside;

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
    let position = Position::after(args.pieces, &controller, common.seed);
    let mut statistics = match args.page {
        PageArg::Game | PageArg::Statistics => examples(weights.player, common.seed),
        _ => Statistics::new(),
    };
    if position.finished {
        statistics.record(position.lines);
    }
    let (speed, rate_tenths) = args.speed.example();
    let scene = Scene {
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
        statistics: &statistics,
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
    };
    let layout = args.board.layout();
    let rows: Vec<Vec<[u8; 3]>> = match layout {
        Layout::Large => Picture::<Rgb565>::of(layout, &scene).rows().collect(),
        Layout::Tall | Layout::Small => Picture::<BinaryColor>::of(layout, &scene).rows().collect(),
    };
    let rows = enlarged(&rows, args.scale.into());
    let Some(path) = &args.out else {
        show(&rows, layout == Layout::Large)?;
        return Ok(Answer::Yes);
    };
    let bytes = save(path, &rows)?;
    let (name, width, height) = (path.display(), rows.first().map_or(0, Vec::len), rows.len());
    if common.json {
        output::print_json(&json!({
            "out": name.to_string(),
            "width": width,
            "height": height,
            "board": args.board.name(),
            "page": scene.page.name(),
            "player": weights.name,
            "seed": common.seed,
            "pieces": position.pieces,
            "lines": position.lines,
            "finished": position.finished,
        }))?;
    } else {
        let bytes = figures::grouped(bytes as u64);
        output::say(format_args!("Wrote {name}, {width}x{height} pixels, {bytes} bytes."));
    }
    Ok(Answer::Yes)
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

impl Position {
    /// A device's game 0 after so many pieces, the next piece half way down.
    fn after(pieces: u64, controller: &Controller, seed: u64) -> Position {
        let mut game = Game::new(Rules::default(), seed, 0);
        let mut stack = Stack::new();
        while game.pieces() < pieces
            && let Some(step) = game.step(controller)
        {
            stack.follow(&step);
        }
        let well = *game.well();
        let upcoming = game.upcoming(controller.options().lookahead).to_vec();
        let (piece, next) = upcoming.split_first().expect("pieces come for ever");
        let chosen = controller.choose(&well, *piece, next, Overflow::Before).filter(|_| !game.is_over());
        Position {
            well,
            stack,
            falling: chosen.map(|placement| half_way(&well, *piece, placement)),
            next: next.to_vec(),
            lines: game.lines(),
            pieces: game.pieces(),
            finished: chosen.is_none(),
        }
    }
}

/// A piece between the brim and where it lands.
fn half_way(well: &Well, piece: Piece, placement: Placement) -> Falling {
    let landing = { *well }.drop(piece, placement, Overflow::Before).row;
    let top = (well.height() - placement.shape(piece).height).min(MAX_ROWS) as u8;
    Falling { piece, placement, row: landing + top.saturating_sub(landing).div_ceil(2) }
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

fn enlarged(rows: &[Vec<[u8; 3]>], scale: usize) -> Vec<Vec<[u8; 3]>> {
    let wide = |row: &Vec<[u8; 3]>| row.iter().flat_map(|&pixel| std::iter::repeat_n(pixel, scale)).collect();
    rows.iter().flat_map(|row| std::iter::repeat_n(wide(row), scale)).collect()
}

/// Writes a PNG, and tells its bytes.
fn save(path: &Path, rows: &[Vec<[u8; 3]>]) -> Result<usize, Failure> {
    let bytes = png(rows).map_err(|error| Failure::input(format_args!("cannot make a PNG: {error}")))?;
    write_aside(path, &bytes).map_err(|error| {
        Failure::input(format_args!("cannot write {}: {error}; check the path", path.display()))
    })?;
    Ok(bytes.len())
}

/// A PNG with a palette: screens have few colours.
fn png(rows: &[Vec<[u8; 3]>]) -> Result<Vec<u8>, png::EncodingError> {
    let mut palette: Vec<[u8; 3]> = vec![];
    let mut indices = vec![];
    for pixel in rows.iter().flatten() {
        let index = palette.iter().position(|colour| colour == pixel).unwrap_or_else(|| {
            palette.push(*pixel);
            palette.len() - 1
        });
        indices.push(u8::try_from(index).expect("a screen has fewer than 256 colours"));
    }
    let mut bytes = vec![];
    let width = rows.first().map_or(0, Vec::len);
    let mut encoder = png::Encoder::new(&mut bytes, width as u32, rows.len() as u32);
    encoder.set_color(png::ColorType::Indexed);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_palette(palette.concat());
    encoder.set_compression(png::Compression::High);
    encoder.write_header()?.write_image_data(&indices)?;
    Ok(bytes)
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
