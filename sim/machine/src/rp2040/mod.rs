//! The RP2040 as a machine: memories, bus fabric, boot, and the run loop.

mod access;
mod arbitration;
mod board;
mod boot;
mod code;
mod debugging;
mod dma;
mod fetches;
mod machine;
mod map;
mod native;
mod observe;
mod registers;
mod rom;
mod settings;
mod single_core;
mod snapshot;
mod steps;
mod stops;
mod system;
mod waiting;

pub use board::create_pico_board;
pub use machine::{Machine, Options};
