//! The link: the real binary, through a pseudo-terminal, against a device that is a thread of the test.
//!
//! The device's side of the conversation is the firmware's own, core's `Session`; the rest is a stand-in. The same
//! commands against the real firmware are in tests/emulator.
#![cfg(target_os = "linux")]

#[allow(dead_code, reason = "each test binary uses a part")]
#[path = "../common/mod.rs"]
mod common;

mod cable;
mod commands;
mod desk;
mod errors;
mod live;
mod upload;

use common::{Run, command, run};

use cable::Cable;

/// Runs `host` with arguments separated by spaces, on this port.
fn host(cable: &Cable, arguments: &str) -> Run {
    host_on(&cable.path, arguments)
}

/// The same, on any port.
fn host_on(port: &str, arguments: &str) -> Run {
    run(command().args(arguments.split_whitespace()).args(["--port", port]).env_remove("DROPWISE_PORT"))
}
