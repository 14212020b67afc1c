//! Cortex-M3 (r1p1, r2) at zero wait states. The rules that the M4 shares with it are here too.
//!
//! Sources: ARM 100165 / DDI0337 (Cortex-M3 TRM) tables of section 3.3 and its notes on load and store timing \[TRM\];
//! measurements on STM32F103 and STM32F407 published by J. Oleksiewicz (jnk0le/random, "pipeline cycle test", and the
//! tables of jnk0le/cortexm-AES) \[JL\], by T. Pornin (arm-asm-notes) \[TP\] and on a Cortex-M4 by compendium.i-0.nl
//! \[CI\]. Which rule rests on what is listed in docs/accuracy.md.

use crate::{Setting, TimingRuleConfidenceGrade};

/// Data processing, shifts, bit fields, MUL, branches not taken, hints \[TRM\].
pub const SINGLE_CYCLES: u64 = 1;
/// MLA and MLS \[TRM\]. One on the M4.
pub const MULTIPLY_ACCUMULATE_CYCLES: u64 = 2;
/// SMULL and UMULL by how many of the two operands need more than 16 bits. The TRM prints the range 3–5 and that it
/// depends on the operands. The assignment is assumed.
pub const MULTIPLY_LONG_CYCLES: [u64; 3] = [3, 4, 5];
/// SMLAL and UMLAL likewise: 4–7 \[TRM\].
pub const MULTIPLY_ACCUMULATE_LONG_CYCLES: [u64; 3] = [4, 5, 7];

/// SDIV and UDIV with a zero operand \[CI\]. The least of the TRM's 2–12.
pub const DIVIDE_ZERO_CYCLES: u64 = 2;
/// SDIV and UDIV of a dividend with fewer significant bits than the divisor \[CI\].
pub const DIVIDE_SMALL_CYCLES: u64 = 3;
/// SDIV and UDIV otherwise: this, and one cycle for each started group of four possible quotient bits. \[CI\] says that
/// only the difference in significant bits counts. The steps of four follow from the TRM's maximum of 12.
pub const DIVIDE_BASE_CYCLES: u64 = 4;
/// Quotient bits a cycle.
pub const DIVIDE_BITS_PER_CYCLE: u64 = 4;

/// First execute cycle of a branch to that of its target if the address goes out while the branch is decoded: B, BL,
/// and BX, BLX, MOV PC by LR unless the instruction before writes LR [TRM r2p0 table 15-3: where each branch is
/// evaluated; P = 1; JL: loops].
pub const BRANCH_DECODED_CYCLES: u64 = 2;
/// The same of CBZ, CBNZ and of BX, BLX, MOV PC, ADD PC by other registers: the address goes out while the branch
/// executes [TRM r2p0 table 15-3; P = 2].
pub const BRANCH_EXECUTED_CYCLES: u64 = 3;
/// Last data phase of a load of the PC to the target's first execute cycle: three to reload the pipeline [TRM prose:
/// at least five cycles for LDR PC].
pub const BRANCH_LOADED_REFILL_CYCLES: u64 = 3;
/// ISB: itself and the three cycles of a reload [TRM: 1 + B, B a pipeline refill].
pub const ISB_CYCLES: u64 = 4;

/// Words in the prefetch unit's queue, those being fetched included [ARM knowledge article 103488664].
pub const PREFETCH_WORDS: u32 = 3;
/// Address phase of a fetch to the cycle in which the decoder can have the word [TRM: AHB-Lite].
pub const FETCH_CYCLES: u64 = 2;

/// Index of each adjustable rule in [`SETTINGS`], and in those of the M4.
pub mod key {
    /// MRS and MSR.
    pub const SPECIAL_REGISTER: usize = 0;
    /// CPS.
    pub const MASK_CHANGE: usize = 1;
    /// TBB and TBH between the load and the branch.
    pub const TABLE_ADD: usize = 2;
    /// Fetches over the System bus.
    pub const SYSTEM_FETCH: usize = 3;
    /// IT folding.
    pub const IT_FOLDING: usize = 4;
    /// Fetch of the target of a branch that is not taken.
    pub const SPECULATION: usize = 5;
    /// DSB and DMB beyond the wait for the store buffer.
    pub const BARRIER: usize = 6;
}

/// Number of adjustable rules.
pub const SETTINGS_COUNT: usize = 7;

/// The core's adjustable rules.
pub const SETTINGS: [Setting; SETTINGS_COUNT] = [
    Setting {
        key: "special_register_cycles",
        default: 2,
        min: 1,
        max: 2,
        about: "MRS and MSR; the manual prints \"1 or 2\"",
        grade: TimingRuleConfidenceGrade::Approximate,
    },
    Setting {
        key: "mask_change_cycles",
        default: 1,
        min: 1,
        max: 2,
        about: "CPSID and CPSIE; the manual prints \"1 or 2\"",
        grade: TimingRuleConfidenceGrade::Approximate,
    },
    Setting {
        key: "table_branch_add_cycles",
        default: 1,
        min: 0,
        max: 1,
        about: "TBB and TBH: the manual's prose says at least six cycles (load, add, refill), its table 2 + P",
        grade: TimingRuleConfidenceGrade::Documented,
    },
    Setting {
        key: "system_fetch_extra_cycles",
        default: 1,
        min: 0,
        max: 2,
        about: "instruction fetch over the System bus (code at 0x20000000 and above) is registered",
        grade: TimingRuleConfidenceGrade::Approximate,
    },
    Setting {
        key: "it_folding",
        default: 1,
        min: 0,
        max: 1,
        about: "IT behind a 16-bit instruction takes no cycle (1) or always one (0)",
        grade: TimingRuleConfidenceGrade::Documented,
    },
    Setting {
        key: "branch_speculation",
        default: 1,
        min: 0,
        max: 1,
        about: "a conditional branch fetches its target while it is decoded, taken or not (1), or only if taken (0)",
        grade: TimingRuleConfidenceGrade::Measured,
    },
    Setting {
        key: "barrier_extra_cycles",
        default: 0,
        min: 0,
        max: 8,
        about: "DSB and DMB beyond one cycle and the wait for the store buffer",
        grade: TimingRuleConfidenceGrade::Documented,
    },
];
