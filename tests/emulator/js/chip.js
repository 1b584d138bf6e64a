// One life of the chip: from a reset to the next.
//
// A stock RP2040 around memory that outlives it, with the parts that this bench replaces or adds; both cores; the bus
// to the display; and the USB host at the other end of the cable.

import { Clock } from './clock.js';
import { Core } from './core.js';
import { acceptAborts } from './dma.js';
import { answerFlashCommands, XipControl } from './flash.js';
import { I2cBus } from './i2c.js';
import { FlashPins, Regulator, RingOscillator } from './oscillator.js';
import { SpiPanel } from './panel.js';
import { Pins } from './pins.js';
import { Private } from './private.js';
import { Pwm } from './pwm.js';
import { image } from './rom.js';
import { Launcher, Sio } from './sio.js';
import { SpiBus } from './spi.js';
import { IRQ, RP2040 } from './stock.js';
import { ringOnTime } from './timer.js';
import { UsbHost } from './usb.js';
import { Watchdog } from './watchdog.js';

/** The ring oscillator, on which the chip runs until the firmware has set up its clocks: 6 MHz, more or less. */
const START_HERTZ = 6.5e6;

/** Where the boot ROM puts the second stage: the end of RAM. */
const BOOT2 = 0x20041f00;
const BOOT2_BYTES = 256;

const PSM_FRCE_OFF = 0x04;
const PSM_SIO = 1 << 14;
const PSM_CORE1 = 1 << 16;

/** Interrupts that reach one core only. */
const OF_CORE0 = new Set([IRQ.IO_BANK0, IRQ.SIO_PROC0]);

export class Chip {
  /** `machine` holds what outlives the chip: memories, display, pins driven from outside. */
  constructor(machine) {
    this.machine = machine;
    this.clock = new Clock(START_HERTZ);
    machine.clock = this.clock;
    const stock = (this.stock = new RP2040(this.clock));
    stock.logger = machine.logger;
    this.useMemories(stock);
    this.buildCores(stock);
    this.replacePeripherals(stock);
    this.attachDisplay(stock);
    stock.clkSys = stock.roscFreq;
    stock.addClockListener((hertz) => this.clock.changeFrequency(hertz));
    this.usb = new UsbHost(stock, machine.logger.warn);
    this.startFromRom();
  }

  useMemories(stock) {
    const { ram, flash } = this.machine;
    stock.sram = ram;
    stock.sramView = new DataView(ram.buffer);
    stock.flash = flash;
    stock.flash16 = new Uint16Array(flash.buffer);
    stock.flashView = new DataView(flash.buffer);
    stock.bootrom.set(image());
  }

  /** Core 1 sees the same chip, but for its core, its private registers and its face of SIO. */
  buildCores(stock) {
    const { machine } = this;
    const other = Object.create(stock);
    this.cores = [new Core(stock, machine, 0), new Core(other, machine, 1)];
    [stock.core, other.core] = this.cores;
    stock.ppb = new Private(stock, this.cores[0]);
    other.ppb = new Private(other, this.cores[1]);
    const shared = stock.sio;
    this.launcher = new Launcher(this.cores[1], (value) => stock.sio.receive(value));
    stock.sio = new Sio(shared, this.cores[0], this.launcher);
    other.sio = new Sio(shared, this.cores[1], null);
    stock.sio.other = other.sio;
    other.sio.other = stock.sio;
    stock.setInterrupt = (irq, raised) => {
      this.cores[0].setInterrupt(irq, raised);
      if (!OF_CORE0.has(irq)) this.cores[1].setInterrupt(irq, raised);
    };
    const power = stock.peripherals[0x40010];
    const write = power.writeUint32.bind(power);
    power.writeUint32 = (offset, value) => {
      write(offset, value);
      if (offset !== PSM_FRCE_OFF) return;
      if (value & PSM_CORE1) this.launcher.hold();
      if (value & PSM_SIO) {
        shared.spinLock = 0;
        stock.sio.reset();
        other.sio.reset();
      }
    };
  }

  replacePeripherals(stock) {
    const { machine } = this;
    const { peripherals } = stock;
    peripherals[0x14000] = new XipControl(stock);
    peripherals[0x40018] = new FlashPins(stock);
    peripherals[0x40060] = new RingOscillator(stock, machine.noise);
    peripherals[0x40064] = new Regulator(stock);
    stock.pwm = new Pwm(stock);
    peripherals[0x40050] = stock.pwm;
    answerFlashCommands(peripherals[0x18000], machine, machine.board.flash);
    ringOnTime(peripherals[0x40054]);
    acceptAborts(stock.dma);
    this.pins = new Pins(stock, machine.driven);
    this.watchdog = new Watchdog(peripherals[0x40058], machine.kept, (why) => machine.requestReset(why));
  }

  attachDisplay(stock) {
    const { display, board } = this.machine;
    const wiring = board.display;
    if (wiring.bus === 'i2c') new I2cBus(stock, wiring.index).attach(wiring.address, display);
    else new SpiBus(stock, wiring.index, new SpiPanel(stock, display, wiring));
  }

  /** What the boot ROM does: the second stage to the end of RAM, and off. */
  startFromRom() {
    const { ram, flash } = this.machine;
    ram.set(flash.subarray(0, BOOT2_BYTES), BOOT2 & 0xfffff);
    const [core] = this.cores;
    core.SP = BOOT2;
    core.LR = 0;
    core.PC = BOOT2;
  }
}
