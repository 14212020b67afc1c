//! Single-cycle I/O (RP2040 data sheet 2.3.1).
//!
//! Not on the bus and not a [`crate::Peripheral`]: each core has its own port, and the machine calls it in time
//! order, core 0 first in a tie, which is the documented priority for spinlocks and GPIO writes.

use crate::Effects;

mod divider;
mod gpio;
mod interp;
mod mailbox;
mod spinlock;

use divider::Divider;
pub use gpio::GpioBank;
use interp::Interpolator;
use mailbox::Mailboxes;
use spinlock::Spinlocks;
pub use spinlock::{LockAccess, LockAccessKind, LockStats};

const GPIO_MASK: u32 = 0x3fff_ffff;
const GPIO_HI_MASK: u32 = 0x3f;
/// NVIC line of core 0's FIFO interrupt; core 1 has the next.
const IRQ_PROC0: u32 = 15;

/// The single-cycle IO block of the RP2040 (SIO), with both cores' ports.
#[derive(Debug, Clone)]
pub struct Sio {
    /// Bank 0 GPIO registers.
    pub gpio: GpioBank,
    /// The six QSPI pins as GPIO.
    pub gpio_hi: GpioBank,
    mailboxes: Mailboxes,
    locks: Spinlocks,
    dividers: [Divider; 2],
    interps: [[Interpolator; 2]; 2],
}

impl Default for Sio {
    /// Returns the single-cycle I/O block (SIO) in its reset state.
    fn default() -> Self {
        let pair = || [Interpolator::new(0), Interpolator::new(1)];
        Self {
            gpio: GpioBank::new(GPIO_MASK),
            gpio_hi: GpioBank::new(GPIO_HI_MASK),
            mailboxes: Mailboxes::default(),
            locks: Spinlocks::default(),
            dividers: [Divider::default(), Divider::default()],
            interps: [pair(), pair()],
        }
    }
}

impl Sio {
    /// Puts every register to its reset value. The statistics start again.
    pub fn reset(&mut self) {
        *self = Self { locks: self.locks.spinlocks_after_reset(), ..Self::default() };
    }

    /// Reads a register as `core` sees it.
    #[inline]
    pub fn read_register(&mut self, offset: u32, core: usize, now_cycles: u64, effects: &mut Effects) -> u32 {
        match offset {
            0x100..=0x17c => self.locks.claim_lock(((offset - 0x100) / 4) as usize, core, now_cycles),
            0x050 => self.mailboxes.status_register(core),
            0x000 => core as u32,
            0x004 => self.gpio.input_levels(),
            0x010..=0x02c => self.gpio.read_register(offset - 0x010),
            0x058 => self.mailboxes.pop_from_other_core(core),
            _ => self.read_rarely_used_sio_register(offset, core, now_cycles, effects),
        }
    }

    /// Reads a register that [`Sio::read_register`] leaves out.
    fn read_rarely_used_sio_register(
        &mut self,
        offset: u32,
        core: usize,
        now_cycles: u64,
        effects: &mut Effects,
    ) -> u32 {
        match offset {
            0x008 => self.gpio_hi.input_levels(),
            0x030..=0x04c => self.gpio_hi.read_register(offset - 0x030),
            0x054 => 0,
            0x05c => self.locks.bits_of_taken_locks(),
            0x060..=0x078 => self.dividers[core].read_register(offset - 0x060, now_cycles),
            0x080..=0x0bc => self.interps[core][0].read_register(offset - 0x080),
            0x0c0..=0x0fc => self.interps[core][1].read_register(offset - 0x0c0),
            _ => {
                effects.unmodelled = Some((offset, false));
                0
            }
        }
    }

