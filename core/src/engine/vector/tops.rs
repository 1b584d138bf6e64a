//! The columns' tops, for the sets B, BD and BDU: heights, their differences, the highest column.

/// Adds them to the module of [`super::surface`].
macro_rules! tops {
    () => {
        use super::pair;
        use crate::engine::Skyline;

        /// Pairs of weights, one word for each position, in the order of [`weigh`].
        type Pairs = [[[i32; 8]; WORDS]; VECTORS];

        /// The weights of the columns' tops.
        #[derive(Clone, Copy, Debug)]
        pub(super) struct Tops {
            /// Of the heights of the column and the next one; of the two after them.
            heights: [Pairs; 2],
            /// Of the steps to the column and from it; of the two steps after them; of the one after those.
            differences: [Pairs; 3],
            /// Of the column's height and of the step from it.
            columns: Pairs,
        }

        impl Tops {
            pub(super) fn new(skyline: Option<Skyline<'_>>) -> Tops {
                // A wall has neither a height nor a step beyond it.
                let height = |x: usize| skyline.filter(|_| x < WIDTH).map_or(0, |skyline| skyline.height(x));
                let difference =
                    |x: usize| skyline.filter(|_| x < WIDTH - 1).map_or(0, |skyline| skyline.difference(x));
                let pairs = |of: &dyn Fn(usize) -> i32| {
                    let mut pairs = [[[0; 8]; WORDS]; VECTORS];
                    for column in 0..WIDTH {
                        let (word, element) = word_of(column % LANES);
                        pairs[column / LANES][word][element] = of(column);
                    }
                    pairs
                };
                Tops {
                    heights: [
                        pairs(&|x| pair(height(x), height(x + 1))),
                        pairs(&|x| pair(height(x + 2), height(x + 3))),
                    ],
                    differences: [
                        pairs(&|x| pair(difference(x.wrapping_sub(1)), difference(x))),
                        pairs(&|x| pair(difference(x + 1), difference(x + 2))),
                        pairs(&|x| pair(difference(x + 3), 0)),
                    ],
                    columns: pairs(&|x| pair(height(x), difference(x))),
                }
            }

            /// What the columns' heights and their differences are worth, in words to be added up.
            #[inline]
            #[target_feature(enable = "avx2")]
            fn worth(&self, heights: [__m256i; VECTORS]) -> __m256i {
                let differences = differences(heights);
                let mut sum = [_mm256_setzero_si256(); WORDS];
                for vector in 0..VECTORS {
                    weigh_more(
                        &mut sum,
                        heights[vector],
                        differences[vector],
                        load_words(&self.columns[vector]),
                    );
                }
                sum.into_iter().fold(_mm256_setzero_si256(), |sum, word| _mm256_add_epi32(sum, word))
            }
        }

        #[inline]
        #[target_feature(enable = "avx2")]
        fn load_words(words: &[[i32; 8]; WORDS]) -> [__m256i; WORDS] {
            core::array::from_fn(|word| memory::_mm256_loadu_si256(&words[word]))
        }

        /// The absolute steps from each column to the next; what it is for the last column does not matter.
        #[inline]
        #[target_feature(enable = "avx2")]
        fn differences(heights: [__m256i; VECTORS]) -> [__m256i; VECTORS] {
            let mut steps = right(heights);
            for (step, height) in steps.iter_mut().zip(heights) {
                *step = abs(sub(*step, height));
            }
            steps
        }

        /// The height of the highest column between the walls.
        #[inline]
        #[target_feature(enable = "avx2")]
        fn max_height(columns: [__m256i; VECTORS]) -> i32 {
            (u32::BITS - rows(columns).leading_zeros()) as i32
        }

        impl Surface<'_> {
            /// Adds what the tops of the columns change by, where a shape lands on rows y.
            #[inline]
            #[target_feature(enable = "avx2")]
            fn weigh_tops<const SHAPE: usize>(
                &self,
                values: &mut [__m256i; WORDS],
                first: usize,
                y: __m256i,
                tops: &Tops,
            ) {
                let shape = const { SHAPES[SHAPE] };
                let zero = _mm256_setzero_si256();
                let differences = Row { lanes: differences(self.heights.lanes), beyond: zero };
                let (mut rises, mut steps) = ([zero; 4], [zero; 6]);
                for x in 0..shape.width {
                    rises[x] = sub(plus(y, shape.top[x]), self.heights.at(first, x as isize));
                }
                for x in 0..=shape.width {
                    let after = if x == 0 {
                        abs(sub(plus(y, shape.top[0]), self.heights.at(first, -1)))
                    } else if x == shape.width {
                        abs(sub(self.heights.at(first, x as isize), plus(y, shape.top[x - 1])))
                    } else {
                        splat(shape.top[x].abs_diff(shape.top[x - 1]) as i32)
                    };
                    steps[x] = sub(after, differences.at(first, x as isize - 1));
                }
                for (two, weights) in rises.chunks_exact(2).zip(&tops.heights).take(shape.width.div_ceil(2)) {
                    weigh_more(values, two[0], two[1], load_words(&weights[first / LANES]));
                }
                for (two, weights) in steps.chunks_exact(2).zip(&tops.differences).take(shape.width / 2 + 1) {
                    weigh_more(values, two[0], two[1], load_words(&weights[first / LANES]));
                }
            }
        }
    };
}
pub(super) use tops;
