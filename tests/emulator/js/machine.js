// The emulated handheld: what outlives a reset of the chip, and the loop that runs it.

import { Chip } from './chip.js';
import { WATCHED } from './core.js';
import { Noise } from './noise.js';
import { PowerCut, Rom } from './rom.js';
import { Rtt } from './rtt.js';
import { Ssd1306 } from './ssd1306.js';
import { St7789 } from './st7789.js';

const RAM = 0x20000000;
const RAM_BYTES = 264 * 1024;

/** While both cores are awake they take turns of half a microsecond; a lone one runs on until something is due. */
const TURN_CYCLES = 64;

/** Logs are read at least this often: the firmware's buffer is small. */
const DRAIN_NANOS = 1e6;

export class Machine {
  /** `board`: flash and display (see board.rs); `seed` makes every noise; `rtt` is the control block's address. */
  constructor({ board, seed, rtt }) {
    this.board = board;
    this.noise = new Noise(seed);
    this.ram = new Uint8Array(RAM_BYTES);
    this.flash = new Uint8Array(board.flash.bytes).fill(0xff);
    this.flashSize = board.flash.bytes;
    this.driven = new Map();
    this.kept = { scratch: new Uint32Array(8), reason: 0 };
    this.warnings = [];
    this.faults = [];
    /** What was logged since it was last taken: a list of bytes for each life of the chip. */
    this.logged = [[]];
    this.watches = new Map();
    this.rom = new Rom(this);
    this.rtt = new Rtt(this.ram, rtt);
    this.logger = this.buildLogger();
    const Display = board.display.kind === 'ssd1306' ? Ssd1306 : St7789;
    this.display = new Display(board.display, this.logger.warn);
    this.usbPlugged = true;
    this.chip = null;
    /** Nanoseconds since the first power-on, up to the present life of the chip. */
    this.livedNanos = 0;
    this.resets = [];
    this.bootsel = false;
  }

  buildLogger() {
    const note = (component, message) => {
      const text = `${component}: ${message}`;
      if (this.warnings.length < 20) this.warnings.push(`${this.chip ? this.millis.toFixed(3) : 0} ms: ${text}`);
    };
    return { debug() {}, info() {}, warn: note, error: note };
  }

  get millis() {
    return this.nanos / 1e6;
  }

  get nanos() {
    return this.livedNanos + (this.chip ? this.clock.nanos : 0);
  }

  // ---- Power and resets

  /** Power comes: memory holds anything, unless it was gone but for a moment; the display shows nothing. */
  powerOn({ keepsRam = false } = {}) {
    if (!keepsRam) this.noise.fill(this.ram);
    this.display.powerOn(this.noise);
    this.kept = { scratch: new Uint32Array(8), reason: 0 };
    this.start();
  }

  /** Power goes, at once. */
  powerOff() {
    if (!this.chip) return;
    this.rtt.drain(this.logged.at(-1));
    this.livedNanos = this.nanos;
    this.chip = null;
  }

  start() {
    this.rtt.clear();
    this.logged.push([]);
    this.bootsel = false;
    this.resetWanted = null;
    this.flashMapped = true;
    this.lastDrain = 0;
    this.chip = new Chip(this);
    this.markWatches();
    if (this.usbPlugged) this.chip.usb.plug();
    this.chip.usb.received = () => this.noteArrival('usb');
  }

  /** The watchdog wants a reset: it happens when the cores have stopped. */
  requestReset(why) {
    this.resetWanted = why;
    this.stopCores();
  }

  reset() {
    this.rtt.drain(this.logged.at(-1));
    this.resets.push({ nanos: this.nanos, why: this.resetWanted });
    this.livedNanos = this.nanos;
    this.start();
    this.noteArrival('reset');
  }

  /** The ROM's own USB drive: the firmware is not running any more. */
  enterBootsel() {
    this.bootsel = true;
    for (const core of this.chip.cores) core.held = true;
    this.stopCores();
    this.noteArrival('bootsel');
  }

  stopCores() {
    for (const core of this.chip.cores) core.stop();
  }

  // ---- What the cores call

  sendEvent() {
    for (const core of this.chip.cores) core.receiveEvent();
  }

  callRom(core, number) {
    this.rom.call(core, number);
  }

