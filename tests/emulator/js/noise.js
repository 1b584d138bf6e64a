// Noise that is the same in every run: what memory holds when power comes, what the ring oscillator gives.
//
// Marsaglia's xorshift with 32 bits of state.

export class Noise {
  constructor(seed) {
    this.state = (seed ^ 0x9e3779b9) >>> 0 || 1;
  }

  next() {
    let x = this.state;
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    this.state = x >>> 0;
    return this.state;
  }

  fill(bytes) {
    for (let i = 0; i < bytes.length; i++) bytes[i] = this.next() >>> 24;
  }
}
