//! Machines: cores, memories and peripherals put together, deterministic to the cycle.

pub mod board;
pub mod flat;
pub mod image;
pub mod rp2040;
pub mod setting;
pub mod stm32;
pub mod stop;

mod code;
mod xip;

pub use image::{Image, ImageError, Symbol};
pub use setting::SettingError;
pub use stop::{Stop, StopReason};
