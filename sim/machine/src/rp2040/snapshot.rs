//! Snapshots of the RP2040.

use std::sync::Arc;

use rtoslab_cpu::v6m::bus::Bus;
use rtoslab_cpu::v6m::core::Core;
use rtoslab_cpu::v6m::region::SLOTS;
use rtoslab_lab::{Console, Probes, StimulusSchedule};
use rtoslab_periph::rp2040::Rp2040Peripherals;
use rtoslab_periph::{ClockTree, Effects};

use super::fetches::FetchLog;
use super::machine::Machine;
use super::settings::Rp2040TimingValues;
use super::system::{MARK_CODE, System};
use crate::board::Stats;
use crate::debugger::Debugger;
use crate::image::Symbol;
use crate::observe::CycleObservableMachine;
use crate::snapshot::{PointerFreeSavedCore, Snapshot, pages_changed_since_snapshot};
use crate::stop::Stop;
use crate::warnings::Warnings;
use crate::xip::XipTags;

/// log2 of the bytes that share a mark.
const MARK_SHIFT: u32 = 8;

/// The saved state of a whole [`Machine`].
struct SavedBoard {
    cores: [PointerFreeSavedCore<Core>; 2],
    core_count: usize,
    entry_in_sram: Option<u32>,
    locked: Option<Stop>,
    now: u64,
    symbols: Arc<[Symbol]>,
    stats_base: [Stats; 2],
    system: SavedSystem,
}

/// The saved state of a [`System`].
struct SavedSystem {
    sram: Box<[u8]>,
    cache_sram: Box<[u8]>,
    xip: XipTags,
    fill_cycles: u64,
    word_cycles: u64,
    slots: [u64; SLOTS * 16],
    others_claimed: u64,
    busy: [u64; 16],
    fixed_first: Option<usize>,
    first: usize,
    due: u64,
    periph: Rp2040Peripherals,
    clocks: ClockTree,
    effects: Effects,
    timing: Rp2040TimingValues,
    probes: Probes,
    injections: StimulusSchedule,
    consoles: [Console; 2],
    stop: Option<Stop>,
    held: Vec<Stop>,
    passed_until: [Option<u32>; 2],
    warnings: Warnings,
    misses: [u64; 2],
    fetched: [FetchLog; 2],
    driven_lines: [u32; 2],
    pins: u32,
    debugger: Debugger,
}

impl Machine {
    /// Returns the board's present state.
    pub fn take_snapshot(&self) -> Snapshot {
        // Every field by name, here and below, so that a new one is not forgotten.
        let Machine {
            cores,
            system,
            core_count,
            entry_in_sram,
            locked,
            now,
            symbols,
            watch: _,
            observer: _,
            stats_base,
        } = self;
        let saved = SavedBoard {
            cores: cores.each_ref().map(PointerFreeSavedCore::<Core>::from_core),
            core_count: *core_count,
            entry_in_sram: *entry_in_sram,
            locked: locked.clone(),
            now: *now,
            symbols: symbols.clone(),
            stats_base: stats_base.clone(),
            system: system.saved_state(),
        };
        Snapshot::new(*now, saved)
    }

    /// Restores the state in a snapshot. Returns false if the snapshot is of another chip, or of one with other
    /// settings.
    pub fn restore_snapshot(&mut self, snapshot: &Snapshot) -> bool {
        let same_flash =
            |saved: &&SavedBoard| saved.system.periph.ssi.flash.flash_content().len() == self.system.flash_size();
        let Some(saved) = snapshot.machine_state::<SavedBoard>().filter(same_flash) else { return false };
        self.system.restore_saved_state(&saved.system);
        for (core, parked) in self.cores.iter_mut().zip(&saved.cores) {
            parked.restore_core(core, |address| self.system.code_region(address));
        }
        self.core_count = saved.core_count;
        self.entry_in_sram = saved.entry_in_sram;
        self.locked.clone_from(&saved.locked);
        self.now = saved.now;
        self.symbols = saved.symbols.clone();
        self.stats_base.clone_from(&saved.stats_base);
        self.abandon_cycle_observation();
        true
    }

