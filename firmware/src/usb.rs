//! USB: a serial port that a laptop finds by its name, and the way into the boot loader without a button.
//!
//! What is said over it is in [`link`].

use embassy_futures::join::join3;
use embassy_rp::peripherals::USB;
use embassy_rp::usb::{Driver, InterruptHandler};
use embassy_rp::{Peri, bind_interrupts};
use embassy_time::Ticker;
use embassy_usb::class::cdc_acm::{CdcAcmClass, State};
use embassy_usb::{Builder, Config};
use static_cell::{ConstStaticCell, StaticCell};

use crate::link::{self, Link, PACKET};
use crate::watchdog::{self, Part};

bind_interrupts!(struct Interrupts {
    USBCTRL_IRQ => InterruptHandler<USB>;
});

/// Raspberry Pi's, and the product that its CDC devices share; they tell themselves apart by their strings.
const VENDOR: u16 = 0x2e8a;
const PRODUCT: u16 = 0x000a;

#[embassy_executor::task]
pub(crate) async fn run(usb: Peri<'static, USB>, link: Link) -> ! {
    static CONFIGURATION: ConstStaticCell<[u8; 128]> = ConstStaticCell::new([0; 128]);
    static BOS: ConstStaticCell<[u8; 16]> = ConstStaticCell::new([0; 16]);
    static CONTROL: ConstStaticCell<[u8; 64]> = ConstStaticCell::new([0; 64]);
    static STATE: StaticCell<State<'static>> = StaticCell::new();

    let mut config = Config::new(VENDOR, PRODUCT);
    config.manufacturer = Some("Dropwise");
    config.product = Some("Dropwise");
    config.serial_number = Some(link.id);
    let mut builder = Builder::new(
        Driver::new(usb, Interrupts),
        config,
        CONFIGURATION.take(),
        BOS.take(),
        &mut [],
        CONTROL.take(),
    );
    let class = CdcAcmClass::new(&mut builder, STATE.init(State::new()), PACKET as u16);
    let mut device = builder.build();
    join3(device.run(), link::run(link, class), report()).await.0
}

/// Shows the watchdog that this task gets its turn.
async fn report() -> ! {
    let mut ticker = Ticker::every(watchdog::REPORT);
    loop {
        watchdog::report(Part::Usb);
        ticker.next().await;
    }
}
