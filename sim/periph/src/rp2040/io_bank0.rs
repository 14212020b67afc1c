//! User GPIO multiplexer and interrupts (RP2040 data sheet 2.19).
//!
//! Pins are computed 32 at a time from masks that are rebuilt only when a CTRL register changes, because GPIO
//! toggles are the commonest event on a benchmark board. SIO, PWM and PIO drive levels. UART TX idles high (its bits
//! are not drawn on the pin). The other functions leave the pin undriven.

use crate::{Access, Peripheral};

const PIN_COUNT: usize = 30;
const PIN_MASK: u32 = (1 << PIN_COUNT) - 1;
const CTRL_RESET: u32 = 0x1f;
const CTRL_MASK: u32 = 0x3003_331f;
const FUNC_UART: u32 = 2;
const FUNC_PWM: u32 = 4;
const FUNC_SIO: u32 = 5;
const FUNC_PIO0: u32 = 6;
const FUNC_PIO1: u32 = 7;
const IRQ_IO_BANK0: u32 = 13;
/// EDGE_LOW and EDGE_HIGH of each of the eight pins in one INTR register: the latched kinds.
const EDGES: u32 = 0xcccc_cccc;

/// The effect of one peripheral's outputs on each pin, as bit masks.
#[derive(Debug, Clone, Default)]
struct Masks {
    sio: u32,
    uart_tx: u32,
    pwm: u32,
    pio: [u32; 2],
    out_invert: u32,
    out_low: u32,
    out_high: u32,
    oe_invert: u32,
    oe_off: u32,
    oe_on: u32,
    in_invert: u32,
    in_low: u32,
    in_high: u32,
}

/// One interrupt output of the pins: PROC0, PROC1 or the dormant wake.
#[derive(Debug, Clone, Copy, Default)]
struct PinInterruptOutput {
    inte: [u32; 4],
    intf: [u32; 4],
}

/// The multiplexer of the RP2040's GPIO pins (IO_BANK0): functions, overrides and interrupts.
#[derive(Debug, Clone)]
pub struct IoBank0 {
    ctrl: [u32; PIN_COUNT],
    masks: Masks,
    /// Levels from the pads, before INOVER.
    pads: u32,
    /// Levels after INOVER: what the peripherals and the interrupts see.
    inputs: u32,
    /// The levels that the block drives, for STATUS.
    driven: DrivenPinOutputs,
    edges: [u32; 4],
    destinations: [PinInterruptOutput; 3],
    /// False while a destination enables and forces nothing, which is nearly always.
    listening: [bool; 3],
}

/// The outputs of the multiplexer towards the pads: levels and directions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DrivenPinOutputs {
    /// Level each pin would drive.
    pub out: u32,
    /// Pins that drive.
    pub oe: u32,
}

impl Default for IoBank0 {
    /// Returns the GPIO multiplexer (IO_BANK0) in its reset state.
    fn default() -> Self {
        Self {
            ctrl: [CTRL_RESET; PIN_COUNT],
            masks: Masks::default(),
            pads: 0,
            inputs: 0,
            driven: DrivenPinOutputs::default(),
            edges: [0; 4],
            destinations: [PinInterruptOutput::default(); 3],
            listening: [false; 3],
        }
    }
}

/// Returns a word with each pin's bit as the lowest bit of its nibble, for the eight pins from `first`.
const fn spread_pin_bits_to_nibbles(pins: u32, first: u32) -> u32 {
    let word = pins >> first & 0xff;
    let word = (word | word << 12) & 0x000f_000f;
    let word = (word | word << 6) & 0x0303_0303;
    (word | word << 3) & 0x1111_1111
}

impl IoBank0 {
    /// Returns the function selected on `pin` (FUNCSEL; 5 is SIO, 31 none).
    #[must_use]
    pub fn function_selected_on_pin(&self, pin: usize) -> u32 {
        self.ctrl[pin] & 0x1f
    }

    /// Returns whether GPIO `pin` is UART TX in function 2: every fourth pin from 0.
    fn is_uart_transmit_pin(pin: usize) -> bool {
        pin.is_multiple_of(4)
    }

