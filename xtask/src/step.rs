//! The checks, one function each, and the order in which they run.

use std::path::Path;
use std::sync::Mutex;
use std::thread;

use clap::ValueEnum;

use crate::shell::{Outcome, command, printed, run, sh, succeeds, target};
use crate::{commit, release};

/// What the device is built for.
pub(crate) const TARGET: &str = "thumbv6m-none-eabi";

/// The boards, as the firmware's cargo features name them.
pub(crate) const BOARDS: [&str; 4] = ["pico-oled", "picosystem", "pico-lcd-1.3", "thumby"];

/// The core's cargo features that a device can use.
const FEATURES: [&str; 3] = ["graphics", "store", "wire"];

/// How many fuzz targets run at a time, and for how long.
const FUZZERS: usize = 2;
const FUZZ_SECONDS: u32 = 30;

/// The version of cargo-fuzz that is installed.
const CARGO_FUZZ: &str = "0.13.2";

/// Something to do. A new check is a variant here, a line in [`Step::ALL`] and a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Step {
    /// Install what the tests need and is not there: Node, the emulator's packages, socat, the device's target
    Setup,
    /// The format of the sources
    Fmt,
    /// Clippy, without a warning
    Lint,
    /// The core for the device, with every choice of its cargo features, and the firmware for every board
    Powerset,
    /// The documentation, without a warning
    Doc,
    /// Set-up, then every test: the handheld's in the emulator, the documents' commands, links and spelling
    Test,
    /// The tests of the core as the device has it, without SIMD
    Scalar,
    /// The tests of the real firmware alone
    Emulator,
    /// The documents alone: commands, links, spelling, pictures, worked examples
    Docs,
    /// The tests that run `host` on several ranks under mpirun; installs OpenMPI if it is missing
    Mpi,
    /// What core and firmware take of flash and RAM, beside the last commit
    Size,
    /// The published scores, in their short form
    Published,
    /// The fuzz targets, half a minute each
    Fuzz,
    /// The benches, beside the last commit's
    Bench,
    /// What a release consists of
    Release,
    /// Everything that must hold before a change lands
    Ci,
}

impl Step {
    /// What must hold, the quick before the slow.
    const ALL: [Step; 12] = [
        Step::Fmt,
        Step::Lint,
        Step::Powerset,
        Step::Doc,
        Step::Test,
        Step::Scalar,
        Step::Mpi,
        Step::Size,
        Step::Published,
        Step::Release,
        Step::Bench,
        Step::Fuzz,
    ];

    /// The steps that it stands for.
    pub(crate) fn parts(&self) -> &[Step] {
        match self {
            Step::Ci => &Step::ALL,
            _ => std::slice::from_ref(self),
        }
    }

    /// As the command line spells it.
    pub(crate) fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }

    /// Does it.
    pub(crate) fn run(self) -> Outcome {
        match self {
            Step::Setup => setup(),
            Step::Fmt => fmt(),
            Step::Lint => lint(),
            Step::Powerset => powerset(),
            Step::Doc => doc(),
            Step::Test => test(),
            Step::Scalar => sh("cargo test --locked -p dropwise-core --features store"),
            Step::Emulator => emulator(),
            Step::Docs => sh("cargo test --locked -p dropwise-docs"),
            Step::Mpi => mpi(),
            Step::Size => size(),
            Step::Published => sh("cargo host evaluate --published --short"),
            Step::Fuzz => fuzz(),
            Step::Bench => bench(),
            Step::Release => release::make(),
            Step::Ci => Step::ALL.into_iter().try_for_each(Step::run),
        }
    }
}

fn setup() -> Outcome {
    sh("tests/emulator/setup")
}

fn fmt() -> Outcome {
    sh("cargo fmt --all -- --check")?;
    sh("cargo fmt --manifest-path fuzz/Cargo.toml -- --check")?;
    sh("cargo fmt --manifest-path tests/size/probe/Cargo.toml -- --check")
}

fn lint() -> Outcome {
    mpi_installed()?;
    sh(
        "cargo clippy --locked --workspace --exclude dropwise-firmware --all-targets --all-features -- -D warnings",
    )
}

fn powerset() -> Outcome {
    target_installed()?;
    for chosen in 0..1 << FEATURES.len() {
        let features: Vec<&str> =
            (0..FEATURES.len()).filter(|i| chosen >> i & 1 == 1).map(|i| FEATURES[i]).collect();
        run(command("cargo clippy --locked -p dropwise-core --target").args([
            TARGET,
            "--features",
            &features.join(","),
            "--",
            "-D",
            "warnings",
        ]))?;
    }
    for board in BOARDS {
        run(command("cargo clippy --locked -p dropwise-firmware --no-default-features --target").args([
            TARGET,
            "--features",
            board,
            "--",
            "-D",
            "warnings",
        ]))?;
    }
    Ok(())
}

