//! The cable pulled in the middle of an upload: old weights or new ones, and a second try that succeeds.

use dropwise_core::Player;

use crate::cable::{Cable, Faults};
use crate::desk::Desk;
use crate::host;

const OLD: &str = "dellacherie";
const NEW: &str = "bdu";

fn player(name: &str) -> Player {
    Player::known(name).unwrap()
}

/// A device that has the old weights, which play.
fn desk() -> Desk {
    let mut desk = Desk::new();
    desk.stored.push(("mine".into(), player(OLD)));
    desk.selected = "mine".into();
    desk
}

/// Pulls the cable, looks at what the device has, plugs it in again and retries.
fn interrupted(faults: Faults, may_be_new: bool, what: &str) -> bool {
    let cable = Cable::with(desk(), faults);
    let run = host(&cable, &format!("flash {NEW} --slot mine --play"));
    let done = run.code == Some(0);
    if !done {
        assert_eq!(run.code, Some(3), "{what}: {}", run.stderr);
        assert!(run.stderr.contains("the cable was pulled"), "{what}: {}", run.stderr);
    }
    let desk = cable.pull();
    let [(name, now)] = &desk.stored[..] else { panic!("{what}: one player") };
    assert_eq!((name.as_str(), desk.selected.as_str()), ("mine", "mine"), "{what}");
    let is_new = *now == player(NEW);
    assert!(is_new && (may_be_new || done) || *now == player(OLD), "{what}: {now:?}");
    let cable = Cable::new(desk);
    let json = host(&cable, &format!("flash {NEW} --slot mine --play --json")).json();
    assert_eq!(json["written"], !is_new, "{what}");
    assert_eq!(cable.pull().stored, [("mine".into(), player(NEW))], "{what}");
    done
}

/// The calls of a flash: hello, the eight built-in players, the stored one, the end of the list, then the upload.
const BEFORE: usize = 11;
/// Begin, two chunks, commit.
const UPLOAD: usize = 4;

#[test]
fn the_cable_pulled_after_every_frame_leaves_old_or_new_weights() {
    let mut answers = 0;
    loop {
        let faults = Faults { pull_after_answers: Some(answers), ..Faults::default() };
        // A commit that arrived counts, even if its answer is lost.
        let committed = answers + 1 >= BEFORE + UPLOAD;
        if interrupted(faults, committed, &format!("after {answers} answers")) {
            break;
        }
        answers += 1;
    }
    assert!(answers > BEFORE + UPLOAD, "a flash has {answers} calls");
}

#[test]
fn the_cable_pulled_at_any_byte_of_an_upload_leaves_old_or_new_weights() {
    let mut new = false;
    for bytes in (0..500).step_by(7) {
        let faults = Faults { pull_after: Some(bytes), ..Faults::default() };
        new = interrupted(faults, true, &format!("after {bytes} bytes"));
    }
    assert!(new, "500 bytes are more than a flash sends");
}
