//! A handheld without hardware, to try the host's commands on.
//!
//! ```console
//! $ cargo run --example serve -p dropwise-emulator -- /tmp/dropwise picosystem
//! $ DROPWISE_PORT=/tmp/dropwise cargo host device watch       # in another terminal
//! ```
//!
//! The board is pico-oled if none is named. Unlike a real one's, its port is away for about a second after a program has
//! closed it. Ctrl-C ends it; what was stored in its flash is gone then.

use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

use dropwise_emulator::{Board, Device, Port, setup};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().expect("the name of the port to make, such as /tmp/dropwise");
    let name = arguments.next().unwrap_or_else(|| Board::PicoOled.name().into());
    let board = Board::ALL.into_iter().find(|board| board.name() == name);
    let board = board.expect("a board: pico-oled, picosystem, pico-lcd-1.3, thumby");
    if let Some(missing) = setup::missing() {
        eprintln!("the emulator cannot run: {missing}");
        return;
    }
    let mut device = Device::start(board);
    device.expect_usb(Duration::from_secs(1));
    let mut port = Port::new(device, Path::new(&path));
    println!("DROPWISE_PORT={}", port.path().display());
    let (ended, end) = mpsc::channel();
    ctrlc::set_handler(move || ended.send(()).expect("somebody waits")).expect("the only handler");
    while end.recv_timeout(Duration::from_secs(1)).is_err() {
        // Says what is wrong, if something is.
        port.look();
    }
}
