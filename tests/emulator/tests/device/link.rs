//! The link: what a laptop asks for happens, while the device plays.

use dropwise_core::wire::{Answer, CrashReport, Event, GameRules, Pieces, Request, Subscription, When};
use dropwise_core::{Controller, Game, Overflow, Player, Set, Speed};
use dropwise_emulator::{Board, Device};
use libtest_mimic::Trial;

use crate::buttons::PLAYERS;
use crate::crash::{panic_on, stacks};
use crate::laptop::{Laptop, Stand};
use crate::pictures::unique_id;
use crate::{Action, BOTH, FIRST, SECOND, act_and_see, alone, first_game, known, ms, on_boards, tests};

pub(crate) fn tests() -> Vec<Trial> {
    let mut tests = on_boards(BOTH, tests![says_who_it_is, plays_what_was_sent]);
    tests.extend(alone(tests![
        slow_flash_and_deep_stacks,
        slots_survive_a_loss_of_power,
        a_player_takes_effect_when_it_should,
        the_button_goes_through_all_players,
        the_game_is_controlled,
        a_bench_is_played_apart,
        a_crash_is_reported,
        it_starts_again_when_asked
    ]));
    tests
}

/// Some player that no firmware has built in.
pub(crate) fn learned(seed: i16) -> Player {
    let good = known("bcts");
    let weights: Vec<i16> =
        good.weights().iter().zip(1..).map(|(weight, place)| weight + seed * place).collect();
    Player::new(Set::Bcts, &weights).unwrap()
}

/// The opposite of a good one: loses within some twenty pieces.
pub(crate) fn loser() -> Player {
    let weights: Vec<i16> = known("bcts").weights().iter().map(|weight| -weight).collect();
    Player::new(Set::Bcts, &weights).unwrap()
}

/// Checks that the game is the one that this player plays here.
#[track_caller]
fn assert_played_by(stand: &Stand, name: &str, player: Player) {
    assert_eq!((stand.player.as_str(), stand.player_digest), (name, player.digest()));
    let mut game = Game::new(stand.rules.rules().unwrap(), stand.seed, 0);
    game.play(&Controller::on_device(player, game.rules().height()), stand.pieces);
    let (here, there) =
        ((game.pieces(), game.lines(), game.digest()), (stand.pieces, stand.lines, stand.digest));
    assert_eq!(here, there, "pieces, lines and digest of game {} of {name}", stand.seed);
}

fn says_who_it_is(board: Board) {
    let device = Device::start(board);
    let mut laptop = Laptop::connect(device);
    laptop.call(Request::Hello { protocol: 99 }, |answer| {
        let Ok(Answer::Hello(identity)) = answer else { panic!("{answer:?}") };
        assert_eq!((identity.greeting.protocol, identity.greeting.firmware), (1, env!("CARGO_PKG_VERSION")));
        assert_eq!((identity.board, identity.id), (board.name(), unique_id().as_str()));
        assert_eq!(identity.sets, Set::ALL.iter().fold(0, |sets, set| sets | 1 << set.id()));
        assert_eq!((identity.weights_format, identity.max_name), (1, 24));
        assert!(identity.capacity >= 8, "{identity:?}");
    });
}

/// The whole way of a learned player, while the device plays at full speed.
fn plays_what_was_sent(board: Board) {
    let device = Device::start(board);
    let mut laptop = Laptop::connect(device);
    laptop.done(Request::Speed { speed: Speed::Turbo });
    // The most weights that a player has.
    let weights: Vec<i16> = known("bdu").weights().iter().map(|weight| weight + 1).collect();
    let player = Player::new(Set::Bdu, &weights).unwrap();
    let start = laptop.device.now();
    laptop.hello();
    assert_eq!(laptop.upload("learned", &player), Ok(true));
    assert_eq!(laptop.read("learned"), Some(player));
    laptop.done(Request::Select { slot: "learned", when: When::Game });
    let took = laptop.device.now() - start;
    eprintln!("{}: a player of 28 weights sent, saved, read back and selected in {took:?}", board.name());
    assert!(took < SECOND, "{took:?}");

    laptop.done(Request::NewGame { seed: Some(42), rules: GameRules::default() });
    laptop.device.run(ms(500));
    laptop.done(Request::Pause { paused: true });
    let stand = laptop.status();
    assert!(stand.pieces > 1_000 && stand.seed == 42, "{stand:?}");
    assert_played_by(&stand, "learned", player);
    assert_eq!(laptop.upload("learned", &player), Ok(false), "the same again is not written");
}

