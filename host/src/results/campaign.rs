//! Playing what is missing: batch by batch, on all threads, each on disk when it is done.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, IsTerminal};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::data::{Data, DataFile};
use super::plan::Section;
use super::record::{Hex, Record};
use super::row::Row;
use super::sitting::{Aside, Batch, Sitting};
use super::{aside, measure};
use crate::arena::Arena;
use crate::figures;
use crate::library;
use crate::output::{self, Failure};

/// A batch to be played.
#[derive(Clone, Debug)]
struct Job<'a> {
    section: &'a str,
    row: &'a Row,
    games: Range<u64>,
}

/// All that is missing of some rows.
#[derive(Debug)]
pub struct Campaign<'a> {
    jobs: Vec<Job<'a>>,
    files: BTreeMap<&'a str, Mutex<DataFile>>,
    folder: PathBuf,
    memory: usize,
}

/// What became of a campaign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Batches played.
    pub played: u64,
    /// Batches that were missing.
    pub missing: u64,
    /// Pieces placed in them.
    pub pieces: u64,
}

impl<'a> Campaign<'a> {
    /// Finds what is missing, and takes hold of the files that it will be written to.
    ///
    /// # Errors
    /// If another program writes to one of them, or they cannot be read.
    pub fn new(rows: &[(&'a Section, &'a Row)], folder: &Path) -> Result<Campaign<'a>, Failure> {
        let missing = jobs(rows, &Data::read(folder)?);
        let sections: BTreeSet<&str> = missing.iter().map(|job| job.section).collect();
        let open = |section| Ok((section, Mutex::new(DataFile::open(folder, section)?)));
        let files = sections.into_iter().map(open).collect::<Result<BTreeMap<_, _>, Failure>>()?;
        // Another program may have written until the files were ours. What it did only makes the list shorter.
        let mut jobs = jobs(rows, &Data::read(folder)?);
        jobs.retain(|job| files.contains_key(job.section));
        Ok(Campaign { jobs, files, folder: folder.to_owned(), memory: library::MEMORY })
    }

    /// The same with so many bytes at the most for the [books](crate::library) of long games.
    pub fn with_memory(self, memory: usize) -> Campaign<'a> {
        Campaign { memory, ..self }
    }

    /// Plays the batches in the order of the plan, until all are played or it is told to stop: then unfinished ones are
    /// lost.
    ///
    /// # Errors
    /// If a record cannot be written; what was written before is safe.
    pub fn run(
        &self,
        arena: &Arena,
        stop: impl Fn() -> bool + Sync,
        quiet: bool,
    ) -> Result<Outcome, Failure> {
        let progress = Progress::default();
        let failure: Mutex<Option<Failure>> = Mutex::new(None);
        thread::scope(|scope| {
            // Dropping the sender when all is played ends the display.
            let (over, watch) = mpsc::channel::<()>();
            scope.spawn({
                let progress = &progress;
                let all = self.jobs.len() as u64;
                move || progress.show(all, quiet, &watch)
            });
            let stops = || progress.stopped.load(Ordering::Relaxed) || stop();
            let fail = |error| {
                progress.stopped.store(true, Ordering::Relaxed);
                *failure.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = Some(error);
            };
            let done = |section: &str, record: &Record| {
                // A thread that panicked while it wrote left at worst half a line, which is no worse than none.
                let file = self.files[section].lock();
                match file.unwrap_or_else(|poisoned| poisoned.into_inner()).append(record) {
                    Ok(()) => drop(progress.played.fetch_add(1, Ordering::Relaxed)),
                    Err(error) => fail(error),
                }
            };
            let placed = |pieces| {
                progress.pieces.fetch_add(pieces, Ordering::Relaxed);
                stops()
            };
            #[cfg(feature = "mpi")]
            if self.share_out(arena, placed, |job, record| {
                progress.begin(job);
                done(job.section, record);
            }) {
                return drop(over);
            }
            self.play_side_by_side(arena, &progress, placed, done, fail);
            let alone: Vec<&Job<'_>> = self.jobs.iter().filter(|job| !job.batch().is_sociable()).collect();
            arena.share(&alone, |job| {
                if stops() {
                    return;
                }
                progress.begin(job);
                if let Some(record) = measure::play(job.row, job.games.clone(), placed) {
                    done(job.section, &record);
                }
            });
            drop(over);
        });
        match failure.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner()) {
            Some(failure) => Err(failure),
            None => Ok(Outcome {
                played: progress.played.into_inner(),
                missing: self.jobs.len() as u64,
                pieces: progress.pieces.into_inner(),
            }),
        }
    }
}

impl<'a> Job<'a> {
    fn batch(&self) -> Batch<'a> {
        Batch { row: self.row, games: self.games.clone() }
    }
}

