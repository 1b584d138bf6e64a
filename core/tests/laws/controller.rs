//! Look-ahead and rescue against naive twins that try every way there is.

use dropwise_core::engine::{EngineKind, Judgement};
use dropwise_core::feature::Outcome;
use dropwise_core::{Controller, Join, Options, Overflow, Piece, Placement, Player, Set, Well};
use proptest::prelude::*;

use crate::generate::{cases, cramped, piece, player, well};

/// What may be chosen, in order.
fn outcomes(well: &Well, piece: Piece, judgement: Judgement) -> Vec<(Placement, Outcome)> {
    Placement::all(piece)
        .map(|placement| (placement, Outcome::of(well, piece, placement, judgement.overflow)))
        .filter(|(_, outcome)| judgement.allow_losing || !outcome.landing.loses)
        .collect()
}

/// The weighted sum of the features that speak of landings, or of those that speak of boards.
fn part(player: &Player, outcome: &Outcome, actions: bool) -> i64 {
    let terms = player.set().features().iter().zip(player.weights());
    terms
        .filter(|(feature, _)| feature.is_action() == actions)
        .map(|(feature, &weight)| i64::from(weight) * i64::from(feature.measure(outcome)))
        .sum()
}

/// Every way to place the pieces one after another, as (pieces placed, landings so far + board at the end). A way ends
/// when the pieces are used up, with a losing placement where those are allowed, or where nothing may be placed.
fn ways(
    player: &Player,
    outcome: &Outcome,
    next: &[Piece],
    judgement: Judgement,
    placed: usize,
    landings: i64,
    all: &mut Vec<(usize, i64)>,
) {
    let landings = landings + part(player, outcome, true);
    let replies = match next {
        [piece, ..] if !outcome.landing.loses => outcomes(&outcome.well, *piece, judgement),
        _ => Vec::new(),
    };
    if replies.is_empty() {
        all.push((placed, landings + part(player, outcome, false)));
    }
    for (_, reply) in replies {
        ways(player, &reply, &next[1..], judgement, placed + 1, landings, all);
    }
}

fn look_ahead(
    player: &Player,
    well: &Well,
    piece: Piece,
    next: &[Piece],
    judgement: Judgement,
) -> Option<Placement> {
    let mut best: Option<((usize, i64), Placement)> = None;
    for (placement, outcome) in outcomes(well, piece, judgement) {
        let mut all = Vec::new();
        ways(player, &outcome, next, judgement, 1, 0, &mut all);
        let worth = all.into_iter().max().expect("a way has an end");
        if best.is_none_or(|(most, _)| worth > most) {
            best = Some((worth, placement));
        }
    }
    best.map(|(_, placement)| placement)
}

fn rescue(player: &Player, well: &Well, piece: Piece, judgement: Judgement, join: Join) -> Option<Placement> {
    let mut best: Option<((i64, i64), Placement)> = None;
    for (placement, outcome) in outcomes(well, piece, judgement) {
        let own = i64::from(player.value(&outcome));
        let replies = Piece::ALL.map(|reply| {
            let values =
                if outcome.landing.loses { vec![] } else { outcomes(&outcome.well, reply, judgement) };
            values.iter().map(|(_, outcome)| i64::from(player.value(outcome))).max()
        });
        let alive = replies.iter().flatten().count() as i64;
        let sum = replies.iter().flatten().sum::<i64>();
        // Seven times what the documentation says: a mean over seven pieces times seven.
        let worth = match join {
            Join::Sum => (alive, 7 * own + sum),
            Join::Reply => (alive, sum),
            Join::Own => (alive, 7 * own),
            Join::SumFirst => {
                (7 * own + replies.iter().map(|reply| reply.unwrap_or(own)).sum::<i64>(), alive)
            }
        };
        if best.is_none_or(|(most, _)| worth > most) {
            best = Some((worth, placement));
        }
    }
    best.map(|(_, placement)| placement)
}

fn join() -> impl Strategy<Value = Join> {
    proptest::sample::select(&[Join::Sum, Join::Reply, Join::Own, Join::SumFirst][..])
}

fn overflow() -> impl Strategy<Value = Overflow> {
    proptest::sample::select(&[Overflow::Before, Overflow::After][..])
}

fn judgement() -> impl Strategy<Value = Judgement> {
    (overflow(), any::<bool>()).prop_map(|(overflow, allow_losing)| Judgement { overflow, allow_losing })
}

fn engine() -> impl Strategy<Value = EngineKind> {
    proptest::sample::select(&[EngineKind::General, EngineKind::Scalar, EngineKind::Fastest][..])
}

