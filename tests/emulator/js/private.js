// A core's private registers: interrupt controller, system control, MPU.
//
// The stock ones lack the MPU, with which embassy guards the end of core 1's stack, the system control register that
// lets a pending interrupt count as an event, and the constants that start-up code reads.

import { FORBIDDEN } from './core.js';
import { RPPPB } from './stock.js';

const ICSR = 0xd04;
const AIRCR = 0xd0c;
const SCR = 0xd10;
const CCR = 0xd14;
const SHCSR = 0xd24;
const MPU_TYPE = 0xd90;
const MPU_CTRL = 0xd94;
const MPU_RNR = 0xd98;
const MPU_RBAR = 0xd9c;
const MPU_RASR = 0xda0;

const RAM = 0x20000000;
const REGIONS = 8;

export class Private extends RPPPB {
  constructor(chip, core) {
    super(chip, `PPB${core.number}`);
    this.mpuControl = 0;
    this.mpuRegion = 0;
    this.regions = Array.from({ length: REGIONS }, () => ({ base: 0, attributes: 0 }));
  }

  readUint32(offset) {
    switch (offset) {
      case AIRCR:
        return 0xfa050000;
      case SCR:
        return this.rp2040.core.eventOnPending ? 1 << 4 : 0;
      case CCR:
        return 0x208; // unaligned accesses trap, the stack is kept to eight bytes: fixed on this core
      case SHCSR:
        return 0;
      case MPU_TYPE:
        return REGIONS << 8;
      case MPU_CTRL:
        return this.mpuControl;
      case MPU_RNR:
        return this.mpuRegion;
      case MPU_RBAR:
        return this.regions[this.mpuRegion].base | this.mpuRegion;
      case MPU_RASR:
        return this.regions[this.mpuRegion].attributes;
    }
    return super.readUint32(offset);
  }

  writeUint32(offset, value) {
    const { core } = this.rp2040;
    switch (offset) {
      case AIRCR:
        this.warn('a reset by AIRCR restarts one core and leaves the rest as it was: not modelled');
        return;
      case SCR:
        core.eventOnPending = (value & (1 << 4)) !== 0;
        if (value & (1 << 1)) this.warn('sleep on exit is not modelled');
        return;
      case MPU_CTRL:
        this.mpuControl = value & 7;
        return this.markRegions();
      case MPU_RNR:
        this.mpuRegion = value & (REGIONS - 1);
        return;
      case MPU_RBAR:
        if (value & (1 << 4)) this.mpuRegion = value & (REGIONS - 1);
        this.regions[this.mpuRegion].base = value & ~0xff;
        return this.markRegions();
      case MPU_RASR:
        this.regions[this.mpuRegion].attributes = value;
        return this.markRegions();
      case ICSR:
        super.writeUint32(offset, value);
        core.wakeIfDue();
        return;
    }
    super.writeUint32(offset, value);
  }

  /** Marks the RAM that may not be stored to. Only regions without any access in RAM are modelled: guards of stacks. */
  markRegions() {
    const { marks } = this.rp2040.core;
    for (let i = 0; i < marks.length; i++) marks[i] &= ~FORBIDDEN;
    if ((this.mpuControl & 1) === 0) return;
    for (const { base, attributes } of this.regions) {
      if ((attributes & 1) === 0) continue;
      const size = 2 << ((attributes >> 1) & 31);
      if ((attributes >> 24) & 7 || base >>> 28 !== 2 || size < 256) {
        this.warn(`an MPU region other than a guard in RAM is not modelled: 0x${attributes.toString(16)}`);
        continue;
      }
      for (let part = 0; part < 8; part++) {
        if ((attributes >> (8 + part)) & 1) continue; // this eighth of the region is switched off
        const first = (base - RAM + (size / 8) * part) >> 5;
        for (let i = 0; i < size / 256; i++) marks[first + i] |= FORBIDDEN;
      }
    }
  }
}
