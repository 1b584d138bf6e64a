//! What goes wrong, what is said about it, and the exit code.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::thread;
use std::time::Duration;

use dropwise_core::Player;
use dropwise_core::player::KNOWN;
use dropwise_core::wire::Refusal;
use dropwise_core::wire::frame::{Frame, Unframer, decode_start};

use crate::cable::{Cable, Faults, Pty};
use crate::commands::file;
use crate::common::{Run, command, run};
use crate::desk::Desk;
use crate::{host, host_on};

/// It failed so, and said this and nothing else.
#[track_caller]
fn fails(run: &Run, code: i32, told: &[&str]) {
    assert_eq!(run.code, Some(code), "{}{}", run.stdout, run.stderr);
    assert_eq!(run.stdout, "");
    assert!(run.stderr.starts_with("error: "), "{}", run.stderr);
    for part in told {
        assert!(run.stderr.contains(part), "{part}: {}", run.stderr);
    }
}

#[test]
fn no_device_is_told_with_what_to_do() {
    for arguments in ["list", "info", "slots", "watch", "reset", "log"] {
        let run = run(command().args(["device", arguments]).env_remove("DROPWISE_PORT"));
        fails(&run, 3, &["no device found", "plug one in", "docs/boards.md"]);
    }
    let by_serial = run(command().args(["device", "info", "--device", "E660"]).env_remove("DROPWISE_PORT"));
    fails(&by_serial, 3, &["serial number E660"]);
    fails(&run(command().args(["flash", "bcts"]).env_remove("DROPWISE_PORT")), 3, &["no device found"]);
}

#[test]
fn a_port_that_is_none_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    let plain = folder.path().join("plain");
    fs::write(&plain, "text").unwrap();
    fails(&host_on("/dev/ttyACM99", "device info"), 3, &["no port /dev/ttyACM99", "`host device list`"]);
    for port in [path, plain.to_str().unwrap(), "/dev/null"] {
        fails(&host_on(port, "device info"), 3, &["cannot open", port, "is it a serial port?"]);
    }
    fails(&host_on("", "device info"), 3, &["no port"]);
}

#[test]
fn wrong_usage_is_told_before_a_device_is_looked_for() {
    for (arguments, told) in [
        ("device", "Usage: host device"),
        ("device dance", "unrecognized subcommand 'dance'"),
        ("device info --device b", "cannot be used with"),
        ("device info --timeout 0", "0.1 to 3600"),
        ("device select", "required"),
        ("device select x --when never", "possible values: piece, game"),
        ("device play --continue --board 10x10", "cannot be used with"),
        ("device play --step 0", "0 is not in 1..="),
        ("device play --speed warp", "possible values: watch, fast, turbo"),
        ("device bench --pieces 0", "0 is not in 1.."),
        ("flash", "required"),
        ("flash bcts --when game", "--play"),
        ("flash bctss", "did you mean 'bcts'?"),
        ("flash no/such.toml", "no/such.toml: No such file"),
        ("flash .", "cannot use the weights file ."),
        ("device play --pieces list:no-such-list", "cannot read the pieces"),
        ("device pull ../x", "--out FILE"),
    ] {
        let run = host_on("/no/such/port", arguments);
        assert_eq!(run.code, Some(2), "{arguments}: {}", run.stderr);
        assert!(run.stderr.contains(told), "{arguments}: {}", run.stderr);
    }
}

#[test]
fn a_list_of_pieces_stays_on_the_laptop() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pieces");
    fs::write(&path, "TSZ").unwrap();
    let run = host_on("/no/such/port", &format!("device play --pieces list:{}", path.display()));
    fails(&run, 2, &["uniform, hard:K or bag"]);
}

#[test]
fn no_permission_is_told_with_the_line_to_add() {
    let pty = Pty::raw();
    fs::set_permissions(&pty.path, Permissions::from_mode(0o000)).unwrap();
    let output = if rustix::process::geteuid().is_root() {
        // Root may open anything; nobody may not. The program must lie where nobody can run it.
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
        let program = folder.path().join("host");
        fs::copy(env!("CARGO_BIN_EXE_host"), &program).unwrap();
        Command::new(program).args(["device", "info", "--port", &pty.path]).uid(65534).gid(65534).output()
    } else {
        Command::new(env!("CARGO_BIN_EXE_host")).args(["device", "info", "--port", &pty.path]).output()
    };
    let output = output.expect("host runs");
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(3), "{told}");
    for part in [
        "no permission to open /dev/pts/",
        "usermod -aG dialout",
        r#"SUBSYSTEM=="tty", ATTRS{idVendor}=="2e8a", ATTRS{idProduct}=="000a""#,
        "/etc/udev/rules.d/60-dropwise.rules",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
}

