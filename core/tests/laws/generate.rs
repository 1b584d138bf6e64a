//! Boards and players for the property tests. Boards come from play and from patterns that the closed forms of the
//! engines find hard: piles around the height where the vector engine changes its lanes, covered wells beside the
//! place of landing, gaps over open wells, rows that one piece completes, columns filled to the brim.

use std::ops::RangeInclusive;

use dropwise_core::feature::Outcome;
use dropwise_core::player::{KNOWN, MAX_WEIGHT};
use dropwise_core::well::{MAX_HEIGHT, MIN_HEIGHT};
use dropwise_core::{Controller, Feature, Game, Overflow, Piece, PieceSource, Placement, Player, Set, Well};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use crate::rules;

const WIDTH: usize = 10;
const FULL: u16 = (1 << WIDTH) - 1;

/// So many cases, or PROPTEST_CASES where that is set.
pub(crate) fn cases(default: u32) -> ProptestConfig {
    let asked = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok());
    ProptestConfig { cases: asked.unwrap_or(default), ..ProptestConfig::default() }
}

/// Any board: arbitrary or reached by play.
pub(crate) fn well() -> impl Strategy<Value = Well> {
    prop_oneof![2 => speckled(), 3 => skyline(), 3 => lines_to_be(), 2 => comb(), 2 => roof(), 1 => cramped(), 4 => played()]
}

fn height() -> impl Strategy<Value = usize> {
    prop_oneof![3 => MIN_HEIGHT..=MAX_HEIGHT, 2 => Just(MAX_HEIGHT), 1 => Just(10), 1 => 11..=13usize]
}

/// The top of a pile: anywhere, and often near 11, up to which the vector engine takes 16-bit lanes.
fn pile() -> impl Strategy<Value = usize> {
    prop_oneof![2 => 0..=MAX_HEIGHT, 2 => 7..=12usize, 1 => Just(MAX_HEIGHT)]
}

/// Rows from below as masks, bit x for column x. Full rows get a hole, as a well has none.
fn draw(height: usize, rows: &[u16]) -> Well {
    let row = |y: usize| match rows.get(y).map_or(0, |row| row & FULL) {
        FULL => FULL & !(1 << ((3 * y + 1) % WIDTH)),
        row => row,
    };
    let text =
        |y: usize| -> String { (0..WIDTH).map(|x| if row(y) >> x & 1 == 1 { 'X' } else { '.' }).collect() };
    Well::from_rows((0..height).rev().map(text)).expect("a drawn well")
}

/// Random cells; the density changes from row to row.
fn speckled() -> impl Strategy<Value = Well> {
    let row = prop_oneof![
        any::<u16>(),
        (any::<u16>(), any::<u16>()).prop_map(|(a, b)| a & b),
        (any::<u16>(), any::<u16>()).prop_map(|(a, b)| a | b),
        (any::<u16>(), any::<u16>(), any::<u16>()).prop_map(|(a, b, c)| a | b | c),
    ];
    (height(), pile(), vec(row, MAX_HEIGHT))
        .prop_map(|(height, pile, rows)| draw(height, &rows[..pile.min(height)]))
}

/// Columns of any heights, some to the brim or to the floor, a few cells taken out below their tops.
fn skyline() -> impl Strategy<Value = Well> {
    let columns = prop_oneof![
        2 => (pile(), vec(-3..=3i32, WIDTH)).prop_map(|(base, steps)| {
            steps.iter().map(|step| (base as i32 + step).max(0) as usize).collect::<Vec<_>>()
        }),
        1 => vec(pile(), WIDTH),
        1 => vec(prop_oneof![Just(0), Just(MAX_HEIGHT), pile()], WIDTH),
    ];
    (height(), columns, vec((0..WIDTH, 0..MAX_HEIGHT), 0..16)).prop_map(|(height, columns, holes)| {
        let mut rows = rows_of(&columns, height);
        for (x, y) in holes {
            if y + 1 < columns[x].min(height) {
                rows[y] &= !(1 << x);
            }
        }
        draw(height, &rows)
    })
}

fn rows_of(columns: &[usize], height: usize) -> Vec<u16> {
    let cell = |x: usize, y: usize| u16::from(columns[x] > y) << x;
    (0..height).map(|y| (0..WIDTH).map(|x| cell(x, y)).sum()).collect()
}

