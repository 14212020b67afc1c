//! PL022 SPI (RP2040 data sheet 4.4) as a master: FIFOs of eight frames, a frame at the rate of CPSR and SCR.
//!
//! A frame takes its bits in periods of SSPCLKOUT. In the Motorola format with SPH = 0 the frame select rises between
//! two frames, which takes one period more.

use std::collections::VecDeque;

use crate::device::SpiBus;
use crate::{Access, NEVER, Peripheral};

const FIFO_DEPTH: usize = 8;
const SR_TFE: u32 = 1;
const SR_TNF: u32 = 2;
const SR_RNE: u32 = 4;
const SR_RFF: u32 = 8;
const SR_BSY: u32 = 16;
const INT_ROR: u32 = 1;
const INT_RT: u32 = 2;
const INT_RX: u32 = 4;
const INT_TX: u32 = 8;
const CR1_SSE: u32 = 2;
const CR1_LBM: u32 = 1;
const CR0_SPH: u32 = 1 << 7;
/// Bits of a frame format other than Motorola's.
const CR0_FRF: u32 = 3 << 4;
/// Bit periods until words that nobody reads raise an interrupt.
const TIMEOUT_PERIODS: u64 = 32;
/// PeriphID and PrimeCell ID bytes from offset 0xfe0.
const IDS: [u32; 8] = [0x22, 0x10, 0x34, 0x00, 0x0d, 0xf0, 0x05, 0xb1];

/// One SPI controller of the RP2040.
#[derive(Debug, Clone)]
pub struct Spi {
    irq: u32,
    cr0: u32,
    cr1: u32,
    cpsr: u32,
    imsc: u32,
    dmacr: u32,
    overrun: bool,
    timed_out: bool,
    /// Cycle at which words that nobody has read raise their interrupt.
    timeout: u64,
    tx: VecDeque<u32>,
    rx: VecDeque<u32>,
    /// The word that comes back with the present frame.
    answer: u32,
    /// Cycle at which the present frame ends.
    end: u64,
    /// The devices at the other end.
    pub bus: SpiBus,
}

impl Spi {
    /// Creates an SPI controller on NVIC line `irq`.
    #[must_use]
    pub fn new(irq: u32) -> Self {
        Self {
            irq,
            cr0: 0,
            cr1: 0,
            cpsr: 0,
            imsc: 0,
            dmacr: 0,
            overrun: false,
            timed_out: false,
            timeout: NEVER,
            tx: VecDeque::new(),
            rx: VecDeque::new(),
            answer: 0,
            end: NEVER,
            bus: SpiBus::default(),
        }
    }

    /// Returns whether the controller requests DMA transfers: (transmit, receive).
    #[must_use]
    pub fn dma_requests(&self) -> (bool, bool) {
        (self.dmacr & 2 != 0 && self.tx.len() < FIFO_DEPTH, self.dmacr & 1 != 0 && !self.rx.is_empty())
    }

    /// Returns the number of bits of a frame.
    fn frame_bit_count(&self) -> u32 {
        (self.cr0 & 15) + 1
    }

    /// Returns the clk_sys cycles of a number of bit periods.
    fn cycles_of_bit_periods(&self, periods: u64, access: &Access) -> u64 {
        let prescaler = u64::from(self.cpsr) * (1 + u64::from(self.cr0 >> 8));
        match access.clocks.peri_hz {
            0 => NEVER,
            _ if prescaler == 0 => NEVER,
            hz => (periods * prescaler * access.clocks.sys_hz).div_ceil(hz),
        }
    }

    /// Begins a frame at cycle `at`, if there is one to send.
    fn begin_frame(&mut self, at: u64, access: &Access) {
        if self.end != NEVER || self.cr1 & CR1_SSE == 0 {
            return;
        }
        let Some(frame) = self.tx.pop_front() else { return };
        let bits = self.frame_bit_count();
        let frame = frame & ((1 << bits) - 1);
        self.answer =
            if self.cr1 & CR1_LBM != 0 { frame } else { self.bus.exchange_frame(frame, bits, access.ns_at(at)) };
        self.end = at.saturating_add(self.cycles_of_bit_periods(u64::from(bits), access));
    }

