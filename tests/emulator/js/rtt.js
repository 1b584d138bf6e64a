// Logs: the firmware's RTT channel 0, read out of RAM as a debug probe would.

/** In the control block, after its 16 bytes of name and two counts: the first channel to the host. */
const BUFFER = 24 + 4;
const SIZE = 24 + 8;
const WRITTEN = 24 + 12;
const READ = 24 + 16;
const FLAGS = 24 + 20;
const END = 24 + 24;

const RAM = 0x20000000;

export class Rtt {
  /** `address` is the control block's, 0 if there is none. */
  constructor(ram, address) {
    this.ram = ram;
    this.view = new DataView(ram.buffer);
    this.at = address === 0 ? -1 : address - RAM;
  }

  /** Forgets the control block of the run before. */
  clear() {
    if (this.at >= 0) this.ram.fill(0, this.at, this.at + END);
  }

  /** Whether start-up has copied the control block to RAM: its last word is not 0 then. */
  isReady() {
    return this.at >= 0 && this.view.getUint32(this.at + FLAGS, true) !== 0;
  }

  /** Appends what was logged to a list of bytes. */
  drain(bytes) {
    if (!this.isReady()) return;
    const { view, at } = this;
    const written = view.getUint32(at + WRITTEN, true);
    let read = view.getUint32(at + READ, true);
    if (written === read) return;
    const buffer = view.getUint32(at + BUFFER, true) - RAM;
    const size = view.getUint32(at + SIZE, true);
    for (; read !== written; read = (read + 1) % size) bytes.push(this.ram[buffer + read]);
    view.setUint32(at + READ, read, true);
  }
}