    /// Recomputes the masks of pins by function and overrides, after CTRL changed.
    fn update_pin_masks(&mut self) {
        let mut masks = Masks::default();
        for (pin, &ctrl) in self.ctrl.iter().enumerate() {
            let bit = 1 << pin;
            match ctrl & 0x1f {
                FUNC_SIO => masks.sio |= bit,
                FUNC_PWM => masks.pwm |= bit,
                FUNC_PIO0 => masks.pio[0] |= bit,
                FUNC_PIO1 => masks.pio[1] |= bit,
                FUNC_UART if Self::is_uart_transmit_pin(pin) => masks.uart_tx |= bit,
                _ => {}
            }
            let choose = |field: u32, one: &mut u32, two: &mut u32, three: &mut u32| match field & 3 {
                1 => *one |= bit,
                2 => *two |= bit,
                3 => *three |= bit,
                _ => {}
            };
            choose(ctrl >> 8, &mut masks.out_invert, &mut masks.out_low, &mut masks.out_high);
            choose(ctrl >> 12, &mut masks.oe_invert, &mut masks.oe_off, &mut masks.oe_on);
            choose(ctrl >> 16, &mut masks.in_invert, &mut masks.in_low, &mut masks.in_high);
        }
        self.masks = masks;
    }

    /// Returns the PWM outputs that some pin shows: GPIO 16 to 29 show those of GPIO 0 to 13.
    #[must_use]
    pub fn pwm_outputs_shown_on_pins(&self) -> u32 {
        (self.masks.pwm | self.masks.pwm >> 16) & 0xffff
    }

    /// Returns the levels and directions that the pads get, by their selected functions, from the outputs of SIO, PWM
    /// and both PIOs.
    #[inline]
    pub fn pad_levels_and_directions(
        &mut self,
        sio_out: u32,
        sio_oe: u32,
        pwm: u32,
        [pio0, pio1]: [(u32, u32); 2],
    ) -> DrivenPinOutputs {
        let m = &self.masks;
        let pio_out = pio0.0 & m.pio[0] | pio1.0 & m.pio[1];
        let pio_oe = pio0.1 & m.pio[0] | pio1.1 & m.pio[1];
        let out = (sio_out & m.sio) | m.uart_tx | ((pwm | pwm << 16) & m.pwm) | pio_out;
        let oe = (sio_oe & m.sio) | m.uart_tx | m.pwm | pio_oe;
        self.driven = DrivenPinOutputs {
            out: ((out ^ m.out_invert) & !m.out_low) | m.out_high,
            oe: ((oe ^ m.oe_invert) & !m.oe_off) | m.oe_on,
        };
        self.driven
    }

    /// Sets the pads' input levels, latches edges, and returns the levels after INOVER.
    #[inline]
    pub fn set_pad_levels(&mut self, pads: u32) -> u32 {
        let m = &self.masks;
        let inputs = ((pads ^ m.in_invert) & !m.in_low) | m.in_high;
        self.pads = pads;
        let changed = inputs ^ self.inputs;
        if changed != 0 {
            let (rose, fell) = (changed & inputs, changed & !inputs);
            self.inputs = inputs;
            for group in 0..4 {
                let first = 8 * group as u32;
                if changed >> first & 0xff != 0 {
                    self.edges[group] |=
                        spread_pin_bits_to_nibbles(fell, first) << 2 | spread_pin_bits_to_nibbles(rose, first) << 3;
                }
            }
        }
        inputs
    }

    /// Returns the level interrupts that hold now for eight pins, in the layout of INTR.
    fn level_interrupts_of_pins(&self, group: usize) -> u32 {
        let first = 8 * group as u32;
        // GPIO 30 and 31 do not exist: no LEVEL_LOW from them.
        spread_pin_bits_to_nibbles(!self.inputs & PIN_MASK, first) | spread_pin_bits_to_nibbles(self.inputs, first) << 1
    }

    /// Returns the interrupts of a destination for eight pins: edges and levels after enable and force (INTS).
    fn interrupt_status_register(&self, destination: usize, group: usize) -> u32 {
        let d = &self.destinations[destination];
        ((self.edges[group] | self.level_interrupts_of_pins(group)) & d.inte[group]) | d.intf[group]
    }

