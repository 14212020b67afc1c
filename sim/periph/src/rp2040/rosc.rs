//! Ring oscillator (RP2040 data sheet 2.17).
//!
//! The real frequency varies from part to part. This one is nominal and exact, so that a boot takes the same
//! number of cycles everywhere. Drive strengths (FREQA, FREQB) and the range are stored but change nothing.

use crate::{Access, FractionalRateCounter, Peripheral};

/// Nominal output in Hz with the reset divider of 16 (data sheet 2.17.1).
pub const ROSC_NOMINAL_HZ: u64 = 6_500_000;
const ENABLE: u32 = 0xfab;
const DISABLE: u32 = 0xd1e;
const PASSWORD_DIV: u32 = 0xaa0;
const PASSWORD_FREQ: u32 = 0x9696;
const STATUS_BADWRITE: u32 = 1 << 24;
/// STABLE, DIV_RUNNING and ENABLED. All of them follow the enable.
const STATUS_RUNNING: u32 = 1 << 31 | 1 << 16 | 1 << 12;
/// Start of the generator behind RANDOMBIT: any value but 0.
const RANDOM_SEED: u32 = 0x1bad_f00d;

/// The ring oscillator of the RP2040 (ROSC).
#[derive(Debug, Clone)]
pub struct Rosc {
    ctrl: u32,
    freq: [u32; 2],
    dormant: u32,
    div: u32,
    phase: u32,
    badwrite: bool,
    enabled: bool,
    random: u32,
    count_from: u32,
    count: FractionalRateCounter,
}

impl Default for Rosc {
    /// Returns the ring oscillator in its reset state.
    fn default() -> Self {
        Self {
            ctrl: 0xaa0,
            freq: [0; 2],
            dormant: 0x7761_6b65,
            div: PASSWORD_DIV + 16,
            phase: 8,
            badwrite: false,
            enabled: true,
            random: RANDOM_SEED,
            count_from: 0,
            count: FractionalRateCounter::default(),
        }
    }
}

impl Rosc {
    /// Returns the output frequency in Hz.
    #[must_use]
    pub fn hz(&self) -> u64 {
        if self.enabled { ROSC_NOMINAL_HZ * 16 / u64::from(self.ring_oscillator_output_divisor()) } else { 0 }
    }

    /// Returns the divisor that DIV selects: 0 divides by 32, 1 to 31 by themselves, anything else by 31.
    fn ring_oscillator_output_divisor(&self) -> u32 {
        match self.div.wrapping_sub(PASSWORD_DIV) {
            0 => 32,
            n @ 1..=31 => n,
            _ => 31,
        }
    }

    /// Writes CTRL: enable and frequency range.
    fn write_control_register(&mut self, value: u32, access: &mut Access) {
        let was = self.enabled;
        match (value >> 12) & 0xfff {
            ENABLE => self.enabled = true,
            DISABLE => self.enabled = false,
            0 => {}
            _ => self.badwrite = true,
        }
        self.badwrite |= !matches!(value & 0xfff, 0xaa0 | 0xfa4..=0xfa7 | 0);
        self.ctrl = value & 0x00ff_ffff;
        access.effects.clocks_changed |= was != self.enabled;
    }
}

impl Peripheral for Rosc {
    const NAME: &'static str = "ROSC";

    /// Puts the registers of the ring oscillator to their reset values.
    fn reset_registers(&mut self) {
        *self = Self::default();
    }

    /// Reads a register of the ring oscillator at a byte offset. `access` holds the time in cycles and the requesting
    /// core. A read of RANDOMBIT takes a step of a fixed sequence.
    fn read_register(&mut self, offset: u32, access: &mut Access) -> u32 {
        if offset > 0x20 {
            access.effects.unmodelled = Some((offset, false));
        }
        if offset == 0x1c {
            // Galois LFSR, one step per read: repeatable, and still balanced for firmware that seeds from it.
            self.random = (self.random >> 1) ^ (0u32.wrapping_sub(self.random & 1) & 0x8020_0003);
        }
        self.peek_register(offset, access)
    }

    /// Writes a register of the ring oscillator at a byte offset. `access` holds the time in cycles and takes requests
    /// to the machine.
    fn write_register(&mut self, offset: u32, value: u32, access: &mut Access) {
        match offset {
            0x00 => self.write_control_register(value, access),
            0x04 | 0x08 => {
                self.badwrite |= value >> 16 != PASSWORD_FREQ && value >> 16 != 0;
                self.freq[(offset / 4 - 1) as usize] = value;
            }
            0x0c => self.dormant = value,
            0x10 => {
                let before = self.hz();
                self.badwrite |= !(PASSWORD_DIV..PASSWORD_DIV + 32).contains(&value);
                self.div = value & 0xfff;
                access.effects.clocks_changed |= before != self.hz();
            }
            0x14 => {
                self.badwrite |= value & 0xff0 != PASSWORD_DIV;
                self.phase = value & 0xfff;
            }
            0x18 => self.badwrite &= value & STATUS_BADWRITE == 0,
            0x1c => {}
            0x20 => {
                self.count_from = value & 0xff;
                self.count = FractionalRateCounter::new_running_counter(
                    access.now_cycles,
                    0,
                    self.hz(),
                    1,
                    access.clocks.sys_hz,
                );
            }
            _ => access.effects.unmodelled = Some((offset, true)),
        }
    }

