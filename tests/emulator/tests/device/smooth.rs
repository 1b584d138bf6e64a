//! Frames come evenly, and buttons act at once.

use std::time::Duration;

use dropwise_emulator::{Board, Button, Device, Note};
use libtest_mimic::Trial;

use crate::{Action, BOTH, SECOND, act_and_see, first_game, go_turbo, ms, on_boards, tests};

pub(crate) fn tests() -> Vec<Trial> {
    on_boards(
        BOTH,
        tests![a_frame_every_33_ms_when_watched, ten_frames_a_second_in_turbo, buttons_act_within_50_ms],
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
    let frames = frames(&mut device, 3 * SECOND);
    let longest = longest_gap(&frames);
    assert!(frames.len() >= 30, "{} frames in 3 s; gaps up to {longest:?}", frames.len());
    assert!(longest < ms(100) * 3 / 2, "a gap of {longest:?}");
}

/// Where a key has a short and a long press, the short one acts when it is let go.
fn buttons_act_within_50_ms(board: Board) {
    let mut device = Device::start(board);
    first_game(&mut device);
    let mut worst = Duration::ZERO;
    for speed in ["watch", "fast", "turbo"] {
        if speed != "watch" {
            act_and_see(&mut device, Action::Speed, &format!("speed={speed}"));
        }
        for phase in 0..8 {
            // Playing or paused in turn; presses fall at different moments between two looks at the button.
            device.run(Duration::from_micros(100_000 + 3_700 * phase));
            let first = device.logs().len();
            device.press(Button::A);
            let mut since = device.now();
            device.run(ms(60));
            device.release(Button::A);
            if board == Board::PicoOled {
                since = device.now();
            }
            let log = device.find_log(first, ms(200), |log| log.text.starts_with("paused="));
            let Some(log) = log else { panic!("no effect at {speed} speed; the log:\n{}", device.story()) };
            worst = worst.max(log.uptime - since);
            device.run(ms(60));
        }
    }
    println!("{}: a button acts within {worst:?}", board.name());
    assert!(worst <= ms(50), "{worst:?}");
}
