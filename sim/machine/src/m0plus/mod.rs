//! The common parts of the chips with a Cortex-M0+: the RP2040 with two, the STM32L0 with one.
//!
//! Each chip has its own memories, peripherals and run loop. The run loop's steps that concern one core alone stand
//! here ([`turn`]), and so do the private peripheral bus ([`private_bus`]) semihosting
//! ([`debugging`]) and what a person sees of a core ([`face`]).

pub mod debugging;
pub mod face;
pub mod private_bus;
pub mod turn;

use rtoslab_cpu::v6m::bus::Trap;

/// The core has no unaligned accesses (ARMv6-M A3.2).
pub const UNALIGNED: Trap = Trap::Fault("unaligned access");
/// Nothing answers.
pub const UNMAPPED: Trap = Trap::Fault("access to an unmapped address");
