//! Cycles: dividers, delays, stalls, and machines that act on each other and on pins.

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

#[test]
fn an_instruction_takes_a_tick_and_its_delay() {
    let mut rig = Rig::new(&[delayed(SET_PINS | 1, 4), delayed(SET_PINS, 2)]);
    let start = rig.start(1);
    rig.run_to(start + 20);
    assert_eq!(rig.edges_from(start), [(0, 1), (5, 0), (8, 1), (13, 0), (16, 1)]);
}

#[test]
fn a_fractional_divider_spreads_the_longer_periods() {
    // 2.5 cycles a tick, 65536 for a divisor of 0.
    let mut rig = Rig::new(&[SET_PINS | 1, SET_PINS]);
    rig.write_register(CLKDIV, 2 << 16 | 128 << 8);
    let start = rig.start(1);
    rig.run_to(start + 12);
    assert_eq!(rig.edges_from(start), [(0, 1), (2, 0), (5, 1), (7, 0), (10, 1), (12, 0)]);
    rig.write_register(CTRL, 0);
    rig.write_register(CLKDIV, 0);
    let start = rig.start(1);
    rig.run_to(start + 65_536);
    assert_eq!(rig.edges.last().map(|edge| edge.0 - start), Some(65_536));
}

#[test]
fn machines_that_are_started_together_run_together() {
    // Machine 0 toggles at every cycle, machine 1 its own pin at every third.
    let mut rig = Rig::new(&[SET_PINS | 1, SET_PINS]);
    rig.write_register(register_of(1, CLKDIV), 3 << 16);
    rig.write_register(register_of(1, PINCTRL), 1 << 26 | 1 << 5);
    let start = rig.start(3);
    rig.run_to(start + 6);
    assert_eq!(rig.edges_from(start), [(0, 3), (1, 2), (2, 3), (3, 0), (4, 1), (5, 0), (6, 3)]);
}

#[test]
fn a_pin_is_seen_three_cycles_later_and_one_without_flip_flops() {
    for (bypass, latency) in [(0, 3), (1 << 5, 1)] {
        // wait 1 gpio 5; set pins, 1; stay
        let mut rig = Rig::new(&[0x2085, SET_PINS | 1, 0x0002]);
        rig.write_register(0x38, bypass);
        let start = rig.start(1);
        rig.run_to(start + 50);
        assert_eq!(rig.pio.next_event_cycle(), NEVER, "a machine that waits costs nothing");
        assert!(rig.pio.set_pin_levels(1 << 5, start + 50));
        rig.run_to(start + 60);
        assert_eq!(rig.edges_from(start + 50), [(latency + 1, 1)], "bypass {bypass}");
    }
}

#[test]
fn a_slow_machine_sees_a_pin_at_its_next_tick() {
    let mut rig = Rig::new(&[0x2085, SET_PINS | 1, 0x0002]);
    rig.write_register(CLKDIV, 16 << 16);
    let start = rig.start(1);
    rig.run_to(start + 17);
    rig.pio.set_pin_levels(1 << 5, start + 17);
    // Another event in between does not lose it.
    rig.write_register(IRQ, 1);
    rig.run_to(start + 100);
    assert_eq!(rig.edges_from(start), [(48, 1)]);
}

#[test]
fn a_store_to_a_fifo_arrives_with_its_data() {
    // pull block; out pins, 1
    let mut rig = Rig::new(&[PULL, 0x6001]);
    rig.start(1);
    rig.run_to(rig.now + 20);
    assert_eq!(rig.read_register(FDEBUG), 1 << 24);
    rig.write_register(TXF0, 1);
    let stored = rig.now;
    rig.run_to(rig.now + 20);
    // The address in cycle 0, the data in cycle 1, PULL in 2, OUT in 3.
    assert_eq!(rig.edges_from(stored), [(3, 1)]);
}

#[test]
fn a_cleared_stall_flag_comes_back_while_the_machine_stalls() {
    let mut rig = Rig::new(&[PULL]);
    rig.start(1);
    rig.run_to(rig.now + 20);
    rig.write_register(FDEBUG, 1 << 24);
    rig.run_to(rig.now + 4);
    assert_eq!(rig.read_register(FDEBUG), 1 << 24);
}