fn doc() -> Outcome {
    target_installed()?;
    mpi_installed()?;
    let strict = |words: &str| run(command(words).env("RUSTDOCFLAGS", "-D warnings"));
    strict("cargo doc --locked --no-deps --workspace --exclude dropwise-firmware --all-features")?;
    strict(&format!("cargo doc --locked --no-deps -p dropwise-firmware --target {TARGET}"))
}

fn test() -> Outcome {
    setup()?;
    // With CI, tests fail where they would else be skipped.
    run(command("cargo test --locked").env("CI", "true"))
}

fn emulator() -> Outcome {
    setup()?;
    run(command("cargo test --locked -p dropwise-emulator").env("CI", "true"))
}

fn mpi() -> Outcome {
    mpi_installed()?;
    run(command("cargo test --locked -p host --features mpi --test mpi").env("CI", "true"))
}

/// Installs what `host` with the cargo feature `mpi` is built and run with.
fn mpi_installed() -> Outcome {
    const PACKAGES: &str = "libopenmpi-dev openmpi-bin libclang-dev clang";
    if succeeds("mpicc --version") && succeeds("mpirun --version") && succeeds("clang --version") {
        return Ok(());
    }
    if !succeeds("apt-get --version") {
        return Err(format!("there is no MPI, and no apt-get to install it; Debian calls it {PACKAGES}"));
    }
    sh("apt-get update -qq")?;
    // A new machine often updates itself at first: wait for that.
    sh(&format!("apt-get -o DPkg::Lock::Timeout=300 install -y -qq {PACKAGES}"))
}

fn size() -> Outcome {
    target_installed()?;
    sh("cargo run --quiet -p dropwise-size")?;
    let against = commit::base().map_or_else(String::new, |base| format!(" --against {base}"));
    sh(&format!("cargo run --quiet -p dropwise-size -- --firmware{against}"))
}

fn fuzz() -> Outcome {
    if !printed("cargo fuzz --version").is_ok_and(|version| version.contains(CARGO_FUZZ)) {
        sh(&format!("cargo install --locked --quiet cargo-fuzz@{CARGO_FUZZ}"))?;
    }
    sh("cargo +nightly fuzz build")?;
    let targets = printed("cargo +nightly fuzz list")?;
    let waiting = Mutex::new(targets.lines());
    let next = || waiting.lock().ok()?.next();
    let work = || -> Outcome {
        while let Some(target) = next() {
            sh(&format!("mkdir -p fuzz/corpus/{target}"))?;
            sh(&format!(
                "cargo +nightly fuzz run {target} fuzz/corpus/{target} fuzz/seeds/{target} -- \
                 -max_total_time={FUZZ_SECONDS} -verbosity=0 -print_final_stats=1"
            ))?;
        }
        Ok(())
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..FUZZERS).map(|_| scope.spawn(work)).collect();
        workers.into_iter().try_for_each(|worker| worker.join().map_err(|_| "a fuzzer's thread panicked")?)
    })
}

/// The clock is only ever shown, never judged: a machine with other work to do would fail good changes.
fn bench() -> Outcome {
    const BENCH: &str = "cargo bench --locked -p dropwise-core --features simd --";
    const SHORT: &str = "game --noplot --warm-up-time 0.2 --measurement-time 0.5 --sample-size 20";
    let changed = commit::base().filter(|base| !commit::is_unchanged(base, "core Cargo.toml Cargo.lock"));
    let Some(base) = changed else {
        eprintln!("The core is as it was at the last commit: every bench is run once, none is timed.");
        return sh(&format!("{BENCH} --test"));
    };
    let folder = target().join("bench");
    let results = folder.join("criterion");
    let tree = commit::checked_out(&base, &folder)?;
    run(command(&format!("{BENCH} {SHORT} --save-baseline before"))
        .current_dir(tree)
        .env("CARGO_TARGET_DIR", folder.join("target"))
        .env("CRITERION_HOME", &results))?;
    run(command(&format!("{BENCH} {SHORT} --baseline before")).env("CRITERION_HOME", &results))
}

/// Installs the device's target, for those steps that need no more of the set-up.
pub(crate) fn target_installed() -> Outcome {
    let folder = printed(&format!("rustc --print target-libdir --target {TARGET}"))?;
    if Path::new(folder.trim()).exists() {
        return Ok(());
    }
    if !succeeds("rustup --version") {
        return Err(format!("the target {TARGET} is not installed, and there is no rustup to install it"));
    }
    sh(&format!("rustup target add {TARGET}"))
}
