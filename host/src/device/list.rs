//! `host device list`: which devices are plugged in.

use clap::Args;
use serde_json::json;

use super::device_json;
use crate::args::Common;
use crate::link::port::{Found, Ports};
use crate::link::{Link, LinkError, PortArgs};
use crate::output::{self, Answer, FAINT, Failure, HEADING};

/// List the devices that are plugged in
#[derive(Args, Debug)]
#[command(after_help = HELP)]
pub(super) struct ListArgs {}

const HELP: &str = "\
A port that is named by --port or $DROPWISE_PORT is listed too. The exit code is 3 if there is no device.

Examples:
  host device list
  host device list --json | jq -r .serial";

pub(super) fn run(args: &PortArgs, common: Common) -> Result<Answer, Failure> {
    let ports = Ports::look()?;
    let mut devices = ports.devices;
    if let Some(path) = args.named().filter(|path| devices.iter().all(|found| found.path != *path)) {
        devices.insert(0, Found { path, serial: None });
    }
    if devices.is_empty() {
        return Err(LinkError::NoDevice { others: ports.others }.into());
    }
    let mut answers = 0;
    for found in &devices {
        match Link::open(&found.path, args.timeout) {
            Ok(link) => {
                answers += 1;
                if common.json {
                    output::print_json(&device_json(&link))?;
                } else {
                    let profile = link.profile();
                    output::print(format_args!(
                        "{HEADING}{}{HEADING:#}  {}  serial number {}  {FAINT}firmware {}{FAINT:#}\n",
                        found.path, profile.board, profile.id, profile.firmware
                    ))?;
                }
            }
            Err(error) if common.json => {
                output::print_json(&json!({
                    "port": found.path,
                    "serial": found.serial,
                    "error": error.to_string(),
                }))?;
            }
            Err(error) => output::say(format_args!("{}: {error}", found.path)),
        }
    }
    if answers == 0 { Err(Failure::Link("no device answers".into())) } else { Ok(Answer::Yes) }
}
