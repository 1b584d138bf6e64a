// The SPI bus.
//
// The stock controller completes a byte at once unless told otherwise, and then a transfer by DMA in both directions
// hangs; so a byte takes its time here. And the stock DMA moves it with two or three alarms of its own: a frame of a
// 240x240 display would cost a tenth of a second of ours. A DMA channel that only sends to SPI is therefore served in
// bursts: so many bytes at once, at the moment when the last of them has left.

const BURST = 64;
const INCREMENT_READ = 1 << 4;
const BUSY = 1 << 24;

const SPI_BASE = [0x4003c000, 0x40040000];
const DATA = 0x08;

export class SpiBus {
  constructor(chip, index, device) {
    this.chip = chip;
    this.controller = chip.spi[index];
    this.device = device;
    this.dataRegister = SPI_BASE[index] + DATA;
    const { controller } = this;
    const done = chip.clock.createAlarm(() => controller.completeTransmit(0));
    controller.onTransmit = (byte) => {
      device.receive(byte);
      done.schedule(this.nanosPerByte);
    };
    for (const channel of chip.dma.channels) this.serveInBursts(channel);
  }

  get nanosPerByte() {
    return (this.controller.dataBits * 1e9) / this.controller.clockFrequency;
  }

  /** Whether the channel sends bytes to this bus, and nobody listens to what comes back. */
  onlySends(channel) {
    const { dreq } = this.controller;
    return (
      channel.writeAddr === this.dataRegister && channel.treq === dreq.tx && channel.dataSize === 1 &&
      this.controller.txFIFO.empty && !this.controller.busy &&
      !this.chip.dma.channels.some((other) => other.active && other.treq === dreq.rx)
    );
  }

  serveInBursts(channel) {
    const stock = channel.scheduleTransfer.bind(channel);
    let burst = 0;
    const alarm = this.chip.clock.createAlarm(() => {
      this.controller.busy = false;
      if (!(channel.ctrl & BUSY)) return; // aborted meanwhile
      this.send(channel, burst);
    });
    channel.scheduleTransfer = () => {
      if (!this.onlySends(channel)) return stock();
      burst = Math.min(BURST, channel.transCount);
      this.controller.busy = true;
      alarm.schedule(burst * this.nanosPerByte);
    };
  }

  send(channel, count) {
    const { chip, device } = this;
    for (let i = 0; i < count - 1; i++) {
      device.receive(chip.readUint8(channel.readAddr));
      if (channel.ctrl & INCREMENT_READ) channel.readAddr++;
    }
    channel.transCount -= count - 1;
    // The last byte goes the stock way, which asks for the next burst or ends the transfer: interrupt, chaining.
    const { transferFn } = channel;
    channel.transferFn = () => device.receive(chip.readUint8(channel.readAddr));
    channel.transfer();
    channel.transferFn = transferFn;
  }
}
