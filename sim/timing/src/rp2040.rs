//! RP2040 bus fabric and flash timing: what an access costs beyond the core's own table.
//!
//! SRAM, ROM, the SIO port and XIP hits add nothing (RP2040 data sheet 2.1, 2.6). The accesses listed here do.

use crate::{Setting, TimingRuleConfidenceGrade};

/// Index of each adjustable rule in [`SETTINGS`].
pub mod key {
    /// Extra cycles of a load from an APB peripheral.
    pub const APB_READ: usize = 0;
    /// Extra cycles of a store to an APB peripheral.
    pub const APB_WRITE: usize = 1;
    /// Extra cycles through the atomic-alias interposer of UART, I2C, SPI and SSI.
    pub const APB_ALIAS: usize = 2;
    /// Flash frames (32-bit serial transfers) of a miss, which fills half an XIP line.
    pub const XIP_FRAMES_PER_FILL: usize = 3;
    /// clk_sys cycles of SSI and chip-select overhead per frame.
    pub const XIP_OVERHEAD: usize = 4;
}

/// The chip's adjustable rules.
pub const SETTINGS: [Setting; 5] = [
    Setting {
        key: "apb_read_extra_cycles",
        default: 2,
        min: 0,
        max: 64,
        about: "APB load beyond 2 cycles: minimum two-cycle transfer plus one bridge cycle (RP2040 data sheet 2.1.3)",
        grade: TimingRuleConfidenceGrade::Approximate,
    },
    Setting {
        key: "apb_write_extra_cycles",
        default: 3,
        min: 0,
        max: 64,
        about: "APB store beyond 2 cycles: minimum two-cycle transfer plus two bridge cycles (RP2040 data sheet 2.1.3)",
        grade: TimingRuleConfidenceGrade::Approximate,
    },
    Setting {
        key: "apb_alias_extra_cycles",
        default: 2,
        min: 0,
        max: 64,
        about: "atomic alias of UART, I2C, SPI, SSI: read-modify-write interposer (RP2040 data sheet 2.1.2)",
        grade: TimingRuleConfidenceGrade::Documented,
    },
    Setting {
        key: "xip_frames_per_fill",
        default: 1,
        min: 1,
        max: 4,
        about: "32-bit flash frames per miss: half an 8-byte line has its own valid bit, a fill is of 4 bytes (the chip's \
                designer in pico-sdk issue 1182)",
        grade: TimingRuleConfidenceGrade::Documented,
    },
    Setting {
        key: "xip_overhead_cycles",
        default: 10,
        min: 0,
        max: 1000,
        about: "SSI and chip-select overhead per frame beyond its serial clocks",
        grade: TimingRuleConfidenceGrade::Approximate,
    },
];
