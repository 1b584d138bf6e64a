//! The one way to the target: boxes that are painted only where they differ from what they showed before.
//!
//! A page asks for the same boxes in the same order every time, so the n-th box finds what it showed in the n-th slot
//! of the memory. Boxes never overlap; what is painted is painted once, over what was there, so nothing flickers.

use embedded_graphics::draw_target::DrawTarget;
use embedded_graphics::geometry::{Point, Size};
use embedded_graphics::image::GetPixel;
use embedded_graphics::mono_font::MonoFont;
use embedded_graphics::pixelcolor::BinaryColor;
use embedded_graphics::primitives::Rectangle;

use super::Touched;
use super::font::{BOLD, COLUMNS, FIRST};
use super::ink::{Ink, Palette, Shade};
use super::scene::Page;
use super::text::{Lines, Text};
use crate::piece::{Piece, Shape};
use crate::player::Player;
use crate::speed::Speed;
use crate::well::{MAX_HEIGHT, WIDTH};

/// The most boxes of a page, beside the cells of the well.
const SLOTS: usize = 32;

/// What decides where the boxes of a page are. When it changes, the page is drawn anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrangement {
    /// Boxes that are always in their places.
    Plain(Page),
    /// The height of the well, and how many next pieces have a place.
    Game { height: u8, next: u8 },
    /// Whose weights.
    Weights(Player),
}

/// What has been drawn.
#[derive(Clone, Debug)]
pub(super) struct Memory {
    arrangement: Option<Arrangement>,
    slots: [Slot; SLOTS],
    cells: [[Cell; WIDTH]; MAX_HEIGHT],
}

impl Memory {
    pub(super) const fn new() -> Memory {
        Memory {
            arrangement: None,
            slots: [Slot::Nothing; SLOTS],
            cells: [[Cell::Outside; WIDTH]; MAX_HEIGHT],
        }
    }

    pub(super) const fn forget(&mut self) {
        self.arrangement = None;
    }
}

/// What a box shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Slot {
    Nothing,
    /// A text whose first character starts so many pixels along its line.
    Text {
        text: Text,
        start: i32,
        style: Style,
    },
    Piece(Option<Piece>),
    Pace(Pace),
    /// A bar of so many pixels.
    Bar(u32),
    /// A surface of one ink.
    Panel(Ink),
}

/// What a cell of the well shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cell {
    /// Above the brim.
    Outside,
    /// Under something else that is drawn over the well.
    Covered,
    Empty,
    /// Where the falling piece will land.
    Shadow(Piece),
    /// Full, of this piece if that is known.
    Full(Option<Piece>),
}

/// How a game goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pace {
    Going(Speed),
    Paused,
}

/// How a text looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Style {
    pub(super) ink: Ink,
    pub(super) back: Ink,
}

impl Style {
    pub(super) const fn of(ink: Ink) -> Style {
        Style { ink, back: Ink::Back }
    }
}

/// Where a text stands in its box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Align {
    Left,
    Centre,
    Right,
}

/// A box for a line of text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    /// Its top left corner; of a line that runs upward, its bottom left one.
    pub(super) at: Point,
    /// Its pixels along the text.
    pub(super) length: i32,
    pub(super) font: &'static MonoFont<'static>,
    pub(super) align: Align,
    /// Pixels above and below the text that belong to the box.
    pub(super) pad: i32,
    /// Whether it runs from the bottom to the top.
    pub(super) upward: bool,
}

impl Line {
    pub(super) const fn new(x: i32, y: i32, length: i32, font: &'static MonoFont<'static>) -> Line {
        Line { at: Point::new(x, y), length, font, align: Align::Left, pad: 0, upward: false }
    }

    pub(super) const fn align(mut self, align: Align) -> Line {
        self.align = align;
        self
    }

    pub(super) const fn pad(mut self, pad: i32) -> Line {
        self.pad = pad;
        self
    }

    pub(super) const fn upward(mut self) -> Line {
        self.upward = true;
        self
    }

    /// How many characters fit.
    pub(super) fn room(&self) -> usize {
        (self.length / self.pitch()).max(0) as usize
    }

