//! What must hold of the pieces and scores of many games. Seeds are fixed, so each test gives the same every time; the
//! bounds say how unlikely a fair generator would be to break them.

use std::thread;

use dropwise_core::{Controller, Game, Overflow, Piece, PieceSource, Placement, Player, Rules, Well};

use crate::rules;

/// The pieces of a game, whatever is done with them: the board is emptied after each.
fn sequence(pieces: PieceSource, seed: u64, index: u64, length: usize) -> Vec<Piece> {
    let mut game = Game::new(rules(20, Overflow::Before, pieces), seed, index);
    let mut drawn = Vec::with_capacity(length);
    for _ in 0..length {
        drawn.push(game.upcoming(0)[0]);
        game.place(Placement { orientation: 0, column: 0 });
        game = game.with_well(Well::new(20).unwrap());
    }
    drawn
}

fn counts(pieces: &[Piece]) -> [u32; 7] {
    let mut counts = [0; 7];
    for &piece in pieces {
        counts[piece as usize] += 1;
    }
    counts
}

fn chi_square(counts: &[u32], probabilities: &[f64]) -> f64 {
    let total: u32 = counts.iter().sum();
    let terms = counts.iter().zip(probabilities).map(|(&count, p)| {
        let expected = p * f64::from(total);
        (f64::from(count) - expected).powi(2) / expected
    });
    terms.sum()
}

/// Chi-square with six degrees of freedom is above this once in 100,000 fair draws, and below the other as rarely.
const HIGH_6: f64 = 33.1;
const LOW_6: f64 = 0.075;

#[test]
fn pieces_are_as_frequent_as_the_rules_say() {
    let mut sources = vec![(PieceSource::Uniform, [1.0 / 7.0; 7])];
    for times in [1, 2, 3, 4, 255] {
        let weights =
            Piece::ALL.map(|piece| if matches!(piece, Piece::S | Piece::Z) { f64::from(times) } else { 1.0 });
        let sum: f64 = weights.iter().sum();
        sources.push((PieceSource::Hard(times), weights.map(|weight| weight / sum)));
    }
    for (source, probabilities) in sources {
        let found = chi_square(&counts(&sequence(source, 11, 0, 100_000)), &probabilities);
        assert!((LOW_6..HIGH_6).contains(&found), "{source}: chi-square {found}");
    }
}

/// The first pieces of many games are as even as the pieces of one game.
#[test]
fn first_pieces_of_games_are_even() {
    for seed in [0, 1, u64::MAX] {
        let first: Vec<Piece> =
            (0..20_000).map(|index| sequence(PieceSource::Uniform, seed, index, 1)[0]).collect();
        let found = chi_square(&counts(&first), &[1.0 / 7.0; 7]);
        assert!((LOW_6..HIGH_6).contains(&found), "seed {seed}: chi-square {found}");
    }
    let first: Vec<Piece> = (0..20_000).map(|seed| sequence(PieceSource::Uniform, seed, 0, 1)[0]).collect();
    let found = chi_square(&counts(&first), &[1.0 / 7.0; 7]);
    assert!((LOW_6..HIGH_6).contains(&found), "by seeds: chi-square {found}");
}

/// A piece says nothing about the next one. Of the 48 degrees of freedom of 49 kinds of pairs, chi-square is above 102 or
/// below 16.8 once in 100,000 fair draws each.
#[test]
fn pieces_are_independent_of_the_one_before() {
    let drawn = sequence(PieceSource::Uniform, 12, 0, 100_000);
    let mut pairs = [0; 49];
    for pair in drawn.chunks_exact(2) {
        pairs[pair[0] as usize * 7 + pair[1] as usize] += 1;
    }
    let found = chi_square(&pairs, &[1.0 / 49.0; 49]);
    assert!((16.8..102.0).contains(&found), "chi-square {found}");
}

