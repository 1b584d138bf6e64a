//! The laws of the screen: whatever came before, a scene looks the same; nothing is drawn outside or without need.

use dropwise_core::player::KNOWN;
use dropwise_core::screen::{
    About, Crash, Falling, Ink, Layout, Page, Palette, Play, Scene, Screen, Speed, Touched,
};
use dropwise_core::{
    Controller, Game, Overflow, Piece, PieceSource, Placement, Player, Set, Stack, Statistics, Well,
};
use embedded_graphics::pixelcolor::{BinaryColor, Rgb565};
use embedded_graphics::prelude::*;
use embedded_graphics::primitives::Rectangle;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use crate::generate;
use crate::rules;

/// A target that refuses what is outside, counts what it is given, and can break.
#[derive(Clone, Debug, PartialEq)]
struct Display<C> {
    size: Size,
    pixels: Vec<C>,
    /// How often each pixel was painted in the last drawing.
    painted: Vec<u8>,
    /// How many more times it takes pixels.
    patience: u32,
}

#[derive(Debug, PartialEq)]
struct Broken;

impl<C: Palette> Display<C> {
    /// As it is when it is switched on: anything.
    fn new(layout: Layout) -> Display<C> {
        let size = layout.size();
        let pixels = (0..size.width * size.height)
            .map(|i| C::of(if i % 3 == 0 { Ink::Back } else { Ink::Text }))
            .collect();
        let painted = vec![0; (size.width * size.height) as usize];
        Display { size, pixels, painted, patience: u32::MAX }
    }

    /// Draws, and holds the screen to what it says it touched.
    fn show(&mut self, screen: &mut Screen, scene: &Scene<'_>) -> Touched {
        self.painted.fill(0);
        let touched = screen.draw(self, scene).expect("a display with patience");
        assert_eq!(touched.pixels, self.painted.iter().map(|&times| u32::from(times)).sum::<u32>());
        let width = self.size.width as usize;
        let mut area: Option<(Point, Point)> = None;
        for (i, _) in self.painted.iter().enumerate().filter(|(_, times)| **times > 0) {
            let at = Point::new((i % width) as i32, (i / width) as i32);
            area = Some(area.map_or((at, at), |(a, b)| (a.component_min(at), b.component_max(at))));
        }
        let area = area.map_or(Rectangle::zero(), |(first, last)| Rectangle::with_corners(first, last));
        assert_eq!(touched.area, area);
        touched
    }
}

impl<C> OriginDimensions for Display<C> {
    fn size(&self) -> Size {
        self.size
    }
}

impl<C: PixelColor> DrawTarget for Display<C> {
    type Color = C;
    type Error = Broken;

    fn draw_iter<I: IntoIterator<Item = Pixel<C>>>(&mut self, pixels: I) -> Result<(), Broken> {
        self.patience = self.patience.checked_sub(1).ok_or(Broken)?;
        let inside = Rectangle::new(Point::zero(), self.size);
        for Pixel(at, colour) in pixels {
            assert!(inside.contains(at), "{at} is outside");
            let i = at.x as usize + at.y as usize * self.size.width as usize;
            self.pixels[i] = colour;
            self.painted[i] += 1;
        }
        Ok(())
    }

    fn fill_contiguous<I: IntoIterator<Item = C>>(
        &mut self,
        area: &Rectangle,
        colours: I,
    ) -> Result<(), Broken> {
        let colours: Vec<C> = colours.into_iter().collect();
        assert_eq!(colours.len(), (area.size.width * area.size.height) as usize, "a colour for each pixel");
        assert!(!area.is_zero_sized());
        self.draw_iter(area.points().zip(colours).map(|(at, colour)| Pixel(at, colour)))
    }

    fn fill_solid(&mut self, area: &Rectangle, colour: C) -> Result<(), Broken> {
        assert!(!area.is_zero_sized());
        self.draw_iter(area.points().map(|at| Pixel(at, colour)))
    }
}

