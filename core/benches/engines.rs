//! How long a choice takes on named positions, and how many pieces a second whole games place.
//!
//! `cargo bench -p dropwise-core --features simd` measures all three engines; without the feature the fastest is scalar.

#[path = "../tests/laws/board_file.rs"]
mod board_file;

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use dropwise_core::engine::{Engine, EngineKind, Judgement};
use dropwise_core::{Controller, Game, Options, Piece, PieceSource, Player, Rules};

const BOARDS: [(&str, &str); 6] = [
    ("empty", include_str!("../tests/data/boards/empty.txt")),
    ("midgame", include_str!("../tests/data/boards/midgame.txt")),
    ("overhang", include_str!("../tests/data/boards/overhang.txt")),
    ("eleven", include_str!("../tests/data/boards/eleven.txt")),
    ("comb", include_str!("../tests/data/boards/comb.txt")),
    ("terrible", include_str!("../tests/data/boards/terrible.txt")),
];

const KINDS: [EngineKind; 3] = [EngineKind::Fastest, EngineKind::Scalar, EngineKind::General];

/// Engines of different names: where the fastest is the scalar one, it is measured once.
fn engines(player: Player) -> Vec<(EngineKind, Engine)> {
    let mut engines: Vec<(EngineKind, Engine)> = Vec::new();
    for kind in KINDS {
        let engine = Engine::new(player, kind);
        if engines.iter().all(|(_, other)| other.name() != engine.name()) {
            engines.push((kind, engine));
        }
    }
    engines
}

/// One choice for each of the seven pieces.
fn positions(criterion: &mut Criterion) {
    let player = Player::known("bcts").expect("a known player");
    for (name, text) in BOARDS {
        let well = board_file::board(text).expect("a named board");
        let mut group = criterion.benchmark_group(format!("position/{name}"));
        group.throughput(Throughput::Elements(Piece::NUM as u64));
        for (_, engine) in engines(player) {
            group.bench_function(engine.name(), |bencher| {
                bencher.iter(|| {
                    for piece in Piece::ALL {
                        black_box(engine.best(black_box(&well), piece, Judgement::default()));
                    }
                });
            });
        }
    }
}

/// Pieces of whole games, a new game wherever one is lost.
fn games(criterion: &mut Criterion) {
    const PIECES: u64 = 10_000;
    let uniform = Rules::default();
    let mut hard = uniform;
    hard.pieces = PieceSource::Hard(4);
    let cases = [
        ("bcts", "uniform", uniform),
        ("dt20", "uniform", uniform),
        ("bdu", "uniform", uniform),
        ("bcts", "hard:4", hard),
    ];
    for (name, source, rules) in cases {
        let player = Player::known(name).expect("a known player");
        let mut group = criterion.benchmark_group(format!("game/{name}/{source}"));
        group.throughput(Throughput::Elements(PIECES));
        for (kind, engine) in engines(player) {
            let options = Options { engine: kind, ..Options::default() };
            let controller = Controller::with_options(player, options);
            group.bench_function(engine.name(), |bencher| {
                bencher.iter(|| {
                    let (mut left, mut index, mut lines) = (PIECES, 0, 0);
                    while left > 0 {
                        let mut game = Game::new(rules, 1, index);
                        game.play(&controller, left);
                        left -= game.pieces();
                        lines += game.lines();
                        index += 1;
                    }
                    lines
                });
            });
        }
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1));
    targets = positions, games
}
criterion_main!(benches);
