//! The named boards in `data/boards`.
//!
//! A file is a comment, a board, the number of placements on it, and chosen drops with what they lead to:
//!
//! ```text
//! # Why the board is here.
//!
//! board
//! ..........           top row first; 4 to 20 rows
//!
//! placements I 17 O 9 T 34 Z 17 S 17 J 34 L 34           all there are
//! safe before I 17 O 9 ...                               those that do not lose, by the rule "before"
//! safe after I 17 O 9 ...                                and by the rule "after"
//! two pieces 26244 ways to 9000 boards                   safe ways to place any two pieces, and the boards they give
//!
//! drop I 0 9                                             a piece, its orientation and column; `after` for that rule
//! lines 1                                                lines cleared, and `loses` if it does
//! eroded_cells 4                                         any features, in the units of the literature
//! ..........                                             the board after clearing
//! ```
//!
//! To add one, draw the board, name the drops and the features (with any numbers), run the test with DROPWISE_BLESS=1 and
//! read what it wrote: the twin fills in every number and drawing. Without it, file, twin and crate must agree.

use std::collections::HashSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

use dropwise_core::feature::Outcome;
use dropwise_core::{Feature, Overflow, Piece, Placement, Well};

use crate::board_file::board;
use crate::twin::{self, Board};

/// A drop of a file: what to do, and which features to show.
struct Request {
    piece: Piece,
    placement: Placement,
    overflow: Overflow,
    features: Vec<Feature>,
}

/// One of the two implementations, as far as the files need it.
trait Judge: Clone {
    fn placements(piece: Piece) -> Vec<Placement>;
    /// The board after a drop, the lines and whether it lost.
    fn drop(&self, piece: Piece, placement: Placement, overflow: Overflow) -> (Self, usize, bool);
    fn feature(&self, request: &Request, feature: Feature) -> f64;
    fn draw(&self) -> String;
}

impl Judge for Well {
    fn placements(piece: Piece) -> Vec<Placement> {
        Placement::all(piece).collect()
    }

    fn drop(&self, piece: Piece, placement: Placement, overflow: Overflow) -> (Well, usize, bool) {
        let mut well = *self;
        let landing = Well::drop(&mut well, piece, placement, overflow);
        (well, landing.lines.into(), landing.loses)
    }

    fn feature(&self, request: &Request, feature: Feature) -> f64 {
        let outcome = Outcome::of(self, request.piece, request.placement, request.overflow);
        f64::from(feature.measure(&outcome)) / f64::from(feature.unit())
    }

    fn draw(&self) -> String {
        self.to_string()
    }
}

impl Judge for Board {
    fn placements(piece: Piece) -> Vec<Placement> {
        twin::placements(piece)
    }

    fn drop(&self, piece: Piece, placement: Placement, overflow: Overflow) -> (Board, usize, bool) {
        let drop = Board::drop(self, piece, placement, overflow);
        (drop.board, drop.lines, drop.loses)
    }

    fn feature(&self, request: &Request, feature: Feature) -> f64 {
        Board::drop(self, request.piece, request.placement, request.overflow).measure(feature)
    }

    fn draw(&self) -> String {
        Board::draw(self)
    }
}

/// The boards that any piece leads to without losing.
fn safe<J: Judge>(board: &J, piece: Piece, overflow: Overflow) -> Vec<J> {
    J::placements(piece)
        .into_iter()
        .map(|placement| board.drop(piece, placement, overflow))
        .filter(|(_, _, loses)| !loses)
        .map(|(board, _, _)| board)
        .collect()
}

fn each_piece(count: impl Fn(Piece) -> usize) -> String {
    Piece::ALL.map(|piece| format!(" {piece} {}", count(piece))).concat()
}

fn two_pieces<J: Judge>(board: &J) -> (usize, usize) {
    let any =
        |board: &J| Piece::ALL.into_iter().flat_map(|piece| safe(board, piece, Overflow::Before)).collect();
    let first: Vec<J> = any(board);
    let second: Vec<String> = first.iter().flat_map(any).map(|board| board.draw()).collect();
    (second.len(), second.iter().collect::<HashSet<_>>().len())
}

