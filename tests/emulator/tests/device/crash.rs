//! Crashes: told and shown at the next start, which comes by itself.

use dropwise_core::Player;
use dropwise_core::screen::{Crash, Page, Speed};
use dropwise_emulator::{Board, Device, Log};
use libtest_mimic::Trial;

use crate::pictures::{Replay, assert_shows};
use crate::{Action, BOTH, FIRST, SECOND, act_and_see, first_game, ms, on_boards, tests};

pub(crate) fn tests() -> Vec<Trial> {
    on_boards(
        BOTH,
        tests![
            a_core_that_stops,
            a_panic,
            any_button_leaves_the_page,
            hard_faults,
            stack_overflows,
            the_page_goes_by_itself,
            three_quick_crashes,
        ],
    )
}

/// Runs through the reset, and checks that the next start tells of it, shows it, and plays.
#[track_caller]
fn assert_told(device: &mut Device, reset: &str, kind: &str) -> Log {
    let from = device.logs().len();
    let find = |device: &mut Device, start: &str| match device
        .find_log(from, 5 * SECOND, |log| log.text.starts_with(start))
    {
        Some(log) => log,
        None => panic!("no «{start}» after a crash; the log:\n{}", device.story()),
    };
    let boot = find(device, "boot ");
    assert_eq!(boot.value("reset"), Some(reset), "{boot}");
    let crash = find(device, "crash ");
    assert_eq!(crash.value("kind"), Some(kind), "{crash}");
    let game = find(device, "game ");
    assert!(device.run_until_value("DROPWISE_FRAMES", 1, SECOND), "nothing is shown after a crash");

    let message = crash.text.split_once("message=").map_or("", |(_, text)| text);
    let (message, place) = message.rsplit_once(" at ").unwrap_or((message, ""));
    let player = Player::known(game.value("player").unwrap_or_default());
    let replay = Replay::new(player.unwrap_or_else(|| panic!("{game}")), &game, 0);
    let mut scene = replay.scene(device.board(), Page::Crash, Speed::Watch, None);
    scene.crash = Crash { kind, message, place };
    assert_shows(device, &format!("crash-{kind}"), &scene);

    device.expect_usb(SECOND);
    assert!(device.run_until_value("DROPWISE_PIECES", 2, 3 * SECOND), "the game stands still after a crash");
    crash
}

fn a_core_that_stops(board: Board) {
    let mut device = Device::start(board);
    first_game(&mut device);
    device.run(SECOND);
    device.freeze(1, true);
    let crash = assert_told(&mut device, "watchdog", "watchdog");
    assert!(crash.text.contains("think"), "{crash}");
    assert_eq!(device.resets().len(), 1);
    device.run(SECOND);
    device.freeze(0, true);
    let crash = assert_told(&mut device, "watchdog", "watchdog");
    assert!(crash.text.contains("core 0"), "{crash}");
}

/// Where nothing lives: the middle of core 0's stack region is far below what it uses.
const SPARE: u32 = 0x2000_0400;

/// Makes a core panic, as an index out of bounds does.
pub(crate) fn panic_on(device: &mut Device, core: usize) {
    let file = b"bench.rs";
    let location = [SPARE + 16, file.len() as u32, 42, 7];
    let bytes: Vec<u8> = location.iter().flat_map(|word| word.to_le_bytes()).chain(*file).collect();
    device.write_ram(SPARE, &bytes);
    // A function in RAM reaches it by a stub whose name ends alike.
    let functions = device.firmware().find_all("9panicking18panic_bounds_check");
    let function = functions.into_iter().min().unwrap_or_else(|| panic!("nothing checks bounds"));
    device.call(core, function, &[5, 3, SPARE]);
}

fn a_panic(board: Board) {
    let mut device = Device::start(board);
    for core in [0, 1] {
        first_game(&mut device);
        device.run(SECOND);
        panic_on(&mut device, core);
        let crash = assert_told(&mut device, "forced", "panic");
        assert!(crash.text.contains("index out of bounds"), "{crash}");
        assert!(crash.text.ends_with("bench.rs:42"), "{crash}");
        device.power_off();
        device.power_on();
    }
}

