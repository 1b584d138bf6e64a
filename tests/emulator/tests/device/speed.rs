//! How fast the device plays at full speed, in cycles of its own.
//!
//! The emulator's cycles are those of a Cortex-M0+ whose memory never waits: a figure to compare commits by. Flash that
//! misses its cache is not modelled, which is why the code that plays runs from RAM.

use dropwise_core::{Controller, Game, Rules};
use dropwise_emulator::{Board, Device, Log};
use libtest_mimic::Trial;

use crate::{Action, BOTH, FIRST, SECOND, act_and_see, first_game, go_turbo, known, on_boards, tests};

pub(crate) fn tests() -> Vec<Trial> {
    on_boards(BOTH, tests![cycles_a_piece_in_turbo, cycles_a_piece_of_the_champion])
}

/// A rise beyond this is a failure.
const TOLERANCE: f64 = 1.05;
/// 10,000 pieces a second at 125 MHz.
const GOAL: f64 = 12_500.0;

const PIECES: usize = 5_000;

/// Mean and worst cycles of some pieces.
#[derive(Clone, Copy, Debug)]
struct Cycles {
    mean: f64,
    worst: f64,
}

impl Cycles {
    fn of(costs: &[u64]) -> Cycles {
        let mean = costs.iter().sum::<u64>() as f64 / costs.len().max(1) as f64;
        Cycles { mean, worst: costs.iter().max().copied().unwrap_or(0) as f64 }
    }

    /// The other one is what was measured when it was last set; the tests print the present figures. Set it anew when they
    /// get better.
    #[track_caller]
    fn stay_within(self, committed: Cycles) {
        let Cycles { mean, worst } = committed;
        assert!(self.mean <= mean * TOLERANCE, "{:.0} cycles a piece; {mean} were committed", self.mean);
        assert!(self.worst <= worst * TOLERANCE, "{:.0} cycles at worst; {worst} were committed", self.worst);
    }
}

fn cycles_a_piece_in_turbo(board: Board) {
    let mut device = Device::start(board);
    let mut game = first_game(&mut device);
    while game.value("player") != Some("bcts") {
        game = act_and_see(&mut device, Action::Player, "player=");
    }
    let costs: Vec<u64> = costs(&mut device).into_iter().map(|(_, cost)| cost).collect();
    let cycles = Cycles::of(&costs);
    tell(board, "bcts", cycles);
    cycles.stay_within(match board {
        Board::PicoOled | Board::Thumby => Cycles { mean: 7_414.0, worst: 17_682.0 },
        // Keeps the colour of every cell besides.
        Board::Picosystem | Board::PicoLcd13 => Cycles { mean: 7_938.0, worst: 18_007.0 },
    });
    assert!(cycles.mean <= GOAL, "{:.0} cycles a piece; the goal is {GOAL:.0}", cycles.mean);
}

/// It looks at more, and may take half as long again. Pieces for which it looks deeper stand apart.
fn cycles_a_piece_of_the_champion(board: Board) {
    let mut device = Device::start(board);
    let game = first_game(&mut device);
    let costs = costs(&mut device);
    let last = costs.last().map_or(0, |&(number, _)| number as usize);
    let is_deeper = deeper(&game, last);
    let of = |deeper: bool| -> Vec<u64> {
        let kind = costs.iter().filter(|(number, _)| is_deeper[*number as usize - 1] == deeper);
        kind.map(|&(_, cost)| cost).collect()
    };
    let (plain, deep) = (Cycles::of(&of(false)), Cycles::of(&of(true)));
    tell(board, FIRST, plain);
    println!("{}: {} of them looked deeper: {deep:.0?}", board.name(), of(true).len());
    plain.stay_within(match board {
        Board::PicoOled | Board::Thumby => Cycles { mean: 16_084.0, worst: 31_869.0 },
        Board::Picosystem | Board::PicoLcd13 => Cycles { mean: 16_397.0, worst: 33_104.0 },
    });
    // A frame and a bit.
    deep.stay_within(Cycles { mean: 2_328_964.0, worst: 4_631_064.0 });
    assert!(plain.mean <= 1.5 * GOAL, "{:.0} cycles a piece; the goal is {:.0}", plain.mean, 1.5 * GOAL);
}

/// Plays at full speed: for each piece its number and what it cost.
fn costs(device: &mut Device) -> Vec<(u32, u64)> {
    go_turbo(device);
    device.watch("DROPWISE_PIECES", PIECES + 1);
    device.run(SECOND);
    let notes = device.watched("DROPWISE_PIECES");
    assert_eq!(notes.len(), PIECES + 1, "fewer pieces than that in a second");
    notes.windows(2).map(|pair| (pair[1].value, pair[1].busy[1] - pair[0].busy[1])).collect()
}

/// For each piece of a game, whether the first player looks deeper to place it.
fn deeper(game: &Log, pieces: usize) -> Vec<bool> {
    let mut game = Game::new(Rules::default(), game.number("seed"), 0);
    let controller = Controller::on_device(known(FIRST), game.rules().height());
    let tall = controller.options().rescue.unwrap_or(usize::MAX);
    let mut deeper = vec![];
    while deeper.len() < pieces {
        deeper.push(game.well().max_height() > tall);
        assert!(game.step(&controller).is_some(), "lost after {} pieces", game.pieces());
    }
    deeper
}

fn tell(board: Board, player: &str, Cycles { mean, worst }: Cycles) {
    println!(
        "{}: turbo, {player}, 10x20: mean {mean:.0} cycles a piece, worst {worst:.0}; {:.0} pieces a second at 125 MHz",
        board.name(),
        125e6 / mean
    );
}
