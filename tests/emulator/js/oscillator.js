// The ring oscillator, the voltage regulator and the flash's pins.
//
// The stock package has none of them: every access is a warning. Registers keep what is written; the random bits of the
// ring oscillator come from seeded noise, so that a test can start the same game again.

import { BasePeripheral } from './stock.js';

class Registers extends BasePeripheral {
  constructor(chip, name, initial) {
    super(chip, name);
    this.values = new Map(initial);
  }

  readUint32(offset) {
    return this.values.get(offset) ?? 0;
  }

  writeUint32(offset, value) {
    this.values.set(offset, value >>> 0);
  }
}

const ROSC_STATUS = 0x18;
const ROSC_RANDOMBIT = 0x1c;
const STABLE_AND_ENABLED = 0x80001000;

export class RingOscillator extends Registers {
  constructor(chip, noise) {
    super(chip, 'ROSC', [[ROSC_STATUS, STABLE_AND_ENABLED]]);
    this.noise = noise;
  }

  readUint32(offset) {
    return offset === ROSC_RANDOMBIT ? this.noise.next() >>> 31 : super.readUint32(offset);
  }
}

const VREG = 0x0;
const BOD = 0x4;
const CHIP_RESET = 0x8;
const HAD_POWER_ON = 1 << 8;

/** The chip remembers that power came on, through every reset that is not another power-on. */
export class Regulator extends Registers {
  constructor(chip) {
    super(chip, 'VREG_AND_CHIP_RESET', [[VREG, 0x10b1], [BOD, 0x91], [CHIP_RESET, HAD_POWER_ON]]);
  }
}

export class FlashPins extends Registers {
  constructor(chip) {
    super(chip, 'IO_QSPI', []);
  }
}
