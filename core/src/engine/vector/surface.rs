//! The closed forms on vectors, written once for both lane widths.

/// Makes the engine for one lane width, in the module that calls it.
macro_rules! surface {
    ($lanes:ident, $tops:ident) => {
        use core::arch::x86_64::*;

        use safe_unaligned_simd::x86_64 as memory;

        use super::$lanes::*;
        use super::{Extra, KEY_ORDER, MORE, Packed, TOPS, WALL_HEIGHT, first_turn, has_steps, key};
        use crate::engine::scalar::{self, UNTOUCHED_ROWS};
        use crate::piece::{MAX_EXTENT, NUM_SHAPES, Piece, SHAPES};
        use crate::well::{WIDTH, Well};

        /// The lower bits of each position's key, in the order of [`weigh`].
        static ORDER: [[[[u32; 8]; WORDS]; VECTORS]; NUM_SHAPES] = {
            let mut order = [[[[0; 8]; WORDS]; VECTORS]; NUM_SHAPES];
            let mut shape = 0;
            while shape < NUM_SHAPES {
                let mut column = 0;
                while column < SHAPES[shape].positions(WIDTH) {
                    let (word, element) = word_of(column % LANES);
                    order[shape][column / LANES][word][element] = KEY_ORDER[shape][column] as u32;
                    column += 1;
                }
                shape += 1;
            }
            order
        };

        /// A number for each column, and what stands for one on either side of the well.
        #[derive(Clone, Copy)]
        struct Row {
            lanes: [__m256i; VECTORS],
            beyond: __m256i,
        }

        impl Row {
            /// The numbers `by` columns right of those that start at `first`.
            #[inline]
            #[target_feature(enable = "avx2")]
            fn at(&self, first: usize, by: isize) -> __m256i {
                shift(self.lanes, self.beyond, first / LANES, by)
            }
        }

        #[inline]
        #[target_feature(enable = "avx2")]
        fn and(a: __m256i, b: __m256i) -> __m256i {
            _mm256_and_si256(a, b)
        }

        #[inline]
        #[target_feature(enable = "avx2")]
        fn or(a: __m256i, b: __m256i) -> __m256i {
            _mm256_or_si256(a, b)
        }

        /// What is in `b` and not in `a`.
        #[inline]
        #[target_feature(enable = "avx2")]
        fn without(a: __m256i, b: __m256i) -> __m256i {
            _mm256_andnot_si256(a, b)
        }

        /// a - b, or 0 where that is negative; for numbers below 2^16.
        #[inline]
        #[target_feature(enable = "avx2")]
        fn excess(a: __m256i, b: __m256i) -> __m256i {
            _mm256_subs_epu16(a, b)
        }

        #[inline]
        #[target_feature(enable = "avx2")]
        fn up(v: __m256i, rows: usize) -> __m256i {
            match rows {
                0 => v,
                1 => shl::<1>(v),
                2 => shl::<2>(v),
                3 => shl::<3>(v),
                _ => unreachable!(),
            }
        }

        #[inline]
        #[target_feature(enable = "avx2")]
        fn down(v: __m256i, rows: usize) -> __m256i {
            match rows {
                0 => v,
                1 => shr::<1>(v),
                2 => shr::<2>(v),
                _ => unreachable!(),
            }
        }

        #[inline]
        #[target_feature(enable = "avx2")]
        fn plus(v: __m256i, n: usize) -> __m256i {
            if n == 0 { v } else { add(v, splat(n as i32)) }
        }

        #[inline]
        #[target_feature(enable = "avx2")]
        fn times(v: __m256i, n: usize) -> __m256i {
            match n {
                1 => v,
                2 => add(v, v),
                3 => add(add(v, v), v),
                4 => shl::<2>(v),
                _ => unreachable!(),
            }
        }

        /// How many bits of each lane are set.
        #[inline]
        #[target_feature(enable = "avx2")]
        fn count(v: __m256i) -> __m256i {
            let table =
                _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4));
            let nibble = _mm256_set1_epi8(15);
            let low = _mm256_shuffle_epi8(table, and(v, nibble));
            let high = _mm256_shuffle_epi8(table, and(_mm256_srli_epi16::<4>(v), nibble));
            add_bytes(_mm256_add_epi8(low, high))
        }

        /// How many of the five lowest bits are set, where no other is.
        #[inline]
        #[target_feature(enable = "avx2")]
        fn count_steps(v: __m256i) -> __m256i {
            let table =
                _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4));
            add(_mm256_shuffle_epi8(table, and(v, _mm256_set1_epi8(15))), shr::<4>(v))
        }

        /// A step of -2..=2 as a bit; none for others.
        #[inline]
        #[target_feature(enable = "avx2")]
        fn step_bit(step: __m256i) -> __m256i {
            // Index 0 gives nothing, as the upper bytes of a lane are 0; a negative one gives nothing by itself.
            let table =
                _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 2, 4, 8, 16, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0));
            _mm256_shuffle_epi8(table, min(plus(step, 3), splat(15)))
        }

        /// Rows with exactly 1, 2, 3 and 4 empty cells: the columns added up as binary digits, all rows at once.
        #[inline]
        #[target_feature(enable = "avx2")]
        fn missing(columns: [__m256i; VECTORS]) -> [__m256i; MAX_EXTENT + 1] {
            let xor = |a, b| _mm_xor_si128(a, b);
            let and = |a, b| _mm_and_si128(a, b);
            let or = |a, b| _mm_or_si128(a, b);
            let without = |a, b| _mm_andnot_si128(a, b);
            let add = |a, b, c| (xor(xor(a, b), c), or(and(a, b), and(xor(a, b), c)));
            let empty = |v| xor(v, _mm_set1_epi8(-1));
            let [a, b, c] = fours(columns);
            let (ones, twos) = add(empty(a), empty(b), empty(c));
            // Four columns of two digits; then two of three; then one of four.
            let (other_ones, other_twos) = (swap_pairs(ones), swap_pairs(twos));
            let carry = and(ones, other_ones);
            let ones = xor(ones, other_ones);
            let (twos, fours) = add(twos, other_twos, carry);
            let (other_ones, other_twos, other_fours) =
                (swap_neighbours(ones), swap_neighbours(twos), swap_neighbours(fours));
            let carry = and(ones, other_ones);
            let ones = xor(ones, other_ones);
            let (twos, carry) = add(twos, other_twos, carry);
            let (fours, eights) = add(fours, other_fours, carry);
            let few = or(fours, eights);
            [
                _mm256_setzero_si256(),
                broadcast(without(or(few, twos), ones)),
                broadcast(without(or(few, ones), twos)),
                broadcast(without(few, and(ones, twos))),
                broadcast(without(or(or(ones, twos), eights), fours)),
            ]
        }

        /// Heights from the bits below the tops. A wall's own height does not matter, if only it is far above.
        #[inline]
        #[target_feature(enable = "avx2")]
        fn heights(below: __m256i, vector: usize) -> __m256i {
            or(count(below), and(walls()[vector], splat(i32::from(WALL_HEIGHT))))
        }

        /// The steps from each column to the next as bits.
        #[inline]
        #[target_feature(enable = "avx2")]
        fn steps(heights: [__m256i; VECTORS]) -> [__m256i; VECTORS] {
            let (mut steps, walls) = (right(heights), walls());
            for vector in 0..VECTORS {
                // Between two walls there is no step: one so large is not counted.
                let step = sub(steps[vector], heights[vector]);
                steps[vector] = step_bit(or(step, and(walls[vector], splat(64))));
            }
            steps
        }

        #[inline]
        #[target_feature(enable = "avx2")]
        fn any(v: __m256i) -> bool {
            _mm256_testz_si256(v, v) == 0
        }

        /// The board, made ready for every placement on it.
        struct Surface<'a> {
            well: &'a Well,
            cells: Row,
            heights: Row,
            /// The height as a bit: 1 << height.
            brinks: Row,
            /// All ones where the column has no hole.
            solid: Row,
            /// How deep the column's open well is, and what it adds to cumulative wells.
            well_depths: Row,
            open_wells: Row,
            /// The steps, as bits, up to the one from this column to the next; and from it on.
            steps_until: Row,
            steps_from: Row,
            /// How many of the steps to this column and those before it are flat, and how many single: [`packed_steps`].
            step_counts: Row,
            /// Rows with a hole, in every lane.
            hole_rows: __m256i,
            /// Rows with exactly this many empty cells, for 1 to 4, in every lane.
            missing: [__m256i; MAX_EXTENT + 1],
            /// Whether an open well is not a plain shaft: the scalar engine takes such a board.
            crooked: bool,
            /// Columns, as bits, with a hole that a piece can land beside and that has a full cell on its other side.
            rough: u32,
            /// The best key so far, lane by lane.
            best: __m256i,
            /// What is known of the placements that clear lines, register by register, and in which lanes they are.
            clearing: [Clearing; 4 * VECTORS],
            clearing_lanes: u64,
        }

        /// The key of the best placement, `i32::MIN` if all lose; none where the lanes cannot tell.
        #[inline]
        #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
        pub(super) fn best<const EXTRA: Extra>(well: &Well, piece: Piece, weights: &Packed) -> Option<i32> {
            let mut s = Surface::new::<EXTRA>(well);
            if s.crooked {
                return None;
            }
            each_shape!(piece, SHAPE, s.orientation::<SHAPE, EXTRA>(weights));
            let lanes = s.best;
            let half = _mm_max_epi32(_mm256_castsi256_si128(lanes), _mm256_extracti128_si256::<1>(lanes));
            let half = _mm_max_epi32(half, _mm_shuffle_epi32::<0b01_00_11_10>(half));
            let half = _mm_max_epi32(half, _mm_shuffle_epi32::<0b10_11_00_01>(half));
            let mut best = _mm_cvtsi128_si32(half);
            if s.clearing_lanes != 0 {
                let clearing =
                    best_clearing::<EXTRA>(s.cells.lanes, &s.clearing, s.clearing_lanes, piece, weights);
                best = best.max(clearing);
            }
            Some(best)
        }

        impl<'a> Surface<'a> {
            #[inline]
            #[target_feature(enable = "avx2")]
            fn new<const EXTRA: Extra>(well: &'a Well) -> Self {
                let zero = _mm256_setzero_si256();
                let columns = columns(well.columns());
                let below = columns.map(|cells| smear(cells));
                let (left_below, right_below) = (left(below), right(below));
                let (left, right) = (left(columns), right(columns));
                let row = Row { lanes: [zero; VECTORS], beyond: zero };
                let mut s = Surface {
                    well,
                    cells: Row { lanes: columns, beyond: splat(-1) },
                    heights: Row { lanes: [zero; VECTORS], beyond: splat(i32::from(WALL_HEIGHT)) },
                    brinks: row,
                    solid: row,
                    well_depths: row,
                    open_wells: row,
                    steps_until: row,
                    steps_from: row,
                    step_counts: row,
                    hole_rows: zero,
                    missing: missing(columns),
                    crooked: false,
                    rough: 0,
                    best: _mm256_set1_epi32(i32::MIN),
                    clearing: [const { Clearing { rows: [0; LANES], full: [0; LANES], empty: [0; LANES] } };
                        4 * VECTORS],
                    clearing_lanes: 0,
                };
                let mut crooked = zero;
                let mut all_holes = [zero; VECTORS];
                for vector in 0..VECTORS {
                    let (cells, below) = (columns[vector], below[vector]);
                    let holes = without(cells, below);
                    let open = without(below, and(left[vector], right[vector]));
                    let brink = add(below, splat(1));
                    // A plain shaft is a run of bits from the brink up: adding the brink carries through it.
                    crooked = or(crooked, and(open, add(open, brink)));
                    let from_left = without(left_below[vector], right[vector]);
                    let from_right = without(right_below[vector], left[vector]);
                    let rough = and(holes, or(from_left, from_right));
                    if any(rough) {
                        s.rough |= unset(eq(rough, zero)) << (vector * LANES);
                    }
                    all_holes[vector] = holes;
                    let depth = count(open);
                    s.heights.lanes[vector] = heights(below, vector);
                    s.brinks.lanes[vector] = brink;
                    s.solid.lanes[vector] = eq(holes, zero);
                    s.well_depths.lanes[vector] = depth;
                    s.open_wells.lanes[vector] = triangle(depth);
                }
                s.crooked = any(crooked);
                s.hole_rows = union(all_holes);
                if has_steps(EXTRA) {
                    let steps = to_bytes(steps(s.heights.lanes));
                    let mut until = _mm_or_si128(steps, _mm_slli_si128::<1>(steps));
                    until = _mm_or_si128(until, _mm_slli_si128::<2>(until));
                    until = _mm_or_si128(until, _mm_slli_si128::<4>(until));
                    until = _mm_or_si128(until, _mm_slli_si128::<8>(until));
                    let mut from = _mm_or_si128(steps, _mm_srli_si128::<1>(steps));
                    from = _mm_or_si128(from, _mm_srli_si128::<2>(from));
                    from = _mm_or_si128(from, _mm_srli_si128::<4>(from));
                    from = _mm_or_si128(from, _mm_srli_si128::<8>(from));
                    s.steps_until.lanes = from_bytes(until);
                    s.steps_from.lanes = from_bytes(from);
                    if EXTRA == MORE {
                        s.step_counts.lanes = from_bytes(step_counts(steps));
                    }
                }
                s
            }

            /// The best key among all columns of one of [`SHAPES`]. Placements that clear lines are put aside.
            #[inline]
            #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
            fn orientation<const SHAPE: usize, const EXTRA: Extra>(&mut self, weights: &Packed) {
                let positions = const { SHAPES[SHAPE].positions(WIDTH) };
                let mut first = 0;
                while first < positions {
                    self.columns::<SHAPE, EXTRA>(first, weights);
                    first += LANES;
                }
            }

            #[inline]
            #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
            fn columns<const SHAPE: usize, const EXTRA: Extra>(&mut self, first: usize, weights: &Packed) {
                let shape = const { SHAPES[SHAPE] };
                let untouched = const { UNTOUCHED_ROWS[SHAPE] };
                let zero = _mm256_setzero_si256();

                // The landing row as a number and as a bit.
                let mut y = sub(self.heights.at(first, 0), splat(shape.bottom[0] as i32));
                let mut y_bit = down(self.brinks.at(first, 0), shape.bottom[0]);
                for x in 1..shape.width {
                    y = max(y, sub(self.heights.at(first, x as isize), splat(shape.bottom[x] as i32)));
                    y_bit = max(y_bit, down(self.brinks.at(first, x as isize), shape.bottom[x]));
                }

                let mut heights = zero;
                let mut no_gap = zero;
                let mut not_deeper = zero;
                let mut gap_rows = zero;
                let mut wells = zero;
                let (mut deep, mut covered) = (zero, zero);
                for x in 0..shape.width {
                    let height = self.heights.at(first, x as isize);
                    heights = add(heights, height);
                    let flush = eq(height, plus(y, shape.bottom[x]));
                    no_gap = add(no_gap, flush);
                    let solid = and(flush, self.solid.at(first, x as isize));
                    not_deeper = add(not_deeper, times(solid, shape.top[x] - shape.bottom[x]));
                    gap_rows =
                        or(gap_rows, sub(up(y_bit, shape.bottom[x]), self.brinks.at(first, x as isize)));
                    wells = sub(wells, self.open_wells.at(first, x as isize));
                    let depth = self.well_depths.at(first, x as isize);
                    let kept = min(excess(plus(y, untouched[x]), height), depth);
                    wells = add(wells, triangle(kept));
                    if EXTRA == MORE {
                        deep = add(deep, sub(deep_cells(kept), deep_cells(depth)));
                        covered = add(covered, kept);
                    }
                }
                if shape.width == 1 {
                    let above = excess(self.well_depths.at(first, 0), splat(shape.height as i32));
                    wells = add(wells, triangle(above));
                    if EXTRA == MORE {
                        deep = add(deep, deep_cells(above));
                    }
                }
                let holes = sub(times(y, shape.width), heights);
                let new_rows = count(without(self.hole_rows, gap_rows));

                let mut empty = zero;
                let mut full = zero;
                for row in 0..shape.height {
                    let bit = up(y_bit, row);
                    let (left, right) = (shape.left[row] as isize, shape.right[row] as isize);
                    empty = add(empty, eq(and(self.cells.at(first, left - 1), bit), zero));
                    empty = add(empty, eq(and(self.cells.at(first, right), bit), zero));
                    full = or(full, and(bit, self.missing[shape.row_len(row)]));
                    let own_depth = |x: usize| {
                        if x < shape.width && shape.top[x] <= row {
                            Some(row + 1 - shape.top[x])
                        } else {
                            None
                        }
                    };
                    // The cells at both ends: the shape's column there, if it has one, the board's, and the one beyond.
                    let ends = [
                        (shape.left[row].wrapping_sub(1), left - 1, left - 2),
                        (shape.right[row], right, right + 1),
                    ];
                    for (own, at, beyond) in ends {
                        // A row's bit is never less than a depth that ends there: the minimum is the depth where the cell
                        // beyond is full, and 0 where it is empty.
                        let beyond = and(self.cells.at(first, beyond), bit);
                        let depth = match own_depth(own) {
                            Some(depth) => splat(depth as i32),
                            None => excess(plus(y, row + 1), self.heights.at(first, at)),
                        };
                        let well = min(beyond, depth);
                        wells = add(wells, well);
                        if EXTRA == MORE {
                            deep = sub(deep, gt(well, splat(2)));
                            if own < shape.width && shape.bottom[own] > row {
                                covered = sub(covered, gt(well, zero));
                            }
                        }
                    }
                }
                if self.rough != 0 {
                    let [sum, of_deep, of_covered] = covered_wells(self.well, SHAPE, first, self.rough, y);
                    wells = add(wells, sum);
                    if EXTRA == MORE {
                        deep = add(deep, of_deep);
                        covered = add(covered, of_covered);
                    }
                }

                let mut counted_steps = [zero; 4];
                let last = if has_steps(EXTRA) {
                    let mut steps =
                        or(self.steps_until.at(first, -2), self.steps_from.at(first, shape.width as isize));
                    let left = sub(plus(y, shape.top[0]), self.heights.at(first, -1));
                    let top = plus(y, shape.top[shape.width - 1]);
                    let right = sub(self.heights.at(first, shape.width as isize), top);
                    let edges = [step_bit(left), step_bit(right)];
                    steps = or(steps, or(edges[0], edges[1]));
                    let mut own = 0;
                    for x in 1..shape.width {
                        own |= scalar::step_bit(shape.top[x] as i32 - shape.top[x - 1] as i32);
                    }
                    steps = or(steps, splat(own as i32));
                    if EXTRA == MORE {
                        counted_steps = self.counted_steps::<SHAPE>(first, edges, steps);
                    }
                    count_steps(steps)
                } else if EXTRA == TOPS {
                    excess(plus(y, shape.height), splat(max_height(self.cells.lanes)))
                } else {
                    zero
                };

                let mut values = weigh(
                    [
                        (y, holes, weights.pair(0)),
                        (no_gap, empty, weights.pair(1)),
                        (wells, not_deeper, weights.pair(2)),
                        (new_rows, last, weights.pair(3)),
                    ],
                    weights.start(SHAPE),
                );
                if EXTRA == MORE {
                    let [flat, single, flat_occurs, directions] = counted_steps;
                    weigh_more(&mut values, flat, single, [weights.pair(4); WORDS]);
                    weigh_more(&mut values, flat_occurs, directions, [weights.pair(5); WORDS]);
                    weigh_more(&mut values, deep, covered, [weights.pair(6); WORDS]);
                }
                if EXTRA == TOPS {
                    self.weigh_tops::<SHAPE>(&mut values, first, y, &weights.$tops);
                }
                // A lane that reaches into the wall lands up there, and so loses too.
                let loses = gt(y, splat(self.well.height() as i32 - shape.height as i32));
                let no_line = eq(full, zero);
                for (word, (value, alive)) in
                    values.into_iter().zip(widen(without(loses, no_line))).enumerate()
                {
                    let order = memory::_mm256_loadu_si256(&ORDER[SHAPE][first / LANES][word]);
                    let key = _mm256_add_epi32(_mm256_slli_epi32::<6>(value), order);
                    let key = _mm256_blendv_epi8(_mm256_set1_epi32(i32::MIN), key, alive);
                    self.best = _mm256_max_epi32(self.best, key);
                }
                let entry = const { SHAPE - first_turn(SHAPE) } * VECTORS + first / LANES;
                let clearing = &mut self.clearing[entry];
                store(&mut clearing.rows, y);
                store(&mut clearing.full, full);
                store(&mut clearing.empty, empty);
                self.clearing_lanes |= u64::from(unset(or(no_line, loses))) << (entry * LANES);
            }
        }

        /// What placements on rows y add under the tops of the columns beside them: to cumulative wells, to deep ones and
        /// to covered ones.
        #[cold]
        #[target_feature(enable = "avx2")]
        fn covered_wells(well: &Well, shape: usize, first: usize, rough: u32, y: __m256i) -> [__m256i; 3] {
            let mut rows = [0; LANES];
            store(&mut rows, y);
            let mut wells = [0; LANES];
            let lanes = LANES.min(SHAPES[shape].positions(WIDTH) - first);
            for (lane, well_cells) in wells.iter_mut().enumerate().take(lanes) {
                let column = first + lane;
                // The columns from the one left of the piece to the one right of it.
                let reach = ((4 << SHAPES[shape].width) - 1) << column;
                if rough << 1 & reach != 0 {
                    // At most eight cells, none deeper than a well is high.
                    let packed = |depth: u32| (depth | u32::from(depth > 2) << 8 | 1 << 12) as i32;
                    *well_cells =
                        scalar::covered_wells(well, shape, column, rows[lane] as usize, packed) as Cell;
                }
            }
            let wells = load(&wells);
            [and(wells, splat(0xff)), and(shr::<8>(wells), splat(0xf)), shr::<12>(wells)]
        }
    };
}
pub(super) use surface;
