//! The study's outcome: how much of the cores' time goes into games, by method and number of cores.

use std::fmt::Write;

use plotters::prelude::SeriesLabelPosition;

use super::replay::{Costs, Machine, Outcome, replay};
use super::trace::Trace;
use crate::cluster::hand_out::Policy;
use crate::figures;
use crate::output::Failure;
use crate::plot::{self, Axes, Mark, Series};

/// The cores that are studied.
pub const CORES: [usize; 4] = [8, 64, 512, 4096];

/// A method on some machine, by a plain hand-out and by the present one.
#[derive(Clone, Copy, Debug)]
pub struct Cell {
    /// The machine.
    pub machine: Machine,
    /// By [`Policy::PLAIN`].
    pub plain: Outcome,
    /// By [`Policy::PRESENT`].
    pub present: Outcome,
    /// The same if messages took no time.
    pub free: Outcome,
    /// The same again if a core were at its best with any number of games.
    pub fast: Outcome,
}

/// Replays a trace on all machines.
pub fn row(trace: &Trace, cores_per_rank: usize, costs: Costs) -> Vec<Cell> {
    let cell = |cores| {
        let machine = Machine { cores, cores_per_rank };
        let outcome = |policy| replay(trace, policy, machine, Some(costs));
        let free = replay(trace, Policy::PRESENT, machine, None);
        let fast = replay(&at_best(trace), Policy::PRESENT, machine, None);
        Cell { machine, plain: outcome(Policy::PLAIN), present: outcome(Policy::PRESENT), free, fast }
    };
    CORES.map(cell).to_vec()
}

/// A trace of cores that are always at their best.
fn at_best(trace: &Trace) -> Trace {
    let mut trace = trace.clone();
    let best = trace.head.pace.best();
    trace.head.pace.0.iter_mut().for_each(|(_, rate)| *rate = best);
    trace
}

/// A table in Markdown: both efficiencies, and the most that the games allow.
pub fn markdown(rows: &[(&Trace, Vec<Cell>)]) -> String {
    let mut text = String::from("| method | games a bout |");
    for cores in CORES {
        // A String takes everything.
        let _ = write!(text, " {} cores |", figures::grouped(cores as u64));
    }
    text.push_str("\n|---|---|---|---|---|---|\n");
    for (trace, cells) in rows {
        let _ = write!(text, "| {} | {} |", trace.head.title, games(trace));
        for cell in cells {
            let Cell { machine, plain, present, .. } = cell;
            let [plain, now, bound] =
                [plain.efficiency(*machine), present.efficiency(*machine), present.bound(*machine)]
                    .map(percent);
            let _ = write!(text, " {plain} -> {now} of {bound} |");
        }
        text.push('\n');
    }
    text
}

fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    let digits = match percent {
        9.95.. => 0,
        0.095.. => 1,
        // Nothing at all needs no more digits.
        0.005.. => 2,
        _ => 1,
    };
    format!("{percent:.digits$}")
}

/// The most games that a bout of a trace has.
fn games(trace: &Trace) -> String {
    let most = trace.bouts.iter().max_by_key(|bout| bout.pieces.len() * bout.pieces[0].len());
    most.map_or(String::new(), |bout| format!("{} x {}", bout.pieces.len(), bout.pieces[0].len()))
}

/// Where the time of all cores goes on each machine, as games are handed out now:
///
/// - games that count, at a core's best pace;
/// - the wait for a bout's longest game, even if it was the first to begin and had a core to itself;
/// - a pace below the best, because there are too few games to play side by side;
/// - the wait because it was not: nobody knows beforehand which one it is, and some are played in vain;
/// - rank 0's thinking between bouts;
/// - messages.
pub fn limits(rows: &[(&Trace, Vec<Cell>)]) -> String {
    let mut text = String::from(
        "| method | cores | games | longest game | few side by side | late start | thinking | messages |\n\
         |---|---|---|---|---|---|---|---|\n",
    );
    for (trace, cells) in rows {
        for Cell { machine, present, free, fast, .. } in cells {
            let share = |seconds: f64| seconds.max(0.0) / present.time;
            let games = present.efficiency(*machine);
            let longest = share(present.bound - present.thinking) - games;
            // Without costs games are handed out otherwise, now and then to their disadvantage.
            let free_time = free.time.min(present.time);
            let few = (free_time - fast.time).clamp(0.0, (free_time - free.bound).max(0.0));
            let shares = [
                games,
                longest,
                share(few),
                share(free_time - free.bound - few),
                share(present.thinking),
                share(present.time - free_time),
            ];
            let [games, longest, few, late, thinking, messages] = shares.map(|share| percent(share.max(0.0)));
            let cores = figures::grouped(machine.cores as u64);
            let title = &trace.head.title;
            let _ = writeln!(
                text,
                "| {title} | {cores} | {games} | {longest} | {few} | {late} | {thinking} | {messages} |"
            );
        }
    }
    text
}

/// The efficiency by cores: thin lines by a plain hand-out, thick ones by the present one.
///
/// # Errors
/// If it cannot be drawn.
pub fn draw(rows: &[(&Trace, Vec<Cell>)]) -> Result<String, Failure> {
    let mut series = vec![];
    for (i, (trace, cells)) in rows.iter().enumerate() {
        let line = |of: fn(&Cell) -> f64| {
            cells
                .iter()
                .map(|cell| ((cell.machine.cores as f64).log2(), of(cell).max(1e-6).log10()))
                .collect()
        };
        let colour = plot::colour(i);
        series.push(Series {
            name: String::new(),
            points: line(|cell| cell.plain.efficiency(cell.machine)),
            notes: vec![],
            colour,
            mark: Mark::Thin,
        });
        series.push(Series {
            name: trace.head.title.clone(),
            points: line(|cell| cell.present.efficiency(cell.machine)),
            notes: vec![],
            colour,
            mark: Mark::Line,
        });
    }
    let axes = Axes {
        x: "cores",
        y: "games that count, as a share of all cores' best pace",
        x_label: |x| format!("{:.0}", x.exp2()),
        y_label: |y| format!("{} %", percent(10f64.powf(y))),
    };
    let title = "Efficiency by cores: a plain hand-out (thin) and the present one (thick)";
    plot::picture((1000, 560), title, |area| plot::chart(area, axes, SeriesLabelPosition::LowerLeft, &series))
}
