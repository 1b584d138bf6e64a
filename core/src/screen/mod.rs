//! What the device shows, drawn on any `embedded-graphics` target.
//!
//! Plain data goes in, a [`Scene`]; pixels come out. A [`Screen`] remembers what it has drawn and draws only what
//! has changed since.
//!
//! ```
//! use dropwise_core::screen::{About, Crash, Layout, Page, Play, Scene, Screen, Speed};
//! use dropwise_core::statistics::Statistics;
//! use dropwise_core::{Player, Well};
//! use embedded_graphics::mock_display::MockDisplay;
//! use embedded_graphics::pixelcolor::BinaryColor;
//!
//! let (well, statistics) = (Well::new(20).unwrap(), Statistics::new());
//! let player = Player::known("bcts").unwrap();
//! let mut scene = Scene {
//!     page: Page::Game,
//!     play: Play {
//!         well: &well,
//!         stack: None,
//!         falling: None,
//!         next: &[],
//!         lines: 12,
//!         pieces: 34,
//!         rate_tenths: 15,
//!         seed: 7,
//!         speed: Speed::Watch,
//!         paused: false,
//!         finished: false,
//!     },
//!     player: &player,
//!     name: "bcts",
//!     statistics: &statistics,
//!     about: About { version: "0.1.0", board: "pico-oled", id: "e66038b713596730", connect: About::CONNECT },
//!     crash: Crash::NONE,
//! };
//! # let mut display = MockDisplay::<BinaryColor>::new();
//! # display.set_allow_out_of_bounds_drawing(true);
//! # display.set_allow_overdraw(true);
//! let mut screen = Screen::new(Layout::Tall);
//! let first = screen.draw(&mut display, &scene).unwrap();
//! let same = screen.draw(&mut display, &scene).unwrap();
//! assert!(first.pixels > 0 && same.pixels == 0);
//! ```

mod about;
mod canvas;
mod crash;
mod font;
mod game;
mod ink;
mod scene;
mod statistics;
mod text;
mod weights;

use embedded_graphics::draw_target::DrawTarget;
use embedded_graphics::geometry::Size;
use embedded_graphics::primitives::Rectangle;

use canvas::{Arrangement, Canvas, Memory};
pub use ink::{Ink, Palette, Shade};
pub use scene::{About, Crash, Falling, Page, Play, Scene};

pub use crate::speed::Speed;

/// A size of screen with a design of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Layout {
    /// 64x128: an SSD1306 held upright.
    Tall,
    /// 72x40: the Thumby's.
    Small,
    /// 240x240: an ST7789 with colours.
    Large,
}

impl Layout {
    /// All of them.
    pub const ALL: [Layout; 3] = [Layout::Tall, Layout::Small, Layout::Large];

    /// Its pixels. A target must be at least as large; drawing starts at its top left corner.
    pub const fn size(self) -> Size {
        match self {
            Layout::Tall => Size::new(64, 128),
            Layout::Small => Size::new(72, 40),
            Layout::Large => Size::new(240, 240),
        }
    }
}

/// What a drawing did to the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Touched {
    /// The smallest rectangle around all of it; of size zero if nothing had changed.
    pub area: Rectangle,
    /// How many pixels were sent.
    pub pixels: u32,
}

/// Draws scenes, and remembers what it has drawn.
#[derive(Clone, Debug)]
pub struct Screen {
    layout: Layout,
    memory: Memory,
}

impl Screen {
    /// A screen that has drawn nothing yet.
    pub const fn new(layout: Layout) -> Screen {
        Screen { layout, memory: Memory::new() }
    }

    /// The layout.
    pub const fn layout(&self) -> Layout {
        self.layout
    }

    /// Forgets what was drawn: the next scene is drawn in full.
    pub const fn invalidate(&mut self) {
        self.memory.forget();
    }

    /// Draws what differs from the last scene. If the target fails, the next scene is drawn in full.
    ///
    /// # Errors
    /// The target's.
    pub fn draw<D>(&mut self, target: &mut D, scene: &Scene<'_>) -> Result<Touched, D::Error>
    where
        D: DrawTarget<Color: Palette>,
    {
        let layout = self.layout;
        let arrangement = match scene.page {
            Page::Game => game::arrangement(layout, scene),
            Page::Weights => Arrangement::Weights(*scene.player),
            page => Arrangement::Plain(page),
        };
        let mut canvas = Canvas::open(target, &mut self.memory, arrangement, layout.size())?;
        match scene.page {
            Page::Game => game::draw(&mut canvas, layout, scene)?,
            Page::Statistics => statistics::draw(&mut canvas, layout, scene)?,
            Page::Weights => weights::draw(&mut canvas, layout, scene)?,
            Page::About => about::draw(&mut canvas, layout, scene)?,
            Page::Crash => crash::draw(&mut canvas, layout, scene)?,
        }
        Ok(canvas.close(arrangement))
    }
}
