//! Low piles, books and the games that go by them, against the plain ways.

use std::collections::HashMap;
use std::sync::LazyLock;

use dropwise_core::book::{MIN_BOARD, MIN_PAGE_BITS, Page, Shelf};
use dropwise_core::engine::{Best, Board, Engine, EngineKind, Judgement, best_each};
use dropwise_core::low::LowWell;
use dropwise_core::octet::{Kernel, LANES, Octet, Runner, Stepped, lanes};
use dropwise_core::{Controller, Game, Overflow, Piece, Placement, Player, Rules, Well};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::generate::{cases, piece};

/// The smallest books there are, one for each test that writes.
static PAGES: LazyLock<Vec<Page>> =
    LazyLock::new(|| (0..2 << MIN_PAGE_BITS).map(|_| Page::default()).collect());

fn shelf() -> Shelf<'static> {
    Shelf::new(&PAGES, MIN_PAGE_BITS).unwrap()
}

const OF_PROPERTY: u8 = 0;
const OF_GAMES: u8 = 1;

/// Rows from below; none of them full.
fn low_pile() -> impl Strategy<Value = LowWell> {
    let row = prop_oneof![
        any::<u16>(),
        (any::<u16>(), any::<u16>()).prop_map(|(a, b)| a | b),
        (0..10u32).prop_map(|x| !(1 << x))
    ];
    vec(row, 0..=LowWell::ROWS).prop_map(|rows| {
        let mut columns = [0; 10];
        for (y, row) in rows.iter().enumerate() {
            let row = if row & 1023 == 1023 { row & !1 } else { *row };
            for (x, column) in columns.iter_mut().enumerate() {
                *column |= u32::from(row >> x & 1) << y;
            }
        }
        LowWell::of(&Well::from_columns(MIN_BOARD, columns).unwrap()).unwrap()
    })
}

proptest! {
    #![proptest_config(cases(1000))]

    #[test]
    fn a_low_pile_is_the_well_that_it_was_made_of(pile in low_pile(), height in MIN_BOARD..=20) {
        let well = pile.well(height);
        prop_assert_eq!(well.height(), height);
        prop_assert_eq!(LowWell::of(&well), Some(pile));
        for (x, y) in (0..10).flat_map(|x| (0..height).map(move |y| (x, y))) {
            let bit = y < LowWell::ROWS && pile.bits() >> (10 * y + x) & 1 != 0;
            prop_assert_eq!(well.is_full(x, y), bit);
        }
    }

    #[test]
    fn a_drop_on_a_low_pile_is_the_wells(pile in low_pile(), height in MIN_BOARD..=20) {
        for piece in Piece::ALL {
            for placement in Placement::all(piece) {
                let mut well = pile.well(height);
                let landing = well.drop(piece, placement, Overflow::Before);
                prop_assert!(!landing.loses);
                let top = usize::from(landing.row) + placement.shape(piece).height;
                let expected = (top <= LowWell::ROWS).then(|| (LowWell::of(&well).unwrap(), landing.lines));
                prop_assert_eq!(pile.drop(piece, placement), expected, "{} {:?} on\n{}", piece, placement, pile.well(height));
            }
        }
    }

    /// Whatever the board's height and the judgement are.
    #[test]
    fn the_choice_on_a_low_pile_is_that_in_every_well(
        piles in vec(low_pile(), 1..40), piece in piece(), height in MIN_BOARD..=20, allow_losing: bool, after: bool,
    ) {
        let players = ["dt20", "cs3243", "bcts"].map(|name| Player::known(name).unwrap());
        let engines = players.map(|player| Engine::new(player, EngineKind::Fastest));
        let judgement = Judgement { allow_losing, overflow: if after { Overflow::After } else { Overflow::Before } };
        let wells: Vec<Well> = piles.iter().map(|pile| pile.well(height)).collect();
        // Low piles and wells side by side.
        let board = |i: usize| if i.is_multiple_of(3) { Board::Well(&wells[i]) } else { Board::Low(piles[i]) };
        let boards: Vec<_> = (0..piles.len()).map(|i| (&engines[i / 2 % 3], board(i))).collect();
        let mut best = vec![None; piles.len()];
        best_each(&boards, piece, Judgement::default(), &mut best);
        for ((best, well), (engine, board)) in best.iter().zip(&wells).zip(&boards) {
            let is_at_brim = engine.looks_at_brim() && height == MIN_BOARD && matches!(board, Board::Low(_));
            if is_at_brim {
                continue;
            }
            let expected = engine.best(well, piece, judgement);
            let placement = |best: Option<Best>| best.map(|best| best.placement);
            prop_assert_eq!(placement(*best), placement(expected));
            // Where values are relative to nothing, they tell how high the well is.
            if engine.boards_at_once() > 1 || engine.name() != "general" {
                prop_assert_eq!(*best, expected);
            }
        }
    }
}

