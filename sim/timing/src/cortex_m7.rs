//! Cortex-M7 (r1p0 in the STM32F767, r1p1 in the STM32H743).
//!
//! ARM publishes no cycle table of this core. The rules come from, by tag:
//!
//! - JL: measurements on an STM32H743 by jnk0le (github.com/jnk0le/random, "pipeline cycle test", cortex_m7.md).
//! - LLVM: the scheduling model that ARM contributed (llvm/lib/Target/ARM/ARMScheduleM7.td).
//! - SLOTHY: the model of the scheduler of that name (slothy/targets/arm_v7m/cortex_m7.py), checked on silicon.
//! - TRM: ARM DDI0489F, which describes structure but hardly time.
//! - OTAWA: its M7 model's divider.
//!
//! Latencies count from the cycle in which an instruction issues to the first one in which a consumer of its late
//! ALU input may issue. An input that is needed early (addresses, shifted operands) waits one cycle more.

use crate::{Setting, TimingRuleConfidenceGrade};

/// A mispredicted branch: cycles lost beside its own slot. JL's loop, run once, takes 8 cycles beyond its passes, 6 if
/// the flags are made early. That it is mispredicted twice, when it is new and at its end, and not once, is fitted: so
/// every routine of docs/accuracy.md's table of the M7 is one cycle off, whether it has one misprediction or two.
pub const MISPREDICT_CYCLES: u64 = 4;
/// The same if the flags were made early enough for the early resolution of direct branches.
pub const MISPREDICT_EARLY_FLAGS_CYCLES: u64 = 3;
/// How many cycles before the branch the flags must be made for that (JL: at least 3, not gradual).
pub const EARLY_FLAGS_DISTANCE_CYCLES: u64 = 3;
/// 16-bit opcodes that must have gone before a predicted taken branch for it to pair with the instruction at its
/// target (JL: at least 2).
pub const FOLD_NARROW_OPCODES: u64 = 2;

/// Late result of the late ALU (JL, LLVM).
pub const ALU_LATENCY: u64 = 1;
/// Late result of a word load (JL; LLVM's load latency).
pub const LOAD_LATENCY: u64 = 1;
/// Late result of a byte or halfword load (JL; LLVM's slow load).
pub const LOAD_NARROW_LATENCY: u64 = 2;
/// Result of a multiplication. An accumulator is read one cycle later than other operands (JL, LLVM, SLOTHY).
pub const MULTIPLY_LATENCY: u64 = 2;
/// Saturating arithmetic, sums of absolute differences (LLVM).
pub const SATURATE_LATENCY: u64 = 2;
/// Flags of a comparison with a shifted operand (LLVM).
pub const COMPARE_SHIFTED_LATENCY: u64 = 2;
/// Division: without the cycles for the quotient (OTAWA; LLVM schedules 7 in all).
pub const DIVIDE_BASE_CYCLES: u64 = 4;
/// Significant bits of the quotient found in a cycle (OTAWA).
pub const DIVIDE_BITS_A_CYCLE: u64 = 2;
/// MRS, MSR, CPS, barriers, hints, SVC: single issue (LLVM).
pub const SYSTEM_CYCLES: u64 = 3;
/// TBB, TBH before the branch: two cycles to issue (LLVM).
pub const TABLE_BRANCH_CYCLES: u64 = 2;

/// Words that LDM, STM, LDRD and STRD move in a cycle (JL).
pub const WORDS_A_CYCLE: u64 = 2;
/// An unaligned load from the older slot: extra cycles (JL).
pub const UNALIGNED_LOAD_OLDER_CYCLES: u64 = 3;
/// An unaligned load from the younger slot: extra cycles (JL).
pub const UNALIGNED_LOAD_YOUNGER_CYCLES: u64 = 4;
/// Stores the store buffer holds before one has to wait (JL: 5 consecutive ones).
pub const STORE_BUFFER_ENTRIES: usize = 5;
/// A byte or halfword store occupies its bank: read, modify, write (JL: 4 cycles a store on one bank, 2 on both).
pub const STORE_NARROW_CYCLES: u64 = 4;
/// An unaligned store occupies the buffer's output (JL: 4 cycles a store when it is full).
pub const STORE_UNALIGNED_CYCLES: u64 = 4;