/// A scene that owns what it shows.
#[derive(Clone, Debug)]
struct Owned {
    page: Page,
    well: Well,
    stack: Option<Stack>,
    falling: Option<Falling>,
    next: Vec<Piece>,
    counters: [u64; 3],
    rate_tenths: u32,
    speed: Speed,
    paused: bool,
    finished: bool,
    player: Player,
    name: String,
    scores: Vec<u64>,
    about: [String; 4],
    crash: [String; 3],
}

impl Owned {
    fn show<R>(&self, use_it: impl FnOnce(&Scene<'_>) -> R) -> R {
        let mut statistics = Statistics::new();
        self.scores.iter().for_each(|&lines| statistics.record(lines));
        let [lines, pieces, seed] = self.counters;
        let [version, board, id, connect] = self.about.each_ref().map(String::as_str);
        let [kind, message, place] = self.crash.each_ref().map(String::as_str);
        use_it(&Scene {
            page: self.page,
            play: Play {
                well: &self.well,
                stack: self.stack.as_ref(),
                falling: self.falling,
                next: &self.next,
                lines,
                pieces,
                rate_tenths: self.rate_tenths,
                seed,
                speed: self.speed,
                paused: self.paused,
                finished: self.finished,
            },
            player: &self.player,
            name: &self.name,
            statistics: &statistics,
            about: About { version, board, id, connect },
            crash: Crash { kind, message, place },
        })
    }

    /// This scene with some of the other's parts.
    fn mixed(&self, other: &Owned, parts: u16) -> Owned {
        let mut mixed = self.clone();
        let is_taken = |part: u32| parts >> part & 1 == 1;
        macro_rules! take {
            ($($part:literal $($field:ident)*;)*) => {
                $(if is_taken($part) { $(mixed.$field = other.$field.clone();)* })*
            };
        }
        take! {
            0 well stack; 1 falling; 2 next; 3 counters; 4 rate_tenths; 5 speed; 6 paused; 7 finished; 8 player;
            9 name; 10 scores; 11 about; 12 crash;
        }
        if parts >> 13 == 0b111 {
            mixed.page = other.page;
        }
        mixed
    }
}

/// Counters of every length, and the ends.
fn counter() -> impl Strategy<Value = u64> {
    prop_oneof![3 => (0..64u32, any::<u64>()).prop_map(|(shift, bits)| bits >> shift), 1 => Just(0), 1 => Just(u64::MAX)]
}

/// Words, long ones, and what no font has.
fn words() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => "[ -~]{0,20}",
        2 => "([a-z]{1,9}[ \n]){0,40}",
        2 => "\\PC{0,60}",
        1 => vec(any::<char>(), 0..60).prop_map(String::from_iter),
        1 => "[x]{200}",
    ]
}

fn falling() -> impl Strategy<Value = Falling> {
    (
        generate::piece(),
        prop_oneof![0..4u8, any::<u8>()],
        prop_oneof![0..10u8, any::<u8>()],
        prop_oneof![3 => 0..24u8, 1 => any::<u8>()],
    )
        .prop_map(|(piece, orientation, column, row)| Falling {
            piece,
            placement: Placement { orientation, column },
            row,
        })
}

/// The stack of a game, which need not be the one in the well.
fn stack() -> impl Strategy<Value = Stack> {
    (any::<u64>(), 0..80u64).prop_map(|(seed, pieces)| {
        let controller = Controller::new(KNOWN[0].player);
        let mut game = Game::new(rules(20, Overflow::Before, PieceSource::Uniform), seed, 0);
        let mut stack = Stack::new();
        while game.pieces() < pieces
            && let Some(step) = game.step(&controller)
        {
            stack.follow(&step);
        }
        stack
    })
}