#[test]
fn machines_hand_over_by_flags() {
    // Machine 0: irq wait 4; set pins, 1. Machine 1: wait 1 irq 4 [3]; set pins, 1.
    let mut rig = Rig::new(&[0xc024, SET_PINS | 1, 0x0002, delayed(0x20c4, 3), SET_PINS | 1, 0x0005]);
    rig.write_register(register_of(1, PINCTRL), 1 << 26 | 1 << 5);
    rig.write_register(register_of(1, INSTR), 0x0003);
    let start = rig.start(3);
    rig.run_to(start + 20);
    // Raised in cycle 0, seen and cleared in 1, seen as cleared in 2; the delay of WAIT from 2 to 4.
    assert_eq!(rig.edges_from(start), [(3, 1), (5, 3)]);
    assert_eq!(rig.read_register(IRQ), 0);
}

#[test]
fn a_flag_interrupts_from_its_cycle_on() {
    let mut rig = Rig::new(&[NOP, NOP, IRQ_SET | 1, 0x0003]);
    rig.write_register(0x138, 1 << 9);
    let start = rig.start(1);
    rig.run_to(start + 1);
    assert_eq!((rig.pio.irq_levels(), rig.pio.next_event_cycle()), (0, start + 2));
    rig.run_to(start + 2);
    assert_eq!(rig.pio.irq_levels(), 1 << 8);
}

#[test]
fn disabling_keeps_the_rest_of_a_delay() {
    let mut rig = Rig::new(&[delayed(SET_PINS | 1, 9), delayed(SET_PINS, 9)]);
    let start = rig.start(1);
    rig.run_to(start + 2);
    rig.write_register(CTRL, 0); // counts from cycle start + 6 on
    assert_eq!(rig.now, start + 4);
    rig.run_to(start + 100);
    rig.write_register(CTRL, 1);
    let resumed = rig.now + 2;
    rig.run_to(resumed + 10);
    // SET in cycle 0 and five of the nine cycles of its delay; the other four later.
    assert_eq!(rig.edges.iter().filter(|edge| edge.0 >= resumed).collect::<Vec<_>>(), [&(resumed + 4, 0)]);
}

#[test]
fn looking_does_not_change_what_happens() {
    // Two machines with odd dividers, a FIFO that empties, pins that are looked at: read at every cycle or never.
    let program = [0x6021, 0x0023, delayed(SET_PINS | 1, 2), 0x00c5, NOP, SET_PINS, WAIT_PIN, IRQ_SET];
    let run = |looks: bool| {
        let mut rig = Rig::new(&program);
        for number in 0..2 {
            rig.write_register(register_of(number, CLKDIV), (3 + number) << 16 | 77 << 8);
            rig.write_register(register_of(number, SHIFTCTRL), 1 << 17 | 7 << 25 | 3 << 18);
            rig.write_register(register_of(number, PINCTRL), 1 << 26 | number << 5);
        }
        let start = rig.start(3);
        for round in 0..40_u64 {
            rig.write_register(TXF0 + 4 * (round as u32 & 1), 0x9d3 * (round as u32 + 1));
            let next = start + 40 * (round + 1);
            while rig.now < next {
                let to = if looks { rig.now + 1 } else { next };
                rig.run_to(to.min(next));
                if looks {
                    for offset in [FSTAT, FLEVEL, ADDR, IRQ] {
                        rig.pio.read_register(offset, &mut rig.bench.access_at(rig.now));
                    }
                }
            }
        }
        rig.run_to(rig.now + 2);
        (rig.edges_from(start), rig.pio.read_register(FLEVEL, &mut rig.bench.access_at(rig.now)))
    };
    let quiet = run(false);
    assert!(quiet.0.len() > 20, "{quiet:?}");
    assert_eq!(quiet, run(true));
}

/// A block with any set-up: what it runs, and what is written to it when.
#[derive(Debug, Clone)]
struct SetUp {
    program: Vec<u16>,
    /// CLKDIV, EXECCTRL, SHIFTCTRL and PINCTRL of two state machines.
    machines: [[u32; 4]; 2],
    /// Cycles until a store, its register and value.
    stores: Vec<(u64, u32, u32)>,
}

fn set_up() -> impl Strategy<Value = SetUp> {
    let machine = || {
        (1_u32..6, any::<u8>(), any::<u32>(), any::<u32>(), any::<u32>()).prop_map(
            |(int, fraction, execctrl, shiftctrl, pinctrl)| {
                [int << 16 | u32::from(fraction) << 8, execctrl, shiftctrl, pinctrl]
            },
        )
    };
    let register =
        prop::sample::select(vec![TXF0, TXF0 + 4, IRQ, 0x34, FDEBUG, 0x38, INSTR, register_of(1, INSTR), CLKDIV]);
    let stores = vec((0_u64..60, register, any::<u32>()), 0..24);
    (vec(any::<u16>(), 1..32), [machine(), machine()], stores).prop_map(|(program, machines, stores)| {
        // Dividers stay small, so that something happens.
        let small = |(gap, register, value): (u64, u32, u32)| {
            (gap, register, if register == CLKDIV { value & 0x7_ff00 | 1 << 16 } else { value })
        };
        SetUp { program, machines, stores: stores.into_iter().map(small).collect() }
    })
}