impl Campaign<'_> {
    /// Plays the batches that can share a table. Long games that are under way are kept for the next time.
    fn play_side_by_side(
        &self,
        arena: &Arena,
        progress: &Progress,
        placed: impl Fn(u64) -> bool + Sync,
        done: impl Fn(&str, &Record) + Sync,
        fail: impl Fn(Failure) + Sync,
    ) {
        let jobs: Vec<&Job<'_>> = self.jobs.iter().filter(|job| job.batch().is_sociable()).collect();
        let Some(first) = jobs.first() else { return };
        progress.begin(first);
        let batches: Vec<Batch<'_>> = jobs.iter().map(|job| job.batch()).collect();
        let mut sections: BTreeMap<Hex, &str> = BTreeMap::new();
        let mut under_way = vec![];
        for &section in self.files.keys() {
            match aside::read(&self.folder, section) {
                Ok(games) => {
                    // Also those of rows that are not played now.
                    sections.extend(games.iter().map(|game| (game.key, section)));
                    under_way.extend(games);
                }
                Err(error) => return fail(error),
            }
        }
        sections.extend(jobs.iter().map(|job| (job.row.key(), job.section)));
        let keep = |games: &BTreeMap<(Hex, u64), Aside>| {
            for section in self.files.keys() {
                let of_section = games.values().filter(|game| sections.get(&game.key) == Some(section));
                if let Err(error) = aside::write(&self.folder, section, of_section) {
                    fail(error);
                }
            }
        };
        let sitting = Sitting::new(&batches, under_way, arena.threads(), self.memory);
        arena.share(&vec![(); arena.threads()], |()| {
            let done = |batch: &Batch<'_>, record| {
                progress.begin(&Job {
                    section: sections[&batch.row.key()],
                    row: batch.row,
                    games: batch.games.clone(),
                });
                done(sections[&batch.row.key()], &record);
            };
            sitting.play(&placed, done, keep);
        });
    }
}

#[cfg(feature = "mpi")]
impl Campaign<'_> {
    /// Plays the batches on all ranks; whether there are any but this.
    fn share_out(
        &self,
        arena: &Arena,
        placed: impl Fn(u64) -> bool,
        mut keep: impl FnMut(&Job<'_>, &Record),
    ) -> bool {
        use crate::cluster::hand_out::Batch;

        let Some((cluster, pool)) = arena.cluster() else { return false };
        let rows: BTreeMap<_, &Row> = self.jobs.iter().map(|job| (job.row.key(), job.row)).collect();
        let number: BTreeMap<_, u32> = rows.keys().copied().zip(0..).collect();
        let batch = |job: &Job<'_>| Batch {
            arm: number[&job.row.key()],
            first: job.games.start,
            games: (job.games.end - job.games.start) as u32,
        };
        let batches: Vec<Batch> = self.jobs.iter().map(batch).collect();
        let rows: Vec<&Row> = rows.into_values().collect();
        let of = |played| batches.iter().position(|batch| *batch == played);
        cluster.measure(pool, &rows, batches.clone(), placed, |played, record| {
            if let Some(job) = of(played) {
                keep(&self.jobs[job], &record);
            }
        })
    }
}

/// What is missing, each row once though several sections have it.
fn jobs<'a>(rows: &[(&'a Section, &'a Row)], data: &Data) -> Vec<Job<'a>> {
    // The longest wish for the same games counts.
    let mut wanted: BTreeMap<_, (&Section, &Row)> = BTreeMap::new();
    for &(section, row) in rows {
        let entry = wanted.entry(row.key()).or_insert((section, row));
        if row.games > entry.1.games {
            entry.1 = row;
        }
    }
    let mut jobs = vec![];
    for (_, row) in rows {
        let Some((section, row)) = wanted.remove(&row.key()) else { continue };
        let missing = row.missing(&data.done(row.key()));
        jobs.extend(missing.into_iter().map(|games| Job { section: &section.name, row, games }));
    }
    jobs
}

/// How far a campaign is.
#[derive(Debug, Default)]
struct Progress {
    played: AtomicU64,
    pieces: AtomicU64,
    stopped: AtomicBool,
    begun: Mutex<String>,
}

/// A terminal gets a bar; elsewhere a line now and then tells that a long run is alive.
const FRAME: Duration = Duration::from_millis(100);
const PLAIN: Duration = Duration::from_secs(10);

impl Progress {
    fn begin(&self, job: &Job<'_>) {
        let Range { start, end } = job.games;
        let games =
            if end - start == 1 { format!("game {start}") } else { format!("games {start} to {}", end - 1) };
        let name = format!("{}: {}, {games}", job.section, job.row.name());
        *self.begun.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = name;
    }

