// The SSD1306, a monochrome display controller of 128x64 pixels, over I2C or SPI; panels may show a part of it.
//
// The stock package has no displays. Commands and addressing are those of the data sheet (rev. 1.1, chapters 9 and 10);
// a command that is not known is a warning, and so a failed test.

const COLUMNS = 128;
const PAGES = 8;

/** How many bytes follow a command. */
const ARGUMENTS = new Map([
  [0x20, 1], [0x21, 2], [0x22, 2], [0x26, 6], [0x27, 6], [0x29, 5], [0x2a, 5], [0x81, 1], [0x8d, 1], [0xa3, 2],
  [0xa8, 1], [0xad, 1], [0xd3, 1], [0xd5, 1], [0xd9, 1], [0xda, 1], [0xdb, 1],
]);

/** Commands that change what is not modelled: contrast, timing, charge pump, scrolling that is off. */
const IGNORED = new Set([0x2e, 0x81, 0x8d, 0xa4, 0xad, 0xd3, 0xd5, 0xd9, 0xda, 0xdb, 0xe3]);

export class Ssd1306 {
  /** The panel shows `width` x `height` pixels from column `left` on. */
  constructor({ width, height, left }, warn) {
    this.width = width;
    this.height = height;
    this.left = left;
    this.warn = warn;
    this.absent = false;
    this.stuck = false;
    this.memory = new Uint8Array(COLUMNS * PAGES);
    this.reset();
  }

  /** What the reset pin does; the memory keeps its contents. */
  reset() {
    Object.assign(this, {
      mode: 2, column: 0, page: 0, columns: [0, COLUMNS - 1], pages: [0, PAGES - 1], on: false, inverted: false,
      mirroredColumns: false, mirroredRows: false, rows: 64, startLine: 0, command: [], expected: 0, control: null,
    });
  }

  /** Power comes: memory holds anything. */
  powerOn(noise) {
    this.reset();
    noise.fill(this.memory);
  }

  // Over I2C, a control byte says what follows: commands or data, one byte or all.
  begin() {
    this.control = null;
  }

  end() {
    this.control = null;
  }

  receive(byte) {
    if (this.control === null) this.control = byte;
    else {
      this.take(byte, (this.control & 0x40) !== 0);
      if (this.control & 0x80) this.control = null;
    }
  }

  /** A byte, with the data/command line. */
  take(byte, isData) {
    if (isData) this.draw(byte);
    else this.obey(byte);
  }

  draw(byte) {
    this.memory[this.page * COLUMNS + this.column] = byte;
    const [firstColumn, lastColumn] = this.columns;
    const [firstPage, lastPage] = this.pages;
    if (this.mode === 0) {
      if (this.column !== lastColumn) this.column = (this.column + 1) % COLUMNS;
      else {
        this.column = firstColumn;
        this.page = this.page === lastPage ? firstPage : (this.page + 1) % PAGES;
      }
    } else if (this.mode === 1) {
      if (this.page !== lastPage) this.page = (this.page + 1) % PAGES;
      else {
        this.page = firstPage;
        this.column = this.column === lastColumn ? firstColumn : (this.column + 1) % COLUMNS;
      }
    } else this.column = (this.column + 1) % COLUMNS;
  }

  obey(byte) {
    if (this.expected === 0) {
      this.command = [byte];
      this.expected = ARGUMENTS.get(byte) ?? 0;
    } else {
      this.command.push(byte);
      this.expected--;
    }
    if (this.expected === 0) this.execute(...this.command);
  }

  execute(code, first, second) {
    if (code <= 0x0f) this.column = (this.column & 0x70) | code;
    else if (code <= 0x1f) this.column = (this.column & 0x0f) | ((code & 7) << 4);
    else if (code === 0x20) this.mode = first & 3;
    else if (code === 0x21) {
      this.columns = [first & 127, second & 127];
      this.column = first & 127;
    } else if (code === 0x22) {
      this.pages = [first & 7, second & 7];
      this.page = first & 7;
    } else if (code >= 0x40 && code <= 0x7f) this.startLine = code & 63;
    else if (code === 0xa0 || code === 0xa1) this.mirroredColumns = code === 0xa1;
    else if (code === 0xa6 || code === 0xa7) this.inverted = code === 0xa7;
    else if (code === 0xa8) this.rows = (first & 63) + 1;
    else if (code === 0xae || code === 0xaf) this.on = code === 0xaf;
    else if (code >= 0xb0 && code <= 0xb7) this.page = code & 7;
    else if (code === 0xc0 || code === 0xc8) this.mirroredRows = code === 0xc8;
    else if (!IGNORED.has(code)) this.warn('SSD1306', `command 0x${code.toString(16)} is not modelled`);
  }

  /**
   * What the eye sees, a byte a pixel, as the module is mounted: modules are made so that both directions mirrored is
   * upright, which is how every driver sets them up.
   */
  pixels() {
    const picture = new Uint8Array(this.width * this.height);
    if (!this.on || this.absent) return picture;
    for (let y = 0; y < this.height; y++) {
      for (let x = 0; x < this.width; x++) {
        const segment = this.left + x;
        const column = this.mirroredColumns ? segment : COLUMNS - 1 - segment;
        const row = ((this.mirroredRows ? y : this.rows - 1 - y) + this.startLine) & 63;
        const lit = (this.memory[(row >> 3) * COLUMNS + column] >> (row & 7)) & 1;
        picture[y * this.width + x] = lit ^ (this.inverted ? 1 : 0);
      }
    }
    return picture;
  }

  picture() {
    return { width: this.width, height: this.height, colour: false, bytes: this.pixels() };
  }
}
