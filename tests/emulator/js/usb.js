// A USB host with a CDC-ACM driver.
//
// The stock controller gives a buffer back to the firmware the moment it is armed, not when the packet has passed; a
// driver that waits for its buffer, as embassy's does, then sees packets of 64 bytes that nobody sent. Its CDC helper
// answers every armed buffer with an empty packet. Both are replaced: this host takes and fills buffers when a packet
// would have crossed the bus, checks the data toggles, and enumerates the device as an operating system would.

const PULL_UP = 1 << 16; // SIE_CTRL
const SETUP_RECEIVED = 1 << 17; // SIE_STATUS
const BUS_RESET = 1 << 19;

/** SOF_RD, BUFF_CPU_SHOULD_HANDLE, the PHY's, INTR and INTS. */
const UNKNOWN_REGISTERS = new Set([0x48, 0x5c, 0x7c, 0x80, 0x84, 0x88, 0x8c, 0x98]);

// A buffer's control word.
const LENGTH = 0x3ff;
const AVAILABLE = 1 << 10;
const STALL = 1 << 11;
const DATA1 = 1 << 13;
const FULL = 1 << 15;

const FIRST_BUFFER_CONTROL = 0x80;
const LAST_BUFFER_CONTROL = 0xfc;
const CONTROL_BUFFER = 0x100;
const PACKET = 64;

const GET_DESCRIPTOR = 6;
const SET_ADDRESS = 5;
const SET_CONFIGURATION = 9;
const DEVICE = 0x0100;
const CONFIGURATION = 0x0200;
const STRING = 0x0300;
const ENGLISH = 0x0409;
const SET_LINE_CODING = 0x20;
const SET_CONTROL_LINE_STATE = 0x22;
const TO_INTERFACE = 0x21;

/** A full bulk packet with what surrounds it; a packet of a control transfer; the host's patience after attachment. */
const PACKET_NANOS = 53_000;
const CONTROL_NANOS = 10_000;
const ATTACH_NANOS = 10e6;

export class UsbHost {
  constructor(chip, warn) {
    this.chip = chip;
    this.warn = warn;
    this.usb = chip.usbCtrl;
    this.memory = chip.usbDPRAM;
    this.view = chip.usbDPRAMView;
    this.plugged = false;
    this.attached = false;
    this.listens = true;
    this.forget();
    const attend = this.usb.handleSieCtrlWrite.bind(this.usb);
    this.usb.handleSieCtrlWrite = (value) => {
      attend(value);
      this.attach();
    };
    this.acceptZeros();
    this.usb.DPRAMUpdated = (offset, value) => this.bufferWritten(offset, value);
    this.usb.onResetReceived = () => this.enumerate();
    this.resetAlarm = chip.clock.createAlarm(() => this.resetBus());
  }

  /** embassy clears every register at start, also those that the stock controller does not know. */
  acceptZeros() {
    const write = this.usb.writeUint32.bind(this.usb);
    this.usb.writeUint32 = (offset, value) => {
      if (value !== 0 || !UNKNOWN_REGISTERS.has(offset)) write(offset, value);
    };
  }

  /** Everything known of the device, gone. */
  forget() {
    this.armed = new Set();
    this.toggles = new Map();
    this.transfers = [];
    this.transfer = null;
    this.device = null;
    this.configured = false;
    this.outgoing = [];
    this.sending = false;
    this.incoming = [];
  }

  plug() {
    this.plugged = true;
    this.attach();
  }

  unplug() {
    this.plugged = false;
    this.attached = false;
    this.resetAlarm.cancel();
    this.forget();
  }

  attach() {
    if (!this.plugged || !(this.usb.sieCtrl & PULL_UP) || this.attached) return;
    this.attached = true;
    this.resetAlarm.schedule(ATTACH_NANOS);
  }

  resetBus() {
    this.forget();
    this.usb.sieStatus |= BUS_RESET;
    this.usb.sieStatusUpdated();
  }

  after(nanos, action) {
    this.chip.clock.createAlarm(action).schedule(nanos);
  }

  // ---- Control transfers

  /** `data` is bytes to send or the number of bytes to ask for. Resolves `then` with the answer, or null if refused. */
  control(type, request, value, index, data, then) {
    const out = typeof data === 'number' ? null : data;
    const length = out ? out.length : data;
    const setup = Uint8Array.of(
      type, request, value & 0xff, value >> 8, index & 0xff, index >> 8, length & 0xff, length >> 8,
    );
    this.transfers.push({ setup, length, asks: (type & 0x80) !== 0 && length > 0, out, sent: 0, answer: [], then });
    this.nextTransfer();
  }

