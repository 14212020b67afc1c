//! Cycle counts that others measured on silicon and published, against the model: docs/accuracy.md lists them.

use super::bench::{Bench, FLASH, Interface, SLOW, SRAM};

/// Cycles a further iteration takes: `code` counts register `counter` down, or r6 up to r5.
fn per_iteration(mut bench: Bench, base: u32, code: &[u16], counter: usize) -> f64 {
    bench.code(base, code);
    let end = base + 2 * code.len() as u32;
    let mut time = |iterations: u32| {
        bench.core.r[counter] = iterations;
        bench.core.r[2] = SLOW;
        bench.core.r[7] = SRAM + 0x2000;
        bench.core.r[6] = 0;
        bench.core.r[5] = iterations;
        bench.cycles(base, end) as f64
    };
    time(4);
    (time(204) - time(104)) / 100.0
}

/// jnk0le/random, "pipeline cycle test": 17 NOP.W, SUBS.W and BNE.W are 20 cycles, on the M3 and the M4.
#[test]
fn twenty_cycles_of_32_bit_code() {
    let mut code = [0xf3af, 0x8000].repeat(17);
    code.extend([0xf1b9, 0x0901, 0xf47f, 0xafda]);
    for bench in [Bench::m3(Interface::f1(0)), Bench::m4(Interface::f4(0)), Bench::m4(Interface::f4(5))] {
        assert_eq!(per_iteration(bench, FLASH, &code, 9), 20.0);
    }
}

/// W. Hebisch, STM32F103, code in RAM: SUB, BGT are 4 cycles.
#[test]
fn countdown_in_ram() {
    assert_eq!(per_iteration(Bench::m3(Interface::f1(2)), SRAM, &[0x3801, 0xdcfd], 0), 4.0);
}

/// RIOT-OS pull requests 16787 and 17980, STM32F103 at 72 MHz, two wait states: SUBS, BNE are 6.00 cycles.
#[test]
fn countdown_in_flash_at_two_wait_states() {
    assert_eq!(per_iteration(Bench::m3(Interface::f1(2)), FLASH, &[0x3801, 0xd1fd], 0), 6.0);
}

/// Loops at two wait states. A line of eight bytes takes three cycles, and the first line after the branch four: the
/// branch is in the first halfword of the last line.
#[test]
fn f1_lines_and_the_fetches_that_the_m3_delays() {
    const MOVE: [u16; 2] = [0xea4f, 0x0808];
    const LOAD: [u16; 2] = [0xf8d7, 0x1000];
    const COUNT: [u16; 2] = [0xf1b9, 0x0901];
    const NOP: u16 = 0xbf00;
    let cycles = |code: &[&[u16]]| per_iteration(Bench::m3(Interface::f1(2)), FLASH, &code.concat(), 9);
    let back = [0xd1f2, NOP];
    assert_eq!(cycles(&[&MOVE, &MOVE, &MOVE, &MOVE, &COUNT, &MOVE, &back]), 13.0);
    // A load by itself delays no fetch.
    assert_eq!(cycles(&[&LOAD, &MOVE, &MOVE, &MOVE, &COUNT, &MOVE, &back]), 13.0);
    // The second of two loads that overlap delays the fetch of the third line by a cycle, and its read by two.
    assert_eq!(cycles(&[&LOAD, &LOAD, &MOVE, &MOVE, &COUNT, &MOVE, &back]), 15.0);
    // The first half of a 32-bit opcode, which waits for the second line, does not keep a place of the queue.
    assert_eq!(cycles(&[&MOVE, &[NOP], &MOVE, &[NOP], &COUNT, &[0xd1f6, NOP]]), 10.0);
}

/// ARM KA006138: of single-cycle floating-point opcodes at odd halfwords, in a long run, every third costs a cycle
/// more. Other 32-bit opcodes at odd halfwords do not: T. Pornin's and E. Lenngren's routines are full of them.
#[test]
fn long_runs_of_32_bit_opcodes_at_odd_halfwords() {
    let float = [0xee30, 0x0a81, 0xee71, 0x1a01];
    let integer = [0xea4f, 0x0808];
    let cycles = |head: &[u16], run: &[u16], opcodes: usize| {
        let mut bench = Bench::m4(Interface::f4(0));
        let code = [head, &run.repeat(2 * opcodes / run.len())].concat();
        bench.code(FLASH, &code);
        bench.cycles(FLASH, FLASH + 2 * code.len() as u32)
    };
    let for_thirty = |head: &[u16], run: &[u16]| cycles(head, run, 60) - cycles(head, run, 30);
    assert_eq!(for_thirty(&[0xbf00, 0xbf00], &float), 30);
    assert_eq!(for_thirty(&[0xbf00], &float), 40);
    assert_eq!(for_thirty(&[0xbf00, 0xbf00], &integer), 30);
    assert_eq!(for_thirty(&[0xbf00], &integer), 30);
}

/// blog.soch.cc: LDR from a GPIO, STR.W with index, ADDS, CMP, BNE at 0x...20, 72 MHz, two wait states: 12.03 cycles.
/// An APB load has three wait states then, as rtoslab_timing::stm32_bus says.
#[test]
fn gpio_read_loop() {
    let mut bench = Bench::m3(Interface::f1(2));
    bench.set_slow_wait(3);
    let code = [0x6810, 0xf847, 0x0026, 0x3601, 0x42ae, 0xd1f9];
    let cycles = per_iteration(bench, FLASH + 0x320, &code, 0);
    assert!((cycles - 12.03).abs() < 0.1, "{cycles}");
}
