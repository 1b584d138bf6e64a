//! What is left of a crash: kept in RAM across the reset, told at the next start.
//!
//! A panic, a hard fault or a stack overflow writes what happened and where into RAM that no start-up code clears, and
//! resets the chip. The next start finds it, logs it and shows it. Three crashes in quick succession start with the
//! built-in player, in case it is the chosen one that crashes.
//!
//! Stacks have two guards each, drawn for core 0:
//!
//! ```text
//!   0x20004000  stack, grows down
//!               ...
//!   0x20000020  8 painted words: if they change, the stack was used up; seen by the watchdog's round and, after a
//!               core that locked up, at the next start
//!   0x20000000  32 bytes that the memory protection unit lets nobody touch: a hard fault at the very instruction
//! ```

use core::arch::naked_asm;
use core::cell::UnsafeCell;
use core::fmt::{self, Write};
use core::mem::{MaybeUninit, size_of};
use core::panic::PanicInfo;
use core::slice;

use defmt::info;
use dropwise_core::game::digest;
use dropwise_core::screen::Crash;
use embassy_rp::multicore::{CoreId, current_core};
use embassy_time::{Duration, Instant};
use heapless::String;
use static_cell::StaticCell;

use crate::log::{self, complain};
use crate::watchdog::{self, Reset};

/// A device that ran this long did not crash quickly.
const WELL_AFTER: Duration = Duration::from_secs(30);
/// So many quick crashes start with the built-in player.
const TOO_MANY: u32 = 3;

/// What the next start has to know, as it is after the start.
pub(crate) struct Start {
    /// Whether the chosen player may play.
    pub(crate) trusted: bool,
    /// The crash that led to it, if one did.
    pub(crate) crash: Crash<'static>,
}

/// Kept from start to start.
#[derive(Clone, Copy)]
#[repr(C)]
struct Run {
    quick_crashes: u32,
}

/// Kept from a crash to the next start.
#[derive(Clone, Copy)]
#[repr(C)]
struct Report {
    kind: Kind,
    message: Text<160>,
    place: Text<92>,
}

/// A number, so that whatever is in RAM is one; its names are [`KINDS`].
type Kind = u32;
const PANIC: Kind = 0;
const HARD_FAULT: Kind = 1;
const STACK: Kind = 2;
const STARVED: Kind = 3;
const KINDS: [&str; 4] = ["panic", "hardfault", "stack", "watchdog"];

/// Some text; what does not fit is cut off.
#[derive(Clone, Copy)]
#[repr(C)]
struct Text<const N: usize> {
    len: u32,
    bytes: [u8; N],
}

impl<const N: usize> Text<N> {
    fn new(arguments: fmt::Arguments<'_>) -> Text<N> {
        let mut text = Text { len: 0, bytes: [0; N] };
        // Fails where the text is full, which is all right.
        let _ = text.write_fmt(arguments);
        text
    }

    fn as_str(&self) -> &str {
        let bytes = &self.bytes[..N.min(self.len as usize)];
        // Every byte is printable: see below.
        core::str::from_utf8(bytes).unwrap_or("")
    }
}

impl<const N: usize> Write for Text<N> {
    fn write_str(&mut self, s: &str) -> fmt::Result {
        for character in s.chars() {
            let byte = if character.is_ascii_graphic() { character as u8 } else { b' ' };
            *self.bytes.get_mut(self.len as usize).ok_or(fmt::Error)? = byte;
            self.len += 1;
        }
        Ok(())
    }
}

/// A value in RAM that no start-up code clears, believed only if its seal is whole.
struct Kept<T>(UnsafeCell<MaybeUninit<Sealed<T>>>);

#[derive(Clone, Copy)]
#[repr(C)]
struct Sealed<T> {
    value: T,
    seal: [u32; 2],
}

// SAFETY: two cores share the values in here without a lock, on purpose: a crash must be written down even when the
// other core holds every lock. All access is volatile and by plain numbers; words of two writers that mix break the
// seal, and the value counts as absent.
unsafe impl<T> Sync for Kept<T> {}

#[unsafe(link_section = ".uninit.run")]
static RUN: Kept<Run> = Kept(UnsafeCell::new(MaybeUninit::uninit()));
#[unsafe(link_section = ".uninit.report")]
static REPORT: Kept<Report> = Kept(UnsafeCell::new(MaybeUninit::uninit()));

/// "Drop", so that RAM full of zeros is not sealed.
const MAGIC: u64 = 0x4472_6f70;

