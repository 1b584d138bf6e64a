// The parts of rp2040js that the bench extends.
//
// The package exports its front only, so the rest is imported by path: another reason to pin its version.

export { BasePeripheral, FIFO, I2CMode, RP2040 } from 'rp2040js';
export { ClockAlarm, SimulationClock } from '../node_modules/rp2040js/dist/esm/clock/simulation-clock.js';
export { CortexM0Core } from '../node_modules/rp2040js/dist/esm/cortex-m0-core.js';
export { IRQ, MAX_HARDWARE_IRQ } from '../node_modules/rp2040js/dist/esm/irq.js';
export { RPDMAChannel } from '../node_modules/rp2040js/dist/esm/peripherals/dma.js';
export { RPPPB } from '../node_modules/rp2040js/dist/esm/peripherals/ppb.js';
export { RPTimer } from '../node_modules/rp2040js/dist/esm/peripherals/timer.js';
export { RPSIO } from '../node_modules/rp2040js/dist/esm/sio.js';
