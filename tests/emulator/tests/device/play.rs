//! Playing for long and pausing for long: nothing leaks, nothing is late, no clock drifts.

use std::time::Duration;

use dropwise_emulator::{Board, Button, Device, Log};
use libtest_mimic::Trial;

use crate::{Action, BOTH, SECOND, act_and_see, is_full, ms, on_boards, tests};

pub(crate) fn tests() -> Vec<Trial> {
    on_boards(BOTH, tests![play_and_pause])
}

const MINUTE: Duration = Duration::from_secs(60);
/// Longer than an hour, and than the 2^32 microseconds after which the chip's timer wraps.
const PAUSE: Duration = Duration::from_secs(72 * 60);

/// Both stacks: memory.x.
const STACKS: [(u32, usize); 2] = [(0x2000_0000, 16 * 1024), (0x2004_0000, 8 * 1024)];
/// The guard and the painted words at the end of each.
const GUARD: usize = 64;

/// How deep each stack has ever been, in bytes: RAM that still holds the noise of power-on was not used.
fn depths(device: &mut Device, noise: &[Vec<u8>; 2]) -> [usize; 2] {
    let mut depths = [0; 2];
    for (i, (start, size)) in STACKS.into_iter().enumerate() {
        let now = device.read_ram(start, size);
        let untouched = now[GUARD..].iter().zip(&noise[i][GUARD..]).take_while(|(a, b)| a == b).count();
        depths[i] = size - GUARD - untouched;
    }
    depths
}

fn play_and_pause(board: Board) {
    let mut device = Device::start(board);
    let noise = STACKS.map(|(start, size)| device.read_ram(start, size));
    let game = device.expect_log(SECOND, "game ");
    let mut offsets = vec![offset(&device, &game)];
    device.run(ms(500));
    // Most of the time as it is meant to be watched, and some at each other speed.
    let minutes = if is_full() { 10 } else { 1 };
    assert_frames_come(&mut device, MINUTE * minutes - 10 * SECOND);
    act_and_see(&mut device, Action::Speed, "speed=fast");
    device.run(8 * SECOND);
    act_and_see(&mut device, Action::Speed, "speed=turbo");
    device.run(2 * SECOND);
    act_and_see(&mut device, Action::Speed, "speed=watch");
    let played = depths(&mut device, &noise);
    offsets.push(press_pause(&mut device));
    device.run(PAUSE);
    offsets.push(press_pause(&mut device));
    device.run(ms(100));
    assert_frames_come(&mut device, 10 * SECOND);

    // No leak: there is no heap, so what could grow is a stack.
    let depth = depths(&mut device, &noise);
    println!("{}: stacks of {} and {} bytes used", board.name(), depth[0], depth[1]);
    for (i, (_, size)) in STACKS.into_iter().enumerate() {
        assert!(depth[i] <= played[i] + 256, "stack {i} grew from {} to {} bytes", played[i], depth[i]);
        assert!(depth[i] < size * 3 / 4, "stack {i} is {} bytes deep, of {size}", depth[i]);
    }

    // No missed feed: at each there was most of the time left, and there were as many as rounds.
    let (feeds, closest) = device.watchdog();
    let uptime = device.now();
    assert!(device.resets().is_empty());
    assert_eq!(
        device.word("DROPWISE_FEEDS") as u64,
        feeds - 1,
        "every feed but the one at the start is counted"
    );
    let rounds = uptime.as_millis() as u64 / 250;
    assert!(feeds.abs_diff(rounds) <= 3, "{feeds} feeds in {uptime:?}");
    assert!(
        closest.is_some_and(|left| left > ms(2000)),
        "only {closest:?} were left before the watchdog would bite"
    );

    // No drift: the device's clock goes with the emulator's.
    println!("{}: the emulator's time less the device's at start, pause and end: {offsets:?}", board.name());
    let drift = offsets.iter().map(|offset| offset.abs_diff(offsets[0])).max().unwrap_or_default();
    assert!(drift <= ms(2), "the device's clock drifts by {drift:?}");
    let late = device.logs().iter().filter(|log| log.text.contains("does not")).count();
    assert_eq!(late, 0, "{}", device.story());
}

/// The emulator's time less the device's, at a line of the log that has just come: to the millisecond in which logs are
/// read.
fn offset(device: &Device, log: &Log) -> Duration {
    device.now().checked_sub(log.uptime).unwrap_or_else(|| panic!("{log} comes from the future"))
}

/// Pauses or plays on; the offset of the clocks at that moment.
fn press_pause(device: &mut Device) -> Duration {
    let first = device.logs().len();
    device.press(Button::A);
    if device.board() == Board::PicoOled {
        device.run(ms(60));
        device.release(Button::A);
    }
    let log = device.find_log(first, ms(100), |log| log.text.starts_with("paused="));
    let log = log.unwrap_or_else(|| panic!("the button does nothing; the log:\n{}", device.story()));
    let offset = offset(device, &log);
    device.run(ms(60));
    device.release(Button::A);
    device.run(ms(60));
    offset
}

/// Frames come every 33 ms while a game is watched.
fn assert_frames_come(device: &mut Device, time: Duration) {
    let before = device.word("DROPWISE_FRAMES");
    device.run(time);
    let (frames, due) = (device.word("DROPWISE_FRAMES") - before, (time.as_millis() / 33) as u32);
    println!("{}: {frames} frames in {time:?}, {due} due", device.board().name());
    assert!(frames.abs_diff(due) <= 2, "{frames} frames in {time:?}, and {due} were due");
}
