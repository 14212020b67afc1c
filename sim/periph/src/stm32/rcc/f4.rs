//! RCC of the F4 and F7 (RM0090 chapter 7, RM0383 and RM0390 chapter 6, RM0410 chapter 5).

use super::{Osc, OscBits, Rcc, ReadyFlags, Spec, compute_ahb_and_apb_frequencies, register_field};
use crate::stm32::clocks::Clocks;

const CR: u32 = 0x00;
const PLLCFGR: u32 = 0x04;
const CFGR: u32 = 0x08;
const BDCR: u32 = 0x70;
const CSR: u32 = 0x74;
const PLLI2SCFGR: u32 = 0x84;
const PLLSAICFGR: u32 = 0x88;
const DCKCFGR: u32 = 0x8c;
/// F7.
const DCKCFGR2: u32 = 0x90;

/// The differences between the clock trees of the F4 and F7 parts.
struct ClockTreeVariant {
    /// PLLI2S and PLLSAI divide their input by an M of their own (F411, F446). Otherwise by the main PLL's.
    own_m: bool,
    /// SW code 3 selects the main PLL's R output (F446).
    system_r: bool,
    /// DCKCFGR.TIMPRE exists.
    timpre: bool,
}

const OSCILLATORS: [OscBits; 7] = [
    OscBits { osc: Osc::Hsi, on: (CR, 0), ready: (CR, 1), flag: 2 },
    OscBits { osc: Osc::Hse, on: (CR, 16), ready: (CR, 17), flag: 3 },
    OscBits { osc: Osc::Lsi, on: (CSR, 0), ready: (CSR, 1), flag: 0 },
    OscBits { osc: Osc::Lse, on: (BDCR, 0), ready: (BDCR, 1), flag: 1 },
    OscBits { osc: Osc::Pll1, on: (CR, 24), ready: (CR, 25), flag: 4 },
    OscBits { osc: Osc::Pll2, on: (CR, 26), ready: (CR, 27), flag: 5 },
    OscBits { osc: Osc::Pll3, on: (CR, 28), ready: (CR, 29), flag: 6 },
];
const WITHOUT_SAI: [OscBits; 6] = {
    let [a, b, c, d, e, f, _] = OSCILLATORS;
    [a, b, c, d, e, f]
};
const READY_BITS: u32 = 1 << 1 | 0xff00 | 1 << 17 | 1 << 25 | 1 << 27 | 1 << 29;

const BASE: Spec = Spec {
    resets: &[
        (CR, 0x83),
        (PLLCFGR, 0x2400_3010),
        (0x30, 0x0010_0000),
        (0x50, 0x7e67_91ff),
        (0x54, 0xf1),
        (0x58, 1),
        (0x60, 0x36fe_c9ff),
        (0x64, 0x0007_5f33),
        (PLLI2SCFGR, 0x2000_3000),
    ],
    read_only: &[(CR, READY_BITS), (CFGR, 0xc), (BDCR, 2), (CSR, 0xfe00_0002)],
    oscillators: &WITHOUT_SAI,
    flags: ReadyFlags::Combined(0x0c),
    sw: register_field(CFGR, 0, 2),
    sws: register_field(CFGR, 2, 2),
    sources: &[Some(Osc::Hsi), Some(Osc::Hse), Some(Osc::Pll1)],
    backup: (BDCR, 16),
    backup_mask: u32::MAX,
    flags_register: (CSR, 24, 0xfe00_0000),
    // Power coming up is a brown-out too.
    causes: [1 << 27 | 1 << 25, 1 << 26, 1 << 28, 1 << 29, 1 << 30],
    // The source (bit 22) is common to all PLLs.
    locked: &[
        (PLLCFGR, u32::MAX, 24),
        (PLLCFGR, 1 << 22, 26),
        (PLLCFGR, 1 << 22, 28),
        (PLLI2SCFGR, u32::MAX, 26),
        (PLLSAICFGR, u32::MAX, 28),
    ],
    reset_registers: (0x20, 0),
    enables: &[0x30, 0x34, 0x38, 0x40, 0x44],
    hsi_hz: 16_000_000,
    lsi_hz: 32_000,
    pll_source: |rcc, _| Some(if rcc.register_value(PLLCFGR) >> 22 & 1 != 0 { Osc::Hse } else { Osc::Hsi }),
    tree: |rcc, clocks| {
        compute_clock_tree(rcc, clocks, &ClockTreeVariant { own_m: false, system_r: false, timpre: false })
    },
    kernel: |_, _, bus_hz| bus_hz,
    kernel_width: 0,
    rng: |_, clocks| clocks.pll_hz[0][1],
};