#[test]
fn a_port_in_use_is_told() {
    let cable = Cable::new(Desk::new());
    let monitor = serialport::new(&cable.path, 115_200).open().expect("a port");
    fails(&host(&cable, "device info"), 3, &["in use by another program", &cable.path]);
    let list = host(&cable, "device list --json");
    assert_eq!(list.code, Some(3));
    assert!(list.stdout.contains("in use by another program"), "{}", list.stdout);
    drop(monitor);
    assert_eq!(host(&cable, "device info").code, Some(0));
}

#[test]
fn silence_and_noise_are_told_apart() {
    let silent = Cable::to(|_| vec![]);
    fails(&host(&silent, "device info --timeout 0.3"), 3, &["no answer from", "is it a Dropwise device?"]);
    let echo = Cable::to(<[u8]>::to_vec);
    fails(&host(&echo, "device info --timeout 0.3"), 3, &["does not seem to be a Dropwise device"]);
    let chatter = Cable::to(|_| b"login: \0\x01\x02".to_vec());
    fails(&host(&chatter, "flash bcts --timeout 0.3"), 3, &["does not seem to be a Dropwise device"]);
    // A silent thing that is no USB device is not knocked at.
    fails(&host(&silent, "device reset --bootsel --timeout 0.3"), 3, &["no answer from"]);
}

/// A device of another age: it greets, and says things that nobody knows yet.
fn stranger(protocol: u16, firmware: &'static str) -> Cable {
    let mut unframer = Unframer::new();
    Cable::to(move |bytes| {
        let mut answers = vec![];
        for &byte in bytes {
            let Some(number) = unframer.push(byte).and_then(decode_start::<u16>) else { continue };
            let hello = (0u8, number, 0u8, 0u8, protocol, firmware, [7u64; 5]);
            answers.extend(Frame::new().wrap(&hello).expect("it fits"));
        }
        answers
    })
}

#[test]
fn another_protocol_is_told_with_who_is_to_be_updated() {
    let newer = stranger(500, "9.8.7");
    for arguments in ["device info", "device list", "flash bcts", "device watch"] {
        let run = host(&newer, arguments);
        assert_eq!(run.code, Some(3), "{arguments}");
        for part in ["firmware 9.8.7", "protocol 500", "protocol 1", "update this program"] {
            assert!(run.stderr.contains(part), "{part}: {}", run.stderr);
        }
    }
    let older = stranger(0, "0.0.1");
    fails(
        &host(&older, "device slots"),
        3,
        &["firmware 0.0.1", "update the device's firmware", "reset --bootsel"],
    );
    // The way to new firmware is open all the same.
    let knocked = host(&older, "device reset --bootsel");
    assert_eq!(knocked.code, Some(0), "{}", knocked.stderr);
}

/// A device of the same protocol as ours whose answer to a hello is something else.
#[test]
fn an_answer_to_something_else_is_told() {
    let mut unframer = Unframer::new();
    let cable = Cable::to(move |bytes| {
        let mut answers = vec![];
        for &byte in bytes {
            let Some(number) = unframer.push(byte).and_then(decode_start::<u16>) else { continue };
            answers.extend(Frame::new().wrap(&(0u8, number, 0u8, 1u8)).expect("it fits"));
        }
        answers
    });
    fails(&host(&cable, "device info"), 3, &["asked to say who it is", "answered something else"]);
}

