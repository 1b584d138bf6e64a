//! A game from the first piece to the end, and its digest.

use dropwise_core::game::digest;
use dropwise_core::{
    Controller, Game, Options, Overflow, Piece, PieceSource, Placement, Player, Rules, Well,
};

use crate::rules;

fn bcts() -> Controller {
    Controller::new(Player::known("bcts").unwrap())
}

#[test]
fn a_list_ends() {
    let list = [Piece::I, Piece::T, Piece::O];
    let mut game = Game::new(rules(20, Overflow::Before, PieceSource::List(&list)), 1, 0);
    assert_eq!(game.upcoming(2), list);
    let placed: Vec<Piece> = std::iter::from_fn(|| game.step(&bcts())).map(|moved| moved.piece).collect();
    assert_eq!(placed, list);
    assert!(game.is_over());
    assert_eq!(game.upcoming(2), []);
    assert_eq!((game.step(&bcts()), game.place(Placement { orientation: 0, column: 0 })), (None, None));
    assert_eq!(game.pieces(), 3);
}

#[test]
fn a_list_shows_fewer_pieces_at_its_end() {
    let list = [Piece::S, Piece::Z];
    let mut game = Game::new(rules(20, Overflow::Before, PieceSource::List(&list)), 1, 0);
    assert_eq!(game.upcoming(1), list);
    game.place(Placement { orientation: 0, column: 0 });
    assert_eq!(game.upcoming(2), [Piece::Z]);
    let options = Options { lookahead: 2, ..Options::default() };
    let ahead = Controller::with_options(Player::known("bcts").unwrap(), options);
    assert_eq!(game.step(&ahead).map(|moved| moved.piece), Some(Piece::Z));
    assert_eq!(game.step(&ahead), None);
}

#[test]
fn an_empty_list_is_over_at_once() {
    let mut game = Game::new(rules(20, Overflow::Before, PieceSource::List(&[])), 1, 0);
    assert_eq!(game.step(&bcts()), None);
    assert!(game.is_over());
    assert_eq!((game.pieces(), game.lines()), (0, 0));
}

#[test]
fn looking_at_the_pieces_does_not_change_them() {
    let mut game = Game::new(Rules::default(), 5, 0);
    let mut peeked = game.clone();
    for _ in 0..100 {
        let expected = peeked.upcoming(2).to_vec();
        assert_eq!(expected.len(), 3);
        assert_eq!(peeked.upcoming(1), &expected[..2]);
        assert_eq!(game.step(&bcts()).map(|moved| moved.piece), Some(expected[0]));
        peeked.step(&bcts());
        assert_eq!(peeked.upcoming(0), &expected[1..2]);
        assert_eq!(game.digest(), peeked.digest());
    }
}

/// No piece fits any more: the game ends, and stays so.
#[test]
fn a_game_that_is_lost_gives_no_more_moves() {
    let mut game = Game::new(rules(4, Overflow::Before, PieceSource::Hard(4)), 3, 0);
    game.play(&bcts(), u64::MAX);
    assert!(game.is_over());
    let (pieces, lines, well, digest) = (game.pieces(), game.lines(), *game.well(), game.digest());
    assert!(pieces > 0 && well.max_height() <= 4);
    for placement in Placement::all(Piece::O) {
        assert_eq!(game.step(&bcts()), None);
        assert_eq!(game.place(placement), None);
    }
    assert_eq!((pieces, lines, well, digest), (game.pieces(), game.lines(), *game.well(), game.digest()));
}

/// A placement that loses is a move, and scores nothing even where its lines are cleared first.
#[test]
fn a_losing_placement_ends_the_game_without_lines() {
    let well = Well::from_art(
        "
        .XXXXXXXXX
        X.XXXXXXXX
        XX.XXXXXXX
        XXX.XXXXXX
        ",
    )
    .unwrap();
    for overflow in [Overflow::Before, Overflow::After] {
        let rules = rules(4, overflow, PieceSource::List(&[Piece::I, Piece::I]));
        let mut game = Game::new(rules, 0, 0).with_well(well);
        let moved = game.place(Placement { orientation: 0, column: 0 }).expect("a move");
        assert!(moved.landing.loses);
        assert_eq!(moved.landing.lines, if overflow == Overflow::After { 1 } else { 0 });
        assert!(game.is_over());
        assert_eq!((game.pieces(), game.lines()), (1, 0));
    }
}

