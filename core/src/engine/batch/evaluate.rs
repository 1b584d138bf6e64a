//! One piece on many boards: what every placement changes, counted in the columns that it touches.

/// Fills a module with the evaluation on one kind of lanes.
macro_rules! evaluate {
    ($lanes:ident) => {
        use core::arch::x86_64::*;

        use super::super::Board;
        use super::super::vector::KEY_ORDER;
        use super::$lanes::*;
        use super::{
            COLUMN_TRANSITIONS_AND_HOLES, CS3243, DROPWISE, HOLE_DEPTH_AND_WELLS, HOLE_ROWS_AND_DIVERSITY,
            Kind, LANDING_AND_ROW_TRANSITIONS, OCCURRING, OUTER_AND_INNER_WELLS, PAIRS, Packed, Players,
            SHAPE_HEIGHT, STEPS, WALL, WELLS, piles,
        };
        use crate::piece::{MAX_EXTENT, Piece, SHAPES, Shape};
        use crate::well::{MAX_HEIGHT, WIDTH};

        const PADDED: usize = WIDTH + 2 * WALL;
        /// So high that no step to a wall is counted.
        const WALL_HEIGHT: Cell = 100;

        type Words = [__m512i; WORDS];

        /// Boards side by side: the cells of each column, a lane a board.
        pub(super) struct Boards {
            pub(super) columns: [[Cell; LANES]; WIDTH],
            /// Rows of each board.
            pub(super) brims: [Cell; LANES],
        }

        impl Boards {
            /// At most as many boards as there are lanes; lanes without one are empty.
            #[target_feature(enable = "avx512f,avx512dq")]
            pub(super) fn new<'b>(boards: impl Iterator<Item = Board<'b>> + Clone) -> Boards {
                let mut piles = [0; LANES];
                for (pile, board) in piles.iter_mut().zip(boards.clone()) {
                    if let Board::Low(low) = board {
                        *pile = low.bits();
                    }
                }
                let columns = piles::columns(&piles).map(|column| column.map(Cell::from));
                let mut all = Boards { columns, brims: [MAX_HEIGHT as Cell; LANES] };
                for (lane, board) in boards.enumerate().take(LANES) {
                    if let Board::Well(well) = board {
                        all.brims[lane] = well.height() as Cell;
                        for (column, &cells) in all.columns.iter_mut().zip(well.columns()) {
                            column[lane] = cells as Cell;
                        }
                    }
                }
                all
            }
        }

        /// The weights that each lane goes by, in the order of the words that [`weigh`] gives.
        pub(super) struct LaneWeights {
            pairs: [[[i32; LANES / WORDS]; WORDS]; PAIRS],
        }

        impl LaneWeights {
            fn new<'w>(lanes: impl Iterator<Item = &'w Packed>) -> LaneWeights {
                let mut weights = LaneWeights { pairs: [[[0; LANES / WORDS]; WORDS]; PAIRS] };
                for (lane, packed) in lanes.enumerate().take(LANES) {
                    let (register, word) = word_of(lane);
                    for (pairs, &pair) in weights.pairs.iter_mut().zip(&packed.pairs) {
                        pairs[register][word] = pair;
                    }
                }
                weights
            }

            /// All lanes go by the same.
            fn of_one(packed: &Packed) -> LaneWeights {
                LaneWeights { pairs: packed.pairs.map(|pair| [[pair; LANES / WORDS]; WORDS]) }
            }

            #[inline]
            #[target_feature(enable = "avx512f,avx512bw,avx512bitalg,avx512vbmi2,avx512vnni,avx512vpopcntdq")]
            fn pair(&self, number: usize) -> Words {
                load_words(&self.pairs[number])
            }
        }

        /// The boards, made ready for every placement on them.
        struct Field {
            /// Indexed by column plus [`WALL`], as all that is padded.
            columns: [__m512i; PADDED],
            /// Three times as high as they are, for the [steps](step).
            heights: [__m512i; PADDED],
            /// The cells below the top.
            below: [__m512i; PADDED],
            depths: [Depths; PADDED],
            /// A bit on the row above the top, and the same one and two rows lower.
            tops: [[__m512i; WIDTH]; 3],
            /// What the columns before this one, or from it on, have in common: full rows, rows with a hole, steps.
            before: [Common; WIDTH + 1],
            from: [Common; WIDTH + 1],
            /// The worth that a shape so wide, less one, takes away with the columns it lands on; and that of all.
            leaves: [[Words; WIDTH]; MAX_EXTENT],
            standing: Words,
        }

        #[derive(Clone, Copy)]
        struct Common {
            full: __m512i,
            holes: __m512i,
            steps: __m512i,
        }

        /// For each cell, how many empty ones there are from it downward.
        #[derive(Clone, Copy)]
        struct Depths {
            digits: [__m512i; DIGITS],
            /// At least three.
            third: __m512i,
            /// Too many for the digits.
            deep: __m512i,
        }

        /// Counts of well cells, by the digits of their depths.
        struct Wells {
            digits: [__m512i; DIGITS],
            third: __m512i,
            covered: __m512i,
            /// Those of the covered ones, where they are counted apart: the others are the open ones then.
            inner: [__m512i; DIGITS],
            deep: __m512i,
        }

        /// What is counted column by column.
        #[derive(Clone, Copy)]
        struct Counts {
            transitions: __m512i,
            holes: __m512i,
            buried: __m512i,
        }

        #[inline]
        #[target_feature(enable = "avx512f,avx512bw,avx512bitalg,avx512vbmi2,avx512vnni,avx512vpopcntdq")]
        fn and(a: __m512i, b: __m512i) -> __m512i {
            _mm512_and_si512(a, b)
        }

        #[inline]
        #[target_feature(enable = "avx512f,avx512bw,avx512bitalg,avx512vbmi2,avx512vnni,avx512vpopcntdq")]
        fn or(a: __m512i, b: __m512i) -> __m512i {
            _mm512_or_si512(a, b)
        }

        #[inline]
        #[target_feature(enable = "avx512f,avx512bw,avx512bitalg,avx512vbmi2,avx512vnni,avx512vpopcntdq")]
        fn xor(a: __m512i, b: __m512i) -> __m512i {
            _mm512_xor_si512(a, b)
        }

        /// What the second has and the first has not.
        #[inline]
        #[target_feature(enable = "avx512f,avx512bw,avx512bitalg,avx512vbmi2,avx512vnni,avx512vpopcntdq")]
        fn without(a: __m512i, b: __m512i) -> __m512i {
            _mm512_andnot_si512(a, b)
        }

        /// Shifted up by so many rows, which the compiler knows.
        #[inline]
        #[target_feature(enable = "avx512f,avx512bw,avx512bitalg,avx512vbmi2,avx512vnni,avx512vpopcntdq")]
        fn up(v: __m512i, rows: usize) -> __m512i {
            match rows {
                0 => v,
                1 => shl::<1>(v),
                2 => shl::<2>(v),
                3 => shl::<3>(v),
                _ => shl::<4>(v),
            }
        }

        impl Depths {
            #[inline]
            #[target_feature(enable = "avx512f,avx512bw,avx512bitalg,avx512vbmi2,avx512vnni,avx512vpopcntdq")]
            fn none() -> Depths {
                let zero = _mm512_setzero_si512();
                Depths { digits: [zero; DIGITS], third: zero, deep: zero }
            }

            #[inline]
            #[target_feature(enable = "avx512f,avx512bw,avx512bitalg,avx512vbmi2,avx512vnni,avx512vpopcntdq")]
            fn of(cells: __m512i) -> Depths {
                let empty = without(cells, splat(Cell::MAX));
                // Those with at least one, two, three... empty cells: each is part of the one before.
                let mut least = [empty; 1 << DIGITS];
                for k in 1..1 << DIGITS {
                    least[k] = and(empty, shl::<1>(least[k - 1]));
                }
                let mut digits = [least[0]; DIGITS];
                for (digit, cells) in digits.iter_mut().enumerate() {
                    *cells = least[(1 << digit) - 1];
                    for k in 2..=1 << (DIGITS - digit) {
                        *cells = xor(*cells, least[(k << digit) - 1]);
                    }
                }
                Depths { digits, third: least[2], deep: least[(1 << DIGITS) - 1] }
            }

            /// These below the mask, and from the row of the bit `floor` on those of an empty column above it.
            #[inline]
            #[target_feature(enable = "avx512f,avx512bw,avx512bitalg,avx512vbmi2,avx512vnni,avx512vpopcntdq")]
            fn split(&self, below: __m512i, floor: Option<__m512i>) -> Depths {
                let digits = [0x5555_5555, 0x6666_6666, 0x7878_7878, 0x7f80_7f80];
                let mut depths = *self;
                for (digit, cells) in depths.digits.iter_mut().enumerate() {
                    *cells = and(*cells, below);
                    if let Some(floor) = floor {
                        *cells = or(*cells, times(splat(digits[digit] as Cell), floor));
                    }
                }
                depths.third = and(depths.third, below);
                depths.deep = and(depths.deep, below);
                if let Some(floor) = floor {
                    let least = |cells: u32| times(splat(!(cells - 1) as Cell), floor);
                    depths.third = or(depths.third, least(1 << 2));
                    depths.deep = or(depths.deep, least(1 << ((1 << DIGITS) - 1)));
                }
                depths
            }
        }

        impl Wells {
            #[inline]
            #[target_feature(enable = "avx512f,avx512bw,avx512bitalg,avx512vbmi2,avx512vnni,avx512vpopcntdq")]
            fn none() -> Wells {
                let zero = _mm512_setzero_si512();
                Wells {
                    digits: [zero; DIGITS],
                    third: zero,
                    covered: zero,
                    inner: [zero; DIGITS],
                    deep: zero,
                }
            }

            /// Adds the well cells of a column, some of them covered.
            #[inline]
            #[target_feature(enable = "avx512f,avx512bw,avx512bitalg,avx512vbmi2,avx512vnni,avx512vpopcntdq")]
            fn add<const KIND: Kind>(&mut self, cells: __m512i, depths: &Depths, covered: __m512i) {
                let open = if KIND == CS3243 { without(covered, cells) } else { cells };
                for (sum, &digit) in self.digits.iter_mut().zip(&depths.digits) {
                    *sum = add(*sum, count(and(open, digit)));
                }
                self.deep = or(self.deep, and(cells, depths.deep));
                if KIND == CS3243 {
                    self.add_inner(and(cells, covered), depths);
                }
                if KIND == DROPWISE {
                    self.third = add(self.third, count(and(cells, depths.third)));
                    self.covered = add(self.covered, count(and(cells, covered)));
                }
            }

            /// Adds the well cells of a column, all of them covered, apart from the open ones.
            #[inline]
            #[target_feature(enable = "avx512f,avx512bw,avx512bitalg,avx512vbmi2,avx512vnni,avx512vpopcntdq")]
            fn add_inner(&mut self, cells: __m512i, depths: &Depths) {
                for (sum, &digit) in self.inner.iter_mut().zip(&depths.digits) {
                    *sum = add(*sum, count(and(cells, digit)));
                }
                self.deep = or(self.deep, and(cells, depths.deep));
            }

            /// Cumulative wells; only the open ones, where the covered ones are counted apart.
            #[inline]
            #[target_feature(enable = "avx512f,avx512bw,avx512bitalg,avx512vbmi2,avx512vnni,avx512vpopcntdq")]
            fn sum(&self) -> __m512i {
                sum_of(&self.digits)
            }
        }

        /// The sum of numbers, by how many of them have each digit.
        #[inline]
        #[target_feature(enable = "avx512f,avx512bw,avx512bitalg,avx512vbmi2,avx512vnni,avx512vpopcntdq")]
        fn sum_of(digits: &[__m512i; DIGITS]) -> __m512i {
            let mut sum = digits[DIGITS - 1];
            for digit in (0..DIGITS - 1).rev() {
                sum = add(add(sum, sum), digits[digit]);
            }
            sum
        }

        /// The counts of a column and of its holes. `inside` is where changes in the column count, if not everywhere.
        #[inline]
        #[target_feature(enable = "avx512f,avx512bw,avx512bitalg,avx512vbmi2,avx512vnni,avx512vpopcntdq")]
        fn counts(cells: __m512i, holes: __m512i, inside: Option<__m512i>) -> Counts {
            let changes = xor(cells, or(add(cells, cells), splat(1)));
            Counts {
                transitions: count(inside.map_or(changes, |rows| and(changes, rows))),
                holes: count(holes),
                buried: count(and(cells, add(cells, splat(1)))),
            }
        }

        /// For [`counts`]: the sets that look at the brim do not count the change there.
        #[inline]
        #[target_feature(enable = "avx512f,avx512bw,avx512bitalg,avx512vbmi2,avx512vnni,avx512vpopcntdq")]
        fn inside<const KIND: Kind>(brims: __m512i) -> Option<__m512i> {
            if KIND == CS3243 { Some(without(raise(splat(1), brims), splat(Cell::MAX))) } else { None }
        }

        /// A step between neighbouring columns as one in five counters of three bits, for steps of -2 to 2. The heights
        /// are given three times as high as they are.
        #[inline]
        #[target_feature(enable = "avx512f,avx512bw,avx512bitalg,avx512vbmi2,avx512vnni,avx512vpopcntdq")]
        fn step(from: __m512i, to: __m512i) -> __m512i {
            raise(splat(1), add(sub(to, from), splat(6)))
        }

        /// The same for a step that the compiler knows.
        const fn known_step(step: isize) -> Cell {
            if step.unsigned_abs() <= 2 { 1 << (3 * step + 6) } else { 0 }
        }

        /// The lowest bit of each counter that is not zero.
        #[inline]
        #[target_feature(enable = "avx512f,avx512bw,avx512bitalg,avx512vbmi2,avx512vnni,avx512vpopcntdq")]
        fn occurring(steps: __m512i) -> __m512i {
            and(or(steps, or(shr::<1>(steps), shr::<2>(steps))), splat(ONE_EACH))
        }

        /// The lowest bits of the five counters; those of no step, and of a step of one either way.
        const ONE_EACH: Cell = 0o11111;
        const FLAT: Cell = 0o00100;
        const SINGLE: Cell = 0o01010;

        /// How many steps are flat, and how many go one up or down.
        #[inline]
        #[target_feature(enable = "avx512f,avx512bw,avx512bitalg,avx512vbmi2,avx512vnni,avx512vpopcntdq")]
        fn flat_and_single(steps: __m512i) -> [__m512i; 2] {
            let seven = splat(7);
            let single = add(and(shr::<3>(steps), seven), and(shr::<9>(steps), seven));
            [and(shr::<6>(steps), seven), single]
        }

        /// What steps are worth for occurring at all.
        #[inline]
        #[target_feature(enable = "avx512f,avx512bw,avx512bitalg,avx512vbmi2,avx512vnni,avx512vpopcntdq")]
        fn weigh_occurring<const KIND: Kind>(
            sum: Words,
            occurring: __m512i,
            hole_rows: __m512i,
            weights: &LaneWeights,
        ) -> Words {
            let sum = weigh(sum, count(hole_rows), count(occurring), weights.pair(HOLE_ROWS_AND_DIVERSITY));
            if KIND != DROPWISE {
                return sum;
            }
            let flat = count(and(occurring, splat(FLAT)));
            let single = count(and(occurring, splat(SINGLE)));
            weigh(sum, flat, single, weights.pair(OCCURRING))
        }

        #[inline]
        #[target_feature(enable = "avx512f,avx512bw,avx512bitalg,avx512vbmi2,avx512vnni,avx512vpopcntdq")]
        fn plus(a: Words, b: Words) -> Words {
            let mut sum = a;
            for (sum, b) in sum.iter_mut().zip(b) {
                *sum = _mm512_add_epi32(*sum, b);
            }
            sum
        }

        #[inline]
        #[target_feature(enable = "avx512f,avx512bw,avx512bitalg,avx512vbmi2,avx512vnni,avx512vpopcntdq")]
        fn minus(a: Words, b: Words) -> Words {
            let mut difference = a;
            for (difference, b) in difference.iter_mut().zip(b) {
                *difference = _mm512_sub_epi32(*difference, b);
            }
            difference
        }

        impl Field {
            #[inline]
            #[target_feature(enable = "avx512f,avx512bw,avx512bitalg,avx512vbmi2,avx512vnni,avx512vpopcntdq")]
            fn empty() -> Field {
                let zero = _mm512_setzero_si512();
                let common = Common { full: zero, holes: zero, steps: zero };
                Field {
                    columns: [splat(Cell::MAX); PADDED],
                    heights: [splat(3 * WALL_HEIGHT); PADDED],
                    depths: [Depths::none(); PADDED],
                    below: [splat(Cell::MAX); PADDED],
                    tops: [[zero; WIDTH]; 3],
                    before: [common; WIDTH + 1],
                    from: [common; WIDTH + 1],
                    leaves: [[[zero; WORDS]; WIDTH]; MAX_EXTENT],
                    standing: [zero; WORDS],
                }
            }

            /// Makes the boards ready for shapes of these widths. In place, as a field is large.
            #[inline(never)]
            #[target_feature(enable = "avx512f,avx512bw,avx512bitalg,avx512vbmi2,avx512vnni,avx512vpopcntdq")]
            fn measure<const KIND: Kind>(
                &mut self,
                boards: &Boards,
                widths: core::ops::RangeInclusive<usize>,
                weights: &LaneWeights,
            ) {
                let field = self;
                let zero = _mm512_setzero_si512();
                let nothing = [zero; WORDS];
                let mut holes = [zero; WIDTH];
                for x in 0..WIDTH {
                    let cells = load(&boards.columns[x]);
                    let below = smear(cells);
                    let height = count(below);
                    let top = add(below, splat(1));
                    let at = x + WALL;
                    field.columns[at] = cells;
                    field.below[at] = below;
                    field.heights[at] = add(height, add(height, height));
                    field.depths[at] = Depths::of(cells);
                    field.tops[0][x] = top;
                    field.tops[1][x] = shr::<1>(top);
                    field.tops[2][x] = shr::<2>(top);
                    holes[x] = without(cells, below);
                }
                if KIND == CS3243 {
                    field.find_full();
                } else {
                    field.find_common(&holes);
                }
                let inside = inside::<KIND>(load(&boards.brims));
                // What stands before a column, and before the wall between it and the one before.
                let (mut worth, mut wells, mut walls) =
                    ([nothing; WIDTH + 1], [nothing; WIDTH + 1], [nothing; WIDTH + 2]);
                for x in 0..WIDTH {
                    let at = x + WALL;
                    let counts = counts(field.columns[at], holes[x], inside);
                    worth[x + 1] = counts.weigh::<KIND>(worth[x], weights);
                    let mut of_column = Wells::none();
                    of_column.add::<KIND>(field.well_cells(at), &field.depths[at], field.below[at]);
                    wells[x + 1] = of_column.weigh::<KIND>(wells[x], weights);
                }
                for x in 0..=WIDTH {
                    let at = x + WALL;
                    let changes = count(xor(field.columns[at - 1], field.columns[at]));
                    walls[x + 1] = weigh(walls[x], zero, changes, weights.pair(LANDING_AND_ROW_TRANSITIONS));
                    if KIND == DROPWISE {
                        let step = step(field.heights[at - 1], field.heights[at]);
                        let [flat, single] = flat_and_single(step);
                        walls[x + 1] = weigh(walls[x + 1], flat, single, weights.pair(STEPS));
                    }
                }
                let mut of_rows = nothing;
                if KIND != CS3243 {
                    let hole_rows = count(field.before[WIDTH].holes);
                    of_rows = weigh(nothing, hole_rows, zero, weights.pair(HOLE_ROWS_AND_DIVERSITY));
                }
                for width in widths {
                    for x in 0..=WIDTH - width {
                        let end = x + width;
                        let columns = minus(worth[end], worth[x]);
                        let wells = minus(wells[WIDTH.min(end + 1)], wells[x.saturating_sub(1)]);
                        let walls = minus(walls[end + 1], walls[x]);
                        field.leaves[width - 1][x] = plus(plus(columns, wells), plus(walls, of_rows));
                    }
                }
                field.standing = plus(plus(worth[WIDTH], wells[WIDTH]), plus(walls[WIDTH + 1], of_rows));
            }

            #[inline]
            #[target_feature(enable = "avx512f,avx512bw,avx512bitalg,avx512vbmi2,avx512vnni,avx512vpopcntdq")]
            fn find_common(&mut self, holes: &[__m512i; WIDTH]) {
                self.before[0].full = splat(Cell::MAX);
                self.from[WIDTH].full = splat(Cell::MAX);
                for x in 0..WIDTH {
                    let (at, last) = (x + WALL, self.before[x]);
                    self.before[x + 1] = Common {
                        full: and(last.full, self.columns[at]),
                        holes: or(last.holes, holes[x]),
                        steps: or(last.steps, step(self.heights[at - 1], self.heights[at])),
                    };
                }
                for x in (0..WIDTH).rev() {
                    let (at, last) = (x + WALL, self.from[x + 1]);
                    self.from[x] = Common {
                        full: and(last.full, self.columns[at]),
                        holes: or(last.holes, holes[x]),
                        steps: or(last.steps, step(self.heights[at], self.heights[at + 1])),
                    };
                }
            }

            /// The same for who looks at neither steps nor rows with holes.
            #[inline]
            #[target_feature(enable = "avx512f,avx512bw,avx512bitalg,avx512vbmi2,avx512vnni,avx512vpopcntdq")]
            fn find_full(&mut self) {
                self.before[0].full = splat(Cell::MAX);
                self.from[WIDTH].full = splat(Cell::MAX);
                for x in 0..WIDTH {
                    self.before[x + 1].full = and(self.before[x].full, self.columns[x + WALL]);
                }
                for x in (0..WIDTH).rev() {
                    self.from[x].full = and(self.from[x + 1].full, self.columns[x + WALL]);
                }
            }

            /// The empty cells of a column between two full ones.
            #[inline]
            #[target_feature(enable = "avx512f,avx512bw,avx512bitalg,avx512vbmi2,avx512vnni,avx512vpopcntdq")]
            fn well_cells(&self, at: usize) -> __m512i {
                without(self.columns[at], and(self.columns[at - 1], self.columns[at + 1]))
            }
        }

        impl Counts {
            #[inline]
            #[target_feature(enable = "avx512f,avx512bw,avx512bitalg,avx512vbmi2,avx512vnni,avx512vpopcntdq")]
            fn weigh<const KIND: Kind>(&self, sum: Words, weights: &LaneWeights) -> Words {
                let zero = _mm512_setzero_si512();
                let sum =
                    weigh(sum, self.transitions, self.holes, weights.pair(COLUMN_TRANSITIONS_AND_HOLES));
                if KIND == CS3243 {
                    return sum;
                }
                weigh(sum, self.buried, zero, weights.pair(HOLE_DEPTH_AND_WELLS))
            }
        }

        impl Wells {
            #[inline]
            #[target_feature(enable = "avx512f,avx512bw,avx512bitalg,avx512vbmi2,avx512vnni,avx512vpopcntdq")]
            fn weigh<const KIND: Kind>(&self, sum: Words, weights: &LaneWeights) -> Words {
                let zero = _mm512_setzero_si512();
                if KIND == CS3243 {
                    return weigh(sum, self.sum(), sum_of(&self.inner), weights.pair(OUTER_AND_INNER_WELLS));
                }
                let sum = weigh(sum, zero, self.sum(), weights.pair(HOLE_DEPTH_AND_WELLS));
                if KIND == DROPWISE { weigh(sum, self.third, self.covered, weights.pair(WELLS)) } else { sum }
            }
        }

        /// Whether cells above the top of a shape's column can stand between two full ones: no shape has a dent, so
        /// only at an end that is lower than the column next to it, or where there is but one column.
        const fn has_room_above(shape: &Shape, x: usize) -> bool {
            let last = shape.width - 1;
            shape.width == 1
                || x == 0 && shape.top[0] < shape.top[1]
                || x == last && shape.top[last] < shape.top[last - 1]
        }

        /// The best keys of the boards, for placements that clear nothing; the others are put on the list. Returns the
        /// lanes with a well too deep to be counted.
        #[inline(never)]
        #[target_feature(enable = "avx512f,avx512bw,avx512bitalg,avx512vbmi2,avx512vnni,avx512vpopcntdq")]
        fn try_shape<const SHAPE: usize, const KIND: Kind>(
            field: &Field,
            brims: __m512i,
            weights: &LaneWeights,
            players: Players<'_>,
            best: &mut Words,
            clearing: &mut Clearing,
        ) -> u32 {
            let shape = &SHAPES[SHAPE];
            let (width, last) = (shape.width, shape.width - 1);
            let zero = _mm512_setzero_si512();
            // The highest row on which the piece stays below the brim, if there are so many rows.
            let highest = min(sub(brims, splat(shape.height as Cell)), splat(Cell::BITS as Cell - 1));
            let highest = raise(splat(1), highest);
            let inside = inside::<KIND>(brims);
            let mut start = [zero; WORDS];
            if KIND == CS3243 {
                start = weigh(start, splat(shape.height as Cell), zero, weights.pair(SHAPE_HEIGHT));
            }
            let mut deep = zero;
            for x in 0..=WIDTH - width {
                let at = x + WALL;
                let mut row = field.tops[shape.bottom[0]][x];
                for i in 1..width {
                    row = max(row, field.tops[shape.bottom[i]][x + i]);
                }
                let lost = above(row, highest);

                // The piece's columns, and one on either side.
                let mut columns = [zero; MAX_EXTENT + 2];
                columns[0] = field.columns[at - 1];
                columns[width + 1] = field.columns[at + width];
                let mut full = and(field.before[x].full, field.from[x + width].full);
                for i in 0..width {
                    let piece = sub(up(row, shape.top[i]), up(row, shape.bottom[i]));
                    columns[i + 1] = or(field.columns[at + i], piece);
                    full = and(full, columns[i + 1]);
                }
                let clears = nonzero(full) & !lost;

                let mut hole_rows = or(field.before[x].holes, field.from[x + width].holes);
                let mut sum = minus(start, field.leaves[last][x]);
                let mut wells = Wells::none();
                let [mut transitions, mut holes, mut buried, mut changes] = [zero; 4];
                for i in 0..width {
                    let below = sub(up(row, shape.top[i]), splat(1));
                    let cells = columns[i + 1];
                    let covered = without(cells, below);
                    let counts = counts(cells, covered, inside);
                    hole_rows = or(hole_rows, covered);
                    transitions = add(transitions, counts.transitions);
                    holes = add(holes, counts.holes);
                    buried = add(buried, counts.buried);
                    changes = add(changes, count(xor(columns[i], cells)));
                    let under = sub(up(row, shape.bottom[i]), splat(1));
                    let floor = if has_room_above(shape, i) { Some(up(row, shape.top[i])) } else { None };
                    let depths = field.depths[at + i].split(under, floor);
                    let between = without(cells, and(columns[i], columns[i + 2]));
                    if KIND == CS3243 && floor.is_none() {
                        wells.add_inner(between, &depths);
                    } else {
                        wells.add::<KIND>(between, &depths, below);
                    }
                }
                changes = add(changes, count(xor(columns[width], columns[width + 1])));
                let left = without(columns[0], and(field.columns[at - 2], columns[1]));
                wells.add::<KIND>(left, &field.depths[at - 1], field.below[at - 1]);
                let right = without(columns[width + 1], and(columns[width], field.columns[at + width + 1]));
                wells.add::<KIND>(right, &field.depths[at + width], field.below[at + width]);
                deep = or(deep, wells.deep);

                let y = count(sub(row, splat(1)));
                if KIND == CS3243 {
                    sum = weigh(sum, y, changes, weights.pair(LANDING_AND_ROW_TRANSITIONS));
                    sum = weigh(sum, transitions, holes, weights.pair(COLUMN_TRANSITIONS_AND_HOLES));
                    sum = wells.weigh::<KIND>(sum, weights);
                } else {
                    let thrice = add(y, add(y, y));
                    let mut within_piece = 0;
                    for i in 1..width {
                        within_piece += known_step(shape.top[i] as isize - shape.top[i - 1] as isize);
                    }
                    let onto = add(thrice, splat(3 * shape.top[0] as Cell));
                    let off = add(thrice, splat(3 * shape.top[last] as Cell));
                    let mut steps = step(field.heights[at - 1], onto);
                    steps = add(steps, step(off, field.heights[at + width]));
                    steps = add(steps, splat(within_piece));
                    let around = or(field.before[x].steps, field.from[x + width].steps);
                    let occurring = or(occurring(steps), and(around, splat(ONE_EACH)));

                    let landing = add(add(y, y), splat(shape.height as Cell - 1));
                    sum = weigh(sum, landing, changes, weights.pair(LANDING_AND_ROW_TRANSITIONS));
                    sum = weigh(sum, transitions, holes, weights.pair(COLUMN_TRANSITIONS_AND_HOLES));
                    sum = weigh(sum, buried, wells.sum(), weights.pair(HOLE_DEPTH_AND_WELLS));
                    sum = weigh_occurring::<KIND>(sum, occurring, hole_rows, weights);
                    if KIND == DROPWISE {
                        let [flat, single] = flat_and_single(steps);
                        sum = weigh(sum, flat, single, weights.pair(STEPS));
                        sum = weigh(sum, wells.third, wells.covered, weights.pair(WELLS));
                    }
                }

                let order = _mm512_set1_epi32(KEY_ORDER[SHAPE][x].into());
                for (register, (best, sum)) in best.iter_mut().zip(sum).enumerate() {
                    let key = _mm512_add_epi32(_mm512_slli_epi32::<6>(sum), order);
                    let good = !lanes_of(lost | clears, register);
                    *best = _mm512_mask_max_epi32(*best, good, *best, key);
                }
                if clears != 0 {
                    clearing.add::<SHAPE, KIND>(field, x, &columns, row, clears, players);
                }
            }
            nonzero(deep)
        }
    };
}
pub(super) use evaluate;
