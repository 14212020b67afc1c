//! The RP2040 as a machine: memories, bus fabric, boot, and the run loop.

mod access;
mod board;
mod boot;
mod dma;
pub mod instruments;
mod machine;
mod observe;
mod registers;
mod rom;
mod settings;
mod snapshot;
mod system;

pub use board::board;
pub use machine::{CoreStats, Machine, Options};
