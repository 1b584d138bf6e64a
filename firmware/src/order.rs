//! What the game is told to do: by buttons and by a laptop, both on core 0; it is played on core 1.

use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use dropwise_core::store::Slot;
use dropwise_core::wire::When;
use dropwise_core::{Rules, Speed};
use embassy_sync::blocking_mutex::raw::CriticalSectionRawMutex;
use embassy_sync::channel::Channel;
use embassy_sync::signal::Signal;
use embassy_time::{Duration, with_timeout};

/// What the game is told to do.
pub(crate) enum Order {
    /// Pause, or play on.
    TogglePause,
    /// Pause or not.
    Pause(bool),
    /// Pause; if paused already, place one piece.
    Step,
    /// The next speed.
    NextSpeed,
    /// The next speed; if paused, place one piece.
    NextSpeedOrStep,
    /// This speed.
    Speed(Speed),
    /// Give this game up and start another: with this seed, or one by chance; by these rules, or those of this one.
    NewGame(Option<u64>, Option<Rules<'static>>),
    /// Let another play.
    Play(Slot, When),
    /// Play so many pieces apart.
    Bench(u32),
    /// Tell how the game stands, for those who follow it move by move.
    Tell,
}

const QUEUE: usize = 8;
static ORDERS: Channel<CriticalSectionRawMutex, Order, QUEUE> = Channel::new();

/// Whether [`ORDERS`] has something, for a loop that cannot afford to look there.
static ASKED: AtomicBool = AtomicBool::new(false);

/// Orders sent and carried out. Each is written by one core alone; they wrap round together.
static SENT: AtomicU32 = AtomicU32::new(0);
static DONE: AtomicU32 = AtomicU32::new(0);
static DONE_MORE: Signal<CriticalSectionRawMutex, ()> = Signal::new();

/// A game that is alive takes far less.
const OBEDIENCE: Duration = Duration::from_millis(100);

/// The game has more to do already than it can take note of.
pub(crate) struct Full;

/// Whether so many more orders can be sent. Only core 0 sends, so what can be sent once can be sent until it is.
pub(crate) fn has_room(orders: usize) -> bool {
    ORDERS.free_capacity() >= orders
}

/// Core 0 gives an order. Never waits.
pub(crate) fn send(order: Order) -> Result<(), Full> {
    ORDERS.try_send(order).map_err(|_| Full)?;
    SENT.store(SENT.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
    ASKED.store(true, Ordering::Release);
    Ok(())
}

/// Waits until all orders so far are carried out, but not for a game that does not react.
pub(crate) async fn settle() {
    let sent = SENT.load(Ordering::Relaxed);
    let settled = async {
        while (sent.wrapping_sub(DONE.load(Ordering::Acquire)) as i32) > 0 {
            DONE_MORE.wait().await;
        }
    };
    // Whoever waits goes on either way.
    let _ = with_timeout(OBEDIENCE, settled).await;
}

/// Whether an order may have come.
#[inline(always)]
pub(crate) fn is_asked() -> bool {
    ASKED.load(Ordering::Relaxed)
}

/// Core 1 takes the next order, if there is one.
pub(crate) fn take() -> Option<Order> {
    let order = ORDERS.try_receive().ok();
    look_again();
    order
}

/// Core 1 waits for an order.
pub(crate) async fn next() -> Order {
    let order = ORDERS.receive().await;
    look_again();
    order
}

/// Whether there are more. An order that comes meanwhile is seen here, or its sender says so afterwards.
fn look_again() {
    ASKED.store(false, Ordering::Release);
    if !ORDERS.is_empty() {
        ASKED.store(true, Ordering::Release);
    }
}

/// Core 1 has carried an order out.
pub(crate) fn done() {
    DONE.store(DONE.load(Ordering::Relaxed).wrapping_add(1), Ordering::Release);
    DONE_MORE.signal(());
}
