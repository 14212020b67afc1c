//! ARMv6-M: Cortex-M0+, one core or two of them in lock step.

pub mod block;
pub mod bus;
pub mod core;
pub mod decode;
pub mod engine;
pub mod exception;
pub mod exec;
pub mod native_path;
pub mod nvic;
pub mod op;
pub mod pair;
pub mod ppb;
pub mod region;
pub mod speculation;
pub mod timing_cache;
pub mod trace;
pub mod translate;
pub mod watched;
