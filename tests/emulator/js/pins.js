// Pins: what drives them from outside, and pulls.
//
// The stock pins do not know of pull-ups: an input with nothing connected reads 0. Here a pin reads what a button or
// the test drives, else what its pull says. The pins' interrupts for the second core and for waking from dormancy are
// not modelled: drivers that switch them off may do so, whoever switches one on is told.

const PULL_UP = 1 << 3;
const PADS = 0x4001c;
const IO = 0x40014;
/** The interrupt registers for core 1 and for dormancy. */
const OTHERS_FIRST = 0x130;
const OTHERS_LAST = 0x18c;

export class Pins {
  constructor(chip, driven) {
    this.chip = chip;
    /** Level by pin, for the pins that something drives: it outlives a reset of the chip. */
    this.driven = driven;
    const pads = chip.peripherals[PADS];
    const writePad = pads.writeUint32.bind(pads);
    pads.writeUint32 = (offset, value) => {
      writePad(offset, value);
      if (offset >= 4) this.settle((offset >> 2) - 1);
    };
    const io = chip.peripherals[IO];
    const readIo = io.readUint32.bind(io);
    const writeIo = io.writeUint32.bind(io);
    io.readUint32 = (offset) => (offset >= OTHERS_FIRST && offset <= OTHERS_LAST ? 0 : readIo(offset));
    io.writeUint32 = (offset, value) => {
      if (offset < OTHERS_FIRST || offset > OTHERS_LAST) writeIo(offset, value);
      else if (value !== 0) io.warn('interrupts of pins for core 1 and dormancy are not modelled');
    };
    for (const pin of this.driven.keys()) this.settle(pin);
  }

  /** Drives a pin high or low, or lets go of it (undefined). */
  drive(pin, level) {
    if (level === undefined) this.driven.delete(pin);
    else this.driven.set(pin, level);
    this.settle(pin);
  }

  settle(pin) {
    const gpio = this.chip.gpio[pin];
    if (!gpio) return;
    const level = this.driven.get(pin) ?? (gpio.padValue & PULL_UP) !== 0;
    if (level !== gpio.rawInputValue) gpio.setInputValue(level);
  }
}
