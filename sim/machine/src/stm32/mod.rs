//! The STM32 boards with an ARMv7-M core put together: memories, buses, flash interfaces, and the run loop.

mod access;
mod board;
mod chip;
mod code;
mod effects;
mod family;
pub mod flash;
pub mod instruments;
pub mod l0;
mod m7;
mod machine;
mod observe;
mod outputs;
mod quick;
mod settings;
mod snapshot;
mod system;

pub use board::board;
pub use family::{F1, F4, F7, H7};
pub use machine::{CoreStats, Machine, Options};
