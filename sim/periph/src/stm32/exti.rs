//! External interrupts and events (RM0090 chapter 12, RM0008 chapter 10, RM0367 chapter 13, RM0433 chapter 20).
//!
//! Lines from pins and the software trigger. Lines from other blocks (RTC, USB, ...) have registers only. An edge
//! sets its pending bit whether or not the line is unmasked, as the manuals' block diagram has it.

use super::block::{Access, Block};

/// The register layout of a family's EXTI.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExtiLayout {
    /// IMR, EMR, RTSR, FTSR, SWIER, PR from 0. This many lines.
    Flat(u32),
    /// H7: three banks of triggers from 0, masks and pending from 0x80 for the core.
    H7,
}

/// The registers of one group of 32 EXTI lines.
#[derive(Debug, Clone, Copy, Default)]
struct Lines {
    imr: u32,
    emr: u32,
    rtsr: u32,
    ftsr: u32,
    swier: u32,
    pr: u32,
}

/// The EXTI: external interrupts and events by edges of pins.
#[derive(Debug, Clone)]
pub struct Exti {
    layout: ExtiLayout,
    banks: [Lines; 3],
    /// Levels of the pins that lines 0 to 15 listen to.
    levels: u16,
    /// IMR at reset: direct lines start unmasked.
    start: [u32; 3],
}

/// The kind of an EXTI register.
#[derive(Clone, Copy)]
enum Register {
    Imr,
    Emr,
    Rtsr,
    Ftsr,
    Swier,
    Pr,
}

impl Exti {
    /// Returns the EXTI in its reset state. `start` has the reset values of the three interrupt mask registers.
    pub(super) fn new(layout: ExtiLayout, start: [u32; 3]) -> Self {
        let mut exti = Self { layout, banks: [Lines::default(); 3], levels: 0, start };
        exti.reset_registers();
        exti
    }

    /// Returns the lines that can detect an edge: the H7's direct lines have no trigger registers.
    fn edge_detecting_lines(&self, bank: usize) -> u32 {
        match self.layout {
            ExtiLayout::Flat(lines) => ((1u64 << lines) - 1) as u32,
            ExtiLayout::H7 => [0x003f_ffff, 0x000a_0000, 0x0074_0000][bank],
        }
    }

    /// Returns the bank and the kind of the register at an offset. `None` if there is none.
    fn exti_bank_and_register_kind(&self, offset: u32) -> Option<(usize, Register)> {
        use Register::*;
        const ORDER: [Register; 6] = [Imr, Emr, Rtsr, Ftsr, Swier, Pr];
        match self.layout {
            ExtiLayout::Flat(_) => ORDER.get(offset as usize / 4).map(|&register| (0, register)),
            ExtiLayout::H7 => {
                let (bank, place) = ((offset & 0x7f) / 0x20, offset & 0x9f);
                let register = match place {
                    0x00 if bank < 3 => Rtsr,
                    0x04 if bank < 3 => Ftsr,
                    0x08 if bank < 3 => Swier,
                    _ => {
                        // CPUIMR, CPUEMR and CPUPR of each bank lie 0x10 apart.
                        let bank = (offset.wrapping_sub(0x80) / 0x10) as usize;
                        let register = [Imr, Emr, Pr].get((offset & 0xf) as usize / 4).copied()?;
                        return (bank < 3).then_some((bank, register));
                    }
                };
                Some((bank as usize, register))
            }
        }
    }

    /// Sets a new level of the pin that is connected to a line. An edge that the line detects raises it.
    pub(super) fn set_pin_level(&mut self, line: u8, level: bool, access: &mut Access) {
        let bit = 1u32 << line;
        let before = self.levels >> line & 1 != 0;
        if before == level {
            return;
        }
        self.levels ^= 1 << line;
        let lines = &self.banks[0];
        let trigger = if level { lines.rtsr } else { lines.ftsr };
        if trigger & bit != 0 {
            self.raise_exti_lines(0, bit, access);
        }
    }

    /// Sets the level of another pin to which a line is connected now. That is no edge.
    pub(super) fn set_line_level(&mut self, line: u8, level: bool) {
        self.levels = self.levels & !(1 << line) | u16::from(level) << line;
    }

    /// Raises lines of a bank: sets their pending bits, and signals an event if they are enabled for it.
    fn raise_exti_lines(&mut self, bank: usize, bits: u32, access: &mut Access) {
        let lines = &mut self.banks[bank];
        lines.pr |= bits;
        access.effects.event |= lines.emr & bits != 0;
    }

    /// Writes SWIER, the software trigger register. Writing a 1 over a 0 triggers the unmasked line.
    fn write_software_trigger(&mut self, bank: usize, value: u32, access: &mut Access) {
        let configurable = self.edge_detecting_lines(bank);
        let lines = &mut self.banks[bank];
        let value = value & configurable;
        let fresh = value & !lines.swier;
        lines.swier |= value;
        let (interrupts, events) = (fresh & lines.imr, fresh & lines.emr);
        lines.pr |= interrupts;
        access.effects.event |= events != 0;
    }
}

impl Block for Exti {
    /// Puts the registers of the EXTI to their reset values.
    fn reset_registers(&mut self) {
        for (bank, start) in self.banks.iter_mut().zip(self.start) {
            *bank = Lines { imr: start, ..Lines::default() };
        }
    }

    /// Reads a register of the EXTI at a byte offset. `access` holds the time in core cycles and the number of bytes.
    fn read_register(&mut self, offset: u32, access: &mut Access) -> u32 {
        self.peek_register(offset, access)
    }

    /// Writes a register of the EXTI at a byte offset. `access` holds the time in core cycles and takes requests to the
    /// machine.
    fn write_register(&mut self, offset: u32, value: u32, access: &mut Access) {
        let Some((bank, register)) = self.exti_bank_and_register_kind(offset) else {
            return;
        };
        let configurable = self.edge_detecting_lines(bank);
        let flat = matches!(self.layout, ExtiLayout::Flat(_));
        let lines = &mut self.banks[bank];
        match register {
            Register::Imr => lines.imr = if flat { value & configurable } else { value },
            Register::Emr => lines.emr = if flat { value & configurable } else { value },
            Register::Rtsr => lines.rtsr = value & configurable,
            Register::Ftsr => lines.ftsr = value & configurable,
            Register::Swier => self.write_software_trigger(bank, value, access),
            Register::Pr => {
                lines.pr &= !value;
                lines.swier &= !value;
            }
        }
    }

    /// Returns the value of a register of the EXTI at a byte offset, without the side effects of a read.
    fn peek_register(&self, offset: u32, _access: &Access) -> u32 {
        self.exti_bank_and_register_kind(offset).map_or(0, |(bank, register)| {
            let lines = &self.banks[bank];
            match register {
                Register::Imr => lines.imr,
                Register::Emr => lines.emr,
                Register::Rtsr => lines.rtsr,
                Register::Ftsr => lines.ftsr,
                Register::Swier => lines.swier,
                Register::Pr => lines.pr,
            }
        })
    }

    /// Returns whether a narrow write fills the other bytes of this register with 0, because 0 bits have no effect
    /// there. This holds for the pending and the software trigger registers only.
    fn is_strobe(&self, offset: u32) -> bool {
        matches!(self.exti_bank_and_register_kind(offset), Some((_, Register::Pr | Register::Swier)))
    }

    /// Returns the pending and unmasked lines 0 to 31, a bit each.
    fn interrupt_outputs(&self) -> u32 {
        self.banks[0].pr & self.banks[0].imr
    }
}

#[cfg(test)]
mod tests;
