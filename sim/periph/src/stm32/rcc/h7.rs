//! RCC of the H743 (RM0433 chapter 8).

use super::{Osc, OscBits, Rcc, ReadyFlags, Spec, ahb_divisor, apb_divisor, register_field, timer_hz};
use crate::stm32::clocks::{Bus, Clocks};

const CR: u32 = 0x00;
const CRRCR: u32 = 0x08;
const CFGR: u32 = 0x10;
const D1CFGR: u32 = 0x18;
const D2CFGR: u32 = 0x1c;
const D3CFGR: u32 = 0x20;
const PLLCKSELR: u32 = 0x28;
const PLLCFGR: u32 = 0x2c;
/// PLLxDIVR and PLLxFRACR of PLL1. The others follow at 8 bytes.
const PLL1DIVR: u32 = 0x30;
const D1CCIPR: u32 = 0x4c;
const D2CCIP1R: u32 = 0x50;
const D2CCIP2R: u32 = 0x54;
const D3CCIPR: u32 = 0x58;
const BDCR: u32 = 0x70;
const CSR: u32 = 0x74;
const RSR: u32 = 0xd0;

pub(in crate::stm32) static H7: Spec = Spec {
    resets: &[
        // HSI on and ready, HSIDIVF, both domain clocks ready.
        (CR, 0xc025),
        (0x04, 0x4000_0000),
        (CRRCR, 0),
        (PLLCKSELR, 0x0202_0200),
        (PLLCFGR, 0x01ff_0000),
        (PLL1DIVR, 0x0101_0280),
        (0x38, 0x0101_0280),
        (0x40, 0x0101_0280),
    ],
    read_only: &[
        (CR, 1 << 2 | 1 << 5 | 1 << 8 | 7 << 13 | 1 << 17 | 1 << 25 | 1 << 27 | 1 << 29),
        (0x04, 0x0003_0fff),
        (CRRCR, 0x3ff),
        (CFGR, 0x38),
        (BDCR, 2),
        (CSR, 2),
        (RSR, 0x7ffe_0000),
    ],
    oscillators: &[
        OscBits { osc: Osc::Hsi, on: (CR, 0), ready: (CR, 2), flag: 2 },
        OscBits { osc: Osc::Hse, on: (CR, 16), ready: (CR, 17), flag: 3 },
        OscBits { osc: Osc::Msi, on: (CR, 7), ready: (CR, 8), flag: 4 },
        OscBits { osc: Osc::Hsi48, on: (CR, 12), ready: (CR, 13), flag: 5 },
        OscBits { osc: Osc::Lsi, on: (CSR, 0), ready: (CSR, 1), flag: 0 },
        OscBits { osc: Osc::Lse, on: (BDCR, 0), ready: (BDCR, 1), flag: 1 },
        OscBits { osc: Osc::Pll1, on: (CR, 24), ready: (CR, 25), flag: 6 },
        OscBits { osc: Osc::Pll2, on: (CR, 26), ready: (CR, 27), flag: 7 },
        OscBits { osc: Osc::Pll3, on: (CR, 28), ready: (CR, 29), flag: 8 },
    ],
    flags: ReadyFlags::Split(0x60),
    sw: register_field(CFGR, 0, 3),
    sws: register_field(CFGR, 3, 3),
    sources: &[Some(Osc::Hsi), Some(Osc::Msi), Some(Osc::Hse), Some(Osc::Pll1)],
    backup: (BDCR, 16),
    backup_mask: u32::MAX,
    flags_register: (RSR, 16, 0x7ffe_0000),
    // Power-on, brown-out, both domains and the CPU.
    causes: [0x00ba_0000, 1 << 22, 1 << 24 | 1 << 17, 1 << 26, 1 << 28],
    // The source (bits 1:0) is common to all PLLs.
    locked: &[
        (PLLCKSELR, 0x3f << 4 | 3, 24),
        (PLLCKSELR, 0x3f << 12 | 3, 26),
        (PLLCKSELR, 0x3f << 20 | 3, 28),
        (PLL1DIVR, u32::MAX, 24),
        (PLL1DIVR + 8, u32::MAX, 26),
        (PLL1DIVR + 16, u32::MAX, 28),
    ],
    reset_registers: (0x58, 0),
    enables: &[0xd4, 0xd8, 0xdc, 0xe0, 0xe4, 0xe8, 0xec, 0xf0, 0xf4],
    hsi_hz: 64_000_000,
    lsi_hz: 32_000,
    pll_source: |rcc, _| match rcc.register_value(PLLCKSELR) & 3 {
        0 => Some(Osc::Hsi),
        1 => Some(Osc::Msi),
        2 => Some(Osc::Hse),
        _ => None,
    },
    tree: compute_clock_tree,
    kernel: |clocks, code, bus_hz| match code {
        0 => bus_hz,
        1 => clocks.pll_hz[1][1],
        2 => clocks.pll_hz[2][1],
        3 => clocks.hsi_hz,
        4 => clocks.msi_hz,
        5 => clocks.lse_hz,
        _ => 0,
    },
    kernel_width: 3,
    // RNGSEL.
    rng: |rcc, clocks| match rcc.register_value(D2CCIP2R) >> 8 & 3 {
        0 => rcc.clock_source_hz(Osc::Hsi48),
        1 => clocks.pll_hz[0][1],
        2 => clocks.lse_hz,
        _ => clocks.lsi_hz,
    },
};