    /// Places the probes of a snapshot on this board, which has none.
    pub fn install_snapshot_probes(&mut self, snapshot: &Snapshot) {
        let Some(saved) = snapshot.machine_state::<SavedBoard>() else { return };
        self.system.probes = saved.system.probes.clone();
        let addresses: Vec<u32> = self.system.probes.watched_words().collect();
        for address in addresses {
            self.system.mark_watched_address(address);
        }
        let addresses: Vec<u32> = self.system.probes.addresses_with_probes().collect();
        addresses.into_iter().for_each(|address| self.system.redecode_at(address));
    }
}

impl System {
    /// Copies the state into a snapshot.
    fn saved_state(&self) -> SavedSystem {
        let System {
            sram,
            rom: _,
            known: _,
            cache_sram,
            marks: _,
            watched: _,
            dropped: _,
            rom_code: _,
            flash_code: _,
            sram_code: _,
            xip,
            fill_cycles,
            word_cycles,
            slots,
            others_claimed,
            busy,
            fixed_first,
            first,
            due,
            periph,
            clocks,
            effects,
            timing,
            probes,
            injections,
            consoles,
            stop,
            held,
            passed_until,
            warnings,
            misses,
            fetched,
            driven_lines,
            lines_may_differ: _,
            pins,
            pairs: _,
            alone: _,
            polling: _,
            debugger,
            watches_registers: _,
        } = self;
        SavedSystem {
            sram: sram.as_slice().into(),
            cache_sram: cache_sram.clone(),
            xip: xip.xip_cache_tags(),
            fill_cycles: *fill_cycles,
            word_cycles: *word_cycles,
            slots: *slots,
            others_claimed: *others_claimed,
            busy: *busy,
            fixed_first: *fixed_first,
            first: *first,
            due: *due,
            periph: periph.clone(),
            clocks: clocks.clone(),
            effects: effects.clone(),
            timing: timing.clone(),
            probes: probes.clone(),
            injections: injections.clone(),
            consoles: consoles.clone(),
            stop: stop.clone(),
            held: held.clone(),
            passed_until: *passed_until,
            warnings: warnings.clone(),
            misses: *misses,
            fetched: *fetched,
            driven_lines: *driven_lines,
            pins: *pins,
            debugger: debugger.clone(),
        }
    }

    /// Replaces the state by that of a snapshot.
    fn restore_saved_state(&mut self, saved: &SavedSystem) {
        let stale: Vec<(u32, u32)> =
            pages_changed_since_snapshot(&self.sram, &saved.sram, &self.marks, MARK_CODE, MARK_SHIFT).collect();
        self.sram.copy_from_slice(&saved.sram);
        for (offset, bytes) in stale {
            self.invalidate_sram_code(offset, bytes);
        }
        self.cache_sram.copy_from_slice(&saved.cache_sram);
        let same_flash = Arc::ptr_eq(
            self.periph.ssi.flash.flash_content_for_sharing(),
            saved.periph.ssi.flash.flash_content_for_sharing(),
        );
        self.periph.clone_from(&saved.periph);
        if !same_flash {
            self.invalidate_flash_code(0, self.flash_size() as u32);
        }
        for line in self.xip.restore_cache_content(&saved.xip) {
            self.update_stub_ops_of_cache_line(line);
        }
        self.fill_cycles = saved.fill_cycles;
        self.word_cycles = saved.word_cycles;
        self.slots = saved.slots;
        self.others_claimed = saved.others_claimed;
        self.busy = saved.busy;
        self.fixed_first = saved.fixed_first;
        self.first = saved.first;
        self.due = saved.due;
        self.clocks.clone_from(&saved.clocks);
        self.effects.clone_from(&saved.effects);
        if self.timing != saved.timing {
            self.drop_cached_timing_and_native_code();
        }
        self.timing.clone_from(&saved.timing);
        self.probes.restore_probe_recordings(&saved.probes);
        self.injections.clone_from(&saved.injections);
        self.consoles.clone_from(&saved.consoles);
        self.stop.clone_from(&saved.stop);
        self.held.clone_from(&saved.held);
        self.passed_until = saved.passed_until;
        self.warnings.clone_from(&saved.warnings);
        self.misses = saved.misses;
        self.fetched = saved.fetched;
        self.driven_lines = saved.driven_lines;
        self.pins = saved.pins;
        self.debugger.clone_from(&saved.debugger);
        self.pairs.end_backoff();
    }
}
