//! Running ahead: instructions are executed without time.

use super::log::{BRANCH_BITS, CYCLES_BITS, PREDICATE_BITS};
use super::manner::{Manner, QUICK};
use super::replay::Trace;
use super::untimed::{Quick, Untimed};
use super::{Memorable, QuickBus, TRACE_INSTRUCTIONS};
use crate::v7m::core::{Core, Request};
use crate::v7m::exec::{self, Flow, block};
use crate::v7m::op::{Class, Op, Packed, flag};

/// How a trace ended.
pub(super) enum End {
    /// With a branch, or because it was long enough: the next one begins at once.
    Complete,
    /// Before an instruction that no trace holds.
    Barred,
}

/// Executes instructions without time: up to a branch by register, the second turn of a loop, the longest length, or
/// an instruction that no trace holds.
#[inline(always)]
pub(super) fn execute_trace<P: Memorable, B: QuickBus>(core: &mut Core, pipe: &mut P, bus: &mut B) -> (Trace, End) {
    let start = core.ip;
    let mut pipe = Untimed::new(pipe);
    let mut bus = Quick(bus);
    // Instructions that may follow, and how many of the longest trace were given up.
    let (mut left, mut given_up) = (TRACE_INSTRUCTIONS, 0);
    let mut turned = false;
    let end = loop {
        let ip = core.ip;
        // SAFETY: `ip` points into the ops of the region.
        let packed = unsafe { Packed::read(ip) };
        let manner = QUICK[packed.code() as usize];
        if manner != Manner::Plain && !admitted(core, &pipe, bus.0, manner, packed) {
            match manner {
                Manner::Predicates => {}
                Manner::Operands => break End::Complete,
                _ => break End::Barred,
            }
            let block = predicated(core, &mut pipe, &mut bus, left);
            left = block.left;
            match block.end {
                Some(end) => break end,
                None if left == 0 => break End::Complete,
                None => continue,
            }
        }
        let flow = exec::execute::<_, _, false>(core, &mut pipe, &mut bus, packed, ip);
        match flow {
            Flow::Next => core.ip = ip.wrapping_add(packed.halfwords()),
            Flow::NotTaken => {
                pipe.log.push(0, BRANCH_BITS);
                pipe.branch(core, packed.op(), ip, None);
                core.ip = ip.wrapping_add(packed.halfwords());
            }
            Flow::Near | Flow::NearConditional => {
                if matches!(flow, Flow::NearConditional) {
                    pipe.log.push(1, BRANCH_BITS);
                }
                let distance = packed.op().imm as i32;
                core.ip = ip.wrapping_offset(distance as isize);
                pipe.branch(core, packed.op(), ip, Some(core.ip));
                if distance < 0 && std::mem::replace(&mut turned, true) {
                    given_up = left - 1;
                    left = 1;
                }
            }
            Flow::Jumped => {
                pipe.branch(core, packed.op(), ip, Some(core.ip));
                left -= 1;
                break End::Complete;
            }
            // Nothing was done and nothing logged.
            _ => {
                core.request = Request::None;
                break if std::mem::take(&mut pipe.log_is_full) { End::Complete } else { End::Barred };
            }
        }
        left -= 1;
        if left == 0 {
            break End::Complete;
        }
    };
    let instructions = TRACE_INSTRUCTIONS - left - given_up;
    (Trace { start, end: core.ip, instructions, log: pipe.log, jump: pipe.jump }, end)
}

/// Whether a trace can hold an instruction that is not plain, now.
#[inline(never)]
fn admitted<P: Memorable, B: QuickBus>(
    core: &Core,
    pipe: &Untimed<'_, P>,
    bus: &mut B,
    manner: Manner,
    packed: Packed,
) -> bool {
    match manner {
        Manner::Careful => allowed(core, bus, packed.op()),
        Manner::Operands => pipe.log.has_room(CYCLES_BITS),
        Manner::Plain => true,
        Manner::Apart | Manner::Predicates => false,
    }
}

/// How an IT block went.
struct Block {
    /// Instructions that may follow.
    left: u32,
    /// `None`: the trace goes on behind the block.
    end: Option<End>,
}