proptest! {
    #![proptest_config(cases(400))]

    #[test]
    fn one_known_piece_is_looked_ahead(
        well in well(), player in player(Set::ALL), piece in piece(), next in piece(), beyond in piece(),
        judgement in judgement(), engine in engine(),
    ) {
        let options = Options { allow_losing: judgement.allow_losing, lookahead: 1, engine, ..Options::default() };
        let controller = Controller::with_options(player, options);
        // A piece beyond the ones it may know changes nothing.
        let choice = controller.choose(&well, piece, &[next, beyond], judgement.overflow);
        let law = look_ahead(&player, &well, piece, &[next], judgement);
        prop_assert_eq!(choice, law, "{} then {} {:?} {:?}", piece, next, player, well);
    }

    #[test]
    fn rescue_expects_all_seven(
        well in well(), player in player(Set::ALL), piece in piece(),
        judgement in judgement(), engine in engine(), join in join(),
    ) {
        let top = well.max_height();
        let choose = |rescue| {
            let options =
                Options { allow_losing: judgement.allow_losing, rescue, join, engine, ..Options::default() };
            Controller::with_options(player, options).choose(&well, piece, &[], judgement.overflow)
        };
        let law = rescue(&player, &well, piece, judgement, join);
        if top > 0 {
            prop_assert_eq!(choose(Some(top - 1)), law, "{} {:?} {:?}", piece, player, well);
        }
        prop_assert_eq!(choose(Some(top)), choose(None), "a pile of that height needs no rescue");
    }

    /// Where pieces without a reply are common.
    #[test]
    fn rescue_joins_as_it_says_near_the_end(
        well in cramped(), player in player(Set::ALL), piece in piece(),
        judgement in judgement(), engine in engine(), join in join(),
    ) {
        prop_assume!(well.max_height() > 0);
        let options =
            Options { allow_losing: judgement.allow_losing, rescue: Some(0), join, engine, ..Options::default() };
        let choice = Controller::with_options(player, options).choose(&well, piece, &[], judgement.overflow);
        let law = rescue(&player, &well, piece, judgement, join);
        prop_assert_eq!(choice, law, "{:?} {} {:?} {:?}", join, piece, player, well);
    }

    #[test]
    fn with_no_piece_known_the_choice_is_greedy(
        well in well(), player in player(Set::ALL), piece in piece(), judgement in judgement(),
    ) {
        let choose = |lookahead, next: &[Piece]| {
            let options = Options { allow_losing: judgement.allow_losing, lookahead, ..Options::default() };
            Controller::with_options(player, options).choose(&well, piece, next, judgement.overflow)
        };
        let mut greedy = None;
        for (placement, outcome) in outcomes(&well, piece, judgement) {
            let value = player.value(&outcome);
            if greedy.is_none_or(|(most, _)| value > most) {
                greedy = Some((value, placement));
            }
        }
        let law = greedy.map(|(_, placement)| placement);
        prop_assert_eq!(choose(0, &[]), law);
        prop_assert_eq!(choose(0, &[Piece::I]), law);
        prop_assert_eq!(choose(2, &[]), law);
    }
}

fn two_known_pieces(
    well: &Well,
    player: Player,
    pieces: (Piece, Piece, Piece),
    judgement: Judgement,
    engine: EngineKind,
) -> Result<(), TestCaseError> {
    let (piece, next) = (pieces.0, [pieces.1, pieces.2]);
    let options =
        Options { allow_losing: judgement.allow_losing, lookahead: 2, engine, ..Options::default() };
    let choice = Controller::with_options(player, options).choose(well, piece, &next, judgement.overflow);
    let law = look_ahead(&player, well, piece, &next, judgement);
    prop_assert_eq!(choice, law, "{:?} {:?} {:?} {:?}", pieces, judgement, player, well);
    Ok(())
}

proptest! {
    #![proptest_config(cases(25))]

    #[test]
    fn two_known_pieces_are_looked_ahead(
        well in well(), player in player(Set::ALL), pieces in (piece(), piece(), piece()),
        judgement in judgement(), engine in engine(),
    ) {
        two_known_pieces(&well, player, pieces, judgement, engine)?;
    }
}

proptest! {
    #![proptest_config(cases(1000))]

    /// Where every way ends in a loss, the longer one counts more.
    #[test]
    fn two_known_pieces_are_looked_ahead_near_the_end(
        well in cramped(), player in player(Set::ALL), pieces in (piece(), piece(), piece()),
        overflow in overflow(), engine in engine(),
    ) {
        let judgement = Judgement { overflow, allow_losing: false };
        two_known_pieces(&well, player, pieces, judgement, engine)?;
    }
}
