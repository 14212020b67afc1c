//! PL022 SPI (RP2040 data sheet 4.4) with nothing on its pins: it accepts every frame at once, receives zeros,
//! and is never busy, so that a driver's loops end.

use std::collections::VecDeque;

use crate::{Access, Peripheral};

const FIFO_DEPTH: usize = 8;
const SR_TFE: u32 = 1;
const SR_TNF: u32 = 2;
const SR_RNE: u32 = 4;
const SR_RFF: u32 = 8;
const INT_ROR: u32 = 1;
const INT_RX: u32 = 4;
const INT_TX: u32 = 8;
const CR1_SSE: u32 = 2;
const CR1_LBM: u32 = 1;
/// PeriphID and PrimeCell ID bytes from offset 0xfe0.
const IDS: [u32; 8] = [0x22, 0x10, 0x34, 0x00, 0x0d, 0xf0, 0x05, 0xb1];

/// One SPI block.
#[derive(Debug, Clone)]
pub struct Spi {
    irq: u32,
    cr0: u32,
    cr1: u32,
    cpsr: u32,
    imsc: u32,
    dmacr: u32,
    overrun: bool,
    rx: VecDeque<u32>,
}

impl Spi {
    /// An SPI on NVIC line `irq`.
    #[must_use]
    pub fn new(irq: u32) -> Self {
        Self { irq, cr0: 0, cr1: 0, cpsr: 0, imsc: 0, dmacr: 0, overrun: false, rx: VecDeque::new() }
    }

    /// Requests to the DMA: (transmit, receive).
    #[must_use]
    pub fn dreq(&self) -> (bool, bool) {
        (self.dmacr & 2 != 0, self.dmacr & 1 != 0 && !self.rx.is_empty())
    }

    /// SSPRIS: raw interrupts.
    fn ris(&self) -> u32 {
        let rx = if self.rx.len() >= FIFO_DEPTH / 2 { INT_RX } else { 0 };
        INT_TX | rx | if self.overrun { INT_ROR } else { 0 }
    }
}

impl Peripheral for Spi {
    const NAME: &'static str = "SPI";

    fn reset(&mut self) {
        *self = Self::new(self.irq);
    }

    fn read(&mut self, offset: u32, access: &mut Access) -> u32 {
        match offset {
            0x08 => self.rx.pop_front().unwrap_or(0),
            0x00..=0x24 | 0xfe0..=0xffc => self.peek(offset, access),
            _ => {
                access.effects.unmodelled = Some((offset, false));
                0
            }
        }
    }

    fn write(&mut self, offset: u32, value: u32, access: &mut Access) {
        match offset {
            0x00 => self.cr0 = value & 0xffff,
            0x04 => self.cr1 = value & 0xf,
            0x08 if self.cr1 & CR1_SSE != 0 => {
                let bits = (self.cr0 & 15) + 1;
                let echo = if self.cr1 & CR1_LBM != 0 { value & ((1 << bits) - 1) } else { 0 };
                if self.rx.len() < FIFO_DEPTH { self.rx.push_back(echo) } else { self.overrun = true }
            }
            0x10 => self.cpsr = value & 0xfe,
            0x14 => self.imsc = value & 0xf,
            0x20 => self.overrun &= value & INT_ROR == 0,
            0x24 => self.dmacr = value & 3,
            0x08 | 0x0c | 0x18 | 0x1c => {}
            _ => access.effects.unmodelled = Some((offset, true)),
        }
    }

    fn peek(&self, offset: u32, _access: &Access) -> u32 {
        match offset {
            0x00 => self.cr0,
            0x04 => self.cr1,
            0x0c => {
                let received = if self.rx.is_empty() { 0 } else { SR_RNE };
                SR_TFE | SR_TNF | received | if self.rx.len() == FIFO_DEPTH { SR_RFF } else { 0 }
            }
            0x10 => self.cpsr,
            0x14 => self.imsc,
            0x18 => self.ris(),
            0x1c => self.ris() & self.imsc,
            0x24 => self.dmacr,
            0xfe0..=0xffc => IDS[(offset as usize - 0xfe0) / 4],
            _ => 0,
        }
    }

    fn is_strobe(&self, offset: u32) -> bool {
        matches!(offset, 0x08 | 0x20)
    }

    fn irq_levels(&self) -> u32 {
        u32::from(self.ris() & self.imsc != 0) << self.irq
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rp2040::testing::Bench;

    #[test]
    fn every_sent_frame_receives_one() {
        let mut bench = Bench::new();
        let mut spi = Spi::new(18);
        assert_eq!(spi.read(0x0c, &mut bench.access()), SR_TFE | SR_TNF);
        spi.write(0x00, 7, &mut bench.access());
        spi.write(0x04, CR1_SSE, &mut bench.access());
        spi.write(0x08, 0xab, &mut bench.access());
        assert_eq!(spi.read(0x0c, &mut bench.access()), SR_TFE | SR_TNF | SR_RNE);
        assert_eq!(spi.read(0x08, &mut bench.access()), 0);
        spi.write(0x04, CR1_SSE | CR1_LBM, &mut bench.access());
        for n in 0..9 {
            spi.write(0x08, 0x1f0 + n, &mut bench.access());
        }
        assert_eq!(spi.read(0x0c, &mut bench.access()) & SR_RFF, SR_RFF);
        assert_eq!(spi.read(0x08, &mut bench.access()), 0xf0);
        spi.write(0x14, INT_ROR, &mut bench.access());
        assert_eq!(spi.irq_levels(), 1 << 18);
        spi.write(0x20, INT_ROR, &mut bench.access());
        assert_eq!(spi.irq_levels(), 0);
        assert_eq!(spi.read(0xfe0, &mut bench.access()), 0x22);
    }

    #[test]
    fn identification_and_strobes() {
        let mut bench = Bench::new();
        let mut spi = Spi::new(18);
        let ids: Vec<u32> = (0..8).map(|n| spi.read(0xfe0 + 4 * n, &mut bench.access())).collect();
        assert_eq!(ids, [0x22, 0x10, 0x34, 0, 0x0d, 0xf0, 0x05, 0xb1]);
        let strobes: Vec<u32> = (0..0x28).step_by(4).filter(|&offset| spi.is_strobe(offset)).collect();
        assert_eq!(strobes, [0x08, 0x20]);
        spi.write(0x24, 3, &mut bench.access());
        assert_eq!(spi.dreq(), (true, false));
        spi.write(0x04, CR1_SSE, &mut bench.access());
        for _ in 0..4 {
            assert_eq!(spi.read(0x18, &mut bench.access()), INT_TX);
            spi.write(0x08, 0, &mut bench.access());
        }
        assert_eq!((spi.dreq(), spi.read(0x18, &mut bench.access())), ((true, true), INT_TX | INT_RX));
    }

    /// The other tests use the names, so a wrong bit number would cancel out in them.
    #[test]
    fn bit_numbers_are_the_data_sheets() {
        for (mask, number) in [
            (SR_TFE, 0),
            (SR_TNF, 1),
            (SR_RNE, 2),
            (SR_RFF, 3),
            (INT_ROR, 0),
            (INT_RX, 2),
            (INT_TX, 3),
            (CR1_LBM, 0),
            (CR1_SSE, 1),
        ] {
            assert_eq!(mask, 1u32 << number);
        }
    }
}
