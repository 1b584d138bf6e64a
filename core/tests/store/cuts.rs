//! The power cut at every step of a save, once and twice; every read that fails.
//!
//! Three saves in a row run over the end of the ring: into its last sector, its first and its second. After
//! each cut all is built up again from what is in flash.

use dropwise_core::store::{Error, Saved, Slot, Store};
use dropwise_core::{Name, Player};

use crate::flash::{EraseTear, Failure, Flash, Noise, ProgramTear, Tear};
use crate::full_length;
use crate::model::player;

const SECTOR: usize = 4096;
const SECTORS: usize = 4;
/// Bytes of a record's header.
const HEADER: u64 = 20;
/// A player of 28 weights.
const LONG: usize = 4;

type Chip = Flash<SECTOR>;
type Edit = fn(&mut Store<Chip>) -> Result<Saved, Error<Failure>>;
type Contents = (Vec<Slot>, Option<Name>);

/// A flash, everything that was ever in it, and three changes to make.
struct Scene {
    flash: Chip,
    history: Vec<Contents>,
    edits: [Edit; 3],
}

fn name(number: usize) -> Name {
    Name::new(&format!("{number:-<24}")).expect("a name")
}

fn mount(flash: Chip) -> Store<Chip> {
    let (bytes, range) = (flash.bytes.clone(), flash.range());
    let mut store = Store::mount(flash, range).expect("whole sectors");
    assert!(store.flash().bytes == bytes, "a mount that writes");
    store
}

/// What remains after a reset.
fn remount(store: Store<Chip>) -> Store<Chip> {
    let mut flash = store.release();
    flash.restart();
    mount(flash)
}

fn contents(store: &Store<Chip>) -> Contents {
    (store.slots().to_vec(), store.selected().copied())
}

/// A flash with so many slots, the last selected, and its newest snapshot in the last sector but one.
fn scene(slots: usize, long: Player, edits: [Edit; 3]) -> Scene {
    let mut store = mount(Flash::new(SECTORS));
    let mut history = vec![contents(&store)];
    for save in 0.. {
        let saved = match save {
            _ if save < slots => store.save(name(save), long),
            _ if save == slots => store.select(Some(name(slots - 1))),
            _ if save % SECTORS == SECTORS - 1 => break,
            _ => {
                let mut weights = long.weights().to_vec();
                weights[0] += save as i16;
                store.save(name(0), Player::new(long.set(), &weights).expect("weights in range"))
            }
        };
        assert_eq!(saved, Ok(Saved::Written));
        history.push(contents(&store));
    }
    Scene { flash: store.release(), history, edits }
}

/// Records of one page: one slot, two, another selected.
fn small() -> Scene {
    scene(
        1,
        player(1),
        [
            |store| store.save(name(1), player(2)),
            |store| store.select(Some(name(1))),
            |store| store.delete(&name(0)),
        ],
    )
}

/// Records of five pages, the first as large as a record can be.
fn large() -> Scene {
    scene(
        11,
        player(LONG),
        [
            |store| store.save(name(11), player(LONG + 5)),
            |store| store.save(name(3), player(0)),
            |store| store.delete(&name(10)),
        ],
    )
}

/// A change made without a fault: the flash after it, what it holds, and the steps and reads it took.
struct Done {
    flash: Chip,
    contents: Contents,
    steps: u64,
    reads: u64,
}

fn done(flash: &Chip, edit: Edit) -> Done {
    let mut store = mount(flash.clone());
    let before = store.flash().counts;
    edit(&mut store).expect("a change without a fault");
    let after = store.flash().counts;
    let contents = contents(&store);
    let (steps, reads) = (after.steps() - before.steps(), after.reads - before.reads);
    Done { flash: store.release(), contents, steps, reads }
}

/// Mounts the flash, makes the change with the power cut at a step, and mounts what is left.
fn cut(flash: &Chip, edit: Edit, step: u64, tear: Tear) -> Store<Chip> {
    let mut store = mount(flash.clone());
    let old = contents(&store);
    store.flash().cut = Some((step, tear));
    assert_eq!(edit(&mut store), Err(Error::Flash(Failure::Off)), "cut at step {step}");
    assert_eq!(contents(&store), old, "a change that failed is not seen");
    remount(store)
}

