// A Cortex-M0+ core.
//
// The stock core has no faults: a read from nowhere logs and gives 0xffffffff, an undefined instruction calls a hook. So
// a crash would not crash. It also takes interrupts that PRIMASK holds back when they end a sleep, does not let SEV wake
// anyone, charges nothing for exceptions, and knows no second core. State and exception frames are the stock core's;
// memory, faults, sleep, exceptions' priorities and the interpreter are here.

import { interpret } from './instructions.js';
import { CortexM0Core, MAX_HARDWARE_IRQ } from './stock.js';

const FLASH = 0x10000000;
const RAM = 0x20000000;
const HARD_FAULT = 3;
const SVCALL = 11;
const PENDSV = 14;
const SYSTICK = 15;

/** Cycles that the Cortex-M0+ needs to enter an exception and to return, with memory that never waits. */
const ENTRY_CYCLES = 15;
const RETURN_CYCLES = 13;

/** How many registers a list names: eight low ones and LR. */
const BITS = Uint8Array.from({ length: 512 }, (_, list) => list.toString(2).replaceAll('0', '').length);

/** Marks of 32 bytes of RAM that a store must look at. */
export const WATCHED = 1;
export const FORBIDDEN = 2;

export class Core extends CortexM0Core {
  /** `chip` is the chip as this core sees it; `machine` is told of faults, breakpoints, events and watched stores. */
  constructor(chip, machine, number) {
    super(chip);
    this.machine = machine;
    this.number = number;
    this.words = new Int32Array(this.registers.buffer);
    this.ram8 = chip.sram;
    this.ram16 = new Uint16Array(chip.sram.buffer);
    this.ram32 = new Int32Array(chip.sram.buffer);
    this.flash8 = chip.flash;
    this.flash16 = new Uint16Array(chip.flash.buffer);
    this.flash32 = new Int32Array(chip.flash.buffer);
    this.rom16 = new Uint16Array(chip.bootrom.buffer);
    this.marks = new Uint8Array(chip.sram.length >> 5);
    /** How much flash can be read: none while it is not mapped. */
    this.flashEnd = chip.flash.length;
    /** Cycles since the start, asleep or not; and how many of them the core slept. */
    this.cycles = 0;
    this.idle = 0;
    /** Up to which cycle the core may run, and up to where it runs without a look at interrupts. */
    this.goal = 0;
    this.end = 0;
    /** Whether the core is held in reset, or has given up: a fault within a fault. */
    this.held = number !== 0;
    this.lockedUp = false;
    this.waitsForEvent = false;
    this.eventOnPending = false;
    this.faulted = false;
    this.returnTo = 0;
    this.popped = 0;
    this.started = 0;
    this.breakpoint = -1;
  }

  get awake() {
    return !this.waiting && !this.held && !this.lockedUp;
  }

  get hasPending() {
    return (
      (this.pendingInterrupts & this.enabledInterrupts) !== 0 ||
      this.pendingPendSV || this.pendingSystick || this.pendingSVCall || this.pendingNMI
    );
  }

  /** Runs up to a cycle, or until asleep or stopped. */
  run(goal) {
    this.goal = goal;
    while (this.cycles < this.goal && this.awake) {
      if (this.interruptsUpdated) this.takeException();
      this.end = this.goal;
      this.interpret();
      if (this.faulted) this.enterFault();
      else if (this.returnTo !== 0) this.returnFromException();
      else if (this.breakpoint >= 0) this.reachBreakpoint();
    }
  }

  /** Lets an exception be taken after the present instruction. */
  pause() {
    if (this.end > this.cycles) this.end = this.cycles;
  }

  /** Ends this run after the present instruction: something outside the core must act. */
  stop() {
    this.stopAt(this.cycles);
  }

  stopAt(cycles) {
    if (this.goal > cycles) this.goal = cycles;
    if (this.end > cycles) this.end = cycles;
  }

  /** Starts at an entry, as the boot ROM does for core 1. */
  launch(vectors, stack, entry) {
    this.VTOR = vectors;
    this.SP = stack;
    this.PC = entry & ~1;
    this.held = false;
    this.comeBack();
  }

  /** Holds the core in reset. */
  hold() {
    this.held = true;
    this.waiting = false;
    this.lockedUp = false;
    this.eventRegistered = false;
    this.PM = false;
    this.IPSR = 0;
    this.currentMode = 0;
    this.enabledInterrupts = 0;
  }