  nextTransfer() {
    if (this.transfer || this.transfers.length === 0) return;
    this.transfer = this.transfers.shift();
    const { setup } = this.transfer;
    this.after(CONTROL_NANOS, () => {
      this.armed.delete('in0');
      this.armed.delete('out0');
      this.memory.set(setup, 0);
      this.usb.sieStatus |= SETUP_RECEIVED;
      this.usb.sieStatusUpdated();
    });
  }

  endTransfer(accepted) {
    const { then, answer } = this.transfer;
    this.transfer = null;
    then?.(accepted ? Uint8Array.from(answer) : null);
    this.nextTransfer();
  }

  controlIn() {
    const { transfer } = this;
    const packet = this.takePacket(0);
    if (!transfer) return;
    if (transfer.asks) transfer.answer.push(...packet);
    else this.endTransfer(true);
  }

  controlOut() {
    const { transfer } = this;
    if (!transfer) return;
    if (transfer.out && transfer.sent < transfer.out.length) {
      const packet = transfer.out.subarray(transfer.sent, transfer.sent + PACKET);
      transfer.sent += packet.length;
      this.givePacket(0, packet);
    } else if (transfer.asks) {
      this.givePacket(0, new Uint8Array(0));
      this.endTransfer(true);
    }
  }

  // ---- Buffers

  bufferWritten(offset, value) {
    if (offset < FIRST_BUFFER_CONTROL || offset > LAST_BUFFER_CONTROL) return;
    const endpoint = (offset - FIRST_BUFFER_CONTROL) >> 3;
    const isOut = (offset & 4) !== 0;
    const name = (isOut ? 'out' : 'in') + endpoint;
    if (endpoint === 0 && value & STALL && this.transfer) {
      const { transfer } = this;
      this.after(CONTROL_NANOS, () => {
        if (this.transfer === transfer) this.endTransfer(false);
      });
      return;
    }
    if (!(value & AVAILABLE) || this.armed.has(name)) return;
    this.armed.add(name);
    if (endpoint === 0) {
      this.after(CONTROL_NANOS, () => {
        if (!this.armed.has(name)) return;
        if (isOut) this.controlOut();
        else this.controlIn();
      });
    } else if (endpoint === this.device?.outEndpoint && isOut) this.send();
    else if (endpoint === this.device?.inEndpoint && !isOut) this.listen();
  }

  controlWordAt(endpoint, isOut) {
    return FIRST_BUFFER_CONTROL + endpoint * 8 + (isOut ? 4 : 0);
  }

  bufferAt(endpoint, isOut) {
    if (endpoint === 0) return CONTROL_BUFFER;
    return this.view.getUint32(endpoint * 8 + (isOut ? 4 : 0), true) & 0xffc0;
  }

  /** A packet from the device. */
  takePacket(endpoint) {
    const at = this.controlWordAt(endpoint, false);
    const word = this.view.getUint32(at, true);
    const start = this.bufferAt(endpoint, false);
    const packet = this.memory.slice(start, start + (word & LENGTH));
    this.complete(endpoint, false, at, word & ~(AVAILABLE | FULL));
    return packet;
  }

  /** A packet to the device. */
  givePacket(endpoint, packet) {
    const at = this.controlWordAt(endpoint, true);
    const word = this.view.getUint32(at, true);
    this.memory.set(packet, this.bufferAt(endpoint, true));
    this.complete(endpoint, true, at, (word & ~(AVAILABLE | LENGTH)) | packet.length | FULL);
  }

  complete(endpoint, isOut, at, word) {
    const name = (isOut ? 'out' : 'in') + endpoint;
    if (endpoint !== 0) {
      const expected = this.toggles.get(name) ?? 0;
      if (expected !== (word & DATA1)) this.warn('USB', `a packet of endpoint ${name} has the wrong data toggle`);
      this.toggles.set(name, expected ^ DATA1);
    }
    this.view.setUint32(at, word, true);
    this.armed.delete(name);
    this.usb.indicateBufferReady(endpoint, isOut);
  }

  // ---- The serial port

