//! The game page: the well with the falling piece, the score, and who plays.

use embedded_graphics::draw_target::DrawTarget;
use embedded_graphics::geometry::Point;

use super::Layout;
use super::canvas::{Align, Arrangement, Block, Canvas, Cell, Line, Pace, Pose, Style, area};
use super::font::{BIG, BOLD, MEDIUM, SMALL, TINY};
use super::ink::{Ink, Palette};
use super::scene::{Falling, Play, Scene};
use super::text::Text;
use crate::speed::Speed;
use crate::well::{MAX_HEIGHT, WIDTH, Well};

/// What must be seen.
const INVERSE: Style = Style { ink: Ink::Back, back: Ink::Text };

/// Next pieces that have a place: the large screen shows two.
fn next_shown(layout: Layout, play: &Play<'_>) -> usize {
    play.next.len().min(if layout == Layout::Large { 2 } else { 1 })
}

pub(super) fn arrangement(layout: Layout, scene: &Scene<'_>) -> Arrangement {
    let play = &scene.play;
    Arrangement::Game { height: play.well.height() as u8, next: next_shown(layout, play) as u8 }
}

pub(super) fn draw<D>(canvas: &mut Canvas<'_, D>, layout: Layout, scene: &Scene<'_>) -> Result<(), D::Error>
where
    D: DrawTarget<Color: Palette>,
{
    match layout {
        Layout::Tall => tall(canvas, scene),
        Layout::Small => small(canvas, scene),
        Layout::Large => large(canvas, scene),
    }
}

/// Rows of the well, from below, that the score of a finished game covers.
#[derive(Clone, Copy)]
struct Covered {
    first: usize,
    end: usize,
}

/// The cells of the well.
fn well<D>(
    canvas: &mut Canvas<'_, D>,
    floor: Point,
    block: Block,
    play: &Play<'_>,
    covered: Option<Covered>,
) -> Result<(), D::Error>
where
    D: DrawTarget<Color: Palette>,
{
    let falling = play.falling.filter(|falling| falling.placement.is_valid(falling.piece));
    let landing = falling.map(|falling| Falling { row: landing_row(play.well, &falling), ..falling });
    let height = play.well.height();
    for row in 0..MAX_HEIGHT {
        let is_covered = covered.is_some_and(|covered| (covered.first..covered.end).contains(&row));
        for x in 0..WIDTH {
            let cell = if is_covered {
                Cell::Covered
            } else if row >= height {
                Cell::Outside
            } else if let Some(falling) = falling.filter(|falling| is_at(falling, x, row)) {
                Cell::Full(Some(falling.piece))
            } else if play.well.is_full(x, row) {
                Cell::Full(play.stack.and_then(|stack| stack.get(x, row)))
            } else if let Some(landing) = landing.filter(|landing| is_at(landing, x, row)) {
                Cell::Shadow(landing.piece)
            } else {
                Cell::Empty
            };
            canvas.cell(floor, block, x, row, cell)?;
        }
    }
    Ok(())
}

/// Whether a cell belongs to a piece, whose placement is valid.
fn is_at(falling: &Falling, x: usize, row: usize) -> bool {
    let shape = falling.placement.shape(falling.piece);
    let (x, y) =
        (x.wrapping_sub(usize::from(falling.placement.column)), row.wrapping_sub(usize::from(falling.row)));
    y < shape.height && (shape.left[y]..shape.right[y]).contains(&x)
}

/// The row where a piece comes to rest.
fn landing_row(well: &Well, falling: &Falling) -> u8 {
    let shape = falling.placement.shape(falling.piece);
    let columns = well.heights().iter().skip(usize::from(falling.placement.column));
    let rows = columns
        .zip(&shape.bottom[..shape.width])
        .map(|(&height, &bottom)| height.saturating_sub(bottom as u8));
    rows.max().unwrap_or(0)
}

fn pace(play: &Play<'_>) -> Pace {
    if play.paused { Pace::Paused } else { Pace::Going(play.speed) }
}

