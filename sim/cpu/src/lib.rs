//! ARMv6-M cores: decoding, execution with cycles, exceptions. Knows no chip by name; the chip is a [`bus::Bus`].

pub mod bus;
pub mod core;
pub mod decode;
pub mod exception;
pub mod exec;
pub mod nvic;
pub mod op;
pub mod ppb;
pub mod systick;