  keepFlags(nz, c, v) {
    this.N = nz < 0;
    this.Z = nz === 0;
    this.C = c !== 0;
    this.V = v !== 0;
  }

  // ---- Memory

  fetch(address) {
    let offset = address - FLASH;
    if (offset >>> 0 < this.flashEnd) return this.flash16[offset >> 1];
    offset = address - RAM;
    if (offset >>> 0 < this.ram8.length) return this.ram16[offset >> 1];
    return this.rom16[(address & 0x3fff) >> 1];
  }

  /** Whether anything answers at an address. */
  isMapped(address) {
    switch (address >>> 28) {
      case 0x0:
        return address >>> 0 < 0x4000;
      case 0x1:
        return address >>> 0 < 0x14000000 ? this.flashEnd > 0 : this.rp2040.findPeripheral(address) !== undefined;
      case 0x2:
        return address - RAM >>> 0 < this.ram8.length;
      case 0x5:
        if (address >>> 12 === 0x50100) return true;
      // falls through
      case 0x4:
        return this.rp2040.findPeripheral(address) !== undefined;
      case 0xd:
        return address >>> 0 < 0xd0000180;
      case 0xe:
        return address >>> 12 === 0xe000e;
      default:
        return false;
    }
  }

  /** Cycles of a load or store beyond the instruction's own: the buses to peripherals are slower than memory. */
  busCycles(address, forStore) {
    return this.cyclesIO(address, forStore) + 1;
  }

  /** A load from anything but plain RAM and flash. */
  load(address, bytes, at) {
    if ((address & (bytes - 1)) !== 0) return this.refuse(at, 'unaligned load from', address);
    if (!this.isMapped(address)) return this.refuse(at, 'load from nothing at', address);
    const bus = this.rp2040;
    let value;
    if (bytes === 4) value = bus.readUint32(address);
    else value = bytes === 2 ? bus.readUint16(address) : bus.readUint8(address);
    this.cycles += this.busCycles(address, false);
    if (this.interruptsUpdated) this.pause();
    return value | 0;
  }

  /** A store to anything but plain RAM, and to marked RAM. */
  store(address, value, bytes, at) {
    if ((address & (bytes - 1)) !== 0) return this.refuse(at, 'unaligned store to', address);
    if (!this.isMapped(address)) return this.refuse(at, 'store to nothing at', address);
    const bus = this.rp2040;
    const offset = address - RAM >>> 0;
    if (offset < this.ram8.length) {
      if (this.isForbidden(offset)) return this.refuse(at, 'store to the guard of the stack at', address);
      if (bytes === 4) this.ram32[offset >> 2] = value;
      else if (bytes === 2) this.ram16[offset >> 1] = value;
      else this.ram8[offset] = value;
      this.cycles += 2;
      this.machine.stored(this, address >>> 0);
      return 0;
    }
    if (address >>> 0 < 0x14000000) return this.refuse(at, 'store to read-only memory at', address);
    if (bytes === 4) bus.writeUint32(address, value >>> 0);
    else if (bytes === 2) bus.writeUint16(address, value & 0xffff);
    else bus.writeUint8(address, value & 0xff);
    this.cycles += this.busCycles(address, true);
    if (this.interruptsUpdated) this.pause();
    return 0;
  }

  /** The MPU does not watch the handler of a fault. */
  isForbidden(offset) {
    return (this.marks[offset >> 5] & FORBIDDEN) !== 0 && this.exceptionPriority(this.IPSR) >= 0;
  }

  refuse(at, what, address) {
    this.fault(at, what, address);
    this.cycles += 2;
    this.stop();
    return 0;
  }

  /** Whether `count` words from here on are plain RAM, to be moved without further ado. */
  isPlain(address, count) {
    const offset = address - RAM >>> 0;
    if ((address & 3) !== 0 || offset + 4 * count > this.ram8.length) return false;
    return (this.marks[offset >> 5] | this.marks[(offset + 4 * count - 1) >> 5]) === 0;
  }

