//! A player: a feature set and its integer weights. The known players of the literature.

use core::fmt;

use crate::feature::{MAX_FEATURES, Outcome, Set};
use crate::game::digest;

/// The largest weight. With it the value of any placement fits 27 bits, and the vector engine can keep a value and
/// the placement's number in one 32-bit word.
pub const MAX_WEIGHT: i16 = (1 << 14) - 1;

/// A feature set and a weight for each of its features.
///
/// Players play with integers only. Real weights are quantised by one rule, [`Player::quantise`].
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Player {
    set: Set,
    weights: [i16; MAX_FEATURES],
}

/// Why weights do not make a player.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WeightsError {
    /// The set has another number of features.
    Count {
        /// How many the set has.
        expected: usize,
        /// How many were given.
        found: usize,
    },
    /// A weight (counted from 0) is infinite or not a number.
    NotFinite(usize),
    /// An integer weight (counted from 0) is beyond [`MAX_WEIGHT`].
    OutOfRange(usize),
}

impl fmt::Display for WeightsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            WeightsError::Count { expected, found } => {
                write!(f, "the set has {expected} features, but there are {found} weights")
            }
            WeightsError::NotFinite(index) => write!(f, "weight {} is not a finite number", index + 1),
            WeightsError::OutOfRange(index) => {
                write!(f, "weight {} is not between -{MAX_WEIGHT} and {MAX_WEIGHT}", index + 1)
            }
        }
    }
}

impl core::error::Error for WeightsError {}

impl Player {
    /// A player with integer weights, in the order of the set's features.
    ///
    /// # Errors
    /// If there is not one weight a feature, or one is beyond [`MAX_WEIGHT`].
    ///
    /// ```
    /// use dropwise_core::{Player, Set};
    /// let player = Player::new(Set::D, &[-1, 2, -2, -2, -8, -2]).unwrap();
    /// assert_eq!(player.weights().len(), Set::D.len());
    /// assert!(Player::new(Set::D, &[1, 2, 3]).is_err());
    /// ```
    pub const fn new(set: Set, weights: &[i16]) -> Result<Player, WeightsError> {
        if weights.len() != set.len() {
            return Err(WeightsError::Count { expected: set.len(), found: weights.len() });
        }
        let mut player = Player { set, weights: [0; MAX_FEATURES] };
        let mut i = 0;
        while i < weights.len() {
            if weights[i] > MAX_WEIGHT || weights[i] < -MAX_WEIGHT {
                return Err(WeightsError::OutOfRange(i));
            }
            player.weights[i] = weights[i];
            i += 1;
        }
        Ok(player)
    }

    /// A player from real weights, by the one rule: divide each weight by its feature's [unit](crate::Feature::unit),
    /// multiply all by the largest power of two that leaves none above [`MAX_WEIGHT`], round to nearest, halves away
    /// from zero. Only the ratios of the weights matter to a greedy player, so the scale is free; a power of two keeps
    /// the ratios of small integers exact, and with them the ties of players made by hand.
    ///
    /// # Errors
    /// If there is not one weight a feature, or one is not finite.
    ///
    /// ```
    /// use dropwise_core::{Player, Set};
    /// let player = Player::quantise(Set::D, &[-1.0, 1.0, -1.0, -1.0, -4.0, -1.0]).unwrap();
    /// // Landing height is measured in half rows, so its weight counts half.
    /// assert_eq!(player.weights(), [-1024, 2048, -2048, -2048, -8192, -2048]);
    /// ```
    pub const fn quantise(set: Set, weights: &[f64]) -> Result<Player, WeightsError> {
        if weights.len() != set.len() {
            return Err(WeightsError::Count { expected: set.len(), found: weights.len() });
        }
        let mut scaled = [0.0; MAX_FEATURES];
        let mut largest = 0.0;
        let mut i = 0;
        while i < weights.len() {
            if !weights[i].is_finite() {
                return Err(WeightsError::NotFinite(i));
            }
            scaled[i] = weights[i] / set.features()[i].unit() as f64;
            if scaled[i].abs() > largest {
                largest = scaled[i].abs();
            }
            i += 1;
        }
        let limit = MAX_WEIGHT as f64;
        while largest > limit || (largest > 0.0 && 2.0 * largest <= limit) {
            let factor = if largest > limit { 0.5 } else { 2.0 };
            largest *= factor;
            i = 0;
            while i < weights.len() {
                scaled[i] *= factor;
                i += 1;
            }
        }
        let mut player = Player { set, weights: [0; MAX_FEATURES] };
        i = 0;
        while i < weights.len() {
            player.weights[i] = (scaled[i] + if scaled[i] < 0.0 { -0.5 } else { 0.5 }) as i16;
            i += 1;
        }
        Ok(player)
    }

