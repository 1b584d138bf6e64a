//! The statistics page: games, best, mean, and how the scores are spread.

use embedded_graphics::draw_target::DrawTarget;
use embedded_graphics::mono_font::MonoFont;

use super::Layout;
use super::canvas::{Align, Canvas, Line, Style, area};
use super::font::{BIG, MEDIUM, SMALL, TINY};
use super::ink::{Ink, Palette};
use super::scene::Scene;
use super::text::Text;
use crate::statistics::{GROUPS, Statistics};

/// Bars of the histogram. Scores of one player are spread over fewer groups than this, almost always.
const BARS: usize = 16;

/// Where the histogram stands: bars side by side on a line, the scores where they start and end below it.
struct Chart {
    left: i32,
    top: i32,
    /// Pixels from bar to bar, with the gap.
    pitch: i32,
    gap: i32,
    height: i32,
    font: &'static MonoFont<'static>,
}

pub(super) fn draw<D>(canvas: &mut Canvas<'_, D>, layout: Layout, scene: &Scene<'_>) -> Result<(), D::Error>
where
    D: DrawTarget<Color: Palette>,
{
    let statistics = scene.statistics;
    let games = |room| Text::new().and_count(statistics.games().into(), room);
    let best = |room| statistics.best().map_or(Text::of("-"), |best| Text::new().and_count(best, room));
    let mean = |room| match statistics.mean_tenths() {
        None => Text::of("-"),
        Some(tenths) if tenths < 10_000 => {
            Text::new().and_number(tenths / 10).and(".").and_number(tenths % 10)
        }
        Some(tenths) => Text::new().and_count(tenths / 10, room),
    };
    let (plain, faint) = (Style::of(Ink::Text), Style::of(Ink::Faint));
    match layout {
        Layout::Tall => {
            canvas.fixed_text(Line::new(0, 1, 64, &SMALL).align(Align::Centre), plain, "STATISTICS")?;
            canvas.fixed_panel(0, 10, 64, 1, Ink::Frame)?;
            for (y, caption, value) in [(14, "GAMES", games(8)), (26, "BEST", best(8)), (38, "MEAN", mean(8))]
            {
                canvas.fixed_text(Line::new(0, y + 1, 24, &TINY), faint, caption)?;
                canvas.text(Line::new(24, y, 40, &SMALL).align(Align::Right), plain, value)?;
            }
            let chart = Chart { left: 0, top: 54, pitch: 4, gap: 1, height: 64, font: &TINY };
            histogram(canvas, &chart, statistics)
        }
        Layout::Small => {
            // GAMES left, BEST and MEAN right; the bars below.
            for (x, caption, value) in [(0, "GAMES", games(5)), (25, "BEST", best(5)), (50, "MEAN", mean(5))]
            {
                canvas.fixed_text(Line::new(x, 0, 22, &TINY), faint, caption)?;
                canvas.text(Line::new(x, 7, 22, &TINY), plain, value)?;
            }
            let chart = Chart { left: 4, top: 15, pitch: 4, gap: 1, height: 17, font: &TINY };
            histogram(canvas, &chart, statistics)
        }
        Layout::Large => {
            canvas.title("STATISTICS", Ink::Accent)?;
            for (x, caption, value) in [(8, "GAMES", games(7)), (86, "BEST", best(7)), (164, "MEAN", mean(7))]
            {
                canvas.fixed_text(Line::new(x, 38, 70, &MEDIUM), faint, caption)?;
                canvas.text(Line::new(x, 49, 70, &BIG), plain, value)?;
            }
            canvas.fixed_text(Line::new(8, 80, 224, &MEDIUM), faint, "GAMES BY LINES")?;
            let chart = Chart { left: 8, top: 96, pitch: 14, gap: 2, height: 120, font: &MEDIUM };
            histogram(canvas, &chart, statistics)
        }
    }
}

/// The groups of scores up to the best one. Each bar is a group; the first takes in all that are lower still.
fn histogram<D>(canvas: &mut Canvas<'_, D>, chart: &Chart, statistics: &Statistics) -> Result<(), D::Error>
where
    D: DrawTarget<Color: Palette>,
{
    let counts = statistics.histogram();
    let last = counts.iter().rposition(|&count| count > 0).unwrap_or(0).max(BARS - 1);
    let first = last + 1 - BARS;
    let lowest: u64 = counts[..=first].iter().map(|&count| u64::from(count)).sum();
    let count = |bar: usize| if bar == 0 { lowest } else { counts[first + bar].into() };
    let most = (0..BARS).map(count).max().unwrap_or(0).max(1);
    for bar in 0..BARS {
        let x = chart.left + chart.pitch * bar as i32;
        // A group with any game in it can be seen.
        let pixels = (count(bar) * chart.height as u64).div_ceil(most) as u32;
        canvas.bar(area(x, chart.top, chart.pitch - chart.gap, chart.height), Ink::Accent, pixels)?;
    }
    let width = chart.pitch * BARS as i32 - chart.gap;
    canvas.fixed_panel(chart.left, chart.top + chart.height, width, 1, Ink::Frame)?;
    let below = chart.top + chart.height + 2;
    let left = Line::new(chart.left, below, width / 2, chart.font);
    let right = Line::new(chart.left + width - width / 2, below, width / 2, chart.font).align(Align::Right);
    let start = Statistics::group_start(first);
    let end = Statistics::group_start(if last + 1 < GROUPS { last + 1 } else { usize::MAX });
    canvas.text(left, Style::of(Ink::Faint), Text::new().and_short(start))?;
    canvas.text(right, Style::of(Ink::Faint), Text::new().and_short(end))
}
