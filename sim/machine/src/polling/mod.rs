//! Waits for a register, passed over at once.
//!
//! Firmware that waits for a serial port reads its status again and again, and between two events of the chip every
//! repetition is like the one before. When a register that changes only then ([`Polling::noted`]) gave the same value
//! to the same load several times, the machine executes some repetitions one instruction at a time. If the code is a
//! loop that does nothing else ([`body`]), and all that the future depends on is as it was some repetitions ago, then
//! so it will be up to the next event: that many whole periods are added to time and counters. The cycles left before
//! the event are executed.
//!
//! Nothing is approximated. With the profile on, and while an observer is at work, every instruction is executed.

mod body;
#[cfg(test)]
mod tests;

use body::{Body, Operand};

/// Equal reads in a row after which a wait is looked at.
const READS: u32 = 3;
/// Repetitions in which a period must be found. The phase of a bus with a divided clock recurs within sixteen.
const REPETITIONS: u32 = 20;
/// The last read that is passed over is at least so far ahead of the next event: an access takes less.
const MARGIN_CYCLES: u64 = 256;
/// Loads that are known to be in no such loop.
const REFUSED: usize = 8;

/// The detector of busy waits for a register, whose repetitions are skipped.
#[derive(Debug, Default)]
pub struct BusyWaitDetector {
    /// The machine would make use of it.
    on: bool,
    /// The load that read last, its value, and how often it gave that.
    load: u32,
    value: u32,
    reads: u32,
    ripe: bool,
    refused: [u32; REFUSED],
    next: usize,
    /// Cycles passed over so far.
    passed_cycles: u64,
}

impl BusyWaitDetector {
    /// Switches the detection of busy waits on or off.
    pub fn set_busy_wait_detection(&mut self, on: bool) {
        self.on = on;
    }

    /// Notes that the instruction at `load` read `value` from a register. Returns true if a busy wait may have begun,
    /// so that the machine must look before the next instruction. `is_register_steady` tells whether reading has no
    /// effect and the value changes only at events.
    #[inline]
    pub fn note_register_read(&mut self, load: u32, value: u32, is_steady: impl FnOnce() -> bool) -> bool {
        if load != self.load || value != self.value || !self.on {
            (self.load, self.value, self.reads) = (load, value, 0);
            return false;
        }
        self.reads += 1;
        if self.reads < READS || self.refused.contains(&load) {
            return false;
        }
        if !is_steady() {
            self.exclude_load_from_busy_wait_detection();
            return false;
        }
        self.ripe = true;
        true
    }

    /// Returns the number of cycles of busy waits skipped so far.
    pub fn skipped_cycle_count(&self) -> u64 {
        self.passed_cycles
    }

    /// Returns whether a busy wait may have begun.
    pub fn may_busy_wait_have_begun(&self) -> bool {
        self.ripe
    }

    /// Excludes the current load from the detection, because it is in no loop that can be skipped.
    fn exclude_load_from_busy_wait_detection(&mut self) {
        self.refused[self.next] = self.load;
        self.next = (self.next + 1) % REFUSED;
    }
}

/// A machine with one active core that may be in a busy wait: what is needed to skip the wait's repetitions.
pub trait Waiting {
    /// The age in cycles from which on events are equal for every state.
    const ANCIENT_CYCLES: u64;
    /// The state besides core registers on which future timing depends. Times are relative to now.
    type State: Copy + PartialEq;

    /// Returns the detector of busy waits.
    fn busy_wait_detector(&mut self) -> &mut BusyWaitDetector;

    /// Returns the core's time in cycles.
    fn core_time(&self) -> u64;

    /// Returns the address of the core's next instruction.
    fn next_address(&self) -> u32;

    /// Returns R0 to R14.
    fn core_registers(&self) -> [u32; 15];

    /// Returns the condition flags and the rest of the program's state that no register holds, as one number.
    fn program_flags(&self) -> u32;

    /// Returns the state of pipeline, buses and memories. `None` if it cannot be compared.
    fn timing_state(&self) -> Option<Self::State>;

    /// Returns the number of cycles after which the clocks of all buses are in the same phase again.
    fn common_clock_period(&self) -> u64;

    /// Returns four counters of the core: instructions, cycles of waiting for buses, cycles of waiting for flash,
    /// missed cache lines.
    fn core_counters(&self) -> [u64; 4];

    /// Returns the halfword of code at an address. `None` if there is none, or if a probe is there.
    fn code_halfword(&self, address: u32) -> Option<u16>;

    /// Executes the next instruction of the busy wait, or the next two if they issue together. Returns false if
    /// something else happened too, such as a request to the machine.
    fn execute_busy_wait_instruction(&mut self) -> bool;

    /// Skips `cycles` cycles of a busy wait: advances time and the four counters, and restores the state.
    fn skip_cycles(&mut self, cycles: u64, counts: [u64; 4], state: &Self::State);

    /// Sets a core register by its number.
    fn set_register(&mut self, number: usize, value: u32);
}

/// The state of a core in a busy wait, right after the load.
#[derive(Clone, Copy)]
struct BusyWaitCoreState<S> {
    time: u64,
    registers: [u32; 15],
    flags: u32,
    state: S,
    counts: [u64; 4],
}

/// Returns the core's present state. `None` if it is not known.
fn current_busy_wait_state<M: Waiting>(machine: &M) -> Option<BusyWaitCoreState<M::State>> {
    let state = machine.timing_state()?;
    let (time, flags) = (machine.core_time(), machine.program_flags());
    Some(BusyWaitCoreState { time, registers: machine.core_registers(), flags, state, counts: machine.core_counters() })
}