    fn status(&self, start: Instant) -> String {
        let rate = self.pieces.load(Ordering::Relaxed) as f64 / start.elapsed().as_secs_f64();
        let begun = self.begun.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        format!("{} pieces/s  {begun}", figures::short(rate))
    }

    fn show(&self, all: u64, quiet: bool, watch: &mpsc::Receiver<()>) {
        let start = Instant::now();
        if io::stderr().is_terminal() {
            let bar = ProgressBar::with_draw_target(Some(all), ProgressDrawTarget::stderr());
            let style = ProgressStyle::with_template("[{bar:24}] {pos}/{len} batches  {msg}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("=> "));
            while watch.recv_timeout(FRAME) == Err(RecvTimeoutError::Timeout) {
                bar.set_position(self.played.load(Ordering::Relaxed));
                bar.set_message(self.status(start));
                bar.tick();
            }
            bar.finish_and_clear();
        } else if !quiet {
            while watch.recv_timeout(PLAIN) == Err(RecvTimeoutError::Timeout) {
                let played = figures::grouped(self.played.load(Ordering::Relaxed));
                let all = figures::grouped(all);
                output::say(format_args!("{played} of {all} batches  {}", self.status(start)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::plan::Kind;
    use super::super::row::tests::row;
    use super::*;

    fn section(name: &str, rows: Vec<Row>) -> Section {
        Section { name: name.into(), title: String::new(), text: String::new(), kind: Kind::Scores, rows }
    }

    fn sections() -> Vec<Section> {
        let mut rescued = row("dt10", 5, 20, 8);
        rescued.options.rescue = Some(3);
        let shared = Row { games: 40, ..row("bcts", 6, 15, 10) };
        let single = row("dt20", 7, 12, 1);
        vec![section("one", vec![row("bcts", 6, 15, 10), rescued]), section("two", vec![shared, single])]
    }

    fn rows(sections: &[Section]) -> Vec<(&Section, &Row)> {
        sections.iter().flat_map(|section| section.rows.iter().map(move |row| (section, row))).collect()
    }

    /// All records but their seconds, in order.
    fn measured(folder: &Path, sections: &[Section]) -> Vec<Record> {
        let data = Data::read(folder).unwrap();
        let keys: BTreeSet<_> = rows(sections).iter().map(|(_, row)| row.key()).collect();
        keys.into_iter()
            .flat_map(|key| data.of(key).cloned().collect::<Vec<_>>())
            .map(|record| Record { seconds: 0.0, ..record })
            .collect()
    }

    fn complete(threads: usize) -> Vec<Record> {
        let (folder, sections) = (tempfile::tempdir().unwrap(), sections());
        let campaign = Campaign::new(&rows(&sections), folder.path()).unwrap();
        let outcome = campaign.run(&Arena::new(Some(threads)).unwrap(), || false, true).unwrap();
        // Forty games of the first row, as the other section wants more, twenty of the second and twelve of the last.
        assert_eq!((outcome.played, outcome.missing), (4 + 3 + 12, 4 + 3 + 12));
        assert!(outcome.pieces > 0);
        measured(folder.path(), &sections)
    }

    #[test]
    fn the_number_of_threads_changes_nothing() {
        assert_eq!(complete(1), complete(2));
    }

    #[test]
    fn a_stopped_campaign_goes_on_to_the_same_end() {
        let (folder, sections) = (tempfile::tempdir().unwrap(), sections());
        let arena = Arena::new(Some(2)).unwrap();
        let mut runs = 0;
        loop {
            // Stops in the middle of a batch: each look counts.
            let looks = AtomicU64::new(0);
            let campaign = Campaign::new(&rows(&sections), folder.path()).unwrap();
            let outcome = campaign.run(&arena, || looks.fetch_add(1, Ordering::Relaxed) > 4, true).unwrap();
            runs += 1;
            if outcome.played == outcome.missing {
                break;
            }
        }
        assert!(runs > 1, "it was never stopped");
        assert_eq!(measured(folder.path(), &sections), complete(1));
        let nothing = Campaign::new(&rows(&sections), folder.path()).unwrap();
        assert!(nothing.jobs.is_empty() && nothing.files.is_empty());
    }

    #[test]
    fn two_campaigns_do_not_write_to_the_same_file() {
        let (folder, sections) = (tempfile::tempdir().unwrap(), sections());
        let _first = Campaign::new(&rows(&sections)[..1], folder.path()).unwrap();
        assert!(Campaign::new(&rows(&sections)[..2], folder.path()).is_err());
        assert!(Campaign::new(&rows(&sections)[2..], folder.path()).is_ok());
    }
}
