//! STM32L0: the Cortex-M0+ on the ARMv6-M interpreter.

mod access;
mod board;
mod cached_timing;
mod chip;
mod debugging;
mod devices;
mod dma;
mod machine;
mod memory;
mod observe;
mod settings;
mod snapshot;
mod system;
mod waiting;

pub use machine::Machine;
