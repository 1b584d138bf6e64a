// The boot ROM, as far as firmware calls it, and the flash behind it.
//
// The stock package comes without a ROM, and Raspberry Pi's image is not ours to ship. This one has the same tables
// (RP2040 datasheet 2.8.3), and every function in it is a breakpoint and a return: the work is done here. That is also
// where flash is erased and programmed, with its durations, and where power can fail in the middle of it.

const SECTOR = 4096;
const PAGE = 256;

/** W25Q16JV, typical: a sector's erase and a page's program. */
const ERASE_NANOS = 45e6;
const PROGRAM_NANOS = 0.4e6;

const LOOKUP = 0x20;
const FUNCTION_TABLE = 0x40;
const DATA_TABLE = 0x30;
const FUNCTIONS = 0x100;
const LOOKUP_BREAKPOINT = 0xff;
const RETURN = 0x4770; // bx lr

/** Thrown when power fails: whatever ran is over. */
export class PowerCut extends Error {}

/** Each function: its code in the table, and what it does with r0 to r3; what it returns goes to r0. */
const CALLS = {
  P3: (_, x) => x.toString(2).replaceAll('0', '').length,
  R3: (_, x) => parseInt((x >>> 0).toString(2).padStart(32, '0').split('').reverse().join(''), 2),
  L3: (_, x) => Math.clz32(x),
  T3: (_, x) => (x === 0 ? 32 : 31 - Math.clz32(x & -x)),
  MS: (rom, to, byte, count) => rom.fill(to, byte, count),
  S4: (rom, to, byte, count) => rom.fill(to, byte, count),
  MC: (rom, to, from, count) => rom.copy(to, from, count),
  C4: (rom, to, from, count) => rom.copy(to, from, count),
  IF: (rom) => rom.connectFlash(),
  EX: (rom) => rom.machine.mapFlash(false),
  RE: (rom, address, count) => rom.erase(address, count),
  RP: (rom, address, from, count) => rom.program(address, from, count),
  FC: () => undefined,
  CX: (rom) => rom.machine.mapFlash(true),
  UB: (rom) => rom.machine.enterBootsel(),
};
const CODES = Object.keys(CALLS);

/** The ROM's 16 KiB. */
export function image() {
  const rom = new DataView(new ArrayBuffer(16384));
  const put = (at, value) => rom.setUint16(at, value, true);
  rom.setUint32(0x10, 0x0301754d, true); // "Mu", version 1 of the tables, version 3 of the ROM
  put(0x14, FUNCTION_TABLE);
  put(0x16, DATA_TABLE);
  put(0x18, LOOKUP | 1);
  put(LOOKUP, 0xbe00 | LOOKUP_BREAKPOINT);
  put(LOOKUP + 2, RETURN);
  CODES.forEach((code, index) => {
    const entry = FUNCTIONS + 4 * index;
    put(FUNCTION_TABLE + 4 * index, code.charCodeAt(0) | (code.charCodeAt(1) << 8));
    put(FUNCTION_TABLE + 4 * index + 2, entry | 1);
    put(entry, 0xbe00 | index);
    put(entry + 2, RETURN);
  });
  return new Uint32Array(rom.buffer);
}

export class Rom {
  constructor(machine) {
    this.machine = machine;
    /** Erases and programs so far, for those who want to place a cut. */
    this.operations = [];
    /** Power fails in the operation of this number, after this many of its bytes. */
    this.cut = null;
    /** A flash that is worn out: it takes every command, and keeps what it holds. */
    this.worn = false;
  }

  call(core, number) {
    const r = core.registers;
    if (number === LOOKUP_BREAKPOINT) {
      r[0] = this.lookUp(core, r[0], r[1] & 0xffff);
      return;
    }
    this.core = core;
    const result = CALLS[CODES[number]](this, r[0], r[1], r[2], r[3]);
    if (result !== undefined) r[0] = result;
  }

  lookUp(core, table, code) {
    for (let at = table; ; at += 4) {
      const found = core.rp2040.readUint16(at);
      if (found === code) return core.rp2040.readUint16(at + 2);
      if (found === 0) {
        const name = String.fromCharCode(code & 0xff, code >> 8);
        core.logger.warn('ROM', `the function or datum '${name}' is not modelled`);
        return 0;
      }
    }
  }

  fill(to, byte, count) {
    const bus = this.core.rp2040;
    for (let i = 0; i < count; i++) bus.writeUint8(to + i, byte & 0xff);
    this.core.cycles += 12 + (count >> 2);
  }

  copy(to, from, count) {
    const bus = this.core.rp2040;
    for (let i = 0; i < count; i++) bus.writeUint8(to + i, bus.readUint8(from + i));
    this.core.cycles += 12 + (count >> 1);
  }

  /** It gives the flash's pins back to the SSI: nothing that is modelled. */
  connectFlash() {}

  /** Time passes in which this core does nothing else. */
  spend(nanos) {
    this.core.cycles += Math.ceil(nanos / this.machine.clock.nanosPerCycle);
  }

  begin(kind, address, count, unit) {
    if (this.machine.flashMapped) this.core.logger.warn('ROM', `${kind} of flash while it is mapped`);
    if (address % unit !== 0 || count % unit !== 0 || address + count > this.machine.flashSize) {
      this.core.logger.warn('ROM', `${kind} of ${count} bytes at 0x${address.toString(16)} is not in whole units`);
    }
    const cut = this.cut?.operation === this.operations.length ? this.cut.bytes : Infinity;
    this.operations.push({ kind, address, count });
    return cut;
  }

  /** A cut leaves the sector it was in with bits that are neither what they were nor erased. */
  erase(address, count) {
    const cut = this.begin('erase', address, count, SECTOR);
    const { flash } = this.machine;
    for (let done = 0; done < count; done += SECTOR) {
      const sector = flash.subarray(address + done, address + done + SECTOR);
      if (cut < done + SECTOR) {
        for (let i = 0; i < SECTOR; i++) sector[i] |= this.machine.noise.next() >>> 24;
        this.fail('erase', address + done);
      }
      if (!this.worn) sector.fill(0xff);
      this.spend(ERASE_NANOS);
    }
  }

  /** A program only clears bits; a cut leaves the first bytes done and the one it was at half done. */
  program(address, from, count) {
    const cut = this.begin('program', address, count, PAGE);
    const { flash } = this.machine;
    for (let i = 0; i < count; i++) {
      const byte = this.core.rp2040.readUint8(from + i);
      if (i === cut) {
        flash[address + i] &= byte | (this.machine.noise.next() >>> 24);
        this.fail('program', address + i);
      }
      if (!this.worn) flash[address + i] &= byte;
      if (i % PAGE === PAGE - 1) this.spend(PROGRAM_NANOS);
    }
  }

  fail(kind, address) {
    this.cut = null;
    throw new PowerCut(`power failed in an ${kind} at 0x${address.toString(16)}`);
  }
}