#[test]
fn each_bag_holds_each_piece_once() {
    let drawn = sequence(PieceSource::Bag, 13, 0, 7 * 10_000);
    let mut places = [[0; 7]; 7];
    for bag in drawn.chunks(7) {
        assert_eq!(counts(bag), [1; 7], "{bag:?}");
        for (place, &piece) in bag.iter().enumerate() {
            places[place][piece as usize] += 1;
        }
    }
    for (place, counts) in places.iter().enumerate() {
        let found = chi_square(counts, &[1.0 / 7.0; 7]);
        assert!((LOW_6..HIGH_6).contains(&found), "place {place} of a bag: chi-square {found}");
    }
}

/// Games of neighbouring indices, or seeds, must not be each other moved by a few pieces, as they are where a
/// generator's state is stepped by its own constant from game to game.
#[test]
fn neighbouring_games_are_not_shifted_copies() {
    const LENGTH: usize = 300;
    const SHIFT: usize = 60;
    let uniform = |seed, index| sequence(PieceSource::Uniform, seed, index, LENGTH);
    let mut pairs = Vec::new();
    for i in 0..40 {
        pairs.push((format!("games {i} and the next"), uniform(1, i), uniform(1, i + 1)));
        pairs.push((format!("seeds {i} and the next"), uniform(i, 0), uniform(i + 1, 0)));
        pairs.push((format!("seed and game {i} exchanged"), uniform(i, i + 1), uniform(i + 1, i)));
    }
    for (name, one, other) in pairs {
        for shift in 0..=SHIFT {
            for (a, b) in [(&one[shift..], &other[..]), (&one[..], &other[shift..])] {
                let both = a.len().min(b.len());
                let same = a.iter().zip(b).filter(|(a, b)| a == b).count();
                // Of 240 pairs or more a seventh agrees, give or take 2.3 %: a third is eight deviations off.
                assert!(3 * same < both, "{name}: {same} of {both} pieces agree at shift {shift}");
            }
        }
    }
}

/// The lines of so many games, each played to its end.
fn scores(rules: Rules<'static>, player: &str, seed: u64, games: u64) -> Vec<f64> {
    let controller = Controller::new(Player::known(player).unwrap());
    let play = |index| {
        let mut game = Game::new(rules, seed, index);
        game.play(&controller, u64::MAX);
        assert!(game.is_over());
        game.lines() as f64
    };
    let half = games / 2;
    thread::scope(|scope| {
        let rest = scope.spawn(|| (half..games).map(play).collect::<Vec<_>>());
        let mut scores: Vec<f64> = (0..half).map(play).collect();
        scores.extend(rest.join().unwrap());
        scores
    })
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Long games end by rare accidents, so their scores are close to exponential: sd = mean. For such scores both the
/// estimate of sd/mean and the correlation of neighbours have a standard error of 1/sqrt(N); four of them are allowed.
/// The game is bcts on a well of 8 rows, 580 lines on average with this seed, to have many games of a length far above the few
/// pieces that an accident takes.
#[test]
fn scores_are_exponential_and_neighbours_independent() {
    const GAMES: u64 = 2000;
    let scores = scores(Rules::new(8).unwrap(), "bcts", 17, GAMES);
    let allowed = 4.0 / (GAMES as f64).sqrt();
    let mean_score = mean(&scores);
    let deviations: Vec<f64> = scores.iter().map(|score| score - mean_score).collect();
    let variance = mean(&deviations.iter().map(|d| d * d).collect::<Vec<_>>());
    let ratio = variance.sqrt() / mean_score;
    assert!((ratio - 1.0).abs() < allowed, "sd/mean is {ratio} over {GAMES} games of mean {mean_score}");
    for lag in 1..=3 {
        let products: Vec<f64> = deviations.iter().zip(&deviations[lag..]).map(|(a, b)| a * b).collect();
        let correlation = mean(&products) / variance;
        assert!(correlation.abs() < allowed, "correlation {correlation} at lag {lag}, mean {mean_score}");
    }
    // Something was played at all.
    assert!(mean_score > 300.0, "mean {mean_score}");
}
