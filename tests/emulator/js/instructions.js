// The instructions of a Cortex-M0+: how each is encoded and what it does.
//
// The stock interpreter finds an instruction by up to eighty comparisons, one after the other, and looks for interrupts
// before each: 10 to 15 million instructions a second, too slow to play minutes of Tetris in a test. Here a table of
// the encodings is compiled, once, to a look-up table of all 65,536 halfwords and one function with one switch: five
// times as many. `instructions.test.js` runs every halfword on both interpreters and compares.
//
// Where the two differ, the architecture's manual decides: the stock interpreter gets the carry of shifts by a register
// that holds 0 or more than 32 wrong, the overflow flag of ADCS and SBCS at the largest numbers, and BLX LR.
//
// A row has a name, an encoding, code, and how many cycles it takes, 1 unless told. In the code:
//   letters        the fields of the encoding
//   r              the registers as signed words; r[15] is not kept while running
//   pc             the address of the next instruction (reading the PC gives pc + 2)
//   nz, c, v       flags: N is nz < 0, Z is nz === 0
//   left           cycles left to run
//   core           the core: everything that is rare goes through it
// Everything is kept to 32 bits by `| 0`, so that it compiles to plain integers. Cycles are the Cortex-M0+'s with
// memory that never waits: what the cache in front of the flash costs is not modelled.

const RAM_BYTES = 264 * 1024;

/** Sign-extends the `bits` low bits of an expression. */
const signed = (expression, bits) => `((${expression}) << ${32 - bits} >> ${32 - bits})`;

const aligned = (bytes) => (bytes > 1 ? ` && (address & ${bytes - 1}) === 0` : '');
const index = (bytes) => (bytes > 1 ? `offset >> ${bytes >> 1}` : 'offset');

/** A load: from the two memories that are read directly, else through the core. */
const read = (bytes, address, then) => `
  address = (${address}) | 0;
  offset = (address - 0x20000000) | 0;
  if (offset >>> 0 < ${RAM_BYTES}${aligned(bytes)}) {
    value = ram${bytes * 8}[${index(bytes)}];
    left = (left - 2) | 0;
  } else {
    offset = (address - 0x10000000) | 0;
    if (offset >>> 0 < flashEnd${aligned(bytes)}) {
      value = flash${bytes * 8}[${index(bytes)}];
      left = (left - 2) | 0;
    } else {
      core.cycles = core.end - left;
      value = core.load(address, ${bytes}, at) | 0;
      left = (core.end - core.cycles) | 0;
    }
  }
  ${then}`;

/** A store: to RAM, unless the place is marked as watched or forbidden; else through the core. */
const write = (bytes, address, stored) => `
  address = (${address}) | 0;
  offset = (address - 0x20000000) | 0;
  if (offset >>> 0 < ${RAM_BYTES}${aligned(bytes)} && marks[offset >> 5] === 0) {
    ram${bytes * 8}[${index(bytes)}] = ${stored};
    left = (left - 2) | 0;
  } else {
    core.cycles = core.end - left;
    core.store(address, ${stored}, ${bytes}, at);
    left = (core.end - core.cycles) | 0;
  }`;

const add = (a, b, then) => `
  x = ${a}; y = ${b}; z = (x + y) | 0;
  c = z >>> 0 < x >>> 0 ? 1 : 0; v = ((x ^ z) & (y ^ z)) >>> 31; nz = z;
  ${then}`;

const subtract = (a, b, then) => `
  x = ${a}; y = ${b}; z = (x - y) | 0;
  c = x >>> 0 >= y >>> 0 ? 1 : 0; v = ((x ^ y) & (x ^ z)) >>> 31; nz = z;
  ${then}`;

/** A shift by an immediate number, of which 0 stands for 32 where the shift is to the right. */
const shift = (by0, otherwise) => `x = r[m]; if (i === 0) { ${by0} } else { ${otherwise} } nz = r[d] = x;`;

/** A shift by a register: 0 leaves carry and value alone, `beyond` is for 32 and more. */
const shiftByRegister = (within, beyond) => `
  x = r[d]; y = r[m] & 255;
  if (y > 31) { ${beyond} } else if (y > 0) { ${within} }
  nz = r[d] = x;`;

/** A jump to an address in a register or from the stack: it may be the return from an exception. */
const jump = (address) => `
  target = ${address};
  if (target >>> 28 === 15 && core.currentMode === 1) { core.returnTo = target; break run; }
  ${land}`;