/// A flash as slow as its data sheet allows, and what the watchdog thinks of it. Meanwhile the cores' stacks are
/// measured: RAM holds noise when power comes, and a stack is as deep as the lowest word that is not noise any more.
fn slow_flash_and_deep_stacks() {
    /// What must be left of a stack.
    const SPARE: usize = 1024;
    let mut device = Device::off(Board::PicoOled, 1);
    device.slow_flash();
    device.power_on();
    let stacks = stacks(&device);
    let noise = stacks.map(|(bottom, size)| device.read_ram(bottom, size));
    let mut laptop = Laptop::connect(device);
    laptop.subscribe(Subscription { placements: true, status: true, log: true });
    for speed in Speed::ALL {
        laptop.done(Request::Speed { speed });
        for seed in 0..4 {
            let name = format!("{} {seed}", speed.name());
            assert_eq!(laptop.upload(&name, &learned(seed)), Ok(true));
            laptop.done(Request::Select { slot: &name, when: When::Piece });
        }
        act_and_see(&mut laptop.device, Action::Player, "player=");
        laptop.done(Request::Bench { pieces: 1000 });
        laptop.device.run(SECOND);
        slots(&mut laptop);
        laptop.hello();
        laptop.subscribe(Subscription { placements: true, status: true, log: true });
    }
    laptop.done(Request::Delete { slot: "watch 0" });
    let (_, closest) = laptop.device.watchdog();
    eprintln!("slow flash: at least {closest:?} left when the watchdog was fed");
    assert!(closest.is_some_and(|left| left > ms(1_000)) && laptop.device.resets().is_empty());

    for (core, ((bottom, size), noise)) in stacks.into_iter().zip(noise).enumerate() {
        let now = laptop.device.read_ram(bottom, size);
        // The lowest words are the guard and the paint of firmware/src/crash.rs.
        let spare = (64..size).find(|&at| now[at] != noise[at]).unwrap_or(size);
        eprintln!("core {core}: {} of {size} bytes of stack used", size - spare);
        assert!(spare >= SPARE, "core {core} has {spare} bytes of its stack left");
    }
}

/// Names, and whether they are built in and selected.
fn slots(laptop: &mut Laptop) -> Vec<(String, bool, bool)> {
    let mut slots = Vec::new();
    for index in 0.. {
        let slot = laptop.call(Request::Slot { index }, |answer| match answer {
            Ok(Answer::Slot(slot)) => slot.map(|slot| (slot.name.to_owned(), slot.built_in, slot.selected)),
            other => panic!("{other:?} to a question for slot {index}"),
        });
        match slot {
            Some(slot) => slots.push(slot),
            None => break,
        }
    }
    slots
}

fn selected(laptop: &mut Laptop) -> String {
    let slots = slots(laptop);
    let selected: Vec<&String> =
        slots.iter().filter(|(.., selected)| *selected).map(|(name, ..)| name).collect();
    assert_eq!(selected.len(), 1, "one plays after a restart: {slots:?}");
    selected[0].clone()
}

fn stored(laptop: &mut Laptop) -> Vec<String> {
    slots(laptop).into_iter().filter(|(_, built_in, _)| !built_in).map(|(name, ..)| name).collect()
}

