// The bench's end of the wire: one command a line on stdin, one answer on stdout.
//
// A command is a line of JSON, {"do": name, ..., "payload": n}, followed by n raw bytes; an answer is the same. Every
// answer tells the emulated time, the cycles of both cores, and what came since the last: warnings, faults, resets, and
// logs, which follow the payload, "logs" telling how many bytes each life of the chip has logged. An answer with
// "error" means that the command could not be done.

import net from 'node:net';
import { Machine } from './machine.js';
import { SLOWEST, TYPICAL } from './rom.js';

let machine = null;

// Parts of the stock package speak to the console past its logger.
const complain = (...words) => machine?.logger.warn('console', words.join(' '));
Object.assign(console, { log: complain, info: complain, warn: complain, error: complain });

const take = (list) => list.splice(0, list.length);

const COMMANDS = {
  start(command) {
    machine = new Machine(command);
  },

  /** Puts bytes into the flash, at an offset from its start. */
  flash({ offset }, payload) {
    machine.flash.set(payload, offset);
  },

  readFlash({ offset, count }) {
    return { payload: machine.flash.slice(offset, offset + count) };
  },

  power({ on, keepsRam }) {
    machine.powerOff();
    if (on) machine.powerOn({ keepsRam });
  },

  run({ nanos, awaited }) {
    return { arrived: machine.run(nanos, awaited) };
  },

  pin({ pin, level }) {
    if (machine.chip) machine.chip.pins.drive(pin, level ?? undefined);
    else if (level === null) machine.driven.delete(pin);
    else machine.driven.set(pin, level);
  },

  picture() {
    const { bytes, ...shape } = machine.display.picture();
    return { ...shape, payload: bytes };
  },

  /** A display that is not there, or one that holds the bus. */
  display({ absent, stuck }) {
    Object.assign(machine.display, { absent, stuck });
  },

  peek({ address, count }) {
    const start = address - 0x20000000;
    return { payload: machine.ram.slice(start, start + count) };
  },

  poke({ address }, payload) {
    machine.ram.set(payload, address - 0x20000000);
  },

  watch({ address, keep, stopAt }) {
    return { value: machine.watch(address, { keep, stopAt }) };
  },

  unwatch({ address }) {
    const notes = machine.watches.get(address)?.notes ?? [];
    machine.unwatch(address);
    return { notes };
  },

  /** Power fails in an erase or program yet to come, counted from 0 from now on. */
  cut({ operation, bytes }) {
    machine.rom.operations = [];
    machine.rom.cut = operation === null ? null : { operation, bytes };
  },

  /** Whether the flash is worn out, and as slow as it may be. */
  wear({ worn, slow }) {
    machine.rom.worn = worn;
    machine.rom.nanos = slow ? SLOWEST : TYPICAL;
  },

  operations() {
    return { operations: machine.rom.operations };
  },

  /** Makes a core go on elsewhere, as after a call with these arguments, or on another stack. */
  divert({ core, address, words, stack }) {
    const target = machine.chip.cores[core];
    words.forEach((word, index) => (target.registers[index] = word));
    if (stack !== null) target.SP = stack;
    if (address !== null) {
      target.LR = target.PC | 1;
      target.PC = address & ~1;
    }
    if (target.waiting) target.wake();
  },

  /** Freezes a core, or lets it go on. */
  freeze({ core, frozen }) {
    machine.chip.cores[core].held = frozen;
  },

  usb({ plugged, open, close, listens }, payload) {
    const { usb } = machine.chip;
    if (plugged !== undefined) {
      machine.usbPlugged = plugged;
      if (plugged) usb.plug();
      else usb.unplug();
    }
    if (open !== undefined) usb.open(open);
    if (close) usb.close();
    if (listens !== undefined) usb.setListens(listens);
    if (payload.length > 0) usb.write(payload);
  },

  /** What the host knows; with `peek`, what came stays where it is. */
  usbState({ peek }) {
    if (!machine.chip) return { configured: false, unsent: 0 };
    const { configured, device, incoming, outgoing } = machine.chip.usb;
    const received = Uint8Array.from(peek ? [] : take(incoming));
    return { configured, device, unsent: outgoing.length, payload: received };
  },

  watchdog() {
    const { feeds, closestMicros } = machine.chip.watchdog;
    return { feeds, closestMicros: closestMicros === Infinity ? null : closestMicros };
  },

  duty({ pin }) {
    return { duty: machine.chip.stock.pwm.duty(pin) };
  },

  serve({ port }) {
    return serve(port);
  },

  /** How often the port that is served was connected to. */
  connections() {
    return { connections };
  },
};

