//! The watchdog: fed only while every part of the firmware reports in time.

use core::sync::atomic::{AtomicU32, Ordering};

use defmt::error;
use embassy_rp::pac;
use embassy_rp::peripherals::WATCHDOG;
use embassy_rp::watchdog::{ResetReason, Watchdog};
use embassy_time::{Duration, Instant, Ticker};

use crate::crash;

/// Within this the hardware wants to be fed. Erasing a sector of flash stops everything for up to 400 ms
/// (W25Q16JV data sheet, 9.6), and a late part has its own time before that.
const PATIENCE: Duration = Duration::from_millis(2_500);
/// How often the parts are looked at and the hardware is fed.
const ROUND: Duration = Duration::from_millis(250);
/// Within this a part must report. All of them do so at least every 250 ms.
const PERIOD_MICROS: u32 = 1_000_000;

/// How often a part with nothing to do should report.
pub(crate) const REPORT: Duration = Duration::from_millis(250);

/// Feeds since the start.
#[unsafe(no_mangle)]
static DROPWISE_FEEDS: AtomicU32 = AtomicU32::new(0);

/// The parts that report.
#[derive(Clone, Copy)]
pub(crate) enum Part {
    Think,
    Screen,
    Buttons,
    Usb,
}

const PARTS: [(Part, &str); 4] =
    [(Part::Think, "think"), (Part::Screen, "screen"), (Part::Buttons, "buttons"), (Part::Usb, "usb")];

/// When each part reported last, in microseconds. They wrap round every 71 minutes, differences do not mind.
static LAST: [AtomicU32; PARTS.len()] = [const { AtomicU32::new(0) }; PARTS.len()];

fn now() -> u32 {
    Instant::now().as_ticks() as u32
}

/// A part says that it is alive.
pub(crate) fn report(part: Part) {
    LAST[part as usize].store(now(), Ordering::Relaxed);
}

/// Why the device started.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reset {
    /// The power came on, or sagged.
    Power,
    /// The RUN pin was pulled.
    Run,
    /// A debugger asked for it.
    Debugger,
    /// The watchdog was not fed.
    Watchdog,
    /// The firmware asked for it, as it does after a crash.
    Forced,
    /// None of these is noted in the hardware.
    Unknown,
}

impl Reset {
    /// Its name.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Reset::Power => "power",
            Reset::Run => "run",
            Reset::Debugger => "debugger",
            Reset::Watchdog => "watchdog",
            Reset::Forced => "forced",
            Reset::Unknown => "unknown",
        }
    }
}

/// Reads why the device started. The watchdog's note goes first: a reset by the watchdog leaves those of the chip,
/// which clears the watchdog's.
pub(crate) fn reset_reason(watchdog: &Watchdog) -> Reset {
    match watchdog.reset_reason() {
        Some(ResetReason::TimedOut) => return Reset::Watchdog,
        Some(ResetReason::Forced) => return Reset::Forced,
        None => {}
    }
    let chip = pac::VREG_AND_CHIP_RESET.chip_reset().read();
    if chip.had_psm_restart() {
        Reset::Debugger
    } else if chip.had_run() {
        Reset::Run
    } else if chip.had_por() {
        Reset::Power
    } else {
        Reset::Unknown
    }
}

/// Starts the hardware, before anything that could hang.
pub(crate) fn start(watchdog: &mut Watchdog) {
    watchdog.pause_on_debug(true);
    watchdog.start(PATIENCE);
}

/// Resets the chip at once.
pub(crate) fn reset() -> ! {
    // SAFETY: this run is over; nobody else gets to use the watchdog.
    let mut watchdog = Watchdog::new(unsafe { WATCHDOG::steal() });
    loop {
        watchdog.trigger_reset();
    }
}

#[embassy_executor::task]
pub(crate) async fn run(mut watchdog: Watchdog) -> ! {
    PARTS.iter().for_each(|&(part, _)| report(part));
    let mut ticker = Ticker::every(ROUND);
    let mut late = None;
    loop {
        if let Some(core) = crash::overflowed() {
            crash::stack_overflow(core);
        }
        let now = now();
        let period = |last: &AtomicU32| now.wrapping_sub(last.load(Ordering::Relaxed)) as i32;
        let missing = PARTS.iter().find(|&&(part, _)| period(&LAST[part as usize]) > PERIOD_MICROS as i32);
        match missing {
            None => {
                watchdog.feed(PATIENCE);
                DROPWISE_FEEDS
                    .store(DROPWISE_FEEDS.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
                if late.take().is_some() {
                    crash::forget_late();
                }
                crash::still_well();
            }
            Some(&(part, name)) => {
                if late.is_none() {
                    late = Some(part);
                    error!("{=str} does not report: the watchdog starves", name);
                    // In RAM before the reset comes, so that the next start can tell.
                    crash::note_late(name);
                }
            }
        }
        ticker.next().await;
    }
}