impl<T: Copy> Kept<T> {
    fn seal(value: &T) -> [u32; 2] {
        // SAFETY: `T` is `Run` or `Report`: `repr(C)`, of u32s and of bytes in multiples of four, without padding.
        let words = unsafe { slice::from_raw_parts((&raw const *value).cast::<u32>(), size_of::<T>() / 4) };
        let sum =
            digest([MAGIC, size_of::<T>() as u64].into_iter().chain(words.iter().map(|&word| word.into())));
        [sum as u32, (sum >> 32) as u32]
    }

    fn get(&self) -> Option<T> {
        // SAFETY: RAM holds whatever it held before the reset, which for the numbers in `T` is a value like any
        // other; the compiler cannot know of it, so the read is volatile.
        let sealed = unsafe { self.0.get().cast::<Sealed<T>>().read_volatile() };
        (Self::seal(&sealed.value) == sealed.seal).then_some(sealed.value)
    }

    fn set(&self, value: T) {
        let sealed = Sealed { value, seal: Self::seal(&value) };
        // SAFETY: see `Sync` above. Volatile, because it is read after a reset, which the compiler does not know of.
        unsafe { self.0.get().cast::<Sealed<T>>().write_volatile(sealed) }
    }

    fn erase(&self) {
        // SAFETY: as in `set`. A seal of zeros is whole for no value in use.
        unsafe { (&raw mut (*self.0.get().cast::<Sealed<T>>()).seal).write_volatile([0; 2]) }
    }
}

/// What the last run left: says what happened to it, and how to start now.
pub(crate) fn look_back(reset: Reset) -> Start {
    let kept = RUN.get();
    let mut report = REPORT.get();
    REPORT.erase();
    if report.is_none() && reset == Reset::Watchdog {
        report = Some(match kept.and_then(|_| overflowed()) {
            Some(core) => overflow_report(core, format_args!("")),
            None => Report {
                kind: STARVED,
                message: Text::new(format_args!("core 0 stopped")),
                place: Text::new(format_args!("")),
            },
        });
    }
    paint();
    let quick_crashes = match (&report, kept) {
        (Some(_), Some(run)) => run.quick_crashes.saturating_add(1),
        (Some(_), None) => 1,
        (None, _) => 0,
    };
    RUN.set(Run { quick_crashes });
    let trusted = quick_crashes < TOO_MANY;
    if !trusted {
        complain!("{quick_crashes} crashes in quick succession: starting with the built-in player");
    }
    Start { trusted, crash: report.map_or(Crash::NONE, tell) }
}

/// Logs a report and keeps its text for the screen.
fn tell(report: Report) -> Crash<'static> {
    static TOLD: StaticCell<Report> = StaticCell::new();
    let report = TOLD.init(report);
    let kind = KINDS.get(report.kind as usize).copied().unwrap_or("unknown");
    let (message, place) = (report.message.as_str(), report.place.as_str());
    let mut line = String::<256>::new();
    let _ = write!(line, "{message}");
    if !place.is_empty() {
        let _ = write!(line, " at {place}");
    }
    info!("crash kind={=str} message={=str}", kind, line.as_str());
    log::keep(format_args!("crash kind={kind}"));
    Crash { kind, message, place }
}

/// Said again and again while all is well.
pub(crate) fn still_well() {
    if Instant::now() >= Instant::MIN + WELL_AFTER {
        critical_section::with(|_| {
            if RUN.get().is_some_and(|run| run.quick_crashes != 0) {
                RUN.set(Run { quick_crashes: 0 });
            }
        });
    }
}

/// A part of the firmware does not report, and the watchdog will bite.
pub(crate) fn note_late(part: &str) {
    REPORT.set(Report {
        kind: STARVED,
        message: Text::new(format_args!("{part} did not report")),
        place: Text::new(format_args!("")),
    });
}

/// It has reported after all.
pub(crate) fn forget_late() {
    REPORT.erase();
}

/// Core 0's and core 1's lowest stack address.
fn stack_bottom(core: CoreId) -> usize {
    unsafe extern "C" {
        static _stack_end: u32;
    }
    match core {
        CoreId::Core0 => (&raw const _stack_end) as usize,
        CoreId::Core1 => (&raw const crate::STACK1) as usize,
    }
}

/// Under the paint, as embassy-rp sets it up: the least that the memory protection unit can guard.
const GUARD: usize = 32;
const PAINT: [u32; 8] = [0x5afe_57ac; 8];
const CORES: [CoreId; 2] = [CoreId::Core0, CoreId::Core1];