    /// Pixels from one character to the next.
    fn pitch(&self) -> i32 {
        self.font.character_size.width as i32
    }

    /// The part of the box from one place along the text to another.
    fn part(&self, from: i32, to: i32) -> Rectangle {
        let (length, height) = ((to - from).max(0), self.font.character_size.height as i32 + 2 * self.pad);
        if self.upward {
            area(self.at.x - self.pad, self.at.y - to, height, length)
        } else {
            area(self.at.x + from, self.at.y - self.pad, length, height)
        }
    }
}

/// How a piece is held that is not in the well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pose {
    Lying,
    Standing,
}

impl Pose {
    /// The columns and rows that any piece fits in.
    const fn room(self) -> (i32, i32) {
        match self {
            Pose::Lying => (4, 2),
            Pose::Standing => (3, 4),
        }
    }

    /// The first orientation that fits.
    fn shape(self, piece: Piece) -> &'static Shape {
        let (columns, rows) = self.room();
        let shapes = piece.orientations();
        let fits = |shape: &&Shape| shape.width <= columns as usize && shape.height <= rows as usize;
        shapes.iter().find(fits).unwrap_or(&shapes[0])
    }
}

/// The size and look of the blocks that pieces are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Block {
    /// Pixels from block to block.
    pub(super) size: i32,
    /// Pixels on top and at the left that part it from the next.
    gap: i32,
    /// Whether it has lit and dark edges.
    is_edged: bool,
}

impl Block {
    pub(super) const LARGE: Block = Block { size: 11, gap: 1, is_edged: true };
    pub(super) const BROAD: Block = Block { size: 8, gap: 1, is_edged: true };
    pub(super) const MEDIUM: Block = Block { size: 5, gap: 1, is_edged: false };
    pub(super) const LITTLE: Block = Block { size: 3, gap: 0, is_edged: false };
    pub(super) const TINY: Block = Block { size: 2, gap: 0, is_edged: false };
}

pub(super) struct Canvas<'a, D> {
    target: &'a mut D,
    memory: &'a mut Memory,
    slot: usize,
    is_fresh: bool,
    touched: Touched,
}

