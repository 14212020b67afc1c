//! RCC of the F103 (RM0008 chapter 7).

use super::{Osc, OscBits, Rcc, ReadyFlags, Spec, compute_ahb_and_apb_frequencies, register_field};
use crate::stm32::clocks::Clocks;

const CFGR: u32 = 0x04;
const BDCR: u32 = 0x20;
const CSR: u32 = 0x24;

pub(in crate::stm32) static F1: Spec = Spec {
    resets: &[(0x00, 0x83), (0x14, 0x14)],
    read_only: &[(0x00, 1 << 1 | 0xff00 | 1 << 17 | 1 << 25), (CFGR, 0xc), (BDCR, 2), (CSR, 0xfc00_0002)],
    oscillators: &[
        OscBits { osc: Osc::Hsi, on: (0, 0), ready: (0, 1), flag: 2 },
        OscBits { osc: Osc::Hse, on: (0, 16), ready: (0, 17), flag: 3 },
        OscBits { osc: Osc::Lsi, on: (CSR, 0), ready: (CSR, 1), flag: 0 },
        OscBits { osc: Osc::Lse, on: (BDCR, 0), ready: (BDCR, 1), flag: 1 },
        OscBits { osc: Osc::Pll1, on: (0, 24), ready: (0, 25), flag: 4 },
    ],
    flags: ReadyFlags::Combined(0x08),
    sw: register_field(CFGR, 0, 2),
    sws: register_field(CFGR, 2, 2),
    sources: &[Some(Osc::Hsi), Some(Osc::Hse), Some(Osc::Pll1)],
    backup: (BDCR, 16),
    backup_mask: u32::MAX,
    flags_register: (CSR, 24, 0xfc00_0000),
    causes: [1 << 27, 1 << 26, 1 << 28, 1 << 29, 1 << 30],
    // PLLSRC, PLLXTPRE and PLLMUL.
    locked: &[(CFGR, 0x3f << 16, 24)],
    // AHBENR has no reset register on these parts.
    reset_registers: (0x0c, 0x18),
    enables: &[0x14, 0x18, 0x1c],
    hsi_hz: 8_000_000,
    lsi_hz: 40_000,
    pll_source: |rcc, pll| match pll {
        0 if rcc.register_value(CFGR) >> 16 & 1 != 0 => Some(Osc::Hse),
        0 => Some(Osc::Hsi),
        _ => None,
    },
    tree: compute_clock_tree,
    kernel: |_, _, bus_hz| bus_hz,
    kernel_width: 0,
    // It has none.
    rng: |_, _| 0,
};

/// Computes the frequencies of the clock tree.
fn compute_clock_tree(rcc: &Rcc, clocks: &mut Clocks) {
    let cfgr = rcc.register_value(CFGR);
    if rcc.is_main_pll_ready() {
        let input = match (cfgr >> 16 & 1, cfgr >> 17 & 1) {
            (0, _) => clocks.hsi_hz / 2,
            (_, 0) => clocks.hse_hz,
            _ => clocks.hse_hz / 2,
        };
        clocks.pll_hz[0][0] = input * u64::from((cfgr >> 18 & 0xf) + 2).min(16);
    }
    let sysclk = match rcc.system {
        Osc::Hse => clocks.hse_hz,
        Osc::Pll1 => clocks.pll_hz[0][0],
        _ => clocks.hsi_hz,
    };
    compute_ahb_and_apb_frequencies(clocks, sysclk, cfgr >> 4, [cfgr >> 8, cfgr >> 11], false);
}
