//! Frames come evenly, and buttons act at once.

use std::time::Duration;

use dropwise_emulator::{Board, Button, Device, Note};
use libtest_mimic::Trial;

use crate::{Action, BOTH, SECOND, act_and_see, first_game, go_turbo, ms, on_boards, tests};

pub(crate) fn tests() -> Vec<Trial> {
    on_boards(
        BOTH,
        tests![a_frame_every_33_ms_when_watched, ten_frames_a_second_in_turbo, buttons_act_within_50_ms,],
    )
}

/// When each frame was complete, over a time.
fn frames(device: &mut Device, time: Duration) -> Vec<Note> {
    device.watch("DROPWISE_FRAMES", 10_000);
    device.run(time);
    device.watched("DROPWISE_FRAMES")
}

fn longest_gap(frames: &[Note]) -> Duration {
    frames.windows(2).map(|pair| pair[1].time - pair[0].time).max().unwrap_or(Duration::MAX)
}

/// A frame is complete when its last byte is sent, and frames differ in size; but none is left out.
fn a_frame_every_33_ms_when_watched(board: Board) {
    let mut device = Device::start(board);
    first_game(&mut device);
    device.run(SECOND);
    let frames = frames(&mut device, 6 * SECOND);
    let count = frames.len();
    let longest = longest_gap(&frames);
    println!("{}: {count} frames in 6 s at watch speed, gaps up to {longest:?}", board.name());
    assert!(longest < ms(33) * 3 / 2, "a gap of {longest:?}");
    assert!((181..=183).contains(&count), "{count} frames in 6 s");
}

fn ten_frames_a_second_in_turbo(board: Board) {
    let mut device = Device::start(board);
    first_game(&mut device);
    go_turbo(&mut device);
    device.run(ms(300));
    let shown = device.word("DROPWISE_FRAMES");
    assert!(device.run_until_value("DROPWISE_FRAMES", shown + 1, SECOND), "no frame in a second");
    // Halfway to the next frame, so that none is complete near the beginning or the end of the time.
    device.run(ms(50));
    let frames = frames(&mut device, 3 * SECOND);
    let longest = longest_gap(&frames);
    assert_eq!(frames.len(), 30, "frames in 3 s; gaps up to {longest:?}");
    assert!(longest < ms(100) * 3 / 2, "a gap of {longest:?}");
}

/// Buttons pressed together, for long or not, and the line in the log that tells of it; none for a piece placed.
type Press = (&'static [Button], bool, Option<&'static str>);

/// Every press that does something: docs/boards.md.
fn presses(board: Board, paused: bool) -> Vec<Press> {
    use Button::{A, B, Down, Left, Right, Up};
    if board == Board::PicoOled {
        let speed = if paused { None } else { Some("speed=") };
        let both = (&[A, B][..], false, Some("player="));
        let long = [(&[A][..], true, Some("game ")), (&[B], true, Some("page="))];
        return [(&[A][..], false, Some("paused=")), (&[B], false, speed), both]
            .into_iter()
            .chain(long)
            .collect();
    }
    let step = if paused { None } else { Some("paused=") };
    let cross =
        [(&[Up][..], "player="), (&[Down], "page="), (&[Left], "game "), (&[A], "paused="), (&[B], "speed=")];
    let cross = cross.map(|(buttons, line)| (buttons, false, Some(line)));
    cross.into_iter().chain([(&[Right][..], false, step)]).collect()
}

/// How long a press takes to act. Where a key has a short and a long press, the short one acts when it is let go.
fn latency(device: &mut Device, (buttons, long, line): Press) -> Duration {
    let (first, pieces) = (device.logs().len(), device.word("DROPWISE_PIECES"));
    buttons.iter().for_each(|&button| device.press(button));
    let on_release = device.board() == Board::PicoOled && buttons.len() == 1 && !long;
    if long || on_release {
        device.run(if long { ms(600) } else { ms(60) });
    }
    if on_release {
        device.release(buttons[0]);
    }
    let since = device.now();
    let acts = match line {
        Some(line) => device.find_log(first, ms(200), |log| log.text.starts_with(line)).is_some(),
        None => device.run_until_value("DROPWISE_PIECES", pieces + 1, ms(200)),
    };
    assert!(acts, "{buttons:?} do not lead to {line:?}; the log:\n{}", device.story());
    let latency = device.now() - since;
    buttons.iter().for_each(|&button| device.release(button));
    latency
}

fn buttons_act_within_50_ms(board: Board) {
    let mut device = Device::off(board, 1);
    let mut worst = Duration::ZERO;
    for mode in ["watch", "fast", "turbo", "paused"] {
        for press in presses(board, mode == "paused") {
            // At different moments between two frames, and between two looks at the buttons.
            for micros in [0, 13_700, 31_400, 57_100] {
                device.power_on();
                first_game(&mut device);
                assert!(device.run_until_value("DROPWISE_FRAMES", 1, SECOND), "no frame in a second");
                match mode {
                    "fast" => _ = act_and_see(&mut device, Action::Speed, "speed=fast"),
                    "turbo" => go_turbo(&mut device),
                    "paused" => _ = act_and_see(&mut device, Action::Pause, "paused=true"),
                    _ => {}
                }
                device.run(Duration::from_micros(20_000 + micros));
                let latency = latency(&mut device, press);
                assert!(latency <= ms(50), "{press:?} acts after {latency:?}, {mode}");
                worst = worst.max(latency);
                device.power_off();
            }
        }
    }
    println!("{}: every button acts within {worst:?} in every mode", board.name());
}