/// Returns the frequencies of the outputs P, Q and R of PLL `n` in Hz, by its input frequency.
fn pll_outputs(rcc: &Rcc, n: u32, input: u64) -> [u64; 3] {
    let (select, config) = (rcc.register_value(PLLCKSELR), rcc.register_value(PLLCFGR));
    let (divr, fracr) = (rcc.register_value(PLL1DIVR + 8 * n), rcc.register_value(PLL1DIVR + 8 * n + 4));
    let m = u64::from(select >> (4 + 8 * n) & 0x3f);
    // The multiplier in units of 1/8192.
    let fraction = if config >> (4 * n) & 1 != 0 { u64::from(fracr >> 3 & 0x1fff) } else { 0 };
    let multiplier = (u64::from(divr & 0x1ff) + 1) * 8192 + fraction;
    let Some(vco_8192) = (input * multiplier).checked_div(m) else {
        return [0; 3];
    };
    let over = |shift: u32, output: u32| {
        let enabled = config >> (16 + 3 * n + output) & 1 != 0;
        if enabled { vco_8192 / (u64::from(divr >> shift & 0x7f) + 1) / 8192 } else { 0 }
    };
    [over(9, 0), over(16, 1), over(24, 2)]
}

/// A kernel clock of a block that RCC selects by a multiplexer of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::stm32) enum KernelClock {
    /// SPI1 to SPI3.
    Spi123,
    /// SPI4 and SPI5.
    Spi45,
    /// SPI6.
    Spi6,
    /// All ADCs.
    Adc,
}

impl Rcc {
    /// Returns the frequency of per_ck in Hz, which CKPERSEL selects.
    fn peripheral_hz(&self, clocks: &Clocks) -> u64 {
        match self.register_value(D1CCIPR) >> 28 & 3 {
            0 => clocks.hsi_hz,
            1 => clocks.msi_hz,
            2 => clocks.hse_hz,
            _ => 0,
        }
    }

    /// Returns the frequency of a block's kernel clock in Hz (RM0433 8.7.18 to 8.7.21). 0 for the input pin of the I2S
    /// clock.
    pub(in crate::stm32) fn h7_peripheral_kernel_clock_hz(&self, clocks: &Clocks, clock: KernelClock, bus: Bus) -> u64 {
        let pll = |n: usize, output: usize| clocks.pll_hz[n - 1][output];
        let of_bus = |code: u32| match code {
            0 => clocks.bus_hz(bus),
            1 => pll(2, 1),
            2 => pll(3, 1),
            3 => clocks.hsi_hz,
            4 => clocks.msi_hz,
            5 => clocks.hse_hz,
            _ => 0,
        };
        match clock {
            KernelClock::Spi123 => match self.register_value(D2CCIP1R) >> 12 & 7 {
                0 => pll(1, 1),
                1 => pll(2, 0),
                2 => pll(3, 0),
                4 => self.peripheral_hz(clocks),
                _ => 0,
            },
            KernelClock::Adc => match self.register_value(D3CCIPR) >> 16 & 3 {
                0 => pll(2, 0),
                1 => pll(3, 2),
                2 => self.peripheral_hz(clocks),
                _ => 0,
            },
            KernelClock::Spi45 => of_bus(self.register_value(D2CCIP1R) >> 16 & 7),
            KernelClock::Spi6 => of_bus(self.register_value(D3CCIPR) >> 28 & 7),
        }
    }
}

/// Computes the frequencies of the clock tree.
fn compute_clock_tree(rcc: &Rcc, clocks: &mut Clocks) {
    clocks.hsi_hz >>= rcc.register_value(CR) >> 3 & 3;
    clocks.msi_hz = if rcc.is_clock_source_ready(Osc::Msi) { 4_000_000 } else { 0 };
    let input = match rcc.register_value(PLLCKSELR) & 3 {
        0 => clocks.hsi_hz,
        1 => clocks.msi_hz,
        2 => clocks.hse_hz,
        _ => 0,
    };
    for (n, pll) in [Osc::Pll1, Osc::Pll2, Osc::Pll3].into_iter().enumerate() {
        if rcc.is_clock_source_ready(pll) {
            clocks.pll_hz[n] = pll_outputs(rcc, n as u32, input);
        }
    }
    clocks.sysclk_hz = match rcc.system {
        Osc::Msi => clocks.msi_hz,
        Osc::Hse => clocks.hse_hz,
        Osc::Pll1 => clocks.pll_hz[0][0],
        _ => clocks.hsi_hz,
    };
    let (d1, d2, d3) = (rcc.register_value(D1CFGR), rcc.register_value(D2CFGR), rcc.register_value(D3CFGR));
    clocks.core_hz = clocks.sysclk_hz / ahb_divisor(d1 >> 8);
    clocks.hclk_hz = clocks.core_hz / ahb_divisor(d1);
    let codes = [d2 >> 4, d2 >> 8, d1 >> 4, d3 >> 4];
    clocks.pclk_hz = codes.map(|code| clocks.hclk_hz / apb_divisor(code));
    let timpre = rcc.register_value(CFGR) >> 15 & 1 != 0;
    for n in 0..2 {
        clocks.timer_hz[n] = timer_hz(clocks.hclk_hz, clocks.pclk_hz[n], timpre);
    }
}