/// List, read, select, delete; after a loss of power everything is as it was.
fn slots_survive_a_loss_of_power() {
    let device = Device::start(Board::PicoOled);
    let mut laptop = Laptop::connect(device);
    let built_in: Vec<String> = slots(&mut laptop).into_iter().map(|(name, ..)| name).collect();
    assert_eq!(built_in, PLAYERS);
    assert_eq!(selected(&mut laptop), FIRST);
    for name in &built_in {
        assert_eq!(laptop.read(name), Some(known(name)));
    }

    let names = ["a", "my best", "dt+rbf 2026!", "~abcdefghijklmnopqrstuvw"];
    for (name, seed) in names.into_iter().zip(1..) {
        assert_eq!(laptop.upload(name, &learned(seed)), Ok(true));
    }
    laptop.done(Request::Select { slot: "my best", when: When::Game });
    laptop.power_cycle();
    assert_eq!(stored(&mut laptop), names);
    assert_eq!(selected(&mut laptop), "my best");
    for (name, seed) in names.into_iter().zip(1..) {
        assert_eq!(laptop.read(name), Some(learned(seed)));
    }
    laptop.done(Request::Pause { paused: true });
    let stand = laptop.status();
    assert_played_by(&stand, "my best", learned(2));

    laptop.done(Request::Select { slot: "dt10", when: When::Game });
    laptop.done(Request::Delete { slot: "a" });
    assert_eq!(laptop.upload("my best", &learned(9)), Ok(true));
    laptop.power_cycle();
    assert_eq!(stored(&mut laptop), names[1..]);
    assert_eq!(selected(&mut laptop), "dt10");
    assert_eq!((laptop.read("a"), laptop.read("my best")), (None, Some(learned(9))));
    assert_eq!(laptop.status().player, "dt10");
}

/// A new player takes effect at the next piece or at the next game, as asked.
fn a_player_takes_effect_when_it_should() {
    let device = Device::start(Board::PicoOled);
    let mut laptop = Laptop::connect(device);
    laptop.done(Request::Speed { speed: Speed::Fast });
    laptop.upload("mine", &learned(1)).unwrap();
    let new_game = Request::NewGame { seed: Some(1), rules: GameRules::default() };
    let play = |laptop: &mut Laptop| {
        laptop.device.run(SECOND);
        laptop.status()
    };

    laptop.done(Request::Select { slot: "mine", when: When::Game });
    let stand = play(&mut laptop);
    assert_played_by(&stand, FIRST, known(FIRST));
    laptop.done(new_game);
    let stand = play(&mut laptop);
    assert_played_by(&stand, "mine", learned(1));

    // Other weights for the one that plays: from the next game on.
    laptop.upload("mine", &learned(2)).unwrap();
    let stand = play(&mut laptop);
    assert_played_by(&stand, "mine", learned(1));
    laptop.done(new_game);
    let stand = play(&mut laptop);
    assert_played_by(&stand, "mine", learned(2));

    laptop.done(Request::Select { slot: "dellacherie", when: When::Piece });
    let before = laptop.status();
    assert_eq!((before.player.as_str(), before.seed), ("dellacherie", 1), "the same game");
    let after = play(&mut laptop);
    assert_eq!((after.player.as_str(), after.seed), ("dellacherie", 1));
    assert!(after.pieces > before.pieces);

    // One that is deleted plays its game to the end.
    laptop.done(Request::Select { slot: "mine", when: When::Game });
    laptop.done(new_game);
    laptop.done(Request::Delete { slot: "mine" });
    let stand = play(&mut laptop);
    assert_played_by(&stand, "mine", learned(2));
    laptop.done(new_game);
    let stand = play(&mut laptop);
    assert_played_by(&stand, FIRST, known(FIRST));
    assert_eq!(selected(&mut laptop), FIRST);
}