fn scene() -> impl Strategy<Value = Owned> {
    let play = (
        generate::well(),
        prop::option::of(stack()),
        prop::option::weighted(0.8, falling()),
        vec(generate::piece(), 0..=3),
        [counter(), counter(), counter()],
        prop_oneof![0..2000u32, any::<u32>()],
        select(&Speed::ALL[..]),
        any::<bool>(),
        prop::bool::weighted(0.3),
    );
    let rest = (
        select(&Page::ALL[..]),
        generate::player(Set::ALL),
        words(),
        vec(counter(), 0..40),
        [words(), words(), words(), words()],
        [words(), words(), words()],
    );
    (play, rest).prop_map(
        |(
            (well, stack, falling, next, counters, rate_tenths, speed, paused, finished),
            (page, player, name, scores, about, crash),
        )| Owned {
            page,
            well,
            stack,
            falling,
            next,
            counters,
            rate_tenths,
            speed,
            paused,
            finished,
            player,
            name,
            scores,
            about,
            crash,
        },
    )
}

/// Draws the scenes one after the other; the last must look as if it were the first.
fn looks_the_same<C: Palette + core::fmt::Debug>(layout: Layout, scenes: &[Owned]) {
    let (mut display, mut screen) = (Display::<C>::new(layout), Screen::new(layout));
    for scene in scenes {
        scene.show(|scene| {
            display.show(&mut screen, scene);
            let mut fresh = Display::<C>::new(layout);
            fresh.show(&mut Screen::new(layout), scene);
            // Cleared once and painted once; only the score of a finished game lies on a panel.
            let most = if scene.page == Page::Game && scene.play.finished { 3 } else { 2 };
            let width = layout.size().width as usize;
            let over = fresh.painted.iter().position(|&times| times > most);
            let over = over.map(|i| (i % width, i / width));
            assert_eq!(over, None, "{layout:?} {:?}: boxes overlap", scene.page);
            assert!(display.pixels == fresh.pixels, "{layout:?}: what came before is seen");
            assert_eq!(display.show(&mut screen, scene).pixels, 0, "{layout:?}: the same again");
        });
    }
}

proptest! {
    #![proptest_config(generate::cases(100))]

    #[test]
    fn a_scene_looks_the_same_whatever_came_before(
        first in scene(), other in scene(), parts in any::<u16>(), few in 0..13u32,
    ) {
        let scenes = [first.clone(), first.mixed(&other, 1 << few), first.mixed(&other, parts), other, first];
        for layout in Layout::ALL {
            looks_the_same::<BinaryColor>(layout, &scenes);
        }
        looks_the_same::<Rgb565>(Layout::Large, &scenes);
    }

    #[test]
    fn a_display_that_failed_shows_all_when_it_is_back(first in scene(), second in scene(), patience in 0..300u32) {
        for layout in Layout::ALL {
            let (mut display, mut screen) = (Display::<BinaryColor>::new(layout), Screen::new(layout));
            first.show(|scene| display.show(&mut screen, scene));
            display.patience = patience;
            let broke = second.show(|scene| screen.draw(&mut display, scene)) == Err(Broken);
            display = if broke { Display::new(layout) } else { display };
            display.patience = u32::MAX;
            second.show(|scene| display.show(&mut screen, scene));
            let mut fresh = Display::<BinaryColor>::new(layout);
            second.show(|scene| fresh.show(&mut Screen::new(layout), scene));
            prop_assert!(display.pixels == fresh.pixels);
        }
    }
}

/// A game as it is watched, with a piece high above the place where it will land.
fn watched() -> Owned {
    let controller = Controller::new(Player::known("bcts").unwrap());
    let mut game = Game::new(rules(20, Overflow::Before, PieceSource::Uniform), 1, 0);
    let mut stack = Stack::new();
    while game.pieces() < 60
        && let Some(step) = game.step(&controller)
    {
        stack.follow(&step);
    }
    let piece = game.upcoming(0)[0];
    let placement = controller.choose(game.well(), piece, &[], Overflow::Before).unwrap();
    Owned {
        page: Page::Game,
        well: *game.well(),
        stack: Some(stack),
        falling: Some(Falling { piece, placement, row: 15 }),
        next: vec![],
        counters: [game.lines(), game.pieces(), 1],
        rate_tenths: 15,
        speed: Speed::Watch,
        paused: false,
        finished: false,
        player: *controller.player(),
        name: "bcts".into(),
        scores: vec![1000, 2000, 3000],
        about: Default::default(),
        crash: Default::default(),
    }
}

