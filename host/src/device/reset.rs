//! `host device reset`: a fresh start, or the boot loader.

use std::thread;
use std::time::{Duration, Instant};

use clap::Args;
use dropwise_core::wire::Request;
use serde_json::json;

use crate::args::Common;
use crate::link::port::Ports;
use crate::link::{self, Link, LinkError, PortArgs};
use crate::output::{self, Answer, Failure};

/// Start the device again, or its boot loader
#[derive(Args, Debug)]
#[command(after_help = HELP)]
pub(super) struct ResetArgs {
    /// Show the drive RPI-RP2, to copy new firmware onto
    #[arg(long)]
    bootsel: bool,
}

const HELP: &str = "\
Players that were sent to the device stay. The command ends when the device answers again; --timeout says how long to
wait for that. With --bootsel it also works on firmware that is too old or too new for this program.

Examples:
  host device reset
  host device reset --bootsel && cp firmware.uf2 /media/$USER/RPI-RP2/";

/// How often to see whether the device is back.
const GLANCE: Duration = Duration::from_millis(100);

pub(super) fn run(args: &ResetArgs, port: &PortArgs, common: Common) -> Result<Answer, Failure> {
    let path = port.choose()?;
    let told = if args.bootsel { bootsel(&path, port)? } else { restart(&path, port)? };
    if common.json {
        output::print_json(&json!({ "port": path, "bootsel": args.bootsel }))?;
    } else {
        output::print(format_args!("{told}\n"))?;
    }
    Ok(Answer::Yes)
}

fn bootsel(path: &str, port: &PortArgs) -> Result<&'static str, LinkError> {
    match Link::open(path, port.timeout) {
        Ok(mut link) => leave(&mut link, true)?,
        // Every version understands a knock. What does not answer must at least have the right name.
        Err(LinkError::Protocol { .. }) => link::knock(path)?,
        Err(LinkError::Silent { .. }) if is_device(path) => link::knock(path)?,
        Err(error) => return Err(error),
    }
    Ok("The device shows up as the drive RPI-RP2; copy a UF2 file onto it (docs/boards.md).")
}

fn is_device(path: &str) -> bool {
    Ports::look().is_ok_and(|ports| ports.devices.iter().any(|found| found.path == path))
}

/// Asks for a reset. The device may be gone before its answer is here.
fn leave(link: &mut Link, bootsel: bool) -> Result<(), LinkError> {
    match link.order(Request::Reset { bootsel }) {
        Ok(()) | Err(LinkError::Gone { .. }) => Ok(()),
        Err(error) => Err(error),
    }
}

fn restart(path: &str, port: &PortArgs) -> Result<&'static str, LinkError> {
    let mut link = Link::open(path, port.timeout)?;
    let id = link.profile().id.clone();
    let uptime = link.status()?.uptime;
    let asked = Instant::now();
    leave(&mut link, false)?;
    drop(link);
    // A device that answers at once has not started again yet.
    let is_fresh = |now: u64| now < uptime || u128::from(now) <= asked.elapsed().as_millis();
    loop {
        thread::sleep(GLANCE);
        // By its number, as the port may have another name now; a port that is no USB device keeps its name.
        let now = Ports::look()?.devices.into_iter().find(|found| found.serial.as_ref() == Some(&id));
        let now = now.map_or(path.to_owned(), |found| found.path);
        let answer = Link::open(&now, GLANCE * 5).and_then(|mut link| Ok(link.status()?.uptime));
        match answer {
            Ok(now) if is_fresh(now) => return Ok("The device has started again."),
            Err(error) if asked.elapsed() > port.timeout => return Err(error),
            Ok(_) if asked.elapsed() > port.timeout => {
                return Err(LinkError::Nonsense { what: "start again".into() });
            }
            _ => {}
        }
    }
}
