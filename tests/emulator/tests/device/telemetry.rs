//! Telemetry: every placement reaches the laptop, and the game does not mind.

use dropwise_core::wire::{Event, GameRules, Request, Subscription, When};
use dropwise_core::{Controller, Game, Player, Speed, Well};
use dropwise_emulator::{Board, Device};
use libtest_mimic::Trial;

use crate::laptop::Laptop;
use crate::link::{learned, loser};
use crate::{SECOND, alone, known, ms, tests};

pub(crate) fn tests() -> Vec<Trial> {
    alone(tests![
        every_placement_in_turbo,
        tells_of_games_from_their_beginning_to_their_end,
        a_slow_laptop_is_told_how_the_game_stands,
        statistics_and_log
    ])
}

const PLACEMENTS: Subscription = Subscription { placements: true, status: false, log: false };

/// The game, followed by what is told of it and replayed here.
struct Follower {
    player: fn(&str) -> Player,
    game: Option<(Game<'static>, Controller, u64)>,
    moves: u64,
    boards: usize,
    ends: usize,
}

impl Follower {
    fn new(player: fn(&str) -> Player) -> Follower {
        Follower { player, game: None, moves: 0, boards: 0, ends: 0 }
    }

    fn follow(&mut self, event: Event<'_>) {
        match event {
            Event::Board(board) => {
                self.boards += 1;
                let rules = board.rules.rules().unwrap();
                let controller =
                    Controller::on_device((self.player)(board.player), board.rules.height.into());
                // A game is replayed from its beginning once; from there on it is followed.
                let mut game = match self.game.take() {
                    Some((game, _, seed)) if seed == board.seed && game.pieces() <= board.pieces => game,
                    _ => Game::new(rules, board.seed, 0),
                };
                game.play(&controller, board.pieces);
                let well = Well::from_columns(rules.height(), board.columns).unwrap();
                assert_eq!((game.pieces(), game.lines()), (board.pieces, board.lines));
                assert_eq!((game.digest(), *game.well()), (board.digest, well));
                self.game = Some((game, controller, board.seed));
            }
            Event::Moves { before, codes } => {
                let (game, controller, _) = self.game.as_mut().expect("a board comes before the first move");
                assert_eq!(before, game.pieces(), "no move is left out");
                for code in codes.as_chunks::<2>().0 {
                    let step = game.step(controller).expect("a game that goes on");
                    assert_eq!(u16::from_le_bytes(*code), step.code(), "move {} of the game", game.pieces());
                    self.moves += 1;
                }
            }
            Event::End { seed, pieces, lines, digest } => {
                self.ends += 1;
                let (game, _, own) = self.game.as_ref().expect("a game that ends has begun");
                assert_eq!((seed, pieces, lines, digest), (*own, game.pieces(), game.lines(), game.digest()));
            }
            Event::Status(_) | Event::Log { .. } | Event::Bench { .. } => {
                panic!("nobody asked for {event:?}")
            }
        }
    }
}

/// Every placement at full speed, and what that costs the game.
fn every_placement_in_turbo() {
    const COST: f64 = 0.10;
    const LEAST: u32 = 500;
    let device = Device::start(Board::PicoOled);
    let mut laptop = Laptop::connect(device);
    laptop.done(Request::Speed { speed: Speed::Turbo });
    // The same game both times: pieces differ in what they cost.
    let pieces_in_a_second = |laptop: &mut Laptop| {
        laptop.done(Request::NewGame { seed: Some(1), rules: GameRules::default() });
        let before = laptop.device.word("DROPWISE_PIECES");
        laptop.device.run(SECOND);
        laptop.device.word("DROPWISE_PIECES") - before
    };
    let alone = pieces_in_a_second(&mut laptop);
    laptop.subscribe(PLACEMENTS);
    let followed = pieces_in_a_second(&mut laptop);
    laptop.done(Request::Pause { paused: true });
    laptop.device.run(ms(50));

    let mut follower = Follower::new(known);
    laptop.events(|event| follower.follow(event));
    let status = laptop.status();
    let (game, ..) = follower.game.expect("the game was told");
    assert_eq!((game.pieces(), game.digest()), (status.pieces, status.digest), "up to the last placement");
    assert_eq!(follower.boards, 2, "one for each game: the laptop kept up");
    let slower = 1.0 - f64::from(followed) / f64::from(alone);
    eprintln!(
        "turbo, every placement sent: {followed} pieces a second, {alone} without: {:.2} % slower",
        100.0 * slower
    );
    assert!(followed >= LEAST && slower <= COST, "{followed} pieces a second, {alone} without");
}

/// Boards, moves and ends of lost games, one after the other, at each speed; a new player; a game that is given up.
fn tells_of_games_from_their_beginning_to_their_end() {
    fn player(name: &str) -> Player {
        match name {
            "loser" => loser(),
            "other" => learned(5),
            built_in => known(built_in),
        }
    }
    let device = Device::start(Board::PicoOled);
    let mut laptop = Laptop::connect(device);
    laptop.upload("loser", &loser()).unwrap();
    laptop.upload("other", &learned(5)).unwrap();
    laptop.subscribe(PLACEMENTS);
    let mut follower = Follower::new(player);
    laptop.device.run(3 * SECOND);
    laptop.done(Request::Select { slot: "loser", when: When::Game });
    laptop.done(Request::NewGame { seed: Some(9), rules: GameRules::default() });
    laptop.device.run(3 * SECOND);
    laptop.done(Request::Speed { speed: Speed::Fast });
    laptop.device.run(5 * SECOND);
    laptop.done(Request::Speed { speed: Speed::Turbo });
    laptop.device.run(5 * SECOND);
    laptop.events(|event| follower.follow(event));
    assert!(follower.ends >= 4 && follower.boards >= follower.ends, "{} ends", follower.ends);
    assert!(follower.moves >= 60, "{} moves", follower.moves);

    // From one piece to the next: the game is told as it stands, with who plays from here on.
    laptop.done(Request::Select { slot: "other", when: When::Game });
    laptop.done(Request::NewGame { seed: Some(11), rules: GameRules::default() });
    laptop.device.run(ms(100));
    let boards = follower.boards;
    laptop.done(Request::Select { slot: "bcts", when: When::Piece });
    laptop.device.run(ms(100));
    laptop.events(|event| follower.follow(event));
    let (game, controller, seed) = follower.game.expect("a game goes on");
    assert_eq!((seed, controller.player()), (11, &known("bcts")));
    assert!(game.pieces() > 500, "{} pieces", game.pieces());
    assert!(follower.boards >= boards + 2, "{} boards after {boards}", follower.boards);
}

/// A laptop that stops reading for a while misses moves, and is told how the game stands when it reads again.
fn a_slow_laptop_is_told_how_the_game_stands() {
    let device = Device::start(Board::PicoOled);
    let mut laptop = Laptop::connect(device);
    laptop.play_bcts();
    laptop.done(Request::Speed { speed: Speed::Turbo });
    laptop.subscribe(PLACEMENTS);
    let mut follower = Follower::new(known);
    for pause in [100, 700] {
        laptop.device.run(ms(300));
        laptop.device.set_listens(false);
        let before = laptop.device.word("DROPWISE_PIECES");
        laptop.device.run(ms(pause));
        let played = laptop.device.word("DROPWISE_PIECES") - before;
        assert!(u64::from(played) > 12 * pause, "the game waits for the laptop: {played} pieces");
        laptop.device.set_listens(true);
    }
    laptop.device.run(ms(300));
    laptop.done(Request::Pause { paused: true });
    laptop.device.run(ms(50));
    laptop.events(|event| follower.follow(event));
    let status = laptop.status();
    let (game, ..) = follower.game.expect("the game was told");
    assert_eq!((game.pieces(), game.digest()), (status.pieces, status.digest));
    assert_eq!(follower.boards, 2, "at the start, and after the long pause");
    assert!(follower.moves < status.pieces, "some moves were left out");
}

/// Statistics once a second, and the log from the last lines before on; nothing to one that did not ask.
fn statistics_and_log() {
    let device = Device::start(Board::PicoOled);
    let mut laptop = Laptop::connect(device);
    laptop.device.run(SECOND);
    laptop.events(|event| panic!("nobody asked for {event:?}"));

    laptop.subscribe(Subscription { status: true, ..Subscription::default() });
    laptop.device.run(ms(3500));
    let mut uptimes = Vec::new();
    laptop.events(|event| match event {
        Event::Status(status) => uptimes.push(status.uptime),
        other => panic!("nobody asked for {other:?}"),
    });
    assert_eq!(uptimes.len(), 4, "{uptimes:?}");
    assert!(uptimes.windows(2).all(|pair| (950..1050).contains(&(pair[1] - pair[0]))), "{uptimes:?}");

    laptop.subscribe(Subscription { log: true, ..Subscription::default() });
    laptop.done(Request::Pause { paused: true });
    laptop.upload("mine", &learned(1)).unwrap();
    laptop.device.run(ms(50));
    let mut lines = Vec::new();
    laptop.events(|event| match event {
        Event::Log { text, .. } => lines.push(text.to_owned()),
        other => panic!("nobody asked for {other:?}"),
    });
    for start in
        ["boot board=pico-oled", "store players=0", "game seed=", "paused=true", "saved written=true"]
    {
        assert!(lines.iter().any(|line| line.starts_with(start)), "no line «{start}»:\n{}", lines.join("\n"));
    }
}
