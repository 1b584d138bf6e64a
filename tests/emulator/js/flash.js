// The flash chip's own bus: XIP_CTRL and SSI.
//
// The stock package has no XIP_CTRL, on whose stream counter a flash driver waits, and its SSI answers every command
// with 0: no JEDEC id, no unique id. It maps the flash always; here a core that touches the flash while a driver has
// taken it over gets a fault, as it would get nonsense on the chip.

import { BasePeripheral } from './stock.js';

const CTRL = 0x00;
const FLUSH = 0x04;
const STAT = 0x08;
const STREAM_ADDR = 0x14;
const STREAM_CTR = 0x18;

export class XipControl extends BasePeripheral {
  constructor(chip) {
    super(chip, 'XIP_CTRL');
    this.control = 3;
    this.streamAddress = 0;
  }

  readUint32(offset) {
    switch (offset) {
      case CTRL:
        return this.control;
      case FLUSH:
        return 0;
      case STAT:
        return 3; // nothing in the stream's FIFO; flushed
      case STREAM_ADDR:
        return this.streamAddress;
      case STREAM_CTR:
        return 0;
    }
    return super.readUint32(offset);
  }

  writeUint32(offset, value) {
    switch (offset) {
      case CTRL:
        this.control = value;
        return;
      case FLUSH:
        return;
      case STREAM_ADDR:
        this.streamAddress = value;
        return;
      case STREAM_CTR:
        if (value !== 0) this.warn('streaming from flash is not modelled: use blocking reads');
        return;
    }
    super.writeUint32(offset, value);
  }
}

const SSIENR = 0x08;
const DR0 = 0x60;
const READ_STATUS = 0x05;
const READ_JEDEC = 0x9f;
const READ_UNIQUE_ID = 0x4b;

/** Teaches the stock SSI the flash's commands. `flash` has jedec and uniqueId as bytes. */
export function answerFlashCommands(ssi, machine, flash) {
  const read = ssi.readUint32.bind(ssi);
  const write = ssi.writeUint32.bind(ssi);
  let answer = [];
  ssi.writeUint32 = (offset, value) => {
    if (offset === DR0) {
      const command = value & 0xff;
      if (command === READ_JEDEC) answer = [...flash.jedec];
      else if (command === READ_UNIQUE_ID) answer = [0, 0, 0, 0, ...flash.uniqueId];
      else if (command === READ_STATUS) answer = [];
    }
    // Whoever takes the flash over disables the SSI to set it up, and leaves it enabled in the end.
    if (offset === SSIENR) machine.mapFlash(value === 1);
    write(offset, value);
  };
  ssi.readUint32 = (offset) => (offset === DR0 && answer.length > 0 ? answer.shift() : read(offset));
}
