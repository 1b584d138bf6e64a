//! `host inspect`: the vectors, the contract, bad input, and what a person sees.

#[allow(dead_code, reason = "each test binary uses a part")]
mod common;

use common::{command, host, host_with, question, run, vectors};
use serde_json::{Value, json};

/// The order of the features in the vectors, as their README has it.
const NAMES: [&str; 16] = [
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

fn ask(arguments: &str, positions: &[Value]) -> Vec<Value> {
    let input: String = positions.iter().map(|position| format!("{position}\n")).collect();
    let answers = host_with(arguments, input).json_lines();
    assert_eq!(answers.len(), positions.len());
    answers
}

#[test]
fn every_vector_is_answered_as_expected() {
    let vectors = vectors();
    assert_eq!(vectors.len(), 200);
    for (number, (vector, answer)) in
        vectors.iter().zip(ask("inspect --json --features all", &vectors)).enumerate()
    {
        let expected = vector["placements"].as_array().unwrap();
        let placements = answer["placements"].as_array().unwrap();
        assert_eq!(placements.len(), expected.len(), "position {number}");
        for (placement, expected) in placements.iter().zip(expected) {
            for key in ["orientation", "column", "cells", "lines", "loses"] {
                assert_eq!(placement[key], expected[key], "position {number}: {key} of {placement}");
            }
            let Some(features) = expected["features"].as_array() else {
                assert_eq!((&placement["features"], &placement["value"]), (&json!({}), &Value::Null));
                continue;
            };
            for (name, expected) in NAMES.iter().zip(features) {
                let found = placement["features"][name].as_f64();
                assert_eq!(found, expected.as_f64(), "position {number}: {name} of {placement}");
            }
            for (column, expected) in expected["column_heights"].as_array().unwrap().iter().enumerate() {
                assert_eq!(&placement["features"][format!("column_height_{column}")], expected);
            }
            assert!(placement["value"].is_i64());
        }
    }
}

#[test]
fn the_chosen_placement_is_the_first_of_the_highest_value() {
    let vectors = vectors();
    for player in ["dellacherie", "bcts", "dt20", "cs3243", "bdu"] {
        for engine in ["fastest", "scalar", "general"] {
            let answers = ask(&format!("inspect --json --player {player} --engine {engine}"), &vectors);
            for answer in answers {
                let values = answer["placements"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|placement| placement["value"].as_i64());
                let mut best: Option<(i64, usize)> = None;
                for (i, value) in values.enumerate() {
                    if let Some(value) = value
                        && best.is_none_or(|(most, _)| value > most)
                    {
                        best = Some((value, i));
                    }
                }
                assert_eq!(answer["chosen"].as_u64(), best.map(|(_, i)| i as u64), "{player} {engine}");
            }
        }
    }
}

#[test]
fn losing_placements_are_judged_when_they_are_allowed() {
    let rows = [vec!["X........."; 3], vec![".X.X.X.X.X"]].concat();
    let position = json!({"rows": rows, "piece": "I"}).to_string();
    let avoided = host_with("inspect --json --player bcts", position.clone()).json();
    let allowed = host_with("inspect --json --player bcts --allow-losing", position).json();
    for (avoided, allowed) in
        avoided["placements"].as_array().unwrap().iter().zip(allowed["placements"].as_array().unwrap())
    {
        assert_eq!(avoided["loses"], allowed["loses"]);
        assert_eq!(avoided["value"].is_null(), avoided["loses"] == true);
        assert!(allowed["value"].is_i64());
        assert_eq!(allowed["features"].as_object().unwrap().len(), 8);
    }
}

#[test]
fn a_lost_position_has_no_choice() {
    let rows = [".X.X.X.X.X"; 4];
    let position = json!({"rows": rows, "piece": "O"}).to_string();
    let answer = host_with("inspect --json", position.clone()).json();
    assert_eq!(answer["chosen"], Value::Null);
    let told = host_with("inspect", position);
    assert_eq!(told.code, Some(0));
    assert!(told.stdout.contains("the game is over"), "{}", told.stdout);
}

#[test]
fn sets_have_their_papers_names() {
    let position = question(&vectors()[0]);
    for (set, names) in [
        ("flom-robinson", ["pile_height", "closed_holes", "wells", "lines_made", "bumpiness"]),
        ("bodoia", ["max_height", "holes", "covers", "mean_difference", "max_difference"]),
    ] {
        let answer = host_with(&format!("inspect --json --features {set}"), position.clone()).json();
        let features = answer["placements"][0]["features"].as_object().unwrap();
        assert_eq!(features.keys().collect::<Vec<_>>(), names);
    }
}

#[test]
fn known_next_pieces_change_the_choice() {
    let rows = ["..........", "..........", "..........", "..........", "XXXX.XXXX.", "XXXX.XXXX."];
    let position = |next: &str| json!({"rows": rows, "piece": "L", "next": next}).to_string();
    let alone = host_with("inspect --json", position("I")).json();
    assert_eq!(alone["chosen"], host_with("inspect --json", position("")).json()["chosen"]);
    let choices: Vec<Value> = ["I", "O", "S", "Z", "T", "J", "L"]
        .iter()
        .map(|next| host_with("inspect --json --lookahead 1", position(next)).json()["chosen"].clone())
        .collect();
    assert!(choices.iter().any(|choice| *choice != alone["chosen"]), "{choices:?}");
}

#[test]
fn bad_positions_are_named_by_line_and_end_with_two() {
    let good = question(&vectors()[0]);
    let empty = [".........."; 4];
    let with = |rows: &[&str], piece: &str| json!({"rows": rows, "piece": piece}).to_string();
    let cases = [
        (with(&[empty[0], empty[1], empty[2], "XXXXXXXXXX"], "T"), "is full"),
        (with(&[empty[0], empty[1], empty[2], "XXX"], "T"), "has 3 cells, not 10"),
        (with(&empty[..2], "T"), "4 to 20 rows, not 2"),
        (with(&empty, "Q"), "'Q' is not a piece"),
        (with(&empty, "t"), "'t' is not a piece"),
        ("hello".to_owned(), "not a position"),
        ("{\"rows\": []".to_owned(), "not a position"),
        ("{\"rows\": []}".to_owned(), "missing field `piece`"),
        ("..........".to_owned(), "add --piece"),
    ];
    for (bad, told) in cases {
        for arguments in ["inspect --json", "inspect"] {
            let run = host_with(arguments, format!("{good}\n\n{bad}\n"));
            assert_eq!(run.code, Some(2), "{bad}");
            assert!(run.stderr.contains("standard input, line 3"), "{}", run.stderr);
            assert!(run.stderr.contains(told), "{}", run.stderr);
            assert!(!run.stdout.is_empty(), "what came before is answered");
        }
    }
    let run = host_with("inspect --json", b"{\"rows\": \xff}\n");
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("line 1: not text"), "{}", run.stderr);
}

