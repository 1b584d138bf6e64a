// PWM.
//
// The stock one rings two alarms a period, which for a backlight is a hundred thousand a second, to toggle a pin that
// nobody watches. This one keeps its registers and counts when asked; interrupts and counted inputs are not modelled.

import { BasePeripheral } from './stock.js';

const CHANNELS_END = 0xa0;
const ENABLE = 0xa0;
const INTERRUPTS_END = 0xb0;

export class Pwm extends BasePeripheral {
  constructor(chip) {
    super(chip, 'PWM');
    this.values = new Uint32Array(0xb4 / 4);
    for (let channel = 0; channel < 8; channel++) {
      this.values[channel * 5 + 1] = 1 << 4; // divide by one
      this.values[channel * 5 + 4] = 0xffff; // top
    }
    // What the stock pins and clocks ask for.
    this.channels = [];
    this.clockFreq = 0;
    this.gpioValue = 0;
    this.gpioDirection = 0;
  }

  gpioOnInput() {}

  readUint32(offset) {
    if (offset === ENABLE) {
      let enabled = 0;
      for (let channel = 0; channel < 8; channel++) enabled |= (this.values[channel * 5] & 1) << channel;
      return enabled;
    }
    return this.values[offset >> 2];
  }

  writeUint32(offset, value) {
    if (offset === ENABLE) {
      for (let channel = 0; channel < 8; channel++) {
        this.values[channel * 5] = (this.values[channel * 5] & ~1) | ((value >> channel) & 1);
      }
      return;
    }
    if (offset > ENABLE && offset <= INTERRUPTS_END && value !== 0) this.warn('interrupts of PWM are not modelled');
    const counts = offset < CHANNELS_END && offset % 20 === 0 && (value & 0x30) !== 0;
    if (counts) this.warn('counting inputs of PWM are not modelled');
    this.values[offset >> 2] = value;
  }

  /** The part of the time that a pin is high, from 0 to 1. */
  duty(pin) {
    const channel = (pin >> 1) & 7;
    const [control, , , compare, top] = this.values.subarray(channel * 5, channel * 5 + 5);
    if (!(control & 1)) return 0;
    const level = pin & 1 ? compare >>> 16 : compare & 0xffff;
    return Math.min(1, level / (top + 1));
  }
}
