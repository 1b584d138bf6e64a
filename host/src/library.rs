//! The [books](dropwise_core::book) of players who play long games, in memory that all threads share.
//!
//! Memory is taken as the books fill. Short games never open one, so they cost nothing there.

use std::slice;

use dropwise_core::book::{MIN_BOARD, MIN_PAGE_BITS, Page, Shelf};
use dropwise_core::low::LowWell;
use dropwise_core::octet::Kernel;
use dropwise_core::{Controller, PieceSource, Player, Rules};
use memmap2::{MmapMut, MmapRaw};

/// What all books take at the most, unless told otherwise.
pub const MEMORY: usize = 512 << 20;

/// What a book takes at the least.
pub const LEAST: usize = size_of::<Page>() << MIN_PAGE_BITS;

/// A game that has lasted so many pieces goes by the book: most of the time is spent in those. Tests have no such time.
pub const LONG: u64 = if cfg!(test) { 50 } else { 1 << 14 };

/// Books side by side, one a player.
#[derive(Debug)]
pub struct Library {
    players: Vec<Player>,
    page_bits: u32,
    memory: Memory,
}

/// Where books stand: zeros at first, from the boundary of a page on.
#[derive(Debug)]
pub(crate) enum Memory {
    /// This process's own.
    Own(MmapRaw),
    /// That of all ranks of this machine.
    #[cfg(feature = "mpi")]
    Shared(crate::cluster::Place),
}

/// Who gives a library so many bytes.
pub(crate) type Lender<'a> = &'a dyn Fn(usize) -> Option<Memory>;

impl Memory {
    /// So many bytes of this process's own. None if the system does not give so much.
    pub(crate) fn own(bytes: usize) -> Option<Memory> {
        let memory = MmapMut::map_anon(bytes).ok()?;
        // Refused, it costs only time: with small pages of memory each look waits for the address, too.
        #[cfg(target_os = "linux")]
        let _ = memory.advise(memmap2::Advice::HugePage);
        Some(Memory::Own(memory.into()))
    }

    fn start(&self) -> *const u8 {
        match self {
            Memory::Own(memory) => memory.as_ptr(),
            #[cfg(feature = "mpi")]
            Memory::Shared(place) => place.start(),
        }
    }
}

impl Library {
    /// Empty books for those that play by some rules and can use one, of at most so many bytes in all; the first come
    /// first. None if nobody can, the system does not give so much memory, or this machine is no faster with them.
    pub fn new<'a>(
        games: impl IntoIterator<Item = (&'a Controller, &'a Rules<'a>)>,
        bytes: usize,
    ) -> Option<Library> {
        Library::lent(games, bytes, &Memory::own)
    }

    /// The same in memory that somebody lends.
    pub(crate) fn lent<'a>(
        games: impl IntoIterator<Item = (&'a Controller, &'a Rules<'a>)>,
        bytes: usize,
        lender: Lender<'_>,
    ) -> Option<Library> {
        Kernel::new()?;
        let mut players: Vec<Player> = vec![];
        for (controller, rules) in games {
            if serves(controller, rules) && !players.contains(controller.player()) {
                players.push(*controller.player());
            }
        }
        players.truncate((bytes / LEAST).min(1 << u8::BITS));
        let page_bits = bytes.checked_div(size_of::<Page>() * players.len())?.checked_ilog2()?;
        let page_bits = page_bits.min(u32::BITS);
        let memory = lender(players.len().checked_mul(size_of::<Page>() << page_bits)?)?;
        Some(Library { players, page_bits, memory })
    }

    /// The books.
    pub fn shelf(&self) -> Shelf<'_> {
        // SAFETY: the memory was lent for so many pages of the books, starts on a page of memory, lives as long as the
        // slice, and nobody, in this process or another, looks at it in another way; any bits are atomic integers.
        #[expect(unsafe_code, reason = "for large pages of memory: with small ones 0.83 times the speed")]
        let pages = unsafe {
            slice::from_raw_parts(self.memory.start().cast::<Page>(), self.players.len() << self.page_bits)
        };
        Shelf::new(pages, self.page_bits).expect("books of a size that was checked")
    }

    /// The first game goes by a book.
    pub(crate) fn open(&self) {
        match &self.memory {
            Memory::Own(_) => {}
            #[cfg(feature = "mpi")]
            Memory::Shared(place) => place.open(),
        }
    }

    /// Which book a controller goes by in games by some rules; none if it has none, or cannot use it there.
    pub fn book(&self, controller: &Controller, rules: &Rules<'_>) -> Option<u8> {
        let place = self.players.iter().position(|player| player == controller.player());
        place.filter(|_| serves(controller, rules)).map(|place| place as u8)
    }
}

