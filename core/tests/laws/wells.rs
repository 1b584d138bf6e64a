//! The well against its twin; drawings in and out.

use std::fs;
use std::path::{Path, PathBuf};

use dropwise_core::{Overflow, Piece, Placement, Well};
use proptest::prelude::*;

use crate::generate::{cases, well};
use crate::twin::{self, Board};

const RULES: [Overflow; 2] = [Overflow::Before, Overflow::After];

#[test]
fn placements_stand_in_the_documented_order() {
    for piece in Piece::ALL {
        assert_eq!(Placement::all(piece).collect::<Vec<_>>(), twin::placements(piece), "{piece}");
        assert!(Placement::all(piece).all(|placement| placement.is_valid(piece)));
    }
}

#[test]
fn placements_outside_are_not_valid() {
    for piece in Piece::ALL {
        let inside: Vec<Placement> = Placement::all(piece).collect();
        for (orientation, column) in (0..=255).flat_map(|o| (0..=255).map(move |c| (o, c))) {
            let placement = Placement { orientation, column };
            assert_eq!(placement.is_valid(piece), inside.contains(&placement), "{piece} {placement:?}");
        }
    }
}

proptest! {
    #![proptest_config(cases(1000))]

    #[test]
    fn a_drop_is_its_twins(well in well()) {
        let board = Board::of(&well);
        for piece in Piece::ALL {
            for placement in Placement::all(piece) {
                for overflow in RULES {
                    let slow = board.drop(piece, placement, overflow);
                    let mut fast = well;
                    let landing = fast.drop(piece, placement, overflow);
                    let context = format!("{piece} {placement:?} {overflow:?} on\n{well}gives\n{fast}");
                    prop_assert_eq!(&slow.board.draw(), &fast.to_string(), "{}", context);
                    let bottom = slow.cells[0].1;
                    prop_assert_eq!(
                        (bottom, slow.lines, slow.eroded, slow.loses),
                        (landing.row.into(), landing.lines.into(), landing.eroded.into(), landing.loses),
                        "{}", context
                    );
                    for x in 0..twin::WIDTH {
                        let height = slow.board.column_height(x as i32);
                        prop_assert_eq!(height, i32::from(fast.heights()[x]), "column {} {}", x, context);
                        for y in 0..well.height() + 4 {
                            prop_assert_eq!(slow.board.full(x as i32, y as i32), fast.is_full(x, y));
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn a_drawing_is_read_back(well in well()) {
        let art = well.to_string();
        prop_assert_eq!(Well::from_art(&art), Ok(well));
        prop_assert_eq!(Well::from_rows(art.lines()), Ok(well));
        prop_assert_eq!(Board::of(&well).draw(), art);
    }

    #[test]
    fn any_text_is_read_or_refused(text in "[X.]{8,12}(\n[X. \t]{0,12}){0,22}|\\PC*") {
        if let Ok(well) = Well::from_art(&text) {
            prop_assert_eq!(Well::from_art(&well.to_string()), Ok(well));
        }
    }
}

fn corpus(name: &str) -> Vec<(PathBuf, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/wells").join(name);
    let mut files: Vec<PathBuf> =
        fs::read_dir(&folder).expect("the corpus").map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.len() >= 5, "{} holds hardly any wells", folder.display());
    files.into_iter().map(|path| (path.clone(), fs::read_to_string(&path).unwrap())).collect()
}

#[test]
fn valid_drawings_are_read() {
    for (path, text) in corpus("valid") {
        let well = Well::from_art(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let drawn: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        assert_eq!(well.to_string().lines().collect::<Vec<_>>(), drawn, "{}", path.display());
    }
}

/// The first line of an invalid drawing is the message it must give.
#[test]
fn invalid_drawings_are_refused_with_their_message() {
    for (path, text) in corpus("invalid") {
        let (message, drawing) = text.split_once('\n').expect("a message, then a drawing");
        match Well::from_art(drawing) {
            Ok(well) => panic!("{} was read:\n{well}", path.display()),
            Err(error) => assert_eq!(error.to_string(), message, "{}", path.display()),
        }
    }
}
