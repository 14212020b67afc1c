//! Cycles of entry, return and tail-chaining.

use super::*;
use crate::v7m::bus::Bus;
use crate::v7m::core::Features;
use crate::v7m::pipeline::Pipeline;
use crate::v7m::pipeline::m3m4::{CortexM3, CortexM4};
use crate::v7m::pipeline::m7::M7;
use crate::v7m::testing::Observation;

/// Cycles from recognition to the handler's first instruction, with waits of flash and RAM.
fn entry_cycles(mut bench: Bench, flash_wait: u64, ram_wait: u64) -> u64 {
    (bench.bus.flash_wait, bench.bus.ram_wait) = (flash_wait, ram_wait);
    bench.enable(0, 0);
    let before = bench.core.t;
    bench.interrupt_level(0);
    assert_eq!(bench.core.exception_cycles, bench.core.t - before);
    bench.core.t - before
}

fn exit_cycles(mut bench: Bench, ram_wait: u64) -> u64 {
    bench.enable(0, 0);
    bench.interrupt_level(0);
    bench.bus.ram_wait = ram_wait;
    let before = bench.core.t;
    bench.ret(0xffff_fff9);
    bench.core.t - before
}

#[test]
fn documented_latencies_without_wait_states() {
    for (name, bench, entry) in [("M3", Bench::m3 as fn() -> Bench, 12), ("M4", Bench::m4, 12), ("M7", Bench::m7, 12)] {
        assert_eq!(entry_cycles(bench(), 0, 0), entry, "{name}");
    }
    assert_eq!(exit_cycles(Bench::m3(), 0), 12);
    assert_eq!(exit_cycles(Bench::m4(), 0), 10);
}

#[test]
fn tail_chain_takes_six_cycles() {
    let mut bench = Bench::m3();
    bench.enable(0, 0x10);
    bench.enable(1, 0x20);
    bench.interrupt_level(0);
    bench.interrupt_level(1);
    let before = bench.core.t;
    assert_eq!(bench.ret(0xffff_fff9), ExceptionStepResult::Chained(16, 17));
    assert_eq!(bench.core.t - before, 6);
}

#[test]
fn slow_memories_lengthen_entry_unless_hidden() {
    // Flash wait, RAM wait, cycles: eight stores to RAM beside one vector read from flash.
    for (flash, ram, cycles) in [(5, 0, 17), (0, 1, 20), (5, 1, 20), (10, 1, 22), (0, 3, 36)] {
        assert_eq!(entry_cycles(Bench::m3(), flash, ram), cycles, "flash {flash} RAM {ram}");
    }
}

#[test]
fn vector_on_the_same_bus_waits_for_the_stores() {
    let mut bench = Bench::m3();
    bench.core.scb.vtor = RAM;
    bench.bus.put(RAM + 4 * 16, handler(16) | 1);
    assert_eq!(entry_cycles(bench, 0, 0), 14);
}

#[test]
fn slow_memory_lengthens_return() {
    assert_eq!(exit_cycles(Bench::m3(), 2), 12 + 16);
}

#[test]
fn stacking_runs_at_the_speed_of_memory() {
    for wait in [0, 1, 3] {
        let mut bench = Bench::m3();
        bench.bus.ram_wait = wait;
        bench.enable(0, 0);
        bench.interrupt_level(0);
        let stack = bench.core.r[13];
        let stores: Vec<Observation> = bench.bus.seen.iter().copied().filter(|seen| seen.write).collect();
        let store = |index: u32| Observation {
            address: stack + 4 * index,
            write: true,
            at: 101 + u64::from(index) * (1 + wait),
        };
        assert_eq!(stores, (0..8).map(store).collect::<Vec<_>>());
    }
}

#[test]
fn floating_point_frames_take_longer_unless_lazy() {
    for (lazy, entry, exit) in [(true, 12, 10), (false, 29, 27)] {
        let mut bench = Bench::m4();
        if !lazy {
            bench.write_register(0xe000_ef34, 1 << 31);
        }
        bench.core.fpca = true;
        bench.enable(0, 0);
        let before = bench.core.t;
        bench.interrupt_level(0);
        assert_eq!(bench.core.t - before, entry, "lazy {lazy}");
        let before = bench.core.t;
        bench.ret(0xffff_ffe9);
        assert_eq!(bench.core.t - before, exit, "lazy {lazy}");
    }
}

/// The cycle in which the instruction at `ip` executes.
fn executes_in<P: Pipeline>(bench: &mut Bench<P>) -> u64 {
    let ip = bench.core.ip;
    bench.bus.decode_op(&bench.core, bench.core.address_of_op(ip));
    // SAFETY: `ip` points into the ops of the region.
    let op = unsafe { *ip };
    bench.pipe.issue_op(&mut bench.core, &mut bench.bus, op);
    bench.core.t
}

/// Entry and return as the pipeline of a core sees them: from recognition to the first instruction.
fn through<P: Pipeline>(features: Features, pipe: P) -> [u64; 2] {
    let mut bench = Bench::with(features, pipe);
    bench.enable(0, 0);
    let before = bench.core.t;
    bench.interrupt_level(0);
    let entry = executes_in(&mut bench) - before;
    let before = bench.core.t;
    bench.ret(0xffff_fff9);
    [entry, executes_in(&mut bench) - before]
}

#[test]
fn pipelines_keep_the_latencies() {
    assert_eq!(through(Features::CORTEX_M3, CortexM3::default()), [12, 12]);
    assert_eq!(through(Features::CORTEX_M4F, CortexM4::default()), [12, 10]);
    assert_eq!(through(Features::CORTEX_M7, M7::default()), [12, 12]);
}
