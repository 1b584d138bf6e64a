//! Three engines, one law: the first placement whose value no other exceeds.

use dropwise_core::engine::{Best, Engine, EngineKind, Judgement, LOW_PILE, best_each};
use dropwise_core::player::MAX_WEIGHT;
use dropwise_core::{Controller, Game, Options, Overflow, Piece, PieceSource, Placement, Player, Set, Well};
use proptest::prelude::*;

use crate::generate::{cases, played, player, well};
use crate::twin::{self, Board};
use crate::{full_length, rules};

/// The sets for which there are closed forms.
const FAST: &[Set] = &[Set::D, Set::Bcts, Set::Dt, Set::B, Set::Bd, Set::Bdu, Set::Dropwise];
/// Those and the others that many boards at once are served for.
const TOGETHER: &[Set] = &[Set::D, Set::Bcts, Set::Dt, Set::B, Set::Bd, Set::Bdu, Set::Dropwise, Set::Cs3243];
const EXACT: &[Set] = &[
    Set::D,
    Set::Bcts,
    Set::B,
    Set::Bd,
    Set::Bdu,
    Set::Dt,
    Set::Cs3243,
    Set::FlomRobinson,
    Set::Bodoia,
    Set::Dropwise,
];
const KINDS: [EngineKind; 3] = [EngineKind::General, EngineKind::Scalar, EngineKind::Fastest];

fn judgements() -> impl Iterator<Item = Judgement> {
    [Overflow::Before, Overflow::After]
        .into_iter()
        .flat_map(|overflow| [false, true].map(|allow_losing| Judgement { overflow, allow_losing }))
}

/// The choice and its value in full.
fn choice(engine: &Engine, well: &Well, piece: Piece, judgement: Judgement) -> Option<(Placement, i64)> {
    let standing = i64::from(engine.standing(well));
    engine.best(well, piece, judgement).map(|best| (best.placement, i64::from(best.value) + standing))
}

fn engines_agree(well: &Well, player: Player) -> Result<(), TestCaseError> {
    let engines = KINDS.map(|kind| Engine::new(player, kind));
    for piece in Piece::ALL {
        for judgement in judgements() {
            let law = choice(&engines[0], well, piece, judgement);
            for engine in &engines[1..] {
                prop_assert_eq!(
                    choice(engine, well, piece, judgement),
                    law,
                    "{}, {} {:?} {:?} on {:?}",
                    engine.name(),
                    piece,
                    judgement,
                    player,
                    well
                );
            }
        }
    }
    Ok(())
}

/// Otherwise the laws below would compare an engine with itself.
#[test]
fn engines_are_the_ones_meant() {
    let name = |set: Set, kind| Engine::new(Player::new(set, &vec![1; set.len()]).unwrap(), kind).name();
    for &set in Set::ALL {
        assert_eq!(name(set, EngineKind::General), "general", "{set}");
        let scalar = if FAST.contains(&set) { "scalar" } else { "general" };
        assert_eq!(name(set, EngineKind::Scalar), scalar, "{set}");
        #[cfg(all(feature = "simd", target_arch = "x86_64"))]
        let has_vector = FAST.contains(&set) && std::is_x86_feature_detected!("avx2");
        #[cfg(all(feature = "simd", target_arch = "x86_64"))]
        let fastest = if has_vector { "vector" } else { scalar };
        #[cfg(not(all(feature = "simd", target_arch = "x86_64")))]
        let fastest = scalar;
        assert_eq!(name(set, EngineKind::Fastest), fastest, "{set}");
    }
    let at_once = |player| Engine::new(player, EngineKind::Fastest).boards_at_once();
    let most = at_once(Player::known("dt20").unwrap());
    for player in ["bcts", "champion20", "cs3243"].map(|name| Player::known(name).unwrap()) {
        assert_eq!(at_once(player), most, "{player:?}");
    }
    assert_eq!(at_once(heavy()), most);
    assert_eq!(at_once(Player::new(Set::Cs3243, &[MAX_WEIGHT; 8]).unwrap()), 1, "values may be too large");
}

