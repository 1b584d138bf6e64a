//! What can go wrong around the device: the game still plays, and USB still answers.

use dropwise_emulator::{Board, Button, Device};
use libtest_mimic::Trial;

use crate::laptop::Laptop;
use crate::link::learned;
use crate::{Action, BOTH, SECOND, act_and_see, first_game, ms, on_boards, tests};

pub(crate) fn tests() -> Vec<Trial> {
    on_boards(
        BOTH,
        tests![
            display_never_answers,
            display_comes_back,
            buttons_stuck_from_the_start,
            buttons_that_get_stuck,
            any_store,
            brown_out_at_any_moment_of_start_up
        ],
    )
}

/// Plays, feeds the watchdog and answers USB.
#[track_caller]
fn assert_alive(device: &mut Device) {
    assert_usb_answers(device);
    let before = device.word("DROPWISE_PIECES");
    let feeds = device.word("DROPWISE_FEEDS");
    device.run(3 * SECOND);
    assert!(
        device.word("DROPWISE_PIECES") >= before + 2,
        "the game stands still; the log:\n{}",
        device.story()
    );
    assert!(device.word("DROPWISE_FEEDS") >= feeds + 8, "the watchdog starves; the log:\n{}", device.story());
}

/// The port opens and takes what is sent.
#[track_caller]
fn assert_usb_answers(device: &mut Device) {
    device.expect_usb(2 * SECOND);
    device.open_port(115_200);
    device.write_port(&[0; 200]);
    let taken = device.run_until(SECOND, ms(10), |device| device.unsent() == 0);
    assert!(taken, "USB does not answer; the log:\n{}", device.story());
    device.close_port();
}

fn display_never_answers(board: Board) {
    let mut device = Device::start(board);
    device.remove_display();
    first_game(&mut device);
    assert_alive(&mut device);
    act_and_see(&mut device, Action::Pause, "paused=true");
    act_and_see(&mut device, Action::Pause, "paused=false");
    assert!(device.resets().is_empty());
    // On SPI the display only listens: nobody can tell.
    let told = device.logs().iter().any(|log| log.text.starts_with("the display does not answer"));
    assert_eq!(told, board == Board::PicoOled, "{}", device.story());
}

/// One that holds the bus, from the start or in the middle of a frame, until it lets go.
fn display_comes_back(board: Board) {
    let mut device = Device::start(board);
    device.jam_display();
    first_game(&mut device);
    assert_alive(&mut device);
    for millis in [0, 3, 11] {
        device.restore_display();
        assert!(
            device.run_until_value("DROPWISE_FRAMES", 1, 5 * SECOND) && !device.picture().is_dark(),
            "the display answers again, and nothing is shown; the log:\n{}",
            device.story()
        );
        device.run(SECOND + ms(millis));
        device.jam_display();
        assert_alive(&mut device);
    }
    assert!(device.resets().is_empty());
}

fn buttons_stuck_from_the_start(board: Board) {
    let mut device = Device::off(board, 1);
    for button in board.buttons() {
        device.press(button);
        device.power_on();
        first_game(&mut device);
        assert_alive(&mut device);
        let games =
            device.logs().iter().filter(|log| log.text.starts_with("game ") && log.life == life(&device));
        assert_eq!(games.count(), 1, "{button:?} alone starts games:\n{}", device.story());
        assert_others_act(&mut device, button);
        device.release(button);
        device.power_off();
    }
}

/// One that gets stuck later is one long press, and no more.
fn buttons_that_get_stuck(board: Board) {
    let mut device = Device::off(board, 1);
    for button in board.buttons() {
        device.power_on();
        first_game(&mut device);
        device.run(SECOND);
        // What it does, a player kept in flash at the latest, has happened after three seconds.
        let [before, after] = [3 * SECOND, 10 * SECOND].map(|time| {
            let first = device.logs().len();
            device.press(button);
            device.run(time);
            device.logs()[first..].iter().filter(|log| !log.text.starts_with("mark ")).count()
        });
        assert!(before > 0 && after == 0, "{button:?} acts again and again:\n{}", device.story());
        assert_usb_answers(&mut device);
        assert_others_act(&mut device, button);
        device.release(button);
        device.power_off();
    }
    assert!(device.resets().is_empty());
}

