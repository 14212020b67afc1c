//! The reports of probes, and their times.

use super::*;

#[test]
fn interval_that_ends_where_the_run_stops_is_counted_once() {
    let mut probes = Probes::default();
    let interval = probes.add_address_interval_probe(0x100, 0x200);
    probes.stop_before_address(0x200);
    assert!(!probes.fire_probes(0x100, 0, 10, ProbedRegisters::default(), false));
    assert!(probes.fire_probes(0x200, 0, 17, ProbedRegisters::default(), false));
    assert!(!probes.fire_probes(0x200, 0, 17, ProbedRegisters::default(), true));
    let result = probes.probe_interval_statistics(interval).unwrap();
    assert_eq!((result.count, result.total_cycles), (1, 7));
}

#[test]
fn one_address_as_both_ends_measures_from_execution_to_execution() {
    let mut probes = Probes::default();
    let interval = probes.add_address_interval_probe(0x100, 0x100);
    for cycle in [5, 25, 60] {
        probes.fire_probes(0x100, 0, cycle, ProbedRegisters::default(), false);
    }
    let result = probes.probe_interval_statistics(interval).unwrap();
    assert_eq!((result.count, result.min_cycles, result.max_cycles), (2, Some(20), Some(35)));
}

#[test]
fn rewound_probes_stay_and_forget_what_came_later() {
    let mut probes = Probes::default();
    let early = probes.add_address_interval_probe(0x100, 0x200);
    probes.record_executions(0x100, 1);
    probes.fire_probes(0x100, 0, 10, ProbedRegisters::default(), false);
    let then = probes.clone();
    let late = probes.add_address_interval_probe(0x100, 0x100);
    probes.fire_probes(0x200, 0, 17, ProbedRegisters::default(), false);
    probes.fire_probes(0x100, 0, 20, ProbedRegisters::default(), false);
    probes.fire_probes(0x100, 0, 21, ProbedRegisters::default(), false);
    probes.restore_probe_recordings(&then);
    assert_eq!(probes.probe_interval_statistics(early).map(|interval| interval.count), Some(0));
    assert_eq!(probes.probe_interval_statistics(late).map(|interval| interval.count), Some(0));
    assert_eq!(probes.take_recorded_events().len(), 1);
    // The interval that was open then is open again.
    probes.fire_probes(0x200, 0, 15, ProbedRegisters::default(), false);
    assert_eq!(probes.probe_interval_statistics(early).map(|interval| interval.total_cycles), Some(5));
    assert!(probes.is_instruction_probed(0x200));
}

#[test]
fn a_watched_call_records_caller_and_two_arguments() {
    let mut probes = Probes::default();
    probes.record_executions(0x100, 1);
    probes.record_calls(0x100, 2, false);
    probes.record_calls(0x100, 3, true);
    probes.fire_probes(
        0x100,
        1,
        10,
        ProbedRegisters { r0: 3, r1: 4, r2: 5, r3: 0, lr: 0x555, ..ProbedRegisters::default() },
        false,
    );
    let seen: Vec<_> =
        probes.take_recorded_events().iter().map(|event| (event.id, event.value, event.more, event.pc)).collect();
    assert_eq!(seen, [(1, 3, 0, 0x100), (2, 3, 4, 0x555), (3, 3, 5, 0x555)]);
    assert_eq!(probes.addresses_with_probes().collect::<Vec<_>>(), [0x100]);
}

#[test]
fn only_a_call_returns() {
    let mut probes = Probes::default();
    probes.record_calls(0x100, 1, false);
    probes.record_returns(0x554, 2);
    let at = |probes: &mut Probes, address, lr| {
        probes.fire_probes(address, 0, 10, ProbedRegisters { r0: 7, lr, ..ProbedRegisters::default() }, false)
    };
    at(&mut probes, 0x554, 0);
    at(&mut probes, 0x100, 0x555);
    at(&mut probes, 0x554, 0);
    at(&mut probes, 0x554, 0);
    let seen: Vec<_> = probes.take_recorded_events().iter().map(|event| (event.id, event.value)).collect();
    assert_eq!(seen, [(1, 7), (2, 7)]);
}

