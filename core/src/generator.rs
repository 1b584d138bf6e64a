//! Where all chance in a game comes from: xoshiro128++ (Blackman and Vigna, "Scrambled linear pseudorandom number
//! generators", 2021).

/// The generator of a game's pieces.
///
/// ```
/// use dropwise_core::generator::Generator;
///
/// let mut generator = Generator::from_state([1, 2, 3, 4]);
/// assert_eq!([(); 3].map(|()| generator.next_u32()), [641, 1573767, 3222811527]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "save", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "save", serde(deny_unknown_fields))]
pub struct Generator {
    s: [u32; 4],
}

impl Generator {
    /// One in some state. From all zeros nothing but zeros would come; they become another state.
    #[inline]
    pub const fn from_state(s: [u32; 4]) -> Generator {
        if s[0] | s[1] | s[2] | s[3] == 0 { Generator { s: [1, 0, 0, 0] } } else { Generator { s } }
    }

    /// The state: all there is to know of it.
    #[inline]
    pub const fn state(&self) -> [u32; 4] {
        self.s
    }

    /// Thirty-two bits.
    #[inline]
    pub const fn next_u32(&mut self) -> u32 {
        let [s0, s1, s2, s3] = self.s;
        let drawn = s0.wrapping_add(s3).rotate_left(7).wrapping_add(s0);
        let (s2, s3) = (s2 ^ s0, s3 ^ s1);
        self.s = [s0 ^ s3, s1 ^ s2, s2 ^ s1 << 9, s3.rotate_left(11)];
        drawn
    }

    /// An even draw from 0..n: Lemire's multiplication, drawing again in the few cases that would favour some.
    #[inline]
    pub const fn below(&mut self, n: u32) -> usize {
        loop {
            let product = self.next_u32() as u64 * n as u64;
            if product as u32 >= n.wrapping_neg() % n {
                return (product >> 32) as usize;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use rand_core::{Rng, SeedableRng};
    use rand_xoshiro::Xoshiro128PlusPlus;

    use super::*;

    #[test]
    fn it_draws_what_the_known_one_draws() {
        let mut seed = [0; 16];
        for (byte, value) in seed.iter_mut().zip(1..) {
            *byte = 37u8.wrapping_mul(value);
        }
        let mut state = [0; 4];
        for (word, bytes) in state.iter_mut().zip(seed.chunks(4)) {
            *word = u32::from_le_bytes(bytes.try_into().unwrap());
        }
        let (mut known, mut own) = (Xoshiro128PlusPlus::from_seed(seed), Generator::from_state(state));
        for _ in 0..1000 {
            assert_eq!(own.next_u32(), known.next_u32());
        }
    }

    #[test]
    fn zeros_are_another_state() {
        assert_ne!(Generator::from_state([0; 4]).state(), [0; 4]);
    }
}
