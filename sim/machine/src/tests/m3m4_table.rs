//! The M3's and M4's tables, row by row: code after a branch, from memory without wait states.
//!
//! Each row is a rule of docs/accuracy.md: what is executed, its halfwords, cycles on the M3 and on the M4. At the
//! start r7 and r5 point into one block of SRAM, r3 into another, r2 at a slow peripheral, r6 is 8, lr is 12 bytes on.

use super::bench::{Bench, FLASH, Interface, SLOW, SRAM, SRAM2};

/// First halfword of LDR pc,[r7].
const LDR_PC: u16 = 0xf8d7;

type Row = (&'static str, &'static [u16], u64, u64);

#[rustfmt::skip]
const INTEGER: &[Row] = &[
    ("one instruction: adds r0,r0,#1", &[0x3001], 1, 1),
    ("nop: nop", &[0xbf00], 1, 1),
    ("multiply: muls r0,r1,r0", &[0x4348], 1, 1),
    ("multiply-accumulate: mla r0,r1,r2,r3", &[0xfb01, 0x3002], 2, 1),
    ("load: ldr r0,[r7]", &[0x6838], 2, 2),
    ("load, ALU use: ldr r0,[r7]; adds r0,r0,#1", &[0x6838, 0x3001], 3, 3),
    ("load, load: ldr r0,[r7]; ldr r1,[r7,#4]", &[0x6838, 0x6879], 3, 3),
    ("three loads: ldr r0,[r7]; ldr r1,[r7,#4]; ldr r2,[r7,#8]", &[0x6838, 0x6879, 0x68ba], 4, 4),
    ("load, load through it: ldr r4,[r7]; ldr r1,[r4]", &[0x683c, 0x6821], 4, 4),
    ("load hides a NOP: ldr r0,[r7]; nop", &[0x6838, 0xbf00], 2, 2),
    ("load hides one NOP only: ldr r0,[r7]; nop; nop", &[0x6838, 0xbf00, 0xbf00], 3, 3),
    ("load hides no compare: ldr r0,[r7]; cmp r1,r2", &[0x6838, 0x4291], 3, 3),
    ("address from the ALU: adds r7,r7,#4; ldr r0,[r7]", &[0x3704, 0x6838], 4, 4),
    ("address from the ALU, one later: adds r7,r7,#4; movs r1,#0; ldr r0,[r7]", &[0x3704, 0x2100, 0x6838], 4, 4),
    ("index from the ALU: movs r1,#4; ldr r0,[r7,r1]", &[0x2104, 0x5878], 4, 4),
    ("store: str r0,[r7]", &[0x6038], 1, 1),
    ("store, ALU: str r0,[r7]; adds r0,r0,#1", &[0x6038, 0x3001], 2, 2),
    ("stores: str r0,[r7]; str r1,[r7,#4]; str r2,[r7,#8]", &[0x6038, 0x6079, 0x60ba], 3, 3),
    ("store, load: str r0,[r7]; ldr r1,[r7]", &[0x6038, 0x6839], 4, 4),
    ("store, ALU, load: str r0,[r7]; adds r2,r2,#1; ldr r1,[r7]", &[0x6038, 0x3201, 0x6839], 4, 4),
    ("store with index: str r0,[r7,r6]", &[0x51b8], 2, 2),
    ("store with index hides a NOP: str r0,[r7,r6]; nop", &[0x51b8, 0xbf00], 2, 2),
    ("load, store: ldr r0,[r7]; str r1,[r7,#4]", &[0x6838, 0x6079], 2, 2),
    ("load, store of it: ldr r0,[r7]; str r0,[r7,#4]", &[0x6838, 0x6078], 2, 2),
    ("load, store with index: ldr r0,[r7]; str r1,[r7,r6]", &[0x6838, 0x51b9], 3, 3),
    ("indexed load first: ldr r0,[r7],#4; ldr r1,[r5]", &[0xf857, 0x0b04, 0x6829], 3, 3),
    ("indexed load second: ldr r1,[r5]; ldr r0,[r7],#4", &[0x6829, 0xf857, 0x0b04], 4, 3),
    ("indexed loads, one base: ldr r0,[r7],#4; ldr r1,[r7],#4", &[0xf857, 0x0b04, 0xf857, 0x1b04], 4, 4),
    ("indexed loads, two bases: ldr r0,[r7],#4; ldr r1,[r5],#4", &[0xf857, 0x0b04, 0xf855, 0x1b04], 4, 3),
    ("indexed stores, one base: str r0,[r7],#4; str r1,[r7],#4", &[0xf847, 0x0b04, 0xf847, 0x1b04], 3, 3),
    ("indexed stores, two bases: str r0,[r7],#4; str r1,[r5],#4", &[0xf847, 0x0b04, 0xf845, 0x1b04], 2, 2),
    ("two blocks of memory: ldr r0,[r7]; ldr r1,[r3]", &[0x6838, 0x6819], 4, 4),
    ("double load: ldrd r0,r1,[r7]", &[0xe9d7, 0x0100], 3, 3),
    ("double store: strd r0,r1,[r7]", &[0xe9c7, 0x0100], 3, 3),
    ("load after a double load: ldrd r0,r1,[r7]; ldr r2,[r7]", &[0xe9d7, 0x0100, 0x683a], 5, 5),
    ("LDM of four: ldmia r7,{r0,r1,r2,r4}", &[0xe897, 0x0017], 5, 5),
    ("STM of four: stmia r7!,{r0,r1,r2,r4}", &[0xc717], 5, 5),
    ("store, LDM: str r0,[r7]; ldmia r5,{r0,r1}", &[0x6038, 0xe895, 0x0003], 5, 5),
    ("store, STM: str r0,[r7]; stmia r5!,{r0,r1}", &[0x6038, 0xc503], 4, 4),
    ("push and pop: push {r0,r1}; pop {r0,r1}", &[0xb403, 0xbc03], 6, 9),
    ("push, load by SP: push {r0,r1}; ldr r0,[sp,#4]", &[0xb403, 0x9801], 5, 8),
    ("push, another instruction, load by SP: push {r0,r1}; movs r2,#1; ldr r0,[sp,#4]", &[0xb403, 0x2201, 0x9801], 6, 6),
    ("two STM of one base: stmia r7!,{r0,r1}; stmia r7!,{r0,r1}", &[0xc703, 0xc703], 6, 8),
    ("LDM, store by its base: ldmia r5!,{r0,r1}; str r0,[r5]", &[0xcd03, 0x6028], 4, 6),
    ("LDM that does not write back, load by its base: ldmia.w r7,{r0,r1}; ldr r0,[r7]", &[0xe897, 0x0003, 0x6838], 5, 5),
    ("STM, LDM: stmia r7!,{r0,r1}; ldmia r5!,{r0,r1}", &[0xc703, 0xcd03], 6, 7),
    ("STM, load: stmia r7!,{r0,r1}; ldr r0,[r5]", &[0xc703, 0x6828], 5, 6),
    ("STM, ALU, LDM: stmia r7!,{r0,r1}; movs r2,#1; ldmia r5!,{r0,r1}", &[0xc703, 0x2201, 0xcd03], 7, 7),
    ("STM, STM: stmia r7!,{r0,r1}; stmia r5!,{r0,r1}", &[0xc703, 0xc503], 6, 6),
    ("halfword at an odd address: ldrh r0,[r7,#1]", &[0xf8b7, 0x0001], 3, 3),
    ("word at a halfword: ldr.w r0,[r7,#2]", &[0xf8d7, 0x0002], 3, 3),
    ("word at an odd address: ldr.w r0,[r7,#1]", &[0xf8d7, 0x0001], 4, 4),
    ("exclusives: ldrex r0,[r7]; strex r1,r0,[r7]", &[0xe857, 0x0f00, 0xe847, 0x0100], 4, 4),
    ("divide: movs r0,#7; movs r1,#4; udiv r2,r0,r1", &[0x2007, 0x2104, 0xfbb0, 0xf2f1], 7, 7),
    ("divide by zero: movs r1,#0; udiv r2,r0,r1", &[0x2100, 0xfbb0, 0xf2f1], 3, 3),
    ("long multiply, small: movs r0,#7; movs r1,#4; umull r2,r3,r0,r1", &[0x2007, 0x2104, 0xfba0, 0x2301], 5, 3),
    ("long multiply, large: mvn r0,#7; mvn r1,#4; umull r2,r3,r0,r1", &[0xf06f, 0x0007, 0xf06f, 0x0104, 0xfba0, 0x2301], 7, 3),
    ("long accumulate, large: mvn r0,#7; mvn r1,#4; umlal r2,r3,r0,r1", &[0xf06f, 0x0007, 0xf06f, 0x0104, 0xfbe0, 0x2301], 9, 3),
    ("branch: b 1f; nop.w; 1:", &[0xe001, 0xf3af, 0x8000], 2, 2),
    ("branch to a 16-bit upper halfword: b 1f; nop; nop; 1: nop", &[0xe001, 0xbf00, 0xbf00, 0xbf00], 3, 3),
    ("branch to a 32-bit upper halfword: b 1f; nop; nop; 1: nop.w", &[0xe001, 0xbf00, 0xbf00, 0xf3af, 0x8000], 4, 4),
    ("branch by LR: bx lr; nop; 1:", &[0x4770, 0xbf00], 2, 2),
    ("branch by LR: mov pc,lr; nop; 1:", &[0x46f7, 0xbf00], 2, 2),
    ("branch by LR that the instruction before writes: mov lr,lr; bx lr", &[0x46f6, 0x4770], 4, 4),
    ("branch by another register: mov r0,lr; nop; bx r0; nop; 1:", &[0x4670, 0xbf00, 0x4700, 0xbf00], 5, 5),
    ("branch not taken: cmp r0,r0; bne 1f; nop; nop; 1:", &[0x4280, 0xd101, 0xbf00, 0xbf00], 4, 4),
    ("compare and branch, not taken: cbz r5,1f; nop; 1: nop", &[0xb105, 0xbf00, 0xbf00], 3, 3),
    ("compare and branch, taken: movs r0,#0; nop; cbz r0,1f; nop; 1:", &[0x2000, 0xbf00, 0xb100, 0xbf00], 5, 5),
    ("IT folds: movs r0,#0; it ne; movne r1,#1", &[0x2000, 0xbf18, 0x2101], 2, 2),
    ("IT behind a 32-bit opcode: mov.w r0,#0; it ne; movne r1,#1", &[0xf04f, 0x0000, 0xbf18, 0x2101], 3, 3),
    ("IT block, failed: cmp r0,r0; ite ne; ldrne r1,[r7]; moveq r1,#1", &[0x4280, 0xbf14, 0x6839, 0x2101], 3, 3),
    ("aligned 32-bit code: nop.w; nop.w; nop.w; nop.w; nop.w; nop.w", &[0xf3af, 0x8000, 0xf3af, 0x8000, 0xf3af, 0x8000, 0xf3af, 0x8000, 0xf3af, 0x8000, 0xf3af, 0x8000], 6, 6),
    ("two unaligned 32-bit opcodes: mov r8,r8; mov.w r8,r8; mov.w r8,r8", &[0x46c0, 0xea4f, 0x0808, 0xea4f, 0x0808], 3, 3),
    ("three unaligned 32-bit opcodes: mov r8,r8; mov.w r8,r8; mov.w r8,r8; mov.w r8,r8", &[0x46c0, 0xea4f, 0x0808, 0xea4f, 0x0808, 0xea4f, 0x0808], 5, 5),
    ("six unaligned 32-bit opcodes: mov r8,r8; mov.w r8,r8; mov.w r8,r8; mov.w r8,r8; mov.w r8,r8; mov.w r8,r8; mov.w r8,r8", &[0x46c0, 0xea4f, 0x0808, 0xea4f, 0x0808, 0xea4f, 0x0808, 0xea4f, 0x0808, 0xea4f, 0x0808, 0xea4f, 0x0808], 8, 8),
    ("a load, three unaligned 32-bit opcodes: ldr r0,[r7]; mov.w r8,r8; mov.w r8,r8; mov.w r8,r8", &[0x6838, 0xea4f, 0x0808, 0xea4f, 0x0808, 0xea4f, 0x0808], 6, 6),
    ("a load, two unaligned 32-bit opcodes: ldr r0,[r7]; mov.w r8,r8; mov.w r8,r8", &[0x6838, 0xea4f, 0x0808, 0xea4f, 0x0808], 4, 4),
    ("2 32-bit loads at odd halfwords: mov r8,r8; ldr.w r0,[r7]; ldr.w r0,[r7]", &[0x46c0, 0xf8d7, 0x0000, 0xf8d7, 0x0000], 4, 4),
    ("2 aligned 32-bit loads: ldr.w r0,[r7]; ldr.w r0,[r7]", &[0xf8d7, 0x0000, 0xf8d7, 0x0000], 3, 3),
    ("3 32-bit loads at odd halfwords: mov r8,r8; ldr.w r0,[r7]; ldr.w r0,[r7]; ldr.w r0,[r7]", &[0x46c0, 0xf8d7, 0x0000, 0xf8d7, 0x0000, 0xf8d7, 0x0000], 6, 6),
    ("3 aligned 32-bit loads: ldr.w r0,[r7]; ldr.w r0,[r7]; ldr.w r0,[r7]", &[0xf8d7, 0x0000, 0xf8d7, 0x0000, 0xf8d7, 0x0000], 4, 4),
    ("8 32-bit loads at odd halfwords: mov r8,r8; ldr.w r0,[r7]; ldr.w r0,[r7]; ldr.w r0,[r7]; ldr.w r0,[r7]; ldr.w r0,[r7]; ldr.w r0,[r7]; ldr.w r0,[r7]; ldr.w r0,[r7]", &[0x46c0, 0xf8d7, 0x0000, 0xf8d7, 0x0000, 0xf8d7, 0x0000, 0xf8d7, 0x0000, 0xf8d7, 0x0000, 0xf8d7, 0x0000, 0xf8d7, 0x0000, 0xf8d7, 0x0000], 16, 16),
    ("8 aligned 32-bit loads: ldr.w r0,[r7]; ldr.w r0,[r7]; ldr.w r0,[r7]; ldr.w r0,[r7]; ldr.w r0,[r7]; ldr.w r0,[r7]; ldr.w r0,[r7]; ldr.w r0,[r7]", &[0xf8d7, 0x0000, 0xf8d7, 0x0000, 0xf8d7, 0x0000, 0xf8d7, 0x0000, 0xf8d7, 0x0000, 0xf8d7, 0x0000, 0xf8d7, 0x0000, 0xf8d7, 0x0000], 9, 9),
    ("a move within a row of loads at odd halfwords: mov r8,r8; 2 ldr.w r0,[r7]; mov.w r8,r8; 2 ldr.w r0,[r7]", &[0x46c0, 0xf8d7, 0x0000, 0xf8d7, 0x0000, 0xea4f, 0x0808, 0xf8d7, 0x0000, 0xf8d7, 0x0000], 8, 8),
    ("16-bit loads behind two of 32 bits at odd halfwords: mov r8,r8; 2 ldr.w r0,[r7]; 3 ldr r0,[r7]", &[0x46c0, 0xf8d7, 0x0000, 0xf8d7, 0x0000, 0x6838, 0x6838, 0x6838], 7, 7),
    ("pop the PC: pop {r0,pc}; nop", &[0xbd01, 0xbf00], 6, 6),
    ("load the PC: ldr pc,[r7]", &[0xf8d7, 0xf000], 5, 5),
    ("table branch to a NOP: tbb [pc,r8]; nop; 1:", &[0xe8df, 0xf008, 0xbf00], 7, 7),
    ("32-bit branch not taken in 32-bit code: nop.w; cmp.w r0,r0; bne.w 1f; nop.w; nop.w; 1:", &[0xf3af, 0x8000, 0xebb0, 0x0f00, 0xf040, 0x8004, 0xf3af, 0x8000, 0xf3af, 0x8000], 6, 6),
    ("the same with two 16-bit opcodes: nop.w; cmp.w r0,r0; bne.w 1f; nop; nop; nop.w; nop.w; 1:", &[0xf3af, 0x8000, 0xebb0, 0x0f00, 0xf040, 0x8006, 0xbf00, 0xbf00, 0xf3af, 0x8000, 0xf3af, 0x8000], 7, 7),
    ("CPS, MRS, MSR: cpsid i; mrs r0,primask; msr primask,r0", &[0xb672, 0xf3ef, 0x8010, 0xf380, 0x8810], 5, 5),
    ("ISB: isb", &[0xf3bf, 0x8f6f], 4, 4),
    ("DSB: dsb", &[0xf3bf, 0x8f4f], 1, 1),
    ("DSB behind a store: str r0,[r7]; dsb", &[0x6038, 0xf3bf, 0x8f4f], 2, 2),
    ("slow load: ldr r0,[r2]", &[0x6810], 5, 5),
    ("slow store, ALU: str r0,[r2]; movs r1,#1; movs r1,#1", &[0x6010, 0x2101, 0x2101], 3, 3),
    ("slow store, barrier: str r0,[r2]; dsb", &[0x6010, 0xf3bf, 0x8f4f], 5, 5),
    ("slow stores: str r0,[r2]; str r0,[r2]", &[0x6010, 0x6010], 5, 5),
];

