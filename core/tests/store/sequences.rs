//! Random sequences: ten thousand, or ten million with DROPWISE_FULL=1.

use dropwise_core::store::Store;

use crate::flash::{Flash, Noise};
use crate::full_length;
use crate::trial::{Chance, Faults, Length, Tally, trial};

impl Chance for Noise {
    fn below(&mut self, limit: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(limit)) >> 64) as u64
    }
}

const FAULTS: Faults = Faults { cuts: true, arbitrary_bits: true, reads: true, wear: true };

#[test]
fn a_store_shows_what_was_kept() {
    let sequences = if full_length() { 10_000_000 } else { 10_000 };
    let mut tally = Tally::default();
    for seed in 0..sequences {
        let mut noise = Noise(seed << 20);
        let length = Length { sectors: 2 + noise.below(3) as usize, steps: 8 };
        if let Err(violation) = trial::<512, Store<Flash<512>>>(&mut noise, FAULTS, length, &mut tally) {
            panic!("sequence {seed}: {violation:?}");
        }
    }
    println!("{sequences} sequences: {tally:?}");
    // Sequences without incidents would prove little.
    let Tally { kept, replaced, failed, stand_ins } = tally;
    assert!(
        kept > sequences && replaced > sequences / 20 && failed > sequences / 4 && stand_ins > sequences / 20,
        "{tally:?}"
    );
}