/// The button goes through the built-in players and the stored ones, and what it chose is kept.
fn the_button_goes_through_all_players() {
    let device = Device::start(Board::PicoOled);
    let mut laptop = Laptop::connect(device);
    laptop.upload("one", &learned(1)).unwrap();
    laptop.upload("two", &learned(2)).unwrap();
    let round = PLAYERS[1..].iter().copied().chain(["one", "two"]).chain(PLAYERS[..2].iter().copied());
    for name in round {
        act_and_see(&mut laptop.device, Action::Player, &format!("player={name}"));
        assert_eq!((selected(&mut laptop), laptop.status().player), (name.to_owned(), name.to_owned()));
    }
    // Nothing was written meanwhile; now that the button is left alone, it is, once.
    let kept =
        |laptop: &Laptop| laptop.device.logs().iter().filter(|log| log.text.starts_with("kept ")).count();
    assert_eq!(kept(&laptop), 0);
    laptop.device.run(ms(2_500));
    assert_eq!(kept(&laptop), 1);
    laptop.power_cycle();
    assert_eq!((selected(&mut laptop), laptop.status().player), ("dt20".into(), "dt20".into()));

    // A reset does not wait for it, and forgets nothing.
    laptop.done(Request::Select { slot: "one", when: When::Game });
    act_and_see(&mut laptop.device, Action::Player, "player=two");
    laptop.done(Request::Reset { bootsel: false });
    assert!(laptop.device.run_for(SECOND, &["reset"]).is_some());
    first_game(&mut laptop.device);
    laptop.open();
    assert_eq!((selected(&mut laptop), laptop.status().player), ("two".into(), "two".into()));
    laptop.done(Request::Pause { paused: true });
    let stand = laptop.status();
    assert_played_by(&stand, "two", learned(2));
}

/// A game by seed and rules is the one that is played here; pause, step and speed do what buttons do.
fn the_game_is_controlled() {
    let device = Device::start(Board::PicoOled);
    let mut laptop = Laptop::connect(device);
    let games = [
        (1, GameRules::default()),
        (u64::MAX, GameRules { height: 10, overflow: Overflow::After, pieces: Pieces::Bag }),
        (77, GameRules { height: 16, overflow: Overflow::Before, pieces: Pieces::Hard(3) }),
        (78, GameRules { height: 20, overflow: Overflow::After, pieces: Pieces::Hard(0) }),
    ];
    for (seed, rules) in games {
        laptop.done(Request::NewGame { seed: Some(seed), rules });
        for speed in Speed::ALL {
            laptop.done(Request::Speed { speed });
            assert_eq!(laptop.status().speed, speed);
            laptop.device.run(ms(300));
        }
        laptop.done(Request::Pause { paused: true });
        let stand = laptop.status();
        assert_eq!((stand.seed, stand.rules, stand.paused), (seed, rules, true));
        assert!(stand.pieces > 100, "{stand:?}");
        assert_played_by(&stand, FIRST, known(FIRST));

        laptop.device.run(ms(400));
        assert_eq!(laptop.status(), stand, "a game that is held stays as it is");
        for pieces in 1..=3 {
            laptop.done(Request::Step);
            assert_eq!(laptop.status().pieces, stand.pieces + pieces);
        }
        let stand = laptop.status();
        assert_played_by(&stand, FIRST, known(FIRST));
        laptop.done(Request::Pause { paused: false });
    }
    laptop.done(Request::Speed { speed: Speed::Watch });
    laptop.done(Request::Step);
    assert!(laptop.status().paused, "a step holds a game that is not held");

    // Without a seed, one by chance; the rules stay.
    laptop.done(Request::NewGame { seed: None, rules: games[1].1 });
    let stand = laptop.status();
    assert_eq!((stand.rules, stand.pieces), (games[1].1, 0));
    assert!(games.iter().all(|(seed, _)| *seed != stand.seed));
}

