//! USB: found, opened, fed, and the way into the boot drive.

use std::io::Write;
use std::net::TcpStream;

use dropwise_emulator::device::UsbDevice;
use dropwise_emulator::{Board, Device};
use libtest_mimic::Trial;

use crate::pictures::unique_id;
use crate::{BOTH, SECOND, first_game, go_turbo, ms, on_boards, tests};

pub(crate) fn tests() -> Vec<Trial> {
    on_boards(
        BOTH,
        tests![
            is_found_by_its_name,
            takes_bytes_at_every_speed,
            opens_the_boot_drive_at_1200_baud,
            survives_the_cable,
            is_served_as_a_socket
        ],
    )
}

fn is_found_by_its_name(board: Board) {
    let mut device = Device::start(board);
    let found = device.expect_usb(SECOND);
    let [manufacturer, product, serial] = ["Dropwise", "Dropwise", &unique_id()].map(str::to_owned);
    assert_eq!(
        found,
        UsbDevice { vendor: 0x2e8a, product: 0x000a, strings: [manufacturer, product, serial] },
        "facts of the USB world: docs/boards.md"
    );
}

/// The game goes on meanwhile.
fn takes_bytes_at_every_speed(board: Board) {
    let mut device = Device::start(board);
    first_game(&mut device);
    device.expect_usb(SECOND);
    device.open_port(115_200);
    device.run(ms(10));
    for turbo in [false, true] {
        if turbo {
            go_turbo(&mut device);
        }
        let noise: Vec<u8> = (0..10_000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        device.write_port(&noise);
        let taken = device.run_until(SECOND, ms(10), |device| device.unsent() == 0);
        assert!(taken, "{} bytes were not taken within a second", device.unsent());
    }
    assert!(device.read_port().is_empty(), "noise is not answered");
}

fn opens_the_boot_drive_at_1200_baud(board: Board) {
    let mut device = Device::start(board);
    device.expect_usb(SECOND);
    device.open_port(9600);
    device.run(ms(200));
    device.close_port();
    device.run(ms(200));
    assert!(!device.is_in_bootsel());
    device.open_port(1200);
    device.run(ms(500));
    assert!(device.is_in_bootsel(), "{}", device.story());
}

fn survives_the_cable(board: Board) {
    let mut device = Device::start(board);
    device.expect_usb(SECOND);
    for _ in 0..3 {
        device.open_port(115_200);
        device.write_port(b"half a word");
        device.run(ms(1));
        device.unplug_usb();
        device.run(ms(300));
        device.plug_usb();
        device.expect_usb(SECOND);
    }
}

/// The serial port as a TCP port, from which `socat` makes a serial port for a host program.
fn is_served_as_a_socket(board: Board) {
    let mut device = Device::start(board);
    device.expect_usb(SECOND);
    let bridge = device.serve();
    let stream = TcpStream::connect(("127.0.0.1", bridge.port()));
    let sent = stream.and_then(|mut stream| stream.write_all(&[0; 100]));
    assert!(sent.is_ok(), "{sent:?}");
}