/// As far apart as values may be for boards to be served together.
fn heavy() -> Player {
    const MOST: i16 = MAX_WEIGHT;
    Player::new(Set::Cs3243, &[MOST, MOST, MOST, -200, MOST, -MOST, 300, -200]).unwrap()
}

proptest! {
    #![proptest_config(cases(4000))]

    #[test]
    fn engines_agree_on_any_board(well in well(), player in player(FAST)) {
        engines_agree(&well, player)?;
    }

    #[test]
    fn engines_agree_on_boards_of_play(well in played(), player in player(FAST)) {
        engines_agree(&well, player)?;
    }
}

/// Boards for the engine that serves many at once: more than it takes, low piles only or of any height.
fn boards() -> impl Strategy<Value = Vec<Well>> {
    (proptest::collection::vec(well(), 1..100), any::<bool>()).prop_map(move |(mut wells, low_only)| {
        wells.retain(|well| !low_only || well.max_height() <= LOW_PILE);
        wells
    })
}

fn boards_together_agree(wells: &[Well], players: [Player; 2]) -> Result<(), TestCaseError> {
    let together = players.map(|player| Engine::new(player, EngineKind::Fastest));
    let alone = players.map(|player| Engine::new(player, EngineKind::General));
    // One engine is another case than two that are equal.
    let engine = |i: usize| if players[0] == players[1] { &together[0] } else { &together[i % 2] };
    let boards: Vec<(&Engine, &Well)> = wells.iter().enumerate().map(|(i, well)| (engine(i), well)).collect();
    for piece in Piece::ALL {
        for judgement in judgements() {
            let mut best = vec![None; wells.len()];
            best_each(&boards, piece, judgement, &mut best);
            for (i, ((engine, well), best)) in boards.iter().zip(best).enumerate() {
                let standing = i64::from(engine.standing(well));
                let chosen = best.map(|best: Best| (best.placement, i64::from(best.value) + standing));
                let law = choice(&alone[i % 2], well, piece, judgement);
                prop_assert_eq!(chosen, law, "{} {:?} {:?} on {:?}", piece, judgement, players[i % 2], well);
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(cases(200))]

    #[test]
    fn boards_together_are_served_as_one_by_one(
        wells in boards(), one in player(TOGETHER), other in player(TOGETHER),
    ) {
        boards_together_agree(&wells, [one, other])?;
    }

    #[test]
    fn boards_together_are_served_to_the_brim(
        wells in boards(),
        one in prop_oneof![3 => player(&[Set::Cs3243]), 1 => Just(heavy())],
        other in prop_oneof![3 => player(&[Set::Cs3243]), 1 => player(TOGETHER)],
    ) {
        boards_together_agree(&wells, [one, other])?;
        boards_together_agree(&wells, [one, one])?;
    }
}

proptest! {
    #![proptest_config(cases(1000))]

    #[test]
    fn engines_drop_as_the_well_does(
        well in well(), name in proptest::sample::select(&["bcts", "champion20", "cs3243"][..]),
    ) {
        let engine = Engine::new(Player::known(name).unwrap(), EngineKind::Fastest);
        for piece in Piece::ALL {
            for placement in Placement::all(piece) {
                for overflow in [Overflow::Before, Overflow::After] {
                    let (mut plain, mut fast) = (well, well);
                    let landing = plain.drop(piece, placement, overflow);
                    prop_assert_eq!(engine.drop(&mut fast, piece, placement, overflow), landing);
                    prop_assert_eq!(fast, plain, "{} {:?} {:?} on {:?}", piece, placement, overflow, well);
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(cases(200))]

    #[test]
    fn the_choice_is_the_twins(well in well(), player in player(EXACT)) {
        let board = Board::of(&well);
        let engines = KINDS.map(|kind| Engine::new(player, kind));
        for piece in Piece::ALL {
            for judgement in judgements() {
                let law = twin::choose(&player, &board, piece, judgement.overflow, judgement.allow_losing);
                for engine in &engines {
                    prop_assert_eq!(
                        choice(engine, &well, piece, judgement), law,
                        "{}, {} {:?} {:?} on {:?}", engine.name(), piece, judgement, player, well
                    );
                }
            }
        }
    }
}

/// Weights of all signs that no one would play with: short games, boards full of holes.
fn odd_players() -> Vec<Player> {
    vec![
        Player::new(Set::D, &[-3000, -16383, 500, -700, 900, 1200]).unwrap(),
        Player::new(Set::Bcts, &[-8000, 300, -4000, -16383, -2000, 2500, 700, -9000]).unwrap(),
        Player::new(Set::Dt, &[-16383, 16383, -16383, -16383, 16383, -16383, -16383, -16383, 16383]).unwrap(),
        Player::new(Set::Dt, &[0, 0, -1, -1, 0, 0, 0, -1, 0]).unwrap(),
        Player::new(
            Set::B,
            &[
                -900, -800, -850, -700, -880, -910, -600, -870, -800, -990, -160, -220, -180, -240, -210, 90,
                -170, -130, -300, -16383, -9000,
            ],
        )
        .unwrap(),
        Player::new(Set::Bd, &[-1; 26]).unwrap(),
        Player::new(Set::Bdu, &[MAX_WEIGHT; 28].map(|weight| -weight)).unwrap(),
        Player::new(
            Set::Dropwise,
            &[-5000, 900, -3000, -5300, 3200, -3300, -960, -14400, 620, -340, 1120, 1280, 1980, -950, 1710],
        )
        .unwrap(),
        Player::new(Set::Dropwise, &[-9, 9, -9, -9, 9, -9, -9, -9, 9, 9, -9, 9, -9, 9, -9]).unwrap(),
        Player::new(
            Set::Bdu,
            &[
                5, -4, 3, -2, 1, -1, 2, -3, 4, -5, 9, -8, 7, -6, 5, -4, 3, -2, 1, 16383, 1, -1, 1, 2, -1, 3,
                1, -1,
            ],
        )
        .unwrap(),
    ]
}

/// Whole games move for move: 300 thousand pieces, or ten million with DROPWISE_FULL=1.
#[test]
fn engines_play_the_same_games() {
    use PieceSource::{Bag, Hard, Uniform};
    let games = [
        rules(20, Overflow::Before, Uniform),
        rules(10, Overflow::Before, Uniform),
        rules(20, Overflow::Before, Hard(4)),
        rules(20, Overflow::Before, Bag),
        rules(12, Overflow::After, Hard(4)),
    ];
    let known = ["dellacherie", "bcts", "dt10", "dt20", "rvce", "bdu", "champion10", "champion20"]
        .map(|name| Player::known(name).unwrap());
    let players: Vec<Player> = known.into_iter().chain(odd_players()).collect();
    let total: u64 = if full_length() { 10_000_000 } else { 300_000 };
    let share = total.div_ceil((games.len() * players.len()) as u64);
    let mut played = 0;
    for rules in games {
        for &player in &players {
            let controller =
                |engine| Controller::with_options(player, Options { engine, ..Options::default() });
            let (scalar, fastest) = (controller(EngineKind::Scalar), controller(EngineKind::Fastest));
            let mut left = share;
            for index in 0.. {
                let mut game = Game::new(rules, 2, index);
                let mut other = game.clone();
                game.play(&scalar, left);
                other.play(&fastest, left);
                assert_eq!(
                    (game.digest(), game.pieces(), game.lines(), game.is_over()),
                    (other.digest(), other.pieces(), other.lines(), other.is_over()),
                    "game {index} of seed 2, {player:?}, {rules:?}"
                );
                played += game.pieces();
                left -= game.pieces();
                if left == 0 {
                    break;
                }
            }
        }
    }
    assert!(played >= total);
}