/// The block of a set-up just after its state machines were started, and the first cycle in which they execute.
fn started(set_up: &SetUp) -> (Rig, u64) {
    let mut rig = Rig::new(&set_up.program);
    for (number, registers) in (0..).zip(&set_up.machines) {
        for (register, &value) in [CLKDIV, EXECCTRL, SHIFTCTRL, PINCTRL].into_iter().zip(registers) {
            rig.write_register(register_of(number, register), value);
        }
    }
    rig.write_register(0x12c, 0xfff);
    rig.write_register(0x138, 0xf00);
    let start = rig.start(3);
    (rig, start)
}

/// Changes of pins and of interrupt lines, with their cycles.
type Changes = (Vec<(u64, u32)>, Vec<(u64, u32)>);

/// Runs a set-up cycle by cycle. Every machine that stalls tries again in every cycle.
fn run_naively(set_up: &SetUp) -> Changes {
    let (rig, start) = started(set_up);
    let mut engine = rig.pio.engine.clone();
    let (mut edges, mut lines) = (Vec::new(), vec![(0, engine.outputs_visible_outside_block(0).lines)]);
    let mut now = rig.now;
    let mut go = |engine: &mut engine::PioBlockState, now: &mut u64, until: u64| {
        while *now < until {
            *now += 1;
            engine.machines.iter_mut().for_each(|machine| machine.retry_stalled_instruction(*now));
            let before = engine.outputs_visible_outside_block(0);
            engine.execute_cycle(*now);
            let after = engine.outputs_visible_outside_block(0);
            if after.pins != before.pins {
                edges.push((*now - start, after.pins.0));
                engine.inputs.change_input_pin_levels(after.pins.0, *now);
            }
            if after.lines != before.lines {
                lines.push((*now - start, after.lines));
            }
        }
    };
    for &(gap, register, value) in &set_up.stores {
        let until = now + 2 + gap;
        go(&mut engine, &mut now, until);
        engine.queue_register_store(register, value, now);
    }
    let until = now + 200;
    go(&mut engine, &mut now, until);
    (edges, lines)
}

/// Runs a set-up. `looks`: every cycle by itself, with reads of everything that can be read without effect.
fn run_set_up(set_up: &SetUp, looks: bool) -> (Changes, Vec<u32>) {
    let (mut rig, start) = started(set_up);
    let shown = |rig: &Rig| rig.pio.irq_levels() >> 7;
    let mut lines = vec![(0, shown(&rig))];
    let mut go = |rig: &mut Rig, until: u64| {
        while rig.now < until {
            let to = if looks { rig.now + 1 } else { rig.pio.next_event_cycle().clamp(rig.now + 1, until) };
            rig.run_to(to);
            if looks {
                for offset in [FSTAT, FLEVEL, ADDR, IRQ, FDEBUG, EXECCTRL] {
                    rig.pio.read_register(offset, &mut rig.bench.access_at(to));
                }
            }
            if shown(rig) != lines.last().expect("one").1 {
                lines.push((to - start, shown(rig)));
            }
        }
    };
    for &(gap, register, value) in &set_up.stores {
        let until = rig.now + 2 + gap;
        go(&mut rig, until);
        rig.pio.write_register(register, value, &mut rig.bench.access_at(until));
        rig.sample();
    }
    let until = rig.now + 200;
    go(&mut rig, until);
    let last = [FSTAT, FLEVEL, FDEBUG, IRQ, ADDR, register_of(1, ADDR), EXECCTRL, 0x3c, 0x40]
        .map(|offset| rig.pio.read_register(offset, &mut rig.bench.access_at(until)));
    ((rig.edges_from(start), lines), last.to_vec())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Looking ahead, copying, and waking what is stalled find the same cycles as one cycle after the other.
    #[test]
    fn any_program_runs_the_same_however_it_is_looked_at(set_up in set_up()) {
        let (changes, last) = run_set_up(&set_up, false);
        prop_assert_eq!(&changes, &run_naively(&set_up));
        prop_assert_eq!((changes, last), run_set_up(&set_up, true));
    }
}
