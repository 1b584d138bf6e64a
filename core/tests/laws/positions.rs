//! Positions with the answers of two independent programs, overflow tested before clearing.

use dropwise_core::feature::Outcome;
use dropwise_core::{Feature, Overflow, Piece, Placement, Well};
use serde::Deserialize;

use crate::twin::Board;

const POSITIONS: &str = include_str!("../data/positions.jsonl");

/// The order of the numbers in `features`.
const FEATURES: [&str; 16] = [
    "landing_height",
    "eroded_cells",
    "row_transitions",
    "column_transitions",
    "holes",
    "cumulative_wells",
    "hole_depth",
    "hole_depth_sum",
    "rows_with_holes",
    "pattern_diversity",
    "max_height",
    "landing_bottom",
    "landing_top",
    "lines_cleared",
    "outer_wells",
    "inner_wells",
];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Position {
    rows: Vec<String>,
    piece: char,
    placements: Vec<Expected>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expected {
    orientation: u8,
    column: u8,
    cells: Vec<(usize, usize)>,
    lines: u8,
    loses: bool,
    /// Not there for a placement that loses.
    features: Option<Vec<f64>>,
    column_heights: Option<Vec<u8>>,
}

#[test]
fn positions_have_the_expected_answers() {
    let (mut placements, mut losing, mut clearing) = (0, 0, 0);
    for (number, line) in POSITIONS.lines().enumerate() {
        let position: Position = serde_json::from_str(line).expect("a position");
        let well = Well::from_rows(&position.rows).expect("a well");
        let piece = Piece::from_letter(position.piece).expect("a piece");
        let order: Vec<Placement> = position
            .placements
            .iter()
            .map(|expected| Placement { orientation: expected.orientation, column: expected.column })
            .collect();
        assert_eq!(order, Placement::all(piece).collect::<Vec<_>>(), "position {}", number + 1);

        for (expected, placement) in position.placements.iter().zip(order) {
            let context = format!("position {}, {piece} {placement:?} on\n{well}", number + 1);
            let outcome = Outcome::of(&well, piece, placement, Overflow::Before);
            let slow = Board::of(&well).drop(piece, placement, Overflow::Before);
            placements += 1;
            losing += usize::from(expected.loses);
            clearing += usize::from(expected.lines > 0);

            let mut cells = expected.cells.clone();
            cells.sort_by_key(|&(x, y)| (y, x));
            assert_eq!(slow.cells, cells, "{context}");
            let shape = outcome.shape;
            let landed = (0..shape.height).flat_map(|y| {
                (shape.left[y]..shape.right[y])
                    .map(move |x| (usize::from(placement.column) + x, usize::from(outcome.landing.row) + y))
            });
            assert_eq!(landed.collect::<Vec<_>>(), cells, "{context}");
            let landing = outcome.landing;
            assert_eq!((landing.lines, landing.loses), (expected.lines, expected.loses), "{context}");

            assert_eq!(expected.features.is_none(), expected.loses, "{context}");
            let Some(features) = &expected.features else { continue };
            assert_eq!(features.len(), FEATURES.len(), "{context}");
            for (name, value) in FEATURES.iter().zip(features) {
                let feature = Feature::from_name(name).expect("a feature");
                let integer = value * f64::from(feature.unit());
                assert_eq!(f64::from(feature.measure(&outcome)), integer, "{name}, {context}");
                assert_eq!(slow.measure(feature), *value, "the twin's {name}, {context}");
            }
            let heights = expected.column_heights.as_ref().expect("heights beside features");
            assert_eq!(&outcome.well.heights()[..], heights, "{context}");
        }
    }
    // Not a test of nothing.
    assert!(placements > 4000 && losing > 400 && clearing > 100, "{placements} {losing} {clearing}");
}
