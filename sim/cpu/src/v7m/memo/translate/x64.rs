//! Translation to code of x86-64 hosts.

mod calls;

use std::mem::offset_of;

use super::super::{Home, Memorable, QuickBus};
use super::plan::{Course, Step};
use super::{COMPLETE, Context, RamLayout};
use crate::host::x64::{Block, Function, Memory, Writer, live};
use crate::host::{Fields, Place};
use crate::v7m::code::Code;
use crate::v7m::core::Core;
use crate::v7m::op::Op;
use calls::{call_block, call_instruction, load_elsewhere};

pub(super) use crate::host::x64::Store;

/// Code of the host, in a [`Store`] that must be kept for as long.
#[derive(Debug)]
pub(super) struct Made(Function);

impl Made {
    /// # Safety
    /// As for [`super::Translation::run`].
    #[inline(always)]
    pub unsafe fn call<P, B>(&self, context: &mut Context<'_, P, B>, ram: *mut u8, marks: *const u8) -> u32 {
        // SAFETY: the caller's promise.
        unsafe { (self.0)((&raw mut *context.core).cast(), ram, marks, std::ptr::from_mut(context).cast()) }
    }
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

/// Code for the steps, which it points to where it calls. Where they are the `rest` of a path that was left before an access,
/// that is called: a store that had consequences has them again, and would leave this path as well.
pub(super) fn assemble<P: Memorable, B: QuickBus>(
    store: &mut Store,
    core: &Core,
    ram: RamLayout,
    steps: &[Step],
    rest: bool,
) -> Option<Made> {
    let region = core.region;
    let place =
        Place { base: region.base, bytes: region.bytes, ops: region.ops as u64, op_bytes: size_of::<Op>() as u32 };
    let loader = load_elsewhere::<P, B> as unsafe extern "sysv64" fn(_, _, _) -> _ as usize;
    let mut writer = Writer::new(FIELDS, place, ram.base, loader);
    let live = live(&steps.iter().map(|step| step.op).collect::<Vec<_>>());
    let mut is_called = false;
    for (number, step) in steps.iter().enumerate() {
        writer.begin(live[number]);
        let is_left = rest && number == 0 && matches!(step.course, Course::Access(_));
        is_called = is_left || !translated(&mut writer, number as u32, step, ram);
        if is_called {
            let block = call_block::<P, B> as unsafe extern "sysv64" fn(_, _) -> _;
            let instruction = call_instruction::<P, B> as unsafe extern "sysv64" fn(_, _) -> _;
            let function = if step.course == Course::Block { block as usize } else { instruction as usize };
            writer.call(function, std::ptr::from_ref(step) as u64);
        }
    }
    let end = steps.last()?;
    let jumped = is_called || matches!(end.op.code, Code::Bx | Code::Blx | Code::LdmPc);
    writer.finish(store, COMPLETE, (!jumped).then(|| behind(end))).map(Made)
}

/// True if the step was translated.
fn translated(writer: &mut Writer, number: u32, step: &Step, ram: RamLayout) -> bool {
    match step.course {
        Course::Block => false,
        Course::Branch(taken) => {
            writer.branch(number, step.op, step.ip as u64, taken);
            true
        }
        Course::Access(home) => writer.access(number, step.op, memory(home, ram)),
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

/// Where execution goes on behind a step that is translated.
fn behind(step: &Step) -> u64 {
    let distance = match step.course {
        Course::Branch(true) => step.op.imm as i32 as isize,
        _ => step.op.halfwords() as isize,
    };
    step.ip.wrapping_offset(distance) as u64
}
