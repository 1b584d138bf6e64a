//! The weights page: what the player looks at, and how much each feature counts for and against a placement.

use embedded_graphics::draw_target::DrawTarget;

use super::Layout;
use super::canvas::{Align, Canvas, Line, Style};
use super::font::{MEDIUM, SMALL, TINY};
use super::ink::{Ink, Palette};
use super::scene::Scene;
use super::text::Text;
use crate::feature::{Feature, MAX_FEATURES};
use crate::player::Player;

/// The arrangement holds the player, so all but its name stays as it is.
pub(super) fn draw<D>(canvas: &mut Canvas<'_, D>, layout: Layout, scene: &Scene<'_>) -> Result<(), D::Error>
where
    D: DrawTarget<Color: Palette>,
{
    let player = scene.player;
    let (plain, faint) = (Style::of(Ink::Text), Style::of(Ink::Faint));
    match layout {
        Layout::Tall => {
            const TOP: i32 = 12;
            let rows = Rows::of(player, 9);
            canvas.text(Line::new(0, 0, 40, &SMALL), plain, Text::of(scene.name))?;
            canvas.fixed_line(Line::new(40, 1, 24, &TINY).align(Align::Right), faint, rows.count())?;
            let axis = Axis::of(&rows, 0, 64);
            let pitch = rows.pitch(128 - TOP, 15);
            for (i, row) in (0..).zip(rows.rows()) {
                let y = TOP + pitch * i;
                canvas.fixed_text(Line::new(0, y, 44, &TINY), plain, short(row.feature))?;
                canvas.fixed_line(Line::new(44, y, 20, &TINY).align(Align::Right), faint, row.percent())?;
                canvas.fixed_panel(axis.x, y + 6, 1, 5, Ink::Frame)?;
                axis.bar(canvas, y + 7, 3, row)?;
            }
        }
        Layout::Small => {
            const TOP: i32 = 8;
            let rows = Rows::of(player, 5);
            canvas.text(Line::new(0, 0, 48, &TINY), plain, Text::of(scene.name))?;
            canvas.fixed_line(Line::new(48, 0, 24, &TINY).align(Align::Right), faint, rows.count())?;
            let axis = Axis::of(&rows, 43, 29);
            canvas.fixed_panel(axis.x, TOP, 1, 32, Ink::Frame)?;
            for (i, row) in (0..).zip(rows.rows()) {
                let y = TOP + 13 * i / 2;
                canvas.fixed_text(Line::new(0, y, 40, &TINY), plain, short(row.feature))?;
                axis.bar(canvas, y + 1, 3, row)?;
            }
        }
        Layout::Large => {
            const TOP: i32 = 36;
            let rows = Rows::of(player, MAX_FEATURES);
            canvas.title(scene.name, Ink::Accent)?;
            let set = Line::new(158, 13, 74, &MEDIUM).align(Align::Right);
            canvas.fixed_line(set, faint, Text::of("set ").and(player.set().name()))?;
            let pitch = rows.pitch(236 - TOP, 24);
            let (font, height) = if pitch > 9 { (&MEDIUM, 9) } else { (&TINY, 6) };
            let axis = Axis::of(&rows, 164, 68);
            canvas.fixed_panel(axis.x, TOP - 2, 1, pitch * (rows.len as i32 - 1) + height + 3, Ink::Frame)?;
            for (i, (row, label)) in (0..).zip(rows.rows().zip(player.set().labels())) {
                let y = TOP + pitch * i;
                let name = Line::new(8, y, 108, font);
                let label = if label.len() <= name.room() { label } else { short(row.feature) };
                canvas.fixed_line(name, plain, Text::of(label).spaced())?;
                let weight = Line::new(122, y, 36, font).align(Align::Right);
                canvas.fixed_line(weight, faint, signed(row.weight.into()))?;
                axis.bar(canvas, y, height - 2, row)?;
            }
        }
    }
    Ok(())
}

/// A feature and its weight, beside the largest weight of the player.
#[derive(Clone, Copy)]
struct Row {
    feature: Feature,
    weight: i16,
    largest: i32,
}

impl Row {
    /// The weight as part of the largest.
    fn percent(&self) -> Text {
        signed(i32::from(self.weight) * 100 / self.largest).and("%")
    }
}

/// The features of a player: all in the set's order, or, where they do not all fit, the weightiest first.
struct Rows {
    rows: [Row; MAX_FEATURES],
    len: usize,
    of: usize,
    largest: i32,
}

impl Rows {
    fn of(player: &Player, room: usize) -> Rows {
        let (features, weights) = (player.set().features(), player.weights());
        let largest = weights.iter().map(|&weight| i32::from(weight).abs()).max().unwrap_or(0).max(1);
        let mut rows = [Row { feature: Feature::ALL[0], weight: 0, largest }; MAX_FEATURES];
        for (row, (&feature, &weight)) in rows.iter_mut().zip(features.iter().zip(weights)) {
            *row = Row { feature, weight, largest };
        }
        let of = features.len().min(MAX_FEATURES);
        if of > room {
            // By insertion: the library's sort is 7 KB of code, for at most 28 rows.
            for end in 1..of {
                let mut i = end;
                while i > 0 && rows[i].weight.unsigned_abs() > rows[i - 1].weight.unsigned_abs() {
                    rows.swap(i, i - 1);
                    i -= 1;
                }
            }
        }
        Rows { rows, len: of.min(room), of, largest }
    }