#[test]
fn every_refusal_has_its_words_and_its_code() {
    for (refusal, code, told) in [
        (Refusal::Unknown, 3, "does not understand; update"),
        (Refusal::NoHello, 3, "Try again"),
        (Refusal::Stale, 3, "Try again"),
        (Refusal::Name, 1, "not a name"),
        (Refusal::NoSuchSlot, 1, "the device has no player 'dt20'"),
        (Refusal::BuiltIn, 1, "came with the firmware"),
        (Refusal::Full, 1, "`host device delete NAME` makes room"),
        (Refusal::Set, 1, "update the firmware"),
        (Refusal::Length { expected: 18 }, 1, "18 bytes of weights"),
        (Refusal::NoUpload, 3, "did not arrive as they were sent"),
        (Refusal::Order { expected: 1 }, 3, "did not arrive as they were sent"),
        (Refusal::Chunk, 3, "did not arrive as they were sent"),
        (Refusal::Incomplete, 3, "did not arrive as they were sent"),
        (Refusal::Digest, 3, "did not arrive as they were sent"),
        (Refusal::Range { index: 3 }, 1, "weight 4 is out of range"),
        (Refusal::Rules, 1, "cannot play by these rules"),
        (Refusal::Flash, 1, "what was stored before is still there"),
        (Refusal::Busy, 1, "try again in a moment"),
        (Refusal::TooLong, 3, "update"),
    ] {
        let mut desk = Desk::new();
        desk.refuses = Some(refusal);
        let cable = Cable::new(desk);
        fails(&host(&cable, "device select dt20"), code, &[told]);
    }
}

#[test]
fn each_command_tells_what_was_refused() {
    let (_folder, path) = file("mine", Player::known("dt20").unwrap());
    for (arguments, told) in [
        ("device select dt20", "refuses to let 'dt20' play"),
        ("device play", "refuses to pause"),
        ("device play --speed turbo", "refuses to change its speed"),
        ("device bench", "refuses to measure its speed"),
        (&format!("flash {path}"), "refuses to save the player"),
    ] {
        let mut desk = Desk::new();
        desk.refuses = Some(Refusal::Busy);
        fails(&host(&Cable::new(desk), arguments), 1, &[told, "try again in a moment"]);
    }
}

#[test]
fn a_player_that_is_not_there_is_told_with_those_that_are() {
    let cable = Cable::new(Desk::new());
    for verb in ["select", "delete", "pull"] {
        let run = host(&cable, &format!("device {verb} dt21"));
        fails(&run, 1, &["the device has no player 'dt21'; did you mean 'dt20'?", "bcts, bdu"]);
    }
    fails(&host(&cable, "device delete bcts"), 1, &["refuses to delete 'bcts'", "came with the firmware"]);
}

#[test]
fn a_player_that_cannot_be_sent_changes_nothing() {
    let dt20 = Player::known("dt20").unwrap();
    let (_folder, path) = file("a name of more than 24 characters", dt20);
    let (_other, unicode) = file("größer", dt20);
    let (_third, other_bcts) = file("bcts", dt20);
    let cable = Cable::new(Desk::new());
    fails(&host(&cable, &format!("flash {path}")), 2, &["1 to 24 ASCII characters", "--slot NAME"]);
    fails(&host(&cable, &format!("flash {unicode}")), 2, &["'größer'", "--slot NAME"]);
    let taken = host(&cable, &format!("flash {other_bcts}"));
    fails(&taken, 1, &["refuses to save 'bcts'", "came with the firmware", "take another name"]);
    for slot in ["one", "two", "three"] {
        assert_eq!(host(&cable, &format!("flash {path} --slot {slot}")).code, Some(0));
    }
    fails(&host(&cable, &format!("flash {path} --slot four")), 1, &["refuses to save 'four'", "no room"]);
    // One that is there may still be replaced.
    assert_eq!(host(&cable, "flash bdu --slot two").code, Some(0));
    let names: Vec<String> = cable.pull().stored.into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["one", "three", "two"]);
}

#[test]
fn a_device_that_lacks_a_set_or_has_another_format_is_told() {
    let mut desk = Desk::new();
    desk.sets = 1 << 1 | 1 << 2 | 1 << 31;
    let cable = Cable::new(desk);
    fails(
        &host(&cable, "flash dt20 --slot x"),
        1,
        &["feature set 'dt'", "it has d, bcts", "Update its firmware"],
    );
    assert!(host(&cable, "device info").stdout.contains("d, bcts, 1 that this program does not know"));
    for (format, who) in [(0, "update the device's firmware"), (2, "update this program")] {
        let mut desk = Desk::new();
        desk.weights_format = format;
        let cable = Cable::new(desk);
        fails(&host(&cable, "flash bcts --slot x"), 3, &[&format!("format {format}"), who]);
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("x.toml");
        fails(&host(&cable, &format!("device pull bcts --out {}", out.display())), 3, &[who]);
        assert!(!out.exists());
        assert_eq!(cable.pull().stored, []);
    }
}

