//! The reports of all machines to an observer, and their frequency.

use rtoslab_cpu::{v6m, v7m};
pub use rtoslab_lab::observer::{Account, Arrival, ObservationReport, ObservationRequest};
use rtoslab_lab::{CoreView, Observer};

use crate::image::Symbol;

/// Cycles after which the executors hand over their steps at the latest, so that these stay in the host's caches.
pub const TURN_CYCLES: u64 = 20_000;

/// SCR.SLEEPDEEP.
pub const SLEEPDEEP: u32 = 1 << 2;
/// The request.
pub const DEEP_SLEEP: &str = "SCR.SLEEPDEEP: deep sleep is sleep, all clocks go on";

/// An ARMv6-M core between instructions.
pub fn look_v6m(core: &v6m::core::Core) -> CoreView {
    use v6m::core::Phase;
    CoreView {
        t: core.t,
        sleep_cycles: core.sleep_cycles,
        asleep_since: core.asleep().then_some(core.slept_at),
        stopped: matches!(core.phase, Phase::Reset | Phase::Lockup),
        pc: if core.ip.is_null() { 0 } else { core.pc() },
        sp: core.r[13],
        process_stack: core.sp_is_psp,
        priority: core.execution_priority() as i16,
    }
}

/// An ARMv7-M core between instructions.
pub fn look_v7m(core: &v7m::core::Core) -> CoreView {
    use v7m::core::Phase;
    CoreView {
        t: core.t,
        sleep_cycles: core.sleep_cycles,
        asleep_since: core.asleep().then_some(core.slept_at),
        stopped: matches!(core.phase, Phase::Reset | Phase::Lockup),
        pc: if core.ip.is_null() { 0 } else { core.pc() },
        sp: core.r[13],
        process_stack: core.sp_is_psp,
        priority: core.execution_priority() as i16,
    }
}

/// An observer of cores in their present state.
pub fn observer(wanted: ObservationRequest, symbols: &[Symbol], now: u64, looks: &[CoreView]) -> Box<Observer> {
    let functions = symbols.iter().filter(|symbol| !symbol.label).map(|symbol| (symbol.address, symbol.bytes));
    Box::new(Observer::new(wanted, functions, now, looks))
}