impl<'a, D: DrawTarget<Color: Palette>> Canvas<'a, D> {
    /// Opens the memory on an arrangement; another one than before starts with an empty screen.
    pub(super) fn open(
        target: &'a mut D,
        memory: &'a mut Memory,
        arrangement: Arrangement,
        size: Size,
    ) -> Result<Canvas<'a, D>, D::Error> {
        let is_fresh = memory.arrangement != Some(arrangement);
        let touched = Touched { area: Rectangle::zero(), pixels: 0 };
        // Nothing is remembered until all is drawn: a target that fails leaves the next drawing to start anew.
        memory.arrangement = None;
        let mut canvas = Canvas { target, memory, slot: 0, is_fresh, touched };
        if is_fresh {
            *canvas.memory = Memory::new();
            canvas.solid(Rectangle::new(Point::zero(), size), Ink::Back)?;
        }
        Ok(canvas)
    }

    /// Keeps what was drawn.
    pub(super) fn close(self, arrangement: Arrangement) -> Touched {
        self.memory.arrangement = Some(arrangement);
        self.touched
    }

    fn touch(&mut self, area: &Rectangle) {
        self.touched.pixels += area.size.width * area.size.height;
        let before = self.touched.area;
        self.touched.area = match (before.bottom_right(), area.bottom_right()) {
            (Some(one), Some(other)) => Rectangle::with_corners(
                before.top_left.component_min(area.top_left),
                one.component_max(other),
            ),
            _ => *area,
        };
    }

    fn solid(&mut self, area: Rectangle, ink: Ink) -> Result<(), D::Error> {
        if area.is_zero_sized() {
            return Ok(());
        }
        self.touch(&area);
        self.target.fill_solid(&area, D::Color::of(ink))
    }

    /// Paints an area pixel by pixel, each by its place in it.
    fn paint(&mut self, area: Rectangle, colour: impl Fn(i32, i32) -> D::Color) -> Result<(), D::Error> {
        self.touch(&area);
        let (width, height) = (area.size.width as i32, area.size.height as i32);
        let pixels = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
        self.target.fill_contiguous(&area, pixels.map(|(x, y)| colour(x, y)))
    }

    /// What the next box showed before, and where to remember what it shows now. A page that asked for more boxes than
    /// there are slots would have the last ones drawn every time.
    fn take(&mut self, now: Slot) -> Slot {
        let slot = self.memory.slots.get_mut(self.slot);
        debug_assert!(slot.is_some(), "a slot for each box");
        self.slot += 1;
        slot.map_or(Slot::Nothing, |slot| core::mem::replace(slot, now))
    }

    /// A surface that never changes.
    pub(super) fn fixed_panel(
        &mut self,
        x: i32,
        y: i32,
        width: i32,
        height: i32,
        ink: Ink,
    ) -> Result<(), D::Error> {
        if self.is_fresh { self.solid(area(x, y, width, height), ink) } else { Ok(()) }
    }

    /// Words that never change.
    pub(super) fn fixed_text(&mut self, line: Line, style: Style, text: &str) -> Result<(), D::Error> {
        self.fixed_line(line, style, Text::of(text))
    }

    /// A line of text that never changes.
    pub(super) fn fixed_line(&mut self, line: Line, style: Style, text: Text) -> Result<(), D::Error> {
        if !self.is_fresh {
            return Ok(());
        }
        let text = text.cut(line.room());
        self.write(line, style, &text, start(&line, &text), &Slot::Nothing)
    }

    /// A piece that never changes, lying.
    /// Tells how wide it is.
    pub(super) fn fixed_piece(
        &mut self,
        x: i32,
        y: i32,
        block: Block,
        piece: Piece,
    ) -> Result<i32, D::Error> {
        if self.is_fresh {
            self.blocks(Point::new(x, y), block, Pose::Lying, piece)?;
        }
        Ok(block.size * Pose::Lying.shape(piece).width as i32)
    }

    /// A surface over the well, on cells that are [covered](Cell::Covered). What stands on it has boxes of its own.
    pub(super) fn panel(&mut self, area: Rectangle, ink: Ink) -> Result<(), D::Error> {
        if self.take(Slot::Panel(ink)) == Slot::Panel(ink) { Ok(()) } else { self.solid(area, ink) }
    }

    /// Passes over boxes that are not shown now, and that others have painted over.
    pub(super) fn skip(&mut self, boxes: usize) {
        for _ in 0..boxes {
            self.take(Slot::Nothing);
        }
    }

    /// A line of text.
    pub(super) fn text(&mut self, line: Line, style: Style, text: Text) -> Result<(), D::Error> {
        let text = text.cut(line.room());
        let start = start(&line, &text);
        let before = self.take(Slot::Text { text, start, style });
        let back = if let Slot::Text { style, .. } = before { style.back } else { Ink::Back };
        if style.back == back {
            return self.write(line, style, &text, start, &before);
        }
        let end = start + line.pitch() * text.len() as i32;
        self.solid(line.part(0, start), style.back)?;
        self.write(line, style, &text, start, &Slot::Nothing)?;
        self.solid(line.part(end, line.length), style.back)
    }

    /// A paragraph in so many lines, `pitch` pixels apart; the last one shows if there was more to say.
    pub(super) fn paragraph(
        &mut self,
        first: Line,
        pitch: i32,
        count: usize,
        style: Style,
        text: &str,
    ) -> Result<(), D::Error> {
        let mut lines = Lines::of(text, first.room());
        for i in 0..count {
            let mut line = Text::of(lines.next().unwrap_or(""));
            if i + 1 == count && !lines.is_empty() {
                line = line.and("..").cut(first.room());
            }
            let at = first.at + Point::new(0, pitch * i as i32);
            self.text(Line { at, ..first }, style, line)?;
        }
        Ok(())
    }

    /// The head of a page on the large screen.
    pub(super) fn title(&mut self, text: &str, ink: Ink) -> Result<(), D::Error> {
        self.text(Line::new(8, 8, 150, &BOLD), Style::of(ink), Text::of(text))?;
        self.fixed_panel(8, 28, 224, 1, Ink::Frame)
    }

    /// Writes what differs from the text before.
    fn write(
        &mut self,
        line: Line,
        style: Style,
        text: &Text,
        start: i32,
        before: &Slot,
    ) -> Result<(), D::Error> {
        let pitch = line.pitch();
        let (old, old_start, same_style) = match before {
            Slot::Text { text, start, style: old } => (text.bytes(), *start, *old == style),
            _ => (&[][..], start, true),
        };
        let (end, old_end) = (start + pitch * text.len() as i32, old_start + pitch * old.len() as i32);
        for (i, &byte) in (0..).zip(text.bytes()) {
            let along = start + pitch * i;
            let place = along - old_start;
            let is_there = same_style
                && place % pitch == 0
                && usize::try_from(place / pitch).is_ok_and(|j| place >= 0 && old.get(j) == Some(&byte));
            if !is_there {
                self.glyph(&line, style, along, byte)?;
            }
        }
        if !old.is_empty() {
            self.solid(line.part(old_start, old_end.min(start.max(old_start))), style.back)?;
            self.solid(line.part(end.max(old_start), old_end.max(end)), style.back)?;
        }
        Ok(())
    }

    fn glyph(&mut self, line: &Line, style: Style, along: i32, byte: u8) -> Result<(), D::Error> {
        let Line { font, upward, pad, .. } = *line;
        let (width, height) = (font.character_size.width as i32, font.character_size.height as i32);
        let index = i32::from(byte.saturating_sub(FIRST));
        let corner = Point::new(index % COLUMNS * width, index / COLUMNS * height);
        let (ink, back) = (D::Color::of(style.ink), D::Color::of(style.back));
        self.paint(line.part(along, along + line.pitch()), |x, y| {
            let pixel = if upward { Point::new(width - 1 - y, x - pad) } else { Point::new(x, y - pad) };
            let is_inked =
                (0..height).contains(&pixel.y) && font.image.pixel(corner + pixel) == Some(BinaryColor::On);
            if is_inked { ink } else { back }
        })
    }

    /// A piece in a box; `None` is an empty box.
    pub(super) fn piece(
        &mut self,
        x: i32,
        y: i32,
        block: Block,
        pose: Pose,
        piece: Option<Piece>,
    ) -> Result<(), D::Error> {
        let before = match self.take(Slot::Piece(piece)) {
            Slot::Piece(piece) => piece,
            _ => None,
        };
        if before == piece {
            return Ok(());
        }
        if before.is_some() {
            let (columns, rows) = pose.room();
            self.solid(area(x, y, columns * block.size, rows * block.size), Ink::Back)?;
        }
        match piece {
            Some(piece) => self.blocks(Point::new(x, y), block, pose, piece),
            None => Ok(()),
        }
    }

    fn blocks(&mut self, at: Point, block: Block, pose: Pose, piece: Piece) -> Result<(), D::Error> {
        let shape = pose.shape(piece);
        let size = block.size;
        for y in 0..shape.height {
            for x in shape.left[y]..shape.right[y] {
                let corner = at + Point::new(x as i32, (shape.height - 1 - y) as i32) * size;
                self.block(corner, block, Cell::Full(Some(piece)), Ink::Back)?;
            }
        }
        Ok(())
    }

    /// A cell, with this behind it in its gaps. Made of surfaces, which a target takes faster than pixels.
    ///
    /// ```text
    ///   gap gap   gap   gap        light falls on a block from above and from the left
    ///   gap light light dark
    ///   gap light face  dark
    ///   gap dark  dark  dark
    /// ```
    fn block(&mut self, at: Point, block: Block, cell: Cell, behind: Ink) -> Result<(), D::Error> {
        let Block { size, gap, is_edged } = block;
        let (first, last, side) = (gap, size - 1, size - gap);
        let mut part = |x, y, width, height, ink| self.solid(area(at.x + x, at.y + y, width, height), ink);
        if matches!(cell, Cell::Outside | Cell::Covered) {
            return part(0, 0, size, size, Ink::Back);
        }
        part(0, 0, size, gap, behind)?;
        part(0, first, gap, side, behind)?;
        let [light, face, dark] = match cell {
            Cell::Full(piece) if is_edged => {
                [Shade::Light, Shade::Plain, Shade::Dark].map(|shade| Ink::Cell(piece, shade))
            }
            Cell::Shadow(piece) if is_edged => {
                let edge = Ink::Cell(Some(piece), Shade::Dark);
                [edge, Ink::Well, edge]
            }
            Cell::Full(piece) => return part(first, first, side, side, Ink::Cell(piece, Shade::Plain)),
            Cell::Shadow(piece) => {
                // The middle of it, or what is nearest.
                let (dot, rest) = ((side - 2).max(1), (side - 2).min(1));
                part(first, first, side, 1, Ink::Well)?;
                part(first, first + 1, 1, side - 1, Ink::Well)?;
                part(size - rest, first + 1, rest, side - 1, Ink::Well)?;
                part(first + 1, size - rest, dot, rest, Ink::Well)?;
                return part(first + 1, first + 1, dot, dot, Ink::Cell(Some(piece), Shade::Dark));
            }
            _ => return part(first, first, side, side, Ink::Well),
        };
        part(first, first, side - 1, 1, light)?;
        part(first, first + 1, 1, side - 2, light)?;
        part(last, first, 1, side - 1, dark)?;
        part(first, last, side, 1, dark)?;
        part(first + 1, first + 1, side - 2, side - 2, face)
    }

    /// A bar of so many of the area's pixels: upward from its bottom.
    pub(super) fn bar(&mut self, area: Rectangle, ink: Ink, pixels: u32) -> Result<(), D::Error> {
        let pixels = pixels.min(area.size.height);
        let before = match self.take(Slot::Bar(pixels)) {
            Slot::Bar(before) => before,
            _ => 0,
        };
        let part = |from: u32, to: u32| {
            let top = area.top_left.y + (area.size.height - to) as i32;
            Rectangle::new(Point::new(area.top_left.x, top), Size::new(area.size.width, to - from))
        };
        if pixels > before {
            self.solid(part(before, pixels), ink)
        } else {
            self.solid(part(pixels, before), Ink::Back)
        }
    }

    /// Triangles for the speed, or two bars for a pause. A triangle is `size` wide and `2 * size - 1` high; the box is
    /// three triangles wide.
    pub(super) fn pace(&mut self, x: i32, y: i32, size: i32, ink: Ink, pace: Pace) -> Result<(), D::Error> {
        if self.take(Slot::Pace(pace)) == Slot::Pace(pace) {
            return Ok(());
        }
        let (ink, back) = (D::Color::of(ink), D::Color::of(Ink::Back));
        let triangles = match pace {
            Pace::Going(Speed::Watch) => 1,
            Pace::Going(Speed::Fast) => 2,
            Pace::Going(Speed::Turbo) => 3,
            Pace::Paused => 0,
        };
        self.paint(area(x, y, 3 * size, 2 * size - 1), |x, y| {
            let is_inked = if triangles == 0 {
                let bar = (size + 1) / 2;
                x < bar || (2 * bar..3 * bar).contains(&x)
            } else {
                x / size < triangles && (x % size..2 * size - 1 - x % size).contains(&y)
            };
            if is_inked { ink } else { back }
        })
    }

    /// A cell of the well, which has its floor at this point.
    pub(super) fn cell(
        &mut self,
        floor: Point,
        block: Block,
        x: usize,
        row: usize,
        cell: Cell,
    ) -> Result<(), D::Error> {
        let Some(before) = self.memory.cells.get_mut(row).and_then(|cells| cells.get_mut(x)) else {
            return Ok(());
        };
        if *before == cell {
            return Ok(());
        }
        *before = cell;
        if cell == Cell::Covered {
            return Ok(());
        }
        let size = block.size;
        self.block(floor + Point::new(x as i32, -1 - row as i32) * size, block, cell, Ink::Grid)
    }
}

fn start(line: &Line, text: &Text) -> i32 {
    let spare = line.length - line.pitch() * text.len() as i32;
    match line.align {
        Align::Left => 0,
        Align::Centre => spare / 2,
        Align::Right => spare,
    }
}

pub(super) const fn area(x: i32, y: i32, width: i32, height: i32) -> Rectangle {
    Rectangle::new(Point::new(x, y), Size::new(width as u32, height as u32))
}