    /// Writes a register as `core`.
    #[inline]
    pub fn write_register(&mut self, offset: u32, value: u32, core: usize, now_cycles: u64, effects: &mut Effects) {
        match offset {
            0x100..=0x17c => self.locks.release_lock(((offset - 0x100) / 4) as usize, core, now_cycles),
            0x010..=0x02c => effects.pins_changed |= self.gpio.write_register(offset - 0x010, value),
            0x054 => self.mailboxes.push_to_other_core(core, value),
            0x050 => self.mailboxes.clear_error_flags(core),
            _ => self.write_other_register(offset, value, core, now_cycles, effects),
        }
    }

    /// Writes a register that [`Sio::write_register`] leaves out.
    fn write_other_register(&mut self, offset: u32, value: u32, core: usize, now_cycles: u64, effects: &mut Effects) {
        match offset {
            0x030..=0x04c => {
                self.gpio_hi.write_register(offset - 0x030, value);
            }
            0x000 | 0x004 | 0x008 | 0x058 | 0x05c => {}
            0x060..=0x078 => self.dividers[core].write_register(offset - 0x060, value, now_cycles),
            0x080..=0x0bc => self.interps[core][0].write_register(offset - 0x080, value),
            0x0c0..=0x0fc => self.interps[core][1].write_register(offset - 0x0c0, value),
            _ => effects.unmodelled = Some((offset, true)),
        }
    }

    /// Returns the level of `core`'s FIFO interrupt: bit 15 for core 0, bit 16 for core 1.
    #[inline]
    #[must_use]
    pub fn irq_levels(&self, core: usize) -> u32 {
        u32::from(self.mailboxes.is_interrupt_pending(core)) << (IRQ_PROC0 + core as u32)
    }

    /// Returns the statistics of each spinlock (0 to 31) by core.
    #[must_use]
    pub fn lock_stats(&self) -> &[[LockStats; 2]; 32] {
        self.locks.lock_stats()
    }

    /// Switches the log of accesses to spinlocks on or off.
    pub fn set_lock_access_logging(&mut self, on: bool) {
        self.locks.set_access_logging(on);
    }

    /// Returns whether accesses to spinlocks are logged.
    #[must_use]
    pub fn logs_lock_accesses(&self) -> bool {
        self.locks.logs_accesses()
    }

    /// Returns whether this spinlock is taken.
    #[must_use]
    pub fn is_locked(&self, lock: u8) -> bool {
        self.locks.bits_of_taken_locks() >> lock & 1 != 0
    }

    /// Counts `times` further reads of a taken spinlock by a core that waits for it.
    pub fn count_failed_lock_reads(&mut self, lock: u8, core: usize, times: u64) {
        self.locks.count_failed_spinlock_claims(lock.into(), core, times);
    }

    /// Removes the log of accesses to spinlocks and returns it.
    pub fn take_lock_accesses(&mut self) -> Vec<LockAccess> {
        self.locks.take_accesses()
    }

