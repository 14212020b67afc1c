//! The profile of speculative execution: the number of times that each trace was taken, times its instructions'
//! cycles.

use std::collections::HashMap;

use super::TRACE_INSTRUCTIONS;
use crate::profile::ProfileCell;
use crate::v7m::core::Core;

/// The share of one instruction of a trace, in one word: its address, then its cycles, then those of them that it
/// waited.
pub(super) type Share = u64;
/// The shares of all instructions, in their order. 0 after the last.
pub(super) type Shares = [Share; TRACE_INSTRUCTIONS as usize];
/// Nothing.
pub(super) const NO_SHARES: Shares = [0; TRACE_INSTRUCTIONS as usize];

const CYCLES: u32 = 16;
const ADDRESS: u32 = 32;

/// An instruction that begins.
#[derive(Debug, Clone, Copy)]
pub(super) struct OpenTrace {
    address: u32,
    t: u64,
    waits: u64,
}

impl OpenTrace {
    /// The one at which the core stands.
    pub fn at(core: &Core) -> OpenTrace {
        OpenTrace { address: core.address_of(core.ip), t: core.t, waits: core.bus_wait + core.flash_wait }
    }

    /// Its share, now that it has ended.
    pub fn share(self, core: &Core) -> Share {
        let (cycles, waits) = (core.t - self.t, core.bus_wait + core.flash_wait - self.waits);
        debug_assert!(cycles >> CYCLES == 0 && waits >> CYCLES == 0);
        u64::from(self.address) << ADDRESS | cycles << CYCLES | waits
    }
}

/// The profile by address.
#[derive(Debug, Default)]
pub(super) struct Account(HashMap<u32, ProfileCell>);

impl Account {
    /// A trace was taken so many times.
    pub fn add(&mut self, shares: &Shares, times: u64) {
        for &share in shares.iter().take_while(|share| **share != 0) {
            let cell = self.0.entry((share >> ADDRESS) as u32).or_default();
            cell.cycles += times * (share >> CYCLES & 0xffff);
            cell.wait_cycles += times * (share & 0xffff);
            cell.executions += times;
        }
    }

    /// Takes all of it out.
    pub fn take(&mut self) -> impl Iterator<Item = (u32, ProfileCell)> {
        std::mem::take(&mut self.0).into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::v7m::core::Features;

    #[test]
    fn a_trace_counts_as_often_as_it_was_taken() {
        let share = |address: u32, cycles: u64, waits: u64| {
            let mut core = Core::new(Features::CORTEX_M4F);
            core.region.base = address;
            let begun = OpenTrace::at(&core);
            (core.t, core.flash_wait) = (cycles, waits);
            begun.share(&core)
        };
        let mut shares = NO_SHARES;
        // The same instruction twice, as in a loop. One that took no time.
        shares[..4].copy_from_slice(&[share(0x100, 5, 2), share(0x104, 0, 0), share(0x106, 1, 0), share(0x100, 3, 0)]);
        let mut account = Account::default();
        account.add(&shares, 10);
        account.add(&shares, 1);
        let mut rows: Vec<_> = account.take().collect();
        rows.sort_unstable_by_key(|row| row.0);
        let fields = |row: &(u32, ProfileCell)| (row.0, row.1.cycles, row.1.executions, row.1.wait_cycles);
        let rows: Vec<_> = rows.iter().map(fields).collect();
        assert_eq!(rows, [(0x100, 88, 22, 22), (0x104, 0, 11, 0), (0x106, 11, 11, 0)]);
        assert_eq!(account.take().count(), 0);
    }
}
