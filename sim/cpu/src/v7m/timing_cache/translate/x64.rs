//! Translation to code of x86-64 hosts.

mod calls;
mod transit;

use std::mem::offset_of;

use super::super::log::{BRANCH_BITS, CYCLES_BITS, HOME_BITS, Log};
use super::super::{CacheableTiming, Home, QuickBus};
use super::plan::{Course, Step};
use super::{CALLED, Context, PathExit, RamLayout, Record, WAYS};
use crate::host::x64::{self as host, Block, Limit, Memory, Records, Writer, live, spans};
use crate::host::{Constants, Fields, Foresight, Logging, Place};
use crate::v7m::core::Core;
use crate::v7m::op::Op;
use calls::{call_block, call_instruction, judge, load_elsewhere};
use transit::transit;

pub(super) use crate::host::x64::{Entry, Store};

/// Enters code at an address.
///
/// # Safety
/// As for [`super::Translations::run`].
#[inline(always)]
pub(super) unsafe fn enter<P, B>(
    entry: Entry,
    context: &mut Context<'_, P, B>,
    (ram, marks): (*mut u8, *const u8),
    code: u64,
) -> u64 {
    // SAFETY: the caller's promise.
    unsafe { entry((&raw mut *context.core).cast(), ram, marks, std::ptr::from_mut(context).cast(), code) }
}

/// Writes an entry for such pipelines.
pub(super) fn entry<P: CacheableTiming>(store: &mut Store) -> Option<Entry> {
    host::entry(store, P::FORESIGHT.map(|foresight| (foresight, LOGGING)))
}

const FIELDS: Fields = Fields {
    r: offset_of!(Core, r) as i32,
    nz: offset_of!(Core, nz) as i32,
    c: offset_of!(Core, c) as i32,
    v: offset_of!(Core, v) as i32,
    ip: offset_of!(Core, ip) as i32,
    s: offset_of!(Core, s) as i32,
    float_ready: offset_of!(Core, float_ready) as i32,
};

const LOGGING: Logging = Logging {
    pipe: offset_of!(Context<'_, (), ()>, pipe) as i32,
    log: offset_of!(Context<'_, (), ()>, log) as i32,
    constants: offset_of!(Context<'_, (), ()>, constants) as i32,
    judge: 0,
};

/// Code for the steps of the translation with this number, which it points to where it calls, as to their records: where it
/// begins. An access that such a path was left before is to be done `again`: it is called.
pub(super) fn assemble<P: CacheableTiming, B: QuickBus>(
    store: &mut Store,
    core: &Core,
    (ram, constants): (RamLayout, Option<Constants>),
    number: u32,
    (steps, records): (&[Step], &[Record]),
    again: bool,
) -> Option<u64> {
    let region = core.region;
    let place =
        Place { base: region.base, bytes: region.bytes, ops: region.ops as u64, op_bytes: size_of::<Op>() as u32 };
    let loader = load_elsewhere::<P, B> as unsafe extern "sysv64" fn(_, _, _) -> _ as usize;
    let mut writer = Writer::new(FIELDS, place, ram.base, loader);
    if let Some(foresight) = P::FORESIGHT {
        let judge = judge::<P, B> as unsafe extern "sysv64" fn(_, _, _) -> _ as usize;
        writer.logs(foresight, Logging { judge, ..LOGGING }, constants);
    }
    let live = live(&steps.iter().map(|step| step.op).collect::<Vec<_>>());
    let block = |step: &Step| match step.course {
        Course::Access(home) => memory(home, ram).block().map(|block| block.first),
        _ => None,
    };
    let spans = spans(&steps.iter().map(|step| (step.op, block(step))).collect::<Vec<_>>());
    let mut most = 1;
    for (number, step) in steps.iter().enumerate() {
        writer.begin(live[number], spans[number]);
        if let Some(Foresight { ago_bits, .. }) = P::FORESIGHT {
            let bits = Log::most_before(ago_bits, step.before.left);
            writer.limit(Limit { bits: (most > bits).then_some(bits), likely: step.logs() > HOME_BITS });
            most += most_logged(step, ago_bits);
        }
        let is_left = again && number == 0 && matches!(step.course, Course::Access(_));
        if is_left || !translated(&mut writer, number as u32, step, ram) {
            let block = call_block::<P, B> as unsafe extern "sysv64" fn(_, _) -> _;
            let instruction = call_instruction::<P, B> as unsafe extern "sysv64" fn(_, _) -> _;
            let function = if step.course == Course::Block { block as usize } else { instruction as usize };
            writer.call(function, std::ptr::from_ref(step) as u64);
        }
    }
    let records = Records { first: records.as_ptr() as u64, bytes: WAYS * size_of::<Record>() as u32 };
    let end = (steps.len() as u32, steps.last()?.jumps());
    writer.finish_chained(store, records, end, PathExit::new(number, CALLED).0, transit::<P, B>)
}

/// Most bits that a step of a path logs where accesses log how many stores ago something was in so many bits.
fn most_logged(step: &Step, ago_bits: u32) -> u32 {
    match step.course {
        Course::On | Course::Branch(_) => CYCLES_BITS + BRANCH_BITS,
        Course::Access(_) => HOME_BITS + ago_bits + BRANCH_BITS,
        // Longer than any log.
        Course::Block => u64::BITS,
    }
}

/// True if the step was translated.
fn translated(writer: &mut Writer, number: u32, step: &Step, ram: RamLayout) -> bool {
    match step.course {
        Course::Block => false,
        Course::Branch(taken) => {
            writer.branch(number, step.op, step.ip as u64, taken);
            true
        }
        Course::Access(home) => writer.access(number, step.op, step.ip as u64, memory(home, ram)),
        Course::On => writer.on(number, step.op, step.ip as u64),
    }
}

fn memory(home: Home, ram: RamLayout) -> Memory {
    let (first, behind) = match home {
        Home::First => (0, ram.split.min(ram.end)),
        Home::Second => (ram.split, ram.end),
        Home::Cached | Home::Waiting => return Memory::Elsewhere(home as u32),
    };
    Memory::Ram(Block { first, bytes: behind - first })
}
