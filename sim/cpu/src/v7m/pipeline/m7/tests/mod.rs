//! The rules against the measurements they come from.

mod rows;

use super::super::super::core::{Features, Request};
use super::super::super::exec;
use super::super::super::testing::{Bench, RAM, THREAD};
use super::*;
use crate::step::watch;
use rows::Row;

/// UDF #0 ends a program.
const END: u16 = 0xde00;

/// A core at the start of `program`, its pipeline empty.
fn bench(program: &[u16]) -> (Bench, M7) {
    let mut bench = Bench::new(Features::CORTEX_M7);
    bench.write_register(0xe000_ed88, 0xf << 20);
    let halfwords: Vec<u16> = program.iter().copied().chain([END, 0]).collect();
    for (i, pair) in halfwords.chunks(2).enumerate() {
        let high = pair.get(1).copied().unwrap_or(0);
        bench.bus.put(THREAD + 4 * i as u32, u32::from(pair[0]) | u32::from(high) << 16);
    }
    for register in 0..8 {
        bench.core.r[register] = register as u32 + 1;
    }
    for (register, offset) in [(8, 0x1000), (9, 0x2000), (10, 0x3004), (11, 0x4001), (12, 0x5000)] {
        bench.core.r[register] = RAM + offset;
        bench.bus.put((RAM + offset) & !3, RAM + offset);
    }
    let mut pipe = M7::default();
    bench.core.t = 1000;
    pipe.empty_pipeline(&mut bench.core, &mut bench.bus, THREAD, 1000);
    (bench, pipe)
}

/// Cycles of a program until its end.
fn run(program: &[u16]) -> u64 {
    let (mut bench, mut pipe) = bench(program);
    // SAFETY: `ip` is inside the bench's one region, which has a cell for each op.
    unsafe { exec::run_until_limit(&mut bench.core, &mut pipe, &mut bench.bus, watch::NOTHING) };
    assert_eq!(bench.core.request, Request::Fault(Fault::Undefined), "the program did not reach its end");
    bench.core.t - 1000
}

