//! The closed forms on vectors, written once for both lane widths.

/// Makes the engine for one lane width, in the module that calls it.
macro_rules! surface {
    ($lanes:ident) => {
        use core::arch::x86_64::*;

        use safe_unaligned_simd::x86_64 as memory;

        use super::$lanes::*;
        use super::{ERODED, Packed, UNTOUCHED_ROWS, WALL_HEIGHT, key, key_order};
        use crate::engine::scalar;
        use crate::piece::{MAX_EXTENT, NUM_SHAPES, Piece, SHAPES};
        use crate::well::{WIDTH, Well};

        /// Before the first column: the walls that a piece's left neighbours read.
        const PAD: usize = 2;
        /// Enough for a load at the last column, and a whole number of cache lines: a load never crosses from one to
        /// the next in 16-bit lanes.
        const ROW: usize = 32;

        /// All ones in the lanes that are no position of the shape.
        static OUTSIDE: [[[Cell; LANES]; VECTORS]; NUM_SHAPES] = {
            let mut outside = [[[!0; LANES]; VECTORS]; NUM_SHAPES];
            let mut shape = 0;
            while shape < NUM_SHAPES {
                let mut column = 0;
                while column < SHAPES[shape].positions(WIDTH) {
                    outside[shape][column / LANES][column % LANES] = 0;
                    column += 1;
                }
                shape += 1;
            }
            outside
        };

        /// The lower bits of each position's key, in the order of [`weigh`].
        static ORDER: [[[[u32; 8]; WORDS]; VECTORS]; NUM_SHAPES] = {
            let mut order = [[[[0; 8]; WORDS]; VECTORS]; NUM_SHAPES];
            let mut shape = 0;
            while shape < NUM_SHAPES {
                let mut column = 0;
                while column < SHAPES[shape].positions(WIDTH) {
                    let (word, element) = word_of(column % LANES);
                    order[shape][column / LANES][word][element] = key_order(shape, column) as u32;
                    column += 1;
                }
                shape += 1;
            }
            order
        };

        /// The cells of each shape on the floor; loaded from WIDTH - column on, the piece stands in that column.
        static PIECES: [[Cell; WIDTH + VECTORS * LANES]; NUM_SHAPES] = {
            let mut pieces = [[0; WIDTH + VECTORS * LANES]; NUM_SHAPES];
            let mut shape = 0;
            while shape < NUM_SHAPES {
                let mut x = 0;
                while x < SHAPES[shape].width {
                    pieces[shape][WIDTH + x] = SHAPES[shape].cells[x] as Cell;
                    x += 1;
                }
                shape += 1;
            }
            pieces
        };

        /// A number for each column, with walls on both sides.
        #[repr(align(64))]
        struct Row([Cell; ROW]);

        #[inline]
        #[target_feature(enable = "avx2")]
        fn at(row: &Row, index: usize) -> __m256i {
            load(row.0[index..].first_chunk().expect("within the row"))
        }

        #[inline]
        #[target_feature(enable = "avx2")]
        fn put(row: &mut Row, index: usize, v: __m256i) {
            store(row.0[index..].first_chunk_mut().expect("within the row"), v)
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

        /// The steps from each column to the next as bits.
        #[inline]
        #[target_feature(enable = "avx2")]
        fn steps(heights: [__m256i; VECTORS]) -> [__m256i; VECTORS] {
            let (mut steps, walls) = (right(heights), walls());
            for vector in 0..VECTORS {
                // Between two walls there is no step.
                let step = step_bit(sub(steps[vector], heights[vector]));
                steps[vector] = without(walls[vector], step);
            }
            steps
        }

        #[inline]
        #[target_feature(enable = "avx2")]
        fn any(v: __m256i) -> bool {
            _mm256_testz_si256(v, v) == 0
        }

        /// The board, made ready for every placement on it.
        pub(super) struct Surface<'a> {
            well: &'a Well,
            columns: [__m256i; VECTORS],
            cells: Row,
            heights: Row,
            /// The height as a bit: 1 << height.
            brinks: Row,
            /// All ones where the column has no hole.
            solid: Row,
            /// How deep the column's open well is, and what it adds to cumulative wells.
            well_depths: Row,
            open_wells: Row,
            steps_before: Row,
            steps_from: Row,
            /// Rows with a hole, in every lane.
            hole_rows: __m256i,
            /// Rows with exactly this many empty cells, for 1 to 4, in every lane.
            missing: [__m256i; MAX_EXTENT + 1],
            /// Columns, as bits, with a hole that a piece can land beside and that has a full cell on its other side.
            rough: u32,
            /// The worth of the board as it stands, once it was needed.
            standing: Option<i32>,
            /// The best keys so far: one for each lane, and of the placements that clear lines.
            best: __m256i,
            best_cleared: i32,
        }

        /// The key of the best placement, `i32::MIN` if all lose; none where the lanes cannot tell.
        #[inline]
        #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
        pub(super) fn best<const STEPS: bool>(well: &Well, piece: Piece, weights: &Packed) -> Option<i32> {
            let mut s = Surface::new::<STEPS>(well)?;
            each_shape!(piece, SHAPE, s.orientation::<SHAPE, STEPS>(weights));
            let lanes = s.best;
            let half = _mm_max_epi32(_mm256_castsi256_si128(lanes), _mm256_extracti128_si256::<1>(lanes));
            let half = _mm_max_epi32(half, _mm_shuffle_epi32::<0b01_00_11_10>(half));
            let half = _mm_max_epi32(half, _mm_shuffle_epi32::<0b10_11_00_01>(half));
            Some(_mm_cvtsi128_si32(half).max(s.best_cleared))
        }

        impl<'a> Surface<'a> {
            /// None where the open wells are not plain shafts; the scalar engine takes such a board.
            #[inline]
            #[target_feature(enable = "avx2")]
            pub(super) fn new<const STEPS: bool>(well: &'a Well) -> Option<Self> {
                let mut s = Surface {
                    missing: [_mm256_setzero_si256(); MAX_EXTENT + 1],
                    columns: columns(well.columns()),
                    well,
                    cells: Row([!0; ROW]),
                    heights: Row([WALL_HEIGHT as Cell; ROW]),
                    brinks: Row([0; ROW]),
                    solid: Row([0; ROW]),
                    well_depths: Row([0; ROW]),
                    open_wells: Row([0; ROW]),
                    steps_before: Row([0; ROW]),
                    steps_from: Row([0; ROW]),
                    hole_rows: _mm256_setzero_si256(),
                    rough: 0,
                    standing: None,
                    best: _mm256_set1_epi32(i32::MIN),
                    best_cleared: i32::MIN,
                };
                let below = s.columns.map(|cells| smear(cells));
                let (left_below, right_below) = (left(below), right(below));
                let (left, right) = (left(s.columns), right(s.columns));
                let zero = _mm256_setzero_si256();
                let (mut crooked, mut rough) = (zero, [zero; VECTORS]);
                let mut all_holes = [zero; VECTORS];
                let mut all_heights = [zero; VECTORS];
                for vector in 0..VECTORS {
                    let i = PAD + vector * LANES;
                    let cells = s.columns[vector];
                    let below = below[vector];
                    let holes = without(cells, below);
                    let open = without(below, and(left[vector], right[vector]));
                    let brink = add(below, splat(1));
                    // A plain shaft is a run of bits from the brink up: adding the brink carries through it.
                    crooked = or(crooked, and(open, add(open, brink)));
                    let from_left = without(left_below[vector], right[vector]);
                    let from_right = without(right_below[vector], left[vector]);
                    rough[vector] = and(holes, or(from_left, from_right));
                    all_holes[vector] = holes;
                    // A wall's own height does not matter, if only it is far above.
                    let heights = or(count(below), and(walls()[vector], splat(i32::from(WALL_HEIGHT))));
                    all_heights[vector] = heights;
                    let depth = count(open);
                    put(&mut s.cells, i, cells);
                    put(&mut s.heights, i, heights);
                    put(&mut s.brinks, i, brink);
                    put(&mut s.solid, i, eq(holes, zero));
                    put(&mut s.well_depths, i, depth);
                    put(&mut s.open_wells, i, triangle(depth));
                }
                if any(crooked) {
                    return None;
                }
                if any(union(rough)) {
                    for (vector, rough) in rough.into_iter().enumerate() {
                        s.rough |= nonzero(rough) << (vector * LANES);
                    }
                }
                s.hole_rows = union(all_holes);
                s.missing = missing(s.columns);
                if STEPS {
                    let steps = to_bytes(steps(all_heights));
                    let mut before = _mm_or_si128(steps, _mm_slli_si128::<1>(steps));
                    before = _mm_or_si128(before, _mm_slli_si128::<2>(before));
                    before = _mm_or_si128(before, _mm_slli_si128::<4>(before));
                    before = _mm_or_si128(before, _mm_slli_si128::<8>(before));
                    let mut from = _mm_or_si128(steps, _mm_srli_si128::<1>(steps));
                    from = _mm_or_si128(from, _mm_srli_si128::<2>(from));
                    from = _mm_or_si128(from, _mm_srli_si128::<4>(from));
                    from = _mm_or_si128(from, _mm_srli_si128::<8>(from));
                    let (before, from) = (from_bytes(before), from_bytes(from));
                    for vector in 0..VECTORS {
                        let i = PAD + vector * LANES;
                        // The last step before a column is the one between the two columns left of it.
                        put(&mut s.steps_before, i + 2, before[vector]);
                        put(&mut s.steps_from, i, from[vector]);
                    }
                }
                Some(s)
            }

            /// The best key among all columns of one of [`SHAPES`], joined with `best`; placements that clear lines
            /// are counted apart and joined with `cleared_best`.
            #[inline]
            #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
            pub(super) fn orientation<const SHAPE: usize, const STEPS: bool>(&mut self, weights: &Packed) {
                let positions = const { SHAPES[SHAPE].positions(WIDTH) };
                let mut first = 0;
                while first < positions {
                    self.columns::<SHAPE, STEPS>(first, weights);
                    first += LANES;
                }
            }

            #[inline]
            #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
            fn columns<const SHAPE: usize, const STEPS: bool>(&mut self, first: usize, weights: &Packed) {
                let shape = const { SHAPES[SHAPE] };
                let untouched = const { UNTOUCHED_ROWS[SHAPE] };
                let i = PAD + first;
                let zero = _mm256_setzero_si256();

                // The landing row as a number and as a bit.
                let mut y = sub(at(&self.heights, i), splat(shape.bottom[0] as i32));
                let mut y_bit = down(at(&self.brinks, i), shape.bottom[0]);
                for x in 1..shape.width {
                    y = max(y, sub(at(&self.heights, i + x), splat(shape.bottom[x] as i32)));
                    y_bit = max(y_bit, down(at(&self.brinks, i + x), shape.bottom[x]));
                }

                let mut heights = zero;
                let mut no_gap = zero;
                let mut not_deeper = zero;
                let mut gap_rows = zero;
                let mut wells = zero;
                for x in 0..shape.width {
                    let height = at(&self.heights, i + x);
                    heights = add(heights, height);
                    let flush = eq(height, plus(y, shape.bottom[x]));
                    no_gap = add(no_gap, flush);
                    let solid = and(flush, at(&self.solid, i + x));
                    not_deeper = add(not_deeper, times(solid, shape.top[x] - shape.bottom[x]));
                    gap_rows = or(gap_rows, sub(up(y_bit, shape.bottom[x]), at(&self.brinks, i + x)));
                    wells = sub(wells, at(&self.open_wells, i + x));
                    let kept = excess(plus(y, untouched[x]), height);
                    wells = add(wells, triangle(min(kept, at(&self.well_depths, i + x))));
                }
                if shape.width == 1 {
                    let above = excess(at(&self.well_depths, i), splat(shape.height as i32));
                    wells = add(wells, triangle(above));
                }
                let holes = sub(times(y, shape.width), heights);
                let new_rows = count(without(self.hole_rows, gap_rows));

                let mut empty = zero;
                let mut full = zero;
                for row in 0..shape.height {
                    let bit = up(y_bit, row);
                    let (left, right) = (i + shape.left[row], i + shape.right[row]);
                    empty = add(empty, eq(and(at(&self.cells, left - 1), bit), zero));
                    empty = add(empty, eq(and(at(&self.cells, right), bit), zero));
                    full = or(full, and(bit, self.missing[shape.row_len(row)]));
                    let own_depth = |x: usize| {
                        if x < shape.width && shape.top[x] <= row {
                            Some(row + 1 - shape.top[x])
                        } else {
                            None
                        }
                    };
                    let beyond = eq(and(at(&self.cells, left - 2), bit), zero);
                    let depth = match own_depth(shape.left[row].wrapping_sub(1)) {
                        Some(depth) => splat(depth as i32),
                        None => excess(plus(y, row + 1), at(&self.heights, left - 1)),
                    };
                    wells = add(wells, without(beyond, depth));
                    let beyond = eq(and(at(&self.cells, right + 1), bit), zero);
                    let depth = match own_depth(shape.right[row]) {
                        Some(depth) => splat(depth as i32),
                        None => excess(plus(y, row + 1), at(&self.heights, right)),
                    };
                    wells = add(wells, without(beyond, depth));
                }
                if self.rough != 0 {
                    let mut rows = [0; LANES];
                    store(&mut rows, y);
                    let mut more = [0; LANES];
                    for lane in 0..LANES.min(shape.positions(WIDTH) - first) {
                        // The columns from the one left of the piece to the one right of it.
                        let reach = ((4 << shape.width) - 1) << (first + lane);
                        if self.rough << 1 & reach != 0 {
                            let y = rows[lane] as usize;
                            more[lane] = scalar::covered_wells(self.well, SHAPE, first + lane, y) as Cell;
                        }
                    }
                    wells = add(wells, load(&more));
                }

                let steps = if STEPS {
                    let mut steps = or(at(&self.steps_before, i), at(&self.steps_from, i + shape.width));
                    let left = sub(plus(y, shape.top[0]), at(&self.heights, i - 1));
                    let top = plus(y, shape.top[shape.width - 1]);
                    let right = sub(at(&self.heights, i + shape.width), top);
                    steps = or(steps, or(step_bit(left), step_bit(right)));
                    let mut own = 0;
                    for x in 1..shape.width {
                        own |= scalar::step_bit(shape.top[x] as i32 - shape.top[x - 1] as i32);
                    }
                    count_steps(or(steps, splat(own as i32)))
                } else {
                    zero
                };

                let values = weigh(
                    [
                        (y, holes, weights.pair(0)),
                        (no_gap, empty, weights.pair(1)),
                        (wells, not_deeper, weights.pair(2)),
                        (new_rows, steps, weights.pair(3)),
                    ],
                    weights.start(SHAPE),
                );
                let highest = self.well.height() as i32 - shape.height as i32;
                let loses = gt(y, splat(highest));
                let out = or(loses, load(&OUTSIDE[SHAPE][first / LANES]));
                let clears = without(out, full);
                let dead = or(out, gt(clears, zero));
                for (word, (value, dead)) in values.into_iter().zip(widen(dead)).enumerate() {
                    let order = memory::_mm256_loadu_si256(&ORDER[SHAPE][first / LANES][word]);
                    let key = _mm256_add_epi32(_mm256_slli_epi32::<6>(value), order);
                    self.best = _mm256_max_epi32(
                        self.best,
                        _mm256_blendv_epi8(key, _mm256_set1_epi32(i32::MIN), dead),
                    );
                }
                let mut lanes = nonzero(clears);
                if lanes != 0 {
                    let mut rows = [0; LANES];
                    store(&mut rows, y);
                    let mut lines = [0; LANES];
                    store(&mut lines, full);
                    while lanes != 0 {
                        let lane = lanes.trailing_zeros() as usize;
                        lanes &= lanes - 1;
                        let (row, full) = (u32::from(rows[lane]), u32::from(lines[lane]));
                        let standing = match self.standing {
                            Some(standing) => standing,
                            None => *self.standing.insert(standing::<false>(self.columns, weights)),
                        };
                        let column = first + lane;
                        let value =
                            cleared::<STEPS>(self.columns, weights, SHAPE, column, row, full) - standing;
                        self.best_cleared = self.best_cleared.max(key(value, SHAPE, column));
                    }
                }
            }
        }

        /// What a placement on row y that fills these rows is worth with the board it leaves, which is made and counted.
        #[inline(never)]
        #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
        fn cleared<const STEPS: bool>(
            mut columns: [__m256i; VECTORS],
            weights: &Packed,
            shape: usize,
            column: usize,
            y: u32,
            full: u32,
        ) -> i32 {
            for (vector, cells) in columns.iter_mut().enumerate() {
                let from = WIDTH + vector * LANES - column;
                let piece = load(PIECES[shape][from..].first_chunk().expect("within the row"));
                *cells = or(*cells, raise(piece, y));
            }
            let mut rows = full;
            while rows != 0 {
                let highest = rows.ilog2();
                let below = splat((1 << highest) - 1);
                for cells in &mut columns {
                    *cells = or(and(*cells, below), without(below, shr::<1>(*cells)));
                }
                rows ^= 1 << highest;
            }
            for (cells, wall) in columns.iter_mut().zip(walls()) {
                *cells = or(*cells, wall);
            }
            let eroded = i32::from(ERODED[shape][(full >> y) as usize & 15]);
            weights.eroded_cells * eroded + weights.landing(shape, y) + standing::<STEPS>(columns, weights)
        }

        /// The worth of a board as it stands, less a constant; with the steps if so asked.
        #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
        fn standing<const STEPS: bool>(columns: [__m256i; VECTORS], weights: &Packed) -> i32 {
            let zero = _mm256_setzero_si256();
            let weigh = |counts, weight: i16| _mm256_madd_epi16(counts, _mm256_set1_epi16(weight));
            let (left, right) = (left(columns), right(columns));
            let (mut value, mut crooked, mut covered) = (zero, zero, zero);
            let mut all_holes = [zero; VECTORS];
            let mut all_heights = [zero; VECTORS];
            for vector in 0..VECTORS {
                let cells = columns[vector];
                let below = smear(cells);
                let holes = without(cells, below);
                all_holes[vector] = holes;
                let between = and(left[vector], right[vector]);
                let open = without(below, between);
                crooked = or(crooked, and(open, add(open, add(below, splat(1)))));
                covered = or(covered, and(holes, between));
                let row_changes = count(_mm256_xor_si256(cells, left[vector]));
                let column_changes = count(_mm256_xor_si256(cells, or(add(cells, cells), splat(1))));
                let lowest_empty = without(cells, add(cells, splat(1)));
                let buried = and(cells, sub(zero, lowest_empty));
                let mut sum = weigh(row_changes, weights.standing[0]);
                sum = _mm256_add_epi32(sum, weigh(column_changes, weights.standing[1]));
                sum = _mm256_add_epi32(sum, weigh(count(holes), weights.standing[2]));
                sum = _mm256_add_epi32(sum, weigh(triangle(count(open)), weights.standing[3]));
                sum = _mm256_add_epi32(sum, weigh(count(buried), weights.standing[4]));
                value = _mm256_add_epi32(value, sum);
                if STEPS {
                    all_heights[vector] =
                        or(count(below), and(walls()[vector], splat(i32::from(WALL_HEIGHT))));
                }
            }
            let half = _mm_add_epi32(_mm256_castsi256_si128(value), _mm256_extracti128_si256::<1>(value));
            let half = _mm_add_epi32(half, _mm_shuffle_epi32::<0b01_00_11_10>(half));
            let half = _mm_add_epi32(half, _mm_shuffle_epi32::<0b10_11_00_01>(half));
            let mut value = _mm_cvtsi128_si32(half);
            if any(or(crooked, covered)) {
                value += i32::from(weights.standing[3]) * uneven_wells(columns);
            }
            let hole_rows = _mm256_cvtsi256_si32(union(all_holes)) as Cell;
            value += i32::from(weights.standing[5]) * hole_rows.count_ones() as i32;
            if STEPS {
                let steps = _mm256_cvtsi256_si32(union(steps(all_heights))) as Cell;
                value += i32::from(weights.standing[6]) * steps.count_ones() as i32;
            }
            value
        }

        /// What cumulative wells have over the sum of plain shafts.
        #[cold]
        #[target_feature(enable = "avx2")]
        fn uneven_wells(columns: [__m256i; VECTORS]) -> i32 {
            let (left, right) = (left(columns), right(columns));
            let mut sum = _mm256_setzero_si256();
            for vector in 0..VECTORS {
                let empty = without(columns[vector], splat(-1));
                let between = and(left[vector], right[vector]);
                let open = without(smear(columns[vector]), between);
                sum = sub(sum, triangle(count(open)));
                let mut deep = and(between, empty);
                let mut reach = empty;
                while any(deep) {
                    sum = add(sum, count(deep));
                    reach = and(empty, shl::<1>(reach));
                    deep = and(deep, reach);
                }
            }
            let mut lanes = [0; LANES];
            store(&mut lanes, sum);
            lanes.iter().map(|&lane| i32::from(lane as i16)).sum()
        }
    };
}
pub(super) use surface;