#[test]
fn return_watched_after_the_call_is_recorded() {
    let mut probes = Probes::default();
    probes.record_calls(0x100, 1, false);
    let call = |probes: &mut Probes, lr| {
        probes.fire_probes(0x100, 0, 10, ProbedRegisters { lr, ..ProbedRegisters::default() }, false);
        probes.fire_probes(lr & !1, 0, 11, ProbedRegisters::default(), false);
        probes.take_recorded_events().len()
    };
    assert_eq!([0x555, 0x555].map(|lr| call(&mut probes, lr)), [1, 1]);
    probes.record_returns(0x554, 2);
    assert_eq!([0x555, 0x777, 0x555].map(|lr| call(&mut probes, lr)), [2, 1, 2]);
}

#[test]
fn wrong_site_number_is_ignored() {
    let mut probes = Probes::default();
    probes.record_executions(0x100, 1);
    probes.record_executions(0x200, 2);
    let number = probes.probe_site_number(0x200);
    for guess in [number, probes.probe_site_number(0x100), probes.probe_site_number(0x300), 77] {
        assert!(!probes.fire_probes_at_known_site(guess, 0x200, 0, 10, ProbedRegisters::default(), false));
        assert!(!probes.fire_probes_at_known_site(guess, 0x300, 0, 10, ProbedRegisters::default(), false));
    }
    assert_eq!(probes.take_recorded_events().iter().map(|event| event.id).collect::<Vec<_>>(), [2; 4]);
}

#[test]
fn returns_are_recorded_before_calls() {
    let mut probes = Probes::default();
    probes.record_calls(0x100, 5, true);
    probes.record_executions(0x100, 3);
    probes.record_calls(0x100, 6, false);
    probes.record_returns(0x100, 1);
    probes.record_executions(0x100, 4);
    probes.record_returns(0x100, 2);
    let lr = 0x101;
    (0..2).for_each(|_| {
        assert!(!probes.fire_probes(0x100, 0, 10, ProbedRegisters { lr, ..ProbedRegisters::default() }, false))
    });
    let ids: Vec<_> = probes.take_recorded_events().iter().map(|event| event.id).collect();
    assert_eq!(ids, [3, 4, 5, 6, 1, 2, 3, 4, 5, 6]);
}

#[test]
fn an_ended_probe_stops_nothing_and_leaves_the_others() {
    let mut probes = Probes::default();
    probes.stop_before_address(0x100);
    probes.record_executions(0x100, 1);
    probes.record_writes(0x2000_0004, 3, true);
    assert!(
        probes.does_run_stop_before_address(0x100)
            && !probes.does_run_stop_before_address(0x200)
            && probes.does_run_stop_after_write(0x2000_0004)
    );
    probes.remove_stop_before_address(0x100);
    probes.remove_stop_before_address(0x200);
    probes.remove_write_watch(0x2000_0006);
    assert!(!probes.does_run_stop_before_address(0x100));
    assert!(!probes.fire_probes(0x100, 0, 10, ProbedRegisters::default(), false));
    assert!(!probes.report_store_to_watched_word(0x2000_0004, 1, 0, 9, 0));
    assert_eq!(probes.take_recorded_events().len(), 1);
}

#[test]
fn only_the_watched_word_is_reported() {
    let mut probes = Probes::default();
    probes.record_writes(0x2000_0004, 3, true);
    assert!(!probes.report_store_to_watched_word(0x2000_0000, 1, 0, 9, 0));
    assert!(probes.report_store_to_watched_word(0x2000_0004, 1, 0, 9, 0));
    assert_eq!(probes.take_recorded_events().len(), 1);
}

