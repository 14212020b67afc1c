//! ARMv7-M and ARMv7E-M: Cortex-M3, M4F and M7, one core of them.
//!
//! Three parts know nothing of each other's inside. The executor (`exec`) says *what* an instruction does, a
//! [`pipeline::Pipeline`] says *when*, the chip's [`bus::Bus`] says what memory holds and how long it makes the core
//! wait. Exceptions, the system control space and protection belong to the core and are shared by all three cores.

pub mod attributes;
pub mod bitband;
pub mod bus;
pub mod cache;
pub mod code;
pub mod core;
pub mod decode;
pub mod dwt;
mod entry;
mod escalation;
pub mod exception;
mod exception_timing;
pub mod exec;
mod exit;
pub mod fault;
pub mod features;
pub mod float;
pub mod float_context;
pub mod halt;
mod identity;
pub mod itm;
mod jump;
pub mod l1;
pub mod mpu;
mod mpu_state;
pub mod nvic;
pub mod op;
mod pending;
pub mod pipeline;
pub mod scb;
mod scb_state;
pub mod scs;
mod special;
#[cfg(test)]
mod testing;
pub mod timing_cache;
