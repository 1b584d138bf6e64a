//! scratch
use dropwise_core::{Controller, Game, Options, PieceSource, Player, Rules, engine::EngineKind};
fn main() {
    for kind in [EngineKind::General, EngineKind::Scalar, EngineKind::Fastest] {
        for (name, hard) in [("bcts", false), ("dt20", false), ("bcts", true)] {
            let c = Controller::with_options(
                Player::known(name).unwrap(),
                Options { engine: kind, ..Default::default() },
            );
            let t = std::time::Instant::now();
            let mut rules = Rules::default();
            if hard {
                rules.pieces = PieceSource::Hard(4);
            }
            let mut pieces = 0;
            let mut i = 0;
            let mut d = 0;
            let n = if kind == EngineKind::General { 300_000 } else { 3_000_000 };
            while pieces < n {
                let mut g = Game::new(rules, 1, i);
                g.play(&c, n - pieces);
                pieces += g.pieces();
                d ^= g.digest();
                i += 1;
            }
            println!(
                "{name} {hard} {} {:?} {:x} {:.3} M/s",
                c.engine().name(),
                i,
                d,
                pieces as f64 / t.elapsed().as_secs_f64() / 1e6
            );
        }
    }
}