/// The pixels that a change costs.
fn cost<C: Palette>(layout: Layout, before: &Owned, change: impl FnOnce(&mut Owned)) -> u32 {
    let (mut display, mut screen) = (Display::<C>::new(layout), Screen::new(layout));
    before.show(|scene| display.show(&mut screen, scene));
    let mut after = before.clone();
    change(&mut after);
    after.show(|scene| display.show(&mut screen, scene)).pixels
}

#[test]
fn a_change_touches_its_own_box_only() {
    let scene = watched();
    let fall = |scene: &mut Owned| scene.falling.as_mut().unwrap().row -= 1;
    for (layout, block) in [(Layout::Tall, 5), (Layout::Small, 2), (Layout::Large, 11)] {
        // One row down: at most four cells are left and four are entered.
        let pixels = cost::<Rgb565>(layout, &scene, fall);
        assert!(pixels > 0 && pixels <= 8 * block * block, "{layout:?}: {pixels}");
        assert_eq!(cost::<Rgb565>(layout, &scene, |_| {}), 0);
    }
    // One digit of one counter, in the fonts of the three screens.
    let next_piece = |scene: &mut Owned| scene.counters[1] += 1;
    assert_eq!(cost::<BinaryColor>(Layout::Tall, &scene, next_piece), 4 * 6);
    assert_eq!(cost::<BinaryColor>(Layout::Small, &scene, next_piece), 4 * 6);
    assert_eq!(cost::<Rgb565>(Layout::Large, &scene, next_piece), 10 * 20);
    // What another page shows costs nothing.
    let other_page = |scene: &mut Owned| scene.about[0].push('1');
    for layout in Layout::ALL {
        assert_eq!(cost::<Rgb565>(layout, &scene, other_page), 0);
    }
}

/// An SPI clock of 62.5 MHz, the chip's fastest, sends 16 bits a pixel: so many pixels in 33 ms.
const FRAME: u32 = 62_500_000 / 16 * 33 / 1000;

#[test]
fn a_frame_of_a_watched_game_is_sent_in_time() {
    let controller = Controller::new(Player::known("bcts").unwrap());
    let mut game = Game::new(rules(20, Overflow::Before, PieceSource::Uniform), 7, 0);
    let (mut display, mut screen) = (Display::<Rgb565>::new(Layout::Large), Screen::new(Layout::Large));
    let (mut most, mut sum, mut frames) = (0, 0, 0);
    let (mut stack, mut scene) = (Stack::new(), watched());
    for _ in 0..100 {
        let piece = game.upcoming(0)[0];
        let placement = controller.choose(game.well(), piece, &[], Overflow::Before).unwrap();
        scene.well = *game.well();
        scene.stack = Some(stack);
        scene.counters = [game.lines(), game.pieces(), 7];
        let step = game.step(&controller).unwrap();
        for row in (step.landing.row..20).rev() {
            scene.falling = Some(Falling { piece, placement, row });
            let touched = scene.show(|scene| display.show(&mut screen, scene));
            if frames > 0 {
                most = most.max(touched.pixels);
                sum += touched.pixels;
            }
            frames += 1;
        }
        stack.follow(&step);
    }
    println!("pixels a frame: mean {}, most {most}, of {FRAME}", sum / frames);
    // A cleared line moves the whole pile, and every cell of it may change. What is left of the 33 ms is for commands
    // and for making the pixels.
    assert!(most < FRAME / 4, "{most} pixels in a frame");
    assert!(sum / frames < 2_000, "{} pixels a frame", sum / frames);
    // Clearing the whole screen takes 57,600.
    let page = cost::<Rgb565>(Layout::Large, &scene, |scene| scene.page = Page::Weights);
    assert!(page < FRAME * 3 / 4, "{page} pixels for a new page");
}
