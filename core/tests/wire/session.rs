//! The device's side of a conversation: what is doubled, late, lost or wrong does no harm.

use dropwise_core::name::MAX_NAME;
use dropwise_core::player::{KNOWN, MAX_WEIGHT};
use dropwise_core::wire::frame::MAX_FRAME;
use dropwise_core::wire::{
    Call, GameRules, MAX_CHUNK, PROTOCOL, Pieces, Refusal, Request, Subscription, When,
};
use dropwise_core::{Overflow, Player, Set, Speed};
use proptest::prelude::*;

use crate::desk::{CAPACITY, Cable, Desk, framed, with_upload};

fn dt20() -> Player {
    Player::known("dt20").unwrap()
}

fn bdu() -> Player {
    Player::known("bdu").unwrap()
}

#[test]
fn an_upload_ends_in_its_slot_and_can_be_read_back() {
    let mut cable = Cable::connected();
    for known in &KNOWN {
        cable.desk.stored.clear();
        assert_eq!(cable.upload("mine", &known.player).unwrap(), "Saved { written: true }");
        assert_eq!(cable.desk.stored["mine"], known.player);
        assert_eq!(cable.upload("mine", &known.player).unwrap(), "Saved { written: false }");
        let read = cable.ask(Request::Read { slot: "mine" }).unwrap();
        assert_eq!(read, cable.ask(Request::Read { slot: known.name }).unwrap(), "{}", known.name);
    }
}

#[test]
fn nothing_is_done_before_hello() {
    let mut cable = Cable::default();
    for request in [Request::Step, Request::Status, Request::Commit, Request::Reset { bootsel: true }] {
        assert_eq!(cable.ask(request), Err(Refusal::NoHello));
    }
    assert_eq!(cable.desk, Desk::default());
    assert!(cable.ask(Request::Hello { protocol: PROTOCOL + 1 }).is_ok(), "any version may say hello");
    assert_eq!(cable.ask(Request::Step).unwrap(), "Done");
}

#[test]
fn hello_ends_what_was_under_way() {
    let mut cable = Cable::connected();
    cable.ask(Request::Subscribe(Subscription { placements: true, ..Subscription::default() })).unwrap();
    let begin = Request::Begin { slot: "mine", set: Set::D.id(), length: 12, digest: 0 };
    cable.ask(begin).unwrap();
    cable.reconnect();
    assert_eq!(cable.desk.subscription, Subscription::default());
    assert_eq!(cable.ask(Request::Commit), Err(Refusal::NoUpload));
}

/// The cable is pulled after every single frame of an upload, and within every one.
#[test]
fn an_upload_that_breaks_off_anywhere_changes_nothing_and_can_be_made_again() {
    let frames = |number: u16, player: &Player| -> Vec<Vec<u8>> {
        with_upload("mine", player, |requests| {
            let calls = (number..).zip(requests);
            calls.map(|(number, &request)| framed(&Call { number, request })).collect()
        })
    };
    let all = frames(2, &bdu()).concat();
    let last = frames(2, &bdu()).last().unwrap().len();
    for cut in 0..all.len() {
        let mut cable = Cable::connected();
        cable.upload("mine", &dt20()).unwrap();
        cable.reconnect();
        let first = cable.send(&framed(&Call { number: 1, request: Request::Hello { protocol: PROTOCOL } }));
        assert!(first[0].1.is_ok());
        cable.send(&all[..cut]);
        assert_eq!(
            cable.desk.stored["mine"],
            dt20(),
            "cut after {cut} bytes of {}, {last} in the last",
            all.len()
        );
        // The line may bring a few bytes of nothing when it comes back.
        cable.send(&[0x7f, 0]);
        cable.reconnect();
        assert_eq!(cable.upload("mine", &bdu()).unwrap(), "Saved { written: true }", "cut after {cut}");
        assert_eq!(cable.desk.stored["mine"], bdu());
    }
}

