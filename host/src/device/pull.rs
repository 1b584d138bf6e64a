//! `host device pull`: a player from a device into a weights file.

use std::path::{Path, PathBuf};

use clap::Args;
use dropwise_core::Player;
use serde_json::json;

use super::{device_json, hexadecimal, with_names};
use crate::args::Common;
use crate::link::{Link, PortArgs, Profile};
use crate::output::{self, Answer, Failure};
use crate::weights::{Provenance, Weights};

/// Save a player of the device as a weights file
#[derive(Args, Debug)]
#[command(after_help = HELP)]
pub(super) struct PullArgs {
    /// The player: `host device slots` lists them
    name: String,

    /// The file [default: NAME.toml]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,

    /// Replace the file if there is one
    #[arg(long)]
    force: bool,
}

const HELP: &str = "\
A device has the integers that play, so the file's real weights are these, in the features' units.

Examples:
  host device pull mine
  host device pull mine --out backup/mine.toml --force
  host evaluate --player mine.toml --board 10x10";

pub(super) fn run(args: &PullArgs, port: &PortArgs, common: Common) -> Result<Answer, Failure> {
    let path = match &args.out {
        Some(path) => path.clone(),
        None => default_path(&args.name)?,
    };
    let shown = path.display().to_string();
    if path.exists() && !args.force {
        return Err(Failure::input(format_args!(
            "{shown} exists already; add --force to replace it, or name another with --out FILE"
        )));
    }
    let mut link = Link::connect(port)?;
    let player = link.read(&args.name).map_err(|error| with_names(&mut link, &args.name, error))?;
    let weights = weights(&args.name, player, link.profile());
    weights.write(&path).map_err(|error| {
        Failure::input(format_args!("cannot save {error}; name another file with --out FILE"))
    })?;
    if weights.player != player && !common.json {
        output::say(
            "The device's weights are small; the file has them times a power of two, which plays the same.",
        );
    }
    if common.json {
        output::print_json(&json!({
            "device": device_json(&link),
            "name": args.name,
            "set": player.set().name(),
            "digest": hexadecimal(player.digest()),
            "saved": shown,
        }))?;
    } else {
        output::print(format_args!(
            "Saved {} (set {}, {} weights) to {shown}.\n",
            args.name,
            player.set(),
            player.weights().len()
        ))?;
    }
    Ok(Answer::Yes)
}

/// A file in this folder, if the name can be a file's.
fn default_path(name: &str) -> Result<PathBuf, Failure> {
    let file = Path::new(name).file_name().is_some_and(|file| file == name) && !name.starts_with('.');
    if file && !name.contains(['/', '\\', ':']) {
        Ok(PathBuf::from(format!("{name}.toml")))
    } else {
        Err(Failure::input(format_args!("'{name}' cannot be the name of a file; choose one with --out FILE")))
    }
}

/// The weights that quantise to a player's integers: each integer in its feature's unit.
///
/// The rule scales by a power of two until the largest weight is more than half of what an integer may be, so
/// integers that are all smaller, which no real weights quantise to, come out larger; they play the same.
fn weights(name: &str, player: Player, profile: &Profile) -> Weights {
    let real: Vec<f64> = player
        .weights()
        .iter()
        .zip(player.set().features())
        .map(|(&weight, feature)| f64::from(weight) * f64::from(feature.unit()))
        .collect();
    let quantised = Player::quantise(player.set(), &real).unwrap_or(player);
    Weights {
        name: name.into(),
        real,
        player: quantised,
        provenance: Provenance {
            method: "pulled from a device; how it was found is not known there".into(),
            note: Some(format!(
                "{} {}, firmware {}, player digest {}",
                profile.board,
                profile.id,
                profile.firmware,
                hexadecimal(player.digest())
            )),
            ..Provenance::default()
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::weights::parse;
    use dropwise_core::player::{KNOWN, MAX_WEIGHT};
    use dropwise_core::{Controller, Game, Rules, Set};

    fn profile() -> Profile {
        Profile {
            firmware: "0.1.0".into(),
            board: "desk".into(),
            id: "E6".into(),
            sets: (vec![], 0),
            weights_format: 1,
            capacity: 8,
            max_name: 24,
        }
    }

    #[test]
    fn what_is_pulled_quantises_to_what_was_there() {
        for known in &KNOWN {
            let pulled = parse(&weights("x", known.player, &profile()).to_string()).expect("a weights file");
            assert_eq!(pulled.player, known.player, "{}", known.name);
        }
        for &set in Set::ALL {
            for largest in [MAX_WEIGHT, MAX_WEIGHT / 2 + 1] {
                let integers: Vec<i16> =
                    (0..set.len() as i16).map(|i| if i == 0 { -largest } else { 7 * i - 40 }).collect();
                let player = Player::new(set, &integers).unwrap();
                assert_eq!(parse(&weights("x", player, &profile()).to_string()).unwrap().player, player);
            }
        }
        let none = Player::new(Set::D, &[0; 6]).unwrap();
        assert_eq!(weights("x", none, &profile()).player, none);
    }

    #[test]
    fn small_integers_come_out_larger_and_play_the_same() {
        let small = Player::new(Set::D, &[-1, 2, -2, -2, -8, -2]).unwrap();
        let pulled = parse(&weights("x", small, &profile()).to_string()).unwrap().player;
        assert_eq!(pulled.weights(), [-1024, 2048, -2048, -2048, -8192, -2048]);
        let digest = |player| {
            let mut game = Game::new(Rules::default(), 1, 0);
            game.play(&Controller::new(player), 1000);
            game.digest()
        };
        assert_eq!(digest(small), digest(pulled));
    }

    #[test]
    fn only_names_that_can_be_files_are_taken_for_one() {
        assert_eq!(default_path("mine 2").unwrap(), Path::new("mine 2.toml"));
        for name in ["", ".", "..", ".hidden", "a/b", "/etc/passwd", "..\\x", "c:x"] {
            assert!(default_path(name).is_err(), "{name}");
        }
    }
}
