//! `host device watch`: a device's game, live.

mod screen;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use clap::Args;
use dropwise_core::wire::{Board, Event, Status, Subscription};
use dropwise_core::{Player, Speed, well};
use serde_json::{Value, json};

use super::info::status_json;
use super::{hexadecimal, rules_words};
use crate::args::Common;
use crate::figures;
use crate::interrupt;
use crate::link::mirror::{Check, Mirror, Seen};
use crate::link::port::parse_seconds;
use crate::link::{Link, LinkError, PortArgs, Received};
use crate::output::{self, Answer, Failure};
use crate::stack;

/// Watch the device's game, live, and see that it plays as this laptop would
#[derive(Args, Debug)]
#[command(after_help = HELP)]
pub(super) struct WatchArgs {
    /// Stop after so many pieces [default: at the end of the next one, by Ctrl-C]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    max_pieces: Option<u64>,

    /// Stop when so many games have ended
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    games: Option<u64>,

    /// Stop after a time
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds)]
    seconds: Option<Duration>,

    /// Tell how the game stands once a second, not each move
    #[arg(long)]
    statistics: bool,
}

const HELP: &str = "\
On a terminal the game is drawn. Keys: space pause, s or right arrow one step, + and - speed, n new game, ? help, q quit.
Elsewhere each move is told on a line. This laptop plays the same game from the same seed with the device's weights; if
a move differs, the exit code is 1.

Examples:
  host device watch
  host device watch --seconds 60 > moves.txt
  host device watch --json --games 1 | jq -c 'select(.event == \"end\")'
  host device watch --statistics";

/// How long Ctrl-C may go unseen.
const GLANCE: Duration = Duration::from_millis(100);

/// Something that happened.
enum News {
    /// A game has begun, was joined, or goes on under another player.
    Game,
    /// Moves were missed; the game goes on.
    Gap,
    /// Pieces were placed.
    Moves(Vec<Seen>),
    /// A game has ended.
    End(Ended),
    /// How the game stands, in JSON and in a line.
    Status(Value, String),
    /// Nothing to tell.
    Nothing,
}

/// What the device says at the end of a game.
struct Ended {
    seed: u64,
    pieces: u64,
    lines: u64,
    digest: u64,
}

/// What the device says of itself once a second.
#[derive(Clone, Copy, Debug)]
struct Standing {
    rate_tenths: u32,
    speed: Speed,
    paused: bool,
    games: u32,
    best: Option<u64>,
}

/// Whoever watches, and what was seen so far.
struct Watcher {
    link: Link,
    subscription: Subscription,
    mirror: Option<Mirror>,
    standing: Option<Standing>,
    pieces: u64,
    games: u64,
    /// What was different first.
    different: Option<String>,
    end: Option<Instant>,
}

impl Watcher {
    fn new(mut link: Link, subscription: Subscription, args: &WatchArgs) -> Result<Watcher, LinkError> {
        link.subscribe(subscription)?;
        let end = args.seconds.map(|time| Instant::now() + time);
        Ok(Watcher {
            link,
            subscription,
            mirror: None,
            standing: None,
            pieces: 0,
            games: 0,
            different: None,
            end,
        })
    }

    /// Whether all was seen that was asked for.
    fn is_done(&self, args: &WatchArgs, ending: &AtomicBool) -> bool {
        ending.load(Ordering::Relaxed)
            || args.max_pieces.is_some_and(|most| self.pieces >= most)
            || args.games.is_some_and(|most| self.games >= most)
            || self.end.is_some_and(|end| Instant::now() >= end)
    }

    /// The next thing that happens within a time.
    fn news(&mut self, args: &WatchArgs, patience: Duration) -> Result<Option<News>, Failure> {
        let Some(received) = self.link.event(patience)? else { return Ok(None) };
        let news = self.take(args, &received)?;
        if self.mirror.as_ref().is_some_and(Mirror::is_astray) {
            // A frame was damaged on its way. Whoever subscribes is told the board.
            self.link.subscribe(self.subscription)?;
        }
        if let Some(Check::Different(what)) = self.mirror.as_ref().map(Mirror::check) {
            self.different.get_or_insert_with(|| what.clone());
        }
        Ok(Some(news))
    }

