//! The inputs of a trace's timing that its first instruction does not tell.

/// The log of a trace (a run of instructions that are timed together): which memories it accessed, which conditions
/// failed, and the cycles that depend on operands, in the order of execution. Each entry is shifted in from below. The
/// highest bit set marks the begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceTimingLog {
    pub(super) bits: u64,
    /// Instructions that may still follow in the trace, the current one included.
    pub(super) left: u32,
}

/// Bits of an access: one of [`super::Home`].
pub(super) const HOME_BITS: u32 = 2;
/// Bits of the verdict on a conditional branch.
pub(super) const BRANCH_BITS: u32 = 1;
/// Bits of the verdict on a predicated instruction.
pub(super) const PREDICATE_BITS: u32 = 1;
/// Bits of cycles that depend on operands.
pub(super) const CYCLES_BITS: u32 = 5;
/// Most bits that any instruction logs, but for rare ones.
const INSTRUCTION_BITS: u32 = HOME_BITS;
/// The number of bits that a load of the PC at the end of a trace may log beyond that.
const END_BITS: u32 = 1;
/// Room for rare ones in any trace: for one value that its first instruction may have.
const RARE_BITS: u32 = u64::BITS - 1 - super::TRACE_INSTRUCTIONS * INSTRUCTION_BITS - END_BITS;
const _: () = assert!(RARE_BITS >= CYCLES_BITS);

impl TraceTimingLog {
    /// Creates an empty log of a trace with at most `instructions` instructions.
    #[inline(always)]
    pub(super) const fn new(instructions: u32) -> TraceTimingLog {
        TraceTimingLog { bits: 1, left: instructions }
    }

    /// Appends a value of `bits` bits to the log. An instruction may push up to two.
    #[inline(always)]
    pub fn append_bits(&mut self, value: u64, bits: u32) {
        self.bits = self.bits << bits | value;
    }

    /// Returns whether the log has room for an entry of `bits` bits that most instructions do not have, even if the
    /// trace becomes as long as possible.
    #[inline(always)]
    pub fn has_room(self, bits: u32) -> bool {
        self.bits >> TraceTimingLog::max_timing_log_bits_before_entry(bits, self.left) == 0
    }

    /// Returns how many bits a log may have at most so that an entry of `bits` bits, which most instructions do not
    /// have, still fits. `left` instructions may still follow in the trace.
    pub fn max_timing_log_bits_before_entry(bits: u32, left: u32) -> u32 {
        u64::BITS - (bits + INSTRUCTION_BITS * left + END_BITS)
    }

    /// Appends an entry of `bits` bits that most instructions do not have to the log. The log must have room for it
    /// ([`Log::has_room`]).
    #[inline(always)]
    pub fn append_rare_timing_log_entry(&mut self, value: u64, bits: u32) {
        debug_assert!(self.has_room(bits));
        self.append_bits(value, bits);
    }

    /// Returns how many instructions may still follow in the trace, including the current one.
    #[inline(always)]
    pub fn instructions_left_in_trace(self) -> u32 {
        self.left
    }

    /// Returns the whole log as a number, for the key of a cached transition.
    #[inline(always)]
    pub fn timing_log_as_number(self) -> u64 {
        self.bits
    }

    /// Removes the oldest value, of `bits` bits, from the log and returns it.
    pub fn take_oldest_timing_log_value(&mut self, bits: u32) -> u64 {
        let length = self.timing_log_bit_count();
        debug_assert!(length >= bits, "a trace asks for more than was logged");
        let rest = length - bits;
        let value = self.bits >> rest & ((1 << bits) - 1);
        self.bits = self.bits & ((1 << rest) - 1) | 1 << rest;
        value
    }

    /// Returns whether the log has no values left.
    pub fn is_empty(self) -> bool {
        self.timing_log_bit_count() == 0
    }

    /// Returns the number of logged bits.
    pub(super) fn timing_log_bit_count(self) -> u32 {
        self.bits.ilog2()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timing_log_is_read_in_order() {
        let mut log = TraceTimingLog::new(super::super::TRACE_INSTRUCTIONS);
        log.append_bits(3, HOME_BITS);
        log.append_bits(0, PREDICATE_BITS);
        log.append_rare_timing_log_entry(12, CYCLES_BITS);
        assert_eq!(
            [
                log.take_oldest_timing_log_value(HOME_BITS),
                log.take_oldest_timing_log_value(PREDICATE_BITS),
                log.take_oldest_timing_log_value(CYCLES_BITS)
            ],
            [3, 0, 12]
        );
        assert!(log.is_empty());
    }

    #[test]
    fn longest_trace_fits_timing_log() {
        let mut log = TraceTimingLog::new(super::super::TRACE_INSTRUCTIONS);
        let mut rare = 0;
        while log.left != 0 {
            if log.has_room(CYCLES_BITS) {
                log.append_rare_timing_log_entry(1, CYCLES_BITS);
                rare += CYCLES_BITS;
            }
            log.append_bits(1, INSTRUCTION_BITS);
            log.left -= 1;
        }
        log.append_bits(1, END_BITS);
        assert_eq!(log.timing_log_bit_count(), super::super::TRACE_INSTRUCTIONS * INSTRUCTION_BITS + rare + END_BITS);
        assert!(rare != 0 && !log.has_room(CYCLES_BITS));
    }
}
