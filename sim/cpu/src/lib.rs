//! Cortex-M cores: decoding, execution with cycles, exceptions. Knows no chip by name. The chip is a `Bus`.

// Only native code uses what it is written and entered with.
#![cfg_attr(not(native_code), allow(dead_code))]

pub mod exception_outcome;
mod host;
pub mod profile;
pub mod step;
pub mod systick;
pub mod timing_store;
pub mod v6m;
pub mod v7m;

pub use host::HAS_NATIVE_CODE;