#[test]
fn weights_that_come_back_otherwise_are_told() {
    let mut desk = Desk::new();
    desk.forgetful = true;
    let cable = Cable::new(desk);
    fails(&host(&cable, "flash dt20 --slot x"), 1, &["other weights for 'x'"]);
}

#[test]
fn a_pulled_cable_is_told() {
    for answers in 0..4 {
        let faults = Faults { pull_after_answers: Some(answers), ..Faults::default() };
        let cable = Cable::with(Desk::new(), faults);
        let path = cable.path.clone();
        fails(&host(&cable, "device slots"), 3, &["the cable was pulled", &path]);
    }
}

/// The laptop asks again, and takes no answer for another one's.
#[test]
fn answers_that_are_lost_damaged_doubled_or_late_do_no_harm() {
    let garbage = |frame: &[u8]| [b"\x07garbage\0\0", frame].concat();
    let doubled = |frame: &[u8]| [frame, frame].concat();
    let mut last = vec![];
    let late = move |frame: &[u8]| {
        // The answer before comes once more, ahead of this one.
        let both = [&last[..], frame].concat();
        last = frame.to_vec();
        both
    };
    let mut odd = 0;
    let lost = move |frame: &[u8]| {
        odd += 1;
        if odd % 2 == 1 { vec![] } else { frame.to_vec() }
    };
    let mut short = 0;
    let truncated = move |frame: &[u8]| {
        short += 1;
        if short % 2 == 1 { frame[..frame.len() / 2].to_vec() } else { [&[0], frame].concat() }
    };
    let mut bent = 0;
    let damaged = move |frame: &[u8]| {
        let mut frame = frame.to_vec();
        bent += 1;
        if bent % 2 == 1 {
            let middle = frame.len() / 2;
            frame[middle] ^= 0x55;
        }
        frame
    };
    let overlong = |frame: &[u8]| [&[1; 5000], &[0][..], frame].concat();
    let faults: [(&str, crate::cable::Mangle); 7] = [
        ("garbage", Box::new(garbage)),
        ("doubled", Box::new(doubled)),
        ("late", Box::new(late)),
        ("lost", Box::new(lost)),
        ("truncated", Box::new(truncated)),
        ("damaged", Box::new(damaged)),
        ("overlong", Box::new(overlong)),
    ];
    let flash = |name: &str, mangle| {
        let cable = Cable::with(Desk::new(), Faults { mangle: Some(mangle), ..Faults::default() });
        // Time for a busy machine to answer; what is lost is missed for a fifth of it.
        let run = host(&cable, "flash dt20 --slot mine --play --timeout 5 --json");
        assert_eq!(run.code, Some(0), "{name}: {}", run.stderr);
        let json = run.json();
        assert_eq!((&json["verified"], &json["plays"]["name"]), (&true.into(), &"mine".into()), "{name}");
        let desk = cable.pull();
        assert_eq!(desk.stored, [("mine".into(), Player::known("dt20").unwrap())], "{name}");
    };
    // They wait most of the time.
    thread::scope(|scope| {
        for (name, mangle) in faults {
            scope.spawn(move || flash(name, mangle));
        }
    });
}

/// What an earlier program left in the port is not taken for an answer.
#[test]
fn a_conversation_starts_afresh() {
    let cable = Cable::new(Desk::new());
    for _ in 0..3 {
        let mut child = Command::new(env!("CARGO_BIN_EXE_host"))
            .args(["device", "watch", "--json", "--port", &cable.path])
            .stdout(std::process::Stdio::null())
            .spawn()
            .expect("host runs");
        thread::sleep(Duration::from_millis(100));
        child.kill().unwrap();
        child.wait().unwrap();
        // The device still tells of its game to whoever is there.
        assert_eq!(host(&cable, "device slots --json").json_lines().len(), KNOWN.len());
    }
}