/// Ways to tear the operation of a step: all of them that matter, or a few.
fn tears(step: u64, steps: u64, all: bool) -> Vec<Tear> {
    let in_order = |spared| Tear { program: ProgramTear::InOrder { spared }, erase: EraseTear::Prefix(0) };
    let seeds = (0..if all { 8 } else { 2 }).map(|seed| Noise(step << 8 | seed).next());
    if step == 0 {
        let lengths = (0..=SECTOR).step_by(if all { 1 } else { SECTOR / 4 });
        let partial = lengths.flat_map(|length| [EraseTear::Prefix(length), EraseTear::Suffix(length)]);
        let bits = seeds.flat_map(|seed| [EraseTear::Raised { seed }, EraseTear::Arbitrary { seed }]);
        return partial.chain(bits).map(|erase| Tear { erase, ..in_order(0) }).collect();
    }
    let scattered = seeds.map(|seed| Tear { program: ProgramTear::Scattered { seed }, ..in_order(0) });
    // Of the header's bytes, every subset of the bits.
    let spared: Vec<u8> = match (all, step + HEADER >= steps) {
        (true, true) => (0..=u8::MAX).collect(),
        (true, false) => vec![0x00, 0xff, 0x55, 0xaa, 0x0f, 0xf0],
        (false, _) => vec![0x00, 0xff],
    };
    spared.into_iter().map(in_order).chain(scattered).collect()
}

/// The old or the new, and nothing else.
fn single_cuts(Scene { mut flash, edits, .. }: Scene) {
    for (edit, sector) in edits.into_iter().zip([SECTORS - 1, 0, 1]) {
        let old = contents(&mount(flash.clone()));
        let done = done(&flash, edit);
        let changed: Vec<usize> =
            (0..SECTORS).filter(|&index| flash.sector(index) != done.flash.sector(index)).collect();
        assert_eq!(changed, [sector], "a save goes into the next sector of the ring");

        let [mut kept, mut replaced] = [0, 0];
        for step in 0..done.steps {
            for tear in tears(step, done.steps, true) {
                let mut store = cut(&flash, edit, step, tear);
                let found = contents(&store);
                if found == old {
                    kept += 1;
                } else {
                    assert_eq!(
                        found, done.contents,
                        "neither old nor new: {step} of {}, {tear:?}",
                        done.steps
                    );
                    assert!(step + HEADER >= done.steps, "new before the header: {step} of {}", done.steps);
                    replaced += 1;
                }
                let header = &store.flash().sector(sector)[..HEADER as usize];
                let is_body = (1..done.steps - HEADER).contains(&step);
                assert!(!is_body || header.iter().all(|&byte| byte == 0xff), "the header before the body");
                // A deletion that came through cannot be made again; all else can be asked for twice.
                let again = edit(&mut store);
                assert!(again.is_ok() || (again == Err(Error::Missing) && found == done.contents));
                assert_eq!(contents(&store), done.contents);
                assert_eq!(contents(&remount(store)), done.contents);
            }
        }
        assert!(kept > done.steps && replaced > 0, "{kept} old and {replaced} new");
        flash = done.flash;
    }
}

#[test]
fn a_cut_leaves_the_old_or_the_new() {
    single_cuts(small());
    single_cuts(large());
}

