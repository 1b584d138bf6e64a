//! The data files: `data/SECTION.jsonl`, a line a [`Record`], only ever appended to.
//!
//! A record is written by one call and synced before the next is begun. Whatever happens to the program, all that can
//! be lost is the end of the last line: it is left out when the file is read, and cut off before more is written. Who
//! writes to a file holds its lock, so a second program that would measure the same section is turned away.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::ops::{ControlFlow, Range};
use std::path::{Path, PathBuf};

use super::record::{Hex, Record};
use super::sums::Sums;
use crate::output::Failure;

/// All that was measured.
#[derive(Clone, Debug, Default)]
pub struct Data {
    /// By key, then by the first game.
    records: BTreeMap<Hex, BTreeMap<u64, Found>>,
    /// The files whose last line was cut off.
    pub torn: Vec<PathBuf>,
}

/// A record and where it stands.
#[derive(Clone, Debug)]
struct Found {
    record: Record,
    place: String,
}

impl Data {
    /// Reads all data files of a folder; one that does not exist has none.
    ///
    /// # Errors
    /// If a file cannot be read, has a line that is no record, or two records contradict each other.
    pub fn read(folder: &Path) -> Result<Data, Failure> {
        let entries = match fs::read_dir(folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Data::default()),
            entries => entries.map_err(|error| cannot("read", folder, &error))?,
        };
        let mut paths: Vec<PathBuf> = entries
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"))
            .collect();
        paths.sort();
        let mut data = Data::default();
        for path in paths {
            data.read_file(&path)?;
        }
        Ok(data)
    }

    fn read_file(&mut self, path: &Path) -> Result<(), Failure> {
        let bytes = fs::read(path).map_err(|error| cannot("read", path, &error))?;
        let complete = complete(&bytes);
        if complete.len() < bytes.len() {
            self.torn.push(path.to_owned());
        }
        let lines = complete.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
        for (number, line) in (1..).zip(lines) {
            let place = format!("{}:{number}", path.display());
            let bad = |what: String| {
                Failure::input(format_args!(
                    "{place}: {what}; nothing was changed. Take the line out, or bring back the file as it was"
                ))
            };
            let record: Record = serde_json::from_slice(line).map_err(|error| bad(error.to_string()))?;
            record.check().map_err(bad)?;
            self.add(Found { record, place })?;
        }
        Ok(())
    }

    fn add(&mut self, found: Found) -> Result<(), Failure> {
        let records = self.records.entry(found.record.key).or_default();
        let (first, end) = found.record.games;
        // Ranges in the map do not overlap, so the last that starts before this one ends is the only one that may.
        if let Some((_, other)) =
            records.range(..end).next_back().filter(|(_, other)| other.record.games.1 > first)
        {
            let (a, b) = (&other.record, &found.record);
            if a.games == b.games && a.digest == b.digest {
                return Ok(());
            }
            let what =
                if a.games == b.games { "the same games with other moves" } else { "some of the same games" };
            return Err(Failure::input(format_args!(
                "{} and {} hold {what} of '{}' (games {} to {}, digest {}; games {} to {}, digest {}); nothing was \
                 changed. One of them is wrong: take it out",
                other.place, found.place, b.row, a.games.0, a.games.1, a.digest, first, end, b.digest
            )));
        }
        records.insert(first, found);
        Ok(())
    }

    /// The records of a row, in the order of their games.
    pub fn of(&self, key: Hex) -> impl Iterator<Item = &Record> {
        self.records.get(&key).into_iter().flat_map(|records| records.values().map(|found| &found.record))
    }

    /// Those of a row's first so many games. A larger plan of former days may have left some of later games: those that
    /// ended first, so the short ones.
    pub fn first(&self, key: Hex, games: u64) -> impl Iterator<Item = &Record> {
        self.of(key).take_while(move |record| record.range().start < games)
    }

    /// What a row's first so many games add up to.
    pub fn sums(&self, key: Hex, games: u64) -> Sums {
        Sums::of(self.first(key, games))
    }

    /// Whether there are all of a row's first so many games. Before that, the short ones are: of games played side by
    /// side they end first.
    pub fn has_all(&self, key: Hex, games: u64) -> bool {
        let until = |next, record: &Record| {
            let Range { start, end } = record.range();
            if start == next { ControlFlow::Continue(end) } else { ControlFlow::Break(next) }
        };
        let (ControlFlow::Continue(next) | ControlFlow::Break(next)) = self.of(key).try_fold(0, until);
        next >= games
    }

    /// Which games of a row there are, in order.
    pub fn done(&self, key: Hex) -> Vec<Range<u64>> {
        self.of(key).map(Record::range).collect()
    }

    /// The names under which records were made that belong to none of these keys, and how many they are.
    pub fn strangers(&self, known: impl Fn(Hex) -> bool) -> BTreeMap<String, usize> {
        let mut strangers = BTreeMap::new();
        for records in
            self.records.iter().filter(|(key, _)| !known(**key)).flat_map(|(_, records)| records.values())
        {
            *strangers.entry(records.record.row.clone()).or_default() += 1;
        }
        strangers
    }
}

