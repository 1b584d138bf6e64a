// Flash behind the boot ROM: what erase and program do, and what a power cut leaves. Run by `node --test`.

import assert from 'node:assert/strict';
import test from 'node:test';
import { Noise } from './noise.js';
import { image, PowerCut, Rom } from './rom.js';

const SECTOR = 4096;

function bench() {
  const warnings = [];
  const flash = new Uint8Array(4 * SECTOR).fill(0x5a);
  const machine = {
    flash, flashSize: flash.length, flashMapped: false, noise: new Noise(3), clock: { nanosPerCycle: 8 }, mapFlash() {},
  };
  const ram = Uint8Array.from({ length: 1024 }, (_, i) => i);
  const core = {
    cycles: 0, registers: new Uint32Array(16), logger: { warn: (_, text) => warnings.push(text) },
    rp2040: { readUint8: (at) => ram[at], readUint16: (at) => new DataView(image().buffer).getUint16(at, true) },
  };
  const rom = new Rom(machine);
  rom.core = core;
  return { rom, flash, core, machine, warnings };
}

test('the tables lead to every function that embassy calls', () => {
  const { rom, core, warnings } = bench();
  const view = new DataView(image().buffer);
  const table = view.getUint16(0x14, true);
  for (const name of ['C4', 'IF', 'EX', 'RE', 'RP', 'FC', 'CX', 'UB', 'MS', 'MC', 'P3', 'L3', 'T3', 'R3']) {
    const entry = rom.lookUp(core, table, name.charCodeAt(0) | (name.charCodeAt(1) << 8));
    assert.equal(entry & 1, 1, name);
    assert.equal(view.getUint16(entry - 1, true) >> 8, 0xbe, `${name} starts with a breakpoint`);
  }
  assert.deepEqual(warnings, []);
  rom.lookUp(core, table, 0x2121);
  assert.equal(warnings.length, 1, 'a function that is not there is told');
});

test('an erase sets a sector to ones and takes its time', () => {
  const { rom, flash, core } = bench();
  rom.erase(SECTOR, SECTOR);
  assert.ok(flash.subarray(SECTOR, 2 * SECTOR).every((byte) => byte === 0xff));
  assert.ok(flash.subarray(0, SECTOR).every((byte) => byte === 0x5a));
  assert.equal(core.cycles, 45e6 / 8);
});

test('a program clears bits and sets none', () => {
  const { rom, flash } = bench();
  rom.program(0, 0, 256);
  assert.ok(flash.subarray(0, 256).every((byte, i) => byte === (0x5a & i)));
});

test('a cut program leaves a beginning, one odd byte, and the rest as it was', () => {
  for (let cut = 0; cut < 256; cut += 15) {
    const { rom, flash } = bench();
    flash.fill(0xff);
    rom.cut = { operation: 0, bytes: cut };
    assert.throws(() => rom.program(0, 0, 256), PowerCut);
    assert.ok(flash.subarray(0, cut).every((byte, i) => byte === i));
    assert.equal(flash[cut] & cut, cut, 'no bit that belongs there is cleared');
    assert.ok(flash.subarray(cut + 1).every((byte) => byte === 0xff));
  }
});

test('a cut erase leaves a sector of noise, and sectors before it erased', () => {
  const { rom, flash } = bench();
  rom.cut = { operation: 0, bytes: SECTOR + 100 };
  assert.throws(() => rom.erase(0, 3 * SECTOR), PowerCut);
  assert.ok(flash.subarray(0, SECTOR).every((byte) => byte === 0xff));
  const torn = flash.subarray(SECTOR, 2 * SECTOR);
  assert.ok(torn.every((byte) => (byte & 0x5a) === 0x5a), 'bits only go up');
  assert.ok(new Set(torn).size > 8);
  assert.ok(flash.subarray(2 * SECTOR).every((byte) => byte === 0x5a));
});

test('a worn flash keeps what it holds', () => {
  const { rom, flash, core, warnings } = bench();
  rom.worn = true;
  rom.erase(0, SECTOR);
  rom.program(0, 0, 256);
  assert.ok(flash.every((byte) => byte === 0x5a));
  assert.ok(core.cycles >= 45e6 / 8, 'it takes its time all the same');
  assert.deepEqual(warnings, []);
});

test('misuse is told: mapped flash, parts of a sector', () => {
  const { rom, machine, warnings } = bench();
  machine.flashMapped = true;
  rom.erase(0, SECTOR);
  machine.flashMapped = false;
  rom.program(10, 0, 256);
  assert.equal(warnings.length, 2);
});