  storeMultiple(n, list, left, at) {
    const { words, ram32 } = this;
    const count = BITS[list];
    const start = words[n];
    if (this.isPlain(start, count)) {
      let index = (start - RAM) >> 2;
      for (let i = 0; i < 8; i++) if ((list & (1 << i)) !== 0) ram32[index++] = words[i];
      left -= 1 + count;
    } else {
      this.started = this.cycles = this.end - left;
      let address = start;
      for (let i = 0; i < 8 && !this.faulted; i++) {
        if ((list & (1 << i)) === 0) continue;
        this.store(address, words[i], 4, at);
        address += 4;
      }
      left = this.leftAfter(count);
      if (this.faulted) return left;
    }
    words[n] = start + 4 * count;
    return left;
  }

  loadMultiple(n, list, left, at) {
    const { words, ram32, flash32 } = this;
    const count = BITS[list];
    const start = words[n];
    if (this.isPlain(start, count)) {
      let index = (start - RAM) >> 2;
      for (let i = 0; i < 8; i++) if ((list & (1 << i)) !== 0) words[i] = ram32[index++];
      left -= 1 + count;
    } else if (start - FLASH >>> 0 < this.flashEnd - 32 && (start & 3) === 0) {
      let index = (start - FLASH) >> 2;
      for (let i = 0; i < 8; i++) if ((list & (1 << i)) !== 0) words[i] = flash32[index++];
      left -= 1 + count;
    } else {
      this.started = this.cycles = this.end - left;
      let address = start;
      for (let i = 0; i < 8 && !this.faulted; i++) {
        if ((list & (1 << i)) === 0) continue;
        words[i] = this.load(address, 4, at);
        address += 4;
      }
      left = this.leftAfter(count);
      if (this.faulted) return left;
    }
    if ((list & (1 << n)) === 0) words[n] = start + 4 * count;
    return left;
  }

  /** A word a cycle, and one more: what single loads and stores charged does not count. */
  leftAfter(count) {
    this.cycles = this.started + 1 + count;
    return this.end - this.cycles;
  }

  /** Bit 8 of the list stands for LR. The stack is checked as a whole: a push that faults leaves SP where it was. */
  push(list, left, at) {
    const { words, ram32 } = this;
    const count = BITS[list];
    const bottom = words[13] - 4 * count;
    if (!this.isPlain(bottom, count)) return this.pushSlowly(list, count, left, at);
    let index = (bottom - RAM) >> 2;
    for (let i = 0; i < 8; i++) if ((list & (1 << i)) !== 0) ram32[index++] = words[i];
    if ((list & 256) !== 0) ram32[index] = words[14];
    words[13] = bottom;
    return left - 1 - count;
  }

  pushSlowly(list, count, left, at) {
    const { words } = this;
    const bottom = words[13] - 4 * count;
    this.started = this.cycles = this.end - left;
    let address = bottom;
    for (let i = 0; i < 9 && !this.faulted; i++) {
      if ((list & (1 << i)) === 0) continue;
      this.store(address, words[i < 8 ? i : 14], 4, at);
      address += 4;
    }
    if (!this.faulted) words[13] = bottom;
    return this.leftAfter(count);
  }

  pop(list, left, at) {
    const { words } = this;
    const count = BITS[list];
    const bottom = words[13];
    const offset = bottom - RAM >>> 0;
    if (offset + 4 * count > this.ram8.length) {
      this.cycles = this.end - left;
      this.refuse(at, 'pop from nothing at', bottom);
      return this.end - this.cycles;
    }
    let index = offset >> 2;
    for (let i = 0; i < 8; i++) if ((list & (1 << i)) !== 0) words[i] = this.ram32[index++];
    words[13] = bottom + 4 * count;
    return left - 1 - count;
  }

  popJump(list, left, at) {
    left = this.pop(list, left, at);
    const offset = this.words[13] - RAM >>> 0;
    if (!this.faulted && offset + 4 > this.ram8.length) {
      this.cycles = this.end - left;
      this.refuse(at, 'pop from nothing at', this.words[13]);
      return this.end - this.cycles;
    }
    this.popped = this.ram32[offset >> 2];
    if (!this.faulted) this.words[13] += 4;
    return left - 2;
  }

  // ---- Sleep and events

  sleep(forEvent) {
    this.waiting = true;
    this.waitsForEvent = forEvent;
    this.wakeIfDue();
  }

  wake() {
    if (!this.waiting) return;
    this.waiting = false;
    this.comeBack();
  }