    /// Returns the raw interrupts (SSPRIS).
    fn raw_interrupts(&self) -> u32 {
        let tx = if self.tx.len() <= FIFO_DEPTH / 2 { INT_TX } else { 0 };
        let rx = if self.rx.len() >= FIFO_DEPTH / 2 { INT_RX } else { 0 };
        tx | rx | if self.overrun { INT_ROR } else { 0 } | if self.timed_out { INT_RT } else { 0 }
    }

    /// Starts the time after which unread words raise an interrupt.
    fn restart_receive_timeout(&mut self, now: u64, access: &Access) {
        self.timed_out = false;
        let wait = self.cycles_of_bit_periods(TIMEOUT_PERIODS, access);
        self.timeout = if self.rx.is_empty() { NEVER } else { now.saturating_add(wait) };
    }
}

impl Peripheral for Spi {
    const NAME: &'static str = "SPI";

    /// Puts the registers of an SPI controller to their reset values. The attached devices stay.
    fn reset_registers(&mut self) {
        *self = Self { bus: std::mem::take(&mut self.bus), ..Self::new(self.irq) };
    }

    /// Reads a register of an SPI controller at a byte offset. `access` holds the time in cycles and the requesting
    /// core. A read of SSPDR removes a received frame.
    fn read_register(&mut self, offset: u32, access: &mut Access) -> u32 {
        self.advance_to_now(access);
        match offset {
            0x08 => {
                let word = self.rx.pop_front().unwrap_or(0);
                self.restart_receive_timeout(access.now_cycles, access);
                word
            }
            0x00..=0x24 | 0xfe0..=0xffc => self.peek_register(offset, access),
            _ => {
                access.effects.unmodelled = Some((offset, false));
                0
            }
        }
    }

    /// Writes a register of an SPI controller at a byte offset. `access` holds the time in cycles and takes requests to
    /// the machine.
    fn write_register(&mut self, offset: u32, value: u32, access: &mut Access) {
        self.advance_to_now(access);
        match offset {
            0x00 => self.cr0 = value & 0xffff,
            0x04 => self.cr1 = value & 0xf,
            0x08 if self.tx.len() < FIFO_DEPTH => self.tx.push_back(value & 0xffff),
            0x10 => self.cpsr = value & 0xfe,
            0x14 => self.imsc = value & 0xf,
            0x20 => {
                self.overrun &= value & INT_ROR == 0;
                self.timed_out &= value & INT_RT == 0;
            }
            0x24 => self.dmacr = value & 3,
            0x08 | 0x0c | 0x18 | 0x1c => {}
            _ => access.effects.unmodelled = Some((offset, true)),
        }
        self.begin_frame(access.now_cycles, access);
    }

    /// Returns the value of a register of an SPI controller at a byte offset, without the side effects of a read.
    fn peek_register(&self, offset: u32, _access: &Access) -> u32 {
        let flag = |set: bool, bit: u32| if set { bit } else { 0 };
        match offset {
            0x00 => self.cr0,
            0x04 => self.cr1,
            0x0c => {
                flag(self.tx.is_empty(), SR_TFE)
                    | flag(self.tx.len() < FIFO_DEPTH, SR_TNF)
                    | flag(!self.rx.is_empty(), SR_RNE)
                    | flag(self.rx.len() == FIFO_DEPTH, SR_RFF)
                    | flag(self.end != NEVER || !self.tx.is_empty(), SR_BSY)
            }
            0x10 => self.cpsr,
            0x14 => self.imsc,
            0x18 => self.raw_interrupts(),
            0x1c => self.raw_interrupts() & self.imsc,
            0x24 => self.dmacr,
            0xfe0..=0xffc => IDS[(offset as usize - 0xfe0) / 4],
            _ => 0,
        }
    }

    /// Returns whether a write through an atomic alias (XOR, SET, CLR) reaches the register at this offset unchanged.
    /// This holds for SSPDR and SSPICR only.
    fn is_strobe(&self, offset: u32) -> bool {
        matches!(offset, 0x08 | 0x20)
    }

