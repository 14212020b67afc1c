//! Flash interfaces, as timing only: which read of the array serves an access, and when.
//!
//! A model is told every instruction fetch, every data read and every branch in the order of time, with the cycle of
//! its address phase, and answers with cycles. It holds no content. All models speak alike:
//!
//! - `fetch(address, at)`: the first cycle in which the decoder can have the word: `at + 2` without wait;
//! - `read(address, at)`: a data read's extra cycles;
//! - `set_acr(value)`: the access control register was written;
//! - `waits()`: whether a fetch can wait at all.
//!
//! One array serves both sides. A read that has begun is finished. Data goes first among those that wait. Without wait
//! states the two sides do not hold each other up.

mod array;
mod art;
mod axi;
mod cached_timing;
mod f1;
mod l0;
mod lookups;
mod lru;
pub mod wait_states;

pub use art::{ArtAccelerator, ArtControl, FlashF4, FlashF7Itcm};
pub use axi::FlashAxi;
pub use cached_timing::CacheableFlash;
pub use f1::FlashF1;
pub use l0::FlashL0;