fn check(rows: &[Row]) {
    let wrong: Vec<String> = rows
        .iter()
        .filter_map(|(source, cycles, opcodes)| {
            let spent = run(&opcodes.repeat(40)) - run(&opcodes.repeat(8));
            (spent != 32 * cycles).then(|| format!("{source}: {} not {cycles}", spent as f64 / 32.0))
        })
        .collect();
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn pairs() {
    check(rows::PAIRS);
}

#[test]
fn latencies() {
    check(rows::LATENCY);
}

#[test]
fn memory() {
    check(rows::MEMORY);
}

#[test]
fn single_issue_and_floating_point() {
    check(rows::SINGLE);
}

/// A program whose first opcode is MOVS r0, #n, with another n.
fn iterations(program: &[u16], n: u16) -> Vec<u16> {
    let mut program = program.to_vec();
    program[0] = 0x2000 | n;
    program
}

#[test]
fn loops() {
    for (name, cycles, around, program) in rows::LOOPS {
        let (short, long) = (run(&iterations(program, 20)), run(&iterations(program, 60)));
        assert_eq!(long - short, *cycles, "{name}");
        assert_eq!(short - cycles / 2, *around, "{name}: around the loop");
    }
}

/// JL's loop of 20 cycles a pass, run once: beyond them 6 cycles, or 8 if the flags are made beside the branch.
#[test]
fn loop_that_runs_once_is_mispredicted_twice() {
    const NOP: [u16; 2] = [0xf3af, 0x8000];
    const SUBS: [u16; 2] = [0xf1b0, 0x0001];
    const START: [u16; 4] = [0x2000, 0xbf00, 0xbf00, 0xbf00]; // the loop begins with a doubleword
    let straight = run(&[START.as_slice(), NOP.repeat(40).as_slice()].concat()) - 20;
    for (place, beyond) in [(33, 6), (38, 8)] {
        let mut body = NOP.repeat(40);
        body[2 * place..2 * place + 2].copy_from_slice(&SUBS);
        body[78..].copy_from_slice(&[0xf47f, 0xafb0]);
        let program = [START.as_slice(), body.as_slice()].concat();
        assert_eq!(run(&iterations(&program, 100)) - 100 * 20 - straight, beyond, "SUBS is opcode {place}");
    }
}

/// Cycles of a program under a value of ACTLR.
fn run_under(actlr: u32, program: &[u16]) -> u64 {
    let (mut bench, mut pipe) = bench(program);
    bench.core.scb.actlr = actlr;
    pipe.empty_pipeline(&mut bench.core, &mut bench.bus, THREAD, 1000);
    // SAFETY: `ip` is inside the bench's one region, which has a cell for each op.
    unsafe { exec::run_until_limit(&mut bench.core, &mut pipe, &mut bench.bus, watch::NOTHING) };
    bench.core.t - 1000
}

#[test]
fn dual_issue_and_prediction_can_be_switched_off() {
    let nops = [0xf3af, 0x8000].repeat(64);
    assert_eq!(run_under(DISDI, &nops) - run_under(0, &nops), 32);
    let (_, cycles, _, program) = rows::LOOPS[0];
    let spent = |n| run_under(DISBTACREAD, &iterations(program, n));
    let decoded = M7::default().decoded_branch;
    assert_eq!(spent(60) - spent(20), cycles + 40 * decoded, "backward branches are predicted taken by the decoder");
    let spent = |n| run_under(DISBTACALLOC, &iterations(program, n));
    assert_eq!(spent(60) - spent(20), cycles + 40 * timing::MISPREDICT_EARLY_FLAGS_CYCLES);
}

#[test]
fn waits_of_the_bus_are_counted_once() {
    // LDR r0, [r8]; LDR r1, [r8, #4] with waits. LDM r8, {r0-r5}: its own cycles are no waits. STRB r0, [r8] eight
    // times: when the sixth comes the first has left; the two after it wait three cycles each.
    let loads = vec![0xf8d8, 0x0000, 0xf8d8, 0x1004];
    let stores = [0xf888, 0x0000].repeat(8);
    for (program, wait, waits) in [(loads, 5, 10), (vec![0xe898, 0x003f], 0, 0), (stores, 0, 6)] {
        let (mut bench, mut pipe) = bench(&program);
        bench.bus.ram_wait = wait;
        // SAFETY: `ip` is inside the bench's one region, which has a cell for each op.
        unsafe { exec::run_until_limit(&mut bench.core, &mut pipe, &mut bench.bus, watch::NOTHING) };
        assert_eq!(bench.core.bus_wait, waits);
        if wait != 0 {
            assert_eq!(bench.core.t - 1000, run(&program) + waits);
        }
    }
}

#[test]
fn divisions_take_longer_the_longer_the_quotient() {
    // UDIV r0, r1, r2.
    let spent = |dividend, divisor| {
        let (mut bench, mut pipe) = bench(&[0xfbb1, 0xf0f2]);
        (bench.core.r[1], bench.core.r[2]) = (dividend, divisor);
        // SAFETY: `ip` is inside the bench's one region, which has a cell for each op.
        unsafe { exec::run_until_limit(&mut bench.core, &mut pipe, &mut bench.bus, watch::NOTHING) };
        bench.core.t - 1000
    };
    let least = spent(0, 5);
    assert_eq!(spent(7, 0), least);
    assert_eq!(spent(u32::MAX, 1), least + 16);
    assert_eq!(spent(0xFF, 0xF), least + 2);
}

/// While a division runs, the queue fills up and no further: a doubleword every four cycles costs what is missing.
#[test]
fn queue_holds_four_doublewords() {
    let spent = |doublewords: usize| {
        // UDIV r0, r1, r2 for 20 cycles, NOP.W, then pairs of NOP.W.
        let program = [vec![0xfbb1, 0xf0f2], [0xf3af, 0x8000].repeat(1 + 2 * doublewords)].concat();
        let (mut bench, mut pipe) = bench(&program);
        (bench.core.r[1], bench.core.r[2]) = (u32::MAX, 1);
        bench.bus.fetch_wait = 3;
        // SAFETY: `ip` is inside the bench's one region, which has a cell for each op.
        unsafe { exec::run_until_limit(&mut bench.core, &mut pipe, &mut bench.bus, watch::NOTHING) };
        (bench.core.t - 1000, bench.core.flash_wait)
    };
    let all: Vec<(u64, u64)> = (0..7).map(spent).collect();
    // The division's own doubleword has one of the entries: three more wait ready, the next one is on its way.
    assert_eq!(all, [(29, 3), (30, 3), (31, 3), (32, 3), (34, 5), (38, 8), (42, 11)]);
}
