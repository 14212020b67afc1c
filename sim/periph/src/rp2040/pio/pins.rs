//! The pins that a state machine writes in a cycle (RP2040 data sheet 3.5.6).

/// A write of levels and directions of some pins by a state machine.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct PinWrite {
    levels: Field,
    directions: Field,
}

/// New values for some of 32 bits, those in the mask.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Field {
    mask: u32,
    value: u32,
}

impl Field {
    /// Overrides this field's values by those of another field.
    fn override_by(&mut self, other: Field) {
        self.value = self.value & !other.mask | other.value;
        self.mask |= other.mask;
    }

    /// Returns the word with the field's values in the bits of its mask.
    fn applied_to(self, word: u32) -> u32 {
        word & !self.mask | self.value
    }
}

/// `count` consecutive pins from `base` on. Pin 0 comes after pin 31.
#[derive(Debug, Clone, Copy)]
pub(super) struct PinRange {
    pub base: u32,
    pub count: u32,
}

/// Returns a mask of the lowest `count` bits.
pub(super) fn low_bits_mask(count: u32) -> u32 {
    u32::MAX.checked_shr(32 - count).unwrap_or(0)
}

impl PinWrite {
    /// No pin.
    pub const NOTHING: Self = Self { levels: Field { mask: 0, value: 0 }, directions: Field { mask: 0, value: 0 } };

    /// Creates a write of the lowest bits of `value` to the levels of these pins, or to their directions.
    pub fn new(range: PinRange, value: u32, directions: bool) -> Self {
        let mask = low_bits_mask(range.count);
        let field = Field { mask: mask.rotate_left(range.base), value: (value & mask).rotate_left(range.base) };
        if directions {
            Self { directions: field, ..Self::default() }
        } else {
            Self { levels: field, ..Self::default() }
        }
    }

    /// Overrides this write by another one where both write the same pins.
    pub fn override_by(&mut self, other: Self) {
        self.levels.override_by(other.levels);
        self.directions.override_by(other.directions);
    }

    /// Returns the levels and directions of all pins after this write.
    pub fn applied_to(&self, (levels, directions): (u32, u32)) -> (u32, u32) {
        (self.levels.applied_to(levels), self.directions.applied_to(directions))
    }
}