#[test]
fn each_wrong_upload_is_refused_by_name_and_changes_nothing() {
    let good = dt20();
    let (set, digest) = (good.set().id(), good.digest());
    let begin = Request::Begin { slot: "mine", set, length: 18, digest };
    let long = "a".repeat(MAX_NAME + 1);
    let cases: &[(&[Request<'_>], Refusal)] = &[
        (&[Request::Begin { slot: "", set, length: 18, digest }], Refusal::Name),
        (&[Request::Begin { slot: &long, set, length: 18, digest }], Refusal::Name),
        (&[Request::Begin { slot: "tab\t", set, length: 18, digest }], Refusal::Name),
        (&[Request::Begin { slot: "bcts", set, length: 18, digest }], Refusal::BuiltIn),
        (&[Request::Begin { slot: "mine", set: 0, length: 18, digest }], Refusal::Set),
        (&[Request::Begin { slot: "mine", set: 255, length: 18, digest }], Refusal::Set),
        (&[Request::Begin { slot: "mine", set, length: 16, digest }], Refusal::Length { expected: 18 }),
        (&[Request::Begin { slot: "mine", set, length: u16::MAX, digest }], Refusal::Length { expected: 18 }),
        (&[Request::Chunk { index: 0, bytes: &[0; 18] }], Refusal::NoUpload),
        (&[Request::Commit], Refusal::NoUpload),
        (&[begin, Request::Commit], Refusal::Incomplete),
        (&[begin, Request::Chunk { index: 1, bytes: &[0; 18] }], Refusal::Order { expected: 0 }),
        (&[begin, Request::Chunk { index: 0, bytes: &[0; 17] }], Refusal::Chunk),
        (&[begin, Request::Chunk { index: 0, bytes: &[0; 19] }], Refusal::Chunk),
        (&[begin, Request::Chunk { index: 0, bytes: &[] }], Refusal::Chunk),
        (&[begin, Request::Chunk { index: 0, bytes: &[0; 18] }, Request::Commit], Refusal::Digest),
        (
            &[begin, Request::Chunk { index: 0, bytes: &[0x7f; 18] }, Request::Commit],
            Refusal::Range { index: 0 },
        ),
        (
            &[
                begin,
                Request::Chunk { index: 0, bytes: &[0; 18] },
                Request::Chunk { index: 0, bytes: &[0; 18] },
            ],
            Refusal::Order { expected: 1 },
        ),
        (
            &[begin, Request::Chunk { index: 0, bytes: &[0; 18] }, Request::Chunk { index: 1, bytes: &[1] }],
            Refusal::Chunk,
        ),
    ];
    for (requests, refusal) in cases {
        let mut cable = Cable::connected();
        cable.upload("mine", &Player::known("dt10").unwrap()).unwrap();
        let before = cable.desk.clone();
        let answers: Vec<_> = requests.iter().map(|&request| cable.ask(request)).collect();
        assert_eq!(answers.last().unwrap(), &Err(*refusal), "{requests:?}");
        assert_eq!(cable.desk, before, "{requests:?}");
    }
}

#[test]
fn a_weight_out_of_range_is_named() {
    let set = Set::D;
    for index in 0..set.len() {
        let mut weights = vec![1_i16; set.len()];
        weights[index] = MAX_WEIGHT + 1;
        let bytes: Vec<u8> = weights.iter().flat_map(|weight| weight.to_le_bytes()).collect();
        let mut cable = Cable::connected();
        let begin = Request::Begin { slot: "mine", set: set.id(), length: bytes.len() as u16, digest: 0 };
        cable.ask(begin).unwrap();
        cable.ask(Request::Chunk { index: 0, bytes: &bytes }).unwrap();
        assert_eq!(cable.ask(Request::Commit), Err(Refusal::Range { index: index as u8 }));
        assert!(cable.desk.stored.is_empty());
    }
}

#[test]
fn a_full_or_broken_store_refuses_by_name() {
    let mut cable = Cable::connected();
    for slot in 0..CAPACITY {
        cable.upload(&format!("player {slot}"), &dt20()).unwrap();
    }
    assert_eq!(cable.upload("one more", &dt20()), Err(Refusal::Full));
    assert_eq!(
        cable.upload("player 0", &bdu()).unwrap(),
        "Saved { written: true }",
        "there is room for its next"
    );
    cable.desk.broken = true;
    assert_eq!(cable.upload("player 1", &bdu()), Err(Refusal::Flash));
    assert_eq!(cable.desk.stored["player 1"], dt20());
}

#[test]
fn a_request_from_the_future_is_refused_under_its_number() {
    let mut cable = Cable::connected();
    // A variant that nobody has yet.
    let answers = cable.send(dropwise_core::wire::frame::Frame::new().wrap(&(7_u16, 200_u8, 1_u8)).unwrap());
    assert_eq!(answers, [(7, Err(Refusal::Unknown))]);
}

/// Requests with their effect, for conversations at random.
fn request(kind: u8) -> Request<'static> {
    match kind % 8 {
        0 => Request::Step,
        1 => Request::Pause { paused: kind > 100 },
        2 => Request::Speed { speed: Speed::Fast },
        3 => Request::Select { slot: "dt20", when: When::Game },
        4 => Request::NewGame {
            seed: Some(kind.into()),
            rules: GameRules { height: kind, overflow: Overflow::After, pieces: Pieces::Bag },
        },
        5 => Request::Bench { pieces: 1 },
        6 => Request::Begin { slot: "mine", set: 1, length: 12, digest: 3 },
        _ => Request::Delete { slot: "nobody" },
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Frames doubled and held back: each call has its effect once, and no other.
    #[test]
    fn doubled_and_late_frames_have_no_effect(
        kinds in proptest::collection::vec((any::<u8>(), 0usize..4), 1..40),
        start in any::<u16>(),
    ) {
        let hello = framed(&Call { number: start, request: Request::Hello { protocol: PROTOCOL } });
        let calls: Vec<Vec<u8>> = (1..)
            .zip(&kinds)
            .map(|(i, &(kind, _))| framed(&Call { number: start.wrapping_add(i), request: request(kind) }))
            .collect();
        let (mut plain, mut noisy) = (Cable::default(), Cable::default());
        plain.send(&hello);
        noisy.send(&hello);
        for (i, call) in calls.iter().enumerate() {
            let answer = plain.send(call);
            prop_assert_eq!(&noisy.send(call), &answer);
            match kinds[i].1 {
                0 => {}
                1 => prop_assert_eq!(&noisy.send(call), &answer, "again"),
                back => if let Some(late) = i.checked_sub(back - 1) {
                    let refusals = noisy.send(&calls[late]);
                    prop_assert_eq!(refusals.len(), 1);
                    prop_assert_eq!(&refusals[0].1, &Err(Refusal::Stale));
                    prop_assert_eq!(&noisy.send(call), &answer, "the last one is remembered");
                }
            }
            prop_assert_eq!(&plain.desk, &noisy.desk);
        }
    }

    /// Chunks in any order but the right one never make a player.
    #[test]
    fn chunks_out_of_order_never_make_a_player(order in proptest::collection::vec(0u16..3, 0..6)) {
        let mut cable = Cable::connected();
        with_upload("mine", &bdu(), |requests| {
            cable.ask(requests[0]).unwrap();
            let bytes: Vec<&[u8]> = requests.iter().filter_map(|request| match request {
                Request::Chunk { bytes, .. } => Some(*bytes),
                _ => None,
            }).collect();
            for &index in &order {
                let bytes = bytes.get(usize::from(index)).copied().unwrap_or(&[1; MAX_CHUNK]);
                let _ = cable.ask(Request::Chunk { index, bytes });
            }
        });
        // Both chunks were taken if and only if the second came some time after the first.
        let first = order.iter().position(|&index| index == 0);
        let complete = first.is_some_and(|first| order[first..].contains(&1));
        let outcome = cable.ask(Request::Commit);
        prop_assert_eq!(outcome.is_ok(), complete, "{:?}", outcome);
        prop_assert_eq!(cable.desk.stored.get("mine").copied(), complete.then(bdu));
    }

    /// Whatever comes in, a good conversation is possible afterwards, and nothing was stored.
    #[test]
    fn garbage_does_nothing(garbage in proptest::collection::vec(any::<u8>(), 0..3 * MAX_FRAME)) {
        let mut cable = Cable::connected();
        let before = cable.desk.clone();
        cable.send(&garbage);
        cable.send(&[0]);
        prop_assert_eq!(&cable.desk, &before);
        cable.reconnect();
        prop_assert!(cable.upload("mine", &dt20()).is_ok());
    }
}