const land = `
  if ((target & 1) === 0) { core.fault(at, 'jump to ARM code at', target); break run; }
  pc = target & ~1;`;

/** Interrupts are allowed again: one that waits is taken at once. */
const allowInterrupts = 'core.PM = false; if (core.hasPending) { core.interruptsUpdated = true; break run; }';

const undefinedInstruction = "core.fault(at, 'undefined instruction', op); break run;";

const CONDITIONS = {
  EQ: 'nz === 0', NE: 'nz !== 0', CS: 'c !== 0', CC: 'c === 0',
  MI: 'nz < 0', PL: 'nz >= 0', VS: 'v !== 0', VC: 'v === 0',
  HI: 'c !== 0 && nz !== 0', LS: 'c === 0 || nz === 0',
  GE: '(nz < 0) === (v !== 0)', LT: '(nz < 0) !== (v !== 0)',
  GT: 'nz !== 0 && (nz < 0) === (v !== 0)', LE: 'nz === 0 || (nz < 0) !== (v !== 0)',
};

/** Two halfwords: a call, or one of the few system instructions. */
const CALL_OR_SYSTEM = `
  x = core.fetch(pc) | 0; pc = (pc + 2) | 0;
  if ((x & 0xd000) === 0xd000) { // BL
    y = i >> 10; // S; J1 and J2 are bits 13 and 11 of the second halfword, inverted by it
    z = y << 24 | (1 - (y ^ x >> 13 & 1)) << 23 | (1 - (y ^ x >> 11 & 1)) << 22 | (i & 0x3ff) << 12 | (x & 0x7ff) << 1;
    r[14] = pc | 1; pc = (pc + ${signed('z', 25)}) | 0;
  } else if (op === 0xf3bf && (x & 0xffc0) === 0x8f40) { // DSB, DMB, ISB
  } else if (op === 0xf3ef && x >> 12 === 8) { // MRS
    core.keepFlags(nz, c, v);
    r[x >> 8 & 15] = core.readSpecialRegister(x & 255);
  } else if ((op & 0xfff0) === 0xf380 && x >> 8 === 0x88) { // MSR
    y = x & 255; z = r[op & 15];
    if (y === 16) {
      if (z & 1) core.PM = true;
      else { ${allowInterrupts} }
    } else {
      core.keepFlags(nz, c, v);
      core.writeSpecialRegister(y, z);
      nz = core.N ? -1 : core.Z ? 0 : 1; c = core.C ? 1 : 0; v = core.V ? 1 : 0;
    }
  } else { ${undefinedInstruction} }`;

