//! The STM32 boards with an ARMv7-M core put together: memories, buses, flash interfaces, and the run loop.

mod access;
mod board;
mod chip;
mod cleared;
mod code;
mod debugging;
mod dma;
mod effects;
mod face;
mod families;
mod family;
mod faults;
pub mod flash;
mod flash_port;
pub mod l0;
mod late_clear;
mod loading;
mod m7;
mod machine;
mod observe;
mod outputs;
mod own_table;
mod quick;
mod runner;
mod settings;
mod snapshot;
mod system;
mod waiting;

pub use board::create_armv7m_board;
pub use families::{F1, F4, Stm32F7H7Family};
pub use machine::{Machine, Options};