    fn take(&mut self, args: &WatchArgs, received: &Received) -> Result<News, Failure> {
        match received.event() {
            Some(Event::Board(board)) => return self.board(&board),
            Some(Event::Moves { before, codes }) => {
                let Some(mirror) = &mut self.mirror else { return Ok(News::Nothing) };
                let mut moves = mirror.take(before, codes);
                let most = args.max_pieces.map_or(u64::MAX, |most| most - self.pieces);
                moves.truncate(most.try_into().unwrap_or(usize::MAX));
                self.pieces += moves.len() as u64;
                return Ok(News::Moves(moves));
            }
            Some(Event::End { seed, pieces, lines, digest }) => {
                if let Some(mirror) = &mut self.mirror {
                    mirror.end(seed, pieces, lines, digest);
                    self.games += 1;
                    return Ok(News::End(Ended { seed, pieces, lines, digest }));
                }
            }
            Some(Event::Status(status)) => {
                let Status { rate_tenths, speed, paused, games, best, .. } = status;
                self.standing = Some(Standing { rate_tenths, speed, paused, games, best });
                let told = format!(
                    "{}  seed {}  pieces {}  lines {}  {} pieces/s  {}{}",
                    status.player,
                    status.seed,
                    figures::grouped(status.pieces),
                    figures::grouped(status.lines),
                    f64::from(status.rate_tenths) / 10.0,
                    status.speed.name(),
                    if status.paused { ", paused" } else { "" }
                );
                return Ok(News::Status(status_json(&status), told));
            }
            _ => {}
        }
        Ok(News::Nothing)
    }

    fn board(&mut self, board: &Board<'_>) -> Result<News, Failure> {
        let goes_on = self.mirror.as_ref().is_some_and(|mirror| {
            mirror.seed == board.seed && mirror.player == board.player && board.pieces > 0
        });
        let player = match &self.mirror {
            Some(mirror) if goes_on => mirror.player(),
            _ => playing(&mut self.link, board.player)?,
        };
        self.mirror = match self.mirror.take() {
            Some(mirror) => mirror.follow(board, player),
            None => Mirror::new(board, player),
        };
        Ok(if goes_on { News::Gap } else { News::Game })
    }

    /// What was seen, in a line.
    fn summary(&self) -> String {
        let check = match (&self.different, &self.mirror) {
            (Some(what), _) => Check::Different(what.clone()).describe(),
            (None, Some(mirror)) => mirror.check().describe(),
            (None, None) => "no game".into(),
        };
        let games = match self.games {
            0 => String::new(),
            1 => ", 1 game ended".into(),
            games => format!(", {} games ended", figures::grouped(games)),
        };
        format!("{} pieces seen{games}; {check}", figures::grouped(self.pieces))
    }
}