    /// The known player of this name: see [`KNOWN`].
    ///
    /// ```
    /// use dropwise_core::{Player, Set};
    /// assert_eq!(Player::known("bcts").unwrap().set(), Set::Bcts);
    /// assert_eq!(Player::known("nobody"), None);
    /// ```
    pub fn known(name: &str) -> Option<Player> {
        KNOWN.iter().find(|known| known.name == name).map(|known| known.player)
    }

    /// What the player looks at.
    pub const fn set(&self) -> Set {
        self.set
    }

    /// A weight for each feature of the set.
    pub const fn weights(&self) -> &[i16] {
        self.weights.split_at(self.set.len()).0
    }

    /// A digest over the set and the weights: equal digests, equal players.
    ///
    /// ```
    /// use dropwise_core::{Player, Set};
    /// let player = Player::new(Set::D, &[-1, 2, -2, -2, -8, -2]).unwrap();
    /// let other = Player::new(Set::D, &[-1, 2, -2, -2, -8, -3]).unwrap();
    /// assert_ne!(player.digest(), other.digest());
    /// ```
    pub fn digest(&self) -> u64 {
        let weights = self.weights().iter().map(|&weight| u64::from(weight as u16));
        digest(core::iter::once(self.set.id().into()).chain(weights))
    }

    /// What the player thinks of a placement's outcome: the weighted sum of its features.
    ///
    /// ```
    /// use dropwise_core::feature::Outcome;
    /// use dropwise_core::{Overflow, Piece, Placement, Player, Well};
    /// let (well, player) = (Well::new(20).unwrap(), Player::known("bcts").unwrap());
    /// let value = |orientation| {
    ///     let placement = Placement { orientation, column: 0 };
    ///     player.value(&Outcome::of(&well, Piece::I, placement, Overflow::Before))
    /// };
    /// assert!(value(1) > value(0), "an I lies better than it stands");
    /// ```
    pub fn value(&self, outcome: &Outcome) -> i32 {
        self.set.value(outcome, self.weights())
    }

    /// The part of [`Player::value`] that speaks of how the piece landed, not of the board it leaves.
    pub(crate) fn action_value(&self, outcome: &Outcome) -> i32 {
        let terms = self.set.features().iter().zip(self.weights());
        terms
            .filter(|(feature, _)| feature.is_action())
            .map(|(feature, &weight)| i32::from(weight) * feature.measure(outcome))
            .sum()
    }
}

impl fmt::Debug for Player {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Player {} {:?}", self.set, self.weights())
    }
}

/// A player from the literature, or one of our champions.
#[derive(Clone, Copy, Debug)]
pub struct Known {
    /// The name `--player` takes.
    pub name: &'static str,
    /// Who made it, how and where it was published.
    pub source: &'static str,
    /// The published weights, in the order of the set's features.
    pub weights: &'static [f64],
    /// The same, quantised.
    pub player: Player,
}

const fn known(name: &'static str, source: &'static str, set: Set, weights: &'static [f64]) -> Known {
    match Player::quantise(set, weights) {
        Ok(player) => Known { name, source, weights, player },
        Err(_) => panic!("a known player's weights do not fit its set"),
    }
}