/// An IT and the instructions behind it.
#[inline(never)]
fn predicated<P: Memorable, B: QuickBus>(
    core: &mut Core,
    pipe: &mut Untimed<'_, P>,
    bus: &mut Quick<'_, B>,
    mut left: u32,
) -> Block {
    // No room for a whole block: it begins the next trace.
    if left < 5 {
        return Block { left, end: Some(End::Complete) };
    }
    // SAFETY: `ip` points into the ops of the region, here and below.
    core.it = unsafe { (*core.ip).imm } as u8;
    core.ip = core.ip.wrapping_add(1);
    left -= 1;
    while core.it != 0 {
        let (ip, it) = (core.ip, core.it);
        // SAFETY: as above.
        let packed = unsafe { Packed::read(ip) };
        if !admitted(core, pipe, bus.0, QUICK[packed.code() as usize], packed) {
            return Block { left, end: Some(End::Barred) };
        }
        let log = pipe.log;
        let executed = block::judge(core, packed);
        core.it = block::advanced(it);
        let next = ip.wrapping_add(packed.halfwords());
        left -= 1;
        if executed == block::SKIPPED {
            pipe.log.push(0, PREDICATE_BITS);
            pipe.skipped(core, packed.op(), ip);
            core.ip = next;
            continue;
        }
        let op = executed.op();
        pipe.log.push(1, PREDICATE_BITS);
        match exec::execute::<_, _, false>(core, pipe, bus, executed, &op) {
            Flow::Next => core.ip = next,
            Flow::Near => {
                core.ip = ip.wrapping_offset(op.imm as i32 as isize);
                pipe.branch(core, op, ip, Some(core.ip));
            }
            Flow::Jumped => {
                pipe.branch(core, op, ip, Some(core.ip));
                return Block { left, end: Some(End::Complete) };
            }
            _ => {
                core.request = Request::None;
                core.it = it;
                pipe.log = log;
                pipe.log_is_full = false;
                return Block { left: left + 1, end: Some(End::Barred) };
            }
        }
    }
    Block { left, end: None }
}

/// Whether an instruction that could fail half-way will not.
#[inline(always)]
fn allowed<B: QuickBus>(core: &Core, bus: &mut B, op: Op) -> bool {
    let within = |target: u32| target & 1 != 0 && target.wrapping_sub(core.region.base) < core.region.bytes;
    let base = core.reg(op.rn);
    match op.class {
        Class::BranchRegister => within(core.reg(op.rm)),
        Class::LoadMultiple | Class::LoadMultiplePc | Class::StoreMultiple => {
            let bytes = 4 * u32::from(op.shift);
            let lowest = if op.ra == 0 { base } else { base.wrapping_sub(bytes) };
            let store = op.class == Class::StoreMultiple;
            core.ici == 0
                && lowest & 3 == 0
                && bus.quick_range(lowest, bytes, store)
                && (op.class != Class::LoadMultiplePc
                    || bus.quick_load(lowest + bytes - 4, 4).is_some_and(|(target, _)| within(target)))
        }
        Class::LoadDouble | Class::StoreDouble => {
            let first = if op.has(flag::POST_INDEXED) { base } else { base.wrapping_add(op.imm) };
            op.rn != 15 && first & 3 == 0 && bus.quick_range(first, 8, op.class == Class::StoreDouble)
        }
        Class::FloatLoadMultiple | Class::FloatStoreMultiple => {
            let lowest = if op.ra == 0 { base } else { base.wrapping_sub(op.imm) };
            let bytes = 4 * u32::from(op.shift);
            let store = op.class == Class::FloatStoreMultiple;
            core.float_ready && lowest & 3 == 0 && bus.quick_range(lowest, bytes, store)
        }
        Class::FloatLoad | Class::FloatStore if op.has(flag::DOUBLE) => {
            let first = base.wrapping_add(op.imm);
            let store = op.class == Class::FloatStore;
            core.float_ready && op.rn != 15 && first & 3 == 0 && bus.quick_range(first, 8, store)
        }
        _ => core.float_ready,
    }
}
