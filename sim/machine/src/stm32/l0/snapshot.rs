//! Snapshots of the STM32L0.

use std::sync::Arc;

use rtoslab_cpu::v6m::bus::Bus;
use rtoslab_cpu::v6m::core::Core;

use super::devices::BoardPeripherals;
use super::machine::Machine;
use super::memory::{MARK_CODE, MARK_SHIFT, Memories};
use super::system::System;
use crate::board::Stats;
use crate::image::Symbol;
use crate::observe::CycleObservableMachine;
use crate::snapshot::{PointerFreeSavedCore, Snapshot, pages_changed_since_snapshot};
use crate::stm32::flash::FlashL0;

/// The saved state of a machine, for a snapshot.
struct SavedBoard {
    core: PointerFreeSavedCore<Core>,
    own_table: Option<u32>,
    now: u64,
    symbols: Arc<[Symbol]>,
    stats_base: Stats,
    memories: Vec<Box<[u8]>>,
    at_zero: u32,
    devices: BoardPeripherals,
    flash: FlashL0,
    due: u64,
}

impl Machine {
    /// Returns the board's present state.
    pub fn take_snapshot(&self) -> Snapshot {
        // Every field by name, so that a new one is not forgotten.
        let Machine { cores, system, own_table, now, symbols, watch: _, observer: _, stats_base } = self;
        let System {
            memories,
            devices,
            flash,
            known: _,
            due,
            timing_cache: _,
            cached_edition: _,
            refetch: _,
            polling: _,
        } = &**system;
        let Memories { all, windows: _, at_zero, edition: _, refreshed: _ } = memories;
        let saved = SavedBoard {
            core: PointerFreeSavedCore::<Core>::from_core(&cores[0]),
            own_table: *own_table,
            now: *now,
            symbols: symbols.clone(),
            stats_base: stats_base.clone(),
            memories: all.iter().map(|memory| memory.bytes.as_slice().into()).collect(),
            at_zero: *at_zero,
            devices: devices.clone(),
            flash: flash.clone(),
            due: *due,
        };
        Snapshot::new(*now, saved)
    }

    /// Restores the board's state in a snapshot. Returns false if the snapshot is of another chip.
    pub fn restore_snapshot(&mut self, snapshot: &Snapshot) -> bool {
        let Some(saved) = self.find_saved_board_state(snapshot) else { return false };
        let system = &mut *self.system;
        system.memories.restore_memory_content(&saved.memories);
        if system.memories.at_zero != saved.at_zero || !system.flash.has_same_flash_timing(&saved.flash) {
            system.timing_cache.forget_timing_and_native_code();
        }
        system.memories.at_zero = saved.at_zero;
        system.devices.restore_devices(&saved.devices);
        system.flash.clone_from(&saved.flash);
        system.due = saved.due;
        saved.core.restore_core(&mut self.cores[0], |address| system.code_region(address));
        self.own_table = saved.own_table;
        self.now = saved.now;
        self.symbols = saved.symbols.clone();
        self.stats_base.clone_from(&saved.stats_base);
        self.abandon_cycle_observation();
        true
    }

    /// Returns the saved state in a snapshot. `None` if it is of another chip.
    fn find_saved_board_state<'a>(&self, snapshot: &'a Snapshot) -> Option<&'a SavedBoard> {
        let chip = self.system.devices.periph.chip();
        snapshot.machine_state::<SavedBoard>().filter(|saved| saved.devices.periph.chip() == chip)
    }

    /// Places the probes of a snapshot on this board, which has none.
    pub fn install_snapshot_probes(&mut self, snapshot: &Snapshot) {
        let Some(saved) = self.find_saved_board_state(snapshot) else { return };
        let system = &mut *self.system;
        system.devices.probes = saved.devices.probes.clone();
        system.devices.watches_registers = saved.devices.watches_registers;
        for address in system.devices.probes.watched_words() {
            system.memories.mark_watched_address(address);
        }
        for address in system.devices.probes.addresses_with_probes() {
            system.memories.redecode_at(address);
        }
    }
}

impl BoardPeripherals {
    /// Restores the state of other devices, except the places of probes.
    fn restore_devices(&mut self, then: &BoardPeripherals) {
        let mut probes = std::mem::take(&mut self.probes);
        let watches_registers = self.watches_registers;
        probes.restore_probe_recordings(&then.probes);
        self.clone_from(then);
        self.probes = probes;
        self.watches_registers = watches_registers;
    }
}

impl Memories {
    /// Restores the content of the memories. Ops that were decoded from changed content are dropped.
    fn restore_memory_content(&mut self, then: &[Box<[u8]>]) {
        for (index, bytes) in then.iter().enumerate() {
            let memory = &mut self.all[index];
            let stale: Vec<(u32, u32)> =
                pages_changed_since_snapshot(&memory.bytes, bytes, &memory.marks, MARK_CODE, MARK_SHIFT).collect();
            memory.bytes.copy_from_slice(bytes);
            for (offset, bytes) in stale {
                self.drop_decoded_ops(index, offset, bytes);
            }
        }
    }
}
