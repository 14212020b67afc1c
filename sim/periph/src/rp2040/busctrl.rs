//! Bus priority and performance counters (RP2040 data sheet 2.1.5).
//!
//! The machine owns the fabric: it asks for the priorities and reports the events.

use crate::{Access, Peripheral};

const PRIORITY_MASK: u32 = 0x1111;
const COUNTER_MAX: u32 = 0x00ff_ffff;
const SELECT_RESET: u32 = 0x1f;

/// A bus master, by its bit in BUS_PRIORITY.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BusMaster {
    /// Core 0.
    Proc0 = 0,
    /// Core 1.
    Proc1 = 4,
    /// DMA read port.
    DmaRead = 8,
    /// DMA write port.
    DmaWrite = 12,
}

/// The bus controls of the RP2040 (BUSCTRL): priorities and performance counters.
#[derive(Debug, Clone)]
pub struct Busctrl {
    priority: u32,
    counters: [u32; 4],
    selects: [u32; 4],
    /// Bit n: some counter counts event n. Lets the machine skip events nobody counts.
    selected: u32,
}

impl Default for Busctrl {
    /// Returns the bus controller in its reset state.
    fn default() -> Self {
        Self { priority: 0, counters: [0; 4], selects: [SELECT_RESET; 4], selected: 0 }
    }
}

impl Busctrl {
    /// Returns whether `master` has high priority.
    #[inline]
    #[must_use]
    pub fn has_high_priority(&self, master: BusMaster) -> bool {
        self.priority >> (master as u32) & 1 != 0
    }

    /// Returns BUS_PRIORITY as written: bit 0 PROC0, 4 PROC1, 8 DMA read, 12 DMA write.
    #[inline]
    #[must_use]
    pub fn priority_register(&self) -> u32 {
        self.priority
    }

    /// Returns the events that some counter counts: bit n for event n (0x00 to 0x13, data sheet "PERFSEL0").
    #[inline]
    #[must_use]
    pub fn bus_events_being_counted(&self) -> u32 {
        self.selected
    }

    /// Counts one occurrence of `event` on every counter that selects it.
    #[inline]
    pub fn count_event(&mut self, event: u32) {
        if self.selected >> event & 1 == 0 {
            return;
        }
        for (counter, &select) in self.counters.iter_mut().zip(&self.selects) {
            if select == event {
                *counter = (*counter + 1).min(COUNTER_MAX);
            }
        }
    }
}

impl Peripheral for Busctrl {
    const NAME: &'static str = "BUSCTRL";

    /// Puts the registers of the bus controller to their reset values.
    fn reset_registers(&mut self) {
        *self = Self::default();
    }

    /// Reads a register of the bus controller at a byte offset. `access` holds the time in cycles and the requesting
    /// core.
    fn read_register(&mut self, offset: u32, access: &mut Access) -> u32 {
        if offset > 0x24 {
            access.effects.unmodelled = Some((offset, false));
        }
        self.peek_register(offset, access)
    }

    /// Writes a register of the bus controller at a byte offset. `access` holds the time in cycles and takes requests
    /// to the machine.
    fn write_register(&mut self, offset: u32, value: u32, access: &mut Access) {
        match offset {
            0x00 => self.priority = value & PRIORITY_MASK,
            0x04 => {}
            0x08 | 0x10 | 0x18 | 0x20 => self.counters[(offset as usize - 8) / 8] = 0,
            0x0c | 0x14 | 0x1c | 0x24 => {
                self.selects[(offset as usize - 0x0c) / 8] = value & 0x1f;
                self.selected = self.selects.iter().fold(0, |mask, &event| mask | 1 << event);
            }
            _ => access.effects.unmodelled = Some((offset, true)),
        }
    }

    /// Returns the value of a register of the bus controller at a byte offset, without the side effects of a read.
    fn peek_register(&self, offset: u32, _access: &Access) -> u32 {
        match offset {
            0x00 => self.priority,
            // The arbiters take a new setting over within a cycle or two. Here at once.
            0x04 => 1,
            0x08 | 0x10 | 0x18 | 0x20 => self.counters[(offset as usize - 8) / 8],
            0x0c | 0x14 | 0x1c | 0x24 => self.selects[(offset as usize - 0x0c) / 8],
            _ => 0,
        }
    }

    /// Returns whether a write through an atomic alias (XOR, SET, CLR) reaches the register at this offset unchanged.
    /// This holds for the performance counters only, which any write clears.
    fn is_strobe(&self, offset: u32) -> bool {
        matches!(offset, 0x08 | 0x10 | 0x18 | 0x20)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rp2040::testing::Bench;

    #[test]
    fn bus_priority_is_set_and_acknowledged() {
        let mut bench = Bench::new();
        let mut bus = Busctrl::default();
        bus.write_register(0, !0x10, &mut bench.access());
        assert_eq!(bus.read_register(0, &mut bench.access()), 0x1101);
        assert!(bus.has_high_priority(BusMaster::Proc0) && !bus.has_high_priority(BusMaster::Proc1));
        assert!(bus.has_high_priority(BusMaster::DmaWrite));
        assert_eq!(bus.read_register(4, &mut bench.access()), 1);
    }

    #[test]
    fn counters_count_their_event_saturate_and_clear() {
        let mut bench = Bench::new();
        let mut bus = Busctrl::default();
        assert_eq!(bus.read_register(0x0c, &mut bench.access()), 0x1f);
        bus.write_register(0x14, 0x13, &mut bench.access());
        assert_eq!(bus.bus_events_being_counted(), 1 << 0x13 | 1 << 0x1f);
        bus.count_event(0x13);
        bus.count_event(0x12);
        assert_eq!(
            (bus.read_register(0x08, &mut bench.access()), bus.read_register(0x10, &mut bench.access())),
            (0, 1)
        );
        bus.counters[1] = COUNTER_MAX;
        bus.count_event(0x13);
        assert_eq!(bus.read_register(0x10, &mut bench.access()), COUNTER_MAX);
        bus.write_register(0x10, 5, &mut bench.access());
        assert_eq!(bus.read_register(0x10, &mut bench.access()), 0);
    }
}
