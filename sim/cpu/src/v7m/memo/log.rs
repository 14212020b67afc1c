//! What of a trace its timing depends on and its first instruction does not tell.

/// Bits in order of execution: which memory answered, which conditions failed, cycles that depend on operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Log {
    bits: u64,
    length: u32,
}

/// Bits of an access: one of [`super::Home`].
pub(super) const HOME_BITS: u32 = 2;
/// Bits of the verdict on a conditional branch.
pub(super) const BRANCH_BITS: u32 = 1;
/// Bits of the verdict on a predicated instruction.
pub(super) const PREDICATE_BITS: u32 = 1;
/// Bits of cycles that depend on operands.
pub(super) const CYCLES_BITS: u32 = 4;

impl Log {
    /// Appends a value of `bits` bits.
    #[inline(always)]
    pub fn push(&mut self, value: u64, bits: u32) {
        self.bits |= value << self.length;
        self.length += bits;
    }

    /// True if cycles fit, and whatever the rest of the longest trace logs behind them.
    #[inline(always)]
    pub fn has_room_for_cycles(self) -> bool {
        self.length + CYCLES_BITS + super::TRACE_INSTRUCTIONS * (HOME_BITS + PREDICATE_BITS) <= u64::BITS
    }

    /// All of it, as a key.
    #[inline(always)]
    pub fn bits(self) -> u64 {
        self.bits
    }

    /// Takes the oldest value out.
    pub fn take(&mut self, bits: u32) -> u64 {
        debug_assert!(self.length >= bits, "a trace asks for more than was logged");
        let value = self.bits & ((1 << bits) - 1);
        self.bits >>= bits;
        self.length -= bits;
        value
    }

    /// True if everything was taken out.
    pub fn is_empty(self) -> bool {
        self.length == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_out_in_order() {
        let mut log = Log::default();
        log.push(3, HOME_BITS);
        log.push(0, PREDICATE_BITS);
        log.push(12, CYCLES_BITS);
        assert_eq!([log.take(HOME_BITS), log.take(PREDICATE_BITS), log.take(CYCLES_BITS)], [3, 0, 12]);
        assert!(log.is_empty());
    }

    #[test]
    fn the_longest_trace_fits() {
        let mut log = Log::default();
        for _ in 0..super::super::TRACE_INSTRUCTIONS {
            if log.has_room_for_cycles() {
                log.push(1, CYCLES_BITS);
                log.push(1, PREDICATE_BITS);
            } else {
                log.push(1, HOME_BITS);
                log.push(1, PREDICATE_BITS);
            }
        }
        assert!(log.length <= u64::BITS);
    }
}
