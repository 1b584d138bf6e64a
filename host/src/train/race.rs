//! Races between candidates: A. Boumaza, "Reducing the learning time of Tetris in evolution strategies" (2012), after
//! V. Heidrich-Meisner and C. Igel, "Hoeffding and Bernstein races for selecting policies in evolutionary direct policy
//! search" (2009).
//!
//! The race has to find the best mu of its arms. After each game every arm has an interval in which its mean lies, by
//! one of the [bounds](Bound). An arm whose upper bound is below the lower bounds of enough others is discarded; one
//! whose lower bound is above the upper bounds of enough others is selected; both are decided and play no more. The race
//! ends when mu arms are selected, or all that could be left out are discarded, or each undecided arm has played
//! r_limit games; the best means then fill what is missing.
//!
//! Every arm plays the same games in the same order, so that luck with the pieces is shared: in round j all arms that
//! still race play game j.
//!
//! r_limit itself adapts from race to race ([`Limit`]): a race decided early shortens the next, an undecided one
//! lengthens it.

use serde::{Deserialize, Serialize};

use super::sample::ranking;

/// How an arm's interval follows from its scores.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq)]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    /// No bound, no race: every arm plays r_max games.
    None,
    /// Hoeffding's, for scores that lie within a range this wide: the paper's equation 4. Boumaza had 1850, from 150 to
    /// 2000 lines. Scores outside the range void the guarantee, as they did in the paper.
    Hoeffding {
        /// The width of the range, R.
        range: f64,
    },
    /// Empirical Bernstein: equation 5.
    Bernstein {
        /// The width of the range, R.
        range: f64,
    },
    /// Thiery and Scherrer's for Tetris, whose scores are distributed exponentially: |X - X^| / X^ <= 2 / sqrt(n), with
    /// probability 0.95 for one arm at one time; equation 6. It knows neither delta nor how often it is asked.
    Tetris,
}

/// The rules of a race.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq)]
#[serde(default, deny_unknown_fields)]
pub struct RaceConfig {
    /// How an arm's interval follows from its scores.
    pub bound: Bound,
    /// The probability with which a race may decide wrongly: 0.05.
    pub delta: f64,
    /// The fewest games: 3. r_limit starts here.
    pub r_min: u32,
    /// The most games: 100.
    pub r_max: u32,
    /// By how much r_limit changes after a race: more than 1. The paper does not tell its value; 1.5 is ours.
    pub alpha: f64,
}

impl Default for RaceConfig {
    fn default() -> RaceConfig {
        RaceConfig { bound: Bound::None, delta: 0.05, r_min: 3, r_max: 100, alpha: 1.5 }
    }
}

/// r_limit, the games an undecided arm may play, adapted from race to race by the paper's equations 2 and 3.
///
/// ```
/// use host::train::race::{Bound, Limit, RaceConfig};
///
/// let config = RaceConfig { bound: Bound::Tetris, ..RaceConfig::default() };
/// let mut limit = Limit::new(&config);
/// assert_eq!(limit.games(), 3);
/// limit.adapt(&config, false);
/// assert_eq!(limit.games(), 5);
/// limit.adapt(&config, true);
/// assert_eq!(limit.games(), 3);
/// ```
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq)]
pub struct Limit(f64);

impl Limit {
    /// The limit of the first race: the fewest games, or the most if nothing is raced.
    pub fn new(config: &RaceConfig) -> Limit {
        Limit(f64::from(if config.bound == Bound::None { config.r_max } else { config.r_min }))
    }

    /// The games an undecided arm may play: the limit, rounded to nearest.
    pub fn games(&self) -> u32 {
        self.0.round() as u32
    }

    /// Takes note of a race: divides by alpha after a race decided before the limit, multiplies by it after one that
    /// was not.
    pub fn adapt(&mut self, config: &RaceConfig, decided: bool) {
        if config.bound != Bound::None {
            let (least, most) = (f64::from(config.r_min), f64::from(config.r_max));
            self.0 = if decided { self.0 / config.alpha } else { self.0 * config.alpha }.min(most).max(least);
        }
    }
}

/// Where an arm stands.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// Among the best, with confidence.
    Selected,
    /// Not among the best, with confidence.
    Discarded,
    /// Not known yet.
    Undecided,
}

