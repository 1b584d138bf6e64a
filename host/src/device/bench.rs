//! `host device bench`: how fast a device thinks.

use std::sync::atomic::Ordering;
use std::time::Duration;

use clap::Args;
use dropwise_core::wire::{Event, Request};
use dropwise_core::{Controller, Game, Player, Rules};
use serde_json::json;

use super::{device_json, hexadecimal};
use crate::args::Common;
use crate::figures;
use crate::interrupt;
use crate::link::{Link, PortArgs};
use crate::output::{self, Answer, BAD, Failure, GOOD};

/// Measure how many pieces a second the device places, and whether they are the right ones
#[derive(Args, Debug)]
#[command(after_help = HELP)]
pub(super) struct BenchArgs {
    /// How many pieces
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..))]
    pieces: u32,
}

const HELP: &str = "\
The player that plays on the device plays game 0 of seed 1 on 10x20, apart from the game on the screen, as fast as the
chip can. This laptop plays the same, and the digests over the moves must be equal; the exit code is 1 if they are not.

Examples:
  host device bench
  host device bench --pieces 1000 --json";

/// How long Ctrl-C may go unseen.
const GLANCE: Duration = Duration::from_millis(100);
/// How long a device may be silent while it measures before it is asked whether it is still there.
const SILENCE: Duration = Duration::from_secs(1);

/// What a device has measured.
#[derive(Clone, Copy)]
struct Measured {
    pieces: u32,
    lines: u32,
    micros: u64,
    digest: u64,
}

pub(super) fn run(args: &BenchArgs, port: &PortArgs, common: Common) -> Result<Answer, Failure> {
    let ending = interrupt::listen();
    let mut link = Link::connect(port)?;
    let (name, digest) = {
        let status = link.status()?;
        (status.player.to_owned(), status.player_digest)
    };
    // The weights in the slot need not be those that play yet.
    let player = link.read(&name).ok().filter(|player| player.digest() == digest);
    link.order(Request::Bench { pieces: args.pieces })?;
    let mut waited = Duration::ZERO;
    let measured = loop {
        if ending.load(Ordering::Relaxed) {
            return Ok(Answer::No);
        }
        let received = link.event(GLANCE)?;
        match received.as_ref().and_then(|received| received.event()) {
            Some(Event::Bench { pieces, lines, micros, digest }) => {
                break Measured { pieces, lines, micros, digest };
            }
            Some(_) => {}
            None => waited += GLANCE,
        }
        if waited >= SILENCE {
            waited = Duration::ZERO;
            link.status()?;
        }
    };
    let own = player.map(|player| replayed(player, measured.pieces));
    let agrees = own.map(|own| own == (measured.lines.into(), measured.digest));
    let rate = f64::from(measured.pieces) / (measured.micros as f64 / 1e6);
    if common.json {
        output::print_json(&json!({
            "device": device_json(&link),
            "player": name,
            "pieces_played": measured.pieces,
            "lines": measured.lines,
            "seconds": measured.micros as f64 / 1e6,
            "pieces_per_second": rate,
            "digest": hexadecimal(measured.digest),
            "agrees": agrees,
        }))?;
    } else {
        let check = match agrees {
            Some(true) => format!("{GOOD}the same moves as on this laptop{GOOD:#}"),
            Some(false) => {
                format!("{BAD}NOT the moves of this laptop{BAD:#}; update the firmware or this program")
            }
            None => "not compared: the player is not known here".into(),
        };
        output::print(format_args!(
            "{name}: {} pieces per second ({} pieces in {:.3} s), {check}\n",
            figures::lines(rate),
            figures::grouped(measured.pieces.into()),
            measured.micros as f64 / 1e6
        ))?;
    }
    Ok(if agrees == Some(false) { Answer::No } else { Answer::Yes })
}

/// The lines and the digest that this laptop gets.
fn replayed(player: Player, pieces: u32) -> (u64, u64) {
    let mut game = Game::new(Rules::default(), 1, 0);
    game.play(&Controller::on_device(player, game.rules().height()), pieces.into());
    (game.lines(), game.digest())
}