/// Rows that lack one to four neighbouring cells, often at the same place, under a ragged top.
fn lines_to_be() -> impl Strategy<Value = Well> {
    let gap = (0..WIDTH, 1..=4usize);
    (height(), pile(), gap.clone(), vec((any::<bool>(), gap, any::<u16>()), MAX_HEIGHT)).prop_map(
        |(height, pile, common, rows)| {
            let pile = pile.min(height);
            let row = |y: usize| {
                let (is_common, own, cells) = rows[y];
                let (x, width) = if is_common { common } else { own };
                let lacking = FULL & !(((1 << width) - 1) << x);
                // The two top rows are thinner, so that pieces also hang there.
                if y + 2 >= pile { lacking & cells } else { lacking }
            };
            draw(height, &(0..pile).map(row).collect::<Vec<_>>())
        },
    )
}

/// Every other column deep; here and there a lid that covers a well, or a cell in its middle.
fn comb() -> impl Strategy<Value = Well> {
    (height(), vec((pile(), pile()), WIDTH / 2), any::<bool>(), vec((0..WIDTH, 0..MAX_HEIGHT), 0..8))
        .prop_map(|(height, pairs, shifted, lids)| {
            let mut columns: Vec<usize> = pairs.iter().flat_map(|&(a, b)| [a.max(b), a.min(b) / 2]).collect();
            columns.rotate_right(usize::from(shifted));
            let mut rows = rows_of(&columns, height);
            for (x, y) in lids {
                if y < height {
                    rows[y] |= 1 << x;
                }
            }
            draw(height, &rows)
        })
}

/// Deep columns under a roof of a row or two that lack a few cells: one piece closes the roof, and all below is open.
fn roof() -> impl Strategy<Value = Well> {
    (height(), vec(pile(), WIDTH), 1..=3usize, vec((0..WIDTH, 1..=4usize), 3)).prop_map(
        |(height, columns, roof, gaps)| {
            let top = columns.iter().copied().max().unwrap_or(0).min(height - roof);
            let mut rows = rows_of(&columns, top);
            rows.extend(gaps[..roof].iter().map(|(x, width)| FULL & !(((1 << width) - 1) << x)));
            draw(height, &rows)
        },
    )
}

/// A low well with hardly a place left: one or two pieces on, the game is lost.
pub(crate) fn cramped() -> impl Strategy<Value = Well> {
    (MIN_HEIGHT..=8, vec(0..=5usize, WIDTH), vec((0..WIDTH, 0..8usize), 0..8)).prop_map(
        |(height, room, holes)| {
            let columns: Vec<usize> = room.iter().map(|room| height.saturating_sub(*room)).collect();
            let mut rows = rows_of(&columns, height);
            for (x, y) in holes {
                if y + 1 < columns[x] {
                    rows[y] &= !(1 << x);
                }
            }
            draw(height, &rows)
        },
    )
}

/// A board in the middle of a game, by a known player or by chance.
pub(crate) fn played() -> impl Strategy<Value = Well> {
    let players = KNOWN.len();
    (height(), any::<u64>(), 0..=players, 0..=2u8, 0..150u64).prop_map(
        move |(height, seed, player, source, pieces)| {
            let source = [PieceSource::Uniform, PieceSource::Hard(4), PieceSource::Bag][usize::from(source)];
            let mut game = Game::new(rules(height, Overflow::Before, source), seed, 0);
            if player < players {
                game.play(&Controller::new(KNOWN[player].player), pieces);
            } else {
                play_at_random(&mut game, seed, pieces);
            }
            *game.well()
        },
    )
}

/// Random placements that do not lose, up to so many.
fn play_at_random(game: &mut Game, mut state: u64, pieces: u64) {
    while game.pieces() < pieces {
        let Some(&piece) = game.upcoming(0).first() else { return };
        let (well, overflow) = (*game.well(), game.rules().overflow);
        let safe: Vec<Placement> = Placement::all(piece)
            .filter(|&placement| !{ well }.drop(piece, placement, overflow).loses)
            .collect();
        if safe.is_empty() {
            return;
        }
        // Knuth's MMIX generator: enough to scatter pieces.
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        game.place(safe[(state >> 33) as usize % safe.len()]);
    }
}