/// A candidate in the race.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub struct Arm {
    /// Where it stands.
    pub standing: Standing,
    /// Its games.
    pub games: u32,
    /// The mean of its scores.
    pub mean: f64,
    /// The sum of the squared differences from the mean, by Welford's update.
    squares: f64,
    /// The tightest interval so far. None: unbounded, which JSON could not hold as a number.
    lower: Option<f64>,
    upper: Option<f64>,
}

impl Arm {
    /// The tightest lower bound on the mean so far.
    pub fn lower(&self) -> f64 {
        self.lower.unwrap_or(f64::NEG_INFINITY)
    }

    /// The tightest upper bound on the mean so far.
    pub fn upper(&self) -> f64 {
        self.upper.unwrap_or(f64::INFINITY)
    }
}

/// A race: who plays the next game, what came of it, until it is over.
///
/// ```
/// use host::train::race::{Bound, Race, RaceConfig};
///
/// // Three arms, the best of which is sought; scores between 0 and 1.
/// let config = RaceConfig { bound: Bound::Hoeffding { range: 1.0 }, r_max: 1000, ..RaceConfig::default() };
/// let mut race = Race::new(config, 3, 1, 1000);
/// while !race.is_over() {
///     let scores: Vec<f64> = race.playing().iter().map(|&arm| [0.1, 0.9, 0.2][arm]).collect();
///     race.feed(&scores);
/// }
/// assert!(race.is_decided());
/// assert_eq!(race.ranking()[0], 1);
/// assert_eq!(race.evaluations() + race.saved(), 3000);
/// ```
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub struct Race {
    config: RaceConfig,
    mu: usize,
    limit: u32,
    round: u32,
    arms: Vec<Arm>,
}

impl Race {
    /// A race of `arms` candidates for the best `mu`, each to play at most `limit` games.
    ///
    /// # Panics
    /// If there is no arm, or no game to play.
    pub fn new(config: RaceConfig, arms: usize, mu: usize, limit: u32) -> Race {
        assert!(arms > 0 && limit > 0, "a race has arms and games");
        let arm = Arm {
            standing: Standing::Undecided,
            games: 0,
            mean: 0.0,
            squares: 0.0,
            lower: None,
            upper: None,
        };
        Race { config, mu: mu.min(arms), limit, round: 0, arms: vec![arm; arms] }
    }

    /// The arms, in the order of the candidates.
    pub fn arms(&self) -> &[Arm] {
        &self.arms
    }

    /// Games played by the arms that still race: the index of the game to play next.
    pub fn round(&self) -> u32 {
        self.round
    }

    /// The most games an arm may play in this race.
    pub fn limit(&self) -> u32 {
        self.limit
    }

    /// Whether mu arms are known to be the best: with a bound at work, what makes the next race shorter.
    pub fn is_decided(&self) -> bool {
        let count = |standing| self.arms.iter().filter(|arm| arm.standing == standing).count();
        self.config.bound != Bound::None
            && self.round > 0
            && (count(Standing::Selected) >= self.mu
                || count(Standing::Discarded) >= self.arms.len() - self.mu)
    }

    /// Whether no more games are to be played.
    pub fn is_over(&self) -> bool {
        self.round >= self.limit || self.is_decided()
    }

    /// The arms that play game number [`Race::round`]; none when the race is over.
    pub fn playing(&self) -> Vec<usize> {
        if self.is_over() {
            return Vec::new();
        }
        (0..self.arms.len()).filter(|&arm| self.arms[arm].standing == Standing::Undecided).collect()
    }

    /// The scores of the game, in the order of [`Race::playing`].
    ///
    /// # Panics
    /// If there is not one score for each arm that plays.
    pub fn feed(&mut self, scores: &[f64]) {
        let playing = self.playing();
        assert_eq!(scores.len(), playing.len(), "one score for each arm that plays");
        self.round += 1;
        for (&index, &score) in playing.iter().zip(scores) {
            let arm = &mut self.arms[index];
            arm.games += 1;
            let difference = score - arm.mean;
            arm.mean += difference / f64::from(arm.games);
            arm.squares += difference * (score - arm.mean);
        }
        // The paper's n_b is at most lambda r_limit; that bound is taken, as Heidrich-Meisner and Igel do, because the
        // confidence is shared by all intervals the race can ever look at.
        let bounds = self.arms.len() as f64 * f64::from(self.limit);
        for &index in &playing {
            let arm = &mut self.arms[index];
            if let Some(width) = half_width(&self.config, arm, bounds) {
                arm.lower = Some(arm.lower().max(arm.mean - width));
                arm.upper = Some(arm.upper().min(arm.mean + width));
            }
        }
        if self.round >= self.config.r_min.min(self.limit) {
            self.decide(&playing);
        }
    }