export const INSTRUCTIONS = [
  // Moves and arithmetic with immediate numbers.
  ['LSLS Rd, Rm, #i', '00000iiiiimmmddd', shift('', 'c = (x >>> (32 - i)) & 1; x <<= i;')],
  ['LSRS Rd, Rm, #i', '00001iiiiimmmddd', shift('c = x >>> 31; x = 0;', 'c = (x >>> (i - 1)) & 1; x = x >>> i | 0;')],
  ['ASRS Rd, Rm, #i', '00010iiiiimmmddd', shift('c = x >>> 31; x >>= 31;', 'c = (x >>> (i - 1)) & 1; x >>= i;')],
  ['ADDS Rd, Rn, Rm', '0001100mmmnnnddd', add('r[n]', 'r[m]', 'r[d] = z;')],
  ['SUBS Rd, Rn, Rm', '0001101mmmnnnddd', subtract('r[n]', 'r[m]', 'r[d] = z;')],
  ['ADDS Rd, Rn, #i', '0001110iiinnnddd', add('r[n]', 'i', 'r[d] = z;')],
  ['SUBS Rd, Rn, #i', '0001111iiinnnddd', subtract('r[n]', 'i', 'r[d] = z;')],
  ['MOVS Rd, #i', '00100dddiiiiiiii', 'nz = r[d] = i;'],
  ['CMP Rn, #i', '00101nnniiiiiiii', subtract('r[n]', 'i', '')],
  ['ADDS Rd, #i', '00110dddiiiiiiii', add('r[d]', 'i', 'r[d] = z;')],
  ['SUBS Rd, #i', '00111dddiiiiiiii', subtract('r[d]', 'i', 'r[d] = z;')],

  // Arithmetic between low registers.
  ['ANDS', '0100000000mmmddd', 'nz = r[d] = r[d] & r[m];'],
  ['EORS', '0100000001mmmddd', 'nz = r[d] = r[d] ^ r[m];'],
  ['LSLS', '0100000010mmmddd', shiftByRegister(
    'c = (x >>> (32 - y)) & 1; x <<= y;', 'c = y === 32 ? x & 1 : 0; x = 0;')],
  ['LSRS', '0100000011mmmddd', shiftByRegister(
    'c = (x >>> (y - 1)) & 1; x = x >>> y | 0;', 'c = y === 32 ? x >>> 31 : 0; x = 0;')],
  ['ASRS', '0100000100mmmddd', shiftByRegister(
    'c = (x >>> (y - 1)) & 1; x >>= y;', 'c = x >>> 31; x >>= 31;')],
  ['ADCS', '0100000101mmmddd', `
    x = r[d]; y = r[m]; z = (x + y + c) | 0;
    c = (c === 0 ? z >>> 0 < x >>> 0 : z >>> 0 <= x >>> 0) ? 1 : 0;
    v = ((x ^ z) & (y ^ z)) >>> 31; nz = r[d] = z;`],
  ['SBCS', '0100000110mmmddd', `
    x = r[d]; y = r[m]; z = (x - y - 1 + c) | 0;
    c = (c === 0 ? x >>> 0 > y >>> 0 : x >>> 0 >= y >>> 0) ? 1 : 0;
    v = ((x ^ y) & (x ^ z)) >>> 31; nz = r[d] = z;`],
  ['RORS', '0100000111mmmddd', `
    x = r[d]; y = r[m] & 255;
    if (y !== 0) { y &= 31; x = x >>> y | x << (32 - y); c = x >>> 31; }
    nz = r[d] = x;`],
  ['TST', '0100001000mmmnnn', 'nz = r[n] & r[m];'],
  ['RSBS', '0100001001nnnddd', subtract('0', 'r[n]', 'r[d] = z;')],
  ['CMP', '0100001010mmmnnn', subtract('r[n]', 'r[m]', '')],
  ['CMN', '0100001011mmmnnn', add('r[n]', 'r[m]', '')],
  ['ORRS', '0100001100mmmddd', 'nz = r[d] = r[d] | r[m];'],
  ['MULS', '0100001101nnnddd', 'nz = r[d] = Math.imul(r[d], r[n]);'],
  ['BICS', '0100001110mmmddd', 'nz = r[d] = r[d] & ~r[m];'],
  ['MVNS', '0100001111mmmddd', 'nz = r[d] = ~r[m];'],

  // Between any two registers: D is the fourth bit of d.
  ['ADD', '01000100Dmmmmddd', `
    x = m === 15 ? (pc + 2) | 0 : r[m]; y = D << 3 | d;
    if (y === 15) { pc = (pc + 2 + x) & ~1; left = (left - 1) | 0; }
    else { x = (r[y] + x) | 0; r[y] = y === 13 ? x & ~3 : x; }`],
  ['CMP', '01000101Nmmmmnnn', subtract('r[N << 3 | n]', 'r[m]', '')],
  ['MOV', '01000110Dmmmmddd', `
    x = m === 15 ? (pc + 2) | 0 : r[m]; y = D << 3 | d;
    if (y === 15) { pc = x & ~1; left = (left - 1) | 0; }
    else r[y] = y === 13 ? x & ~3 : x;`],
  ['BX', '010001110mmmm000', jump('r[m]'), 2],
  ['BLX', '010001111mmmm000', `target = r[m]; r[14] = pc | 1; ${land}`, 2],

  // Loads and stores: they count for themselves.
  ['LDR Rt, literal', '01001tttiiiiiiii', read(4, '((pc + 2) & ~3) + (i << 2)', 'r[t] = value;'), 0],
  ['STR Rt, [Rn, Rm]', '0101000mmmnnnttt', write(4, 'r[n] + r[m]', 'r[t]'), 0],
  ['STRH Rt, [Rn, Rm]', '0101001mmmnnnttt', write(2, 'r[n] + r[m]', 'r[t]'), 0],
  ['STRB Rt, [Rn, Rm]', '0101010mmmnnnttt', write(1, 'r[n] + r[m]', 'r[t]'), 0],
  ['LDRSB Rt, [Rn, Rm]', '0101011mmmnnnttt', read(1, 'r[n] + r[m]', `r[t] = ${signed('value', 8)};`), 0],
  ['LDR Rt, [Rn, Rm]', '0101100mmmnnnttt', read(4, 'r[n] + r[m]', 'r[t] = value;'), 0],
  ['LDRH Rt, [Rn, Rm]', '0101101mmmnnnttt', read(2, 'r[n] + r[m]', 'r[t] = value;'), 0],
  ['LDRB Rt, [Rn, Rm]', '0101110mmmnnnttt', read(1, 'r[n] + r[m]', 'r[t] = value;'), 0],
  ['LDRSH Rt, [Rn, Rm]', '0101111mmmnnnttt', read(2, 'r[n] + r[m]', `r[t] = ${signed('value', 16)};`), 0],
  ['STR Rt, [Rn, #i]', '01100iiiiinnnttt', write(4, 'r[n] + (i << 2)', 'r[t]'), 0],
  ['LDR Rt, [Rn, #i]', '01101iiiiinnnttt', read(4, 'r[n] + (i << 2)', 'r[t] = value;'), 0],
  ['STRB Rt, [Rn, #i]', '01110iiiiinnnttt', write(1, 'r[n] + i', 'r[t]'), 0],
  ['LDRB Rt, [Rn, #i]', '01111iiiiinnnttt', read(1, 'r[n] + i', 'r[t] = value;'), 0],
  ['STRH Rt, [Rn, #i]', '10000iiiiinnnttt', write(2, 'r[n] + (i << 1)', 'r[t]'), 0],
  ['LDRH Rt, [Rn, #i]', '10001iiiiinnnttt', read(2, 'r[n] + (i << 1)', 'r[t] = value;'), 0],
  ['STR Rt, [SP, #i]', '10010tttiiiiiiii', write(4, 'r[13] + (i << 2)', 'r[t]'), 0],
  ['LDR Rt, [SP, #i]', '10011tttiiiiiiii', read(4, 'r[13] + (i << 2)', 'r[t] = value;'), 0],
  ['STMIA Rn!, {i}', '11000nnniiiiiiii', 'left = core.storeMultiple(n, i, left, at) | 0;', 0],
  ['LDMIA Rn!, {i}', '11001nnniiiiiiii', 'left = core.loadMultiple(n, i, left, at) | 0;', 0],
  ['PUSH {i, LR?}', '1011010piiiiiiii', 'left = core.push(p << 8 | i, left, at) | 0;', 0],
  ['POP {i}', '10111100iiiiiiii', 'left = core.pop(i, left, at) | 0;', 0],
  ['POP {i, PC}', '10111101iiiiiiii', `
    left = core.popJump(i, left, at) | 0;
    if (core.faulted) break run;
    ${jump('core.popped')}`, 0],

  // Addresses and the stack pointer.
  ['ADR', '10100dddiiiiiiii', 'r[d] = ((pc + 2) & ~3) + (i << 2);'],
  ['ADD Rd, SP, #i', '10101dddiiiiiiii', 'r[d] = r[13] + (i << 2);'],
  ['ADD SP, #i', '101100000iiiiiii', 'r[13] += i << 2;'],
  ['SUB SP, #i', '101100001iiiiiii', 'r[13] -= i << 2;'],

  // Widths and byte orders.
  ['SXTH', '1011001000mmmddd', `r[d] = ${signed('r[m]', 16)};`],
  ['SXTB', '1011001001mmmddd', `r[d] = ${signed('r[m]', 8)};`],
  ['UXTH', '1011001010mmmddd', 'r[d] = r[m] & 0xffff;'],
  ['UXTB', '1011001011mmmddd', 'r[d] = r[m] & 0xff;'],
  ['REV', '1011101000mmmddd', 'x = r[m]; r[d] = x << 24 | (x & 0xff00) << 8 | (x >>> 8) & 0xff00 | x >>> 24;'],
  ['REV16', '1011101001mmmddd', 'x = r[m]; r[d] = (x & 0x00ff00ff) << 8 | (x >>> 8) & 0x00ff00ff;'],
  ['REVSH', '1011101011mmmddd', `x = r[m]; r[d] = ${signed('(x & 0xff) << 8 | (x >>> 8) & 0xff', 16)};`],

  // Interrupts, events, and what stops the core.
  ['CPSIE i', '1011011001100010', allowInterrupts],
  ['CPSID i', '1011011001110010', 'core.PM = true;'],
  ['NOP', '1011111100000000', ''],
  ['YIELD', '1011111100010000', ''],
  ['WFE', '1011111100100000', `
    if (!core.eventRegistered) { core.sleep(true); break run; }
    core.eventRegistered = false;`, 2],
  ['WFI', '1011111100110000', 'core.sleep(false); break run;', 2],
  ['SEV', '1011111101000000', 'core.cycles = core.end - left; core.sendEvent(); left = (core.end - core.cycles) | 0;'],
  ['BKPT #i', '10111110iiiiiiii', 'core.breakpoint = i; break run;'],
  ['SVC', '11011111iiiiiiii', 'core.pendingSVCall = true; core.interruptsUpdated = true; break run;'],

  // Branches.
  ...Object.entries(CONDITIONS).map(([name, holds], number) => [
    `B${name}`, `1101${number.toString(2).padStart(4, '0')}iiiiiiii`,
    `if (${holds}) { pc = (pc + 2 + (i << 24 >> 23)) | 0; left = (left - 1) | 0; }`,
  ]),
  ['B', '11100iiiiiiiiiii', 'pc = (pc + 2 + (i << 21 >> 20)) | 0;', 2],
  ['BL and system', '11110iiiiiiiiiii', CALL_OR_SYSTEM, 3],
];

