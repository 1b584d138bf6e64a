//! Memory that the ranks of one machine share for their [books](crate::library), so that what one of them has chosen the
//! others know.
//!
//! Each rank makes a room, a file that exists in memory only, and tells rank 0 where its door is. Rank 0 sends the ranks
//! of a machine to the room of the first of them. Every bout has a place of its own there, all zeros until somebody
//! writes. A room is gone when the last rank is, however that ends; no name of it is left anywhere.
//!
//! Where that cannot be had, each rank has books of its own, and only the time differs. It is for Linux alone: large pages
//! of memory are worth more than what is shared, and only there (since 6.1) a file in memory can be asked to have them.

use serde::{Deserialize, Serialize};

use crate::library::Memory;

/// Where a room can be entered by other processes of the same user on the same machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Door {
    process: u32,
    file: i32,
    /// Numbers of processes mean other ones in other containers: behind the door there must be a file of this name.
    name: String,
}

/// Memory for the books of a bout: in the room behind a door, or this rank's own.
pub(super) fn lend(door: Option<&Door>, bout: u64, bytes: usize) -> Option<Memory> {
    let place = door.and_then(Room::enter).and_then(|room| room.place(bout, bytes));
    place.map_or_else(|| Memory::own(bytes), |place| Some(Memory::Shared(place)))
}

#[cfg(target_os = "linux")]
pub(crate) use linux::Place;
#[cfg(target_os = "linux")]
pub(super) use linux::Room;

#[cfg(target_os = "linux")]
mod linux {
    use std::fs::{self, File};
    use std::hash::{BuildHasher, RandomState};
    use std::io;
    use std::ops::Range;
    use std::os::fd::AsRawFd;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::{Arc, OnceLock};
    use std::thread::{self, JoinHandle};
    use std::time::Duration;

    use memmap2::{Advice, MmapOptions, MmapRaw};
    use rustix::fs::{FallocateFlags, MemfdFlags, SealFlags, fallocate, fcntl_add_seals, memfd_create};

    use super::Door;

    /// A bout's place in a room begins at a multiple of this, and is smaller.
    const BOUT: u64 = 1 << 32;

    /// Bouts that a room has places for: as long as a file can be.
    const BOUTS: u64 = (i64::MAX as u64) / BOUT;

    /// A large page of memory.
    const LARGE: usize = 2 << 20;

    /// So many bytes are made large pages at a time: each time the system has all cores tidy up first.
    const PORTION: usize = 16 * LARGE;

    /// So often large pages are asked for that another rank is at.
    const ATTEMPTS: usize = 20;

    /// The room of all bouts.
    #[derive(Debug)]
    pub(in crate::cluster) struct Room {
        file: File,
        name: String,
        /// Whether this rank made it.
        is_own: bool,
    }

    impl Room {
        /// A new room. None if the system has none, or not with large pages.
        pub(in crate::cluster) fn new() -> Option<Room> {
            let name = format!("dropwise-{:016x}", RandomState::new().hash_one(std::process::id()));
            let file = File::from(memfd_create(&name, MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING).ok()?);
            // It takes memory only where something is written, and never gets shorter under those who look.
            file.set_len(BOUTS * BOUT).ok()?;
            fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL).ok()?;
            let room = Room { file, name, is_own: true };
            let trial = room.place(BOUTS - 1, LARGE)?;
            enlarge(&trial.map, trial.pages.clone()).ok()?;
            Some(room)
        }

        /// Where others find it.
        pub(in crate::cluster) fn door(&self) -> Door {
            Door { process: std::process::id(), file: self.file.as_raw_fd(), name: self.name.clone() }
        }

