//! Running ahead: instructions are executed without time.

use super::log::{BRANCH_BITS, PREDICATE_BITS};
use super::untimed::{Quick, Untimed};
use super::{Log, Memorable, QuickBus, TRACE_INSTRUCTIONS};
use crate::v7m::code::number as code;
use crate::v7m::core::{Core, Request};
use crate::v7m::exec::{self, Flow, block};
use crate::v7m::op::{Op, Packed, flag};

/// How a trace ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// With a branch, or because it was long enough: the next one begins at once.
    Complete,
    /// Before an instruction that no trace holds.
    Barred,
}

/// Executes instructions without time: up to a branch by register, the second turn of a loop, the longest length, or
/// an instruction that no trace holds. Returns how many they were (those of failed conditions included) and what they
/// logged.
#[inline(always)]
pub(super) fn execute_trace<P: Memorable, B: QuickBus>(core: &mut Core, pipe: &mut P, bus: &mut B) -> (u32, Log, End) {
    let mut pipe = Untimed::new(pipe);
    let mut bus = Quick(bus);
    // Instructions that may follow, and how many of the longest trace were given up.
    let (mut left, mut given_up) = (TRACE_INSTRUCTIONS, 0);
    let mut turned = false;
    let mut ip = core.ip;
    let end = loop {
        // Read before a store may overwrite them; not as words, see `execute`.
        // SAFETY: `ip` points into the ops of the region.
        let (number, flags) = unsafe { ((*ip).code, (*ip).flags) };
        if number <= code::It {
            if number != code::It {
                break End::Barred;
            }
            let block = predicated(core, &mut pipe, &mut bus, left);
            (ip, left) = (core.ip, block.left);
            match block.end {
                Some(end) => break end,
                None if left == 0 => break End::Complete,
                None => continue,
            }
        }
        let next = ip.wrapping_byte_add(size_of::<Op>() + size_of::<Op>() * usize::from(flags & flag::WIDE));
        let flow = exec::execute::<_, _, false>(core, &mut pipe, &mut bus, ip);
        match flow {
            Flow::Next => ip = next,
            Flow::NotTaken => {
                pipe.log.push(0, BRANCH_BITS);
                pipe.branch(core, ip, None);
                ip = next;
            }
            Flow::Near | Flow::NearConditional => {
                if matches!(flow, Flow::NearConditional) {
                    pipe.log.push(1, BRANCH_BITS);
                }
                // SAFETY: as above.
                let distance = unsafe { (*ip).imm } as i32;
                let target = ip.wrapping_offset(distance as isize);
                pipe.branch(core, ip, Some(target));
                ip = target;
                if distance < 0 && std::mem::replace(&mut turned, true) {
                    given_up = left - 1;
                    left = 1;
                }
            }
            Flow::Jumped => {
                pipe.branch(core, ip, Some(core.ip));
                left -= 1;
                break End::Complete;
            }
            // Nothing was done and nothing logged.
            _ => {
                core.request = Request::None;
                break if pipe.log_is_full { End::Complete } else { End::Barred };
            }
        }
        core.ip = ip;
        left -= 1;
        if left == 0 {
            break End::Complete;
        }
    };
    (TRACE_INSTRUCTIONS - left - given_up, pipe.log, end)
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
        if packed.code() <= code::It {
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
        match exec::execute::<_, _, false>(core, pipe, bus, &op) {
            Flow::Next => core.ip = next,
            Flow::Near => {
                core.ip = ip.wrapping_offset(op.imm as i32 as isize);
                pipe.branch(core, ip, Some(core.ip));
            }
            Flow::Jumped => {
                pipe.branch(core, ip, Some(core.ip));
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
