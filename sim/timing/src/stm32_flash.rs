//! Flash interfaces of the STM32 families: widths, buffers, caches.
//!
//! Sources: RM0008 3.3.3 and PM0075 (F1), RM0090 3.5 (F405/407), RM0383 3.4 (F411), RM0390 3.4 (F446), RM0385 and
//! RM0410 3 (F7), RM0433 and RM0399 4 (H7), RM0367 3 (L0x3). A read of the array takes one cycle and the wait states.
//! How replacement, priorities and reads in flight work together is published for none of them and assumed here.

use crate::{Setting, TimingRuleConfidenceGrade};

/// F1: bytes a read of the array gives; the prefetch buffer holds two such lines (RM0008 3.3.3).
pub const F1_LINE_BYTES: u32 = 8;
/// F1: cycles between the first fetch from a line and the read ahead of the next line, if the fetches pause. Fitted to
/// published cycle counts of AES routines at two wait states.
pub const F1_PREFETCH_AFTER_FETCH: u64 = 2;
/// F1: cycles from the arrival of a line until the next line is read ahead, if the fetches pause. Fitted to the same
/// counts.
pub const F1_PREFETCH_AFTER_LINE: u64 = 2;
/// F4: bytes a read of the array gives and a cache line holds (RM0090 3.5.2).
pub const F4_LINE_BYTES: u32 = 16;
/// F4: lines of the instruction cache (RM0090 3.5.2).
pub const F4_INSTRUCTION_LINES: usize = 64;
/// F4: lines of the data cache (RM0090 3.5.2).
pub const F4_DATA_LINES: usize = 8;
/// F4: cycles that a line of code which is not in the instruction cache comes later without wait states, if prefetch is
/// off. Fitted to two published routines of curve9767. Ten others of this source confirm it.
pub const F4_SEARCH_CYCLES: u64 = 1;
/// F7: bytes a read of the array gives in single-bank mode, over ITCM and over AXI (RM0410 3.3.2).
pub const F7_LINE_BYTES: u32 = 32;
/// F7: lines of the accelerator on the ITCM path.
pub const F7_INSTRUCTION_LINES: usize = 64;
/// H7: bytes a read of one bank gives (RM0399 4.3.7).
pub const H7_LINE_BYTES: u32 = 32;
/// L0: bytes a read of the array gives (RM0367 3.3).
pub const L0_LINE_BYTES: u32 = 4;
/// L0: buffers that instructions, data and prefetch share (RM0367 3.3.3).
pub const L0_BUFFERS: usize = 6;

/// Index of each adjustable rule in [`SETTINGS`].
pub mod key {
    /// F7 over AXI.
    pub const F7_AXI: usize = 0;
    /// H7 over AXI.
    pub const H7_AXI: usize = 1;
    /// H7: core cycles a flash clock.
    pub const H7_RATIO: usize = 2;
}

/// Adjustable rules of the flash interfaces.
pub const SETTINGS: [Setting; 3] = [
    Setting {
        key: "f7_flash_axi_extra_cycles",
        default: 4,
        min: 0,
        max: 64,
        about: "F7: core cycles a flash read over AXI takes beyond one and its wait states; not published",
        grade: TimingRuleConfidenceGrade::Assumed,
    },
    Setting {
        key: "h7_flash_axi_extra_cycles",
        default: 8,
        min: 0,
        max: 64,
        about: "H7: core cycles a flash read takes beyond one flash clock and its wait states; not published",
        grade: TimingRuleConfidenceGrade::Assumed,
    },
    Setting {
        key: "h7_core_cycles_per_flash_clock",
        default: 2,
        min: 1,
        max: 4,
        about: "H7: the flash runs from the AXI clock, half the core clock at full speed (RM0433 8)",
        grade: TimingRuleConfidenceGrade::Documented,
    },
];