        /// The room behind a door. None if there is none, or another one.
        pub(in crate::cluster) fn enter(door: &Door) -> Option<Room> {
            let path = format!("/proc/{}/fd/{}", door.process, door.file);
            let is_it = fs::read_link(&path).ok()?.to_str()? == format!("/memfd:{} (deleted)", door.name);
            // What stands behind the door may have changed since.
            let file = is_it.then(|| File::options().read(true).write(true).open(&path).ok())??;
            let opened = fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd())).ok()?;
            let name = opened.to_str()?.strip_prefix("/memfd:")?.strip_suffix(" (deleted)")?;
            let is_own = door.process == std::process::id();
            (name == door.name).then(|| Room { file, name: door.name.clone(), is_own })
        }

        /// The place of a bout, for so many bytes. None if there is not so much.
        pub(in crate::cluster) fn place(&self, bout: u64, bytes: usize) -> Option<Place> {
            let length = bytes.checked_next_multiple_of(LARGE)?;
            if bout >= BOUTS || length.checked_add(LARGE)? as u64 > BOUT {
                return None;
            }
            let file = self.file.try_clone().ok()?;
            let (map, start) = mapped(&file, bout * BOUT, length)?;
            let pages = start..start + length;
            let stop = Arc::new(AtomicBool::new(false));
            Some(Place {
                file,
                bout,
                is_own: self.is_own,
                map: Arc::new(map),
                pages,
                stop,
                enlarging: OnceLock::new(),
            })
        }
    }

    /// Maps some bytes of a file, so that large pages of the file are such of the address space too; where they begin.
    fn mapped(file: &File, offset: u64, length: usize) -> Option<(MmapRaw, usize)> {
        // The system chooses the address, and mostly the same one again for the same length.
        let mut skipped = 0;
        for _ in 0..4 {
            let map =
                MmapOptions::new().offset(offset + skipped as u64).len(length + LARGE).map_raw(file).ok()?;
            let found = map.as_ptr().addr() % LARGE;
            if found == skipped {
                // The second large page of the file, whatever was skipped of the first.
                return Some((map, LARGE - skipped));
            }
            skipped = found;
        }
        None
    }

    /// Makes large pages of the small ones from one byte on to another.
    fn enlarge(map: &MmapRaw, pages: Range<usize>) -> io::Result<()> {
        // Nothing is done to those that nobody has touched.
        for page in pages.clone().step_by(LARGE) {
            map.advise_range(Advice::PopulateRead, page, 1)?;
        }
        let start = map.as_mut_ptr().wrapping_add(pages.start).cast();
        let mut attempts = 0;
        loop {
            // SAFETY: the range is within the mapping, and what is in it stays the same.
            #[expect(unsafe_code, reason = "large pages of memory: with small ones 0.83 times the speed")]
            let done = unsafe { libc::madvise(start, pages.len(), libc::MADV_COLLAPSE) };
            let error = io::Error::last_os_error();
            attempts += 1;
            match error.raw_os_error() {
                _ if done == 0 => return Ok(()),
                Some(libc::EAGAIN | libc::EBUSY) if attempts < ATTEMPTS => {
                    thread::sleep(Duration::from_millis(1));
                }
                _ => return Err(error),
            }
        }
    }

    /// The books of a bout, in all ranks that share them.
    #[derive(Debug)]
    pub(crate) struct Place {
        file: File,
        bout: u64,
        /// Whether this rank made the room.
        is_own: bool,
        map: Arc<MmapRaw>,
        /// Which bytes of the mapping the books stand on.
        pages: Range<usize>,
        stop: Arc<AtomicBool>,
        enlarging: OnceLock<JoinHandle<()>>,
    }

    impl Place {
        /// The first byte; it is on a large page's boundary.
        pub(crate) fn start(&self) -> *const u8 {
            self.map.as_ptr().wrapping_add(self.pages.start)
        }

        /// Somebody writes in the books now: has their pages made large meanwhile.
        pub(crate) fn open(&self) {
            self.enlarging.get_or_init(|| {
                let (map, stop) = (Arc::clone(&self.map), Arc::clone(&self.stop));
                let Range { start, end } = self.pages;
                let portion = |start: usize| start..end.min(start + PORTION);
                let mut portions: Vec<Range<usize>> = (start..end).step_by(PORTION).map(portion).collect();
                // What another rank has made large is mapped at once: they begin at both ends.
                if !self.is_own {
                    portions.reverse();
                }
                // Refused, it costs only time.
                let go_on = move |pages| !stop.load(Ordering::Relaxed) && enlarge(&map, pages).is_ok();
                thread::spawn(move || {
                    portions.into_iter().all(go_on);
                })
            });
        }
    }

    impl Drop for Place {
        /// Gives the memory back. Ranks that are still at it find books without a word from then on.
        fn drop(&mut self) {
            self.stop.store(true, Ordering::Relaxed);
            if let Some(enlarging) = self.enlarging.take() {
                let _ = enlarging.join();
            }
            let hole = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
            let _ = fallocate(&self.file, hole, self.bout * BOUT, BOUT);
        }
    }
}

/// No rooms elsewhere.
#[cfg(not(target_os = "linux"))]
mod elsewhere {
    use super::Door;

    #[derive(Debug)]
    pub(in crate::cluster) enum Room {}

    #[derive(Debug)]
    pub(crate) enum Place {}

    impl Room {
        pub(in crate::cluster) fn new() -> Option<Room> {
            None
        }

        pub(in crate::cluster) fn door(&self) -> Door {
            match *self {}
        }

        pub(in crate::cluster) fn enter(_: &Door) -> Option<Room> {
            None
        }

        pub(in crate::cluster) fn place(&self, _: u64, _: usize) -> Option<Place> {
            match *self {}
        }
    }