/// The whole file as this implementation would have it.
fn render<J: Judge>(comment: &str, board: &J, requests: &[Request]) -> String {
    let mut text = format!("{comment}\nboard\n{}\n", board.draw());
    writeln!(text, "placements{}", each_piece(|piece| J::placements(piece).len())).unwrap();
    for (name, overflow) in [("before", Overflow::Before), ("after", Overflow::After)] {
        writeln!(text, "safe {name}{}", each_piece(|piece| safe(board, piece, overflow).len())).unwrap();
    }
    let (ways, boards) = two_pieces(board);
    writeln!(text, "two pieces {ways} ways to {boards} boards").unwrap();
    for request in requests {
        let Request { piece, placement, overflow, features } = request;
        let rule = if *overflow == Overflow::After { " after" } else { "" };
        writeln!(text, "\ndrop {piece} {} {}{rule}", placement.orientation, placement.column).unwrap();
        let (after, lines, loses) = board.drop(*piece, *placement, *overflow);
        writeln!(text, "lines {lines}{}", if loses { "\nloses" } else { "" }).unwrap();
        for &feature in features {
            writeln!(text, "{feature} {}", board.feature(request, feature)).unwrap();
        }
        text += &after.draw();
    }
    text
}

fn request(line: &str) -> Option<Request> {
    let words: Vec<&str> = line.split(' ').collect();
    let (words, overflow) = match words.strip_suffix(&["after"]) {
        Some(words) => (words, Overflow::After),
        None => (&words[..], Overflow::Before),
    };
    let [letter, orientation, column] = words else { return None };
    let piece = Piece::from_letter(letter.parse().ok()?)?;
    let placement = Placement { orientation: orientation.parse().ok()?, column: column.parse().ok()? };
    placement.is_valid(piece).then_some(Request { piece, placement, overflow, features: Vec::new() })
}

/// The requests of a file; numbers and drawings are not read but compared.
fn requests(text: &str) -> Vec<Request> {
    let mut requests: Vec<Request> = Vec::new();
    for line in text.lines() {
        if let Some(drop) = line.strip_prefix("drop ") {
            requests.push(request(drop).unwrap_or_else(|| panic!("not a drop: {line}")));
        } else if let (Some(request), Some((name, _))) = (requests.last_mut(), line.split_once(' '))
            && name != "lines"
        {
            let feature = Feature::from_name(name).unwrap_or_else(|| panic!("no such feature: {line}"));
            request.features.push(feature);
        }
    }
    requests
}

/// Shows the part around the first line that differs.
fn difference(expected: &str, found: &str) -> String {
    let (expected, found): (Vec<_>, Vec<_>) = (expected.lines().collect(), found.lines().collect());
    let line = |lines: &[&str], i: usize| lines.get(i).copied().unwrap_or("(end)").to_owned();
    let first = (0..).find(|&i| line(&expected, i) != line(&found, i)).unwrap();
    let start = expected[..first].iter().rposition(|line| line.is_empty()).map_or(0, |blank| blank + 1);
    let end =
        expected.iter().skip(first).position(|line| line.is_empty()).map_or(expected.len(), |n| first + n);
    let mut text = format!("line {}; expected, found:\n", first + 1);
    for i in start..end.max(first + 1) {
        let (a, b) = (line(&expected, i), line(&found, i));
        writeln!(text, "{} {a:34} {b}", if a == b { ' ' } else { '>' }).unwrap();
    }
    text
}

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/boards");
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder).expect("the boards").map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

#[test]
fn named_boards_are_as_drawn() {
    let files = files();
    assert!(files.len() >= 20, "only {} named boards", files.len());
    let mut failures = String::new();
    for path in files {
        let text = fs::read_to_string(&path).unwrap();
        let name = path.file_stem().unwrap().display();
        let well = board(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        let comment: String =
            text.lines().take_while(|line| line.starts_with('#')).map(|line| format!("{line}\n")).collect();
        assert!(!comment.is_empty(), "{name} does not say why it is here");
        let requests = requests(&text);
        assert!(!requests.is_empty(), "{name} drops nothing");
        let twin = render(&comment, &Board::of(&well), &requests);
        if env::var("DROPWISE_BLESS").is_ok_and(|value| value == "1") {
            fs::write(&path, &twin).unwrap();
            continue;
        }
        if twin != text {
            writeln!(failures, "{name}, file and twin, {}", difference(&text, &twin)).unwrap();
        }
        let core = render(&comment, &well, &requests);
        if core != text {
            writeln!(failures, "{name}, file and crate, {}", difference(&text, &core)).unwrap();
        }
    }
    assert!(failures.is_empty(), "{failures}");
}

/// The counts the research game is known by.
#[test]
fn an_empty_board_has_162_placements() {
    let counts = Piece::ALL.map(|piece| Placement::all(piece).count());
    assert_eq!(counts, [17, 9, 34, 17, 17, 34, 34]);
    assert_eq!(counts.iter().sum::<usize>(), 162);
    let (ways, _) = two_pieces(&Well::new(20).unwrap());
    assert_eq!(ways, 162 * 162);
}