    fn rows(&self) -> impl Iterator<Item = &Row> {
        self.rows[..self.len].iter()
    }

    /// Pixels from row to row, to fill a height but not to stretch.
    fn pitch(&self, height: i32, most: i32) -> i32 {
        (height / self.len.max(1) as i32).min(most)
    }

    /// `8`, or `9/28` where only some are shown.
    fn count(&self) -> Text {
        let text = Text::new().and_number(self.len as u64);
        if self.len == self.of { text } else { text.and("/").and_number(self.of as u64) }
    }
}

/// Where bars grow from: to the right for a placement, to the left against it.
#[derive(Clone, Copy)]
struct Axis {
    x: i32,
    /// Pixels for the weight that is largest by amount.
    unit: i32,
}

impl Axis {
    /// An axis that leaves each side as much of the width as its largest weight needs.
    fn of(rows: &Rows, left: i32, width: i32) -> Axis {
        let most =
            |sign: i32| rows.rows().map(|row| (sign * i32::from(row.weight)).max(0)).max().unwrap_or(0);
        let (against, all) = (most(-1), (most(-1) + most(1)).max(1));
        // The line and a gap on both its sides.
        let room = width - 3;
        Axis { x: left + 1 + room * against / all, unit: room * rows.largest / all }
    }

    fn bar<D>(self, canvas: &mut Canvas<'_, D>, y: i32, height: i32, row: &Row) -> Result<(), D::Error>
    where
        D: DrawTarget<Color: Palette>,
    {
        let length = i32::from(row.weight).abs() * self.unit / row.largest;
        if row.weight < 0 {
            canvas.fixed_panel(self.x - 1 - length, y, length, height, Ink::Alarm)
        } else {
            canvas.fixed_panel(self.x + 2, y, length, height, Ink::Good)
        }
    }
}

fn signed(number: i32) -> Text {
    let sign = if number < 0 { "-" } else { "" };
    Text::of(sign).and_number(number.unsigned_abs().into())
}

/// A feature's name in at most ten characters.
fn short(feature: Feature) -> &'static str {
    const HEIGHTS: [&str; 10] = [
        "height 0", "height 1", "height 2", "height 3", "height 4", "height 5", "height 6", "height 7",
        "height 8", "height 9",
    ];
    const STEPS: [&str; 9] =
        ["step 0", "step 1", "step 2", "step 3", "step 4", "step 5", "step 6", "step 7", "step 8"];
    match feature {
        Feature::LandingHeight => "landing ht",
        Feature::ErodedCells => "eroded",
        Feature::RowTransitions => "row trans",
        Feature::ColumnTransitions | Feature::ColumnTransitionsBelowBrim => "col trans",
        Feature::Holes => "holes",
        Feature::CumulativeWells => "cum wells",
        Feature::HoleDepth => "hole depth",
        Feature::HoleDepthSum => "depth sum",
        Feature::RowsWithHoles => "hole rows",
        Feature::PatternDiversity => "diversity",
        Feature::MaxHeight => "max height",
        Feature::LandingBottom => "bottom",
        Feature::LandingTop => "top",
        Feature::LinesCleared => "lines",
        Feature::OuterWells => "outer well",
        Feature::InnerWells => "inner well",
        Feature::Wells => "wells",
        Feature::Bumpiness => "bumpiness",
        Feature::MeanDifference => "mean step",
        Feature::MaxDifference => "max step",
        Feature::FlatSteps => "flat steps",
        Feature::SingleSteps => "steps of 1",
        Feature::FlatOccurs => "has flat",
        Feature::SingleDirections => "1 up, down",
        Feature::DeepWells => "deep wells",
        Feature::CoveredWells => "shut wells",
        Feature::RbfHeight0 => "rbf 0",
        Feature::RbfHeight1 => "rbf 1",
        Feature::RbfHeight2 => "rbf 2",
        Feature::RbfHeight3 => "rbf 3",
        Feature::RbfHeight4 => "rbf 4",
        numbered => {
            let after = |first: Feature| numbered as usize - first as usize;
            if (numbered as usize) < Feature::AdjacentDifference0 as usize {
                HEIGHTS[after(Feature::ColumnHeight0)]
            } else {
                STEPS[after(Feature::AdjacentDifference0)]
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_feature_has_a_short_name() {
        for &feature in Feature::ALL {
            assert!((3..=10).contains(&short(feature).len()), "{feature:?}");
        }
        assert_eq!(short(Feature::ColumnHeight9), "height 9");
        assert_eq!(short(Feature::AdjacentDifference8), "step 8");
    }

    #[test]
    fn where_not_all_fit_the_weightiest_come_first() {
        let player = Player::known("bcts").unwrap();
        let all = Rows::of(&player, 9);
        assert!(all.rows().map(|row| row.weight).eq(player.weights().iter().copied()));
        let some = Rows::of(&player, 3);
        let features: std::vec::Vec<_> = some.rows().map(|row| row.feature).collect();
        assert_eq!(features, [Feature::RowsWithHoles, Feature::ColumnTransitions, Feature::Holes]);
        assert_eq!(some.count().bytes(), b"3/8");
    }
}
