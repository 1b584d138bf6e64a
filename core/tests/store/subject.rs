//! The store, as the tests handle it.

use dropwise_core::Name;
use dropwise_core::store::{Error, Store};

use crate::flash::{Failure, Flash};
use crate::model::{Change, NAMES, Refusal, State};
use crate::trial::Subject;

pub(crate) fn name(number: usize) -> Name {
    Name::new(NAMES[number]).expect("a name")
}

pub(crate) fn state<F: embedded_storage::nor_flash::NorFlash>(store: &Store<F>) -> State {
    let number =
        |name: &Name| NAMES.iter().position(|text| *text == name.as_str()).expect("a name of the model's");
    let mut state = State { selected: store.selected().map(number), ..State::default() };
    for slot in store.slots() {
        let before = state.slots[number(&slot.name)].replace(slot.player);
        assert!(before.is_none(), "{} is there twice", slot.name);
    }
    state
}

impl<const SECTOR: usize> Subject<SECTOR> for Store<Flash<SECTOR>> {
    fn mount(flash: Flash<SECTOR>) -> Self {
        let (steps, range) = (flash.counts.steps(), flash.range());
        let mut store = Store::mount(flash, range).expect("a range of the flash");
        assert_eq!(store.flash().counts.steps(), steps, "a mount that writes");
        store
    }

    fn release(self) -> Flash<SECTOR> {
        Store::release(self)
    }

    fn flash(&mut self) -> &mut Flash<SECTOR> {
        Store::flash(self)
    }

    fn state(&mut self) -> Option<State> {
        Some(state(self))
    }

    fn apply(&mut self, change: Change) -> Result<(), Refusal> {
        let result = match change {
            Change::Save(number, player) => self.save(name(number), player),
            Change::Delete(number) => self.delete(&name(number)),
            Change::Select(number) => self.select(number.map(name)),
        };
        match result {
            Ok(_) => Ok(()),
            Err(Error::Full) => Err(Refusal::Full),
            Err(Error::Missing) => Err(Refusal::Missing),
            Err(Error::Flash(Failure::Off | Failure::Unreadable) | Error::Verify) => Err(Refusal::Flash),
            Err(error) => panic!("{change:?}: {error}"),
        }
    }

    fn is_whole(&self) -> bool {
        self.unreadable() == 0
    }

    fn room() -> usize {
        SECTOR - 256
    }

    fn steps(state: &State) -> u64 {
        1 + state.length() as u64 + 20
    }
}