#[test]
fn losing_placements_are_chosen_only_where_allowed() {
    let well = Well::from_art(
        "
        X.X.X.X.X.
        X.X.X.X.X.
        X.X.X.X.X.
        X.X.X.X.X.
        ",
    )
    .unwrap();
    let play = |allow_losing| {
        let options = Options { allow_losing, ..Options::default() };
        let controller = Controller::with_options(Player::known("bcts").unwrap(), options);
        let mut game =
            Game::new(rules(4, Overflow::Before, PieceSource::List(&[Piece::O])), 0, 0).with_well(well);
        (game.step(&controller).is_some(), game.pieces(), game.is_over())
    };
    assert_eq!(play(false), (false, 0, true));
    assert_eq!(play(true), (true, 1, true));
}

#[test]
#[should_panic(expected = "as high as the rules say")]
fn a_board_of_another_height_is_refused() {
    let _ = Game::new(Rules::default(), 0, 0).with_well(Well::new(10).unwrap());
}

#[test]
fn a_game_starts_from_a_given_board() {
    let well = Well::from_art(
        "
        ..........
        ..........
        ..........
        ..........
        XXXXXXXXX.
        XXXXXXXXX.
        XXXXXXXXX.
        XXXXXXXXX.
        ",
    )
    .unwrap();
    let mut game =
        Game::new(rules(8, Overflow::Before, PieceSource::List(&[Piece::I])), 0, 0).with_well(well);
    let moved = game.step(&bcts()).expect("a move");
    assert_eq!((moved.placement, game.lines()), (Placement { orientation: 0, column: 9 }, 4));
    assert_eq!(*game.well(), Well::new(8).unwrap());
}

#[test]
fn equal_digests_mean_equal_games() {
    let play = |seed, index, name: &str| {
        let mut game = Game::new(Rules::default(), seed, index);
        game.play(&Controller::new(Player::known(name).unwrap()), 500);
        assert_eq!(game.pieces(), 500);
        game.digest()
    };
    let digest = play(1, 0, "bcts");
    assert_eq!(digest, play(1, 0, "bcts"));
    assert_ne!(digest, play(1, 1, "bcts"));
    assert_ne!(digest, play(2, 0, "bcts"));
    assert_ne!(digest, play(1, 0, "dt20"));
}

/// The digest is the documented one: FNV-1a over words of piece, orientation and column.
#[test]
fn a_digest_is_made_of_the_moves() {
    let mut game = Game::new(Rules::default(), 7, 7);
    let mut words = Vec::new();
    assert_eq!(game.digest(), digest([]));
    for _ in 0..50 {
        let moved = game.step(&bcts()).expect("a move");
        let (orientation, column) = (moved.placement.orientation, moved.placement.column);
        let piece = Piece::ALL.iter().position(|piece| *piece == moved.piece).unwrap() as u64;
        words.push(piece + 8 * u64::from(orientation) + 32 * u64::from(column));
        assert_eq!(game.digest(), digest(words.iter().copied()));
    }
}

/// A game of 1,000 pieces must stay what it is on every machine and in every version: scores are quoted by seed.
#[test]
fn the_games_of_a_seed_are_pinned() {
    let play = |rules, name: &str| {
        let mut game = Game::new(rules, 2026, 1);
        game.play(&Controller::new(Player::known(name).unwrap()), 1000);
        (game.digest(), game.pieces(), game.lines())
    };
    let found = [
        play(Rules::default(), "bcts"),
        play(rules(10, Overflow::Before, PieceSource::Uniform), "dt20"),
        play(rules(20, Overflow::Before, PieceSource::Hard(4)), "dellacherie"),
        play(rules(16, Overflow::Before, PieceSource::Bag), "cs3243"),
    ];
    assert_eq!(found, PINNED);
}

const PINNED: [(u64, u64, u64); 4] = [
    (14590815127686283053, 1000, 398),
    (6460422599746378077, 1000, 399),
    (1520628107238236349, 722, 272),
    (17942322077190228218, 1000, 398),
];
