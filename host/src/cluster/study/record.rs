//! Records a training: every game of some of its iterations, races played to their limit so that they can be replayed.

use dropwise_core::game::derive_seed;
use dropwise_core::{Controller, Game, Player};
use rand_core::SeedableRng;

use super::trace::{Bout, Head, Pace, Rules, Trace};
use crate::arena::{self, Arena, Progress, Score};
use crate::output::{self, Failure};
use crate::results::clock::Clock;
use crate::together::{self, Bill};
use crate::train::config::Config;
use crate::train::judge::Judge;
use crate::train::race::{Limit, Race};
use crate::train::{IterationRng, Optimiser};

/// Some of the iterations of a training.
///
/// # Errors
/// If the configuration is not in order.
pub fn training(arena: &Arena, config: &Config, keep: u64, head: Head) -> Result<Trace, Failure> {
    let loaded = config.training.load()?;
    let judge = Judge {
        arena,
        set: config.set()?,
        options: config.options(),
        rules: loaded.rules(),
        max_pieces: config.training.max_pieces(),
        climbers: config.training.climbers,
        fitness: config.fitness,
    };
    let mut learner = config.method.start();
    let mut limit = config.race.as_ref().map(Limit::new);
    let (mut bouts, mut think) = (vec![], 0.0);
    for iteration in 1..=config.iterations {
        let kept = iteration * keep / config.iterations > (iteration - 1) * keep / config.iterations;
        let seed = derive_seed(config.seed, iteration);
        let clock = Clock::start();
        let candidates = learner.ask(&mut IterationRng::seed_from_u64(seed));
        let players = judge.players(&candidates).map_err(Failure::input)?;
        think += clock.seconds();
        let scores = judge.play(&players, seed, 0..config.games, &Progress::default());
        let rules = config.race.as_ref().zip(limit.as_ref()).map(|(rules, limit)| Rules {
            config: *rules,
            mu: learner.parents(),
            limit: limit.games(),
        });
        if kept {
            bouts.push(bout(&scores, think, rules.clone()));
        }
        let clock = Clock::start();
        let fitness = match (&rules, &mut limit) {
            (Some(rules), Some(limit)) => {
                let race = race(&judge, rules, &scores);
                limit.adapt(&rules.config, race.is_decided());
                race.fitness()
            }
            _ => scores.iter().map(|scores| judge.fitness_of(scores)).collect(),
        };
        learner.tell(&fitness);
        let favourite = judge.players(&[learner.favourite()]).map_err(Failure::input)?;
        think = clock.seconds();
        // The favourite is measured on as many games of its own as a training would.
        let games = config.games..config.games + config.curve.games;
        let scores = judge.play(&favourite, seed, games, &Progress::default());
        if kept {
            bouts.push(bout(&scores, think, None));
            output::say(format_args!("iteration {iteration} of {}", config.iterations));
        }
        think = 0.0;
    }
    let favourite = judge.players(&[learner.favourite()]).map_err(Failure::input)?;
    let measured = arena::Bout {
        controllers: &favourite,
        rules: judge.rules,
        seed: config.seed,
        games: 0..u64::MAX,
        max_pieces: judge.max_pieces,
        climbers: judge.climbers,
    };
    Ok(Trace { head: Head { pace: pace(&measured), ..head }, bouts })
}

/// The games that measure a player.
///
/// # Errors
/// If the configuration is not in order.
pub fn evaluation(arena: &Arena, config: &Config, player: Player, head: Head) -> Result<Trace, Failure> {
    let rules = &config.score.rules;
    let loaded = rules.load()?;
    let bout_of_one = arena::Bout {
        controllers: &[Controller::with_options(player, config.options())],
        rules: loaded.rules(),
        seed: config.seed,
        games: 0..config.score.games,
        max_pieces: rules.max_pieces(),
        climbers: rules.climbers,
    };
    let scores = arena.play(&bout_of_one, &Progress::default());
    let head = Head { pace: pace(&bout_of_one), ..head };
    Ok(Trace { head, bouts: vec![bout(&scores, 0.0, None)] })
}

fn bout(scores: &[Vec<Score>], think: f64, race: Option<Rules>) -> Bout {
    let table = |of: fn(&Score) -> u64| scores.iter().map(|line| line.iter().map(of).collect()).collect();
    let lines = if race.is_some() { table(|score| score.lines) } else { vec![] };
    Bout { think, race, pieces: table(|score| score.pieces), lines }
}

fn race(judge: &Judge<'_>, rules: &Rules, scores: &[Vec<Score>]) -> Race {
    let mut race = Race::new(rules.config, scores.len(), rules.mu, rules.limit);
    while !race.is_over() {
        let game = race.round() as usize;
        let fitness = |arm: usize| judge.fitness_of(&scores[arm][game..=game]);
        race.feed(&race.playing().into_iter().map(fitness).collect::<Vec<f64>>());
    }
    race
}

/// How fast a core plays, by the games that it plays side by side; estimates take turns.
fn pace(bout: &arena::Bout<'_>) -> Pace {
    if bout.climbers.is_some() {
        let clock = Clock::start();
        let score = arena::estimate(bout, 0, 0, &Progress::default());
        return Pace(vec![(1, (score.pieces as f64 / clock.seconds()).round())]);
    }
    let best = |seats| (0..REPEATS).map(|_| Mill::pace(bout, seats)).fold(0.0, f64::max);
    Pace(SEATS.iter().map(|&seats| (seats, best(seats).round())).collect())
}

/// The numbers of games for which a core's pace is measured, how often, and for how many pieces. The best counts.
const SEATS: [usize; 9] = [1, 2, 4, 8, 16, 32, 64, 128, together::PLENTY];
const REPEATS: usize = 5;
const PIECES: u64 = 1 << 20;

/// Always as many games as there are seats, until enough pieces were placed.
struct Mill<'a> {
    bout: &'a arena::Bout<'a>,
    next: u64,
    pieces: u64,
}

impl<'a> Mill<'a> {
    fn pace(bout: &'a arena::Bout<'a>, seats: usize) -> f64 {
        let clock = Clock::start();
        let mut mill = Mill { bout, next: 0, pieces: 0 };
        together::play(&mut mill, seats);
        mill.pieces as f64 / clock.seconds()
    }
}

impl<'a> Bill<'a> for Mill<'a> {
    fn next(&mut self) -> Option<(usize, &'a Controller, Game<'a>)> {
        let index = self.next;
        self.next += 1;
        let game = Game::new(self.bout.rules, self.bout.seed, index);
        (self.pieces < PIECES).then_some((index as usize, &self.bout.controllers[0], game))
    }

    fn goes_on(&mut self, _number: usize, game: &Game<'a>) -> bool {
        self.pieces += 1;
        self.pieces < PIECES && !game.is_over() && game.pieces() < self.bout.max_pieces
    }

    fn end(&mut self, _number: usize, _game: Game<'a>) {}
}
