//! The placements that clear lines: the board is made, lane by lane, and its columns are counted.

/// Adds them to the module of [`super::surface`].
macro_rules! clearing {
    ($tops:ident) => {
        /// The cells of each shape on the floor; loaded from WIDTH - column on, the piece stands in that column.
        pub(super) static PIECES: [[Cell; WIDTH + VECTORS * LANES]; NUM_SHAPES] = {
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

        /// The lanes of a register in which placements clear lines.
        struct Clearing {
            /// The landing row.
            rows: [Cell; LANES],
            /// The rows that are full, as bits.
            full: [Cell; LANES],
            /// How many cells beside the rows of the piece are empty, negative.
            empty: [Cell; LANES],
        }

        /// The best key among the placements that clear lines.
        #[inline(never)]
        #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
        fn best_clearing<const EXTRA: Extra>(
            columns: [__m256i; VECTORS],
            clearing: &[Clearing; 4 * VECTORS],
            mut lanes: u64,
            piece: Piece,
            weights: &Packed,
        ) -> i32 {
            let before = column_worth::<EXTRA, false>(columns, weights);
            let mut best = i32::MIN;
            while lanes != 0 {
                let position = lanes.ilog2() as usize;
                lanes ^= 1 << position;
                let (entry, lane) = (position / LANES, position % LANES);
                let (turn, column) = (position / (VECTORS * LANES), position % (VECTORS * LANES));
                let shape = piece.first_shape() + turn;
                let (y, full) =
                    (u32::from(clearing[entry].rows[lane]), u32::from(clearing[entry].full[lane]));
                let after = column_worth::<EXTRA, true>(cleared(columns, shape, column, y, full), weights);
                let empty = i32::from(clearing[entry].empty[lane] as i16);
                let value = weights.clearing(shape, y, full, empty) + after - before;
                best = best.max(key(value, shape, column));
            }
            best
        }

        /// The board after a placement on row y that fills these rows.
        #[inline]
        #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
        fn cleared(
            mut columns: [__m256i; VECTORS],
            shape: usize,
            column: usize,
            y: u32,
            full: u32,
        ) -> [__m256i; VECTORS] {
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
            columns
        }

        /// The worth of a board without its row transitions; with that steps occur if so asked.
        #[inline]
        #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
        fn column_worth<const EXTRA: Extra, const OCCURRING: bool>(
            columns: [__m256i; VECTORS],
            weights: &Packed,
        ) -> i32 {
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
                let column_changes = count(_mm256_xor_si256(cells, or(add(cells, cells), splat(1))));
                let lowest_empty = without(cells, add(cells, splat(1)));
                let buried = and(cells, sub(zero, lowest_empty));
                let mut sum = weigh(column_changes, weights.columns[0]);
                sum = _mm256_add_epi32(sum, weigh(count(holes), weights.columns[1]));
                sum = _mm256_add_epi32(sum, weigh(triangle(count(open)), weights.columns[2]));
                sum = _mm256_add_epi32(sum, weigh(count(buried), weights.columns[3]));
                value = _mm256_add_epi32(value, sum);
                if EXTRA == MORE {
                    let empty = without(cells, splat(-1));
                    let deep = and(and(between, empty), and(shl::<1>(empty), shl::<2>(empty)));
                    value = _mm256_add_epi32(value, weigh(count(deep), weights.columns[10]));
                    value = _mm256_add_epi32(value, weigh(count(and(holes, between)), weights.columns[11]));
                }
                if has_steps(EXTRA) || EXTRA == TOPS {
                    all_heights[vector] = heights(below, vector);
                }
            }
            if EXTRA == TOPS {
                value = _mm256_add_epi32(value, weights.$tops.worth(all_heights));
            }
            let steps = if has_steps(EXTRA) { steps(all_heights) } else { [zero; VECTORS] };
            if EXTRA == MORE {
                for steps in steps {
                    let [flat, single] = flat_and_single(packed_steps(steps));
                    value = _mm256_add_epi32(value, weigh(flat, weights.columns[6]));
                    value = _mm256_add_epi32(value, weigh(single, weights.columns[7]));
                }
            }
            let half = _mm_add_epi32(_mm256_castsi256_si128(value), _mm256_extracti128_si256::<1>(value));
            let half = _mm_add_epi32(half, _mm_shuffle_epi32::<0b01_00_11_10>(half));
            let half = _mm_add_epi32(half, _mm_shuffle_epi32::<0b10_11_00_01>(half));
            let mut value = _mm_cvtsi128_si32(half);
            if any(or(crooked, covered)) {
                value += i32::from(weights.columns[2]) * uneven_wells(columns);
            }
            let hole_rows = _mm256_cvtsi256_si32(union(all_holes)) as Cell;
            value += i32::from(weights.columns[4]) * hole_rows.count_ones() as i32;
            if has_steps(EXTRA) && OCCURRING {
                let steps = _mm256_cvtsi256_si32(union(steps)) as Cell;
                let occurring = |bits: Cell| (steps & bits).count_ones() as i32;
                value += i32::from(weights.columns[5]) * occurring(Cell::MAX);
                if EXTRA == MORE {
                    value += i32::from(weights.columns[8]) * occurring(FLAT as Cell);
                    value += i32::from(weights.columns[9]) * occurring(SINGLE as Cell);
                }
            }
            if EXTRA == TOPS {
                value += weights.max_height * max_height(columns);
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
pub(super) use clearing;