/// With one button stuck, another does what it does.
#[track_caller]
fn assert_others_act(device: &mut Device, stuck: Button) {
    match stuck {
        Button::B | Button::Down => act_and_see(device, Action::Pause, "paused="),
        _ => act_and_see(device, Action::Page, "page="),
    };
}

fn life(device: &Device) -> usize {
    device.logs().last().map_or(0, |log| log.life)
}

/// The sectors that are set aside for players: erased, zeros, noise, text, and records with bits turned over. The device
/// plays, writes nothing unasked, and then takes a player as if nothing had been.
fn any_store(board: Board) {
    let mut device = Device::off(board, 1);
    let start = device.firmware().address("_store_start");
    let end = device.firmware().address("_store_end");
    assert_eq!((start, end), (0x1f_0000, 0x20_0000));
    let size = end - start;
    let noise = |i: u32| (i.wrapping_mul(2_654_435_761) >> 24) as u8;
    let contents: [&dyn Fn(u32) -> u8; 4] = [&|_| 0xff, &|_| 0, &noise, &|i| b"Dropwise"[i as usize % 8]];
    let mut used = Vec::new();
    for content in contents {
        let bytes: Vec<u8> = (0..size).map(content).collect();
        device.write_flash(start, &bytes);
        device.power_on();
        let from = device.logs().len();
        first_game(&mut device);
        let told = device.logs()[from..].iter().any(|log| log.text.starts_with("store players=0: "));
        assert!(told, "{}", device.story());
        assert_alive(&mut device);
        assert_eq!(device.read_flash(start, bytes.len()), bytes, "nothing is written that nobody asked for");

        let mut laptop = Laptop::connect(device);
        for seed in 0..20 {
            assert_eq!(laptop.upload("mine", &learned(seed)), Ok(true));
        }
        laptop.power_cycle();
        assert_eq!(laptop.read("mine"), Some(learned(19)));
        device = laptop.device;
        used = device.read_flash(start, bytes.len());
        device.power_off();
    }
    for damage in 1..=20 {
        let mut bytes = used.clone();
        for i in 0..64u32 {
            let random = (damage * 64 + i).wrapping_mul(2_654_435_761);
            // Most records are short: the first KiB of each sector.
            let at = (random >> 28) * 4096 + (random >> 18 & 0x3ff);
            bytes[at as usize] ^= 1 << (random >> 15 & 7);
        }
        device.write_flash(start, &bytes);
        device.power_on();
        let mut laptop = Laptop::connect(device);
        let found = laptop.read("mine");
        assert!(found.is_none_or(|player| (0..20).any(|seed| player == learned(seed))), "{found:?}");
        device = laptop.device;
        assert_eq!(device.read_flash(start, bytes.len()), bytes);
        device.power_off();
    }
}

/// How many moments of start-up power is cut at: closer to each other at its beginning, when more happens.
const MOMENTS: u32 = 30;

/// Power fails and comes back; or it sags, and RAM holds what it held.
fn brown_out_at_any_moment_of_start_up(board: Board) {
    let mut device = Device::start(board);
    assert!(device.run_until_value("DROPWISE_FRAMES", 1, SECOND), "no frame in a second");
    let start_up = device.now();
    for (i, sags) in (0..=MOMENTS).flat_map(|i| [(i, false), (i, true)]) {
        let moment = start_up * (i * i) / (MOMENTS * MOMENTS);
        device.power_off();
        device.power_on();
        device.run(moment);
        if sags {
            device.sag();
        } else {
            device.power_off();
            device.power_on();
        }
        let from = device.logs().len();
        let game = device.find_log(from, SECOND, |log| log.text.starts_with("game "));
        assert!(game.is_some(), "no game after a cut at {moment:?}; the log:\n{}", device.story());
        let boot = &device.logs()[from..][0];
        assert!(boot.text.starts_with("boot ") && boot.value("reset") == Some("power"), "{boot}");
        assert!(
            device.run_until_value("DROPWISE_FRAMES", 1, SECOND),
            "nothing shown after a cut at {moment:?}"
        );
        assert_usb_answers(&mut device);
    }
    assert!(!device.logs().iter().any(|log| log.text.starts_with("crash")), "{}", device.story());
}
