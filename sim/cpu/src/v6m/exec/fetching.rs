//! Fetches of code under contention, and waiting for them.

use crate::v6m::bus::Bus;
use crate::v6m::core::Core;
use crate::v6m::op::Op;

/// Fetches the word of code that is `words` words after the one with `ip`. Returns the cycle of its address phase.
#[inline(always)]
pub(super) fn fetch_code_word<B: Bus>(
    bus: &mut B,
    core: &mut Core,
    ip: *mut Op,
    words: usize,
    at: u64,
    stalls: bool,
) -> u64 {
    bus.fetch_code(core, ip, words, at, stalls)
}

/// Returns the cycle in which the word of the next instruction is there, `t` or later.
#[inline(always)]
pub(super) fn wait_for_fetch(core: &mut Core, t: u64) -> u64 {
    // Read again, so that the earlier comparison, mostly without effect, needs no register.
    let field = &raw const core.fetch_ready;
    // SAFETY: a field of a living core.
    let ready = unsafe { std::ptr::read_volatile(field) };
    core.bus_wait += ready - t;
    ready
}

/// Returns the cycle in which a 32-bit opcode can continue: one that straddles two words needs the second a cycle after
/// issue.
#[inline(always)]
pub(super) fn second_half_ready<const CONTEND: bool>(core: &mut Core, ip: *mut Op, t: u64) -> u64 {
    if CONTEND && ip as usize & 8 != 0 && core.fetch_ready > t + 1 {
        let wait = core.fetch_ready - (t + 1);
        core.bus_wait += wait;
        t + wait
    } else {
        t
    }
}

/// Fetches the next word after a 32-bit instruction, which always completes a word. Returns the cycle in which the next
/// instruction can issue.
#[inline(always)]
pub(super) fn fetch_after_wide_instruction<B: Bus>(
    bus: &mut B,
    core: &mut Core,
    ip: *mut Op,
    t: u64,
    cycles: u64,
) -> u64 {
    let words = 1 + (ip as usize >> 3 & 1);
    fetch_code_word(bus, core, ip, words, t - cycles, false);
    if words == 1 && core.fetch_ready > t { wait_for_fetch(core, t) } else { t }
}
