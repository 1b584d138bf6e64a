//! Steps that are counted one by one, and deep wells, for the set Dropwise.

/// The bits of steps of 0, and of 1 up and down.
pub(super) const FLAT: u8 = 0b00100;
pub(super) const SINGLE: u8 = 0b01010;

/// How many of the steps with these bits are flat, and sixteen times how many are single; the last bit is of neither.
pub(super) static PACKED: [i8; 16] = {
    let mut packed = [0; 16];
    let mut bits = 0;
    while bits < packed.len() {
        packed[bits] = ((bits as u8 & FLAT).count_ones() + 16 * (bits as u8 & SINGLE).count_ones()) as i8;
        bits += 1;
    }
    packed
};

/// Adds them to the module of [`super::surface`].
macro_rules! more {
    () => {
        use super::more::{FLAT, PACKED, SINGLE};

        #[inline]
        #[target_feature(enable = "avx2")]
        fn packed_steps(steps: __m256i) -> __m256i {
            let table = _mm256_broadcastsi128_si256(memory::_mm_loadu_si128(&PACKED));
            _mm256_shuffle_epi8(table, and(steps, _mm256_set1_epi8(15)))
        }

        #[inline]
        #[target_feature(enable = "avx2")]
        fn flat_and_single(packed: __m256i) -> [__m256i; 2] {
            [and(packed, splat(15)), shr::<4>(packed)]
        }

        /// The packed numbers of the steps to each column and those before it.
        #[inline]
        #[target_feature(enable = "avx2")]
        fn step_counts(steps: __m128i) -> __m128i {
            let packed =
                _mm_shuffle_epi8(memory::_mm_loadu_si128(&PACKED), _mm_and_si128(steps, _mm_set1_epi8(15)));
            let mut sum = _mm_slli_si128::<1>(packed);
            sum = _mm_add_epi8(sum, _mm_slli_si128::<1>(sum));
            sum = _mm_add_epi8(sum, _mm_slli_si128::<2>(sum));
            sum = _mm_add_epi8(sum, _mm_slli_si128::<4>(sum));
            _mm_add_epi8(sum, _mm_slli_si128::<8>(sum))
        }

        /// How many cells of plain shafts have two empty ones below.
        #[inline]
        #[target_feature(enable = "avx2")]
        fn deep_cells(depth: __m256i) -> __m256i {
            excess(depth, splat(2))
        }

        impl Surface<'_> {
            /// How many more flat and single steps there are after a placement with these steps, as bits, at its edges; and
            /// which occur among all that there are then: whether flat ones do, and single ones in how many directions.
            #[inline]
            #[target_feature(enable = "avx2")]
            fn counted_steps<const SHAPE: usize>(
                &self,
                first: usize,
                [left, right]: [__m256i; 2],
                all: __m256i,
            ) -> [__m256i; 4] {
                let shape = const { SHAPES[SHAPE] };
                let mut own = 0;
                for x in 1..shape.width {
                    let bit = scalar::step_bit(shape.top[x] as i32 - shape.top[x - 1] as i32);
                    own += i32::from(PACKED[usize::from(bit & 15)]);
                }
                let after = add(add(packed_steps(left), packed_steps(right)), splat(own));
                let until = self.step_counts.at(first, shape.width as isize);
                let before = sub(until, self.step_counts.at(first, -1));
                let [flat, single] = flat_and_single(after);
                let [flat_before, single_before] = flat_and_single(before);
                let [flat_occurs, directions] = flat_and_single(packed_steps(all));
                [sub(flat, flat_before), sub(single, single_before), flat_occurs, directions]
            }
        }
    };
}
pub(super) use more;
