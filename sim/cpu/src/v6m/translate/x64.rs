//! Translation to code of x86-64 hosts.

use std::mem::offset_of;

use super::plan::{Course, Path, Step};
use super::{CALLED, Context, LINE_BYTES, Layout};
use crate::host::x64::{Block, Function, Memory, Writer, live, spans};
use crate::host::{Fields, Place};
use crate::v6m::bus::Bus;
use crate::v6m::core::Core;
use crate::v6m::op::{Code, Op};
use crate::v6m::trace::Trace;

pub(super) use crate::host::x64::Store;

/// Code of the host, in a [`Store`] that must be kept for as long.
#[derive(Debug, Clone, Copy)]
pub(in crate::v6m) struct Made(Function);

impl Made {
    /// # Safety
    /// As for [`super::execute`].
    #[inline(always)]
    pub(super) unsafe fn call<B>(self, core: &mut Core, context: &mut Context<B>, memory: (*mut u8, *const u8)) -> u32 {
        // SAFETY: the caller's promise.
        unsafe { (self.0)(std::ptr::from_mut(core).cast(), memory.0, memory.1, std::ptr::from_mut(context).cast()) }
    }
}

/// Where code finds what of a core.
pub(in crate::v6m) const FIELDS: Fields = Fields {
    r: offset_of!(Core, r) as i32,
    nz: offset_of!(Core, nz) as i32,
    c: offset_of!(Core, c) as i32,
    v: offset_of!(Core, v) as i32,
    ip: offset_of!(Core, ip) as i32,
    s: 0,
    float_ready: 0,
};
const CONSTANTS: i32 = offset_of!(Context<()>, constants) as i32;
const RESIDENT: i32 = offset_of!(Context<()>, resident) as i32;
const INDIRECT: i32 = offset_of!(Context<()>, indirect) as i32;
const ADDRESS: i32 = offset_of!(Context<()>, address) as i32;
/// What [`load_constant`] says of all that it loads.
const CONSTANT: u32 = 0;

/// Code for the path, and how many of its steps that executes. It returns the number of the step that was not executed.
pub(super) fn assemble<B: Bus>(store: &mut Store, core: &Core, layout: Layout, path: &Path) -> Option<(Made, usize)> {
    let region = core.region;
    let place =
        Place { base: region.base, bytes: region.bytes, ops: region.ops as u64, op_bytes: size_of::<Op>() as u32 };
    let loader = load_constant::<B> as unsafe extern "sysv64" fn(_, _, _) -> _ as usize;
    let mut writer = Writer::new(FIELDS, place, B::RAM_BASE, loader);
    writer.asks_near_marks(takes_stores::<B> as unsafe extern "sysv64" fn(_, _, _) -> _ as usize);
    if region.cached {
        at_hand(&mut writer, core, layout, path);
    }
    let live = live(&path.steps.iter().map(|step| step.thumb).collect::<Vec<_>>());
    let mut written = 0;
    let in_ram = |step: &Step| matches!(step.course, Course::Access).then_some(0);
    let spans = spans(&path.steps.iter().map(|step| (step.thumb, in_ram(step))).collect::<Vec<_>>());
    for ((step, live), span) in path.steps.iter().zip(live).zip(spans) {
        writer.begin(live, span);
        if !write::<B>(&mut writer, written as u32, step, layout) {
            break;
        }
        written += 1;
    }
    if written == 0 {
        return None;
    }
    Some((Made(writer.finish(store, written as u32, None)?), written))
}

/// Leaves for good unless the cache holds the path's code.
fn at_hand(writer: &mut Writer, core: &Core, layout: Layout, path: &Path) {
    let mut lines: Vec<u32> = Vec::new();
    for step in &path.steps {
        let first = core.region.address_of(step.ip).wrapping_sub(layout.base);
        let last = if step.op.is_wide() { first + 2 } else { first };
        lines.extend([first / LINE_BYTES, last / LINE_BYTES]);
    }
    lines.sort_unstable();
    lines.dedup();
    for line in lines {
        writer.need(CALLED, RESIDENT, line);
    }
}

/// Writes a step; false if that cannot be done.
fn write<B: Bus>(writer: &mut Writer, number: u32, step: &Step, layout: Layout) -> bool {
    let Step { ip, op, thumb, course, .. } = *step;
    let ram = Block { first: 0, bytes: B::RAM_BYTES };
    match course {
        Course::On => writer.on(number, thumb, ip as u64),
        Course::Branch(taken) => {
            writer.branch(number, thumb, ip as u64, taken);
            true
        }
        Course::Access if matches!(op.code, Code::LdrLit | Code::LdrLitFlash) => {
            literal::<B>(writer, number, op, layout)
        }
        Course::Access => writer.access(number, thumb, ip as u64, Memory::Ram(ram)),
        Course::Read => {
            let is_written = writer.access(number, thumb, ip as u64, Memory::Elsewhere(CONSTANT));
            if is_written {
                writer.note_word(INDIRECT, Trace::indirect_read(number.into(), 0), Some(ADDRESS));
            }
            is_written
        }
        Course::Jump(target) => {
            jump(writer, number, step, target, ram);
            let offset = target.wrapping_sub(writer.place().base);
            writer.note_word(INDIRECT, Trace::indirect_branch(offset), None);
            true
        }
    }
}

/// A word that the opcode's place tells.
fn literal<B: Bus>(writer: &mut Writer, number: u32, op: Op, layout: Layout) -> bool {
    let (constant, in_ram) = (op.imm.wrapping_sub(layout.base), op.imm.wrapping_sub(B::RAM_BASE));
    if constant <= layout.bytes.saturating_sub(4) {
        if layout.is_cached {
            writer.need(number, RESIDENT, constant / LINE_BYTES);
        }
        writer.load_word(op.a, Some(CONSTANTS), constant);
    } else if in_ram <= B::RAM_BYTES - 4 {
        writer.load_word(op.a, None, in_ram);
    } else {
        return false;
    }
    true
}

/// A branch by register or stack.
fn jump(writer: &mut Writer, number: u32, step: &Step, target: u32, ram: Block) {
    let Step { ip, op, .. } = *step;
    match op.code {
        Code::PopPc => writer.pop_expected(number, op.imm, u32::from(op.c), target | 1, ram),
        // It is in the opcode.
        Code::MovPc if op.b == 15 => {}
        Code::MovPc => writer.expect(number, op.b, 0, (!1, target)),
        Code::AddPc => writer.expect(number, op.b, op.imm, (!1, target)),
        _ => writer.expect(number, op.b, 0, (!0, target | 1)),
    }
    if op.code == Code::Blx {
        let link = writer.place().address_of(ip as u64).wrapping_add(3);
        writer.set(14, link);
    }
}

/// A load from constant memory: the value, above it [`CONSTANT`]; all ones if it is not to be had.
///
/// # Safety
/// The context is the one that the code was called with.
unsafe extern "sysv64" fn load_constant<B: Bus>(context: *mut Context<B>, address: u32, bytes: u32) -> u64 {
    // SAFETY: the caller's promise; its bus is not used meanwhile.
    unsafe {
        (*context).address = address;
        (*(*context).bus).constant(address, bytes).map_or(u64::MAX, u64::from)
    }
}

/// Whether so many words of RAM from this offset on are stored without consequences, although marks are near.
///
/// # Safety
/// As for [`load_constant`].
unsafe extern "sysv64" fn takes_stores<B: Bus>(context: *mut Context<B>, offset: u32, words: u32) -> u32 {
    // SAFETY: as above.
    unsafe { u32::from((*(*context).bus).takes_stores(offset, words as u8)) }
}