/// Features that published players never want more of. On the strength of it the scalar engine drops placements early,
/// whatever the signs of the others.
const ALWAYS_WORSE: [Feature; 4] =
    [Feature::RowTransitions, Feature::CumulativeWells, Feature::HoleDepth, Feature::RowsWithHoles];

/// A player of one of the sets, with weights of every kind: as published, any, of the signs that published ones have,
/// few and small so that many placements tie, the largest there are, none.
pub(crate) fn player(sets: &'static [Set]) -> impl Strategy<Value = Player> {
    const LENGTH: RangeInclusive<usize> = 28..=28;
    let weights = prop_oneof![
        3 => vec(-MAX_WEIGHT..=MAX_WEIGHT, LENGTH),
        2 => vec(-1..=1i16, LENGTH),
        2 => vec(prop_oneof![Just(0), Just(MAX_WEIGHT), Just(-MAX_WEIGHT)], LENGTH),
        1 => vec(Just(MAX_WEIGHT), LENGTH),
        1 => vec(Just(-MAX_WEIGHT), LENGTH),
        1 => vec(Just(0), LENGTH),
    ];
    let player =
        |set: Set, weights: &[i16]| Player::new(set, &weights[..set.len()]).expect("weights in range");
    let set = proptest::sample::select(sets);
    let plain = (set.clone(), weights).prop_map(move |(set, weights)| player(set, &weights));
    let signed =
        (set, vec(-MAX_WEIGHT..=0, LENGTH), any::<u32>()).prop_map(move |(set, mut weights, wanted)| {
            for (i, feature) in set.features().iter().enumerate() {
                if !ALWAYS_WORSE.contains(feature) && wanted >> i & 1 == 1 {
                    weights[i] *= -1;
                }
            }
            player(set, &weights)
        });
    let drawn = prop_oneof![3 => plain, 1 => signed];
    let known: Vec<Player> =
        KNOWN.iter().map(|known| known.player).filter(|player| sets.contains(&player.set())).collect();
    if known.is_empty() {
        return drawn.boxed();
    }
    prop_oneof![4 => drawn, 1 => proptest::sample::select(known)].boxed()
}

/// One of the seven.
pub(crate) fn piece() -> impl Strategy<Value = Piece> {
    proptest::sample::select(&Piece::ALL[..])
}

/// Whether the open well cells of every column reach down to its top: the boards on which the vector engine stays in
/// its lanes.
fn has_plain_shafts(well: &Well) -> bool {
    let full = |x: usize, y: usize| x >= WIDTH || well.is_full(x, y);
    (0..WIDTH).all(|x| {
        let top = usize::from(well.heights()[x]);
        let is_well = |y: usize| full(x.wrapping_sub(1), y) && full(x + 1, y);
        let mut open = (top..well.height()).map(is_well).skip_while(|&well| well);
        !open.any(|well| well)
    })
}

/// A generator that missed what it is there for would leave the laws untested where they are most likely to break.
#[test]
fn generated_boards_are_of_every_kind() {
    const BOARDS: usize = 2000;
    let mut runner = TestRunner::deterministic();
    let [mut low, mut tall, mut brimful, mut crooked, mut clearing, mut covered] = [0; 6];
    for _ in 0..BOARDS {
        let well = well().new_tree(&mut runner).expect("a board").current();
        let any = |is_such: &dyn Fn(&Outcome) -> bool| {
            Piece::ALL.into_iter().any(|piece| {
                Placement::all(piece)
                    .any(|placement| is_such(&Outcome::of(&well, piece, placement, Overflow::Before)))
            })
        };
        let plain = has_plain_shafts(&well);
        low += usize::from(plain && (3..=11).contains(&well.max_height()));
        tall += usize::from(plain && well.max_height() > 11);
        brimful += usize::from(plain && well.max_height() == well.height());
        crooked += usize::from(!plain);
        clearing += usize::from(plain && any(&|outcome| outcome.landing.lines > 0));
        covered += usize::from(plain && any(&|outcome| Feature::InnerWells.measure(outcome) > 0));
    }
    let shares = [low, tall, brimful, crooked, clearing, covered].map(|boards| 100 * boards / BOARDS);
    let wanted = [20, 20, 10, 5, 25, 25];
    assert!(shares.iter().zip(wanted).all(|(&share, wanted)| share >= wanted), "{shares:?} % of the boards");
}
