//! The code of a path: each step is written, or called.

mod calls;

use std::mem::offset_of;

use super::super::log::{BRANCH_BITS, CYCLES_BITS, HOME_BITS, TraceTimingLog};
use super::super::table::Transition;
use super::super::{CacheLookupReplayData, CacheableTiming, Home, QuickBus, TRACE_CYCLES};
use super::plan::{Step, StepKind};
use super::record::WAYS;
use super::{CALLED, Context, DONE, LOGGING, PathExitNumber, RamLayout, Record};
use crate::host::x64::{Block, Limit, Memory, NativeCodeEmitter, Records, bounds_check_ranges_of_path, live_flags};
use crate::host::{
    Armv7mCoreFieldLayout, CachedConstantMemory, CoreFieldOffsets, ExitTimingRecordLayout, PathLayout, Place, Store,
    TimingPredictorLayout, TraceLogLayout, TraceTimingTransitionLayout,
};
use crate::v7m::core::Core;
use crate::v7m::op::Op;
use calls::{call_block, call_instruction, judge, load_elsewhere};

const FIELDS: CoreFieldOffsets = CoreFieldOffsets {
    r: offset_of!(Core, r) as i32,
    nz: offset_of!(Core, nz) as i32,
    c: offset_of!(Core, c) as i32,
    v: offset_of!(Core, v) as i32,
    ip: offset_of!(Core, ip) as i32,
    s: offset_of!(Core, s) as i32,
    float_ready: offset_of!(Core, float_ready) as i32,
};

