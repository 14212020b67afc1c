//! GPIO ports, both register layouts: F1 (RM0008 chapter 9) and the later one (RM0090 chapter 8 and its like).
//!
//! Levels are digital and settle at once. The two AHB cycles of the input synchroniser are not modelled. A pin handed
//! to another block (alternate function) is an input here, unless a timer drives it. A pin that nobody drives or pulls
//! reads 0.

use super::block::{Access, Block};

/// The register layout of a GPIO port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GpioLayout {
    /// CRL and CRH.
    F1,
    /// MODER and its companions, without BRR (F4).
    V2,
    /// The same with BRR at 0x28 (L0, F7). The H7 manual has no BRR.
    V2Brr,
}

/// The reset values of a port: (MODER, OSPEEDR, PUPDR). The debug pins of ports A and B start as alternate functions.
pub(super) type GpioReset = (u32, u32, u32);

/// One GPIO port of 16 pins.
#[derive(Debug, Clone)]
pub struct Gpio {
    port: u8,
    layout: GpioLayout,
    start: GpioReset,
    /// MODER, OTYPER, OSPEEDR, PUPDR, AFRL, AFRH. F1: CRL, CRH in the first two.
    mode: u32,
    kind: u32,
    speed: u32,
    pull: u32,
    alternate: [u32; 2],
    odr: u16,
    lckr: u32,
    lock_step: u8,
    /// The mode registers' levels, per pin.
    output: u16,
    open_drain: u16,
    pull_up: u16,
    analog: u16,
    /// Pins in an alternate function. F1: in one that may drive them.
    function: u16,
    /// Pins or their alternate functions have changed since the last [`Gpio::take_pins_rerouted_flag`].
    rerouted: bool,
    /// The pins that another block drives, and their levels.
    function_driven: u16,
    function_levels: u16,
    /// The pins that resistors of the board hold, and at which levels.
    rest: (u16, u16),
    /// The levels that the outside world drives, or holds by a resistor, which is stronger than the chip's pulls.
    outside_driven: u16,
    outside: u16,
    levels: u16,
}

/// LCKK.
const LOCK_KEY: u32 = 1 << 16;

impl Gpio {
    /// Returns a GPIO port in its reset state. `port` is its number, with 0 for port A.
    pub(super) fn new(port: u8, layout: GpioLayout, start: GpioReset) -> Self {
        let mut gpio = Self {
            port,
            layout,
            start,
            mode: 0,
            kind: 0,
            speed: 0,
            pull: 0,
            alternate: [0; 2],
            odr: 0,
            lckr: 0,
            lock_step: 0,
            output: 0,
            open_drain: 0,
            pull_up: 0,
            analog: 0,
            function: 0,
            rerouted: false,
            function_driven: 0,
            function_levels: 0,
            rest: (0, 0),
            outside_driven: 0,
            outside: 0,
            levels: 0,
        };
        gpio.reset_registers();
        gpio.levels = gpio.pin_levels();
        gpio
    }

    /// Returns the levels at the port's pins.
    #[must_use]
    pub fn levels(&self) -> u16 {
        self.levels
    }

    /// Returns the pins in general-purpose output mode.
    #[must_use]
    pub fn output_enabled_pins(&self) -> u16 {
        self.output
    }

    /// Drives pins from outside the chip. It takes effect with the next [`Gpio::update_gpio_pin_levels`].
    pub(super) fn drive_pins(&mut self, driven: u16, levels: u16) {
        let (held, rest) = self.rest;
        (self.outside_driven, self.outside) = (driven | held, levels & driven | rest & !driven);
    }

    /// Makes a resistor of the board hold a pin at a level while nothing drives it.
    pub(super) fn hold_pin_by_resistor(&mut self, pin: u8, level: bool) {
        self.rest.0 |= 1 << pin;
        self.rest.1 |= u16::from(level) << pin;
        self.drive_pin(pin, level);
    }

    /// Drives one pin from outside and leaves the others as they are.
    pub(super) fn drive_pin(&mut self, pin: u8, level: bool) {
        self.outside_driven |= 1 << pin;
        self.outside = self.outside & !(1 << pin) | u16::from(level) << pin;
    }

    /// Updates the levels of the pins, and returns the pins that changed.
    #[inline]
    pub(super) fn update_gpio_pin_levels(&mut self) -> u16 {
        let before = self.levels;
        self.levels = self.pin_levels();
        before ^ self.levels
    }

    /// Returns the level of every pin: a push-pull output wins, then an open-drain 0, then the outside, then the
    /// pull-up.
    #[inline]
    fn pin_levels(&self) -> u16 {
        let driven = self.output | self.function_driven;
        let data = self.output & self.odr | self.function_levels;
        let strong = driven & !self.open_drain;
        let weak = self.outside_driven & self.outside | !self.outside_driven & self.pull_up;
        let held_low = driven & self.open_drain & !data;
        strong & data | !strong & weak & !held_low
    }

