//! RCC of the L0x3 (RM0367 chapter 7).

use super::{Osc, OscBits, Rcc, ReadyFlags, Spec, compute_ahb_and_apb_frequencies, register_field};
use crate::stm32::clocks::Clocks;

const CR: u32 = 0x00;
const ICSCR: u32 = 0x04;
const CRRCR: u32 = 0x08;
const CFGR: u32 = 0x0c;
const CCIPR: u32 = 0x4c;
const CSR: u32 = 0x50;

pub(in crate::stm32) static L0: Spec = Spec {
    resets: &[
        (CR, 0x300),
        (ICSCR, 0xb000),
        (0x30, 0x100),
        (0x3c, 0x8f),
        (0x40, 0x0111_1301),
        (0x44, 0x0040_5225),
        (0x48, 0xb8e6_4a11),
    ],
    read_only: &[
        (CR, 1 << 2 | 1 << 4 | 1 << 9 | 1 << 17 | 1 << 25),
        (ICSCR, 0x00ff_00ff),
        (CRRCR, 2),
        (CFGR, 0xc),
        (CSR, 0xff00_0202),
    ],
    oscillators: &[
        OscBits { osc: Osc::Msi, on: (CR, 8), ready: (CR, 9), flag: 5 },
        OscBits { osc: Osc::Hsi, on: (CR, 0), ready: (CR, 2), flag: 2 },
        OscBits { osc: Osc::Hse, on: (CR, 16), ready: (CR, 17), flag: 3 },
        OscBits { osc: Osc::Lsi, on: (CSR, 0), ready: (CSR, 1), flag: 0 },
        OscBits { osc: Osc::Lse, on: (CSR, 8), ready: (CSR, 9), flag: 1 },
        OscBits { osc: Osc::Hsi48, on: (CRRCR, 0), ready: (CRRCR, 1), flag: 6 },
        OscBits { osc: Osc::Pll1, on: (CR, 24), ready: (CR, 25), flag: 4 },
    ],
    flags: ReadyFlags::Split(0x10),
    sw: register_field(CFGR, 0, 2),
    sws: register_field(CFGR, 2, 2),
    sources: &[Some(Osc::Msi), Some(Osc::Hsi), Some(Osc::Hse), Some(Osc::Pll1)],
    backup: (CSR, 19),
    // LSEON to RTCRST. LSION, RMVF and the reset flags of the same register are free.
    backup_mask: 0x000f_ff00,
    flags_register: (CSR, 23, 0xff00_0000),
    causes: [1 << 27, 1 << 26, 1 << 28, 1 << 29, 1 << 30],
    // PLLSRC, PLLMUL and PLLDIV.
    locked: &[(CFGR, 0x00fd_0000, 24)],
    reset_registers: (0x10, 0),
    enables: &[0x2c, 0x30, 0x34, 0x38],
    hsi_hz: 16_000_000,
    lsi_hz: 37_000,
    pll_source: |rcc, pll| match pll {
        0 if rcc.register_value(CFGR) >> 16 & 1 != 0 => Some(Osc::Hse),
        0 => Some(Osc::Hsi),
        _ => None,
    },
    tree,
    kernel: |clocks, code, bus_hz| match code {
        0 => bus_hz,
        1 => clocks.sysclk_hz,
        2 => clocks.hsi_hz,
        _ => clocks.lse_hz,
    },
    kernel_width: 2,
    // HSI48SEL. Otherwise half of the PLL oscillator's frequency.
    rng: |rcc, clocks| {
        if rcc.register_value(CCIPR) >> 26 & 1 != 0 {
            return rcc.clock_source_hz(Osc::Hsi48);
        }
        clocks.pll_hz[0][0] * (u64::from(rcc.register_value(CFGR) >> 22 & 3) + 1) / 2
    },
};

/// Computes the frequencies of the clock tree.
fn tree(rcc: &Rcc, clocks: &mut Clocks) {
    const MULTIPLIERS: [u64; 9] = [3, 4, 6, 8, 12, 16, 24, 32, 48];
    let cfgr = rcc.register_value(CFGR);
    // HSI16DIVEN.
    if rcc.register_value(CR) >> 3 & 1 != 0 {
        clocks.hsi_hz /= 4;
    }
    // MSIRANGE: 65.536 kHz doubled per step; 7 is reserved.
    if rcc.is_clock_source_ready(Osc::Msi) {
        clocks.msi_hz = 65_536 << (rcc.register_value(ICSCR) >> 13 & 7).min(6);
    }
    if rcc.is_main_pll_ready() {
        let input = if cfgr >> 16 & 1 != 0 { clocks.hse_hz } else { clocks.hsi_hz };
        let multiplier = MULTIPLIERS.get((cfgr >> 18 & 0xf) as usize).copied().unwrap_or(0);
        clocks.pll_hz[0][0] = input * multiplier / (u64::from(cfgr >> 22 & 3) + 1);
    }
    let sysclk = match rcc.system {
        Osc::Hsi => clocks.hsi_hz,
        Osc::Hse => clocks.hse_hz,
        Osc::Pll1 => clocks.pll_hz[0][0],
        _ => clocks.msi_hz,
    };
    compute_ahb_and_apb_frequencies(clocks, sysclk, cfgr >> 4, [cfgr >> 8, cfgr >> 11], false);
}
