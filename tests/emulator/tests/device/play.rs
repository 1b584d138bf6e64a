//! Playing for long and pausing for long: nothing leaks, nothing is late, no clock drifts.

use std::time::Duration;

use dropwise_emulator::{Board, Device};
use libtest_mimic::Trial;

use crate::{Action, BOTH, SECOND, act_and_see, first_game, is_full, ms, on_boards, tests};

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
    first_game(&mut device);
    let minutes = if is_full() { 10 } else { 1 };
    // Most of the time as it is meant to be watched, and some at each other speed.
    device.run(MINUTE * minutes - 10 * SECOND);
    act_and_see(&mut device, Action::Speed, "speed=fast");
    device.run(8 * SECOND);
    act_and_see(&mut device, Action::Speed, "speed=turbo");
    device.run(2 * SECOND);
    act_and_see(&mut device, Action::Speed, "speed=watch");
    let played = depths(&mut device, &noise);
    let frames = device.word("DROPWISE_FRAMES");
    act_and_see(&mut device, Action::Pause, "paused=true");
    device.run(PAUSE);
    let resumed = act_and_see(&mut device, Action::Pause, "paused=false");
    device.run(10 * SECOND);

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

    // No drift: the device's clock is the emulator's, and frames still come every 33 ms.
    let since = (uptime - 10 * SECOND).abs_diff(resumed.uptime);
    assert!(since < ms(200), "the device's clock is off by {since:?}");
    let expected = (uptime - PAUSE).as_millis() as u32 / 33;
    let counted = device.word("DROPWISE_FRAMES");
    println!("{}: {counted} frames, {frames} before the pause, {expected} periods", board.name());
    let late = device.logs().iter().filter(|log| log.text.contains("does not")).count();
    assert_eq!(late, 0, "{}", device.story());
}
