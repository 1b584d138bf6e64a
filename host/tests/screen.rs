//! `host screen`: the pictures of every page on every screen, and what is said when there is none.
//!
//! The pictures are in `tests/data/screens`. After a change that is meant to be seen, look at each of them and keep them:
//!
//! ```text
//! DROPWISE_OVERWRITE=1 cargo test -p host --test screen
//! ```

#[allow(dead_code, reason = "each test binary uses a part")]
mod common;

use std::fs;
use std::path::{Path, PathBuf};

use common::{host, host_with};

/// A picture's name, and what draws it.
const PICTURES: [(&str, &str); 8] = [
    ("game", "--seed 18446744073709551557"),
    ("next", "--player dellacherie --lookahead 2 --speed turbo --paused --pieces 300"),
    ("finished", "--player tests/data/clumsy.toml --pieces 100000 --speed fast"),
    ("statistics", "--page statistics"),
    ("weights", "--page weights"),
    ("weights-28", "--page weights --player bdu"),
    ("about", "--page about"),
    ("crash", "--page crash"),
];

const BOARDS: [&str; 3] = ["pico-oled", "thumby", "picosystem"];

fn kept(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/screens").join(name)
}

/// The pixels of a PNG: rows of red, green and blue.
fn pixels(path: &Path) -> Vec<Vec<[u8; 3]>> {
    let name = path.display();
    let file = fs::File::open(path).unwrap_or_else(|error| panic!("{name}: {error}"));
    let mut decoder = png::Decoder::new(std::io::BufReader::new(file));
    decoder.set_transformations(png::Transformations::EXPAND);
    let mut reader = decoder.read_info().unwrap();
    let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut bytes).unwrap();
    assert_eq!(info.color_type, png::ColorType::Rgb, "{name}");
    let rows = bytes[..info.buffer_size()].chunks(3 * info.width as usize);
    rows.map(|row| row.as_chunks().0.to_vec()).collect()
}

/// Draws a picture into a folder.
fn drawn(folder: &Path, arguments: &str) -> Vec<Vec<[u8; 3]>> {
    let out = folder.join("drawn.png");
    let run = host(&format!("screen {arguments} --out {}", out.display()));
    assert_eq!(run.code, Some(0), "{arguments}: {}", run.stderr);
    pixels(&out)
}

#[test]
fn screens_look_as_they_did() {
    let folder = tempfile::tempdir().unwrap();
    let overwrite = std::env::var("DROPWISE_OVERWRITE").is_ok_and(|value| value == "1");
    let mut changed = vec![];
    for board in BOARDS {
        for (name, arguments) in PICTURES {
            let path = kept(&format!("{board}-{name}.png"));
            let now = drawn(folder.path(), &format!("--board {board} {arguments}"));
            if overwrite {
                fs::copy(folder.path().join("drawn.png"), &path).unwrap();
            } else if pixels(&path) != now {
                let aside = std::env::temp_dir().join(format!("dropwise-{board}-{name}.png"));
                fs::copy(folder.path().join("drawn.png"), &aside).unwrap();
                changed.push(format!("{} is now {}", path.display(), aside.display()));
            }
        }
    }
    assert!(
        changed.is_empty(),
        "look at these; DROPWISE_OVERWRITE=1 keeps the new ones\n{}",
        changed.join("\n")
    );
}

#[test]
fn both_colour_boards_show_the_same() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(drawn(folder.path(), "--board pico-lcd-1.3"), drawn(folder.path(), "--board picosystem"));
}

#[test]
fn a_scale_makes_squares_of_pixels() {
    let folder = tempfile::tempdir().unwrap();
    let (one, three) = (drawn(folder.path(), "--page about"), drawn(folder.path(), "--page about --scale 3"));
    assert_eq!((three.len(), three[0].len()), (3 * 128, 3 * 64));
    for (y, row) in three.iter().enumerate() {
        for (x, pixel) in row.iter().enumerate() {
            assert_eq!(*pixel, one[y / 3][x / 3]);
        }
    }
}

