//! On any board, for any piece, weights and rules: the three engines choose the first best placement, which is also the
//! slow twin's, and every feature of a placement is the twin's.
//!
//! The twin is a hundred times slower than the engines. So that it does not hold up the search, it judges the choice of
//! one input in sixteen and the features of one placement of each.
#![no_main]

#[path = "../../core/tests/laws/twin.rs"]
mod twin;

use arbitrary::Arbitrary;
use dropwise_core::engine::{Engine, EngineKind, Judgement};
use dropwise_core::feature::Outcome;
use dropwise_core::player::MAX_WEIGHT;
use dropwise_core::{Feature, Overflow, Piece, Player, Set, Well};
use libfuzzer_sys::fuzz_target;
use twin::Board;

#[derive(Arbitrary, Debug)]
struct Input {
    height: u8,
    piece: u8,
    set: u8,
    after: bool,
    allow_losing: bool,
    /// What the twin looks at.
    twin: u8,
    weights: [i16; 28],
    /// From below; bit x for column x.
    rows: Vec<u16>,
}

fn well(input: &Input) -> Well {
    let height = 4 + usize::from(input.height % 17);
    let row = |y: usize| {
        let row = input.rows.get(y).copied().unwrap_or(0) & 0x3ff;
        if row == 0x3ff { row & !(1 << (y % 10)) } else { row }
    };
    let text =
        |y: usize| -> String { (0..10).map(|x| if row(y) >> x & 1 == 1 { 'X' } else { '.' }).collect() };
    Well::from_rows((0..height).rev().map(text)).expect("a drawn well")
}

fuzz_target!(|input: Input| {
    const SETS: [Set; 9] =
        [Set::D, Set::Bcts, Set::Dt, Set::B, Set::Bd, Set::Bdu, Set::Cs3243, Set::FlomRobinson, Set::Bodoia];
    const CLOSED_FORMS: u8 = 6;
    // Half of the inputs go to the sets that have closed forms.
    let set = if input.set < 128 {
        SETS[usize::from(input.set % CLOSED_FORMS)]
    } else {
        SETS[usize::from(input.set) % SETS.len()]
    };
    let weights = input.weights.map(|weight| weight.clamp(-MAX_WEIGHT, MAX_WEIGHT));
    let player = Player::new(set, &weights[..set.len()]).expect("weights in range");
    let piece = Piece::ALL[usize::from(input.piece) % Piece::NUM];
    let overflow = if input.after { Overflow::After } else { Overflow::Before };
    let judgement = Judgement { overflow, allow_losing: input.allow_losing };
    let well = well(&input);
    let board = Board::of(&well);

    let choices = [EngineKind::General, EngineKind::Scalar, EngineKind::Fastest].map(|kind| {
        let engine = Engine::new(player, kind);
        let standing = i64::from(engine.standing(&well));
        let best = engine.best(&well, piece, judgement);
        best.map(|best| (best.placement, i64::from(best.value) + standing))
    });
    let [general, scalar, fastest] = choices;
    assert_eq!(scalar, general, "scalar, {piece} {judgement:?} {player:?} on {well:?}");
    assert_eq!(fastest, general, "fastest, {piece} {judgement:?} {player:?} on {well:?}");
    if input.twin % 16 == 0 {
        let law = twin::choose(&player, &board, piece, overflow, input.allow_losing);
        assert_eq!(general, law, "general, {piece} {judgement:?} {player:?} on {well:?}");
    }

    let placements = twin::placements(piece);
    let placement = placements[usize::from(input.twin) % placements.len()];
    let drop = board.drop(piece, placement, overflow);
    let outcome = Outcome::of(&well, piece, placement, overflow);
    assert_eq!(drop.board.draw(), outcome.well.to_string(), "{piece} {placement:?} on {well:?}");
    for &feature in Feature::ALL {
        let measured = feature.measure(&outcome);
        assert!(drop.is(feature, measured), "{feature} is {measured}: {piece} {placement:?} on {well:?}");
    }
});