/// A bench is a game of its own: its digest is known, and the game on the table stands still meanwhile.
fn a_bench_is_played_apart() {
    const PIECES: u32 = 5_000;
    let device = Device::start(Board::PicoOled);
    let mut laptop = Laptop::connect(device);
    laptop.play_bcts();
    let before = laptop.status();
    laptop.done(Request::Bench { pieces: PIECES });
    let (pieces, lines, micros, digest) = expect_bench(&mut laptop);
    let mut game = Game::new(Default::default(), 1, 0);
    game.play(&Controller::on_device(known("bcts"), 20), PIECES.into());
    assert_eq!((pieces, u64::from(lines), digest), (PIECES, game.lines(), game.digest()));
    let per_second = f64::from(pieces) * 1e6 / micros as f64;
    eprintln!("bench: {pieces} pieces in {micros} us, {per_second:.0} a second");
    assert!(per_second > 10_000.0);
    let after = laptop.status();
    assert!(after.pieces <= before.pieces + 1 && after.seed == before.seed);

    // A button ends one that would take hours; so does a laptop that goes away.
    laptop.done(Request::Bench { pieces: u32::MAX });
    laptop.device.run(2 * SECOND);
    act_and_see(&mut laptop.device, Action::Pause, "paused=true");
    let (pieces, ..) = expect_bench(&mut laptop);
    assert!((20_000..100_000).contains(&pieces), "{pieces}");
    laptop.done(Request::Bench { pieces: u32::MAX });
    laptop.device.close_port();
    laptop.device.expect_log(SECOND, "bench ");
    laptop.open();
    laptop.done(Request::Pause { paused: false });
    laptop.device.run(ms(100));
    laptop.events(|event| panic!("the next one did not ask for {event:?}"));
    assert!(laptop.device.resets().is_empty());
}

fn expect_bench(laptop: &mut Laptop) -> (u32, u32, u64, u64) {
    let bench = laptop.event(SECOND, |event| match event {
        Event::Bench { pieces, lines, micros, digest } => Some((pieces, lines, micros, digest)),
        other => panic!("nobody asked for {other:?}"),
    });
    bench.unwrap_or_else(|| panic!("no end of the bench; the log:\n{}", laptop.device.story()))
}

fn a_crash_is_reported() {
    let device = Device::start(Board::PicoOled);
    let mut laptop = Laptop::connect(device);
    let none = |answer: Result<Answer<'_>, _>| assert_eq!(answer, Ok(Answer::Crash(None)));
    laptop.call(Request::Crash, none);
    panic_on(&mut laptop.device, 1);
    assert!(laptop.device.run_for(SECOND, &["reset"]).is_some());
    first_game(&mut laptop.device);
    laptop.open();
    laptop.call(Request::Crash, |answer| match answer {
        Ok(Answer::Crash(Some(CrashReport { kind, message, place }))) => {
            assert_eq!((kind, place), ("panic", "bench.rs:42"));
            assert!(message.contains("index out of bounds"), "{message}");
        }
        other => panic!("{other:?} after a crash"),
    });
    laptop.power_cycle();
    laptop.call(Request::Crash, none);
}

fn it_starts_again_when_asked() {
    let device = Device::start(Board::PicoOled);
    let mut laptop = Laptop::connect(device);
    laptop.done(Request::Speed { speed: Speed::Turbo });
    laptop.done(Request::Reset { bootsel: false });
    assert!(laptop.device.run_for(SECOND, &["reset"]).is_some());
    first_game(&mut laptop.device);
    let boot = laptop.device.logs().iter().rfind(|log| log.text.starts_with("boot "));
    assert_eq!(boot.and_then(|boot| boot.value("reset")), Some("forced"));
    laptop.open();
    laptop.call(Request::Crash, |answer| assert_eq!(answer, Ok(Answer::Crash(None)), "it did not crash"));
    laptop.done(Request::Reset { bootsel: true });
    laptop.device.run(ms(100));
    assert!(laptop.device.is_in_bootsel(), "{}", laptop.device.story());
}
