//! The code of a path, step by step.

use super::asks::BusAccess;
use super::plan::{Path, Step, StepKind};
use super::writer::{Literal, new_native_code_writer};
use super::{CALLED, INDIRECT, LINE_BYTES, Layout, RESIDENT};
use crate::host::x64::{Block, Memory, NativeCodeEmitter, bounds_check_ranges_of_path, live_flags};
use crate::host::{Function, Store};
use crate::v6m::bus::Bus;
use crate::v6m::core::Core;
use crate::v6m::op::{Code, Op};
use crate::v6m::trace::Trace;

/// Emits the native code of a path. Returns the function, and how many of the path's steps it executes. The function
/// returns the number of the first step that was not executed.
pub(super) fn assemble<B: Bus>(
    store: &mut Store,
    core: &Core,
    layout: Layout,
    path: &Path,
) -> Option<(Function, usize)> {
    let mut writer = new_native_code_writer::<B>(&core.region);
    if core.region.cached {
        emit_exit_unless_code_is_cached(&mut writer, core, layout, path);
    }
    let live = live_flags(&path.steps.iter().map(|step| step.thumb).collect::<Vec<_>>());
    let mut written = 0;
    let in_ram = |step: &Step| matches!(step.kind, StepKind::Access).then_some(0);
    let spans =
        bounds_check_ranges_of_path(&path.steps.iter().map(|step| (step.thumb, in_ram(step))).collect::<Vec<_>>());
    for ((step, live), span) in path.steps.iter().zip(live).zip(spans) {
        writer.begin_instruction_step(live, span);
        if !write_step::<B>(&mut writer, written as u32, step, layout) {
            break;
        }
        written += 1;
    }
    if written == 0 {
        return None;
    }
    Some((writer.finish_native_function(store, written as u32, None)?, written))
}

/// Emits an exit from native code that is taken unless the cache contains the path's code.
fn emit_exit_unless_code_is_cached(writer: &mut NativeCodeEmitter, core: &Core, layout: Layout, path: &Path) {
    let lines = path.steps.iter().flat_map(|step| layout.cache_lines_of_instruction(&core.region, step.ip, step.op));
    let mut lines: Vec<u32> = lines.collect();
    lines.sort_unstable();
    lines.dedup();
    for line in lines {
        writer.require_nonzero_byte(CALLED, RESIDENT, line);
    }
}

/// Emits the code of one step. Returns false if it cannot be JIT-compiled.
fn write_step<B: Bus>(writer: &mut NativeCodeEmitter, number: u32, step: &Step, layout: Layout) -> bool {
    let Step { ip, op, thumb, kind, .. } = *step;
    let ram = Block { first: 0, bytes: layout.ram_bytes };
    match kind {
        StepKind::On => writer.write_instruction(number, thumb, ip as u64),
        StepKind::Branch(taken) => {
            writer.emit_branch(number, thumb, ip as u64, taken);
            true
        }
        StepKind::Access if matches!(op.code, Code::LdrLit | Code::LdrLitFlash) => {
            write_literal_load::<B>(writer, number, op, layout)
        }
        StepKind::Access => writer.emit_load_or_store(number, thumb, ip as u64, Memory::Ram(ram)),
        StepKind::Read => {
            let is_written =
                writer.emit_load_or_store(number, thumb, ip as u64, Memory::Elsewhere(BusAccess::CONSTANT));
            if is_written {
                writer.emit_context_constant_store(
                    INDIRECT,
                    Trace::indirect_read(number.into(), 0),
                    Some(BusAccess::ADDRESS),
                );
            }
            is_written
        }
        StepKind::Jump(target) => {
            emit_indirect_jump(writer, number, step, target, ram);
            let offset = target.wrapping_sub(writer.code_region().base);
            writer.emit_context_constant_store(INDIRECT, Trace::indirect_branch(offset), None);
            true
        }
    }
}

/// Emits the load of a literal, whose address the opcode tells. Returns false if it cannot be JIT-compiled.
fn write_literal_load<B: Bus>(writer: &mut NativeCodeEmitter, number: u32, op: Op, layout: Layout) -> bool {
    let Some(literal) = Literal::from_address::<B>(op.imm, layout) else { return false };
    if let (Literal::Constant(offset), true) = (literal, layout.is_cached) {
        writer.require_nonzero_byte(number, RESIDENT, offset / LINE_BYTES);
    }
    literal.emit_literal_load(writer, op.a);
    true
}

/// Emits a branch by register or by POP.
fn emit_indirect_jump(writer: &mut NativeCodeEmitter, number: u32, step: &Step, target: u32, ram: Block) {
    let Step { ip, op, .. } = *step;
    match op.code {
        Code::PopPc => writer.emit_pop_to_expected_pc(number, op.imm, u32::from(op.c), target | 1, ram),
        // It is in the opcode.
        Code::MovPc if op.b == 15 => {}
        Code::MovPc => writer.emit_register_value_check(number, op.b, 0, (!1, target)),
        Code::AddPc => writer.emit_register_value_check(number, op.b, op.imm, (!1, target)),
        _ => writer.emit_register_value_check(number, op.b, 0, (!0, target | 1)),
    }
    if op.code == Code::Blx {
        let link = writer.code_region().instruction_address_of_op(ip as u64).wrapping_add(3);
        writer.emit_constant(14, link);
    }
}
