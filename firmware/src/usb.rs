//! USB: a serial port that a laptop finds by its name, and the way into the boot loader without a button.
//!
//! The port takes bytes and answers none yet; the wire protocol's place is [`listen`].

use defmt::info;
use embassy_futures::join::join4;
use embassy_rp::peripherals::USB;
use embassy_rp::usb::{Driver, InterruptHandler};
use embassy_rp::{Peri, bind_interrupts, rom_data};
use embassy_time::{Duration, Ticker, Timer};
use embassy_usb::class::cdc_acm::{CdcAcmClass, ControlChanged, Receiver, Sender, State};
use embassy_usb::{Builder, Config};
use static_cell::{ConstStaticCell, StaticCell};

use crate::watchdog::{self, Part};

bind_interrupts!(struct Interrupts {
    USBCTRL_IRQ => InterruptHandler<USB>;
});

/// Raspberry Pi's, and the product that its CDC devices share; they tell themselves apart by their strings.
const VENDOR: u16 = 0x2e8a;
const PRODUCT: u16 = 0x000a;
/// The largest packet of a full-speed bulk endpoint.
const PACKET: u16 = 64;
/// Nobody talks at this rate any more: opening the port with it asks for the boot loader, as on other boards.
const BOOT_LOADER_BAUD: u32 = 1200;

#[embassy_executor::task]
pub(crate) async fn run(usb: Peri<'static, USB>, id: &'static str) -> ! {
    static CONFIGURATION: ConstStaticCell<[u8; 128]> = ConstStaticCell::new([0; 128]);
    static BOS: ConstStaticCell<[u8; 16]> = ConstStaticCell::new([0; 16]);
    static CONTROL: ConstStaticCell<[u8; 64]> = ConstStaticCell::new([0; 64]);
    static STATE: StaticCell<State<'static>> = StaticCell::new();

    let mut config = Config::new(VENDOR, PRODUCT);
    config.manufacturer = Some("Dropwise");
    config.product = Some("Dropwise");
    config.serial_number = Some(id);
    let mut builder = Builder::new(
        Driver::new(usb, Interrupts),
        config,
        CONFIGURATION.take(),
        BOS.take(),
        &mut [],
        CONTROL.take(),
    );
    let class = CdcAcmClass::new(&mut builder, STATE.init(State::new()), PACKET);
    let (sender, receiver, control) = class.split_with_control();
    let mut device = builder.build();
    join4(device.run(), listen(receiver), boot_loader(&control, &sender), report()).await.0
}

/// Takes what the host sends.
async fn listen(mut receiver: Receiver<'static, Driver<'static, USB>>) -> ! {
    let mut packet = [0; PACKET as usize];
    loop {
        receiver.wait_connection().await;
        while receiver.read_packet(&mut packet).await.is_ok() {}
    }
}

/// Starts the boot loader, a drive to drag a UF2 file onto, when the host opens the port at [`BOOT_LOADER_BAUD`].
async fn boot_loader(control: &ControlChanged<'_>, port: &Sender<'static, Driver<'static, USB>>) -> ! {
    loop {
        control.control_changed().await;
        if port.line_coding().data_rate() == BOOT_LOADER_BAUD {
            info!("boot loader: asked for by {=u32} baud", BOOT_LOADER_BAUD);
            // The host wants its answer first.
            Timer::after(Duration::from_millis(50)).await;
            rom_data::reset_to_usb_boot(0, 0);
        }
    }
}

/// Shows the watchdog that this task gets its turn.
async fn report() -> ! {
    let mut ticker = Ticker::every(watchdog::REPORT);
    loop {
        watchdog::report(Part::Usb);
        ticker.next().await;
    }
}