/// Some of them again and again.
fn few_piles() -> impl Strategy<Value = LowWell> {
    prop_oneof![low_pile(), Just(LowWell::EMPTY)]
}

fn placed() -> impl Strategy<Value = (Piece, Placement)> {
    (piece(), any::<prop::sample::Index>()).prop_map(|(piece, index)| {
        let all: Vec<Placement> = Placement::all(piece).collect();
        (piece, all[index.index(all.len())])
    })
}

proptest! {
    #![proptest_config(cases(200))]

    /// In a book that has room for all of them. A player does the same whenever it meets a board.
    #[test]
    fn what_was_noted_is_found_and_nothing_else(
        noted in vec((few_piles(), placed()), 0..60), others in vec((few_piles(), piece()), 0..60),
    ) {
        static NOTED: LazyLock<std::sync::Mutex<HashMap<(LowWell, Piece), Placement>>> = LazyLock::new(Default::default);
        let mut map = NOTED.lock().unwrap();
        for (pile, (piece, placement)) in noted {
            let placement = *map.entry((pile, piece)).or_insert(placement);
            shelf().note(OF_PROPERTY, pile, piece, placement);
            prop_assert_eq!(shelf().look(OF_PROPERTY, pile, piece), Some(placement));
        }
        for (pile, piece) in others {
            let found = shelf().look(OF_PROPERTY, pile, piece);
            prop_assert!(found.is_none() || found == map.get(&(pile, piece)).copied());
        }
    }
}

/// How an octet steps.
type Step = fn(&mut Octet, Shelf<'_>) -> Stepped;

fn steps() -> Vec<Step> {
    let fast: Step = |octet, shelf| Kernel::new().expect("asked before").step(octet, shelf);
    let slow: Step = |octet, shelf| octet.step(shelf);
    if Kernel::new().is_some() { vec![slow, fast] } else { vec![slow] }
}

/// Plays games in an octet piece by piece, and beside them the same by [`Game::step`].
#[test]
fn games_in_an_octet_are_those_of_steps() {
    let controller = Controller::new(Player::known("dt20").unwrap());
    let limit = 20_000;
    for step in steps() {
        let mut octet = Octet::new();
        let mut pairs: Vec<[Game<'_>; 2]> =
            (0..2 * LANES as u64).map(|i| [0; 2].map(|_| Game::new(Rules::default(), 7, i))).collect();
        let mut ready: Vec<(usize, Runner)> = vec![];
        let (mut by_book, mut told) = (0, 0);
        let mut left = pairs.len();
        let mut idle: Vec<usize> = (0..pairs.len()).collect();
        while left > 0 {
            for number in std::mem::take(&mut idle) {
                // With high piles, to where they are low again.
                let [game, twin] = &mut pairs[number];
                loop {
                    if game.pieces() == limit {
                        left -= 1;
                        break;
                    }
                    if let Some(runner) = Runner::new(game, OF_GAMES, limit) {
                        ready.push((number, runner));
                        break;
                    }
                    assert_eq!(game.step(&controller), twin.step(&controller));
                }
            }
            for lane in lanes(!octet.running()) {
                let Some((number, runner)) = ready.pop() else { break };
                octet.put(lane, number as u32, &runner);
            }
            let running = octet.running();
            let stepped = step(&mut octet, shelf());
            assert_eq!(stepped.placed | stepped.unknown | stepped.unfit, running);
            for lane in lanes(running) {
                let (number, mut runner) = octet.get(lane);
                let [game, twin] = &mut pairs[number as usize];
                let is_placed = stepped.placed >> lane & 1 != 0;
                if is_placed {
                    twin.step(&controller).unwrap();
                    by_book += 1;
                }
                runner.bring_back(game);
                let told_of = |game: &mut Game<'_>| {
                    (game.pieces(), game.lines(), game.digest(), *game.well(), game.upcoming(0).to_vec())
                };
                assert_eq!(told_of(game), told_of(twin));
                if stepped.unknown >> lane & 1 != 0 {
                    let best = controller.engine().best(game.well(), runner.piece(), Judgement::default());
                    runner.tell(best.unwrap().placement, shelf());
                    told += 1;
                    ready.push((number as usize, runner));
                } else if stepped.unfit >> lane & 1 != 0 {
                    assert_eq!(game.place(runner.chosen().unwrap()), twin.step(&controller));
                    idle.push(number as usize);
                } else if stepped.spent >> lane & 1 != 0 {
                    assert_eq!(game.pieces(), limit);
                    idle.push(number as usize);
                } else {
                    octet.put(lane, number, &runner);
                }
            }
        }
        assert!(by_book > told, "the book was of no use");
    }
}
