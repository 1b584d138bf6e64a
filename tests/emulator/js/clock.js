// Emulated time.
//
// The stock clock must be ticked after every instruction, and its simulator takes clk_sys to be 125 MHz always. Here
// time follows from the cycles that a core has run at the clk_sys of the moment, so that running costs nothing until an
// alarm is due; and while both cores sleep, time jumps from alarm to alarm.

import { SimulationClock } from './stock.js';

export class Clock extends SimulationClock {
  constructor(hertz) {
    super(hertz);
    this.baseNanos = 0;
    this.baseCycles = 0;
    this.nanosPerCycle = 1e9 / hertz;
    /** Where the machine is, in cycles, while no core runs. */
    this.position = 0;
    /** The core that runs now: its cycles tell the time. */
    this.runner = null;
    /** The time of the alarm whose callback runs now. */
    this.ringing = null;
    /** When the next alarm is due, in cycles. */
    this.due = Infinity;
  }

  get cycles() {
    return this.runner ? this.runner.cycles : this.position;
  }

  get nanos() {
    return this.ringing ?? this.nanosAt(this.cycles);
  }

  nanosAt(cycles) {
    return this.baseNanos + (cycles - this.baseCycles) * this.nanosPerCycle;
  }

  cyclesAt(nanos) {
    return this.baseCycles + Math.ceil((nanos - this.baseNanos) / this.nanosPerCycle);
  }

  /** clk_sys has another frequency from now on. */
  changeFrequency(hertz) {
    const { cycles } = this;
    this.baseNanos = this.nanosAt(cycles);
    this.baseCycles = cycles;
    this.nanosPerCycle = 1e9 / hertz;
    this.reckon();
    // Whoever runs was given a limit that counted cycles of another length.
    this.runner?.stop();
  }

  linkAlarm(nanos, alarm) {
    super.linkAlarm(nanos, alarm);
    this.reckon();
    return alarm;
  }

  unlinkAlarm(alarm) {
    const found = super.unlinkAlarm(alarm);
    if (found) this.reckon();
    return found;
  }

  /** Finds out anew when the next alarm is due. */
  reckon() {
    this.due = this.nextAlarm ? this.cyclesAt(this.nextAlarm.nanos) : Infinity;
    if (this.runner && this.due < this.runner.goal) this.runner.stopAt(this.due);
  }

  /** Rings every alarm that is due. */
  ring() {
    while (this.due <= this.position) {
      const alarm = this.nextAlarm;
      this.nextAlarm = alarm.next;
      this.ringing = alarm.nanos;
      this.reckon();
      alarm.callback();
    }
    this.ringing = null;
  }
}
