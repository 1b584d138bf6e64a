//! Games on more than one machine, through MPI; `docs/cluster.md` is the manual.
//!
//! Under `mpirun` every process runs `host` with the same arguments. Rank 0 runs the command, whatever it is. Where it
//! makes an [`Arena`](crate::arena::Arena), that arena has the threads of all ranks: rank 0 hands out games in batches,
//! its own threads among those who play, and puts the scores together in the order of the games. So the command knows
//! nothing of ranks, and its result does not depend on them.
//!
//! ```text
//!     rank 0                               ranks 1, 2, ...
//!       command                              follow
//!         Arena::play                          |
//!           lead  ---- Begin, Play, Drop --->  crew (rayon)
//!            |    <--- Played ---------------
//!           crew (rayon)
//! ```
//!
//! Read `wire` for what is said, [`hand_out`] for who plays what, `room` for what the ranks of a machine share, `crew`,
//! `lead` and `follow` for the two sides, and [`study`] for what to expect of thousands of cores. All but `hand_out` and
//! `study` need the cargo feature `mpi`.

pub mod hand_out;
pub mod study;

#[cfg(feature = "mpi")]
mod crew;
#[cfg(feature = "mpi")]
mod follow;
#[cfg(feature = "mpi")]
mod lead;
#[cfg(feature = "mpi")]
mod link;
#[cfg(feature = "mpi")]
mod room;
#[cfg(feature = "mpi")]
mod wire;

#[cfg(feature = "mpi")]
pub use lead::Cluster;
#[cfg(feature = "mpi")]
pub(crate) use room::Place;

use std::process::ExitCode;

/// What the starters of MPI programs tell each process: Open MPI, PMIx (`srun --mpi=pmix`), and PMI (MPICH, Intel MPI,
/// `srun --mpi=pmi2`).
const STARTED: [&str; 3] = ["OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"];

/// Whether this process was started as one of several.
fn is_started_by_mpi() -> bool {
    STARTED.iter().any(|name| std::env::var_os(name).is_some())
}

/// Runs the program: the command on rank 0 or alone, and whatever rank 0 says on others.
#[cfg(feature = "mpi")]
pub fn run(command: impl FnOnce() -> ExitCode) -> ExitCode {
    // Without a starter some MPIs start helpers of their own, which takes time and gives nothing.
    let Some(_universe) = is_started_by_mpi().then(link::start).flatten() else { return command() };
    if link::Link::rank() > 0 {
        return match follow::follow() {
            Ok(()) => ExitCode::SUCCESS,
            // Rank 0 says why.
            Err(_) => ExitCode::from(2),
        };
    }
    let code = command();
    if crate::interrupt::is_raised() {
        // The others may be gone already.
        link::abort("");
    }
    match lead::dismiss() {
        Ok(()) => code,
        Err(failure) => crate::output::finish(Err(failure)),
    }
}

/// Runs the program alone, and refuses to be several that know nothing of each other.
#[cfg(not(feature = "mpi"))]
pub fn run(command: impl FnOnce() -> ExitCode) -> ExitCode {
    use crate::output::{self, Failure};
    if is_started_by_mpi() && std::env::var("OMPI_COMM_WORLD_SIZE").is_ok_and(|size| size != "1") {
        return output::finish(Err(Failure::input(
            "this host was built without MPI; build it with `cargo build --release -p host --features mpi`",
        )));
    }
    command()
}
