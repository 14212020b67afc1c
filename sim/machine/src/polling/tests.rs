//! Tests on a machine of two instructions whose loop takes the time in a table: the fast-forward covers only loops
//! that repeat in every respect.

use super::{BusyWaitDetector, Waiting, skip_busy_wait};

const START: u32 = 0x100;
/// ldr r2,[r1]; b back.
const CODE: [u16; 2] = [0x680a, 0xe7fd];

/// Executes the load in one cycle and the branch in as many as `taken` says.
struct Fake {
    polling: BusyWaitDetector,
    time: u64,
    executed: u64,
    /// Cycles of the branch, by time and by hidden state.
    taken: fn(time: u64, hidden: u64) -> u64,
    hidden: u64,
    /// How the hidden state continues.
    next: fn(u64) -> u64,
    phases: u64,
    stepped: u64,
}

impl Fake {
    fn new(taken: fn(u64, u64) -> u64, next: fn(u64) -> u64, phases: u64) -> Fake {
        let mut polling = BusyWaitDetector::default();
        polling.set_busy_wait_detection(true);
        while !polling.note_register_read(START, 0, || true) {}
        Fake { polling, time: 1, executed: 1, taken, hidden: 0, next, phases, stepped: 0 }
    }

    fn in_load(&self) -> bool {
        self.executed.is_multiple_of(2)
    }

    fn run_to(&mut self, until: u64) {
        while self.time < until {
            self.execute_busy_wait_instruction();
        }
    }

    /// The state at `until`, with and without fast-forward. The cycles passed over.
    fn assert_equal_runs(make: impl Fn() -> Fake, until: u64) -> ([(u64, u64, u64); 2], u64) {
        let both = [false, true].map(|passes| {
            let mut fake = make();
            if passes {
                skip_busy_wait(&mut fake, until);
            }
            fake.run_to(until);
            ((fake.time, fake.executed, fake.hidden), fake.polling.skipped_cycle_count())
        });
        (both.map(|(end, _)| end), both[1].1)
    }
}

impl Waiting for Fake {
    const ANCIENT_CYCLES: u64 = 10;
    type State = u64;

    fn busy_wait_detector(&mut self) -> &mut BusyWaitDetector {
        &mut self.polling
    }

    fn core_time(&self) -> u64 {
        self.time
    }

    fn next_address(&self) -> u32 {
        START + if self.in_load() { 0 } else { 2 }
    }

    fn core_registers(&self) -> [u32; 15] {
        [0; 15]
    }

    fn program_flags(&self) -> u32 {
        0
    }

    fn timing_state(&self) -> Option<u64> {
        Some(self.hidden)
    }

    fn common_clock_period(&self) -> u64 {
        self.phases
    }

    fn core_counters(&self) -> [u64; 4] {
        [self.executed, 0, 0, 0]
    }

    fn code_halfword(&self, address: u32) -> Option<u16> {
        CODE.get((address.checked_sub(START)? / 2) as usize).copied()
    }

    fn execute_busy_wait_instruction(&mut self) -> bool {
        self.time += if self.in_load() { 1 } else { (self.taken)(self.time, self.hidden) };
        self.hidden = if self.in_load() { self.hidden } else { (self.next)(self.hidden) };
        self.executed += 1;
        self.stepped += 1;
        true
    }

    fn skip_cycles(&mut self, cycles: u64, counts: [u64; 4], state: &u64) {
        self.time += cycles;
        self.executed += counts[0];
        self.hidden = *state;
    }

    fn set_register(&mut self, _: usize, _: u32) {
        unreachable!("it has no counter");
    }
}

#[test]
fn repeating_states_are_skipped() {
    let (both, passed) = Fake::assert_equal_runs(|| Fake::new(|_, _| 3, |_| 0, 1), 100_000);
    assert_eq!(both[0], both[1]);
    assert!(passed > 90_000, "{passed}");
}

#[test]
fn period_may_be_of_several_repetitions() {
    let (both, passed) =
        Fake::assert_equal_runs(|| Fake::new(|_, hidden| 2 + hidden, |hidden| (hidden + 1) % 5, 1), 100_000);
    assert_eq!(both[0], both[1]);
    assert!(passed > 90_000, "{passed}");
}

/// Repetitions of four cycles look alike for as long as the time is below 60.
#[test]
fn bus_phase_is_part_of_the_state() {
    let make = || Fake::new(|time, _| if time % 64 < 60 { 3 } else { 5 }, |_| 0, 64);
    let (both, _) = Fake::assert_equal_runs(make, 10_000);
    assert_eq!(both[0], both[1]);
}

/// The hidden state changes the time of every hundredth repetition alone.
#[test]
fn changing_state_is_not_skipped() {
    let make = || Fake::new(|_, hidden| if hidden == 99 { 9 } else { 3 }, |hidden| (hidden + 1) % 100, 1);
    let (both, passed) = Fake::assert_equal_runs(make, 50_000);
    assert_eq!((both[0], passed), (both[1], 0));
}

#[test]
fn nothing_is_skipped_near_an_event() {
    for until in 1..600 {
        let (both, _) = Fake::assert_equal_runs(|| Fake::new(|_, _| 3, |_| 0, 1), until);
        assert_eq!(both[0], both[1], "{until}");
    }
}

#[test]
fn load_outside_a_wait_loop_is_analysed_once() {
    let mut fake = Fake::new(|_, _| 3, |hidden| hidden + 1, 1);
    skip_busy_wait(&mut fake, 10_000);
    assert!((0..100).all(|_| !fake.polling.note_register_read(START, 0, || true)));
}

#[test]
fn only_equal_reads_of_steady_registers_are_analysed() {
    let mut polling = BusyWaitDetector::default();
    assert!((0..10).all(|_| !polling.note_register_read(START, 0, || true)), "it is off");
    polling.set_busy_wait_detection(true);
    assert!((0..10).all(|value| !polling.note_register_read(START, value, || true)), "the value changes");
    assert!((0..10).all(|place| !polling.note_register_read(START + place, 0, || true)), "the load changes");
    assert!((0..10).all(|_| !polling.note_register_read(START, 0, || false)), "the register is not steady");
    assert!(!polling.may_busy_wait_have_begun());
}
