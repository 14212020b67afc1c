//! What of a trace its timing depends on and its first instruction does not tell.

/// Bits in order of execution: which memory answered, which conditions failed, cycles that depend on operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Log {
    bits: u64,
    length: u32,
    /// Bits of [`Log::push_rare`] among them.
    rare: u32,
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
const INSTRUCTION_BITS: u32 = HOME_BITS + PREDICATE_BITS;
/// Room for rare ones. (A load of the PC, with which a trace ends, may log a bit more than others.)
const RARE_BITS: u32 = u64::BITS - super::TRACE_INSTRUCTIONS * INSTRUCTION_BITS - 1;

impl Log {
    /// Appends a value of `bits` bits; an instruction may push up to three.
    #[inline(always)]
    pub fn push(&mut self, value: u64, bits: u32) {
        self.bits |= value << self.length;
        self.length += bits;
    }

    /// True if `bits` rare bits fit, and whatever the longest trace logs besides.
    #[inline(always)]
    pub fn has_room(self, bits: u32) -> bool {
        self.rare + bits <= RARE_BITS
    }

    /// Appends a value that most instructions do not have; it must fit.
    #[inline(always)]
    pub fn push_rare(&mut self, value: u64, bits: u32) {
        debug_assert!(self.has_room(bits));
        self.push(value, bits);
        self.rare += bits;
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
        log.push_rare(12, CYCLES_BITS);
        assert_eq!([log.take(HOME_BITS), log.take(PREDICATE_BITS), log.take(CYCLES_BITS)], [3, 0, 12]);
        assert!(log.is_empty());
    }

    #[test]
    fn the_longest_trace_fits() {
        let mut log = Log::default();
        for _ in 0..super::super::TRACE_INSTRUCTIONS {
            if log.has_room(CYCLES_BITS) {
                log.push_rare(1, CYCLES_BITS);
            }
            log.push(1, INSTRUCTION_BITS);
        }
        assert!(log.length <= u64::BITS && !log.has_room(CYCLES_BITS));
    }
}