#[test]
fn without_a_file_the_picture_is_text() {
    let run = host("screen --board thumby --page about");
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
    let folder = tempfile::tempdir().unwrap();
    let picture = drawn(folder.path(), "--board thumby --page about");
    let lines: Vec<Vec<char>> = run.stdout.lines().map(|line| line.chars().collect()).collect();
    assert_eq!(lines.len(), 20);
    for (y, row) in picture.iter().enumerate() {
        assert_eq!(lines[y / 2].len(), 72);
        for (x, pixel) in row.iter().enumerate() {
            let full = if y % 2 == 0 { ['\u{2580}', '\u{2588}'] } else { ['\u{2584}', '\u{2588}'] };
            assert_eq!(full.contains(&lines[y / 2][x]), *pixel == [255; 3], "{x} {y}");
        }
    }
}

#[test]
fn json_tells_what_was_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("x.png");
    let run = host(&format!("screen --json --seed 7 --pieces 12 --scale 2 --out {}", out.display()));
    let json = run.json();
    assert_eq!((&json["width"], &json["height"]), (&128.into(), &256.into()));
    assert_eq!((&json["board"], &json["page"]), (&"pico-oled".into(), &"game".into()));
    assert_eq!((&json["seed"], &json["pieces"], &json["finished"]), (&7.into(), &12.into(), &false.into()));
    assert_eq!(json["out"], out.to_str().unwrap());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left aside");
}

#[test]
fn what_cannot_be_drawn_is_told_with_the_way_out() {
    for (arguments, told) in [
        ("--board picosystem", "give --out FILE.png"),
        ("--board gameboy", "possible values: pico-oled"),
        ("--page settings", "possible values: game"),
        ("--out picture.jpg", "should end in .png"),
        ("--out no/such/folder/x.png", "check the path"),
        ("--json", "give --out FILE.png"),
        ("--scale 0", "0 is not in 1..=16"),
        ("--player nobody --out x.png", "unknown player 'nobody'"),
        ("--lookahead 1 --rescue 5 --out x.png", "leave out --lookahead or --rescue"),
    ] {
        let run = host_with(&format!("screen {arguments}"), "");
        assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{arguments}");
        assert!(run.stderr.contains(told), "{arguments}: {}", run.stderr);
    }
}

/// The frames of an animated PNG as a viewer shows them, each over those before it.
fn frames(path: &Path) -> Vec<Vec<Vec<[u8; 3]>>> {
    let mut decoder = png::Decoder::new(std::io::BufReader::new(fs::File::open(path).unwrap()));
    decoder.set_transformations(png::Transformations::EXPAND);
    let mut reader = decoder.read_info().unwrap();
    let count = reader.info().animation_control().expect("it moves").num_frames;
    let (width, height) = reader.info().size();
    let mut shown = vec![vec![[0; 3]; width as usize]; height as usize];
    let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
    let each = (0..count).map(|_| {
        let size = reader.next_frame(&mut bytes).unwrap().buffer_size();
        let part = *reader.info().frame_control().expect("a frame has its place");
        let pixels = bytes[..size].as_chunks::<3>().0;
        for (y, row) in pixels.chunks(part.width as usize).enumerate() {
            let x = part.x_offset as usize;
            shown[part.y_offset as usize + y][x..x + row.len()].copy_from_slice(row);
        }
        shown.clone()
    });
    each.collect()
}

#[test]
fn a_moving_picture_goes_through_the_still_ones() {
    let folder = tempfile::tempdir().unwrap();
    let moving = folder.path().join("moving.png");
    for board in BOARDS {
        let arguments =
            format!("screen --board {board} --pieces 58 --moves 4 --json --out {}", moving.display());
        assert_eq!(host(&arguments).json()["frames"], 20);
        let frames = frames(&moving);
        // A piece is seen five times on its way; a still shows it in the middle.
        for (i, frame) in frames.iter().skip(2).step_by(5).enumerate() {
            let still = drawn(folder.path(), &format!("--board {board} --pieces {}", 58 + i));
            assert_eq!(frame, &still, "{board}, move {i}");
        }
        assert_ne!(frames[0], frames[1], "{board}: a piece falls");
    }
    let lost = "screen --player tests/data/clumsy.toml --pieces 100000 --moves 9 --json --out";
    assert_eq!(
        host(&format!("{lost} {}", moving.display())).json()["frames"],
        5,
        "a lost game has no more moves"
    );
    let refused = host("screen --moves 3");
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("--out"), "{}", refused.stderr);
}
