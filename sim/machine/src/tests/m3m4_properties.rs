//! What holds for every program: a lone instruction costs its table value, time continues, memory that waits is never
//! faster, and a program takes the same time wherever it is cut.

use super::bench::{Bench, FLASH, Interface, SRAM};

/// ISB.
const ISB: [u16; 2] = [0xf3bf, 0x8f6f];
/// Cycles of an ISB.
const ISB_CYCLES: u64 = 4;

/// Instructions with their cycles, alone, on both cores.
#[rustfmt::skip]
const ALONE: &[(&str, &[u16], u64)] = &[
    ("nop", &[0xbf00], 1),
    ("adds r0,r0,#1", &[0x3001], 1),
    ("mov.w r0,r1", &[0xea4f, 0x0001], 1),
    ("muls r0,r1,r0", &[0x4348], 1),
    ("lsl.w r0,r0,r1", &[0xfa00, 0xf001], 1),
    ("ubfx r0,r1,#3,#5", &[0xf3c1, 0x00c4], 1),
    ("ldr r0,[r7]", &[0x6838], 2),
    ("ldr.w r0,[r7,#8]", &[0xf8d7, 0x0008], 2),
    ("ldr r0,[r7,r6]", &[0x59b8], 2),
    ("str r0,[r7]", &[0x6038], 1),
    ("str r0,[r7,r6]", &[0x51b8], 2),
    ("ldrd r0,r1,[r7]", &[0xe9d7, 0x0100], 3),
    ("strd r0,r1,[r7]", &[0xe9c7, 0x0100], 3),
    ("ldmia.w r7,{r0,r1,r4}", &[0xe897, 0x0013], 4),
    ("stmia.w r7,{r0,r1,r4}", &[0xe887, 0x0013], 4),
    ("clrex", &[0xf3bf, 0x8f2f], 1),
    ("mrs r0,primask", &[0xf3ef, 0x8010], 2),
    ("ldrh r0,[r7,#1]", &[0xf8b7, 0x0001], 3),
    ("cmp r0,r1", &[0x4288], 1),
    ("movw r0,#1234", &[0xf240, 0x40d2], 1),
];

fn benches() -> [Bench; 5] {
    [
        Bench::m3(Interface::Direct),
        Bench::m3(Interface::f1(0)),
        Bench::m4(Interface::f4(0)),
        Bench::m3(Interface::f1(2)),
        Bench::m4(Interface::f4(5)),
    ]
}

fn run(bench: &mut Bench, code: &[u16], halfwords: usize) -> u64 {
    bench.code(FLASH, code);
    bench.core.r[7] = SRAM + 0x100;
    bench.core.r[6] = 8;
    bench.cycles(FLASH, FLASH + 2 * halfwords as u32)
}

/// Numbers without a pattern (Knuth's MMIX generator).
fn random(state: &mut u64) -> usize {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) as usize
}

#[test]
fn lone_instruction_between_barriers_costs_its_table_value() {
    for &(name, instruction, cycles) in ALONE {
        let code = [&ISB, instruction, &ISB].concat();
        for mut bench in benches().into_iter().take(3) {
            // A store's data phase is over before the ISB is: nothing waits for it.
            assert_eq!(run(&mut bench, &code, code.len()), 2 * ISB_CYCLES + cycles, "{name}");
        }
    }
}

#[test]
fn random_programs() {
    let mut state = 1;
    for _ in 0..20 {
        let mut code = Vec::new();
        let mut ends = Vec::new();
        let mut least = 0;
        for _ in 0..24 {
            let (_, instruction, cycles) = ALONE[random(&mut state) % ALONE.len()];
            code.extend_from_slice(instruction);
            ends.push(code.len());
            // What a neighbour can overlap of it is one cycle.
            least += (cycles - 1).max(1);
        }
        code.push(0xbf00);
        let mut totals = Vec::new();
        for kind in 0..benches().len() {
            let mut before = 0;
            for &end in &ends {
                // The same program up to here, afresh: one instruction more is never earlier done.
                let mut bench = benches().into_iter().nth(kind).expect("one of the five");
                let now = run(&mut bench, &code, end);
                assert!(now >= before, "{code:04x?} up to {end}: {now} after {before}");
                before = now;
            }
            assert!(before >= least, "{code:04x?}: {before}, at least {least}");
            totals.push(before);
        }
        assert_eq!(totals[0], totals[1], "the F1 at zero wait states does not wait");
        assert!(totals[3] >= totals[1] && totals[4] >= totals[2], "{totals:?}");
    }
}
