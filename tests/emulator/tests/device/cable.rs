//! A cable that is pulled, a program that ends, a laptop that does not listen: the device does not mind.

use dropwise_core::Speed;
use dropwise_core::wire::{Refusal, Request, Subscription};
use dropwise_emulator::{Board, Device};
use libtest_mimic::Trial;

use crate::laptop::Laptop;
use crate::link::learned;
use crate::refusals::{bdu, upload_frames};
use crate::{Action, FIRST, SECOND, act_and_see, alone, ms, tests};

pub(crate) fn tests() -> Vec<Trial> {
    alone(tests![
        pulled_after_every_frame_of_an_upload,
        a_laptop_that_never_reads,
        gone_in_the_middle_of_a_frame
    ])
}

const EVERYTHING: Subscription = Subscription { placements: true, status: true, log: true };

/// How a laptop goes away.
#[derive(Clone, Copy, Debug)]
enum Leave {
    /// The cable is pulled; the battery lasts.
    Cable,
    /// The program ends, and the system closes the port.
    Program,
    /// Power goes with the cable.
    Power,
}

/// After every single frame of an upload, at once or when it has been answered: the old weights stay, a retry succeeds.
fn pulled_after_every_frame_of_an_upload() {
    let device = Device::start(Board::PicoOled);
    let mut laptop = Laptop::connect(device);
    laptop.done(Request::Speed { speed: Speed::Turbo });
    let mut now = bdu(1);
    laptop.upload("mine", &now).unwrap();
    let count = upload_frames(&mut laptop, "mine", &now).len();
    let mut seed = 1;
    for leave in [Leave::Cable, Leave::Program, Leave::Power] {
        for sent in 0..=count {
            for wait in [0, 1, 100] {
                seed += 1;
                let next = bdu(seed);
                let frames = upload_frames(&mut laptop, "mine", &next);
                for (frame, _) in &frames[..sent] {
                    laptop.device.write_port(frame);
                }
                laptop.device.run(ms(wait));
                match leave {
                    Leave::Cable => {
                        laptop.device.unplug_usb();
                        laptop.device.run(ms(20));
                        laptop.device.plug_usb();
                        laptop.open();
                    }
                    Leave::Program => {
                        laptop.device.close_port();
                        laptop.device.run(ms(20));
                        laptop.open();
                    }
                    Leave::Power => laptop.power_cycle(),
                }
                let found = laptop.read("mine");
                let is_committed = sent == count && found == Some(next);
                assert!(
                    found == Some(now) || is_committed,
                    "{leave:?} after {sent} frames and {wait} ms: {found:?}"
                );
                if sent == count && wait == 100 {
                    assert!(is_committed, "{leave:?}: a whole upload is done within 100 ms");
                }
                assert_eq!(
                    laptop.refused(Request::Commit),
                    Refusal::NoUpload,
                    "nothing is left of the upload"
                );
                assert_eq!(laptop.upload("mine", &next), Ok(!is_committed));
                assert_eq!(laptop.read("mine"), Some(next));
                now = next;
            }
        }
    }
    let resets = laptop.device.resets();
    assert!(resets.is_empty(), "{resets:?}");
}

/// A laptop that opens the port, asks for everything and never reads holds up nothing but itself.
fn a_laptop_that_never_reads() {
    let device = Device::start(Board::PicoOled);
    let mut laptop = Laptop::connect(device);
    laptop.play_bcts();
    laptop.done(Request::Speed { speed: Speed::Turbo });
    laptop.subscribe(EVERYTHING);
    laptop.device.set_listens(false);
    // Far more calls than their answers have room for.
    for _ in 0..50 {
        let call = laptop.framed(Request::Status);
        laptop.device.write_port(&call);
    }
    let before = laptop.device.word("DROPWISE_PIECES");
    let feeds = laptop.device.word("DROPWISE_FEEDS");
    laptop.device.run(3 * SECOND);
    let pieces = laptop.device.word("DROPWISE_PIECES") - before;
    assert!(pieces > 3 * 15_000, "the game waits for the laptop: {pieces} pieces");
    assert!(laptop.device.word("DROPWISE_FEEDS") >= feeds + 11, "the watchdog waits for the laptop");
    act_and_see(&mut laptop.device, Action::Pause, "paused=true");
    act_and_see(&mut laptop.device, Action::Player, "player=dt10");

    // It reads again: all is answered, up to the last call.
    laptop.device.set_listens(true);
    laptop.answer(|answer| assert!(answer.is_ok(), "{answer:?}"));
    // It stops once more and is gone; the next one gets its answers.
    laptop.device.set_listens(false);
    laptop.done_unread(Request::Pause { paused: false });
    laptop.device.run(SECOND);
    for leave in [Device::close_port, Device::unplug_usb] {
        leave(&mut laptop.device);
        laptop.device.run(ms(300));
        laptop.device.set_listens(true);
        laptop.device.plug_usb();
        laptop.open();
        assert_eq!(laptop.status().player, "dt10");
        laptop.device.run(SECOND);
        laptop.events(|event| panic!("the next one did not ask for {event:?}"));
        laptop.subscribe(EVERYTHING);
        laptop.device.set_listens(false);
        laptop.device.run(SECOND);
    }
    assert!(laptop.device.resets().is_empty());
}

/// In the middle of a frame, either way.
fn gone_in_the_middle_of_a_frame() {
    let device = Device::start(Board::PicoOled);
    let mut laptop = Laptop::connect(device);
    laptop.done(Request::Speed { speed: Speed::Turbo });
    for length in [1, 2, 5, 9] {
        let call =
            laptop.framed(Request::Select { slot: "dellacherie", when: dropwise_core::wire::When::Piece });
        laptop.device.write_port(&call[..length]);
        laptop.device.run(ms(1));
        laptop.device.close_port();
        laptop.device.run(ms(5));
        laptop.open();
        // What the device sends takes several packets; it is cut off after one or two.
        laptop.subscribe(EVERYTHING);
        laptop.device.run(std::time::Duration::from_micros(5_000 + 77 * length as u64));
        laptop.device.set_listens(false);
        laptop.device.run(ms(20));
        laptop.device.close_port();
        laptop.device.run(ms(5));
        laptop.device.set_listens(true);
        laptop.open();
        assert_eq!(laptop.status().player, FIRST);
    }
    assert_eq!(laptop.upload("mine", &learned(1)), Ok(true));
}