    /// Returns the alternate function that may drive a pin. F1: 0 for a pin in any. `None` for other pins.
    pub(super) fn pin_output_function(&self, pin: u8) -> Option<u8> {
        let in_function = self.function >> pin & 1 != 0;
        let number = self.alternate[usize::from(pin / 8)] >> (pin % 8 * 4) & 0xf;
        in_function.then_some(number as u8)
    }

    /// Returns the alternate function whose block reads a pin. F1: 0 for every pin that is not analog. `None` for other
    /// pins.
    pub(super) fn pin_input_function(&self, pin: u8) -> Option<u8> {
        match self.layout {
            GpioLayout::F1 => (self.analog >> pin & 1 == 0).then_some(0),
            _ => self.pin_output_function(pin),
        }
    }

    /// Returns whether pins or their alternate functions have changed since the last call.
    #[inline]
    pub(super) fn take_pins_rerouted_flag(&mut self) -> bool {
        std::mem::take(&mut self.rerouted)
    }

    /// Sets the pins that other blocks drive, and their levels. It takes effect with the next
    /// [`Gpio::update_gpio_pin_levels`].
    pub(super) fn set_pins_driven_by_blocks(&mut self, driven: u16, levels: u16) {
        (self.function_driven, self.function_levels) = (driven, levels & driven);
    }

    /// Returns the pins that another block drives, and their levels.
    pub(super) fn pins_driven_by_blocks(&self) -> (u16, u16) {
        (self.function_driven, self.function_levels)
    }

    /// Recomputes the per-pin masks from the mode registers.
    fn update_pin_masks(&mut self) {
        let before = (self.function, self.analog);
        (self.output, self.open_drain, self.pull_up, self.analog, self.function) = (0, 0, 0, 0, 0);
        for pin in 0..16 {
            let (output, open_drain, pull_up, analog, function) = match self.layout {
                GpioLayout::F1 => {
                    let word = if pin < 8 { self.mode } else { self.kind };
                    let bits = word >> (pin % 8 * 4) & 0xf;
                    let output = bits & 3 != 0 && bits & 8 == 0;
                    let pull_up = bits == 8 && self.odr >> pin & 1 != 0;
                    (output, bits & 4 != 0, pull_up, bits == 0, bits & 3 != 0 && bits & 8 != 0)
                }
                _ => {
                    let mode = self.mode >> (pin * 2) & 3;
                    let open_drain = self.kind >> pin & 1 != 0;
                    (mode == 1, open_drain, self.pull >> (pin * 2) & 3 == 1, mode == 3, mode == 2)
                }
            };
            self.output |= u16::from(output) << pin;
            self.open_drain |= u16::from(open_drain) << pin;
            self.pull_up |= u16::from(pull_up) << pin;
            self.analog |= u16::from(analog) << pin;
            self.function |= u16::from(function) << pin;
        }
        self.rerouted |= before != (self.function, self.analog);
    }

    /// Writes ODR.
    #[inline]
    fn write_output_data_register(&mut self, value: u16) {
        self.odr = value;
        // F1: the output register selects between pull-up and pull-down.
        if self.layout == GpioLayout::F1 {
            self.update_pin_masks();
        }
    }

    /// Writes BSRR, which sets and resets bits of ODR. Set wins over reset.
    fn write_set_reset_register(&mut self, value: u32) {
        self.write_output_data_register(self.odr & !((value >> 16) as u16) | value as u16);
    }

    /// Writes LCKR. Its key sequence (1, 0, 1 with the same pins) locks pins until a reset.
    fn write_lock_register(&mut self, value: u32) {
        if self.lckr & LOCK_KEY != 0 {
            return;
        }
        let (key, same) = (value & LOCK_KEY != 0, value & 0xffff == self.lckr);
        self.lock_step = match (self.lock_step, key) {
            (1, false) if same => 2,
            (2, true) if same => 3,
            (_, true) => 1,
            _ => 0,
        };
        self.lckr = value & 0xffff;
        if self.lock_step == 3 {
            self.lckr |= LOCK_KEY;
        }
    }

    /// Returns the bits of a mode register that the lock protects, with `width` bits for each pin from pin `first` on.
    fn bits_protected_by_gpio_lock(&self, width: u32, first: u32) -> u32 {
        if self.lckr & LOCK_KEY == 0 {
            return 0;
        }
        let count = (32 / width).min(16);
        let pins = (0..count).filter(|pin| self.lckr >> (first + pin) & 1 != 0);
        pins.fold(0, |all, pin| all | ((1 << width) - 1) << (pin * width))
    }

    /// Returns `value`, except in the locked bits, which keep `old`.
    fn keep_locked_bits(old: u32, value: u32, locked: u32) -> u32 {
        old & locked | value & !locked
    }