    /// Returns the value of a register of the ring oscillator at a byte offset, without the side effects of a read.
    fn peek_register(&self, offset: u32, access: &Access) -> u32 {
        match offset {
            0x00 => self.ctrl,
            0x04 | 0x08 => self.freq[(offset / 4 - 1) as usize],
            0x0c => self.dormant,
            0x10 => self.div,
            0x14 => self.phase,
            0x18 => {
                let running = if self.enabled { STATUS_RUNNING } else { 0 };
                running | if self.badwrite { STATUS_BADWRITE } else { 0 }
            }
            0x1c => self.random & 1,
            0x20 => self.count_from.saturating_sub(self.count.value_at_cycle(access.now_cycles).min(255) as u32),
            _ => 0,
        }
    }

    /// Returns whether a write through an atomic alias (XOR, SET, CLR) reaches the register at this offset unchanged.
    /// This holds for STATUS only.
    fn is_strobe(&self, offset: u32) -> bool {
        offset == 0x18
    }

    /// Adapts the COUNT register, if it counts, to the new clock frequencies in `access`.
    fn clocks_changed(&mut self, access: &mut Access) {
        if self.count.is_counting() {
            self.count.change_counting_rate(access.now_cycles, self.hz(), 1, access.clocks.sys_hz);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rp2040::testing::Bench;

    #[test]
    fn ring_oscillator_runs_and_divides() {
        let mut bench = Bench::new();
        let mut rosc = Rosc::default();
        assert_eq!(rosc.hz(), 6_500_000);
        rosc.write_register(0x10, 0xaa0 + 1, &mut bench.access());
        assert_eq!(rosc.hz(), 104_000_000);
        assert!(bench.effects.clocks_changed);
        rosc.write_register(0x10, 0xaa0, &mut bench.access());
        assert_eq!(rosc.hz(), 3_250_000);
    }

    #[test]
    fn status_and_badwrite() {
        let mut bench = Bench::new();
        let mut rosc = Rosc::default();
        assert_eq!(rosc.read_register(0x18, &mut bench.access()), 0x8001_1000);
        rosc.write_register(0x00, 0x123_aa0, &mut bench.access());
        assert_eq!(rosc.read_register(0x18, &mut bench.access()), 0x8101_1000);
        rosc.write_register(0x18, 1 << 24, &mut bench.access());
        rosc.write_register(0x00, 0xd1e_aa0, &mut bench.access());
        assert_eq!((rosc.read_register(0x18, &mut bench.access()), rosc.hz()), (0, 0));
    }

    #[test]
    fn random_bit_is_repeatable_and_balanced() {
        let mut bench = Bench::new();
        let draw = |bench: &mut Bench| {
            let mut rosc = Rosc::default();
            (0..1000).map(|_| rosc.read_register(0x1c, &mut bench.access())).collect::<Vec<_>>()
        };
        let first = draw(&mut bench);
        assert_eq!(first, draw(&mut bench));
        let ones: u32 = first.iter().sum();
        assert!((400..600).contains(&ones), "{ones} ones in 1000");
    }

    #[test]
    fn passwords_guard_drive_strength_divider_and_phase() {
        let mut bench = Bench::new();
        let cases = [
            (0x04, 0x9696_0000, 0x1234_0000),
            (0x08, 0x9696_7777, 0x1234_7777),
            (0x10, 0xaa0 + 31, 0xaa0 + 32),
            (0x14, 0xaa5, 0xbb5),
            (0x00, 0xfab_fa4, 0xfab_fa8),
        ];
        for (offset, good, bad) in cases {
            let mut rosc = Rosc::default();
            rosc.write_register(offset, good, &mut bench.access());
            assert_eq!(rosc.read_register(0x18, &mut bench.access()) & STATUS_BADWRITE, 0, "{offset:#x}");
            assert_eq!(rosc.read_register(offset, &mut bench.access()), good);
            rosc.write_register(offset, bad, &mut bench.access());
            assert_eq!(rosc.read_register(0x18, &mut bench.access()) & STATUS_BADWRITE, STATUS_BADWRITE, "{offset:#x}");
        }
    }

    #[test]
    fn count_falls_at_its_own_rate_through_a_clock_change() {
        let mut bench = Bench::new();
        bench.tree.sys_hz = 6_500_000;
        let mut rosc = Rosc::default();
        rosc.write_register(0x20, 100, &mut bench.access());
        assert_eq!(rosc.read_register(0x20, &mut bench.access_at(10)), 90);
        bench.tree.sys_hz = 13_000_000;
        rosc.clocks_changed(&mut bench.access());
        assert_eq!(rosc.read_register(0x20, &mut bench.access_at(30)), 80);
        assert_eq!(rosc.read_register(0x0c, &mut bench.access()), 0x7761_6b65);
    }

    #[test]
    fn status_register_takes_raw_alias_writes() {
        let rosc = Rosc::default();
        let strobes: Vec<u32> = (0..0x24).step_by(4).filter(|&offset| rosc.is_strobe(offset)).collect();
        assert_eq!(strobes, [0x18]);
    }
}
