//! Snapshots of the STM32s with an ARMv7-M core.

use std::sync::Arc;

use rtoslab_cpu::v7m::bus::Bus;
use rtoslab_cpu::v7m::core::Core;
use rtoslab_lab::{Console, Probes, StimulusSchedule};
use rtoslab_periph::stm32::{Chip, Effects, ResetCause, Stm32};
use rtoslab_timing::stm32_bus;

use super::cleared::InterruptClearingStore;
use super::families::Run;
use super::family::Stm32ChipFamily;
use super::flash_port::FlashPort;
use super::machine::Machine;
use super::runner::Runner;
use super::settings::Settings;
use super::system::{Home, MARK_CODE, MARK_SHIFT, System};
use crate::board::Stats;
use crate::debugger::Debugger;
use crate::image::Symbol;
use crate::observe::CycleObservableMachine;
use crate::snapshot::{PointerFreeSavedCore, Snapshot, pages_changed_since_snapshot};
use crate::stop::Stop;
use crate::warnings::Warnings;

/// Bytes of a memory beside flash and main RAM that are compared, and copied, together.
const AREA_PAGE: usize = 1024;

/// The saved state of a machine, for a snapshot.
struct SavedBoard<F: Stm32ChipFamily> {
    chip: Chip,
    core: PointerFreeSavedCore<Core>,
    pipe: F::Pipe,
    own_table: Option<u32>,
    now: u64,
    symbols: Arc<[Symbol]>,
    stats_base: Stats,
    system: SavedSystem<F>,
}

/// The saved state of a [`System`], for a snapshot.
struct SavedSystem<F: Stm32ChipFamily> {
    ram: Box<[u8]>,
    flash: Arc<[u8]>,
    flash_port: F::Flash,
    memories: Vec<Box<[u8]>>,
    periph: Stm32,
    effects: Effects,
    lines: [u32; 5],
    cleared: Option<InterruptClearingStore>,
    settings: Arc<Settings<F>>,
    bus_rules: [u64; stm32_bus::SETTINGS.len()],
    probes: Probes,
    injections: StimulusSchedule,
    console: Console,
    console_port: u8,
    passed_until: Option<u32>,
    stop: Option<Stop>,
    warnings: Warnings,
    chip_reset: Option<ResetCause>,
    debugger: Debugger,
}

impl<F: Run> Machine<F> {
    /// Returns the board's present state.
    pub fn take_snapshot(&self) -> Snapshot {
        // Every field by name, here and below, so that a new one is not forgotten.
        let Machine { core, pipe, runner: _, system, chip, own_table, now, symbols, watch: _, observer: _, stats_base } =
            self;
        let saved = SavedBoard::<F> {
            chip: *chip,
            core: PointerFreeSavedCore::<Core>::from_core(core),
            pipe: pipe.clone(),
            own_table: *own_table,
            now: *now,
            symbols: symbols.clone(),
            stats_base: stats_base.clone(),
            system: system.saved_state(),
        };
        Snapshot::new(*now, saved)
    }

    /// Restores the board's state in a snapshot. Returns false if the snapshot is of another chip.
    pub fn restore_snapshot(&mut self, snapshot: &Snapshot) -> bool {
        let Some(saved) = snapshot.machine_state::<SavedBoard<F>>().filter(|saved| saved.chip == self.chip) else {
            return false;
        };
        if self.system.restore_saved_state(&saved.system) {
            self.runner.clear_timing_cache();
        }
        let system = &mut self.system;
        *self.core = saved.core.restore_core(|address| system.code_region(address));
        self.pipe = saved.pipe.clone();
        self.own_table = saved.own_table;
        self.now = saved.now;
        self.symbols = saved.symbols.clone();
        self.stats_base.clone_from(&saved.stats_base);
        self.abandon_cycle_observation();
        true
    }

    /// Places the probes of a snapshot on this board, which has none.
    pub fn install_snapshot_probes(&mut self, snapshot: &Snapshot) {
        let Some(saved) = snapshot.machine_state::<SavedBoard<F>>() else { return };
        self.system.probes = saved.system.probes.clone();
        let addresses: Vec<u32> = self.system.probes.watched_words().collect();
        for address in addresses {
            self.system.watch_word(address);
        }
        let addresses: Vec<u32> = self.system.probes.addresses_with_probes().collect();
        addresses.into_iter().for_each(|address| self.system.redecode_at(address));
    }
}