fn pace_name(play: &Play<'_>) -> &'static str {
    match pace(play) {
        Pace::Paused => "PAUSED",
        Pace::Going(Speed::Watch) => "WATCH",
        Pace::Going(Speed::Fast) => "FAST",
        Pace::Going(Speed::Turbo) => "TURBO",
    }
}

/// Whether this finished game is the best there was.
fn is_best(scene: &Scene<'_>) -> bool {
    scene.statistics.best() == Some(scene.play.lines)
}

/// What to say of a score.
fn verdict(scene: &Scene<'_>) -> &'static str {
    if is_best(scene) { "NEW BEST" } else { "LINES" }
}

/// ```text
///  dellacherie >>>     name, speed
///  |             | xx  next piece
///  |             | xx
///  |    well     |
///  |             |  s
///  |             |  e
///  |             |  e
///  |_____________|  d
///  LINES     12345
///  PCS 12.3M 9.8/s
/// ```
fn tall<D>(canvas: &mut Canvas<'_, D>, scene: &Scene<'_>) -> Result<(), D::Error>
where
    D: DrawTarget<Color: Palette>,
{
    const TOP: i32 = 10;
    const FLOOR: i32 = TOP + 100;
    let play = &scene.play;
    let header = Line::new(0, 1, 53, &SMALL).pad(1);
    if play.paused {
        canvas.text(header.align(Align::Centre), INVERSE, Text::of("PAUSED"))?;
    } else {
        canvas.text(header, Style::of(Ink::Text), Text::of(scene.name))?;
    }
    canvas.pace(55, 2, 3, Ink::Text, pace(play))?;

    let brim = FLOOR - 5 * play.well.height() as i32;
    for x in [0, 52] {
        canvas.fixed_panel(x, brim, 1, FLOOR - brim + 1, Ink::Frame)?;
    }
    canvas.fixed_panel(0, FLOOR + 1, 53, 1, Ink::Frame)?;
    let covered = play.finished.then_some(Covered { first: 8, end: 15 });
    well(canvas, Point::new(1, FLOOR), Block::MEDIUM, play, covered)?;
    if play.finished {
        let style = Style { ink: Ink::Back, back: Ink::Accent };
        let line = |y, font| Line::new(1, FLOOR - 75 + y, 50, font).align(Align::Centre);
        canvas.panel(area(1, FLOOR - 75, 50, 35), style.back)?;
        canvas.text(line(3, &SMALL), style, Text::of("GAME OVER"))?;
        canvas.text(line(11, &BOLD), style, Text::new().and_count(play.lines, 5))?;
        canvas.text(line(26, &SMALL), style, Text::of(verdict(scene)))?;
    } else {
        canvas.skip(4);
    }

    canvas.piece(55, TOP, Block::LITTLE, Pose::Standing, play.next.first().copied())?;
    let seed = Line::new(56, FLOOR + 1, 80, &TINY).upward();
    canvas.text(seed, Style::of(Ink::Faint), Text::new().and_number(play.seed))?;

    let (plain, faint) = (Style::of(Ink::Text), Style::of(Ink::Faint));
    canvas.fixed_text(Line::new(0, 115, 20, &TINY), faint, "LINES")?;
    let lines = Line::new(24, 114, 40, &SMALL).align(Align::Right);
    canvas.text(lines, plain, Text::new().and_count(play.lines, lines.room()))?;
    canvas.fixed_text(Line::new(0, 122, 12, &TINY), faint, "PCS")?;
    canvas.text(Line::new(14, 122, 20, &TINY), faint, Text::new().and_short(play.pieces))?;
    let rate = Line::new(36, 122, 28, &TINY).align(Align::Right);
    canvas.text(rate, faint, Text::new().and_tenths(play.rate_tenths.into()).and("/s"))
}

/// ```text
///  |    | dellacherie
///  |    | 12345
///  |well| 12.3M pcs        seed, where the game
///  |    | 9.8/s            has stopped
///  |    | >>> TURBO  xxxx  speed, next piece
/// ```
fn small<D>(canvas: &mut Canvas<'_, D>, scene: &Scene<'_>) -> Result<(), D::Error>
where
    D: DrawTarget<Color: Palette>,
{
    const FLOOR: i32 = 40;
    const LEFT: i32 = 25;
    const WIDE: i32 = 47;
    let play = &scene.play;
    let brim = FLOOR - 2 * play.well.height() as i32;
    for x in [0, 21] {
        canvas.fixed_panel(x, brim, 1, FLOOR - brim, Ink::Frame)?;
    }
    well(canvas, Point::new(1, FLOOR), Block::TINY, play, None)?;

    let plain = Style::of(Ink::Text);
    let header = Line::new(LEFT, 1, WIDE, &TINY).pad(1);
    if play.finished {
        let over = if is_best(scene) { "NEW BEST" } else { "GAME OVER" };
        canvas.text(header.align(Align::Centre), INVERSE, Text::of(over))?;
    } else {
        canvas.text(header, plain, Text::of(scene.name))?;
    }
    let lines = Line::new(LEFT, 9, 36, &MEDIUM);
    canvas.text(lines, plain, Text::new().and_count(play.lines, lines.room()))?;
    canvas.fixed_text(Line::new(LEFT + WIDE - 8, 11, 8, &TINY), plain, "LN")?;

    let row = |y| Line::new(LEFT, y, WIDE, &TINY);
    if play.paused || play.finished {
        // The seed has up to 20 digits: two rows of ten.
        const HALF: u64 = 10_000_000_000;
        let (high, low) = (play.seed / HALF, play.seed % HALF);
        let first = if high > 0 { Text::new().and_number(high) } else { Text::of("seed") };
        let mut second = Text::new();
        if high > 0 {
            for _ in low.checked_ilog10().unwrap_or(0)..9 {
                second = second.and("0");
            }
        }
        canvas.text(row(19), plain, first)?;
        canvas.text(row(26), plain, second.and_number(low))?;
    } else {
        canvas.text(row(19), plain, Text::new().and_short(play.pieces).and(" pcs"))?;
        canvas.text(row(26), plain, Text::new().and_tenths(play.rate_tenths.into()).and("/s"))?;
    }
    canvas.pace(LEFT, 34, 3, Ink::Text, pace(play))?;
    canvas.text(Line::new(LEFT + 11, 34, 24, &TINY), plain, Text::of(pace_name(play)))?;
    canvas.piece(63, 34, Block::TINY, Pose::Lying, play.next.first().copied())
}

/// ```text
///  +----------+  dellacherie      name
///  |          |  >>> TURBO        speed
///  |          |  LINES
///  |          |  1,234,567
///  |   well   |  PIECES
///  |          |  12.3M
///  |          |  PIECES/S
///  |          |  9.87k
///  |          |  NEXT             or the best score, where no piece is known
///  |          |  xxxx  xx
///  |          |  SEED
///  +----------+  12345678901234567890
/// ```
fn large<D>(canvas: &mut Canvas<'_, D>, scene: &Scene<'_>) -> Result<(), D::Error>
where
    D: DrawTarget<Color: Palette>,
{
    const FLOOR: i32 = 230;
    const LEFT: i32 = 132;
    const WIDE: i32 = 100;
    let play = &scene.play;

    let brim = FLOOR - 11 * play.well.height() as i32;
    canvas.fixed_panel(8, brim, 2, FLOOR - brim + 3, Ink::Frame)?;
    canvas.fixed_panel(121, brim, 2, FLOOR - brim + 3, Ink::Frame)?;
    canvas.fixed_panel(10, FLOOR + 1, 111, 2, Ink::Frame)?;
    // The grid's last lines, at the right wall and on the floor.
    canvas.fixed_panel(120, brim, 1, FLOOR - brim, Ink::Grid)?;
    canvas.fixed_panel(10, FLOOR, 111, 1, Ink::Grid)?;
    let covered = play.finished.then_some(Covered { first: 8, end: 15 });
    well(canvas, Point::new(10, FLOOR), Block::LARGE, play, covered)?;
    if play.finished {
        let style = Style { ink: Ink::Back, back: Ink::Accent };
        let line = |y, font| Line::new(10, FLOOR - 165 + y, 110, font).align(Align::Centre);
        canvas.panel(area(10, FLOOR - 165, 110, 77), style.back)?;
        canvas.text(line(8, &BOLD), style, Text::of("GAME OVER"))?;
        canvas.text(line(29, &BIG), style, Text::new().and_count(play.lines, 11))?;
        canvas.text(line(56, &BOLD), style, Text::of(verdict(scene)))?;
    } else {
        canvas.skip(4);
    }

    canvas.text(Line::new(LEFT, 8, WIDE, &BOLD), Style::of(Ink::Accent), Text::of(scene.name))?;
    let pace_ink = if play.paused { Ink::Accent } else { Ink::Good };
    canvas.pace(LEFT, 29, 5, pace_ink, pace(play))?;
    canvas.text(Line::new(LEFT + 20, 29, 80, &MEDIUM), Style::of(pace_ink), Text::of(pace_name(play)))?;
    canvas.fixed_panel(LEFT, 44, WIDE, 1, Ink::Frame)?;

    let value = |y| Line::new(LEFT, y, WIDE, &BIG);
    let caption = |canvas: &mut Canvas<'_, D>, y, text| {
        canvas.fixed_text(Line::new(LEFT, y, WIDE, &MEDIUM), Style::of(Ink::Faint), text)
    };
    let plain = Style::of(Ink::Text);
    caption(canvas, 50, "LINES")?;
    canvas.text(value(60), plain, Text::new().and_count(play.lines, value(0).room()))?;
    caption(canvas, 84, "PIECES")?;
    canvas.text(value(94), plain, Text::new().and_count(play.pieces, value(0).room()))?;
    caption(canvas, 118, "PIECES/S")?;
    canvas.text(value(128), plain, Text::new().and_tenths(play.rate_tenths.into()))?;
    canvas.fixed_panel(LEFT, 153, WIDE, 1, Ink::Frame)?;

    match next_shown(Layout::Large, play) {
        0 => {
            caption(canvas, 159, "BEST")?;
            let best = scene.statistics.best();
            canvas.text(
                value(169),
                plain,
                best.map_or(Text::of("-"), |best| Text::new().and_count(best, value(0).room())),
            )?;
        }
        shown => {
            caption(canvas, 159, "NEXT")?;
            for (i, &piece) in (0..).zip(&play.next[..shown]) {
                canvas.piece(LEFT + 52 * i, 172, Block::LARGE, Pose::Lying, Some(piece))?;
            }
        }
    }
    caption(canvas, 213, "SEED")?;
    canvas.text(Line::new(LEFT, 224, WIDE, &SMALL), plain, Text::new().and_number(play.seed))
}
