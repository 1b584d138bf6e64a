//! The laws of the store: what was acknowledged is kept, whatever happens to the flash and to the power.
//!
//! `flash` is a flash that goes wrong on demand; `model` says plainly what a store is to do; `trial` plays
//! random sequences on any store and holds it to the model. DROPWISE_FULL=1 asks for the long forms.

mod cuts;
mod flash;
mod image;
mod images;
mod model;
mod record;
mod sequences;
mod sequential_storage;
mod slots;
mod subject;
mod trial;

/// Whether the long forms of the tests are asked for.
fn full_length() -> bool {
    std::env::var("DROPWISE_FULL").is_ok_and(|value| value == "1")
}