impl<F: Stm32ChipFamily> System<F> {
    /// Copies the state into a snapshot.
    fn saved_state(&self) -> SavedSystem<F> {
        let System {
            map: _,
            ram,
            fast_bytes: _,
            fast_end: _,
            ram_split: _,
            marks: _,
            watched: _,
            flash,
            flash_port,
            memories,
            tables: _,
            known: _,
            periph,
            effects,
            lines,
            cleared,
            epoch: _,
            settings,
            bus_rules,
            probes,
            injections,
            watched_elsewhere: _,
            console,
            console_port,
            passed_until,
            stop,
            warnings,
            chip_reset,
            polling: _,
            debugger,
        } = self;
        SavedSystem {
            ram: ram.as_slice().into(),
            flash: flash.clone(),
            flash_port: flash_port.clone(),
            memories: memories.iter().map(|memory| memory.bytes.as_slice().into()).collect(),
            periph: periph.clone(),
            effects: effects.clone(),
            lines: *lines,
            cleared: *cleared,
            settings: settings.clone(),
            bus_rules: *bus_rules,
            probes: probes.clone(),
            injections: injections.clone(),
            console: console.clone(),
            console_port: *console_port,
            passed_until: *passed_until,
            stop: stop.clone(),
            warnings: warnings.clone(),
            chip_reset: *chip_reset,
            debugger: debugger.clone(),
        }
    }

    /// Restores the state in a snapshot. Returns true if timing rules changed by that.
    fn restore_saved_state(&mut self, saved: &SavedSystem<F>) -> bool {
        let rules_changed = !Arc::ptr_eq(&self.settings, &saved.settings);
        let acr = |system: &Self| system.settings.flash_access_control(system.periph.flash_read_settings().acr);
        let (acr_before, zero_before) = (acr(self), self.periph.memory_at_zero());
        self.settings = saved.settings.clone();
        self.bus_rules = saved.bus_rules;
        self.periph.clone_from(&saved.periph);
        self.restore_memory_content(saved);
        if rules_changed || acr(self) != acr_before {
            self.epoch += 1;
        }
        if self.periph.memory_at_zero() != zero_before {
            self.forget_alias_at_zero();
        }
        self.flash_port.restore_state(&saved.flash_port);
        self.effects.clone_from(&saved.effects);
        self.lines = saved.lines;
        self.cleared = saved.cleared;
        self.probes.restore_probe_recordings(&saved.probes);
        self.injections.clone_from(&saved.injections);
        self.console.clone_from(&saved.console);
        self.console_port = saved.console_port;
        self.passed_until = saved.passed_until;
        self.stop.clone_from(&saved.stop);
        self.warnings.clone_from(&saved.warnings);
        self.chip_reset = saved.chip_reset;
        self.debugger.clone_from(&saved.debugger);
        rules_changed
    }

    /// Restores the content of the memories. Ops that were decoded from changed content are dropped.
    fn restore_memory_content(&mut self, saved: &SavedSystem<F>) {
        let stale: Vec<(u32, u32)> =
            pages_changed_since_snapshot(&self.ram, &saved.ram, &self.marks, MARK_CODE, MARK_SHIFT).collect();
        self.ram.copy_from_slice(&saved.ram);
        for (offset, bytes) in stale {
            self.drop_decoded_ops(Home::Ram, offset, bytes);
        }
        if !Arc::ptr_eq(&self.flash, &saved.flash) {
            self.flash = saved.flash.clone();
            self.drop_decoded_ops(Home::Flash, 0, self.map.flash_bytes);
        }
        for (index, then) in saved.memories.iter().enumerate() {
            for page in 0..then.len().div_ceil(AREA_PAGE) {
                let range = page * AREA_PAGE..then.len().min((page + 1) * AREA_PAGE);
                let now = &mut self.memories[index].bytes[range.clone()];
                if *now != then[range.clone()] {
                    now.copy_from_slice(&then[range.clone()]);
                    self.drop_decoded_ops(Home::Area(index), range.start as u32, range.len() as u32);
                }
            }
        }
    }
}