pub(in crate::stm32) static F407: Spec = BASE;

pub(in crate::stm32) static F411: Spec = Spec {
    tree: |rcc, clocks| {
        compute_clock_tree(rcc, clocks, &ClockTreeVariant { own_m: true, system_r: false, timpre: true })
    },
    ..BASE
};

/// F446.
pub(in crate::stm32) static F4: Spec = Spec {
    oscillators: &OSCILLATORS,
    resets: &[
        (CR, 0x83),
        (PLLCFGR, 0x2400_3010),
        (0x30, 0x0010_0000),
        (0x50, 0x7e67_91ff),
        (0x54, 0xf1),
        (0x58, 1),
        (0x60, 0x36fe_c9ff),
        (0x64, 0x0007_5f33),
        (PLLI2SCFGR, 0x2000_3000),
        (PLLSAICFGR, 0x2400_3000),
    ],
    sources: &[Some(Osc::Hsi), Some(Osc::Hse), Some(Osc::Pll1), Some(Osc::Pll1)],
    tree: |rcc, clocks| {
        compute_clock_tree(rcc, clocks, &ClockTreeVariant { own_m: true, system_r: true, timpre: true })
    },
    ..BASE
};

pub(in crate::stm32) static F7: Spec = Spec {
    oscillators: &OSCILLATORS,
    resets: &[
        (CR, 0x83),
        (PLLCFGR, 0x2400_3010),
        (0x30, 0x0010_0000),
        (0x50, 0x7e67_91ff),
        (0x54, 0xf1),
        (0x58, 1),
        (0x60, 0x36fe_c9ff),
        (0x64, 0x0007_5f33),
        (PLLI2SCFGR, 0x2000_3000),
        (PLLSAICFGR, 0x2000_3000),
    ],
    tree: |rcc, clocks| {
        compute_clock_tree(rcc, clocks, &ClockTreeVariant { own_m: false, system_r: false, timpre: true })
    },
    kernel: |clocks, code, bus_hz| match code {
        0 => bus_hz,
        1 => clocks.sysclk_hz,
        2 => clocks.hsi_hz,
        _ => clocks.lse_hz,
    },
    kernel_width: 2,
    // CK48MSEL: PLLSAI's P in place of the main PLL's Q.
    rng: |rcc, clocks| {
        if rcc.register_value(DCKCFGR2) >> 27 & 1 != 0 { clocks.pll_hz[2][0] } else { clocks.pll_hz[0][1] }
    },
    ..BASE
};

/// Returns the frequencies of the outputs P, Q and R of one PLL in Hz. They are 0 for the forbidden dividers Q and R
/// below 2.
fn pll_outputs(input: u64, m: u32, register: u32) -> [u64; 3] {
    let vco = (input * u64::from(register >> 6 & 0x1ff)).checked_div(u64::from(m)).unwrap_or(0);
    let over = |divisor: u32| if divisor < 2 { 0 } else { vco / u64::from(divisor) };
    [vco / (u64::from(register >> 16 & 3) * 2 + 2), over(register >> 24 & 0xf), over(register >> 28 & 7)]
}

/// Computes the frequencies of the clock tree.
fn compute_clock_tree(rcc: &Rcc, clocks: &mut Clocks, variant: &ClockTreeVariant) {
    let (pllcfgr, cfgr) = (rcc.register_value(PLLCFGR), rcc.register_value(CFGR));
    let input = if pllcfgr >> 22 & 1 != 0 { clocks.hse_hz } else { clocks.hsi_hz };
    for (n, (osc, offset)) in
        [(Osc::Pll1, PLLCFGR), (Osc::Pll2, PLLI2SCFGR), (Osc::Pll3, PLLSAICFGR)].into_iter().enumerate()
    {
        if rcc.is_clock_source_ready(osc) {
            let m = if n == 0 || variant.own_m { rcc.register_value(offset) } else { pllcfgr } & 0x3f;
            clocks.pll_hz[n] = pll_outputs(input, m, rcc.register_value(offset));
        }
    }
    let sysclk = match rcc.system {
        Osc::Hse => clocks.hse_hz,
        Osc::Pll1 => clocks.pll_hz[0][if variant.system_r && cfgr >> 2 & 3 == 3 { 2 } else { 0 }],
        _ => clocks.hsi_hz,
    };
    let timpre = variant.timpre && rcc.register_value(DCKCFGR) >> 24 & 1 != 0;
    compute_ahb_and_apb_frequencies(clocks, sysclk, cfgr >> 4, [cfgr >> 10, cfgr >> 13], timpre);
}
