//! The rules against the measurements they come from.

mod rows;

use super::super::super::core::{Features, Request};
use super::super::super::exec;
use super::super::super::testing::{Bench, RAM, THREAD};
use super::*;
use rows::Row;

/// UDF #0 ends a program.
const END: u16 = 0xde00;

/// A core at the start of `program`, its pipeline empty.
fn bench(program: &[u16]) -> (Bench, M7) {
    let mut bench = Bench::new(Features::CORTEX_M7);
    bench.write(0xe000_ed88, 0xf << 20);
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
    pipe.flush(&mut bench.core, &mut bench.bus, THREAD, 1000);
    (bench, pipe)
}

/// Cycles of a program until its end.
fn run(program: &[u16]) -> u64 {
    let (mut bench, mut pipe) = bench(program);
    exec::run::<_, _, false, false>(&mut bench.core, &mut pipe, &mut bench.bus);
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
