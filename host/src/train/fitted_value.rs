//! Fitted value iteration: M. Bodoia and A. Puranik, "Applying reinforcement learning to competitive Tetris" (2013).
//!
//! The value of a board is taken to be a linear function of its features and a constant. Boards are sampled by placing
//! random pieces at random; then two steps alternate. The value that each board should have follows from the values of
//! the boards after it: the mean over the seven pieces, which is exact, of the best that a placement can earn,
//!
//! ```text
//! y = 1/7 sum over pieces of max over placements of (lines + gamma V(board after)),
//! ```
//!
//! where losing costs the height of the well and ends all. And the function is fitted to these values by least squares.
//!
//! The paper writes one piece into the state and takes the maximum outside of the expectation; as its features do not
//! see the piece, the mean over it is what a fit of that would give. The board with which a sampled game is lost is a
//! sample too, as in the paper, with the cost of losing for its value.
//!
//! It learns without playing: [`Optimiser::ask`] does one iteration and proposes what it has, so that the run can show
//! how well that plays, and [`Optimiser::tell`] makes no difference. The constant is left out of what is proposed,
//! because it is the same for every placement.

use dropwise_core::feature::Outcome;
use dropwise_core::{Feature, Overflow, Piece, Placement, Set, Well};
use nalgebra::{DMatrix, SymmetricEigen};
use rand_core::{Rng, SeedableRng};
use serde::{Deserialize, Serialize};

use super::sample::below;
use super::{IterationRng, Optimiser};

/// What fitted value iteration starts from.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct FittedValueConfig {
    /// The name of the set whose weights are learned.
    pub set: String,
    /// The features that are fitted; the weights of the set's others are 0. In the paper max_height, holes and covers.
    pub features: Vec<String>,
    /// Rows of the well: 20.
    #[serde(default = "default_height")]
    pub height: usize,
    /// How many boards are sampled: 1000.
    #[serde(default = "default_samples")]
    pub samples: usize,
    /// By how much a reward is worth less if it comes a piece later: 0.9.
    #[serde(default = "default_gamma")]
    pub gamma: f64,
    /// What losing costs. None: the height of the well, as in the paper.
    #[serde(default)]
    pub losing_cost: Option<f64>,
    /// It has converged when no parameter changes by this much in an iteration: 0.01.
    #[serde(default = "default_tolerance")]
    pub tolerance: f64,
}

fn default_height() -> usize {
    20
}

fn default_samples() -> usize {
    1000
}

fn default_gamma() -> f64 {
    0.9
}

fn default_tolerance() -> f64 {
    0.01
}

impl Default for FittedValueConfig {
    /// The paper's best: max_height, holes and covers.
    fn default() -> FittedValueConfig {
        FittedValueConfig {
            set: Set::Bodoia.name().into(),
            features: ["max_height", "holes", "covers"].map(String::from).to_vec(),
            height: default_height(),
            samples: default_samples(),
            gamma: default_gamma(),
            losing_cost: None,
            tolerance: default_tolerance(),
        }
    }
}

impl FittedValueConfig {
    /// The paper's settings for all features of a set that speak of the board.
    pub fn new(set: Set) -> FittedValueConfig {
        let of_the_board = set.features().iter().filter(|feature| !feature.is_action());
        FittedValueConfig {
            set: set.name().into(),
            features: of_the_board.map(|feature| feature.name().into()).collect(),
            ..FittedValueConfig::default()
        }
    }

    /// What is fitted: each feature and its place in the set.
    ///
    /// # Errors
    /// A sentence, if the set or a feature is unknown, the set does not have the feature, or the feature speaks of how a
    /// piece landed, which is not known of a board; or if a number is out of its range.
    pub fn check(&self) -> Result<(Set, Vec<(usize, Feature)>), String> {
        let set =
            Set::from_name(&self.set).ok_or_else(|| format!("there is no feature set '{}'", self.set))?;
        let mut fitted = Vec::new();
        for name in &self.features {
            let feature = Feature::from_name(name).ok_or_else(|| format!("there is no feature '{name}'"))?;
            let place = set.features().iter().position(|&other| other == feature);
            let place = place.ok_or_else(|| format!("set '{set}' does not have feature '{name}'"))?;
            if feature.is_action() {
                return Err(format!(
                    "'{name}' speaks of how a piece landed; a board's value cannot depend on it"
                ));
            }
            fitted.push((place, feature));
        }
        if Well::new(self.height).is_err() {
            return Err(format!("a well cannot be {} rows high", self.height));
        }
        if self.samples == 0 || self.samples <= fitted.len() {
            return Err("there must be more samples than parameters".into());
        }
        if !(0.0..1.0).contains(&self.gamma) {
            return Err("gamma must be from 0 to below 1".into());
        }
        if !(self.tolerance > 0.0 && self.tolerance.is_finite()) {
            return Err("the tolerance must be positive".into());
        }
        if self.losing_cost.is_some_and(|cost| !cost.is_finite()) {
            return Err("the cost of losing must be a finite number".into());
        }
        Ok((set, fitted))
    }
}