    /// Selects an arm whose lower bound is above the upper bounds of all but fewer than mu arms, and discards one whose
    /// upper bound is below the lower bounds of mu arms. Decided arms keep their last interval.
    fn decide(&mut self, playing: &[usize]) {
        let losers = self.arms.len() - self.mu;
        let standings: Vec<Standing> = playing
            .iter()
            .map(|&index| {
                let arm = &self.arms[index];
                let others = || self.arms.iter().enumerate().filter(|&(other, _)| other != index);
                let beats = others().filter(|(_, other)| arm.lower() > other.upper()).count();
                let beaten = others().filter(|(_, other)| arm.upper() < other.lower()).count();
                if beaten >= self.mu {
                    Standing::Discarded
                } else if beats >= losers {
                    Standing::Selected
                } else {
                    Standing::Undecided
                }
            })
            .collect();
        for (&index, standing) in playing.iter().zip(standings) {
            self.arms[index].standing = standing;
        }
    }

    /// The arms, the best first: the selected, then the undecided, then the discarded, each by their means.
    pub fn ranking(&self) -> Vec<usize> {
        let means: Vec<f64> = self.arms.iter().map(|arm| arm.mean).collect();
        let mut order = ranking(&means);
        order.sort_by_key(|&index| match self.arms[index].standing {
            Standing::Selected => 0,
            Standing::Undecided => 1,
            Standing::Discarded => 2,
        });
        order
    }

    /// A fitness for each arm that ranks them as the race does: the mean score, except where a decided arm's mean would
    /// rank it elsewhere; it then takes a value just below that of the arm ranked before it.
    ///
    /// Selected arms stopped earlier, on fewer games, so that their means may lie below an undecided arm's.
    pub fn fitness(&self) -> Vec<f64> {
        let order = self.ranking();
        let mut fitness: Vec<f64> = self.arms.iter().map(|arm| arm.mean).collect();
        for pair in order.windows(2) {
            let (better, worse) = (&self.arms[pair[0]], &self.arms[pair[1]]);
            let is_tie = better.standing == worse.standing && better.mean == worse.mean;
            let ceiling = if is_tie { fitness[pair[0]] } else { fitness[pair[0]].next_down() };
            fitness[pair[1]] = fitness[pair[1]].min(ceiling);
        }
        fitness
    }

    /// Games played by all arms.
    pub fn evaluations(&self) -> u64 {
        self.arms.iter().map(|arm| u64::from(arm.games)).sum()
    }

    /// Games that the same race without bounds would have played in addition: each arm r_max.
    pub fn saved(&self) -> u64 {
        (self.arms.len() as u64 * u64::from(self.config.r_max)).saturating_sub(self.evaluations())
    }
}

