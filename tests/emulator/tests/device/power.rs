//! Power that fails while the device writes to its flash.

use dropwise_core::Player;
use dropwise_core::wire::{Answer, Refusal, Request, When};
use dropwise_emulator::{Board, Device};
use libtest_mimic::Trial;

use crate::laptop::{Laptop, with_upload};
use crate::link::learned;
use crate::refusals::bdu;
use crate::{alone, is_full, tests};

pub(crate) fn tests() -> Vec<Trial> {
    alone(tests![cut_at_any_byte_of_a_save])
}

/// Enough others that a save takes several pages.
const OTHERS: [&str; 6] = ["first", "second", "third", "fourth", "fifth", "sixth"];

/// What the flash may hold.
#[derive(Clone, Debug, PartialEq)]
struct State {
    player: Player,
    selected: &'static str,
}

/// Calls, if the device lives to answer: whether it did.
fn is_acknowledged(laptop: &mut Laptop, request: Request<'_>) -> bool {
    laptop.done_unread(request);
    let answered = laptop.answer_if_any(|answer: Result<Answer<'_>, Refusal>| {
        assert!(answer.is_ok(), "{answer:?} to {request:?}");
    });
    answered.is_some()
}

/// An upload, then another selection; stops where power fails. The states that were acknowledged or may be there.
fn change(
    laptop: &mut Laptop,
    state: &State,
    player: Player,
    selected: &'static str,
) -> (State, Option<State>) {
    let uploaded = State { player, ..state.clone() };
    let is_uploaded = with_upload("mine", &player, |requests| {
        requests.iter().all(|&request| is_acknowledged(laptop, request))
    });
    if !is_uploaded {
        return (state.clone(), Some(uploaded));
    }
    let chosen = State { selected, ..uploaded.clone() };
    if is_acknowledged(laptop, Request::Select { slot: selected, when: When::Game }) {
        return (chosen, None);
    }
    (uploaded, Some(chosen))
}

/// Power fails at points spread over every erase and program of two saves, the bytes of each, and, as the ring goes
/// on, its sectors. After each the device starts, plays a player that is whole, and holds exactly the old or the new
/// weights; what was acknowledged is never lost.
fn cut_at_any_byte_of_a_save() {
    let cuts = if is_full() { 500 } else { 60 };
    let device = Device::start(Board::PicoOled);
    let mut laptop = Laptop::connect(device);
    for (seed, name) in (1..).zip(OTHERS) {
        laptop.upload(name, &bdu(seed)).unwrap();
    }
    let mut state = State { player: learned(0), selected: "first" };
    laptop.upload("mine", &state.player).unwrap();
    laptop.done(Request::Select { slot: state.selected, when: When::Game });

    let next = |state: &State, step: usize| {
        let selected = if state.selected == "first" { "mine" } else { "first" };
        (learned(step as i16 + 1), selected)
    };
    laptop.device.spare_power();
    let (player, selected) = next(&state, 0);
    (state, _) = change(&mut laptop, &state, player, selected);
    let operations = laptop.device.flash_operations();
    let kinds: Vec<&str> = operations.iter().map(|(kind, ..)| kind.as_str()).collect();
    let save = ["erase", "program", "program"];
    assert!(kinds.len() >= 8 && kinds.starts_with(&save), "two saves of several pages: {operations:?}");

    let (mut lost, mut kept) = (0, 0);
    for cut in 1..=cuts {
        let operation = cut % operations.len();
        let count = operations[operation].2 as usize;
        let rounds = cuts / operations.len() + 1;
        let byte = (cut / operations.len() * count / rounds + cut % 7).min(count - 1);
        let (player, selected) = next(&state, cut);
        laptop.device.cut_power_in(operation, byte);
        let (sure, possible) = change(&mut laptop, &state, player, selected);
        assert!(!laptop.device.is_on(), "power fails in operation {operation}, byte {byte}");
        let possible = possible.expect("not all is acknowledged when power fails");
        laptop.device.spare_power();
        laptop.power_cycle();

        let player = laptop.read("mine").expect("a player is never lost");
        let playing = laptop.status();
        let selected = if playing.player == "mine" { "mine" } else { "first" };
        let found = State { player, selected };
        let place = format!("cut {cut}, in {:?} after {byte} bytes", operations[operation]);
        assert!(found == sure || found == possible, "{place}: {found:?}, not {sure:?} or {possible:?}");
        let weights = if selected == "mine" { player } else { bdu(1) };
        assert_eq!((playing.player.as_str(), playing.player_digest), (selected, weights.digest()), "{place}");
        for (seed, name) in (1..).zip(OTHERS) {
            assert_eq!(laptop.read(name), Some(bdu(seed)), "{place}: {name}");
        }
        if found == possible {
            kept += 1;
        } else {
            lost += 1;
        }
        state = found;
    }
    eprintln!("power cut at {cuts} points of saves: {lost} left the old state, {kept} the new one");
    assert!(laptop.device.resets().is_empty());
}