/// The parameters, and the seed that the samples are drawn from anew in each iteration: that is faster than to keep
/// them in a checkpoint.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub struct FittedValue {
    config: FittedValueConfig,
    seed: Option<u64>,
    /// The constant, then a parameter for each fitted feature.
    parameters: Vec<f64>,
    /// The largest change of a parameter in the last iteration. None before the first.
    change: Option<f64>,
    iteration: u64,
}

/// A sampled board: its features, a constant first, and what follows from it.
struct Sample {
    features: Vec<f64>,
    well: Well,
    is_lost: bool,
}

impl FittedValue {
    /// A value function that is zero everywhere.
    ///
    /// # Errors
    /// See [`FittedValueConfig::check`].
    pub fn new(config: FittedValueConfig) -> Result<FittedValue, String> {
        let (_, fitted) = config.check()?;
        Ok(FittedValue {
            parameters: vec![0.0; 1 + fitted.len()],
            config,
            seed: None,
            change: None,
            iteration: 0,
        })
    }

    /// The constant, then the parameters of the fitted features: a row of the paper's table.
    pub fn parameters(&self) -> &[f64] {
        &self.parameters
    }

    /// Iterations done.
    pub fn iterations(&self) -> u64 {
        self.iteration
    }

    fn fitted(&self) -> (Set, Vec<(usize, Feature)>) {
        self.config.check().expect("it was checked when it was made, and a checkpoint holds what was made")
    }

    fn losing_cost(&self) -> f64 {
        self.config.losing_cost.unwrap_or(self.config.height as f64)
    }

    /// One iteration: the values that the samples should have, and the fit to them.
    fn iterate(&mut self, seed: u64) {
        let (_, fitted) = self.fitted();
        let samples = sample(&mut IterationRng::seed_from_u64(seed), &self.config, &fitted);
        let values: Vec<f64> = samples
            .iter()
            .map(
                |sample| {
                    if sample.is_lost { -self.losing_cost() } else { self.backup(&sample.well, &fitted) }
                },
            )
            .collect();
        let rows: Vec<&[f64]> = samples.iter().map(|sample| &sample.features[..]).collect();
        let fit = least_squares(&rows, &values);
        let change = fit.iter().zip(&self.parameters).map(|(new, old)| (new - old).abs()).fold(0.0, f64::max);
        self.change = Some(change);
        self.parameters = fit;
        self.iteration += 1;
    }

    /// The mean over the pieces of the best that a placement earns.
    fn backup(&self, well: &Well, fitted: &[(usize, Feature)]) -> f64 {
        let best = |piece: Piece| {
            Placement::all(piece)
                .map(|placement| {
                    let outcome = Outcome::of(well, piece, placement, Overflow::Before);
                    if outcome.landing.loses {
                        return -self.losing_cost();
                    }
                    let value: f64 = measure(&outcome, fitted)
                        .zip(&self.parameters)
                        .map(|(x, parameter)| x * parameter)
                        .sum();
                    f64::from(outcome.landing.lines) + self.config.gamma * value
                })
                .fold(f64::MIN, f64::max)
        };
        Piece::ALL.map(best).iter().sum::<f64>() / Piece::NUM as f64
    }
}

/// A constant 1, then the features.
fn measure<'a>(outcome: &'a Outcome, fitted: &'a [(usize, Feature)]) -> impl Iterator<Item = f64> + 'a {
    let features =
        fitted.iter().map(|(_, feature)| f64::from(feature.measure(outcome)) / f64::from(feature.unit()));
    std::iter::once(1.0).chain(features)
}