/// What stands before the end of the last complete line.
fn complete(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |last| last + 1);
    &bytes[..end]
}

fn cannot(what: &str, path: &Path, error: &io::Error) -> Failure {
    Failure::input(format_args!("cannot {what} {}: {error}", path.display()))
}

/// A data file that this program alone appends to.
#[derive(Debug)]
pub struct DataFile {
    path: PathBuf,
    file: File,
}

impl DataFile {
    /// Opens a section's file, or makes it, and cuts off a last line that was not complete.
    ///
    /// # Errors
    /// If another program writes to it, or the file system says no.
    pub fn open(folder: &Path, section: &str) -> Result<DataFile, Failure> {
        fs::create_dir_all(folder).map_err(|error| cannot("make", folder, &error))?;
        let path = folder.join(format!("{section}.jsonl"));
        let open = File::options().read(true).append(true).create(true).open(&path);
        let file = open.map_err(|error| cannot("write to", &path, &error))?;
        match file.try_lock() {
            Err(fs::TryLockError::WouldBlock) => {
                return Err(Failure::input(format_args!(
                    "{} is being measured by another program; wait for it, or choose another section with --only",
                    path.display()
                )));
            }
            // A file system without locks is not a reason not to measure.
            Ok(()) | Err(fs::TryLockError::Error(_)) => {}
        }
        let bytes = fs::read(&path).map_err(|error| cannot("read", &path, &error))?;
        let length = complete(&bytes).len();
        if length < bytes.len() {
            file.set_len(length as u64).map_err(|error| cannot("write to", &path, &error))?;
        }
        Ok(DataFile { path, file })
    }