    /// Clears the statistics of spinlocks at cycle `now`. The locks themselves stay as they are.
    pub fn clear_lock_stats(&mut self, now_cycles: u64) {
        self.locks.clear_lock_stats(now_cycles);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_register(sio: &mut Sio, offset: u32, core: usize) -> u32 {
        sio.read_register(offset, core, 0, &mut Effects::default())
    }

    #[test]
    fn each_core_reads_its_own_number() {
        let mut sio = Sio::default();
        assert_eq!((read_register(&mut sio, 0, 0), read_register(&mut sio, 0, 1)), (0, 1));
    }

    #[test]
    fn cores_share_spinlocks_but_not_dividers() {
        let mut sio = Sio::default();
        let mut effects = Effects::default();
        assert_eq!(read_register(&mut sio, 0x100 + 4 * 31, 0), 1 << 31);
        assert_eq!(read_register(&mut sio, 0x100 + 4 * 31, 1), 0);
        assert_eq!(read_register(&mut sio, 0x05c, 1), 1 << 31);
        sio.write_register(0x060, 9, 0, 0, &mut effects);
        assert_eq!((read_register(&mut sio, 0x060, 0), read_register(&mut sio, 0x060, 1)), (9, 0));
    }

    #[test]
    fn pins_changed_only_when_a_pin_register_changes() {
        let mut sio = Sio::default();
        let mut effects = Effects::default();
        sio.write_register(0x014, 1 << 25, 0, 0, &mut effects);
        assert!(std::mem::take(&mut effects.pins_changed));
        sio.write_register(0x014, 1 << 25, 0, 0, &mut effects);
        assert!(!effects.pins_changed);
        sio.write_register(0x01c, 1 << 25, 1, 0, &mut effects);
        assert!(effects.pins_changed);
        assert_eq!(read_register(&mut sio, 0x010, 0), 0);
        assert_eq!(read_register(&mut sio, 0x014, 0), 0);
    }

    #[test]
    fn fifo_interrupts_reach_their_own_core_line() {
        let mut sio = Sio::default();
        let mut effects = Effects::default();
        sio.write_register(0x054, 5, 0, 0, &mut effects);
        assert_eq!((sio.irq_levels(0), sio.irq_levels(1)), (0, 1 << 16));
        assert_eq!(read_register(&mut sio, 0x058, 1), 5);
        assert_eq!(read_register(&mut sio, 0x058, 0), 0);
        assert_eq!((sio.irq_levels(0), sio.irq_levels(1)), (1 << 15, 0));
        sio.write_register(0x050, 0, 0, 0, &mut effects);
        assert_eq!(sio.irq_levels(0), 0);
    }

    #[test]
    fn interpolators_are_per_core_and_per_number() {
        let mut sio = Sio::default();
        let mut effects = Effects::default();
        sio.write_register(0x088, 7, 1, 0, &mut effects);
        assert_eq!(
            (read_register(&mut sio, 0x088, 1), read_register(&mut sio, 0x088, 0), read_register(&mut sio, 0x0c8, 1)),
            (7, 0, 0)
        );
        read_register(&mut sio, 0x180, 0);
        assert_eq!(effects.unmodelled, None);
        sio.write_register(0x180, 0, 0, 0, &mut effects);
        assert_eq!(effects.unmodelled, Some((0x180, true)));
    }

    #[test]
    fn every_offset_reaches_its_register() {
        let mut sio = Sio::default();
        let mut effects = Effects::default();
        sio.gpio.set_input_levels(0x1234);
        sio.gpio_hi.set_input_levels(0x2a);
        assert_eq!((read_register(&mut sio, 0x004, 0), read_register(&mut sio, 0x008, 1)), (0x1234, 0x2a));
        for (offset, want) in [(0x010, 0x3fff_ffff), (0x020, 0x3fff_ffff), (0x030, 0x3f), (0x040, 0x3f)] {
            sio.write_register(offset, u32::MAX, 0, 0, &mut effects);
            assert_eq!(read_register(&mut sio, offset, 1), want, "{offset:#x}");
            sio.write_register(offset + 0x0c, 1, 0, 0, &mut effects);
            assert_eq!(read_register(&mut sio, offset, 1), want - 1, "{offset:#x}");
        }
        for (offset, value) in [(0x070, 5), (0x074, 6), (0x080, 7), (0x090, 8), (0x0c0, 9), (0x0d0, 10)] {
            sio.write_register(offset, value, 1, 0, &mut effects);
            assert_eq!(
                (read_register(&mut sio, offset, 1), read_register(&mut sio, offset, 0)),
                (value, 0),
                "{offset:#x}"
            );
        }
        sio.write_register(0x0fc, 0x0002_0001, 1, 0, &mut effects);
        assert_eq!((read_register(&mut sio, 0x0c8, 1), read_register(&mut sio, 0x0cc, 1)), (1, 2));
        for offset in [0x000, 0x004, 0x008, 0x058, 0x05c] {
            sio.write_register(offset, 1, 0, 0, &mut effects);
        }
        assert_eq!(effects.unmodelled, None);
    }
}
