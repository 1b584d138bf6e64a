// The watchdog.
//
// The stock one calls a hook when it bites and leaves the reset to whoever wants one. A reset by the watchdog restarts
// the chip; RAM keeps its contents and so do the watchdog's scratch registers, on which crash reports rely. How close
// it came to biting is kept too, for the test that no feed is ever late.

const CTRL = 0x00;
const LOAD = 0x04;
const ENABLE = 1 << 30;

/** The counter goes down twice a microsecond (erratum RP2040-E1). */
const COUNTS_PER_MICROSECOND = 2;

export class Watchdog {
  /** `kept` holds the scratch registers and the reason of the last reset. */
  constructor(watchdog, kept, bite) {
    this.stock = watchdog;
    this.feeds = 0;
    this.closestMicros = Infinity;
    watchdog.scratchData.set(kept.scratch);
    watchdog.reason = kept.reason;
    watchdog.onWatchdogTrigger = () => {
      kept.scratch.set(watchdog.scratchData);
      kept.reason = watchdog.reason;
      watchdog.timer.enable = false; // it would bite again and again until the reset
      bite(watchdog.reason === 2 ? 'forced' : 'timeout');
    };
    const write = watchdog.writeUint32.bind(watchdog);
    watchdog.writeUint32 = (offset, value) => {
      if (offset === LOAD) this.noteFeed();
      write(offset, value);
    };
  }

  noteFeed() {
    this.feeds++;
    if (!(this.stock.readUint32(CTRL) & ENABLE)) return;
    const left = (this.stock.timer.counter & 0xffffff) / COUNTS_PER_MICROSECOND;
    this.closestMicros = Math.min(this.closestMicros, left);
  }
}