#[test]
fn further_arguments_follow_the_call() {
    let mut probes = Probes::default();
    probes.record_calls(0x100, 1, false);
    probes.record_further_arguments(0x100, 2);
    let held = ProbedRegisters { r0: 10, r1: 11, r2: 12, r3: 13, lr: 0x201, stacked: [0; 2] };
    assert!(!probes.fire_probes(0x100, 0, 5, held, false));
    let seen: Vec<_> = probes
        .take_recorded_events()
        .iter()
        .map(|event| (event.id, event.value, event.more, event.pc, event.cycle))
        .collect();
    assert_eq!(seen, [(1, 10, 11, 0x201, 5), (2, 12, 13, 0x201, 5)]);
}

#[test]
fn stacked_arguments_follow_the_further_ones() {
    let mut probes = Probes::default();
    probes.record_calls(0x100, 1, false);
    probes.record_calls(0x200, 4, false);
    probes.record_further_arguments(0x100, 2);
    probes.record_stacked_arguments(0x100, 3);
    let mut registers = [0; 16];
    registers[13] = 0x2000_0010;
    registers[14] = 0x201;
    let read_word = |address| (address < 0x2000_0014).then_some(address + 1);
    for (address, stacked) in [(0x100, [0x2000_0011, 0]), (0x200, [0, 0])] {
        let site = probes.probe_site_number(address);
        let held = probes.probed_registers(site, &registers, read_word);
        assert_eq!(held.stacked, stacked);
        assert!(!probes.fire_probes(address, 0, 5, held, false));
    }
    let seen: Vec<_> = probes.take_recorded_events().iter().map(|event| (event.id, event.value, event.more)).collect();
    assert_eq!(seen, [(1, 0, 0), (2, 0, 0), (3, 0x2000_0011, 0), (4, 0, 0)]);
}

#[test]
fn returns_to_several_callers_are_distinguished() {
    let mut probes = Probes::default();
    probes.record_calls(0x100, 1, false);
    let callers: Vec<u32> = (0..7).map(|caller| 0x1000 + 2 * caller).collect();
    callers.iter().step_by(2).for_each(|&each| probes.record_returns(each, each as u16));
    for &behind in callers.iter().cycle().take(20) {
        probes.fire_probes(0x100, 0, 10, ProbedRegisters { lr: behind | 1, ..ProbedRegisters::default() }, false);
        callers.iter().for_each(|&each| assert!(!probes.fire_probes(each, 0, 11, ProbedRegisters::default(), false)));
        let ids: Vec<_> = probes.take_recorded_events().iter().map(|event| u32::from(event.id)).collect();
        assert_eq!(ids[1..], [behind][usize::from(behind & 2 != 0)..]);
    }
}

#[test]
fn each_watched_word_has_its_identity_and_the_last_one_counts() {
    let mut probes = Probes::default();
    [(0x30, 1), (0x10, 2), (0x20, 3), (0x12, 4)].into_iter().for_each(|(at, id)| probes.record_writes(at, id, false));
    (0..0x40).step_by(4).for_each(|at| assert!(!probes.report_store_to_watched_word(at, at, 0, 9, 0)));
    assert_eq!(probes.watched_words().collect::<Vec<_>>(), [0x10, 0x20, 0x30]);
    let seen: Vec<_> = probes.take_recorded_events().iter().map(|event| (event.value, event.id)).collect();
    assert_eq!(seen, [(0x10, 4), (0x20, 3), (0x30, 1)]);
}

#[test]
fn a_reused_slot_contains_no_old_data() {
    let mut probes = Probes::default();
    probes.append_event(Kind::Pin, 0, 1, 1, 0, 0);
    let taken = probes.take_recorded_events();
    probes.reuse_event_memory(taken);
    assert!(probes.take_recorded_events().is_empty());
    probes.append_event(Kind::Pin, 0, 2, 2, 0, 0);
    probes.reuse_event_memory(vec![probes.events[0]; 3]);
    assert_eq!(probes.take_recorded_events().iter().map(|event| event.id).collect::<Vec<_>>(), [2]);
}
