//! The placements that clear lines, 0.7 a piece: each becomes a board of its own, and they are counted together.

/// Adds them to the module of [`super::evaluate`].
macro_rules! clearing {
    () => {
        use super::super::vector::ERODED;

        /// Boards on which lines are full.
        struct Clearing {
            columns: [[Cell; 2 * LANES]; WIDTH],
            /// A bit on the row where the piece landed.
            rows: [Cell; 2 * LANES],
            /// What was placed, and the lane it came from.
            moves: [Clear; 2 * LANES],
            len: usize,
            /// What the boards that they came from are worth.
            standing: [i32; LANES],
            /// The best key for each of those, and a bit for each that has a well too deep to be counted.
            best: [i32; LANES],
            deep: u32,
        }

        #[derive(Clone, Copy)]
        struct Clear {
            lane: u8,
            shape: u8,
            order: u8,
        }

        impl Clearing {
            #[inline]
            #[target_feature(enable = "avx512f,avx512bw,avx512bitalg,avx512vbmi2,avx512vnni,avx512vpopcntdq")]
            fn new(field: &Field) -> Clearing {
                let mut standing = [0; LANES];
                store_words(&mut standing, field.standing);
                Clearing {
                    columns: [[0; 2 * LANES]; WIDTH],
                    rows: [0; 2 * LANES],
                    moves: [Clear { lane: 0, shape: 0, order: 0 }; 2 * LANES],
                    len: 0,
                    standing,
                    best: [i32::MIN; LANES],
                    deep: 0,
                }
            }

            /// Takes in a placement from the lanes of a mask: the columns that it changed, from the one before it on.
            #[inline(never)]
            #[target_feature(enable = "avx512f,avx512bw,avx512bitalg,avx512vbmi2,avx512vnni,avx512vpopcntdq")]
            fn add<const SHAPE: usize, const KIND: Kind>(
                &mut self,
                field: &Field,
                column: usize,
                changed: &[__m512i; MAX_EXTENT + 2],
                row: __m512i,
                mut mask: u32,
                players: Players<'_>,
            ) {
                fn from(cells: &mut [Cell; 2 * LANES], len: usize) -> &mut [Cell; LANES] {
                    cells[len..].first_chunk_mut().expect("counted before the half is full")
                }
                for x in 0..WIDTH {
                    let own = column..column + SHAPES[SHAPE].width;
                    let cells =
                        if own.contains(&x) { changed[x + 1 - column] } else { field.columns[x + WALL] };
                    store(from(&mut self.columns[x], self.len), gather(mask, cells));
                }
                store(from(&mut self.rows, self.len), gather(mask, row));
                while mask != 0 {
                    let lane = mask.trailing_zeros() as u8;
                    mask &= mask - 1;
                    self.moves[self.len] =
                        Clear { lane, shape: SHAPE as u8, order: KEY_ORDER[SHAPE][column] };
                    self.len += 1;
                }
                if self.len > LANES {
                    self.count::<KIND>(LANES, players);
                    self.len -= LANES;
                    for cells in self.columns.iter_mut().chain([&mut self.rows]) {
                        cells.copy_within(LANES.., 0);
                    }
                    self.moves.copy_within(LANES.., 0);
                }
            }

            /// Counts the first of the boards, and takes the best of them.
            #[inline(never)]
            #[target_feature(enable = "avx512f,avx512bw,avx512bitalg,avx512vbmi2,avx512vnni,avx512vpopcntdq")]
            fn count<const KIND: Kind>(&mut self, boards: usize, players: Players<'_>) {
                let first = |cells: &[Cell; 2 * LANES]| load(cells.first_chunk().expect("the first half"));
                let mut columns = [splat(Cell::MAX); PADDED];
                let mut full = splat(Cell::MAX);
                for (cells, column) in self.columns.iter().zip(&mut columns[WALL..]) {
                    *column = first(cells);
                    full = and(full, *column);
                }
                let mut lines = [0; LANES];
                store(&mut lines, full);
                while nonzero(full) != 0 {
                    // The rows above the lowest full one come down.
                    let below = without(full, sub(full, splat(1)));
                    for column in &mut columns[WALL..WALL + WIDTH] {
                        *column = or(and(*column, below), without(below, shr::<1>(*column)));
                    }
                    full = without(below, shr::<1>(full));
                }
                let mut worth = [0; LANES];
                let weights = match players {
                    Players::One(player) => LaneWeights::of_one(player),
                    Players::Several(players) => {
                        let player = |clear: &Clear| players[usize::from(clear.lane)];
                        LaneWeights::new(self.moves[..boards].iter().map(player))
                    }
                };
                let (sum, deep) = whole::<KIND>(&columns, &weights);
                store_words(&mut worth, sum);
                for i in 0..boards {
                    let Clear { lane, shape, order } = self.moves[i];
                    let (lane, shape) = (usize::from(lane), usize::from(shape));
                    let y = self.rows[i].trailing_zeros();
                    let full = u32::from(lines[i]);
                    let player = players.of(lane);
                    let mut value = worth[i] - self.standing[lane];
                    if KIND == CS3243 {
                        value += player.landing * y as i32;
                        value += player.shape_height * SHAPES[shape].height as i32;
                        value += player.cleared * full.count_ones() as i32;
                    } else {
                        let eroded = full.count_ones() * u32::from(ERODED[shape][(full >> y) as usize & 15]);
                        let landing = 2 * y as i32 + SHAPES[shape].height as i32 - 1;
                        value += player.landing * landing + player.cleared * eroded as i32;
                    }
                    self.best[lane] = self.best[lane].max((value << 6) + i32::from(order));
                    self.deep |= (deep >> i & 1) << lane;
                }
            }
        }

        /// What boards are worth, and the lanes with a well too deep to be counted.
        #[inline]
        #[target_feature(enable = "avx512f,avx512bw,avx512bitalg,avx512vbmi2,avx512vnni,avx512vpopcntdq")]
        fn whole<const KIND: Kind>(columns: &[__m512i; PADDED], weights: &LaneWeights) -> (Words, u32) {
            let zero = _mm512_setzero_si512();
            let wall = splat(3 * WALL_HEIGHT);
            let mut wells = Wells::none();
            let [mut transitions, mut holes, mut buried, mut hole_rows] = [zero; 4];
            let [mut steps, mut flat, mut single] = [zero; 3];
            let mut changes = count(xor(columns[WALL], columns[WALL - 1]));
            let mut last = wall;
            for at in WALL..WALL + WIDTH {
                let cells = columns[at];
                let below = smear(cells);
                let covered = without(cells, below);
                // Where a line was cleared, no column reaches the brim.
                let counts = counts(cells, covered, None);
                hole_rows = or(hole_rows, covered);
                transitions = add(transitions, counts.transitions);
                holes = add(holes, counts.holes);
                buried = add(buried, counts.buried);
                changes = add(changes, count(xor(cells, columns[at + 1])));
                let between = without(cells, and(columns[at - 1], columns[at + 1]));
                wells.add::<KIND>(between, &Depths::of(cells), below);
                let height = count(below);
                let height = add(height, add(height, height));
                let step = step(last, height);
                last = height;
                steps = or(steps, step);
                if KIND == DROPWISE {
                    let more = flat_and_single(step);
                    flat = add(flat, more[0]);
                    single = add(single, more[1]);
                }
            }
            let mut sum = [zero; WORDS];
            sum = weigh(sum, zero, changes, weights.pair(LANDING_AND_ROW_TRANSITIONS));
            sum = weigh(sum, transitions, holes, weights.pair(COLUMN_TRANSITIONS_AND_HOLES));
            if KIND == CS3243 {
                return (wells.weigh::<KIND>(sum, weights), nonzero(wells.deep));
            }
            sum = weigh(sum, buried, wells.sum(), weights.pair(HOLE_DEPTH_AND_WELLS));
            sum = weigh_occurring::<KIND>(sum, and(steps, splat(ONE_EACH)), hole_rows, weights);
            if KIND == DROPWISE {
                sum = weigh(sum, flat, single, weights.pair(STEPS));
                sum = weigh(sum, wells.third, wells.covered, weights.pair(WELLS));
            }
            (sum, nonzero(wells.deep))
        }

        /// The best keys of a piece on each of the boards, and the lanes where they cannot be told.
        #[target_feature(enable = "avx512f,avx512bw,avx512bitalg,avx512vbmi2,avx512vnni,avx512vpopcntdq")]
        pub(super) fn best<const KIND: Kind>(
            boards: &Boards,
            piece: Piece,
            players: Players<'_>,
        ) -> ([i32; LANES], u32) {
            let weights = &match players {
                Players::One(player) => LaneWeights::of_one(player),
                Players::Several(players) => LaneWeights::new(players.iter().copied()),
            };
            let widths = piece.orientations().iter().map(|shape| shape.width);
            let widths = widths.clone().min().unwrap_or(1)..=widths.max().unwrap_or(MAX_EXTENT);
            let brims = load(&boards.brims);
            let mut field = Field::empty();
            field.measure::<KIND>(boards, widths, weights);
            let mut clearing = Clearing::new(&field);
            let mut best = [_mm512_set1_epi32(i32::MIN); WORDS];
            let mut deep = 0;
            each_shape!(
                piece,
                SHAPE,
                deep |= try_shape::<SHAPE, KIND>(&field, brims, weights, players, &mut best, &mut clearing)
            );
            clearing.count::<KIND>(clearing.len, players);
            let mut keys = [0; LANES];
            store_words(&mut keys, best);
            for (key, &cleared) in keys.iter_mut().zip(&clearing.best) {
                *key = cleared.max(*key);
            }
            (keys, deep | clearing.deep)
        }
    };
}
pub(super) use clearing;
