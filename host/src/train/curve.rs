//! A run as a picture: `curve.svg`, and several runs in one.
//!
//! Scores span orders of magnitude while a player learns, so their axes are logarithmic.

use std::ops::Range;

use plotters::prelude::*;

use super::config::Config;
use super::run::Row;
use crate::output::Failure;
use crate::plot::{Area, COLOURS, Drawn, GRID, INK, picture, short};

/// What stands along the bottom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Along {
    Pieces,
    Seconds,
}

impl Along {
    fn of(self, row: &Row) -> f64 {
        match self {
            Along::Pieces => row.pieces as f64,
            Along::Seconds => row.seconds,
        }
    }

    fn format(self, x: f64) -> String {
        match self {
            Along::Pieces => short(x),
            Along::Seconds => format!("{:.1}", x).trim_end_matches(".0").to_owned(),
        }
    }

    const fn label(self) -> &'static str {
        match self {
            Along::Pieces => "pieces placed in training",
            Along::Seconds => "seconds",
        }
    }
}

/// The picture of a run.
///
/// # Errors
/// If it cannot be drawn.
pub fn draw(name: &str, config: &Config, rows: &[Row]) -> Result<String, Failure> {
    let title = format!(
        "{name}: {} learns {} on {}, seed {}",
        config.method.name().name(),
        config.set,
        config.training.describe(),
        config.seed
    );
    let run = (name.to_owned(), config.clone(), rows.to_vec());
    picture((1100, 800), &title, |area| {
        let quarters = area.split_evenly((2, 2));
        let runs = std::slice::from_ref(&run);
        scores(&quarters[0], runs, Along::Pieces)?;
        scores(&quarters[1], runs, Along::Seconds)?;
        spread(&quarters[2], rows)?;
        weights(&quarters[3], config, rows)
    })
}

/// The curves of several runs.
///
/// # Errors
/// If they cannot be drawn.
pub fn compare(runs: &[(String, Config, Vec<Row>)]) -> Result<String, Failure> {
    picture((1100, 520), "The favourite's score as the runs learn", |area| {
        let halves = area.split_evenly((1, 2));
        scores(&halves[0], runs, Along::Pieces)?;
        scores(&halves[1], runs, Along::Seconds)
    })
}

/// A range that is not empty, with a little room above.
fn room(low: f64, high: f64) -> Range<f64> {
    let (low, high) = if low.is_finite() && high.is_finite() { (low, high) } else { (0.0, 1.0) };
    let span = if high > low { high - low } else { high.abs().max(1.0) };
    low..high + 0.03 * span
}

fn least(numbers: impl Iterator<Item = f64>) -> f64 {
    numbers.fold(f64::INFINITY, f64::min)
}

fn most(numbers: impl Iterator<Item = f64>) -> f64 {
    numbers.fold(f64::NEG_INFINITY, f64::max)
}

/// Scores below one line are drawn as one: a logarithm has no zero.
fn at_least_one(lines: f64) -> f64 {
    lines.max(1.0)
}

/// The mean of the favourite with its interval, in the order of the runs.
fn scores(area: &Area<'_>, runs: &[(String, Config, Vec<Row>)], along: Along) -> Drawn {
    let rows = || runs.iter().flat_map(|(_, _, rows)| rows);
    let bottom = room(0.0, most(rows().map(|row| along.of(row))));
    let high = most(rows().map(|row| at_least_one(row.ci95_high.unwrap_or(row.mean)))).max(10.0);
    let low = least(rows().map(|row| at_least_one(row.mean)));
    let mut chart = ChartBuilder::on(area)
        .caption(
            format!("lines per game of the favourite, by {}", along.label()),
            ("sans-serif", 14).into_font().color(&INK),
        )
        .margin(8)
        .x_label_area_size(38)
        .y_label_area_size(62)
        .build_cartesian_2d(bottom, (low * 0.8..high * 1.25).log_scale())?;
    chart
        .configure_mesh()
        .light_line_style(WHITE)
        .bold_line_style(GRID)
        .axis_style(INK)
        .label_style(("sans-serif", 12).into_font().color(&INK))
        .x_labels(6)
        .x_label_formatter(&|x| along.format(*x))
        .y_label_formatter(&|y| short(*y))
        .x_desc(along.label())
        .draw()?;
    for (i, (name, _, rows)) in runs.iter().enumerate() {
        let colour = COLOURS[i % COLOURS.len()];
        let upper = rows.iter().map(|row| (along.of(row), at_least_one(row.ci95_high.unwrap_or(row.mean))));
        let lower = rows
            .iter()
            .rev()
            .map(|row| (along.of(row), at_least_one(row.ci95_low.unwrap_or(row.mean)).max(low * 0.8)));
        chart.draw_series(std::iter::once(Polygon::new(
            upper.chain(lower).collect::<Vec<_>>(),
            colour.mix(0.15).filled(),
        )))?;
        let line = rows.iter().map(|row| (along.of(row), at_least_one(row.mean)));
        let drawn = chart.draw_series(LineSeries::new(line, colour.stroke_width(2)))?;
        let games = "95 % interval shaded";
        drawn
            .label(if runs.len() > 1 { name.clone() } else { format!("mean, {games}") })
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], colour.stroke_width(2)));
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::LowerRight)
        .background_style(WHITE.mix(0.85))
        .border_style(GRID)
        .label_font(("sans-serif", 12).into_font().color(&INK))
        .draw()?;
    Ok(())
}

