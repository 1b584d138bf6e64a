//! Choosing the player that a run leaves.
//!
//! The winner of a noisy race is partly lucky, and so is a run's last favourite. The last favourites and means of
//! several of them therefore meet again on fresh games: everyone plays some, the better half plays twice as many
//! more, and so on until one is left (successive halving: Karnin, Koren and Somekh, "Almost optimal exploration in
//! multi-armed bandits", 2013). A mean of favourites is often better than each of them: their errors cancel out.

use dropwise_core::player::WeightsError;

use super::judge::Judge;
use crate::arena::Progress;

/// The candidates that a run's last favourites give, the newest first: the last, and the means of the last 2, 4, 8, ...
/// and of all of them; then what else the optimiser would put forward.
///
/// ```
/// use host::train::select::candidates;
/// let candidates = candidates(&[vec![4.0, 0.0], vec![0.0, 2.0]], &[vec![0.0, 2.0], vec![-3.0, 0.0]]);
/// // Favourites are scaled to length 1 before they are averaged.
/// assert_eq!(candidates, [vec![0.0, 1.0], vec![0.5, 0.5], vec![-1.0, 0.0]]);
/// ```
pub fn candidates(favourites: &[Vec<f64>], contenders: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let newest: Vec<Vec<f64>> = favourites.iter().rev().cloned().collect();
    let mut candidates = vec![];
    let mut size = 1;
    while size < newest.len() {
        candidates.push(mean(&newest[..size]));
        size *= 2;
    }
    if !newest.is_empty() {
        candidates.push(mean(&newest));
    }
    for contender in contenders.iter().map(|contender| unit(contender)) {
        if !candidates.contains(&contender) {
            candidates.push(contender);
        }
    }
    candidates
}

/// The mean of weights that are scaled to length 1 first.
pub fn mean(players: &[Vec<f64>]) -> Vec<f64> {
    let mut mean = vec![0.0; players.first().map_or(0, Vec::len)];
    for weights in players {
        mean.iter_mut().zip(unit(weights)).for_each(|(mean, weight)| *mean += weight / players.len() as f64);
    }
    mean
}

/// Scaled to length 1, if it has a length.
fn unit(weights: &[f64]) -> Vec<f64> {
    let length = weights.iter().map(|weight| weight * weight).sum::<f64>().sqrt();
    if length > 0.0 && length.is_finite() {
        weights.iter().map(|weight| weight / length).collect()
    } else {
        weights.to_vec()
    }
}

/// How many games a selection takes at most: the sum of all rounds.
pub fn games(candidates: usize, games: u64) -> u64 {
    let (mut left, mut each, mut all) = (candidates as u64, games, 0);
    while left > 1 {
        all += left * each;
        left = left.div_ceil(2);
        each *= 2;
    }
    all
}

/// The index of the best candidate by successive halving, each playing this many games in the first round.
///
/// Candidates that play the same need not play: only the first of them enters.
///
/// # Errors
/// If a candidate is not a player.
pub fn halve(
    judge: &Judge<'_>,
    candidates: &[Vec<f64>],
    seed: u64,
    games: u64,
    progress: &Progress,
) -> Result<usize, WeightsError> {
    let controllers = judge.players(candidates)?;
    let mut left: Vec<usize> = (0..candidates.len()).collect();
    left.retain(|&i| controllers[..i].iter().all(|other| other.player() != controllers[i].player()));
    let mut scores: Vec<Vec<_>> = vec![vec![]; candidates.len()];
    let (mut from, mut each) = (0, games);
    while left.len() > 1 {
        let playing: Vec<_> = left.iter().map(|&i| controllers[i]).collect();
        let round = judge.play(&playing, seed, from..from + each, progress);
        for (&i, round) in left.iter().zip(round) {
            scores[i].extend(round);
        }
        // A stable order: of equals, the one that stood first stays first.
        left.sort_by(|&a, &b| judge.fitness_of(&scores[b]).total_cmp(&judge.fitness_of(&scores[a])));
        left.truncate(left.len().div_ceil(2));
        from += each;
        each *= 2;
    }
    Ok(left.first().copied().unwrap_or(0))
}
