//! Machines: cores, memories and peripherals put together, deterministic to the cycle.

pub mod board;
pub mod boards;
pub mod flat;
pub mod image;
pub mod observe;
pub mod rp2040;
pub mod setting;
pub mod snapshot;
pub mod stm32;
pub mod stop;
pub mod sweep;

mod code;
pub mod debugger;
mod injection;
mod known;
mod lazy;
mod m0plus;
mod polling;
mod profile;
mod warnings;
mod words;
mod xip;

#[cfg(any(test, feature = "scenarios"))]
pub mod scenarios;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod truths;

pub use rtoslab_cpu::HAS_NATIVE_CODE;

pub use image::{ImageError, ParsedImageFile, Symbol};
pub use setting::SettingError;
pub use snapshot::Snapshot;
pub use stop::{RunEndCondition, Stop, StopReason};