/// Returns the offsets of fields that native code uses when it goes from one path to the next.
const fn path_offsets<B: QuickBus>() -> PathLayout {
    let repeating = offset_of!(Context<'_, (), ()>, repeating);
    PathLayout {
        state: offset_of!(Context<'_, (), ()>, state) as i32,
        executed: offset_of!(Context<'_, (), ()>, executed) as i32,
        counts: offset_of!(Context<'_, (), ()>, counts) as i32,
        version: (repeating + offset_of!(CacheLookupReplayData, version)) as i32,
        clock: (repeating + offset_of!(CacheLookupReplayData, clock)) as i32,
        groups: (repeating + offset_of!(CacheLookupReplayData, groups)) as i32,
        record: ExitTimingRecordLayout {
            bytes: size_of::<Record>(),
            ways: WAYS,
            state: offset_of!(Record, state) as i32,
            serial: offset_of!(Record, serial) as i32,
            transition: offset_of!(Record, transition) as i32,
            log: offset_of!(Record, log) as i32,
            ip: offset_of!(Record, ip) as i32,
            next: offset_of!(Record, next) as i32,
            instructions: offset_of!(Record, instructions) as i32,
            left: offset_of!(Record, left) as i32,
        },
        core: Armv7mCoreFieldLayout {
            ip: offset_of!(Core, ip) as i32,
            t: offset_of!(Core, t) as i32,
            limit: offset_of!(Core, limit) as i32,
            instructions: offset_of!(Core, instructions) as i32,
            bus_wait: offset_of!(Core, bus_wait) as i32,
            flash_wait: offset_of!(Core, flash_wait) as i32,
        },
        transition: TraceTimingTransitionLayout {
            serial: offset_of!(Transition<B::Lookups>, serial) as i32,
            bus_wait: offset_of!(Transition<B::Lookups>, bus_wait) as i32,
            flash_wait: offset_of!(Transition<B::Lookups>, flash_wait) as i32,
            next: offset_of!(Transition<B::Lookups>, next) as i32,
            taken: offset_of!(Transition<B::Lookups>, taken) as i32,
            cycles: offset_of!(Transition<B::Lookups>, cycles) as i32,
            lookups: offset_of!(Transition<B::Lookups>, lookups),
        },
        repeats: B::REPEATS,
        trace_cycles: TRACE_CYCLES,
        done: DONE,
    }
}

/// Emits the native code of the translation with this number, and returns its host address. `None` if it cannot be
/// compiled. `again`: execution left an earlier translation before an access, which is done by a call this time.
pub(super) fn assemble<P: CacheableTiming, B: QuickBus>(
    store: &mut Store,
    core: &Core,
    (ram, constants): (RamLayout, Option<CachedConstantMemory>),
    number: u32,
    (steps, records): (&[Step], &[Record]),
    again: bool,
) -> Option<u64> {
    let region = core.region;
    let place =
        Place { base: region.base, bytes: region.bytes, ops: region.ops as u64, op_bytes: size_of::<Op>() as u32 };
    let loader = load_elsewhere::<P, B> as unsafe extern "sysv64" fn(_, _, _) -> _ as usize;
    let mut writer = NativeCodeEmitter::new(FIELDS, place, ram.base, loader);
    if let Some(foresight) = P::FORESIGHT {
        let judge = judge::<P, B> as unsafe extern "sysv64" fn(_, _, _) -> _ as usize;
        writer.set_pipeline_timing_log_kind(foresight, TraceLogLayout { judge, ..LOGGING }, constants);
    }
    let live = live_flags(&steps.iter().map(|step| step.op).collect::<Vec<_>>());
    let block = |step: &Step| match step.kind {
        StepKind::Access(home) => accessed_memory(home, ram).main_ram_block().map(|block| block.first),
        _ => None,
    };
    let spans = bounds_check_ranges_of_path(&steps.iter().map(|step| (step.op, block(step))).collect::<Vec<_>>());
    let mut most = 1;
    for (number, step) in steps.iter().enumerate() {
        writer.begin_instruction_step(live[number], spans[number]);
        if let Some(TimingPredictorLayout { ago_bits, .. }) = P::FORESIGHT {
            let bits = TraceTimingLog::max_timing_log_bits_before_entry(ago_bits, step.before.left);
            writer.set_next_load_bounds(Limit {
                bits: (most > bits).then_some(bits),
                likely: step.timing_log_bits_of_step() > HOME_BITS,
            });
            most += max_timing_log_bits_of_step(step, ago_bits);
        }
        let is_left = again && number == 0 && matches!(step.kind, StepKind::Access(_));
        if is_left || !write_step(&mut writer, number as u32, step, ram) {
            let block = call_block::<P, B> as unsafe extern "sysv64" fn(_, _) -> _;
            let instruction = call_instruction::<P, B> as unsafe extern "sysv64" fn(_, _) -> _;
            let function = if step.kind == StepKind::Block { block as usize } else { instruction as usize };
            writer.emit_call(function, std::ptr::from_ref(step) as u64);
        }
    }
    let records = Records { first: records.as_ptr() as u64, bytes: WAYS * size_of::<Record>() as u32 };
    let end = (steps.len() as u32, steps.last()?.may_jump());
    writer.finish_chained_code_path(store, records, end, PathExitNumber::new(number, CALLED).0, &path_offsets::<B>())
}

/// Returns how many bits a step of a path can log at most. A load logs in `ago_bits` bits how many stores ago the
/// loaded doubleword was stored to.
fn max_timing_log_bits_of_step(step: &Step, ago_bits: u32) -> u32 {
    match step.kind {
        StepKind::On | StepKind::Branch(_) => CYCLES_BITS + BRANCH_BITS,
        StepKind::Access(_) => HOME_BITS + ago_bits + BRANCH_BITS,
        // Longer than any log.
        StepKind::Block => u64::BITS,
    }
}

/// Emits the code of one step. Returns false if it cannot be JIT-compiled.
fn write_step(writer: &mut NativeCodeEmitter, number: u32, step: &Step, ram: RamLayout) -> bool {
    match step.kind {
        StepKind::Block => false,
        StepKind::Branch(taken) => {
            writer.emit_branch(number, step.op, step.ip as u64, taken);
            true
        }
        StepKind::Access(home) => {
            writer.emit_load_or_store(number, step.op, step.ip as u64, accessed_memory(home, ram))
        }
        StepKind::On => writer.write_instruction(number, step.op, step.ip as u64),
    }
}

/// Returns the memory that native code accesses for this kind of memory.
fn accessed_memory(home: Home, ram: RamLayout) -> Memory {
    let (first, behind) = match home {
        Home::First => (0, ram.split.min(ram.end)),
        Home::Second => (ram.split, ram.end),
        Home::Cached | Home::Waiting => return Memory::Elsewhere(home as u32),
    };
    Memory::Ram(Block { first, bytes: behind - first })
}
