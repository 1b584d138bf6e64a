//! What pictures have in common: a white sheet with a title, colours, axes and their labels.

use std::ops::Range;

use plotters::coord::Shift;
use plotters::prelude::*;

use crate::figures;
use crate::output::Failure;

/// Colours that people with any colour vision tell apart: M. Okabe and K. Ito, "Color universal design" (2008).
pub const COLOURS: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(90, 90, 90),
];

/// Text and axes.
pub const INK: RGBColor = RGBColor(40, 40, 40);
/// What lies behind the data.
pub const GRID: RGBColor = RGBColor(225, 225, 225);

/// A part of a picture.
pub type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// Whether drawing went well.
pub type Drawn = Result<(), Box<dyn std::error::Error>>;

/// The colour of the i-th of several things; darker when they come round again.
pub fn colour(i: usize) -> RGBColor {
    let RGBColor(red, green, blue) = COLOURS[i % COLOURS.len()];
    let round = (i / COLOURS.len()).min(3) as u32;
    RGBColor(red >> round, green >> round, blue >> round)
}

/// An SVG of this size, with a title above what is drawn.
///
/// # Errors
/// If it cannot be drawn.
pub fn picture(
    size: (u32, u32),
    title: &str,
    draw: impl FnOnce(&Area<'_>) -> Drawn,
) -> Result<String, Failure> {
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, size).into_drawing_area();
        let drawn = || -> Drawn {
            root.fill(&WHITE)?;
            let area = root.titled(title, ("sans-serif", 20).into_font().color(&INK))?;
            draw(&area.margin(4, 4, 4, 8))?;
            Ok(root.present()?)
        };
        drawn().map_err(|error| Failure::input(format_args!("cannot draw '{title}': {error}")))?;
    }
    Ok(svg)
}

/// A line or points with a name.
#[derive(Clone, Debug)]
pub struct Series {
    /// What it is called; nothing, to leave it out of the legend.
    pub name: String,
    /// In the order in which they are joined.
    pub points: Vec<(f64, f64)>,
    /// What is written beside each point; nothing, if there are none.
    pub notes: Vec<String>,
    /// Which colour.
    pub colour: RGBColor,
    /// How it is drawn.
    pub mark: Mark,
}

/// How points are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// Joined by a line.
    Line,
    /// Joined by a thin line.
    Thin,
    /// A dot each.
    Dots,
    /// A dot each, joined by a thin line.
    Joined,
}

/// A chart's two axes: what they show, and how a number on them is written. For a logarithmic one, logarithms are drawn
/// and the labels undo them: an axis that is logarithmic itself has no labels between the powers of ten.
#[derive(Clone, Copy, Debug)]
pub struct Axes<'a> {
    /// Along the bottom.
    pub x: &'a str,
    /// Up the side.
    pub y: &'a str,
    /// Writes a number along the bottom.
    pub x_label: fn(f64) -> String,
    /// Writes a number up the side.
    pub y_label: fn(f64) -> String,
}

/// A number with a unit's prefix and without decimals that say nothing: `100 k`.
pub fn short(number: f64) -> String {
    let label = figures::short(number);
    let (number, unit) = label.split_once(' ').unwrap_or((&label, ""));
    let number =
        if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.') } else { number };
    format!("{number} {unit}").trim_end().to_owned()
}

/// From the least to the most of some numbers, with a little room on both sides; none if there are none.
fn room(numbers: impl Iterator<Item = f64>) -> Option<Range<f64>> {
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for number in numbers.filter(|number| number.is_finite()) {
        low = low.min(number);
        high = high.max(number);
    }
    let margin = if low < high { 0.03 * (high - low) } else { 1.0 };
    (low <= high).then_some(low - margin..high + margin)
}

/// Draws series on axes that hold them all; nothing where there are no points.
///
/// # Errors
/// If they cannot be drawn.
pub fn chart(area: &Area<'_>, axes: Axes<'_>, legend: SeriesLabelPosition, series: &[Series]) -> Drawn {
    let points = || series.iter().flat_map(|series| &series.points);
    let (Some(x), Some(y)) = (room(points().map(|point| point.0)), room(points().map(|point| point.1)))
    else {
        return Ok(());
    };
    let mut chart = ChartBuilder::on(area)
        .margin(8)
        .x_label_area_size(38)
        .y_label_area_size(70)
        .build_cartesian_2d(x, y)?;
    chart
        .configure_mesh()
        .light_line_style(WHITE)
        .bold_line_style(GRID)
        .axis_style(INK)
        .label_style(("sans-serif", 12).into_font().color(&INK))
        .x_labels(8)
        .y_labels(8)
        .x_label_formatter(&|x| (axes.x_label)(*x))
        .y_label_formatter(&|y| (axes.y_label)(*y))
        .x_desc(axes.x)
        .y_desc(axes.y)
        .draw()?;
    for Series { name, points, notes, colour, mark } in series {
        let colour = *colour;
        if matches!(mark, Mark::Dots | Mark::Joined) {
            chart.draw_series(points.iter().map(|&point| Circle::new(point, 4, colour.filled())))?;
        }
        let font = ("sans-serif", 11).into_font().color(&colour);
        let beside = |(&point, note): (_, &String)| {
            EmptyElement::at(point) + Text::new(note.clone(), (6, -12), font.clone())
        };
        chart.draw_series(points.iter().zip(notes).map(beside))?;
        let width = if *mark == Mark::Line { 2 } else { 1 };
        let line = points.iter().copied().filter(|_| *mark != Mark::Dots);
        let drawn = chart.draw_series(LineSeries::new(line, colour.stroke_width(width)))?;
        if !name.is_empty() {
            drawn
                .label(name)
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], colour.stroke_width(2)));
        }
    }
    chart
        .configure_series_labels()
        .position(legend)
        .background_style(WHITE.mix(0.85))
        .border_style(GRID)
        .label_font(("sans-serif", 12).into_font().color(&INK))
        .draw()?;
    Ok(())
}
