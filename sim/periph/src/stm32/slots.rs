//! A placed block: where it is, whether it is clocked, what it wants next.

use super::chips::{Device, Row};

/// The model of a block, by its kind and its index among the blocks of this kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Rcc,
    Flash,
    Pwr,
    Syscfg,
    Exti,
    Gpio(u8),
    Usart(u8),
    Timer(u8),
    Spi(u8),
    SpiH7(u8),
    Adc(u8),
    AdcV4(u8),
    I2cV1(u8),
    I2cV2(u8),
    File(u8),
    Crc,
    Dma(u8),
    DmaMux,
    Rng,
    Iwdg,
    Wwdg,
    Rtc,
    RtcF1,
}

/// A block of the chip: its row in the table, its model, and the state of its clock and interrupts.
#[derive(Debug, Clone)]
pub(super) struct PeripheralBlockSlot {
    pub row: &'static Row,
    pub place: Place,
    /// Clocked and not in reset.
    pub open: bool,
    /// Held in reset by RCC.
    pub in_reset: bool,
    /// Clock it runs from.
    pub clock_hz: u64,
    /// Interrupt outputs as last seen.
    pub outputs: u32,
    /// Whether it is in the backup domain: it survives system resets, and PWR locks it.
    pub backup: bool,
    /// The user has been told: (that it is not modelled, that its clock is off).
    pub told: (bool, bool),
}

impl PeripheralBlockSlot {
    /// Returns the state of a block after reset: `row` describes it in the chip's table, `place` is its model.
    pub fn new(row: &'static Row, place: Place) -> Self {
        let open = row.gate.is_none();
        let backup = matches!(row.device, Device::Rtc | Device::RtcF1 | Device::Backup);
        Self { row, place, open, backup, in_reset: false, clock_hz: 0, outputs: 0, told: (false, false) }
    }
}

/// Evaluates `$body` with `$block` bound to the block at `$place`.
macro_rules! with_block {
    ($chip:ident, $place:expr, $block:ident => $body:expr) => {
        match $place {
            Place::Rcc => with_block!(@ &mut $chip.rcc, $block, $body),
            Place::Flash => with_block!(@ &mut $chip.flash, $block, $body),
            Place::Pwr => with_block!(@ &mut $chip.pwr, $block, $body),
            Place::Syscfg => with_block!(@ &mut $chip.syscfg, $block, $body),
            Place::Exti => with_block!(@ &mut $chip.exti, $block, $body),
            Place::Gpio(n) => with_block!(@ &mut $chip.gpios[usize::from(n)], $block, $body),
            Place::Usart(n) => with_block!(@ &mut $chip.usarts[usize::from(n)], $block, $body),
            Place::Timer(n) => with_block!(@ &mut $chip.timers[usize::from(n)], $block, $body),
            Place::Spi(n) => with_block!(@ &mut $chip.spis[usize::from(n)], $block, $body),
            Place::SpiH7(n) => with_block!(@ &mut $chip.spis_h7[usize::from(n)], $block, $body),
            Place::Adc(n) => with_block!(@ &mut $chip.adcs[usize::from(n)], $block, $body),
            Place::AdcV4(n) => with_block!(@ &mut $chip.adcs_v4[usize::from(n)], $block, $body),
            Place::I2cV1(n) => with_block!(@ &mut $chip.i2cs_v1[usize::from(n)], $block, $body),
            Place::I2cV2(n) => with_block!(@ &mut $chip.i2cs_v2[usize::from(n)], $block, $body),
            Place::File(n) => with_block!(@ &mut $chip.files[usize::from(n)], $block, $body),
            Place::Crc => with_block!(@ &mut $chip.crc, $block, $body),
            Place::Dma(n) => with_block!(@ &mut $chip.dmas[usize::from(n)], $block, $body),
            Place::DmaMux => with_block!(@ &mut $chip.dma_mux, $block, $body),
            Place::Rng => with_block!(@ &mut $chip.rng, $block, $body),
            Place::Iwdg => with_block!(@ &mut $chip.iwdg, $block, $body),
            Place::Wwdg => with_block!(@ &mut $chip.wwdg, $block, $body),
            Place::Rtc => with_block!(@ &mut $chip.rtc, $block, $body),
            Place::RtcF1 => with_block!(@ &mut $chip.rtc_f1, $block, $body),
        }
    };
    (@ $field:expr, $block:ident, $body:expr) => {{
        let $block = $field;
        $body
    }};
}

pub(super) use with_block;

/// The levels of the NVIC lines, with the number of interrupt outputs that drive each, because blocks share lines.
#[derive(Debug, Clone)]
pub(super) struct Lines {
    levels: [u32; 5],
    drivers: [u8; 160],
}

impl Lines {
    /// Returns the interrupt lines, all low.
    pub fn new() -> Self {
        Self { levels: [0; 5], drivers: [0; 160] }
    }

    /// Returns the level of each NVIC line, 32 to a word.
    pub fn irq_line_levels(&self) -> &[u32; 5] {
        &self.levels
    }

    /// Updates the NVIC lines that a block's interrupt outputs drive: they went from `before` to `after`.
    pub fn update_interrupt_outputs(&mut self, irqs: &[(u32, u8)], before: u32, after: u32) {
        for &(mask, line) in irqs {
            let (was, is) = (before & mask != 0, after & mask != 0);
            if was != is {
                let drivers = &mut self.drivers[usize::from(line)];
                *drivers = if is { *drivers + 1 } else { *drivers - 1 };
                let (word, bit) = (usize::from(line / 32), 1 << (line % 32));
                if *drivers > 0 { self.levels[word] |= bit } else { self.levels[word] &= !bit }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_line_is_high_while_any_block_drives_it() {
        let mut lines = Lines::new();
        let (first, second) = ([(1, 40), (2, 41)], [(0xf, 40)]);
        lines.update_interrupt_outputs(&first, 0, 3);
        lines.update_interrupt_outputs(&second, 0, 4);
        assert_eq!(lines.irq_line_levels()[1], 3 << 8);
        lines.update_interrupt_outputs(&second, 4, 8);
        lines.update_interrupt_outputs(&first, 3, 2);
        assert_eq!(lines.irq_line_levels()[1], 3 << 8, "the second still drives line 40");
        lines.update_interrupt_outputs(&second, 8, 0);
        assert_eq!(lines.irq_line_levels()[1], 2 << 8);
    }
}