  /** The time away counts as cycles too; and whoever ran alone so far must take turns again. */
  comeBack() {
    const { clock } = this.machine;
    if (clock.cycles > this.cycles) {
      this.idle += clock.cycles - this.cycles;
      this.cycles = clock.cycles;
    }
    if (clock.runner !== this) clock.runner?.stop();
  }

  /** An interrupt ends a sleep even if PRIMASK keeps it from being taken; a wait for an event then needs the event. */
  wakeIfDue() {
    if (!this.waiting || (this.waitsForEvent && this.PM)) return;
    if (this.preempting() !== 0) this.wake();
  }

  receiveEvent() {
    if (this.waiting && this.waitsForEvent) this.wake();
    else this.eventRegistered = true;
  }

  sendEvent() {
    this.machine.sendEvent();
  }

  // ---- Exceptions

  setInterrupt(irq, raised) {
    const bit = 1 << irq;
    if (!raised) {
      this.pendingInterrupts &= ~bit;
    } else if ((this.pendingInterrupts & bit) === 0) {
      this.pendingInterrupts |= bit;
      this.interruptsUpdated = true;
      if (this.eventOnPending) this.receiveEvent();
      this.wakeIfDue();
    }
  }

  /** The exception that would preempt what runs now if PRIMASK allowed it, or 0. */
  preempting() {
    const priority = this.exceptionPriority(this.IPSR);
    const interrupts = this.pendingInterrupts & this.enabledInterrupts;
    for (let level = 0; level < priority; level++) {
      if (this.pendingSVCall && this.svCallPriority === level) return SVCALL;
      if (this.pendingPendSV && this.pendSVPriority === level) return PENDSV;
      if (this.pendingSystick && this.systickPriority === level) return SYSTICK;
      const pending = interrupts & this.interruptPriorities[level];
      if (pending !== 0) return 16 + (31 - Math.clz32(pending & -pending));
    }
    return 0;
  }

  takeException() {
    this.interruptsUpdated = false;
    if (this.PM) return;
    const number = this.preempting();
    if (number === 0) return;
    if (number === SVCALL) this.pendingSVCall = false;
    else if (number === PENDSV) this.pendingPendSV = false;
    else if (number === SYSTICK) this.pendingSystick = false;
    // Lines of peripherals stay raised until the peripheral is served; the spare ones are pended by software.
    else if (number - 16 > MAX_HARDWARE_IRQ) this.pendingInterrupts &= ~(1 << (number - 16));
    this.enter(number);
  }

  enter(number) {
    const frame = (this.SPSEL && this.currentMode === 0 ? this.SPprocess : this.SPmain) - 0x20;
    const offset = (frame & ~7) - RAM >>> 0;
    if (offset + 0x20 > this.ram8.length || this.isForbidden(offset) || this.isForbidden(offset + 0x1f)) {
      return this.lockUp(`no stack for exception ${number}: SP is 0x${(frame + 0x20 >>> 0).toString(16)}`);
    }
    this.exceptionEntry(number);
    this.PC &= ~1;
    this.cycles += ENTRY_CYCLES;
  }

  returnFromException() {
    const target = this.returnTo;
    this.returnTo = 0;
    this.exceptionReturn(target & 0x0fffffff);
    this.cycles += RETURN_CYCLES;
  }

  fault(at, what, address) {
    this.faulted = true;
    this.machine.noteFault(this, `${what} 0x${(address >>> 0).toString(16)}`, at >>> 0);
  }

  enterFault() {
    this.faulted = false;
    this.returnTo = 0;
    if (this.exceptionPriority(this.IPSR) < 0) this.lockUp('a fault within a fault');
    else this.enter(HARD_FAULT);
  }

  /** What the hardware does when not even the fault can be handled: nothing more, until a reset. */
  lockUp(why) {
    this.lockedUp = true;
    this.machine.noteFault(this, `locked up: ${why}`, this.PC);
  }

  reachBreakpoint() {
    const number = this.breakpoint;
    this.breakpoint = -1;
    const at = this.PC - 2;
    if (at < 0x4000) return this.machine.callRom(this, number);
    // Without a debugger a breakpoint is a fault.
    this.fault(at, 'breakpoint', number);
    this.PC = at;
    this.enterFault();
  }
}

Core.prototype.interpret = interpret;
