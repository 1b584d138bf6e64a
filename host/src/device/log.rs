//! `host device log`: what a device says of itself, as it says it.

use std::sync::atomic::Ordering;
use std::time::Duration;

use clap::Args;
use dropwise_core::wire::{Event, Subscription};
use serde_json::json;

use super::info;
use crate::args::Common;
use crate::interrupt;
use crate::link::{Link, PortArgs};
use crate::output::{self, Answer, BAD, FAINT, Failure};

/// Show the device's log as it is written, until Ctrl-C
#[derive(Args, Debug)]
#[command(after_help = HELP)]
pub(super) struct LogArgs {}

const HELP: &str = "\
If the device started again because of a crash, that is told first. Times are seconds since its start.

Examples:
  host device log
  host device log --json | jq -r .text";

/// How long Ctrl-C may go unseen.
const GLANCE: Duration = Duration::from_millis(100);

pub(super) fn run(args: &PortArgs, common: Common) -> Result<Answer, Failure> {
    let ending = interrupt::listen();
    let mut link = Link::connect(args)?;
    if let Some((told, json)) = info::crash(&mut link)? {
        if common.json {
            output::print_json(&json!({ "crash": json }))?;
        } else {
            output::print(format_args!("{BAD}It crashed and started again:{BAD:#} {told}\n"))?;
        }
    }
    link.subscribe(Subscription { log: true, ..Subscription::default() })?;
    while !ending.load(Ordering::Relaxed) {
        let Some(received) = link.event(GLANCE)? else {
            output::check_reader()?;
            continue;
        };
        let Some(Event::Log { uptime, text }) = received.event() else { continue };
        let seconds = uptime as f64 / 1000.0;
        if common.json {
            output::print_json(&json!({ "uptime": seconds, "text": text }))?;
        } else {
            output::print(format_args!("{FAINT}{seconds:10.3}{FAINT:#}  {text}\n"))?;
        }
    }
    link.subscribe(Subscription::default())?;
    Ok(Answer::Yes)
}