fn paint_of(core: CoreId) -> *mut [u32; 8] {
    (stack_bottom(core) + GUARD) as *mut [u32; 8]
}

fn paint() {
    for core in CORES {
        // SAFETY: the words lie at the very end of a stack that is thousands of bytes long and of which little is in
        // use: the painter runs in `main`, before core 1 starts. The address comes from the linker.
        unsafe { paint_of(core).write_volatile(PAINT) }
    }
}

/// The core whose stack was used up, if one was.
pub(crate) fn overflowed() -> Option<CoreId> {
    // SAFETY: the words are memory of a stack, written by `paint` or by an overflow behind the compiler's back; each
    // reading is one of numbers.
    CORES.into_iter().find(|&core| unsafe { paint_of(core).read_volatile() } != PAINT)
}

fn overflow_report(core: CoreId, place: fmt::Arguments<'_>) -> Report {
    Report {
        kind: STACK,
        message: Text::new(format_args!("core {}'s stack overflowed", core as u8)),
        place: Text::new(place),
    }
}

/// Ends a run whose stack is used up.
pub(crate) fn stack_overflow(core: CoreId) -> ! {
    crash(overflow_report(core, format_args!("")))
}

/// Writes the report down and starts again.
fn crash(report: Report) -> ! {
    cortex_m::interrupt::disable();
    REPORT.set(report);
    watchdog::reset()
}

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    cortex_m::interrupt::disable();
    let place = match info.location() {
        Some(location) => Text::new(format_args!("{}:{}", location.file(), location.line())),
        None => Text::new(format_args!("")),
    };
    crash(Report { kind: PANIC, message: Text::new(format_args!("{}", info.message())), place })
}

#[cortex_m_rt::exception]
unsafe fn DefaultHandler(number: i16) -> ! {
    panic!("interrupt {number} has no handler")
}

/// The stack of the hard fault handler: the one that was in use may be the reason for the fault.
#[repr(C, align(8))]
struct FaultStack(UnsafeCell<MaybeUninit<[u8; FAULT_STACK_SIZE]>>);
const FAULT_STACK_SIZE: usize = 2048;

// SAFETY: only its address is used, by the assembly below. If both cores fault at once they share it and may spoil the
// report, whose seal tells.
unsafe impl Sync for FaultStack {}

#[unsafe(link_section = ".uninit.fault")]
static FAULT_STACK: FaultStack = FaultStack(UnsafeCell::new(MaybeUninit::uninit()));

/// The hard fault vector: takes note of the stack pointer, changes to a stack that is certainly good, goes on in Rust.
///
/// # Safety
/// Called by the processor alone.
#[unsafe(naked)]
#[unsafe(no_mangle)]
unsafe extern "C" fn HardFault() -> ! {
    naked_asm!(
        "mov r0, sp",
        "ldr r1, 1f",
        "mov sp, r1",
        "ldr r1, 2f",
        "bx  r1",
        ".p2align 2",
        "1: .word {stack} + {size}",
        "2: .word {handler}",
        stack = sym FAULT_STACK,
        size = const FAULT_STACK_SIZE,
        handler = sym hard_fault,
    )
}

/// What the processor pushed when the fault came: r0 to r3, r12, lr, pc, xPSR (ARMv6-M manual, B1.5.6).
type Frame = [u32; 8];

extern "C" fn hard_fault(sp: usize) -> ! {
    /// Where RAM ends: memory.x.
    const RAM_END: usize = 0x2004_2000;
    let core = current_core();
    let bottom = stack_bottom(core);
    let frame = if sp >= bottom + GUARD && sp <= RAM_END - size_of::<Frame>() {
        // SAFETY: aligned, as the processor keeps it, and in RAM.
        Some(unsafe { (sp as *const Frame).read_volatile() })
    } else {
        None
    };
    let place = match frame {
        Some([.., lr, pc, _]) => Text::new(format_args!("core {} pc {pc:08x} lr {lr:08x}", core as u8)),
        None => Text::new(format_args!("core {} sp {sp:08x}", core as u8)),
    };
    // The instruction that hit the guard may have taken several words at once.
    let close = bottom + GUARD + size_of::<[Frame; 3]>();
    if sp < close || overflowed() == Some(core) {
        crash(Report { place, ..overflow_report(core, format_args!("")) });
    }
    crash(Report { kind: HARD_FAULT, message: Text::new(format_args!("hard fault")), place })
}
