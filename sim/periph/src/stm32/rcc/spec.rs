//! The description of a family's clock control, and the arithmetic that all share.

use super::Rcc;
use crate::stm32::clocks::Clocks;

/// A source of a clock: an oscillator or a PLL. PLL2 and PLL3 are the F4's and F7's PLLI2S and PLLSAI.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::stm32) enum Osc {
    Hsi,
    Hse,
    Lsi,
    Lse,
    /// MSI of the L0, CSI of the H7.
    Msi,
    Hsi48,
    Pll1,
    Pll2,
    Pll3,
}

/// Number of [`Osc`] values.
pub(super) const OSCILLATORS: usize = 9;

/// The bits of an oscillator: register offset and bit of "on" and "ready", and the number of its ready flag.
#[derive(Debug, Clone, Copy)]
pub(in crate::stm32) struct OscBits {
    pub(super) osc: Osc,
    pub(super) on: (u32, u32),
    pub(super) ready: (u32, u32),
    pub(super) flag: u32,
}

/// The registers with the enable bits and flags of the ready interrupts.
#[derive(Debug, Clone, Copy)]
pub(in crate::stm32) enum ReadyFlags {
    /// CIR: flags from bit 0, enables from bit 8, clears from bit 16.
    Combined(u32),
    /// CIER, CIFR and CICR from this offset.
    Split(u32),
}

/// A field of a register.
#[derive(Debug, Clone, Copy)]
pub(in crate::stm32) struct Field {
    pub(super) offset: u32,
    pub(super) shift: u32,
    pub(super) width: u32,
}

impl Spec {
    /// Returns the frequency of the LSI, whether or not it runs: the independent watchdog starts it by itself.
    pub(in crate::stm32) fn lsi_hz(&self) -> u64 {
        self.lsi_hz
    }
}

/// Returns the description of a register field.
pub(super) const fn register_field(offset: u32, shift: u32, width: u32) -> Field {
    Field { offset, shift, width }
}

/// The description of a family's RCC: its registers, oscillators and clock tree.
#[derive(Debug)]
pub(in crate::stm32) struct Spec {
    /// Register values after reset, where not 0.
    pub(in crate::stm32) resets: &'static [(u32, u32)],
    /// Bits that only hardware changes.
    pub(super) read_only: &'static [(u32, u32)],
    pub(super) oscillators: &'static [OscBits],
    pub(super) flags: ReadyFlags,
    pub(super) sw: Field,
    pub(super) sws: Field,
    /// Source of each SW code.
    pub(super) sources: &'static [Option<Osc>],
    /// Backup domain control, behind PWR's DBP bit. Its reset bit.
    pub(super) backup: (u32, u32),
    /// Bits of the backup register that DBP protects (L0 shares it with the LSI and the reset flags).
    pub(super) backup_mask: u32,
    /// Reset flags: register, the bit that clears them, mask of the flags.
    pub(super) flags_register: (u32, u32, u32),
    /// Flags of each cause, in the order of [`ResetCause`]. Every reset also pulls the reset pin.
    pub(super) causes: [u32; 5],
    /// Registers (mask) that cannot change while a PLL (its "on" bit in CR) runs.
    pub(super) locked: &'static [(u32, u32, u32)],
    /// Distance from an enable register back to its reset register, and the first enable register that has one.
    pub(super) reset_registers: (u32, u32),
    /// The enable registers.
    pub(super) enables: &'static [u32],
    pub(super) hsi_hz: u64,
    pub(super) lsi_hz: u64,
    /// Source of a PLL.
    pub(super) pll_source: fn(&Rcc, usize) -> Option<Osc>,
    /// Prescalers and PLLs.
    pub(super) tree: fn(&Rcc, &mut Clocks),
    /// Sources of a kernel clock multiplexer: code, bus clock.
    pub(super) kernel: fn(&Clocks, u32, u64) -> u64,
    pub(super) kernel_width: u32,
    /// Clock of the random number generator.
    pub(super) rng: fn(&Rcc, &Clocks) -> u64,
}

/// The start-up times of clock sources in ns. The manuals have only typical values for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OscillatorStartUpTimes {
    /// HSI, MSI, CSI, HSI48.
    pub rc_ns: u64,
    /// Crystal on HSE.
    pub hse_ns: u64,
    /// A clock fed into the HSE input (bypass).
    pub bypass_ns: u64,
    /// LSI.
    pub lsi_ns: u64,
    /// Crystal on LSE.
    pub lse_ns: u64,
    /// Lock of a PLL.
    pub pll_ns: u64,
}

impl Default for OscillatorStartUpTimes {
    /// Returns assumed start-up times, near the data sheets' typical values. That of the LSE is shorter than a real
    /// crystal's second.
    fn default() -> Self {
        Self { rc_ns: 2_000, hse_ns: 2_000_000, bypass_ns: 2_000, lsi_ns: 40_000, lse_ns: 100_000_000, pll_ns: 200_000 }
    }
}

/// The crystals and clocks from outside the chip, and the start-up times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::stm32) struct Crystals {
    pub hse_hz: u64,
    pub lse_hz: u64,
    pub start_up: OscillatorStartUpTimes,
}

/// Returns the divider of the AHB prescaler, by its code in HPRE.
pub(super) fn ahb_divisor(code: u32) -> u64 {
    const DIVISORS: [u64; 8] = [2, 4, 8, 16, 64, 128, 256, 512];
    if code & 8 == 0 { 1 } else { DIVISORS[(code & 7) as usize] }
}

/// Returns the divider of an APB prescaler, by its code in PPRE.
pub(super) fn apb_divisor(code: u32) -> u64 {
    if code & 4 == 0 { 1 } else { 2 << (code & 3) }
}

/// Returns the frequency of the timers on an APB in Hz: PCLK without a prescaler, else twice PCLK; with TIMPRE up to
/// four times, never above HCLK.
pub(super) fn timer_hz(hclk: u64, pclk: u64, timpre: bool) -> u64 {
    hclk.min(pclk * if timpre { 4 } else { 2 })
}

/// Computes the frequencies of HCLK and of the two APBs, for the families whose core runs from HCLK.
pub(super) fn compute_ahb_and_apb_frequencies(
    clocks: &mut Clocks,
    sysclk: u64,
    hpre: u32,
    ppre: [u32; 2],
    timpre: bool,
) {
    clocks.sysclk_hz = sysclk;
    clocks.hclk_hz = sysclk / ahb_divisor(hpre);
    clocks.core_hz = clocks.hclk_hz;
    for (n, code) in ppre.into_iter().enumerate() {
        clocks.pclk_hz[n] = clocks.hclk_hz / apb_divisor(code);
        clocks.timer_hz[n] = timer_hz(clocks.hclk_hz, clocks.pclk_hz[n], timpre);
    }
}