/// Half the width of an arm's interval, of which the race looks at no more than `bounds`.
fn half_width(config: &RaceConfig, arm: &Arm, bounds: f64) -> Option<f64> {
    let r = f64::from(arm.games);
    match config.bound {
        Bound::None => None,
        Bound::Hoeffding { range } => {
            Some(range * ((libm::log(2.0 * bounds) - libm::log(config.delta)) / (2.0 * r)).sqrt())
        }
        Bound::Bernstein { range } => {
            let confidence = libm::log(3.0 * bounds) - libm::log(config.delta);
            let deviation = (arm.squares / r).max(0.0).sqrt();
            Some(deviation * (2.0 * confidence / r).sqrt() + 3.0 * range * confidence / r)
        }
        Bound::Tetris => Some(2.0 * arm.mean.abs() / r.sqrt()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::IterationRng;
    use super::super::sample::tests::rng;
    use super::super::sample::uniform;
    use super::*;

    const HOEFFDING: Bound = Bound::Hoeffding { range: 1.0 };
    const BERNSTEIN: Bound = Bound::Bernstein { range: 1.0 };

    fn run(
        config: RaceConfig,
        mu: usize,
        limit: u32,
        means: usize,
        mut play: impl FnMut(usize) -> f64,
    ) -> Race {
        let mut race = Race::new(config, means, mu, limit);
        while !race.is_over() {
            let scores: Vec<f64> = race.playing().into_iter().map(&mut play).collect();
            race.feed(&scores);
        }
        race
    }

    /// Races with known means, the arms in descending order: how many selected an arm that is not among the best mu or
    /// discarded one that is, how many were decided, and the share of evaluations used.
    fn repeat(
        config: RaceConfig,
        mu: usize,
        means: &[f64],
        races: u64,
        score: fn(&mut IterationRng, f64) -> f64,
    ) -> (u64, u64, f64) {
        let (mut wrong, mut decided, mut used) = (0, 0, 0);
        for index in 0..races {
            let mut rng = rng(index);
            let race = run(config, mu, config.r_max, means.len(), |arm| score(&mut rng, means[arm]));
            let (best, rest) = race.arms().split_at(mu);
            wrong += u64::from(
                best.iter().any(|arm| arm.standing == Standing::Discarded)
                    || rest.iter().any(|arm| arm.standing == Standing::Selected),
            );
            decided += u64::from(race.is_decided());
            used += race.evaluations();
            assert_eq!(race.evaluations() + race.saved(), means.len() as u64 * u64::from(config.r_max));
        }
        (wrong, decided, used as f64 / (races * means.len() as u64 * u64::from(config.r_max)) as f64)
    }

    /// 0 or 1, the widest spread that bounded scores can have.
    fn coin(rng: &mut IterationRng, mean: f64) -> f64 {
        f64::from(u8::from(uniform(rng) < mean))
    }

    fn even(rng: &mut IterationRng, mean: f64) -> f64 {
        mean + 0.2 * (uniform(rng) - 0.5)
    }

    /// The lines of a Tetris player are distributed so.
    fn exponential(rng: &mut IterationRng, mean: f64) -> f64 {
        -mean * libm::log(1.0 - uniform(rng))
    }

    /// Exponential, cut off at 1, so that the range is kept; a mean of 0.1 loses less than 1e-4 of it.
    fn cut_exponential(rng: &mut IterationRng, mean: f64) -> f64 {
        exponential(rng, mean).min(1.0)
    }

    #[test]
    fn errs_no_more_often_than_delta_allows() {
        let scores: [fn(&mut IterationRng, f64) -> f64; 3] = [coin, even, cut_exponential];
        for delta in [0.05, 0.3] {
            for bound in [HOEFFDING, BERNSTEIN] {
                let config = RaceConfig { bound, delta, r_max: 200, ..RaceConfig::default() };
                for score in scores {
                    for means in [[0.13, 0.12, 0.11, 0.1], [0.8, 0.6, 0.3, 0.2], [0.5, 0.5, 0.49, 0.49]] {
                        let races = 400;
                        let (wrong, _, _) = repeat(config, 2, &means, races, score);
                        assert!(wrong as f64 <= delta * races as f64, "{wrong} wrong of {races}: {config:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_range_that_is_too_narrow_voids_the_promise() {
        // Shows that the test above can fail.
        let bound = Bound::Hoeffding { range: 0.2 };
        let config = RaceConfig { bound, r_max: 200, ..RaceConfig::default() };
        let (wrong, _, _) = repeat(config, 2, &[0.5, 0.5, 0.49, 0.49], 100, coin);
        assert!(wrong > 10, "{wrong} wrong of 100");
    }

    #[test]
    fn a_race_between_unlike_arms_is_decided_and_saves_games() {
        let config = RaceConfig { bound: HOEFFDING, r_max: 300, ..RaceConfig::default() };
        let (wrong, decided, used) = repeat(config, 2, &[0.9, 0.8, 0.3, 0.1], 100, coin);
        assert_eq!((wrong, decided), (0, 100));
        assert!(used < 0.5, "{used}");
        // Where the deviation is small beside the range, Bernstein's bound is the tighter one; where it is not,
        // Hoeffding's is: the paper's explanation of its results.
        let config = RaceConfig { bound: HOEFFDING, r_max: 3000, ..RaceConfig::default() };
        let bernstein = RaceConfig { bound: BERNSTEIN, ..config };
        let close = [0.50, 0.50, 0.44, 0.44];
        assert!(repeat(bernstein, 2, &close, 5, even).2 < repeat(config, 2, &close, 5, even).2);
        let far = [0.7, 0.7, 0.3, 0.3];
        assert!(repeat(bernstein, 2, &far, 5, coin).2 > repeat(config, 2, &far, 5, coin).2);
    }

    #[test]
    fn the_tetris_bound_holds_an_arm_with_probability_95_percent() {
        // It promises that for one arm at one time, so this is asked of it: the interval after n games.
        let config = RaceConfig { bound: Bound::Tetris, ..RaceConfig::default() };
        for games in [25, 100] {
            let mut missed = 0;
            for index in 0..2000 {
                let mut rng = rng(index);
                let (mut sum, mut arm) = (0.0, Race::new(config, 1, 1, games).arms()[0].clone());
                (0..games).for_each(|_| sum += exponential(&mut rng, 1000.0));
                (arm.mean, arm.games) = (sum / f64::from(games), games);
                let width = half_width(&config, &arm, 1.0).unwrap();
                missed += u32::from((arm.mean - 1000.0).abs() > width);
            }
            assert!(missed < 2000 / 20 + 40, "{missed} of 2000 after {games} games");
        }
    }

    #[test]
    fn a_tetris_race_finds_much_better_players_with_few_games() {
        let config = RaceConfig { bound: Bound::Tetris, ..RaceConfig::default() };
        let (_, decided, used) = repeat(config, 2, &[9000.0, 8000.0, 900.0, 500.0], 200, exponential);
        assert!(decided > 190 && used < 0.5, "{decided} decided, {used} used");
    }

    #[test]
    fn without_a_bound_every_arm_plays_all_games() {
        let config = RaceConfig { r_max: 7, ..RaceConfig::default() };
        assert_eq!(Limit::new(&config).games(), 7);
        let race = run(config, 1, 7, 3, |arm| arm as f64);
        assert_eq!((race.evaluations(), race.saved(), race.is_decided()), (21, 0, false));
        assert_eq!(race.ranking(), [2, 1, 0]);
        assert_eq!(race.fitness(), [0.0, 1.0, 2.0]);
    }

    #[test]
    fn the_limit_follows_the_papers_rules() {
        let config = RaceConfig { bound: HOEFFDING, alpha: 2.0, ..RaceConfig::default() };
        let mut limit = Limit::new(&config);
        let mut seen = Vec::new();
        for decided in [true, false, false, false, false, false, false, true, true] {
            limit.adapt(&config, decided);
            seen.push(limit.games());
        }
        assert_eq!(seen, [3, 6, 12, 24, 48, 96, 100, 50, 25]);
    }

    #[test]
    fn intervals_only_tighten_and_decided_arms_rest() {
        let config = RaceConfig { bound: HOEFFDING, r_max: 500, ..RaceConfig::default() };
        let mut rng = rng(11);
        let mut race = Race::new(config, 4, 2, 500);
        while !race.is_over() {
            let before = race.clone();
            let scores: Vec<f64> =
                race.playing().iter().map(|&arm| coin(&mut rng, [0.95, 0.6, 0.5, 0.05][arm])).collect();
            race.feed(&scores);
            for (old, new) in before.arms().iter().zip(race.arms()) {
                assert!(new.lower() >= old.lower() && new.upper() <= old.upper());
                assert!(old.standing == Standing::Undecided || old == new);
            }
            let text = serde_json::to_string(&race).unwrap();
            assert_eq!(serde_json::from_str::<Race>(&text).unwrap(), race);
        }
        let order = race.ranking();
        assert_eq!((order[0], order[3]), (0, 3));
        assert_eq!(ranking(&race.fitness()), order);
    }

    #[test]
    fn fitness_ranks_as_the_race_does() {
        let mut race = Race::new(RaceConfig::default(), 5, 2, 3);
        let standings = [
            (Standing::Undecided, 9.5),
            (Standing::Selected, 7.0),
            (Standing::Discarded, 8.0),
            (Standing::Selected, 8.0),
            (Standing::Undecided, 9.5),
        ];
        for (arm, (standing, mean)) in race.arms.iter_mut().zip(standings) {
            (arm.standing, arm.mean) = (standing, mean);
        }
        assert_eq!(race.ranking(), [3, 1, 0, 4, 2]);
        assert_eq!(ranking(&race.fitness()), race.ranking());
    }
}