  mapFlash(mapped) {
    this.flashMapped = mapped;
    for (const core of this.chip.cores) {
      core.flashEnd = mapped ? this.flashSize : 0;
      core.pause();
    }
  }

  noteFault(core, what, at) {
    if (this.faults.length < 20) {
      this.faults.push(`${this.millis.toFixed(3)} ms: core ${core.number} at 0x${at.toString(16)}: ${what}`);
    }
    this.noteArrival('fault');
  }

  takeLogs() {
    return this.logged.splice(0, this.logged.length, []);
  }

  // ---- Watched words of RAM

  /** Notes every change of a word, or stops when it has reached a value; `keep` limits the notes. */
  watch(address, { keep = 0, stopAt = null }) {
    this.watches.set(address, { value: this.word(address), keep, stopAt, notes: [] });
    this.markWatches();
    // Before the firmware's start-up has run, the word holds noise.
    return this.rtt.isReady() ? this.word(address) : 0;
  }

  unwatch(address) {
    this.watches.delete(address);
    this.markWatches();
  }

  markWatches() {
    if (!this.chip) return;
    for (const { marks } of this.chip.cores) {
      for (let i = 0; i < marks.length; i++) marks[i] &= ~WATCHED;
      for (const address of this.watches.keys()) marks[(address - RAM) >> 5] |= WATCHED;
    }
  }

  word(address) {
    return new DataView(this.ram.buffer).getUint32(address - RAM, true);
  }

  stored(core, address) {
    const watch = this.watches.get(address & ~3);
    if (!watch) return;
    const value = this.word(address & ~3);
    if (value === watch.value) return;
    watch.value = value;
    if (watch.notes.length < watch.keep) {
      watch.notes.push([value, this.nanos, ...this.chip.cores.map((each) => each.cycles - each.idle)]);
    }
    if (watch.stopAt !== null && value >= watch.stopAt) {
      this.noteArrival('value');
      core.stop();
    }
  }

  // ---- Running

  /** Something came that the caller may wait for. */
  noteArrival(kind) {
    if (this.awaited?.has(kind)) this.arrived = kind;
  }

  /** Runs for so many nanoseconds, or until one of the awaited kinds of things comes. Says which, or null. */
  run(nanos, awaited = []) {
    if (!this.chip) return 'off';
    this.awaited = new Set(awaited);
    this.arrived = null;
    const end = this.nanos + nanos;
    try {
      while (!this.arrived && !this.bootsel) {
        // In cycles, as sums of nanoseconds are rounded.
        const goal = this.clock.cyclesAt(end - this.livedNanos);
        if (this.clock.position >= goal) break;
        this.runTo(goal);
        if (this.resetWanted) this.reset();
      }
    } catch (error) {
      if (!(error instanceof PowerCut)) throw error;
      this.powerOff();
      return 'cut';
    }
    this.drain();
    return this.arrived;
  }

  runTo(end) {
    const { clock } = this;
    const [first, second] = this.chip.cores;
    const drainCycles = DRAIN_NANOS / clock.nanosPerCycle;
    const { nanosPerCycle } = clock;
    while (clock.position < end && !this.arrived && !this.resetWanted && !this.bootsel) {
      clock.ring();
      if (this.resetWanted) return;
      const [one, two] = [first.awake, second.awake];
      let goal = Math.min(end, clock.due);
      if (!one && !two) {
        this.drain();
        if (this.arrived) return;
        clock.position = goal;
        continue;
      }
      goal = Math.min(goal, clock.position + (one && two ? TURN_CYCLES : drainCycles));
      let reached = Infinity;
      if (one) reached = this.turn(first, goal);
      // The first may have set an alarm that is due before the goal.
      if (two) reached = Math.min(reached, this.turn(second, Math.min(goal, clock.due)));
      if (reached > clock.position) clock.position = reached;
      if (clock.position - this.lastDrain >= drainCycles) this.drain();
      if (nanosPerCycle !== clock.nanosPerCycle) return; // `end` counts cycles of another length
    }
  }

  turn(core, goal) {
    this.clock.runner = core;
    core.run(goal);
    this.clock.runner = null;
    return core.cycles;
  }

  drain() {
    this.lastDrain = this.clock.position;
    const logged = this.logged.at(-1);
    const before = logged.length;
    this.rtt.drain(logged);
    if (logged.length > before) this.noteArrival('log');
  }
}