    /// Appends a record; it is on disk when this returns.
    ///
    /// # Errors
    /// If the file system says no. What was complete before is still there.
    pub fn append(&mut self, record: &Record) -> Result<(), Failure> {
        let mut line = serde_json::to_string(record).map_err(Failure::input)?;
        line.push('\n');
        self.file.write_all(line.as_bytes()).and_then(|()| self.file.sync_data()).map_err(|error| {
            Failure::input(format_args!(
                "cannot write to {}: {error}; what was measured before is safe. Make room, then go on",
                self.path.display()
            ))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::record::tests::record;
    use super::*;

    fn written(records: &[Record]) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let mut file = DataFile::open(folder.path(), "section").unwrap();
        records.iter().for_each(|record| file.append(record).unwrap());
        let path = folder.path().join("section.jsonl");
        (folder, path)
    }

    fn message(folder: &Path) -> String {
        match Data::read(folder) {
            Err(Failure::Input(message)) => message,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn records_come_back_in_order() {
        let (a, b) = (record(1, 0, &[5, 6]), record(1, 2, &[7]));
        let (folder, _) = written(&[b.clone(), record(2, 0, &[1]), a.clone()]);
        let data = Data::read(folder.path()).unwrap();
        assert_eq!(data.of(Hex(1)).cloned().collect::<Vec<_>>(), [a, b]);
        assert_eq!(data.done(Hex(1)), [0..2, 2..3]);
        assert_eq!((data.sums(Hex(1), 3).games, data.sums(Hex(3), 3).games), (3, 0));
        assert_eq!(data.strangers(|key| key == Hex(2)).values().sum::<usize>(), 2);
        assert!(Data::read(&folder.path().join("nowhere")).unwrap().records.is_empty());
    }

    #[test]
    fn games_beyond_those_that_are_wanted_do_not_count_nor_fill_a_gap() {
        let (folder, _) =
            written(&[record(1, 0, &[5, 6]), record(1, 3, &[1, 1]), record(1, 7, &[2]), record(2, 1, &[9])]);
        let data = Data::read(folder.path()).unwrap();
        let told = |games| (data.sums(Hex(1), games).lines, data.has_all(Hex(1), games));
        assert_eq!([0, 1, 2, 3].map(told), [(0, true), (11, true), (11, true), (11, false)]);
        assert_eq!([4, 5, 7, 8].map(told), [(13, false), (13, false), (13, false), (15, false)]);
        assert!(!data.has_all(Hex(2), 1) && data.has_all(Hex(3), 0) && !data.has_all(Hex(3), 1));
    }

    #[test]
    fn a_line_cut_anywhere_is_left_out_and_then_overwritten() {
        let (a, b) = (record(1, 0, &[5, 6]), record(1, 2, &[7]));
        let (folder, path) = written(&[a.clone(), b.clone()]);
        let whole = fs::read(&path).unwrap();
        let first = whole.iter().position(|&byte| byte == b'\n').unwrap() + 1;
        for length in 0..whole.len() {
            fs::write(&path, &whole[..length]).unwrap();
            let data = Data::read(folder.path()).unwrap();
            assert_eq!(data.of(Hex(1)).count(), usize::from(length >= first), "{length}");
            assert_eq!(data.torn.len(), usize::from(length != 0 && length != first), "{length}");
        }
        DataFile::open(folder.path(), "section").unwrap().append(&b).unwrap();
        assert_eq!(fs::read(&path).unwrap(), whole, "the rest of the line is gone");
    }

    #[test]
    fn the_same_games_count_once_and_must_be_the_same() {
        let a = record(1, 0, &[5, 6]);
        let again = Record { seconds: 9.0, ..a.clone() };
        let (folder, _) = written(&[a.clone(), again]);
        assert_eq!(Data::read(folder.path()).unwrap().sums(Hex(1), 2).games, 2);
        let (folder, _) = written(&[a.clone(), record(1, 0, &[5, 7])]);
        let told = message(folder.path());
        assert!(told.contains("section.jsonl:1 and ") && told.contains("section.jsonl:2 hold"), "{told}");
        assert!(told.contains("other moves"), "{told}");
        for (first, scores) in [(1, &[5, 6][..]), (0, &[1, 2, 3]), (1, &[4])] {
            let (folder, _) = written(&[a.clone(), record(1, first, scores)]);
            assert!(message(folder.path()).contains("some of the same games"), "{first}");
        }
    }

    #[test]
    fn a_bad_line_is_named() {
        let (folder, path) = written(&[record(1, 0, &[5, 6])]);
        let good = fs::read_to_string(&path).unwrap();
        for (bad, told) in [
            (good.replace("\"lines\":11", "\"lines\":99"), ":1: its sums of lines are impossible"),
            (format!("{good}nonsense\n{good}"), ":2: "),
            (good.replace("\"min\"", "\"least\""), ":1: unknown field `least`"),
            (good.replace("0000000000000001", "1"), "16 hexadecimal digits"),
        ] {
            fs::write(&path, &bad).unwrap();
            let message = message(folder.path());
            assert!(message.contains(told) && message.contains("nothing was changed"), "{message}");
        }
    }

    #[test]
    fn a_second_writer_is_turned_away() {
        let folder = tempfile::tempdir().unwrap();
        let first = DataFile::open(folder.path(), "section").unwrap();
        let Err(Failure::Input(told)) = DataFile::open(folder.path(), "section") else { panic!() };
        assert!(told.contains("another program"), "{told}");
        DataFile::open(folder.path(), "other").unwrap();
        drop(first);
        DataFile::open(folder.path(), "section").unwrap();
    }
}