/// Boards of games in which random pieces are placed at random.
fn sample(rng: &mut IterationRng, config: &FittedValueConfig, fitted: &[(usize, Feature)]) -> Vec<Sample> {
    let empty = Well::new(config.height).expect("the height was checked");
    let mut well = empty;
    let mut samples = Vec::with_capacity(config.samples);
    while samples.len() < config.samples {
        let piece = Piece::ALL[below(rng, Piece::NUM)];
        let choice = below(rng, Placement::all(piece).count());
        let placement = Placement::all(piece).nth(choice).expect("it was drawn from them");
        let outcome = Outcome::of(&well, piece, placement, Overflow::Before);
        let is_lost = outcome.landing.loses;
        samples.push(Sample { features: measure(&outcome, fitted).collect(), well: outcome.well, is_lost });
        well = if is_lost { empty } else { outcome.well };
    }
    samples
}

/// The parameters whose products with the rows differ least from the values, in squares. Where several do equally well,
/// as with a feature that is a sum of others, the shortest.
fn least_squares(rows: &[&[f64]], values: &[f64]) -> Vec<f64> {
    let n = rows[0].len();
    let mut gram = DMatrix::<f64>::zeros(n, n);
    let mut moment = vec![0.0; n];
    for (row, value) in rows.iter().zip(values) {
        for i in 0..n {
            moment[i] += row[i] * value;
            for j in 0..n {
                gram[(i, j)] += row[i] * row[j];
            }
        }
    }
    // Each feature is scaled to a mean square of 1, so that one cut-off tells for all which directions are empty.
    let scale: Vec<f64> =
        (0..n).map(|i| if gram[(i, i)] > 0.0 { 1.0 / gram[(i, i)].sqrt() } else { 0.0 }).collect();
    let eigen = SymmetricEigen::new(DMatrix::from_fn(n, n, |i, j| gram[(i, j)] * scale[i] * scale[j]));
    let mut solution = vec![0.0; n];
    for k in 0..n {
        let value = eigen.eigenvalues[k];
        if value > 1e-10 {
            let along: f64 = (0..n).map(|i| eigen.eigenvectors[(i, k)] * scale[i] * moment[i]).sum();
            for i in 0..n {
                solution[i] += along / value * eigen.eigenvectors[(i, k)] * scale[i];
            }
        }
    }
    solution
}

impl Optimiser for FittedValue {
    /// One iteration, unless it has converged; then the weights.
    fn ask(&mut self, rng: &mut IterationRng) -> Vec<Vec<f64>> {
        let seed = *self.seed.get_or_insert_with(|| rng.next_u64());
        if !self.is_done() {
            self.iterate(seed);
        }
        vec![self.favourite()]
    }

    fn tell(&mut self, _: &[f64]) {}

    /// The weights of the set, 0 where a feature is not fitted.
    fn favourite(&self) -> Vec<f64> {
        let (set, fitted) = self.fitted();
        let mut weights = vec![0.0; set.len()];
        for ((place, _), parameter) in fitted.into_iter().zip(&self.parameters[1..]) {
            weights[place] = *parameter;
        }
        weights
    }

    /// The largest change of a parameter in the last iteration.
    fn spread(&self) -> f64 {
        self.change.unwrap_or(f64::MAX)
    }

    /// Whether it has converged.
    fn is_done(&self) -> bool {
        self.change.is_some_and(|change| change < self.config.tolerance)
    }

    fn parents(&self) -> usize {
        1
    }
}

#[cfg(test)]
mod tests {
    use dropwise_core::{Controller, Game, Player, Rules};

    use super::super::sample::tests::{continues_from_a_checkpoint, rng};
    use super::super::sample::uniform;
    use super::*;

    fn config(height: usize, samples: usize, features: &[&str]) -> FittedValueConfig {
        FittedValueConfig {
            height,
            samples,
            features: features.iter().map(|&name| name.into()).collect(),
            ..FittedValueConfig::default()
        }
    }

    fn learn(config: FittedValueConfig) -> FittedValue {
        let mut method = FittedValue::new(config).unwrap();
        for iteration in 0..300 {
            assert_eq!(method.ask(&mut rng(iteration)), [method.favourite()]);
            method.tell(&[0.0]);
            if method.is_done() {
                return method;
            }
        }
        panic!("it does not converge: {method:?}");
    }