/// It does nothing else, as nobody means to pause a game that is not seen.
fn any_button_leaves_the_page(board: Board) {
    let mut device = Device::start(board);
    for button in board.buttons() {
        first_game(&mut device);
        panic_on(&mut device, 0);
        first_game_after_reset(&mut device);
        assert!(device.run_until_value("DROPWISE_FRAMES", 1, SECOND), "nothing is shown after a crash");
        let first = device.logs().len();
        device.tap(button);
        device.run(ms(100));
        let told: Vec<&str> = device.logs()[first..].iter().map(|log| log.text.as_str()).collect();
        assert_eq!(told, ["page=game"], "{button:?}");
        device.power_off();
        device.power_on();
    }
}

fn the_page_goes_by_itself(board: Board) {
    let mut device = Device::start(board);
    first_game(&mut device);
    panic_on(&mut device, 1);
    first_game_after_reset(&mut device);
    let page = device.expect_log(11 * SECOND, "page=");
    assert_eq!(page.text, "page=game");
    assert!((ms(10_000)..ms(10_500)).contains(&page.uptime), "after {:?}", page.uptime);
}

fn hard_faults(board: Board) {
    let mut device = Device::start(board);
    device.expect_faults();
    for core in [0, 1] {
        first_game(&mut device);
        device.run(SECOND);
        device.call(core, 0xdead_beee, &[]);
        let crash = assert_told(&mut device, "forced", "hardfault");
        assert!(crash.text.contains(&format!("core {core} pc deadbeee")), "{crash}");
        device.power_off();
        device.power_on();
    }
    assert_eq!(device.faults().len(), 2);
}

/// A stack that is all but used up: the next interrupt needs more than is left. With the least, not even the fault finds
/// room, the core locks up, and the watchdog ends it.
fn stack_overflows(board: Board) {
    let mut device = Device::start(board);
    device.expect_faults();
    for (core, (bottom, _)) in stacks(&device).into_iter().enumerate() {
        for left in [0x20, 0x40, 0x60] {
            first_game(&mut device);
            device.run(SECOND);
            device.move_stack(core, bottom + 0x20 + left);
            let reset = device.run_for(5 * SECOND, &["reset"]);
            assert!(
                reset.is_some(),
                "core {core} with {left} bytes of stack goes on; the log:\n{}",
                device.story()
            );
            let crash = device.expect_log(SECOND, "crash ");
            assert_eq!(crash.value("kind"), Some("stack"), "core {core} with {left} bytes left: {crash}");
            assert!(crash.text.contains(&format!("core {core}'s stack overflowed")), "{crash}");
            device.power_off();
            device.power_on();
        }
    }
}

/// Where each core's stack ends, and its bytes: memory.x.
pub(crate) fn stacks(device: &Device) -> [(u32, usize); 2] {
    let firmware = device.firmware();
    let named = firmware.find_all("8firmware6STACK1");
    let first = firmware.address("_stack_end");
    let second = *named.first().unwrap_or_else(|| panic!("no stack of core 1"));
    [(first, (firmware.address("_stack_start") - first) as usize), (second, 8 * 1024)]
}

/// The chosen player survives a crash, but not three in a row; and a long run forgets them.
fn three_quick_crashes(board: Board) {
    let mut device = Device::start(board);
    first_game(&mut device);
    act_and_see(&mut device, Action::Player, "player=dt20");
    device.expect_log(3 * SECOND, "kept written=true player=dt20");
    for expected in ["dt20", "dt20", FIRST] {
        device.run(ms(300));
        panic_on(&mut device, 0);
        let game = first_game_after_reset(&mut device);
        assert_eq!(game.value("player"), Some(expected), "{}", device.story());
    }
    // By now the crash is not shown any more.
    device.expect_log(11 * SECOND, "page=game");
    act_and_see(&mut device, Action::Player, "player=dt20");
    device.run(21 * SECOND);
    panic_on(&mut device, 0);
    let game = first_game_after_reset(&mut device);
    assert_eq!(game.value("player"), Some("dt20"), "{}", device.story());
}

fn first_game_after_reset(device: &mut Device) -> Log {
    assert!(device.run_for(3 * SECOND, &["reset"]).is_some(), "no reset; the log:\n{}", device.story());
    first_game(device)
}
