//! The STM32 families put together.

pub mod flash;