/** What every answer tells. */
function status() {
  if (!machine) return {};
  const cores = machine.chip?.cores ?? [];
  return {
    nanos: machine.nanos,
    on: machine.chip !== null,
    bootsel: machine.bootsel,
    cycles: cores.map(({ cycles }) => cycles),
    busy: cores.map(({ cycles, idle }) => cycles - idle),
    warnings: take(machine.warnings),
    faults: take(machine.faults),
    resets: take(machine.resets),
  };
}

async function obey({ do: name, ...command }, payload) {
  try {
    const result = (await COMMANDS[name](command, payload)) ?? {};
    const data = result.payload ?? new Uint8Array(0);
    const logs = machine ? machine.takeLogs() : [];
    const lengths = logs.map((bytes) => bytes.length);
    const parts = [data, ...logs.map((bytes) => Uint8Array.from(bytes))];
    answer({ ...status(), ...result, payload: data.length, logs: lengths }, parts);
  } catch (error) {
    answer({ error: error.stack, payload: 0, logs: [] }, []);
  }
}

function answer(head, parts) {
  process.stdout.write(`${JSON.stringify(head)}\n`);
  for (const part of parts) if (part.length > 0) process.stdout.write(part);
}

// ---- The serial port as a TCP socket, in real time

let connections = 0;

/** Runs the device no faster than the clock on the wall, with its serial port on a local TCP port, until stdin ends. */
function serve(port) {
  const server = net.createServer((socket) => {
    connections++;
    socket.setNoDelay(true);
    socket.on('error', () => {});
    const usb = machine.chip?.usb;
    const gone = () => machine.bootsel || usb !== machine.chip?.usb; // the device was reset, or shows its boot drive
    if (gone() || !usb?.configured) return socket.destroy();
    usb.open(115200);
    socket.on('data', (bytes) => machine.chip?.usb.write(bytes));
    const forward = setInterval(() => {
      if (gone()) return socket.destroy();
      if (usb.incoming.length > 0) socket.write(Uint8Array.from(take(usb.incoming)));
    }, 1);
    socket.on('close', () => {
      clearInterval(forward);
      if (!gone()) usb.close();
    });
  });
  let ahead = performance.now() - machine.millis;
  const step = () => {
    machine.run(1e6);
    const lead = machine.millis + ahead - performance.now();
    if (lead < -50) ahead -= lead; // too slow: let emulated time fall behind
    if (lead > 1) setTimeout(step, lead);
    else setImmediate(step);
  };
  return new Promise((resolve, reject) => {
    server.on('error', reject);
    server.listen(port, '127.0.0.1', () => {
      step();
      resolve({ port: server.address().port });
    });
  });
}

// ---- Input

let pending = Buffer.alloc(0);
let chain = Promise.resolve();
process.stdin.on('data', (bytes) => {
  pending = pending.length === 0 ? bytes : Buffer.concat([pending, bytes]);
  for (;;) {
    const newline = pending.indexOf(10);
    if (newline < 0) return;
    const command = JSON.parse(pending.toString('utf8', 0, newline));
    const end = newline + 1 + (command.payload ?? 0);
    if (pending.length < end) return;
    const payload = pending.subarray(newline + 1, end);
    pending = pending.subarray(end);
    chain = chain.then(() => obey(command, payload));
  }
});
process.stdin.on('end', () => process.exit(0));
