// Every halfword, on this interpreter and on the stock one, from the same registers, flags and memory.
//
// Run by `node --test`. Left out are the instructions that do more than compute: those that sleep, break, fault or jump
// out of the memory there is. Where the stock interpreter is known to be wrong, the row says so and is left out too.

import assert from 'node:assert/strict';
import test from 'node:test';
import { Core } from './core.js';
import { Noise } from './noise.js';
import { CortexM0Core } from './stock.js';

const RAM = 0x20000000;
const CODE = RAM + 0x1000;
const STACK = 0x20000;

/** A chip of RAM alone: elsewhere, reads give 0 and writes go nowhere. */
function bench() {
  const sram = new Uint8Array(264 * 1024);
  const view = new DataView(sram.buffer);
  const none = new Uint8Array(0x4000);
  const offset = (at) => (at >>> 0) - RAM;
  const isRam = (at) => offset(at) >= 0 && offset(at) <= sram.length - 4;
  return {
    sram, flash: none, bootrom: new Uint32Array(none.buffer), logger: { info() {}, warn() {} },
    readUint32: (at) => (isRam(at) ? view.getUint32(offset(at), true) : 0),
    readUint16: (at) => (isRam(at) ? view.getUint16(offset(at), true) : 0),
    readUint8: (at) => (isRam(at) ? view.getUint8(offset(at)) : 0),
    writeUint32: (at, value) => isRam(at) && view.setUint32(offset(at), value, true),
    writeUint16: (at, value) => isRam(at) && view.setUint16(offset(at), value, true),
    writeUint8: (at, value) => isRam(at) && view.setUint8(offset(at), value),
    findPeripheral: () => undefined,
  };
}

const machine = { clock: { cycles: 0, runner: null }, noteFault() {}, sendEvent() {}, stored() {}, callRom() {} };

/** Numbers that carry, overflow, shift out or point into RAM. */
function number(noise) {
  const special = [0, 1, 31, 32, 33, 0x7fffffff, 0x80000000, 0xffffffff, 0x8000, 0xff];
  const kind = noise.next() % 4;
  if (kind === 0) return special[noise.next() % special.length];
  if (kind === 1) return noise.next();
  return RAM + 0x8000 + ((noise.next() % 0x1000) & ~3);
}

function prepare(core, noise) {
  for (let i = 0; i < 15; i++) core.registers[i] = number(noise);
  core.SP = RAM + STACK;
  core.LR = CODE | 1;
  core.PC = CODE;
  [core.N, core.Z, core.C, core.V] = [1, 2, 4, 8].map((bit) => (noise.next() & bit) !== 0);
  if (core.N) core.Z = false; // no result is both
  core.VTOR = RAM;
  core.PM = core.interruptsUpdated = false;
}

const state = (core) => [...core.registers, core.N, core.Z, core.C, core.V, core.PM].join(' ');

/** Instructions on which the stock interpreter is wrong (see instructions.js) or which leave the bench. */
function isLeftOut(halfword, r, carry) {
  const low = r[(halfword >> 3) & 7];
  const row = halfword >> 6;
  const shifts = [0b0100000010, 0b0100000011, 0b0100000100, 0b0100000111];
  if (shifts.includes(row)) return (low & 0xff) === 0 || (low & 0xff) >= 32; // carry
  if (row === 0b0100000101) return carry && r[halfword & 7] === 0x7fffffff; // ADCS adds the carry before it judges
  if (row === 0b0100000110) return !carry && (low === 0x7fffffff || low === 0xffffffff); // SBCS: the same
  if (halfword === 0x47f0) return true; // BLX LR goes where it has just put LR
  const comparesPc = ((halfword >> 3) & 15) === 15 || (halfword & 0x87) === 0x87;
  if (halfword >> 8 === 0b01000101) return comparesPc;
  const oddList = (halfword & 0xff) === 0 || ((halfword >> ((halfword >> 8) & 7)) & 1) === 1;
  return halfword >> 11 === 0b11000 && oddList; // STMIA of nothing, or of its own base
}