/// The player that plays, if what its slot holds is what plays.
fn playing(link: &mut Link, name: &str) -> Result<Option<Player>, LinkError> {
    let digest = link.status()?.player_digest;
    match link.read(name) {
        Ok(player) => Ok(Some(player).filter(|player| player.digest() == digest)),
        // It was deleted, or is of a kind that this program does not know.
        Err(LinkError::Refused { .. } | LinkError::UnknownSet { .. } | LinkError::WeightsFormat { .. }) => {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

pub(super) fn run(args: &WatchArgs, port: &PortArgs, common: Common) -> Result<Answer, Failure> {
    let ending = interrupt::listen();
    let drawn = output::is_screen() && !common.json && !args.statistics;
    let subscription =
        Subscription { placements: !args.statistics, status: drawn || args.statistics, log: false };
    let mut watcher = Watcher::new(Link::connect(port)?, subscription, args)?;
    if drawn {
        screen::run(&mut watcher, args, ending)?;
    } else {
        plain(&mut watcher, args, common.json, ending)?;
    }
    watcher.link.subscribe(Subscription::default())?;
    if !common.json && !args.statistics {
        output::print(format_args!("{}\n", watcher.summary()))?;
    }
    Ok(if watcher.different.is_some() { Answer::No } else { Answer::Yes })
}

/// A line a move, or an object.
fn plain(watcher: &mut Watcher, args: &WatchArgs, json: bool, ending: &AtomicBool) -> Result<(), Failure> {
    while !watcher.is_done(args, ending) {
        let news = watcher.news(args, GLANCE)?;
        match (news, &watcher.mirror) {
            (Some(News::Game | News::Gap), Some(mirror)) if json => output::print_json(&game_json(mirror))?,
            (Some(News::Game), Some(mirror)) => output::print(format_args!("{}\n", game_line(mirror)))?,
            (Some(News::Gap), Some(mirror)) => output::print(format_args!(
                "        not told in time; now {} pieces, {} lines\n",
                figures::grouped(mirror.pieces),
                figures::grouped(mirror.lines)
            ))?,
            (Some(News::Moves(moves)), _) if json => {
                moves.iter().try_for_each(|seen| output::print_json(&move_json(seen)))?;
            }
            (Some(News::Moves(moves)), _) => {
                moves.iter().try_for_each(|seen| output::print(move_line(seen)))?;
            }
            (Some(News::End(ended)), Some(mirror)) => {
                let check = mirror.check();
                if json {
                    output::print_json(&end_json(&ended, check))?;
                } else {
                    output::print(end_line(&ended, check))?;
                }
            }
            (Some(News::Status(value, _)), _) if json => output::print_json(&value)?,
            (Some(News::Status(_, told)), _) => output::print(format_args!("{told}\n"))?,
            (None, _) => output::check_reader()?,
            _ => {}
        }
    }
    Ok(())
}

fn game_json(mirror: &Mirror) -> Value {
    let [_, pieces, overflow] = rules_words(&mirror.wire_rules());
    json!({
        "event": "game",
        "player": mirror.player,
        "seed": mirror.seed,
        "board": { "width": well::WIDTH, "height": mirror.rules.height() },
        "pieces": pieces,
        "overflow": overflow,
        "pieces_played": mirror.pieces,
        "lines": mirror.lines,
        "digest": hexadecimal(mirror.digest),
        "agrees": mirror.check().verdict(),
    })
}

fn game_line(mirror: &Mirror) -> String {
    let [board, pieces, overflow] = rules_words(&mirror.wire_rules());
    let joined = if mirror.pieces == 0 {
        String::new()
    } else {
        format!(
            "; joined after {} pieces, {} lines",
            figures::grouped(mirror.pieces),
            figures::grouped(mirror.lines)
        )
    };
    format!(
        "{} on {board}, pieces {pieces}, overflow tested {overflow} clearing; seed {}{joined}",
        mirror.player, mirror.seed
    )
}

fn move_json(seen: &Seen) -> Value {
    let step = &seen.step;
    json!({
        "event": "move",
        "number": seen.number,
        "piece": step.piece.to_string(),
        "orientation": step.placement.orientation,
        "column": step.placement.column,
        "cells": stack::cells(step.piece, step.placement, step.landing.row.into()),
        "cleared": step.landing.lines,
        "loses": step.landing.loses,
        "lines": seen.lines,
        "height": seen.height,
        "digest": hexadecimal(seen.digest),
    })
}

fn move_line(seen: &Seen) -> String {
    let step = &seen.step;
    format!(
        "{:>6}  {}  orientation {}  column {}  height {:>2}  lines {}\n",
        seen.number, step.piece, step.placement.orientation, step.placement.column, seen.height, seen.lines
    )
}

fn end_json(ended: &Ended, check: &Check) -> Value {
    json!({
        "event": "end",
        "seed": ended.seed,
        "pieces_played": ended.pieces,
        "lines": ended.lines,
        "digest": hexadecimal(ended.digest),
        "agrees": check.verdict(),
    })
}

fn end_line(ended: &Ended, check: &Check) -> String {
    format!(
        "seed {}: over after {} pieces, {} lines, digest {}; {}\n",
        ended.seed,
        figures::grouped(ended.pieces),
        figures::grouped(ended.lines),
        hexadecimal(ended.digest),
        check.describe()
    )
}
