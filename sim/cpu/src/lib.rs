//! Cortex-M cores: decoding, execution with cycles, exceptions. Knows no chip by name. The chip is a `Bus`.

mod host;
pub mod profile;
pub mod step;
pub mod systick;
pub mod timing_store;
pub mod v6m;
pub mod v7m;
