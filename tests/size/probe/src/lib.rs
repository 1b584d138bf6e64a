//! What both probes share.
#![no_std]

use core::hint::black_box;

use dropwise_core::engine::EngineKind;
use dropwise_core::{Controller, Game, Options, Player, Rules};

/// Plays game after game. The seed comes from where the compiler cannot see it, so nothing is computed in advance.
pub fn play(player: Player) -> ! {
    let options = Options { engine: EngineKind::Scalar, ..Options::default() };
    let controller = Controller::with_options(player, options);
    let seed = black_box(1);
    let mut index = 0;
    loop {
        let mut game = Game::new(Rules::default(), seed, index);
        game.play(&controller, u64::MAX);
        black_box((game.lines(), game.digest()));
        index += 1;
    }
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    loop {
        core::hint::spin_loop();
    }
}
