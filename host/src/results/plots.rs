//! The pictures of the page.

use plotters::prelude::*;

use super::heights::Fit;
use super::sums::Sums;
use crate::output::Failure;
use crate::plot::{Axes, INK, Mark, Series, chart, colour, picture, short};
use crate::train::run::Row as Iteration;

const SIZE: (u32, u32) = (900, 520);

/// Beyond this many means few games are left to draw.
const MEANS: f64 = 7.0;

/// Two digits that matter.
fn rounded(number: f64) -> String {
    let decimals = if number > 0.0 { (1.0 - number.log10().floor()).clamp(0.0, 12.0) as usize } else { 0 };
    let text = format!("{number:.decimals$}");
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    text.to_owned()
}

/// How many games get how far, against the exponential distribution of the same mean.
///
/// # Errors
/// If it cannot be drawn.
pub fn distribution(title: &str, rows: &[(String, Sums)]) -> Result<String, Failure> {
    let mut series = vec![];
    let mut furthest: f64 = 1.0;
    for (i, (name, sums)) in rows.iter().enumerate() {
        let Some(summary) = sums.summary().filter(|summary| summary.mean > 0.0) else { continue };
        let survival = sums.histogram.survival();
        let points: Vec<(f64, f64)> =
            survival.into_iter().map(|(lines, share)| (lines / summary.mean, share)).collect();
        let gap = points.iter().map(|&(means, share)| (share - (-means).exp()).abs()).fold(0.0, f64::max);
        let points = points.into_iter().filter(|point| point.0 <= MEANS);
        let points: Vec<_> = points.map(|(means, share)| (means, share.log10())).collect();
        furthest = furthest.max(points.last().map_or(0.0, |point| point.0));
        let name = format!("{name}: off by {:.1} % at most", gap * 100.0);
        series.push(Series { name, points, notes: vec![], colour: colour(i), mark: Mark::Thin });
    }
    let exponential =
        (0..=200).map(|i| f64::from(i) / 200.0 * furthest).map(|means| (means, (-means).exp().log10()));
    let exponential = exponential.collect();
    let name = "exponential".into();
    series.insert(0, Series { name, points: exponential, notes: vec![], colour: INK, mark: Mark::Line });
    let axes = Axes {
        x: "lines, in means of the player",
        y: "share of games that get so far",
        x_label: rounded,
        y_label: |share| format!("{} %", rounded(100.0 * 10f64.powf(share))),
    };
    picture(SIZE, title, |area| chart(area, axes, SeriesLabelPosition::LowerLeft, &series))
}

/// How often piles are how high, with the fitted lines drawn up to where a game ends.
///
/// # Errors
/// If it cannot be drawn.
pub fn heights(title: &str, rows: &[(String, usize, Vec<u64>)]) -> Result<String, Failure> {
    let mut series = vec![];
    for (i, (name, board, counts)) in rows.iter().enumerate() {
        let all: f64 = counts.iter().map(|&count| count as f64).sum();
        let points = counts.iter().enumerate().filter(|(_, count)| **count > 0);
        let points = points.map(|(h, &count)| (h as f64, (count as f64 / all).log10())).collect();
        series.push(Series {
            name: name.clone(),
            points,
            notes: vec![],
            colour: colour(i),
            mark: Mark::Dots,
        });
        if let Some(fit) = Fit::of(counts) {
            let ends = [fit.heights.0 as f64, (board + 1) as f64];
            let points = ends.map(|height| (height, fit.frequency(height).log10())).to_vec();
            let (name, notes) = (String::new(), vec![]);
            series.push(Series { name, points, notes, colour: colour(i), mark: Mark::Thin });
        }
    }
    let axes = Axes {
        x: "height of the pile",
        y: "frequency",
        x_label: rounded,
        y_label: |frequency| format!("{:.0e}", 10f64.powf(frequency)),
    };
    picture(SIZE, title, |area| chart(area, axes, SeriesLabelPosition::UpperRight, &series))
}

/// What a player gains by looking deeper.
#[derive(Clone, Debug)]
pub struct Gains {
    /// The player and the board.
    pub name: String,
    /// What is joined by a line, in the order of the plan.
    pub points: Vec<Gain>,
    /// What stands beside it.
    pub others: Vec<Gain>,
}

/// A point of a picture of gains.
#[derive(Clone, Debug)]
pub struct Gain {
    /// What it is.
    pub note: String,
    /// Time per piece, in those without rescue.
    pub cost: f64,
    /// Lines, in those without rescue.
    pub lines: f64,
}

/// Lines against what they cost.
///
/// # Errors
/// If it cannot be drawn.
pub fn cost(title: &str, rows: &[Gains]) -> Result<String, Failure> {
    let series = |name: &str, gains: &[Gain], i, mark| Series {
        name: name.into(),
        points: gains.iter().map(|gain| (gain.cost.log2(), gain.lines)).collect(),
        notes: gains.iter().map(|gain| gain.note.clone()).collect(),
        colour: colour(i),
        mark,
    };
    let of_row = |(i, row): (usize, &Gains)| {
        [series(&row.name, &row.points, i, Mark::Joined), series("", &row.others, i, Mark::Dots)]
    };
    let series: Vec<Series> = rows.iter().enumerate().flat_map(of_row).collect();
    let axes = Axes {
        x: "time per piece, in those of the player without rescue",
        y: "lines, in those without rescue",
        x_label: |cost| rounded(cost.exp2()),
        y_label: rounded,
    };
    picture(SIZE, title, |area| chart(area, axes, SeriesLabelPosition::LowerRight, &series))
}

/// How runs learned.
///
/// # Errors
/// If it cannot be drawn.
pub fn curves(title: &str, runs: &[(String, Vec<Iteration>)]) -> Result<String, Failure> {
    let series: Vec<Series> = runs
        .iter()
        .enumerate()
        .map(|(i, (name, rows))| Series {
            name: name.clone(),
            // A logarithm has no zero.
            points: rows.iter().map(|row| (row.pieces as f64, row.mean.max(1.0).log10())).collect(),
            notes: vec![],
            colour: colour(i),
            mark: Mark::Line,
        })
        .collect();
    let axes = Axes {
        x: "pieces placed in training",
        y: "lines per game of the favourite",
        x_label: short,
        y_label: |lines| short(10f64.powf(lines)),
    };
    picture(SIZE, title, |area| chart(area, axes, SeriesLabelPosition::LowerRight, &series))
}