#[rustfmt::skip]
const FLOAT: &[(&str, &[u16], u64)] = &[
    ("add: vadd.f32 s0,s1,s2", &[0xee30, 0x0a81], 1),
    ("add, use: vadd.f32 s0,s1,s2; vadd.f32 s3,s0,s2", &[0xee30, 0x0a81, 0xee70, 0x1a01], 3),
    ("add, other: vadd.f32 s0,s1,s2; vadd.f32 s3,s1,s2; vadd.f32 s4,s0,s2", &[0xee30, 0x0a81, 0xee70, 0x1a81, 0xee30, 0x2a01], 3),
    ("multiply-accumulate: vmla.f32 s0,s1,s2", &[0xee00, 0x0a81], 3),
    ("accumulate on a result: vadd.f32 s0,s1,s2; vmla.f32 s0,s3,s4", &[0xee30, 0x0a81, 0xee01, 0x0a82], 4),
    ("multiply a result: vadd.f32 s0,s1,s2; vmla.f32 s5,s0,s4", &[0xee30, 0x0a81, 0xee40, 0x2a02], 5),
    ("divide, store: vdiv.f32 s0,s1,s2; vmov r0,s0", &[0xee80, 0x0a81, 0xee10, 0x0a10], 15),
    ("divide beside integers: vdiv.f32 s0,s1,s2; nop; nop; nop; nop; vadd.f32 s3,s4,s5", &[0xee80, 0x0a81, 0xbf00, 0xbf00, 0xbf00, 0xbf00, 0xee72, 0x1a22], 15),
    ("square root: vsqrt.f32 s0,s1; vmov r0,s0", &[0xeeb1, 0x0ae0, 0xee10, 0x0a10], 15),
    ("load: vldr s0,[r7]", &[0xed97, 0x0a00], 2),
    ("load double: vldr d0,[r7]", &[0xed97, 0x0b00], 3),
    ("store: vstr s0,[r7]", &[0xed87, 0x0a00], 2),
    ("load four: vldmia r7,{s0-s3}", &[0xec97, 0x0a04], 5),
    ("store four: vstmia r7,{s0-s3}", &[0xec87, 0x0a04], 5),
    ("moves: vmov s0,r0; vmov r1,s1; vmov r0,r1,d1", &[0xee00, 0x0a10, 0xee10, 0x1a90, 0xec51, 0x0b11], 4),
    ("two-register moves, three 32-bit opcodes behind each, at odd halfwords: mov r8,r8; (vmov r0,r1,d1; 3 mov.w r8,r8) twice", &[0x46c0, 0xec51, 0x0b11, 0xea4f, 0x0808, 0xea4f, 0x0808, 0xea4f, 0x0808, 0xec51, 0x0b11, 0xea4f, 0x0808, 0xea4f, 0x0808, 0xea4f, 0x0808], 13),
    ("the same, aligned: (vmov r0,r1,d1; 3 mov.w r8,r8) twice", &[0xec51, 0x0b11, 0xea4f, 0x0808, 0xea4f, 0x0808, 0xea4f, 0x0808, 0xec51, 0x0b11, 0xea4f, 0x0808, 0xea4f, 0x0808, 0xea4f, 0x0808], 10),
    ("status: vmrs r0,fpscr; vmsr fpscr,r0", &[0xeef1, 0x0a10, 0xeee1, 0x0a10], 2),
];