/// How far the candidates are spread.
fn spread(area: &Area<'_>, rows: &[Row]) -> Drawn {
    // The exponent is drawn, not a logarithmic axis: that has no labels between the powers of ten.
    let positive = rows.iter().filter(|row| row.spread > 0.0);
    let drawn: Vec<(f64, f64)> = positive.map(|row| (row.iteration as f64, row.spread.log10())).collect();
    let exponents = || drawn.iter().map(|point| point.1);
    let (low, high) = if drawn.is_empty() { (-1.0, 0.0) } else { (least(exponents()), most(exponents())) };
    let mut chart = ChartBuilder::on(area)
        .caption(
            "spread of the candidates (step size), by iteration",
            ("sans-serif", 14).into_font().color(&INK),
        )
        .margin(8)
        .x_label_area_size(38)
        .y_label_area_size(62)
        .build_cartesian_2d(room(0.0, rows.len() as f64), low - 0.1..high + 0.1)?;
    chart
        .configure_mesh()
        .light_line_style(WHITE)
        .bold_line_style(GRID)
        .axis_style(INK)
        .label_style(("sans-serif", 12).into_font().color(&INK))
        .x_labels(6)
        .x_label_formatter(&|x| format!("{x:.0}"))
        .y_label_formatter(&|y| spread_label(10f64.powf(*y)))
        .x_desc("iteration")
        .draw()?;
    chart.draw_series(LineSeries::new(drawn, COLOURS[2].stroke_width(2)))?;
    Ok(())
}

/// Three digits that matter.
fn spread_label(spread: f64) -> String {
    if spread >= 100.0 {
        format!("{spread:.0}")
    } else if spread >= 1.0 {
        format!("{spread:.2}")
    } else {
        format!("{spread:.4}")
    }
}

/// The favourite's weights, scaled to length 1, each with its name at its end.
fn weights(area: &Area<'_>, config: &Config, rows: &[Row]) -> Drawn {
    let labels = config.set().map(|set| set.labels()).unwrap_or(&[]);
    let scaled: Vec<Vec<f64>> = rows
        .iter()
        .map(|row| {
            let length = row.weights.iter().map(|weight| weight * weight).sum::<f64>().sqrt();
            row.weights.iter().map(|weight| if length > 0.0 { weight / length } else { 0.0 }).collect()
        })
        .collect();
    let all = || scaled.iter().flatten().copied();
    let (low, high) = (least(all()).min(-0.05), most(all()).max(0.05));
    let mut chart = ChartBuilder::on(area)
        .caption(
            "weights of the favourite, scaled to length 1, by iteration",
            ("sans-serif", 14).into_font().color(&INK),
        )
        .margin(8)
        .margin_right(120)
        .x_label_area_size(38)
        .y_label_area_size(62)
        .build_cartesian_2d(room(0.0, rows.len() as f64), low - 0.05..high + 0.05)?;
    chart
        .configure_mesh()
        .light_line_style(WHITE)
        .bold_line_style(GRID)
        .axis_style(INK)
        .label_style(("sans-serif", 12).into_font().color(&INK))
        .x_labels(6)
        .x_label_formatter(&|x| format!("{x:.0}"))
        .y_label_formatter(&|y| format!("{y:.1}"))
        .x_desc("iteration")
        .draw()?;
    for i in 0..scaled.first().map_or(0, Vec::len) {
        let line = rows.iter().zip(&scaled).map(|(row, weights)| (row.iteration as f64, weights[i]));
        chart.draw_series(LineSeries::new(line, COLOURS[i % COLOURS.len()].stroke_width(2)))?;
    }
    let Some(last) = scaled.last() else { return Ok(()) };
    // Names that would stand on each other are moved apart, from the top down.
    let plane = chart.plotting_area();
    let mut ends: Vec<(usize, i32)> = last
        .iter()
        .enumerate()
        .map(|(i, &weight)| (i, plane.map_coordinate(&(rows.len() as f64, weight)).1))
        .collect();
    ends.sort_by_key(|&(_, y)| y);
    let step = if ends.len() > 20 { 10 } else { 13 };
    for i in 1..ends.len() {
        ends[i].1 = ends[i].1.max(ends[i - 1].1 + step);
    }
    let (right, _) = plane.map_coordinate(&(rows.len() as f64 * 1.03, 0.0));
    let origin = area.get_base_pixel();
    for (i, y) in ends {
        let text = labels.get(i).copied().unwrap_or("?").replace('_', " ");
        let font =
            ("sans-serif", if step < 13 { 9 } else { 12 }).into_font().color(&COLOURS[i % COLOURS.len()]);
        area.draw(&Text::new(text, (right + 6 - origin.0, y - 6 - origin.1), font))?;
    }
    Ok(())
}
