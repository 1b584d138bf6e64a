// The I2C bus.
//
// The stock controller has no writable interrupt mask, so a driver that waits for interrupts waits forever; it forgets
// that the transmit FIFO was empty before somebody asked; and after an address that nobody acknowledges it would send
// the rest of the message as a new one, where the hardware throws it away until the abort has been read; and
// disabling it in the middle of a message leaves it busy for good. It warns of a hold time, which no device here needs.
// Bytes take the time that the clock's settings say.

const INTR_MASK = 0x30;
const DATA_CMD = 0x10;
const SDA_HOLD = 0x7c;
const TX_TL = 0x3c;
const ENABLE = 0x6c;

const TX_EMPTY = 1 << 4;
const TX_ABORT = 1 << 6;

export class I2cBus {
  constructor(chip, index) {
    this.controller = chip.i2c[index];
    this.chip = chip;
    this.devices = new Map();
    this.device = null;
    this.repairInterrupts();
    const bus = this.controller;
    bus.onStart = () => this.later(1, () => bus.completeStart());
    bus.onConnect = (address, mode) => {
      this.device = this.devices.get(address) ?? null;
      if (this.device?.stuck) return; // it holds the clock low: nothing happens any more
      const present = this.device !== null && !this.device.absent;
      if (present) this.device.begin(mode);
      this.later(9, () => bus.completeConnect(present));
    };
    bus.onWriteByte = (byte) => {
      if (this.device?.stuck) return;
      this.device.receive(byte);
      this.later(9, () => bus.completeWrite(true));
    };
    bus.onReadByte = () => this.later(9, () => bus.completeRead(0xff));
    bus.onStop = () => {
      this.device?.end();
      this.later(1, () => bus.completeStop());
    };
  }

  attach(address, device) {
    this.devices.set(address, device);
  }

  /** After so many bits on the bus. The counts are what the controller adds to those of the registers. */
  later(bits, action) {
    const { sclHighPeriod, sclLowPeriod, spikelen } = this.controller;
    const cycles = sclHighPeriod + sclLowPeriod + spikelen + 8;
    this.alarm ??= this.chip.clock.createAlarm(() => this.action());
    this.action = action;
    this.alarm.schedule((bits * cycles * 1e9) / this.chip.clkSys);
  }

  /** Disabling the controller ends whatever was under way. */
  abandon() {
    this.alarm?.cancel();
    this.device = null;
    Object.assign(this.controller, { state: 0, busy: false, stop: false, pendingRestart: false });
  }

  repairInterrupts() {
    const bus = this.controller;
    const write = bus.writeUint32.bind(bus);
    bus.writeUint32 = (offset, value) => {
      if (offset === INTR_MASK) {
        bus.intEnable = value & 0x1fff;
        bus.checkInterrupts();
        return;
      }
      if (offset === SDA_HOLD) return;
      if (offset === DATA_CMD && bus.intRaw & TX_ABORT) return;
      if (offset === ENABLE && !(value & 1)) this.abandon();
      write(offset, value);
      if (offset === TX_TL || offset === ENABLE) {
        if (bus.enable & 1 && bus.txFIFO.itemCount <= bus.txThreshold) bus.setInterrupts(TX_EMPTY);
      }
    };
  }
}
