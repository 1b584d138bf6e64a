//! The screen: draws the game as it stands, and does without a display that does not answer.

use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use defmt::info;
use dropwise_core::screen::{About, Crash, Page, Screen};
use embassy_futures::select::{Either3, select3};
use embassy_sync::blocking_mutex::raw::CriticalSectionRawMutex;
use embassy_sync::signal::Signal;
use embassy_sync::watch::Receiver;
use embassy_time::{Duration, Instant, Timer, with_timeout};

use crate::board::{LAYOUT, Socket};
use crate::display::{Panel, Silent};
use crate::log::complain;
use crate::snapshot::{SNAPSHOT, Snapshot};
use crate::watchdog::{self, Part};

/// Longer than any display needs to wake up (130 ms).
const WAKE: Duration = Duration::from_millis(500);
/// Longer than the slowest full picture, 1 KiB at 400 kHz, 26 ms, while the slowest erase of flash, 400 ms, holds it up.
const SEND: Duration = Duration::from_millis(600);
/// Until a display that did not answer is asked again.
const RETRY: Duration = Duration::from_secs(2);
/// How long a crash is shown, unless a button is pressed.
const CRASH_SHOWN: Duration = Duration::from_secs(10);

/// Pictures sent to the display completely.
#[unsafe(no_mangle)]
static DROPWISE_FRAMES: AtomicU32 = AtomicU32::new(0);

static TURN: Signal<CriticalSectionRawMutex, ()> = Signal::new();

/// Whether the page is that of the crash.
static SHOWS_CRASH: AtomicBool = AtomicBool::new(false);

/// Whether the page is that of the crash.
pub(crate) fn shows_crash() -> bool {
    SHOWS_CRASH.load(Ordering::Relaxed)
}

/// Asks for the next page.
pub(crate) fn turn_page() {
    TURN.signal(());
}

#[embassy_executor::task]
pub(crate) async fn run(mut socket: Socket, about: About<'static>, crash: Crash<'static>) -> ! {
    let page = if crash == Crash::NONE { Page::Game } else { Page::Crash };
    SHOWS_CRASH.store(page == Page::Crash, Ordering::Relaxed);
    let Some(snapshots) = SNAPSHOT.receiver() else { panic!("the screen alone waits for snapshots") };
    let mut view = View { page, about, crash, snapshots, snapshot: None };
    let mut is_silent = false;
    loop {
        watchdog::report(Part::Screen);
        let Silent = match with_timeout(WAKE, socket.open()).await {
            Ok(Ok(mut panel)) => {
                is_silent = false;
                info!("display ready");
                view.show_on(&mut panel).await
            }
            Ok(Err(Silent)) | Err(_) => Silent,
        };
        if !is_silent {
            is_silent = true;
            complain!(
                "the display does not answer: playing on without it, asking again every {} s",
                RETRY.as_secs()
            );
        }
        let again = Instant::now() + RETRY;
        while Instant::now() < again {
            view.update(again).await;
        }
    }
}

/// What is to be seen.
struct View {
    page: Page,
    about: About<'static>,
    crash: Crash<'static>,
    snapshots: Receiver<'static, CriticalSectionRawMutex, Snapshot, 1>,
    snapshot: Option<Snapshot>,
}

impl View {
    /// Draws for as long as the display takes it.
    async fn show_on(&mut self, panel: &mut impl Panel) -> Silent {
        let mut screen = Screen::new(LAYOUT);
        loop {
            if let Some(snapshot) = &self.snapshot {
                let scene = snapshot.scene(self.page, self.about, self.crash);
                let Ok(touched) = screen.draw(panel, &scene) else { return Silent };
                if touched.pixels > 0 {
                    match with_timeout(SEND, panel.send()).await {
                        Ok(Ok(())) => {}
                        Ok(Err(Silent)) | Err(_) => return Silent,
                    }
                    let frames = DROPWISE_FRAMES.load(Ordering::Relaxed).wrapping_add(1);
                    DROPWISE_FRAMES.store(frames, Ordering::Relaxed);
                }
            }
            self.update(Instant::MAX).await;
        }
    }

    /// Waits until there is something else to draw, it is time to report, or the given time has come.
    async fn update(&mut self, until: Instant) {
        watchdog::report(Part::Screen);
        let report = (Instant::now() + watchdog::REPORT).min(until);
        match select3(self.snapshots.changed(), TURN.wait(), Timer::at(report)).await {
            Either3::First(snapshot) => self.snapshot = Some(snapshot),
            Either3::Second(()) => self.turn(),
            Either3::Third(()) => {}
        }
        if self.page == Page::Crash && Instant::now() >= Instant::MIN + CRASH_SHOWN {
            self.turn();
        }
    }

    fn turn(&mut self) {
        self.page = self.page.next();
        SHOWS_CRASH.store(self.page == Page::Crash, Ordering::Relaxed);
        info!("page={=str}", self.page.name());
    }
}