/// Single precision: VADD, VSUB, VMUL, conversions, VMOV from a core register or between S registers (JL, LLVM).
pub const FLOAT_LATENCY: u64 = 3;
/// VFMA as an operand of the next. As its accumulator 3 (JL; LLVM).
pub const FUSED_LATENCY: u64 = 5;
/// How much later a fused accumulator is read, where it comes from another fused operation (JL: 3 instead of 5).
pub const FUSED_ACCUMULATOR_ADVANCE: u64 = 2;
/// VMLA as an operand of the next. As its accumulator 3 (JL; LLVM).
pub const CHAINED_LATENCY: u64 = 6;
/// How much later VMLA reads an accumulator that comes from another multiply-accumulate (JL: 3 instead of 6).
pub const CHAINED_ACCUMULATOR_ADVANCE: u64 = 3;
/// How much later a store reads a floating-point result (JL: 1 after VADD, 3 after VFMA, 4 after VMLA).
pub const FLOAT_STORE_ADVANCE: u64 = 2;
/// A loaded register as accumulator of VFMA: extra (JL: 3 instead of 1).
pub const LOADED_FUSED_ACCUMULATOR_CYCLES: u64 = 2;
/// A loaded register as accumulator of VMLA: extra (JL: 2 instead of 1).
pub const LOADED_CHAINED_ACCUMULATOR_CYCLES: u64 = 1;
/// Cycles after a multiply-accumulate that VADD, VMOV of a constant, VLDM, VSTM and 64-bit VLDR and VSTR must leave
/// free, and other loads, stores and moves may not use the younger slot (JL).
pub const AFTER_ACCUMULATE_CYCLES: u64 = 3;
/// VDIV.F32: locks the pipeline (JL; LLVM).
pub const DIVIDE_SINGLE_CYCLES: u64 = 16;
/// VSQRT.F32: locks the pipeline (JL; LLVM has 16).
pub const ROOT_SINGLE_CYCLES: u64 = 14;
/// VADD.F64: 1 with equal exponents, 2 with different ones, 3 with a denormal (JL); the usual case.
pub const ADD_DOUBLE_CYCLES: u64 = 2;
/// VMUL.F64 (JL).
pub const MULTIPLY_DOUBLE_CYCLES: u64 = 5;
/// VFMA.F64 and VMLA.F64: 6 to 10 by operands (JL); the usual case.
pub const ACCUMULATE_DOUBLE_CYCLES: u64 = 8;
/// VDIV.F64 (JL: 30, 2 if the dividend is zero).
pub const DIVIDE_DOUBLE_CYCLES: u64 = 30;
/// VSQRT.F64 (LLVM).
pub const ROOT_DOUBLE_CYCLES: u64 = 30;

/// Doublewords the prefetch queue holds (TRM: 4 × 64 bits).
pub const PREFETCH_QUEUE_ENTRIES: usize = 4;
/// Entries of the modelled branch target address cache. TRM names the cache, not its size.
pub const BRANCH_TARGETS: usize = 64;

/// Line of both caches (TRM 5.9).
pub const CACHE_LINE_BYTES: u32 = 32;
/// Instruction cache of 16 kB: sets and ways (data sheets of the STM32F767 and STM32H743).
pub const INSTRUCTION_CACHE_SETS: usize = 256;
/// See [`INSTRUCTION_CACHE_SETS`].
pub const INSTRUCTION_CACHE_WAYS: usize = 2;
/// Data cache of 16 kB: sets and ways (data sheets of the STM32F767 and STM32H743).
pub const DATA_CACHE_SETS: usize = 128;
/// See [`DATA_CACHE_SETS`].
pub const DATA_CACHE_WAYS: usize = 4;

/// Index of each adjustable rule in [`SETTINGS`].
pub mod key {
    /// A direct branch unknown to the predictor and redirected by the decoder.
    pub const DECODED_BRANCH: usize = 0;
    /// A load from a doubleword that was stored to shortly before.
    pub const STORE_TO_LOAD: usize = 1;
}

/// The core's adjustable rules. (Those of exceptions are the exception model's.)
pub const SETTINGS: [Setting; 2] = [
    Setting {
        key: "decoded_branch_cycles",
        default: 3,
        min: 0,
        max: 8,
        about: "direct branch unknown to the branch target cache, redirected by the decoder: cycles lost; not \
                published, two fetch stages and the decoder",
        grade: TimingRuleConfidenceGrade::Assumed,
    },
    Setting {
        key: "store_to_load_cycles",
        default: 4,
        min: 0,
        max: 8,
        about: "earliest cycle after a store in which its doubleword can be loaded again (SLOTHY keeps such pairs 8 \
                instructions apart; the penalty itself is not published)",
        grade: TimingRuleConfidenceGrade::Approximate,
    },
];