    /// Returns the interrupt levels for `core`: line 13 by that core's enables.
    #[inline]
    #[must_use]
    pub fn irq_levels_of_core(&self, core: usize) -> u32 {
        if !self.listening[core] {
            return 0;
        }
        u32::from((0..4).any(|group| self.interrupt_status_register(core, group) != 0)) << IRQ_IO_BANK0
    }

    /// Returns the value of a pin's STATUS.
    fn status_register(&self, pin: usize) -> u32 {
        let bit = |word: u32| word >> pin & 1;
        bit(self.driven.out) << 9 | bit(self.driven.oe) << 13 | bit(self.pads) << 17 | bit(self.inputs) << 19
    }
}

impl Peripheral for IoBank0 {
    const NAME: &'static str = "IO_BANK0";

    /// Puts the registers of the GPIO multiplexer (IO_BANK0) to their reset values. The levels of the pads stay.
    fn reset_registers(&mut self) {
        let pads = self.pads;
        *self = Self::default();
        self.inputs = pads;
        self.pads = pads;
    }

    /// Reads a register of the GPIO multiplexer (IO_BANK0) at a byte offset. `access` holds the time in cycles and the
    /// requesting core.
    fn read_register(&mut self, offset: u32, access: &mut Access) -> u32 {
        if offset > 0x18c {
            access.effects.unmodelled = Some((offset, false));
        }
        self.peek_register(offset, access)
    }

    /// Writes a register of the GPIO multiplexer (IO_BANK0) at a byte offset. `access` holds the time in cycles and
    /// takes requests to the machine.
    fn write_register(&mut self, offset: u32, value: u32, access: &mut Access) {
        let index = (offset / 4) as usize;
        match offset {
            0x00..=0xec if offset & 4 != 0 => {
                self.ctrl[index / 2] = value & CTRL_MASK;
                self.update_pin_masks();
                access.effects.pins_changed = true;
            }
            0x00..=0xec => {}
            0xf0..=0xfc => self.edges[index - 0x3c] &= !(value & EDGES),
            0x100..=0x18c => {
                let (destination, register) = ((index - 0x40) / 12, (index - 0x40) % 12);
                match register / 4 {
                    0 => self.destinations[destination].inte[register % 4] = value,
                    1 => self.destinations[destination].intf[register % 4] = value,
                    _ => {}
                }
                let d = &self.destinations[destination];
                self.listening[destination] = d.inte.iter().chain(&d.intf).any(|&word| word != 0);
            }
            _ => access.effects.unmodelled = Some((offset, true)),
        }
    }

    /// Returns the value of a register of the GPIO multiplexer (IO_BANK0) at a byte offset, without the side effects of
    /// a read.
    fn peek_register(&self, offset: u32, _access: &Access) -> u32 {
        let index = (offset / 4) as usize;
        match offset {
            0x00..=0xec if offset & 4 != 0 => self.ctrl[index / 2],
            0x00..=0xec => self.status_register(index / 2),
            0xf0..=0xfc => self.edges[index - 0x3c] | self.level_interrupts_of_pins(index - 0x3c),
            0x100..=0x18c => {
                let (destination, register) = ((index - 0x40) / 12, (index - 0x40) % 12);
                match register / 4 {
                    0 => self.destinations[destination].inte[register % 4],
                    1 => self.destinations[destination].intf[register % 4],
                    _ => self.interrupt_status_register(destination, register % 4),
                }
            }
            _ => 0,
        }
    }

    /// Returns whether a write through an atomic alias (XOR, SET, CLR) reaches the register at this offset unchanged.
    /// This holds for INTR0 to INTR3 only.
    fn is_strobe(&self, offset: u32) -> bool {
        (0xf0..=0xfc).contains(&offset)
    }