#[test]
fn no_position_is_nothing_to_a_program_and_an_error_to_a_person() {
    let run = host("inspect --json");
    assert_eq!((run.code, run.stdout.as_str()), (Some(0), ""));
    let run = host("inspect");
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("holds no position"), "{}", run.stderr);
}

const DRAWING: &str = "
    ..........
    ..........
    ..........
    .X........
    XXX.XX....
    XXXXXXX.XX
";

#[test]
fn a_person_sees_the_decision() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("board.txt");
    std::fs::write(&path, DRAWING).unwrap();
    let told = run(command()
        .args(["inspect", "--player", "bcts", "--piece", "T", "--top", "3", "--position"])
        .arg(&path));
    assert_eq!(told.code, Some(0), "{}", told.stderr);
    assert_eq!(told.stdout, host_with("inspect --player bcts --piece T --top 3", DRAWING).stdout);
    insta::assert_snapshot!(told.stdout, @r"
    bcts places T on 10x6, overflow tested before clearing

       5 ..........
       4 ..........
       3 ..........
       2 .XTTT.....
       1 XXXTXX....
       0 XXXXXXX.XX
         0123456789

      chosen: orientation 3, column 2; 34 placements, 0 of them lose

      by value              weight        #1        #2        #3
      orientation                          3         3         0
      column                               2         6         0
      lines                                0         1         0
      landing_height       -12.629       1.5       0.5       3.0
      eroded_cells           6.602         0         1         0
      row_transitions       -9.216        14        16        14
      column_transitions   -19.774        10        10        10
      holes                -13.083         0         0         0
      cumulative_wells     -10.487         2         3         2
      hole_depth            -1.612         0         0         0
      rows_with_holes      -24.041         0         0         0
      value                          -187731   -192691   -197430
      below best                           0      4960      9699
    ");
}

#[test]
fn drawings_that_are_not_wells_are_refused() {
    for (drawing, told) in [
        (DRAWING.replace("XXX.XX....", "XXXXXXXXXX"), "row 5 from the top is full"),
        (DRAWING.replace("XXX.XX....", "XXX.XX"), "row 5 from the top has 6 cells"),
        (DRAWING.replace("XXX.XX....", "XXX#XX...."), "'#'"),
        (question(&vectors()[0]), "leave out --piece"),
        (String::new(), "4 to 20 rows, not 0"),
    ] {
        let run = host_with("inspect --piece T", drawing);
        assert_eq!(run.code, Some(2));
        assert!(run.stderr.contains(told), "{}", run.stderr);
    }
    let run = host("inspect --position no-such-file --piece T");
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("cannot read the position in no-such-file"), "{}", run.stderr);
}

#[test]
fn wrong_arguments_end_with_two() {
    for (arguments, told) in [
        ("--features bctss", "did you mean 'bcts'?"),
        ("--piece Q", "'Q' is not a piece"),
        ("--piece TT", "a piece is one letter"),
        ("--top 0", "0 is not in 1..=34"),
    ] {
        let run = host(&format!("inspect {arguments}"));
        assert_eq!(run.code, Some(2));
        assert!(run.stderr.contains(told), "{}", run.stderr);
    }
}