/// Skips as much of a busy wait as there is up to `until`, where the next event is.
pub fn skip_busy_wait<M: Waiting>(machine: &mut M, until: u64) {
    skip_polling_loop(machine, until);
    let polling = machine.busy_wait_detector();
    (polling.ripe, polling.reads) = (false, 0);
}

/// Checks whether the core is in a polling loop, and skips its repetitions if they repeat exactly.
fn skip_polling_loop<M: Waiting>(machine: &mut M, until: u64) {
    let load = machine.busy_wait_detector().load;
    let Some(body) = body::find_polling_loop_of_load(load, |address| machine.code_halfword(address)) else {
        machine.busy_wait_detector().exclude_load_from_busy_wait_detection();
        return;
    };
    if machine.next_address() != body.behind_load {
        return;
    }
    // What happened before the wait must be long ago.
    let begun = machine.core_time();
    while machine.core_time() < begun + M::ANCIENT_CYCLES {
        if !execute_busy_wait_repetition(machine, &body, until) {
            return;
        }
    }
    let Some(anchor) = current_busy_wait_state(machine) else {
        machine.busy_wait_detector().exclude_load_from_busy_wait_detection();
        return;
    };
    let phases = machine.common_clock_period();
    for repetition in 1..=REPETITIONS {
        if !execute_busy_wait_repetition(machine, &body, until) {
            return;
        }
        let Some(now) = current_busy_wait_state(machine) else { return };
        if is_busy_wait_state_repeated(&anchor, &now, &body, repetition, phases) {
            // Once more, so that whatever adapts itself has done so.
            for _ in 0..repetition {
                if !execute_busy_wait_repetition(machine, &body, until) {
                    return;
                }
            }
            let Some(again) = current_busy_wait_state(machine) else { return };
            if is_busy_wait_state_repeated(&now, &again, &body, repetition, phases)
                && again.time - now.time == now.time - anchor.time
            {
                skip_busy_wait_periods(machine, &now, &again, &body, repetition, until);
                return;
            }
        }
    }
    machine.busy_wait_detector().exclude_load_from_busy_wait_detection();
}

/// Executes one repetition of the loop. Returns false if anything else happens in it or an event is near.
fn execute_busy_wait_repetition<M: Waiting>(machine: &mut M, body: &Body, until: u64) -> bool {
    let executed = machine.core_counters()[0] + body.instructions;
    while machine.core_counters()[0] < executed {
        if machine.core_time() + MARGIN_CYCLES > until || !machine.execute_busy_wait_instruction() {
            return false;
        }
        if !(body.start..body.end).contains(&machine.next_address()) {
            return false;
        }
    }
    machine.core_counters()[0] == executed && machine.next_address() == body.behind_load
}

/// Returns whether the core's state is the same as `repetitions` repetitions ago, except for the loop's counter, the
/// time and the counters of instructions and waits.
fn is_busy_wait_state_repeated<S: PartialEq>(
    before: &BusyWaitCoreState<S>,
    now: &BusyWaitCoreState<S>,
    body: &Body,
    repetitions: u32,
    phases: u64,
) -> bool {
    let mut registers = before.registers;
    if let Some(counter) = &body.counter {
        let register = &mut registers[counter.register];
        *register = if counter.up { register.wrapping_add(repetitions) } else { register.wrapping_sub(repetitions) };
    }
    let same_phase = (now.time - before.time).is_multiple_of(phases);
    registers == now.registers && now.flags == before.flags && now.state == before.state && same_phase
}

/// Returns how many repetitions of the polling loop may follow before a comparison of its counter has another result.
fn loop_repetitions_before_compare_changes(registers: &[u32; 15], body: &Body) -> u64 {
    const SIGN: u32 = 1 << 31;
    let Some(counter) = &body.counter else { return u64::MAX };
    let value = registers[counter.register];
    let limits = counter.limits.iter().map(|limit| match *limit {
        Operand::Constant(value) => value,
        Operand::Register(number) => registers[number],
    });
    // Flags of a difference change where it becomes zero and where a sign does.
    let bounds = limits.flat_map(|limit| [limit, limit ^ SIGN]).chain([0, SIGN]);
    let distance = |bound: u32| if counter.up { bound.wrapping_sub(value) } else { value.wrapping_sub(bound) };
    // The counter is one before or after the compared value.
    u64::from(bounds.map(distance).min().unwrap_or(0).saturating_sub(2))
}

/// Skips whole periods of `repetitions` repetitions of the loop.
fn skip_busy_wait_periods<M: Waiting>(
    machine: &mut M,
    before: &BusyWaitCoreState<M::State>,
    now: &BusyWaitCoreState<M::State>,
    body: &Body,
    repetitions: u32,
    until: u64,
) {
    let period = now.time - before.time;
    let room = until.saturating_sub(now.time + MARGIN_CYCLES) / period;
    let periods = room.min(loop_repetitions_before_compare_changes(&now.registers, body) / u64::from(repetitions));
    if let Some(counter) = &body.counter {
        let counted = periods as u32 * repetitions;
        let value = now.registers[counter.register];
        let left = if counter.up { value.wrapping_add(counted) } else { value.wrapping_sub(counted) };
        machine.set_register(counter.register, left);
    }
    let counts: [u64; 4] = std::array::from_fn(|index| (now.counts[index] - before.counts[index]) * periods);
    machine.busy_wait_detector().passed_cycles += period * periods;
    machine.skip_cycles(period * periods, counts, &now.state);
}