    /// Returns the interrupt levels of both cores together. The aggregate uses [`IoBank0::irq_levels_of_core`].
    fn irq_levels(&self) -> u32 {
        self.irq_levels_of_core(0) | self.irq_levels_of_core(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rp2040::testing::Bench;

    const NO_PIO: [(u32, u32); 2] = [(0, 0); 2];

    #[test]
    fn only_the_sio_function_passes_sio_levels() {
        let mut bench = Bench::new();
        let mut io = IoBank0::default();
        assert_eq!(io.read_register(25 * 8 + 4, &mut bench.access()), 0x1f);
        assert_eq!(io.pad_levels_and_directions(1 << 25, 1 << 25, 0, NO_PIO), DrivenPinOutputs::default());
        io.write_register(25 * 8 + 4, FUNC_SIO, &mut bench.access());
        assert!(bench.effects.pins_changed);
        assert_eq!(
            io.pad_levels_and_directions(1 << 25 | 1, 1 << 25 | 1, 0, NO_PIO),
            DrivenPinOutputs { out: 1 << 25, oe: 1 << 25 }
        );
        assert_eq!(io.read_register(25 * 8, &mut bench.access()), 1 << 9 | 1 << 13);
    }

    #[test]
    fn uart_tx_idles_high_and_rx_is_not_driven() {
        let mut bench = Bench::new();
        let mut io = IoBank0::default();
        for pin in 0..2 {
            io.write_register(pin * 8 + 4, FUNC_UART, &mut bench.access());
        }
        assert_eq!(io.pad_levels_and_directions(0, 0, 0, NO_PIO), DrivenPinOutputs { out: 1, oe: 1 });
    }

    #[test]
    fn overrides_of_output_enable_and_input() {
        let mut bench = Bench::new();
        let mut io = IoBank0::default();
        for (pin, field) in [(0, 1 << 8), (1, 2 << 8), (2, 3 << 8), (3, 1 << 12), (4, 2 << 12), (5, 3 << 12)] {
            io.write_register(pin * 8 + 4, FUNC_SIO | field, &mut bench.access());
        }
        assert_eq!(
            io.pad_levels_and_directions(0b000111, 0b010111, 0, NO_PIO),
            DrivenPinOutputs { out: 0b000110 & !0b10, oe: 0b101111 }
        );
        for (pin, field) in [(0, 1 << 16), (1, 2 << 16), (2, 3 << 16)] {
            io.write_register(pin * 8 + 4, field, &mut bench.access());
        }
        assert_eq!(io.set_pad_levels(0b011), 0b100);
    }

    #[test]
    fn edges_latch_levels_do_not_and_each_core_has_its_enables() {
        let mut bench = Bench::new();
        let mut io = IoBank0::default();
        // GPIO 9: EDGE_HIGH for core 0, LEVEL_HIGH for core 1.
        io.write_register(0x104, 8 << 4, &mut bench.access());
        io.write_register(0x134, 2 << 4, &mut bench.access());
        io.set_pad_levels(1 << 9);
        assert_eq!((io.irq_levels_of_core(0), io.irq_levels_of_core(1)), (1 << 13, 1 << 13));
        io.set_pad_levels(0);
        assert_eq!((io.irq_levels_of_core(0), io.irq_levels_of_core(1)), (1 << 13, 0));
        assert_eq!(io.read_register(0xf4, &mut bench.access()), 0x1111_1111 | 0xc << 4);
        io.write_register(0xf4, 8 << 4, &mut bench.access());
        assert_eq!(io.irq_levels_of_core(0), 0);
        assert_eq!(io.read_register(0xf4, &mut bench.access()) >> 4 & 15, 5);
    }

    #[test]
    fn forced_interrupt_reaches_its_core() {
        let mut bench = Bench::new();
        let mut io = IoBank0::default();
        assert_eq!(io.read_register(0xfc, &mut bench.access()), 0x0011_1111);
        io.write_register(0x140, 1, &mut bench.access());
        assert_eq!((io.irq_levels_of_core(0), io.irq_levels_of_core(1)), (0, 1 << 13));
        assert_eq!(io.read_register(0x150, &mut bench.access()), 1);
    }

    #[test]
    fn interrupt_status_takes_raw_alias_writes() {
        let io = IoBank0::default();
        let strobes: Vec<u32> = (0..0x190).step_by(4).filter(|&offset| io.is_strobe(offset)).collect();
        assert_eq!(strobes, [0xf0, 0xf4, 0xf8, 0xfc]);
    }
}
