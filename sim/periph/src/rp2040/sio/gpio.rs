//! GPIO output and output-enable registers (data sheet 2.3.1.2).

/// One bank of pins in the SIO: OUT and OE with their SET, CLR and XOR views, and the inputs.
#[derive(Debug, Clone)]
pub struct GpioBank {
    mask: u32,
    out: u32,
    oe: u32,
    input: u32,
}

impl GpioBank {
    /// Creates a bank with these pins.
    pub(super) const fn new(mask: u32) -> Self {
        Self { mask, out: 0, oe: 0, input: 0 }
    }

    /// Returns the output levels of the bank's pins (GPIO_OUT), one bit a pin.
    #[inline]
    #[must_use]
    pub const fn output_levels(&self) -> u32 {
        self.out
    }

    /// Returns the output enables of the bank's pins (GPIO_OE), one bit a pin.
    #[inline]
    #[must_use]
    pub const fn output_enables(&self) -> u32 {
        self.oe
    }

    /// Returns the input levels of the bank's pins as GPIO_IN shows them, one bit a pin.
    #[inline]
    #[must_use]
    pub const fn input_levels(&self) -> u32 {
        self.input
    }

    /// Sets the input levels that GPIO_IN shows. The two-flop synchroniser is not modelled: a level shows at once.
    #[inline]
    pub fn set_input_levels(&mut self, levels: u32) {
        self.input = levels & self.mask;
    }

    /// Reads an output or output-enable register.
    #[inline]
    pub(super) const fn read_register(&self, offset: u32) -> u32 {
        match offset {
            0x00 => self.out,
            0x10 => self.oe,
            _ => 0,
        }
    }

    /// Writes an output or output-enable register. Returns true if a level or enable changed.
    #[inline]
    pub(super) fn write_register(&mut self, offset: u32, value: u32) -> bool {
        let register = if offset & 0x10 == 0 { &mut self.out } else { &mut self.oe };
        let before = *register;
        let after = match offset & 0xc {
            0x0 => value,
            0x4 => before | value,
            0x8 => before & !value,
            _ => before ^ value,
        };
        *register = after & self.mask;
        *register != before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn set_clear_xor_of_both_registers() {
        let mut bank = GpioBank::new(0x3fff_ffff);
        for base in [0x00, 0x10] {
            assert!(bank.write_register(base, u32::MAX));
            assert_eq!(bank.read_register(base), 0x3fff_ffff);
            bank.write_register(base + 8, 0xff);
            assert_eq!(bank.read_register(base), 0x3fff_ff00);
            bank.write_register(base + 4, 0x11);
            assert_eq!(bank.read_register(base), 0x3fff_ff11);
            bank.write_register(base + 12, 0x1f);
            assert_eq!(bank.read_register(base), 0x3fff_ff0e);
            assert!(!bank.write_register(base + 4, 0x2));
        }
        assert_eq!((bank.output_levels(), bank.output_enables()), (0x3fff_ff0e, 0x3fff_ff0e));
    }
}