/// A cut in a save, and another one in the save after the reset.
fn double_cuts(Scene { mut flash, edits, .. }: Scene) {
    for (edit, next) in [(edits[0], edits[1]), (edits[1], edits[2]), (edits[2], edits[0])] {
        let done_once = done(&flash, edit);
        for step in 0..done_once.steps {
            for tear in tears(step, done_once.steps, false) {
                let store = cut(&flash, edit, step, tear);
                let between = contents(&store);
                let recovered = store.release();
                // What did not come through is tried again.
                let edit = if between == done_once.contents { next } else { edit };
                let done_again = done(&recovered, edit);
                for second in 0..done_again.steps {
                    let tears = tears(second, done_again.steps, false);
                    let tear = tears[Noise(step << 32 | second).next() as usize % tears.len()];
                    let mut store = cut(&recovered, edit, second, tear);
                    let found = contents(&store);
                    let is_new = found == done_again.contents && second + HEADER >= done_again.steps;
                    assert!(is_new || found == between, "cut at {step} and {second}, {tear:?}: {found:?}");
                    if !is_new {
                        assert_eq!(edit(&mut store), Ok(Saved::Written));
                        assert_eq!(contents(&remount(store)), done_again.contents);
                    }
                }
            }
        }
        flash = done_once.flash;
    }
}

#[test]
fn two_cuts_leave_the_old_or_the_new() {
    double_cuts(small());
    if full_length() {
        double_cuts(large());
    }
}

/// A read that fails during a save, once or for good.
#[test]
fn failed_reads_leave_the_old_or_the_new() {
    for Scene { mut flash, edits, .. } in [small(), large()] {
        for edit in edits {
            let old = contents(&mount(flash.clone()));
            let done = done(&flash, edit);
            for read in 0..done.reads {
                let mut store = mount(flash.clone());
                store.flash().failing_read = Some(read);
                let result = edit(&mut store);
                let shown = contents(&store);
                match result {
                    Ok(Saved::Written) => assert_eq!(shown, done.contents),
                    result => {
                        assert_eq!(result, Err(Error::Flash(Failure::Unreadable)), "read {read}");
                        assert_eq!(shown, old);
                    }
                }
                let found = contents(&remount(store));
                assert!(
                    found == done.contents || (result.is_err() && found == old),
                    "read {read}: {found:?}"
                );
            }
            for sector in 0..SECTORS {
                let mut store = mount(flash.clone());
                store.flash().unreadable = 1 << sector;
                let steps = store.flash().counts.steps();
                assert_eq!(edit(&mut store), Err(Error::Flash(Failure::Unreadable)));
                assert_eq!(contents(&store), old);
                assert_eq!(
                    store.flash().counts.steps(),
                    steps,
                    "nothing is written past a sector that hides"
                );
            }
            flash = done.flash;
        }
    }
}

/// A cut, then a reset at which a read fails: an older state may stand in, nothing is written until all can
/// be read again, and then the newest state is there.
#[test]
fn a_hidden_snapshot_is_not_lost() {
    let mut stand_ins = 0;
    for Scene { mut flash, mut history, edits } in [small(), large()] {
        for edit in edits {
            let done = done(&flash, edit);
            for step in
                (0..done.steps).filter(|step| full_length() || step % 7 == 0 || step + HEADER >= done.steps)
            {
                let tear = Tear {
                    program: ProgramTear::InOrder { spared: 0 },
                    erase: EraseTear::Raised { seed: step },
                };
                let whole = cut(&flash, edit, step, tear);
                let found = contents(&whole);
                let recovered = whole.release();
                for sector in 0..SECTORS {
                    let mut chip = recovered.clone();
                    chip.unreadable = 1 << sector;
                    let mut store = mount(chip);
                    assert_eq!(store.unreadable(), 1);
                    let shown = contents(&store);
                    if shown != found {
                        assert!(history.contains(&shown), "{shown:?} was never kept");
                        stand_ins += 1;
                    }
                    let steps = store.flash().counts.steps();
                    assert!(edit(&mut store).is_err());
                    assert_eq!(contents(&store), shown);
                    assert_eq!(store.flash().counts.steps(), steps);
                    // Readable again: the save is made to the newest state.
                    store.flash().unreadable = 0;
                    let again = edit(&mut store);
                    assert!(again.is_ok() || (again == Err(Error::Missing) && found == done.contents));
                    assert_eq!(contents(&store), done.contents);
                    assert_eq!(contents(&remount(store)), done.contents);
                }
            }
            history.push(done.contents.clone());
            flash = done.flash;
        }
    }
    assert!(stand_ins > 100);
}
