// A display on an SPI bus: chip select, data/command line and reset are plain pins.

const LOW = 0;

export class SpiPanel {
  constructor(chip, display, { cs, dc, reset }) {
    this.chip = chip;
    this.display = display;
    this.cs = cs;
    this.dc = dc;
    chip.gpio[reset].addListener((state) => {
      if (state === LOW) display.reset();
    });
  }

  receive(byte) {
    const levels = this.chip.sio.gpioValue;
    if ((levels >> this.cs) & 1 || this.display.absent) return;
    this.display.take(byte, ((levels >> this.dc) & 1) !== 0);
  }
}
