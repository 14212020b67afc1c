//! Cortex-M0+ (r0p1) at zero wait states.
//!
//! Source of the constants: ARM DDI0484C (Cortex-M0+ TRM) table 3-1, the same figures as RP2040 data sheet 2.4.3.3.
//! The core has two pipeline stages and no forwarding hazards: a basic block takes the sum of its instructions.

use crate::{Setting, TimingRuleConfidenceGrade};

/// Data processing, moves, extends, reverses, not writing PC; also CPS, NOP, SEV, YIELD and a branch not taken.
pub const SINGLE_CYCLES: u64 = 1;
/// MULS with the single-cycle multiplier (RP2040 data sheet 2.4.2).
pub const MULTIPLY_CYCLES: u64 = 1;
/// B, taken `B<cc>`, BX, BLX, MOV PC and ADD PC: the opcode's cycle and one to refill.
pub const BRANCH_CYCLES: u64 = 2;
/// BL: two halfwords to decode, then the refill.
pub const BRANCH_LINK_CYCLES: u64 = 3;
/// A load or store over AHB: address phase and data phase.
pub const MEMORY_CYCLES: u64 = 2;
/// A load or store to the single-cycle I/O port.
pub const IO_PORT_CYCLES: u64 = 1;
/// MRS and MSR.
pub const SPECIAL_REGISTER_CYCLES: u64 = 3;
/// DMB, DSB and ISB, without the time for the bus to become idle.
pub const BARRIER_CYCLES: u64 = 3;
/// WFI and WFE, without the time asleep.
pub const SLEEP_CYCLES: u64 = 2;

/// Index of each adjustable rule in [`SETTINGS`].
pub mod key {
    /// Recognition of an exception to the first handler instruction.
    pub const EXCEPTION_ENTRY: usize = 0;
    /// Exception return to the first instruction of the interrupted code.
    pub const EXCEPTION_EXIT: usize = 1;
    /// Exception return to the first instruction of the next handler.
    pub const TAIL_CHAIN: usize = 2;
    /// How long after recognition a more urgent exception still takes over the entry.
    pub const LATE_ARRIVAL: usize = 3;
}

/// The core's adjustable rules.
pub const SETTINGS: [Setting; 4] = [
    Setting {
        key: "exception_entry_cycles",
        default: 15,
        min: 12,
        max: 64,
        about: "exception recognised to first handler instruction (ARM's published M0+ interrupt latency)",
        grade: TimingRuleConfidenceGrade::Documented,
    },
    Setting {
        key: "exception_exit_cycles",
        default: 12,
        min: 9,
        max: 64,
        about: "BX or POP of an EXC_RETURN value to the first instruction of the interrupted code; not published",
        grade: TimingRuleConfidenceGrade::Assumed,
    },
    Setting {
        key: "tail_chain_cycles",
        default: 8,
        min: 4,
        max: 64,
        about: "exception return straight into the next handler; not published",
        grade: TimingRuleConfidenceGrade::Assumed,
    },
    Setting {
        key: "late_arrival_cycles",
        default: 11,
        min: 0,
        max: 12,
        about: "cycles after recognition in which a more urgent exception takes over the vector; not published",
        grade: TimingRuleConfidenceGrade::Assumed,
    },
];
