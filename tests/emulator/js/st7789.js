// The ST7789, a colour display controller of 240x320 pixels, over SPI.
//
// The stock package has no displays. Commands are those of the data sheet (V1.4, chapter 9): window, memory write,
// direction, pixel format, inversion. A command that is not known is a warning, and so a failed test.

const WIDTH = 240;
const HEIGHT = 320;

const SWRESET = 0x01;
const SLPIN = 0x10;
const SLPOUT = 0x11;
const INVOFF = 0x20;
const INVON = 0x21;
const DISPOFF = 0x28;
const DISPON = 0x29;
const CASET = 0x2a;
const RASET = 0x2b;
const RAMWR = 0x2c;
const MADCTL = 0x36;
const COLMOD = 0x3a;
const WRMEMC = 0x3c;

/** Commands that change what is not modelled: porches, voltages, gamma, tearing line, frame rate, brightness. */
const IGNORED = new Set([
  0x00, 0x13, 0x26, 0x33, 0x34, 0x35, 0x37, 0x38, 0x51, 0x53, 0x55, 0xb0, 0xb2, 0xb7, 0xba, 0xbb, 0xc0, 0xc2, 0xc3, 0xc4,
  0xc6, 0xd0, 0xe0, 0xe1, 0xe9,
]);

const MIRROR_ROWS = 0x80;
const MIRROR_COLUMNS = 0x40;
const SWAP = 0x20;
const BLUE_FIRST = 0x08;

export class St7789 {
  /** The panel shows the first `width` x `height` pixels; panels of some makers need the inversion on. */
  constructor({ width, height, inverted }, warn) {
    this.width = width;
    this.height = height;
    this.needsInversion = inverted;
    this.warn = warn;
    this.absent = false;
    this.memory = new Uint16Array(WIDTH * HEIGHT);
    this.reset();
  }

  reset() {
    Object.assign(this, {
      columns: [0, WIDTH - 1], rows: [0, HEIGHT - 1], x: 0, y: 0, high: -1, command: 0, received: [],
      direction: 0, asleep: true, on: false, inverted: false, format: 0x66,
    });
  }

  powerOn(noise) {
    this.reset();
    noise.fill(new Uint8Array(this.memory.buffer));
  }

  take(byte, isData) {
    if (!isData) this.obey(byte);
    else if (this.command === RAMWR || this.command === WRMEMC) this.draw(byte);
    else this.receiveArgument(byte);
  }

  draw(byte) {
    if (this.high < 0) {
      this.high = byte;
      return;
    }
    const { x, y } = this;
    const swapped = (this.direction & SWAP) !== 0;
    let column = swapped ? y : x;
    let row = swapped ? x : y;
    if (this.direction & MIRROR_COLUMNS) column = WIDTH - 1 - column;
    if (this.direction & MIRROR_ROWS) row = HEIGHT - 1 - row;
    if (column < WIDTH && row < HEIGHT) this.memory[row * WIDTH + column] = (this.high << 8) | byte;
    this.high = -1;
    if (x !== this.columns[1]) this.x = x + 1;
    else {
      this.x = this.columns[0];
      this.y = y === this.rows[1] ? this.rows[0] : y + 1;
    }
  }

  obey(code) {
    this.command = code;
    this.received = [];
    switch (code) {
      case SWRESET:
        return this.reset();
      case SLPIN:
      case SLPOUT:
        this.asleep = code === SLPIN;
        return;
      case INVON:
      case INVOFF:
        this.inverted = code === INVON;
        return;
      case DISPON:
      case DISPOFF:
        this.on = code === DISPON;
        return;
      case RAMWR:
        this.x = this.columns[0];
        this.y = this.rows[0];
        this.high = -1;
        if (this.format !== 0x55 && this.format !== 0x05) {
          this.warn('ST7789', `pixel format 0x${this.format.toString(16)} is not modelled`);
        }
        return;
      case WRMEMC:
      case CASET:
      case RASET:
      case MADCTL:
      case COLMOD:
        return;
    }
    if (!IGNORED.has(code)) this.warn('ST7789', `command 0x${code.toString(16)} is not modelled`);
  }

  receiveArgument(byte) {
    const { command, received } = this;
    received.push(byte);
    if (command === MADCTL) this.direction = byte;
    else if (command === COLMOD) this.format = byte;
    else if (command === CASET || command === RASET) {
      if (received.length < 4) return;
      const window = [(received[0] << 8) | received[1], (received[2] << 8) | received[3]];
      if (command === CASET) this.columns = window;
      else this.rows = window;
    }
  }

  /** What the eye sees, two bytes a pixel, little end first, red in the high bits. Dark until switched on. */
  pixels() {
    const picture = new Uint16Array(this.width * this.height);
    if (!this.on || this.asleep || this.absent) return new Uint8Array(picture.buffer);
    const negative = this.inverted !== this.needsInversion;
    for (let y = 0; y < this.height; y++) {
      for (let x = 0; x < this.width; x++) {
        let colour = this.memory[y * WIDTH + x];
        if (this.direction & BLUE_FIRST) colour = ((colour & 31) << 11) | (colour & 0x7e0) | (colour >> 11);
        picture[y * this.width + x] = negative ? ~colour : colour;
      }
    }
    return new Uint8Array(picture.buffer);
  }

  picture() {
    return { width: this.width, height: this.height, colour: true, bytes: this.pixels() };
  }
}