fn cycles(mut bench: Bench, code: &[u16]) -> u64 {
    let end = FLASH + 2 * code.len() as u32;
    bench.code(FLASH, code);
    bench.core.r[7] = SRAM + 0x100;
    bench.core.r[5] = SRAM + 0x200;
    bench.core.r[3] = SRAM2;
    bench.core.r[2] = SLOW;
    bench.core.r[6] = 8;
    bench.core.r[14] = end | 1;
    // What a loaded pointer points at; what a loaded PC is.
    let pointer = if code[0] == LDR_PC { end | 1 } else { SRAM + 0x300 };
    bench.write_bytes(SRAM + 0x100, &pointer.to_le_bytes());
    bench.write_bytes(bench.core.r[13] + 4, &(end | 1).to_le_bytes());
    bench.cycles(FLASH, end)
}

#[test]
fn integer_rows() {
    let mut wrong = Vec::new();
    for &(name, code, m3, m4) in INTEGER {
        let got = (cycles(Bench::m3(Interface::Direct), code), cycles(Bench::m4(Interface::Direct), code));
        if got != (m3, m4) {
            wrong.push(format!("{name}: {got:?}, expected {:?}", (m3, m4)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn float_rows() {
    let mut wrong = Vec::new();
    for &(name, code, m4) in FLOAT {
        let got = cycles(Bench::m4(Interface::Direct), code);
        if got != m4 {
            wrong.push(format!("{name}: {got}, expected {m4}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
