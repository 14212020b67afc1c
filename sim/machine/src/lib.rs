//! Machines: cores, memories and peripherals put together, deterministic to the cycle.

pub mod flat;
pub mod image;
pub mod rp2040;
pub mod stm32;

mod code;
mod xip;

pub use image::{Image, ImageError, Symbol};