    fn random_lifespan(height: usize, games: u64) -> f64 {
        let mut rng = rng(8);
        let mut placed = 0;
        for index in 0..games {
            let mut game = Game::new(Rules::new(height).unwrap(), 5, index);
            while !game.is_over() {
                let piece = game.upcoming(0)[0];
                let choice = below(&mut rng, Placement::all(piece).count());
                game.place(Placement::all(piece).nth(choice).unwrap());
            }
            placed += game.pieces();
        }
        placed as f64 / games as f64
    }

    fn lifespan(method: &FittedValue, height: usize, games: u64) -> f64 {
        let controller = Controller::new(Player::quantise(Set::Bodoia, &method.favourite()).unwrap());
        let mut placed = 0;
        for index in 0..games {
            let mut game = Game::new(Rules::new(height).unwrap(), 5, index);
            game.play(&controller, 100_000);
            placed += game.pieces();
        }
        placed as f64 / games as f64
    }

    #[test]
    fn learns_to_live_longer_than_random_on_a_small_board() {
        let random = random_lifespan(10, 300);
        let three = learn(config(10, 300, &["max_height", "holes", "covers"]));
        let alone = learn(config(10, 300, &["max_height"]));
        let (three, alone) = (lifespan(&three, 10, 100), lifespan(&alone, 10, 100));
        assert!(alone > 1.3 * random, "{alone} pieces by max_height, {random} at random");
        assert!(three > 2.0 * random, "{three} pieces by three features, {random} at random");
    }

    #[test]
    fn high_boards_and_holes_are_worth_less() {
        let method = learn(config(10, 300, &["max_height", "holes"]));
        assert!(
            method.parameters()[1..].iter().all(|&parameter| parameter < 0.0),
            "{:?}",
            method.parameters()
        );
        // The set's other features have no weight.
        assert_eq!(method.favourite()[2..], [0.0; 3]);
    }

    #[test]
    fn least_squares_finds_what_made_the_values() {
        let mut rng = rng(3);
        let rows: Vec<Vec<f64>> = (0..50)
            .map(|_| {
                let x = 10.0 * uniform(&mut rng);
                vec![1.0, x, 100.0 * uniform(&mut rng), 2.0 * x]
            })
            .collect();
        let values: Vec<f64> = rows.iter().map(|row| 3.0 - 5.0 * row[1] + 0.25 * row[2]).collect();
        let rows: Vec<&[f64]> = rows.iter().map(|row| &row[..]).collect();
        let found = least_squares(&rows, &values);
        // The last column is twice the second; together they make up for -5.
        assert!((found[0] - 3.0).abs() < 1e-8 && (found[2] - 0.25).abs() < 1e-8, "{found:?}");
        assert!((found[1] + 2.0 * found[3] + 5.0).abs() < 1e-8, "{found:?}");
    }

    #[test]
    fn the_backup_is_the_mean_over_pieces_of_the_best_placement() {
        // With no value of boards, only lines count.
        let well = Well::from_art(
            "
            ..........
            ..........
            ..........
            XXXXXXXXX.
            ",
        )
        .unwrap();
        let method = FittedValue::new(config(4, 10, &["holes"])).unwrap();
        let (_, fitted) = method.fitted();
        let clears = Piece::ALL.into_iter().filter(|&piece| {
            Placement::all(piece).any(|placement| {
                let landing = Outcome::of(&well, piece, placement, Overflow::Before).landing;
                landing.lines == 1 && !landing.loses
            })
        });
        let expected = clears.count() as f64 / 7.0;
        assert!(expected > 0.0);
        assert_eq!(method.backup(&well, &fitted), expected);
    }

    #[test]
    fn what_cannot_be_fitted_is_refused() {
        let refused = |change: fn(&mut FittedValueConfig)| {
            let mut config = FittedValueConfig::default();
            change(&mut config);
            FittedValue::new(config).is_err()
        };
        assert!(refused(|config| config.set = "unheard-of".into()));
        assert!(refused(|config| config.features.push("potholes".into())));
        assert!(refused(|config| config.features.push("landing_height".into())));
        assert!(refused(|config| config.height = 3));
        assert!(refused(|config| config.samples = 0));
        assert!(refused(|config| config.gamma = 1.0));
        assert!(refused(|config| config.tolerance = f64::NAN));
        assert!(!refused(|config| *config = FittedValueConfig::new(Set::B)));
    }

    #[test]
    fn continues_bit_for_bit() {
        let method = FittedValue::new(config(6, 60, &["max_height", "holes", "covers"])).unwrap();
        continues_from_a_checkpoint(method, 12, |_| 0.0);
    }
}
