// SIO: what each core sees of the other, of the pins and of the divider.
//
// The stock SIO knows one core: CPUID is 0, there are no FIFOs between the cores, and core 1 does not exist. It also
// charges every division eight cycles twice. Each core gets a face of its own here; pins and spinlocks stay with the
// stock one, which both faces share.

import { IRQ } from './stock.js';

const CPUID = 0x00;
const FIFO_ST = 0x50;
const FIFO_WR = 0x54;
const FIFO_RD = 0x58;
const DIV_UDIVIDEND = 0x60;
const DIV_CSR = 0x78;
const INTERP_FIRST = 0x80;
const INTERP_LAST = 0xfc;

const FIFO_DEPTH = 8;
const VALID = 1;
const READY = 2;
const OVERFLOWN = 4;
const UNDERFLOWN = 8;

export class Sio {
  /** `stock` holds pins and spinlocks; `launcher` is told what core 0 sends while core 1 is still in the boot ROM. */
  constructor(stock, core, launcher) {
    this.stock = stock;
    this.core = core;
    this.launcher = launcher;
    this.other = null;
    this.inbox = [];
    this.sticky = 0;
    this.divider = { dividend: 0, divisor: 0, quotient: 0, remainder: 0, dirty: false };
  }

  // What the stock pins ask for.
  get gpioValue() {
    return this.stock.gpioValue;
  }

  get gpioOutputEnable() {
    return this.stock.gpioOutputEnable;
  }

  reset() {
    this.inbox = [];
    this.sticky = 0;
    this.updateInterrupt();
  }

  updateInterrupt() {
    const irq = this.core.number === 0 ? IRQ.SIO_PROC0 : IRQ.SIO_PROC1;
    this.core.setInterrupt(irq, this.inbox.length > 0 || this.sticky !== 0);
  }

  receive(value) {
    this.inbox.push(value);
    this.updateInterrupt();
  }

  readUint32(offset) {
    switch (offset) {
      case CPUID:
        return this.core.number;
      case FIFO_ST: {
        const ready = this.launcher?.listens || this.other.inbox.length < FIFO_DEPTH;
        return (this.inbox.length > 0 ? VALID : 0) | (ready ? READY : 0) | this.sticky;
      }
      case FIFO_RD: {
        if (this.inbox.length === 0) this.sticky |= UNDERFLOWN;
        const value = this.inbox.shift() ?? 0;
        this.updateInterrupt();
        return value;
      }
    }
    if (offset >= DIV_UDIVIDEND && offset <= DIV_CSR) return this.readDivider(offset);
    this.refuseInterpolator(offset);
    return this.stock.readUint32(offset);
  }

  writeUint32(offset, value) {
    if (offset === FIFO_WR) {
      if (this.launcher?.listens) this.launcher.receive(value);
      else if (this.other.inbox.length < FIFO_DEPTH) this.other.receive(value);
      else this.sticky |= OVERFLOWN;
    } else if (offset === FIFO_ST) {
      this.sticky = 0;
      this.updateInterrupt();
    } else if (offset >= DIV_UDIVIDEND && offset <= DIV_CSR) {
      this.writeDivider(offset, value);
    } else {
      this.refuseInterpolator(offset);
      this.stock.writeUint32(offset, value);
    }
  }

  /** The interpolators are one pair a core too; core 1's are not modelled. */
  refuseInterpolator(offset) {
    if (this.core.number !== 0 && offset >= INTERP_FIRST && offset <= INTERP_LAST) {
      this.core.logger.warn('SIO', 'the interpolators of core 1 are not modelled');
    }
  }

  readDivider(offset) {
    const { divider } = this;
    switch (offset) {
      case 0x60:
      case 0x68:
        return divider.dividend >>> 0;
      case 0x64:
      case 0x6c:
        return divider.divisor >>> 0;
      case 0x70:
        divider.dirty = false;
        return divider.quotient >>> 0;
      case 0x74:
        return divider.remainder >>> 0;
      default:
        return divider.dirty ? 3 : 1; // always ready: callers wait the eight cycles by themselves
    }
  }

  writeDivider(offset, value) {
    const { divider } = this;
    divider.dirty = true;
    switch (offset) {
      case 0x60:
      case 0x68:
        divider.dividend = value;
        break;
      case 0x64:
      case 0x6c:
        divider.divisor = value;
        break;
      case 0x70:
        divider.quotient = value;
        return;
      case 0x74:
        divider.remainder = value;
        return;
      default:
        return;
    }
    const signed = offset >= 0x68;
    const dividend = signed ? divider.dividend | 0 : divider.dividend >>> 0;
    const divisor = signed ? divider.divisor | 0 : divider.divisor >>> 0;
    // By zero: minus one, or one for a negative dividend; the remainder is the dividend (RP2040 datasheet 2.3.1.5).
    divider.quotient = divisor === 0 ? (dividend < 0 ? 1 : -1) : Math.trunc(dividend / divisor);
    divider.remainder = divisor === 0 ? dividend : dividend % divisor;
  }
}

/** The boot ROM on core 1: it echoes what core 0 sends, and starts when it got 0, 0, 1, vectors, stack, entry. */
export class Launcher {
  constructor(core, answer) {
    this.core = core;
    this.answer = answer;
    this.hold();
  }

  /** Core 1 is in reset, or back in the ROM. */
  hold() {
    this.received = [];
    this.listens = true;
    this.core.hold();
  }

  receive(value) {
    const { received, core } = this;
    const expected = [0, 0, 1][received.length];
    if (expected !== undefined && value !== expected) received.length = 0;
    else received.push(value);
    this.answer(value);
    if (received.length < 6) return;
    const [, , , vectors, stack, entry] = received;
    this.listens = false;
    core.launch(vectors, stack, entry);
  }
}