const UNDEFINED = ['undefined', '', undefinedInstruction];

/** Where each letter of an encoding stands: [letter, shift, mask]. */
function fields(encoding) {
  const found = [];
  for (const letter of new Set(encoding.replace(/[01]/g, ''))) {
    const first = encoding.indexOf(letter);
    const last = encoding.lastIndexOf(letter);
    found.push([letter, 15 - last, (1 << (last - first + 1)) - 1]);
  }
  return found;
}

/** For each halfword, the number of its row. */
function decodeTable(rows) {
  const table = new Uint8Array(65536);
  rows.forEach(([, encoding], row) => {
    if (!encoding) return;
    const mask = parseInt(encoding.replace(/[01]/g, '1').replace(/[^01]/g, '0'), 2);
    const fixed = parseInt(encoding.replace(/[^01]/g, '0'), 2);
    for (let halfword = 0; halfword < 65536; halfword++) {
      if ((halfword & mask) === fixed) table[halfword] = row;
    }
  });
  return table;
}

function compile() {
  const rows = [UNDEFINED, ...INSTRUCTIONS];
  const cases = rows.map(([name, encoding, code, cycles = 1], row) => {
    const names = fields(encoding).map(([letter, shift, mask]) => `${letter} = op >> ${shift} & ${mask}`);
    const letters = names.length ? `const ${names.join(', ')};` : '';
    const cost = cycles ? `left = (left - ${cycles}) | 0;` : '';
    return `case ${row}: { /* ${name} */ ${letters} ${cost} ${code} break; }`;
  });
  const source = `
    const core = this, r = core.words, { ram8, ram16, ram32, flash8, flash16, flash32, rom16, marks, flashEnd } = core;
    let pc = r[15] & ~1, left = (core.end - core.cycles) | 0;
    let nz = core.N ? -1 : core.Z ? 0 : 1, c = core.C ? 1 : 0, v = core.V ? 1 : 0;
    let op = 0, at = 0, x = 0, y = 0, z = 0, address = 0, offset = 0, value = 0, target = 0;
    run: while (left > 0) {
      at = pc;
      offset = (pc - 0x10000000) | 0;
      if (offset >>> 0 < flashEnd) op = flash16[offset >> 1];
      else {
        offset = (pc - 0x20000000) | 0;
        if (offset >>> 0 < ${RAM_BYTES}) op = ram16[offset >> 1];
        else if (pc >>> 0 < 0x4000) op = rom16[pc >> 1];
        else { core.fault(at, 'no code at', pc); break run; }
      }
      pc = (pc + 2) | 0;
      switch (decode[op]) { ${cases.join('\n')} }
    }
    r[15] = core.faulted ? at : pc;
    core.cycles = core.end - left;
    core.keepFlags(nz, c, v);`;
  return new Function('decode', `return function interpret() { ${source} };`)(decodeTable(rows));
}

export const interpret = compile();