    impl Place {
        pub(crate) fn start(&self) -> *const u8 {
            match *self {}
        }

        pub(crate) fn open(&self) {
            match *self {}
        }
    }
}

#[cfg(not(target_os = "linux"))]
pub(crate) use elsewhere::Place;
#[cfg(not(target_os = "linux"))]
pub(super) use elsewhere::Room;

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use dropwise_core::low::LowWell;
    use dropwise_core::{Controller, Piece, Placement, Player, Rules, Well};

    use super::*;
    use crate::library::Library;

    /// A room and its door. None where the system has none: ranks have books of their own there.
    fn room() -> Option<(Room, Door)> {
        let room = Room::new();
        if room.is_none() {
            eprintln!("skipped: this system has no large pages for files in memory");
        }
        room.map(|room| (room.door(), room)).map(|(door, room)| (room, door))
    }

    fn word(place: &Place, number: usize) -> &AtomicU64 {
        // SAFETY: within the place, as all tests ask for more, aligned, and any bits are an atomic integer.
        #[expect(unsafe_code, reason = "to see what the system maps")]
        unsafe {
            &*place.start().cast::<AtomicU64>().add(number)
        }
    }

    #[test]
    fn what_is_written_in_a_bouts_place_is_read_in_all_rooms_until_the_first_leaves() {
        let Some((first, door)) = room() else { return };
        let bytes = 5 << 20;
        let last = bytes / size_of::<AtomicU64>() - 1;
        let place = first.place(3, bytes).expect("a place");
        word(&place, last).store(7, Ordering::Relaxed);
        let second = Room::enter(&door).expect("the same room").place(3, bytes).expect("a place");
        assert_eq!(word(&second, last).load(Ordering::Relaxed), 7);
        word(&second, 0).store(8, Ordering::Relaxed);
        // Pages are made large under what stands on them.
        [&place, &second, &second].into_iter().for_each(Place::open);
        assert_eq!(word(&place, 0).load(Ordering::Relaxed), 8);
        for other in [2, 4] {
            let other = first.place(other, bytes).expect("a place");
            assert!((0..=last).all(|number| word(&other, number).load(Ordering::Relaxed) == 0));
        }
        drop(place);
        assert!([0, last].iter().all(|&number| word(&second, number).load(Ordering::Relaxed) == 0));
        word(&second, 0).store(9, Ordering::Relaxed);
        let late = Room::enter(&door).expect("the same room").place(3, bytes).expect("a place");
        assert_eq!(word(&late, 0).load(Ordering::Relaxed), 9);
    }

    #[test]
    fn ranks_that_share_a_book_know_what_the_others_have_noted() {
        let Some((_room, door)) = room() else { return };
        let controllers = ["dt20", "bcts"].map(|name| Controller::new(Player::known(name).expect("known")));
        let rules = Rules::default();
        let library = |bout| {
            let games = controllers.iter().map(|controller| (controller, &rules));
            let lender = |bytes| {
                let lent = lend(Some(&door), bout, bytes);
                assert!(matches!(lent, Some(Memory::Shared(_))));
                lent
            };
            Library::lent(games, 128 << 20, &lender)
        };
        let (Some(first), Some(second), Some(other)) = (library(0), library(0), library(1)) else { return };
        let (pile, placement) = (
            LowWell::of(&Well::new(20).expect("a height")).expect("low"),
            Placement { orientation: 1, column: 4 },
        );
        first.shelf().note(1, pile, Piece::T, placement);
        assert_eq!(second.shelf().look(1, pile, Piece::T), Some(placement));
        assert_eq!(second.shelf().look(0, pile, Piece::T), None, "another player's");
        assert_eq!(other.shelf().look(1, pile, Piece::T), None, "another bout's");
    }

    #[test]
    fn a_wrong_door_leads_to_no_room_and_too_much_is_not_lent() {
        let Some((room, door)) = room() else { return };
        let elsewhere = std::fs::File::open("/dev/null").expect("a file");
        for wrong in [
            Door { name: "dropwise-0".into(), ..door.clone() },
            Door { file: std::os::fd::AsRawFd::as_raw_fd(&elsewhere), ..door.clone() },
            Door { process: 0, ..door.clone() },
        ] {
            assert!(Room::enter(&wrong).is_none(), "{wrong:?}");
            assert!(matches!(lend(Some(&wrong), 0, 1 << 20), Some(Memory::Own(_))));
        }
        assert!(room.place(0, 1 << 32).is_none());
        assert!(room.place(u64::MAX, 1 << 20).is_none());
        assert!(room.place(0, usize::MAX).is_none());
        drop(room);
        assert!(Room::enter(&door).is_none(), "it has left");
    }
}