test('every halfword does the same on both interpreters', () => {
  const [here, there] = [bench(), bench()];
  const ours = new Core(here, machine, 0);
  const stock = new CortexM0Core(there);
  const noise = new Noise(1);
  noise.fill(here.sram);
  there.sram.set(here.sram);
  let compared = 0;
  for (let round = 0; round < 6; round++) {
    for (let halfword = 0; halfword < 0x10000; halfword++) {
      if (halfword >> 11 === 0b11101 || halfword >> 11 >= 0b11110) continue; // two halfwords: below
      const before = noise.state;
      prepare(ours, noise);
      noise.state = before;
      prepare(stock, noise);
      if (isLeftOut(halfword, ours.registers, ours.C)) continue;
      here.writeUint16(CODE, halfword);
      there.writeUint16(CODE, halfword);
      ours.cycles = 0;
      ours.run(1);
      const unusual = ours.faulted || ours.IPSR !== 0 || ours.waiting || ours.lockedUp || ours.pendingSVCall;
      if (unusual) {
        Object.assign(ours, { IPSR: 0, currentMode: 0, waiting: false, lockedUp: false, pendingSVCall: false });
        // What the exception has stacked.
        there.sram.set(here.sram.subarray(STACK - 0x100, STACK + 0x100), STACK - 0x100);
        continue;
      }
      stock.cycles = 0;
      stock.executeInstruction();
      const text = halfword.toString(16).padStart(4, '0');
      assert.equal(state(ours), state(stock), `registers and flags after ${text}, round ${round}`);
      // The stock core forgets the cycle in which LR is pushed.
      const pushesLr = halfword >> 8 === 0b10110101;
      assert.equal(ours.cycles, stock.cycles + (pushesLr ? 1 : 0), `cycles of ${text}`);
      compared++;
    }
    assert.deepEqual(here.sram, there.sram, `memory after round ${round}`);
  }
  assert.ok(compared > 250_000, `${compared} instructions were compared`);
});

test('calls and system instructions do the same on both interpreters', () => {
  const [here, there] = [bench(), bench()];
  const ours = new Core(here, machine, 0);
  const stock = new CortexM0Core(there);
  const noise = new Noise(2);
  const pairs = [[0xf3bf, 0x8f5f], [0xf3bf, 0x8f4f], [0xf3bf, 0x8f6f]];
  for (let i = 0; i < 16; i++) pairs.push([0xf3ef, 0x8000 | (i << 8) | 16], [0xf3ef, 0x8000 | ((i % 13) << 8)]);
  for (let i = 0; i < 8; i++) pairs.push([0xf380 | i, 0x8810], [0xf380 | i, 0x8809], [0xf380 | i, 0x8800]);
  for (let i = 0; i < 5000; i++) pairs.push([0xf000 | (noise.next() & 0x7ff), 0xd000 | (noise.next() & 0x2fff)]);
  for (const [first, second] of pairs) {
    if ((first & 0xfff0) === 0xf3e0 && (second & 0xf00) === 0xf00) continue; // the PC as a destination
    const before = noise.state;
    prepare(ours, noise);
    noise.state = before;
    prepare(stock, noise);
    for (const chip of [here, there]) {
      chip.writeUint16(CODE, first);
      chip.writeUint16(CODE + 2, second);
    }
    if (first >> 4 === 0xf38 && second === 0x8800) {
      const flags = noise.next() & 0xb0000000;
      ours.registers[first & 15] = stock.registers[first & 15] = flags;
    }
    ours.cycles = 0;
    ours.run(1);
    stock.cycles = 0;
    stock.executeInstruction();
    const text = `${first.toString(16)} ${second.toString(16)}`;
    assert.equal(state(ours), state(stock), `registers and flags after ${text}`);
    assert.equal(ours.cycles, stock.cycles, `cycles of ${text}`);
  }
});

test('arithmetic with carry overflows as the manual says, where the stock interpreter does not', () => {
  const chip = bench();
  const core = new Core(chip, machine, 0);
  const step = (halfword, a, b, carry) => {
    chip.writeUint16(CODE, halfword);
    core.PC = CODE;
    Object.assign(core, { C: carry, cycles: 0 });
    [core.registers[0], core.registers[1]] = [a, b];
    core.run(1);
    return [core.registers[0], core.C, core.V];
  };
  const ADCS = 0b0100000101001000;
  const SBCS = 0b0100000110001000;
  assert.deepEqual(step(ADCS, 0, 0x7fffffff, true), [0x80000000, false, true]);
  assert.deepEqual(step(ADCS, 0xffffffff, 0xffffffff, true), [0xffffffff, true, false]);
  assert.deepEqual(step(SBCS, 0x80000000, 0x7fffffff, false), [0, true, true]);
  assert.deepEqual(step(SBCS, 0, 0xffffffff, false), [0, false, false]);
  const LSRS = 0b0100000011001000;
  assert.deepEqual(step(LSRS, 0x80000000, 32, false).slice(0, 2), [0, true]);
  assert.deepEqual(step(LSRS, 0x80000000, 33, true).slice(0, 2), [0, false]);
  assert.deepEqual(step(LSRS, 5, 256, true).slice(0, 2), [5, true]);
});