    /// Writes a register of the F1's layout.
    fn write_f1_gpio_register(&mut self, offset: u32, value: u32) {
        match offset {
            0x00 => self.mode = Self::keep_locked_bits(self.mode, value, self.bits_protected_by_gpio_lock(4, 0)),
            0x04 => self.kind = Self::keep_locked_bits(self.kind, value, self.bits_protected_by_gpio_lock(4, 8)),
            0x0c => self.write_output_data_register(value as u16),
            0x10 => self.write_set_reset_register(value),
            0x14 => self.write_output_data_register(self.odr & !(value as u16)),
            0x18 => self.write_lock_register(value),
            _ => {}
        }
        if offset < 8 {
            self.update_pin_masks();
        }
    }

    /// Writes a register of the later layout.
    fn write_v2_register(&mut self, offset: u32, value: u32) {
        match offset {
            0x00 => self.mode = Self::keep_locked_bits(self.mode, value, self.bits_protected_by_gpio_lock(2, 0)),
            0x04 => {
                self.kind = Self::keep_locked_bits(self.kind, value & 0xffff, self.bits_protected_by_gpio_lock(1, 0))
            }
            0x08 => self.speed = Self::keep_locked_bits(self.speed, value, self.bits_protected_by_gpio_lock(2, 0)),
            0x0c => self.pull = Self::keep_locked_bits(self.pull, value, self.bits_protected_by_gpio_lock(2, 0)),
            0x14 => self.write_output_data_register(value as u16),
            0x18 => self.write_set_reset_register(value),
            0x1c => self.write_lock_register(value),
            0x20 => {
                self.alternate[0] =
                    Self::keep_locked_bits(self.alternate[0], value, self.bits_protected_by_gpio_lock(4, 0))
            }
            0x24 => {
                self.alternate[1] =
                    Self::keep_locked_bits(self.alternate[1], value, self.bits_protected_by_gpio_lock(4, 8))
            }
            0x28 if self.layout == GpioLayout::V2Brr => self.write_output_data_register(self.odr & !(value as u16)),
            _ => {}
        }
        if offset < 0x10 {
            self.update_pin_masks();
        }
        self.rerouted |= matches!(offset, 0x20 | 0x24);
    }

    /// Returns the input data register. An analog pin reads 0.
    fn input_data_register(&self) -> u32 {
        u32::from(self.levels & !self.analog)
    }

    /// Returns the number of the port. Port 0 is A.
    #[must_use]
    pub fn port_number(&self) -> u8 {
        self.port
    }
}

impl Block for Gpio {
    /// Puts the registers of the GPIO port to their reset values.
    fn reset_registers(&mut self) {
        (self.mode, self.speed, self.pull) = self.start;
        (self.kind, self.alternate, self.odr, self.lckr, self.lock_step) = (0, [0; 2], 0, 0, 0);
        if self.layout == GpioLayout::F1 {
            (self.mode, self.kind) = (0x4444_4444, 0x4444_4444);
        }
        self.update_pin_masks();
    }

    /// Reads a register of the GPIO port at a byte offset. `access` holds the time in core cycles and the number of
    /// bytes.
    fn read_register(&mut self, offset: u32, access: &mut Access) -> u32 {
        self.peek_register(offset, access)
    }

    /// Writes a register of the GPIO port at a byte offset. `access` holds the time in core cycles and takes requests
    /// to the machine.
    #[inline]
    fn write_register(&mut self, offset: u32, value: u32, _access: &mut Access) {
        match self.layout {
            GpioLayout::F1 => self.write_f1_gpio_register(offset, value),
            _ => self.write_v2_register(offset, value),
        }
    }

    /// Returns the value of a register of the GPIO port at a byte offset, without the side effects of a read.
    fn peek_register(&self, offset: u32, _access: &Access) -> u32 {
        let odr = u32::from(self.odr);
        match (self.layout, offset) {
            (_, 0x00) => self.mode,
            (_, 0x04) => self.kind,
            (GpioLayout::F1, 0x08) => self.input_data_register(),
            (GpioLayout::F1, 0x0c) => odr,
            (GpioLayout::F1, 0x18) => self.lckr,
            (GpioLayout::F1, _) => 0,
            (_, 0x08) => self.speed,
            (_, 0x0c) => self.pull,
            (_, 0x10) => self.input_data_register(),
            (_, 0x14) => odr,
            (_, 0x1c) => self.lckr,
            (_, 0x20) => self.alternate[0],
            (_, 0x24) => self.alternate[1],
            _ => 0,
        }
    }

    /// Returns whether a narrow write fills the other bytes of this register with 0, because 0 bits have no effect
    /// there. This holds for BSRR and BRR only.
    fn is_strobe(&self, offset: u32) -> bool {
        match self.layout {
            GpioLayout::F1 => matches!(offset, 0x10 | 0x14),
            _ => matches!(offset, 0x18 | 0x28),
        }
    }
}

#[cfg(test)]
mod tests;