    /// Returns the cycle of the next end of a frame or of the receive timeout, or [`NEVER`].
    fn next_event_cycle(&self) -> u64 {
        self.end.min(self.timeout)
    }

    /// Completes the frames and the receive timeout that have ended, up to the cycle in `access`.
    fn advance_to_now(&mut self, access: &mut Access) {
        let now = access.now_cycles;
        while self.end <= now {
            let end = std::mem::replace(&mut self.end, NEVER);
            if self.rx.len() < FIFO_DEPTH {
                self.rx.push_back(self.answer)
            } else {
                self.overrun = true
            }
            self.restart_receive_timeout(end, access);
            let gap = if self.cr0 & (CR0_SPH | CR0_FRF) == 0 { self.cycles_of_bit_periods(1, access) } else { 0 };
            self.begin_frame(end.saturating_add(gap), access);
        }
        if self.timeout <= now {
            self.timeout = NEVER;
            self.timed_out = true;
        }
    }

    /// Returns the levels of the NVIC lines of an SPI controller, each at its number's bit.
    fn irq_levels(&self) -> u32 {
        u32::from(self.raw_interrupts() & self.imsc != 0) << self.irq
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::tests::Memory;
    use crate::rp2040::testing::Bench;

    /// An SPI that sends eight bits in 80 cycles, with the format SPH = 1.
    fn enabled(bench: &mut Bench, cr1: u32) -> Spi {
        let mut spi = Spi::new(18);
        assert_eq!(spi.read_register(0x0c, &mut bench.access()), SR_TFE | SR_TNF);
        spi.write_register(0x00, 4 << 8 | CR0_SPH | 7, &mut bench.access());
        spi.write_register(0x10, 2, &mut bench.access());
        spi.write_register(0x04, CR1_SSE | cr1, &mut bench.access());
        spi
    }

    #[test]
    fn spi_loopback_frame_takes_bit_time() {
        let mut bench = Bench::new();
        let mut spi = enabled(&mut bench, CR1_LBM);
        spi.write_register(0x08, 0x1ab, &mut bench.access_at(5));
        assert_eq!(
            (spi.read_register(0x0c, &mut bench.access()), spi.next_event_cycle()),
            (SR_TFE | SR_TNF | SR_BSY, 85)
        );
        spi.advance_to_now(&mut bench.access_at(84));
        assert_eq!(spi.read_register(0x0c, &mut bench.access()) & SR_RNE, 0);
        spi.advance_to_now(&mut bench.access_at(85));
        assert_eq!(spi.read_register(0x0c, &mut bench.access()), SR_TFE | SR_TNF | SR_RNE);
        assert_eq!(spi.read_register(0x08, &mut bench.access()), 0xab);
    }

    #[test]
    fn frames_follow_each_other_with_a_gap_in_mode_0() {
        let mut bench = Bench::new();
        for (cr0, gap) in [(0, 10), (CR0_SPH, 0), (1 << 4, 0)] {
            let mut spi = enabled(&mut bench, 0);
            bench.now = 0;
            spi.write_register(0x00, 4 << 8 | cr0 | 7, &mut bench.access());
            for frame in 0..3 {
                spi.write_register(0x08, frame, &mut bench.access());
            }
            let ends: Vec<u64> = (0..3)
                .map(|_| {
                    let end = spi.end;
                    spi.advance_to_now(&mut bench.access_at(end));
                    end
                })
                .collect();
            assert_eq!(ends, [80, 160 + gap, 240 + 2 * gap]);
        }
    }

    #[test]
    fn peripheral_clock_paces_spi_transfer() {
        let mut bench = Bench::new();
        bench.tree.peri_hz = 48_000_000;
        let mut spi = enabled(&mut bench, 0);
        spi.write_register(0x08, 0, &mut bench.access());
        assert_eq!(spi.next_event_cycle(), (80 * 125_u64).div_ceil(48));
    }

    #[test]
    fn spi_device_answers_frame() {
        let mut bench = Bench::new();
        let mut spi = enabled(&mut bench, 0);
        spi.bus.attach_spi_device(None, Memory::boxed());
        for (at, frame, answer) in [(0, 0x11, 0), (100, 0x22, 0x11)] {
            spi.write_register(0x08, frame, &mut bench.access_at(at));
            assert_eq!(spi.read_register(0x08, &mut bench.access_at(at + 80)), answer);
        }
        spi.reset_registers();
        assert!(spi.bus.has_chip_select_pins(), "a reset of the block detaches nothing");
    }

    #[test]
    fn spi_overrun_raises_interrupt() {
        let mut bench = Bench::new();
        let mut spi = enabled(&mut bench, 0);
        spi.write_register(0x14, INT_RX | INT_ROR, &mut bench.access());
        for frame in 0..9 {
            assert_eq!(spi.irq_levels(), if frame < 4 { 0 } else { 1 << 18 }, "{frame}");
            spi.write_register(0x08, frame, &mut bench.access());
            let end = spi.end;
            spi.advance_to_now(&mut bench.access_at(end));
        }
        assert_eq!(spi.read_register(0x18, &mut bench.access()), INT_TX | INT_RX | INT_ROR);
        spi.write_register(0x20, INT_ROR, &mut bench.access());
        assert_eq!(spi.read_register(0x1c, &mut bench.access()), INT_RX);
    }

    #[test]
    fn unread_spi_words_time_out() {
        let mut bench = Bench::new();
        let mut spi = enabled(&mut bench, 0);
        spi.write_register(0x14, INT_RT, &mut bench.access());
        spi.write_register(0x08, 0, &mut bench.access());
        spi.advance_to_now(&mut bench.access_at(80));
        assert_eq!(spi.next_event_cycle(), 80 + 320);
        spi.advance_to_now(&mut bench.access_at(400));
        assert_eq!((spi.irq_levels(), spi.next_event_cycle()), (1 << 18, NEVER));
        spi.read_register(0x08, &mut bench.access());
        assert_eq!(spi.irq_levels(), 0);
    }

    #[test]
    fn spi_dma_requests_follow_fifo_levels() {
        let mut bench = Bench::new();
        let mut spi = enabled(&mut bench, 0);
        spi.write_register(0x24, 3, &mut bench.access());
        assert_eq!((spi.dma_requests(), spi.raw_interrupts()), ((true, false), INT_TX));
        // One frame is on its way, eight wait.
        for frame in 0..9 {
            spi.write_register(0x08, frame, &mut bench.access());
        }
        assert_eq!((spi.dma_requests(), spi.raw_interrupts()), ((false, false), 0));
        spi.advance_to_now(&mut bench.access_at(80));
        assert_eq!(spi.dma_requests(), (true, true));
    }

    #[test]
    fn without_a_clock_nothing_is_sent() {
        let mut bench = Bench::new();
        let mut spi = Spi::new(18);
        spi.write_register(0x04, CR1_SSE, &mut bench.access());
        spi.write_register(0x08, 0, &mut bench.access());
        assert_eq!(spi.next_event_cycle(), NEVER);
    }

    #[test]
    fn spi_identification_registers_are_correct() {
        let mut bench = Bench::new();
        let mut spi = Spi::new(19);
        let ids: Vec<u32> = (0..8).map(|n| spi.read_register(0xfe0 + 4 * n, &mut bench.access())).collect();
        assert_eq!(ids, [0x22, 0x10, 0x34, 0, 0x0d, 0xf0, 0x05, 0xb1]);
        let strobes: Vec<u32> = (0..0x28).step_by(4).filter(|&offset| spi.is_strobe(offset)).collect();
        assert_eq!(strobes, [0x08, 0x20]);
    }

    /// The other tests use the names, so a wrong bit number would cancel out in them.
    #[test]
    fn bit_numbers_are_the_data_sheets() {
        for (mask, number) in [
            (SR_TFE, 0),
            (SR_TNF, 1),
            (SR_RNE, 2),
            (SR_RFF, 3),
            (SR_BSY, 4),
            (INT_ROR, 0),
            (INT_RT, 1),
            (INT_RX, 2),
            (INT_TX, 3),
            (CR1_LBM, 0),
            (CR1_SSE, 1),
            (CR0_SPH, 7),
        ] {
            assert_eq!(mask, 1u32 << number);
        }
    }
}