/// Whether what a controller does on low boards by some rules can be looked up: the choice is its engine's alone, nothing
/// there loses, and the engine says nothing about rows above the pile but what is the same for all placements. (The
/// general one may: it has sets that ask how high the well is.)
fn serves(controller: &Controller, rules: &Rules<'_>) -> bool {
    let (engine, options) = (controller.engine(), controller.options());
    (engine.boards_at_once() > 1 || engine.name() != "general")
        && options.lookahead == 0
        && options.rescue.is_none_or(|height| height >= LowWell::ROWS)
        && rules.height() >= MIN_BOARD + usize::from(engine.looks_at_brim())
        && rules.pieces == PieceSource::Uniform
}

#[cfg(test)]
mod tests {
    use super::*;
    use dropwise_core::{Options, Set};

    #[test]
    fn books_are_for_who_chooses_by_the_board_alone() {
        if Kernel::new().is_none() {
            return;
        }
        let player = |name| Player::known(name).unwrap();
        let plain = Controller::new(player("dt20"));
        let with = |options| Controller::with_options(player("dt20"), options);
        let [high, low] = [20, 9].map(|height| Rules::new(height).unwrap());
        let mut bag = high;
        bag.pieces = PieceSource::Bag;
        // It asks how high the well is.
        let other = Controller::new(Player::new(Set::DtRbf, &[-1; Set::DtRbf.len()]).unwrap());
        let alone = Controller::new(player("bdu"));
        let games = [(&plain, &high), (&other, &high), (&plain, &high), (&alone, &high)];
        let library = Library::new(games, 256 << 20).unwrap();
        assert_eq!(library.shelf().books(), 2);
        assert_eq!(library.book(&alone, &high), Some(1));
        assert_eq!(library.book(&plain, &high), Some(0));
        let late = with(Options { rescue: Some(7), allow_losing: true, ..Options::default() });
        assert_eq!(library.book(&late, &high), Some(0));
        let early = with(Options { rescue: Some(5), ..Options::default() });
        let ahead = with(Options { lookahead: 1, ..Options::default() });
        for (controller, rules) in
            [(&early, &high), (&ahead, &high), (&plain, &low), (&plain, &bag), (&other, &high)]
        {
            assert_eq!(library.book(controller, rules), None);
        }
        let brim = Controller::new(player("cs3243"));
        let [enough, too_low] = [11, 10].map(|height| Rules::new(height).unwrap());
        let library = Library::new([(&brim, &enough)], 64 << 20).unwrap();
        assert_eq!([enough, too_low].map(|rules| library.book(&brim, &rules)), [Some(0), None]);
        assert!(Library::new([(&plain, &low)], 64 << 20).is_none(), "for nobody");
        assert!(Library::new([(&plain, &high)], 63 << 20).is_none(), "too small");
    }

    #[test]
    fn memory_is_shared_out_and_the_first_come_first() {
        if Kernel::new().is_none() {
            return;
        }
        let controllers =
            ["dt20", "bcts", "dellacherie"].map(|name| Controller::new(Player::known(name).unwrap()));
        let rules = Rules::default();
        let library =
            |bytes| Library::new(controllers.iter().map(|controller| (controller, &rules)), bytes).unwrap();
        assert_eq!(library(130 << 20).shelf().books(), 2);
        assert_eq!(library(130 << 20).book(&controllers[2], &rules), None);
        assert_eq!(library(1 << 30).shelf().books(), 3);
        let lender = |bytes| Some(bytes).filter(|&bytes| bytes <= 1 << 30).and_then(Memory::own);
        let games = controllers.iter().map(|controller| (controller, &rules));
        assert!(Library::lent(games, 1 << 30, &lender).is_some());
    }
}