  /** Opens the port, or sets it anew: an operating system tells the speed, then raises DTR and RTS. */
  open(baud) {
    const coding = new Uint8Array(7);
    new DataView(coding.buffer).setUint32(0, baud, true);
    coding[6] = 8;
    this.control(TO_INTERFACE, SET_LINE_CODING, 0, this.device.controlInterface, coding, (answer) => {
      if (answer === null) this.warn('USB', 'the device refuses the line coding');
    });
    this.setLines(3);
  }

  close() {
    this.setLines(0);
  }

  setLines(lines) {
    this.control(TO_INTERFACE, SET_CONTROL_LINE_STATE, lines, this.device.controlInterface, 0, (answer) => {
      if (answer === null) this.warn('USB', 'the device refuses the control lines');
    });
  }

  write(bytes) {
    for (const byte of bytes) this.outgoing.push(byte);
    this.send();
  }

  send() {
    const { outEndpoint } = this.device ?? {};
    if (this.sending || this.outgoing.length === 0 || !this.armed.has(`out${outEndpoint}`)) return;
    this.sending = true;
    this.after(PACKET_NANOS, () => {
      this.sending = false;
      if (!this.armed.has(`out${outEndpoint}`)) return;
      this.givePacket(outEndpoint, Uint8Array.from(this.outgoing.splice(0, PACKET)));
    });
  }

  listen() {
    const { inEndpoint } = this.device ?? {};
    if (!this.listens || !this.armed.has(`in${inEndpoint}`)) return;
    this.after(PACKET_NANOS, () => {
      if (!this.armed.has(`in${inEndpoint}`)) return;
      for (const byte of this.takePacket(inEndpoint)) this.incoming.push(byte);
      this.received?.();
    });
  }

  /** Back-pressure: a host that does not read for a while. */
  setListens(listens) {
    this.listens = listens;
    this.listen();
  }

  // ---- Enumeration

  enumerate() {
    this.control(0x80, GET_DESCRIPTOR, DEVICE, 0, 18, (descriptor) => {
      if (descriptor === null) return this.warn('USB', 'no device descriptor');
      this.control(0, SET_ADDRESS, 1, 0, 0, () => this.readConfiguration(descriptor));
    });
  }

  readConfiguration(descriptor) {
    const device = {
      vendor: descriptor[8] | (descriptor[9] << 8),
      product: descriptor[10] | (descriptor[11] << 8),
      strings: [],
      controlInterface: 0,
      inEndpoint: -1,
      outEndpoint: -1,
    };
    this.control(0x80, GET_DESCRIPTOR, CONFIGURATION, 0, 9, (head) => {
      const length = head[2] | (head[3] << 8);
      this.control(0x80, GET_DESCRIPTOR, CONFIGURATION, 0, length, (configuration) => {
        findEndpoints(configuration, device);
        this.readStrings([...descriptor.subarray(14, 17)], device, () => this.configure(device));
      });
    });
  }

  /** Manufacturer, product, serial number. */
  readStrings([index, ...rest], device, then) {
    if (index === undefined) return then();
    const keep = (bytes) => {
      device.strings.push(bytes ? Buffer.from(bytes.subarray(2)).toString('utf16le') : '');
      this.readStrings(rest, device, then);
    };
    if (index === 0) keep(null);
    else this.control(0x80, GET_DESCRIPTOR, STRING | index, ENGLISH, 255, keep);
  }

  configure(device) {
    this.control(0, SET_CONFIGURATION, 1, 0, 0, (answer) => {
      if (answer === null) return this.warn('USB', 'the device refuses its configuration');
      this.toggles.clear();
      this.device = device;
      this.configured = true;
      this.send();
      this.listen();
      this.received?.();
    });
  }
}

const INTERFACE_DESCRIPTOR = 4;
const ENDPOINT_DESCRIPTOR = 5;
const CDC_CONTROL = 2;
const CDC_DATA = 10;

function findEndpoints(configuration, device) {
  let kind = 0;
  for (let at = 0; at < configuration.length && configuration[at] > 0; at += configuration[at]) {
    const descriptor = configuration.subarray(at, at + configuration[at]);
    if (descriptor[1] === INTERFACE_DESCRIPTOR) {
      kind = descriptor[5];
      if (kind === CDC_CONTROL) device.controlInterface = descriptor[2];
    } else if (descriptor[1] === ENDPOINT_DESCRIPTOR && kind === CDC_DATA) {
      const number = descriptor[2] & 15;
      if (descriptor[2] & 0x80) device.inEndpoint = number;
      else device.outEndpoint = number;
    }
  }
}