/// The known players, built in.
pub const KNOWN: [Known; 10] = [
    known(
        "dellacherie",
        "Pierre Dellacherie, by hand (Fahey 2003)",
        Set::D,
        &[-1.0, 1.0, -1.0, -1.0, -4.0, -1.0],
    ),
    known(
        "bcts",
        "Thiery & Scherrer 2009, noisy cross-entropy",
        Set::Bcts,
        &[-12.62900, 6.601974, -9.215815, -19.77356, -13.08335, -10.48747, -1.611863, -24.04087],
    ),
    known(
        "bdu",
        "Thiery & Scherrer 2009, noisy cross-entropy on 28 features",
        Set::Bdu,
        &[
            -13.18725, -7.652075, 7.622007, -9.044294, -1.747279, -7.569865, -5.221819, -0.6874555,
            -6.483100, -16.01383, 2.356909, 2.143912, -7.351929, 1.558139, 0.4336980, 3.655922, -4.673708,
            -1.997187, 9.122675, 12.36382, -40.64000, -43.27153, -1.036039, -36.93346, -81.00232, -41.17906,
            -13.27585, -75.47524,
        ],
    ),
    known(
        "dt10",
        "Gabillon, Ghavamzadeh & Scherrer 2013, CBMPI on 10x10",
        Set::Dt,
        &[-2.18, 2.42, -2.17, -3.31, 0.95, -2.22, -0.81, -9.65, 1.27],
    ),
    known(
        "dt20",
        "Gabillon, Ghavamzadeh & Scherrer 2013, CBMPI on 10x20",
        Set::Dt,
        &[-2.68, 1.38, -2.41, -6.32, 2.03, -2.71, -0.43, -9.48, 0.89],
    ),
    known(
        "rvce",
        "RV-CE 2026, cross-entropy with robust selection",
        Set::Dt,
        &[-11.33476, 5.599150, -9.951538, -15.12233, -3.301414, -10.99072, -5.651008, -34.67175, 5.484312],
    ),
    known(
        "cs3243",
        "Nguyen et al. 2018, genetic algorithm then noisy cross-entropy",
        Set::Cs3243,
        &[-0.163240, -0.213181, 0.141117, -0.574191, -0.274277, -0.204178, -0.177407, -0.655674],
    ),
    known(
        "cma-d",
        "Boumaza 2009, CMA-ES on Dellacherie's features",
        Set::D,
        &[-1.168, 1.328, -1.017, -2.168, -4.335, -1.472],
    ),
    known(
        "champion20",
        "Dropwise 2026, CMA-ES judged by climbers: host train --champion 10x20 --seed 1",
        Set::Dropwise,
        &[
            -0.1370989686851779,
            -0.003797364278380176,
            -0.20915576556241275,
            -0.4630824223258587,
            0.037501950048862163,
            -0.1982516070572866,
            -0.0759690180170734,
            -0.7553081173661004,
            0.08077893756014023,
            0.04717962840336603,
            0.12036072403654766,
            0.06941220734831004,
            0.12874502012446393,
            -0.12863536647114676,
            0.21139678307232657,
        ],
    ),
    known(
        "champion10",
        "Dropwise 2026, CMA-ES judged by climbers: host train --champion 10x10 --seed 1",
        Set::Dropwise,
        &[
            -0.1772152112183433,
            0.0442127487785072,
            -0.18815102944288536,
            -0.3039488818707422,
            -0.08539349630029769,
            -0.21778058710595583,
            -0.10572510555492448,
            -0.8233799582285366,
            0.11881304614576853,
            0.07271399682056601,
            0.14368075234312294,
            0.05335375369892907,
            0.005216543038839481,
            -0.15953582389742893,
            0.16318070926475128,
        ],
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantising_refuses_what_is_not_a_weight() {
        let cases = [
            (&[1.0; 5][..], WeightsError::Count { expected: 6, found: 5 }),
            (&[1.0, 2.0, f64::NAN, 0.0, 0.0, 0.0], WeightsError::NotFinite(2)),
            (&[f64::INFINITY, 2.0, 0.0, 0.0, 0.0, 0.0], WeightsError::NotFinite(0)),
        ];
        for (weights, error) in cases {
            assert_eq!(Player::quantise(Set::D, weights), Err(error));
        }
        assert_eq!(Player::new(Set::D, &[0, 0, 0, 0, 0, i16::MIN]), Err(WeightsError::OutOfRange(5)));
    }

    #[test]
    fn quantising_survives_extreme_scales() {
        let small = Player::quantise(Set::D, &[0.0, 0.0, f64::MIN_POSITIVE / 4.0, 0.0, 0.0, 0.0]).unwrap();
        assert_eq!(small.weights(), [0, 0, 8192, 0, 0, 0]);
        let large = Player::quantise(Set::D, &[0.0, f64::MAX, -f64::MAX / 2.0, 0.0, 0.0, 0.0]).unwrap();
        // The largest number is just below a power of two, and would round up to one beyond the limit.
        assert_eq!(large.weights(), [0, 8192, -4096, 0, 0, 0]);
        let none = Player::quantise(Set::D, &[0.0; 6]).unwrap();
        assert_eq!(none.weights(), [0; 6]);
    }

    #[test]
    fn quantising_keeps_the_ratios_of_integers() {
        let dellacherie = Player::known("dellacherie").unwrap();
        assert_eq!(dellacherie.weights(), [-1, 2, -2, -2, -8, -2].map(|weight| weight * 1024));
    }
}
