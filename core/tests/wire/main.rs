//! The laws of the conversation between a laptop and a device: frames, calls, uploads, and what never changes.

mod desk;
mod frames;
mod golden;
mod session;
