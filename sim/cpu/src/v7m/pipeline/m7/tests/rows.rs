//! What straight-line code costs, one table a group of rules.
//!
//! A row is repeated back to back; its cycles are the difference between 40 and 8 repetitions, a 32nd of it, so that
//! start and end do not count. `r0` to `r7` hold small numbers, `r8` and `r9` point to doublewords of RAM, `r10` to an
//! odd word, `r11` to an odd byte.

/// Source, cycles, opcodes.
pub type Row = (&'static str, u64, &'static [u16]);

/// JL operand-2 matrix, multiplication, bit fields; quinapalus: independent ALU pairs take one cycle.
pub const PAIRS: &[Row] = &[
    ("eor.w r0,r1,r2; eor.w r3,r4,r5", 1, &[0xea81, 0x0002, 0xea84, 0x0305]),
    ("adc.w r0,r1,r2; adc.w r3,r4,r5", 1, &[0xeb41, 0x0002, 0xeb44, 0x0305]),
    ("adcs.w r0,r1,r2; adcs.w r3,r4,r5", 2, &[0xeb51, 0x0002, 0xeb54, 0x0305]),
    ("add.w r0,r1,#1; eor.w r2,r3,#0x1b1b1b1b", 1, &[0xf101, 0x0001, 0xf083, 0x321b]),
    ("eor.w r0,r1,#0x1fc0; eor.w r2,r3,#0x1fc0", 2, &[0xf481, 0x50fe, 0xf483, 0x52fe]),
    ("eor.w r0,r1,#0x1fc0; eor.w r2,r3,#7", 1, &[0xf481, 0x50fe, 0xf083, 0x0207]),
    ("add.w r0,r1,r2,ror #24; add.w r3,r4,r5,ror #24", 2, &[0xeb01, 0x6032, 0xeb04, 0x6335]),
    ("add.w r0,r1,r2,ror #24; eor.w r3,r4,#0x1fc0", 2, &[0xeb01, 0x6032, 0xf484, 0x53fe]),
    ("add.w r0,r1,r2,ror #24; lsr.w r3,r4,#2", 1, &[0xeb01, 0x6032, 0xea4f, 0x0394]),
    ("lsr.w r0,r1,#2; lsr.w r3,r4,#2", 1, &[0xea4f, 0x0091, 0xea4f, 0x0394]),
    ("ror.w r0,r1,r2; ror.w r3,r4,r5", 1, &[0xfa61, 0xf002, 0xfa64, 0xf305]),
    ("movw r0,#0x1234; movt r0,#0x5678", 1, &[0xf241, 0x2034, 0xf2c5, 0x6078]),
    ("uxtb.w r0,r1; uxtb.w r2,r3", 2, &[0xfa5f, 0xf081, 0xfa5f, 0xf283]),
    ("uxtb.w r0,r1; eor.w r2,r3,r4,ror #8", 1, &[0xfa5f, 0xf081, 0xea83, 0x2234]),
    ("ubfx r0,r1,#2,#3; eor.w r2,r3,r4,ror #8", 2, &[0xf3c1, 0x0082, 0xea83, 0x2234]),
    ("ubfx r0,r1,#2,#3; eor.w r2,r3,r4", 1, &[0xf3c1, 0x0082, 0xea83, 0x0204]),
    ("uadd8 r0,r1,r2; sel r3,r4,r5", 2, &[0xfa81, 0xf042, 0xfaa4, 0xf385]),
    ("bfi r0,r1,#2,#3; add.w r2,r3,#1", 1, &[0xf361, 0x0084, 0xf103, 0x0201]),
    ("mul r0,r1,r2; mul r3,r4,r5", 2, &[0xfb01, 0xf002, 0xfb04, 0xf305]),
    ("mul r0,r1,r2; add.w r3,r4,r5", 1, &[0xfb01, 0xf002, 0xeb04, 0x0305]),
    ("mul r0,r1,r2; str.w r3,[r8]", 2, &[0xfb01, 0xf002, 0xf8c8, 0x3000]),
    ("smlabb r0,r1,r2,r3; uadd8 r4,r5,r6", 1, &[0xfb11, 0x3002, 0xfa85, 0xf446]),
    ("umull r0,r1,r2,r3; eor.w r4,r5,r6", 1, &[0xfba2, 0x0103, 0xea85, 0x0406]),
    ("nop.w; nop.w", 1, &[0xf3af, 0x8000, 0xf3af, 0x8000]),
];

/// JL, SLOTHY: which stage makes a result and which one needs it.
pub const LATENCY: &[Row] = &[
    ("eor.w r0,r0,r1", 1, &[0xea80, 0x0001]),
    ("add.w r0,r0,#1", 1, &[0xf100, 0x0001]),
    ("add.w r0,r0,r2; eor.w r1,r1,r0", 1, &[0xeb00, 0x0002, 0xea81, 0x0100]),
    ("eor.w r0,r1,r2; eor.w r1,r0,r3", 2, &[0xea81, 0x0002, 0xea80, 0x0103]),
    ("eor.w r0,r1,r0,ror #3", 2, &[0xea81, 0x00f0]),
    ("lsr.w r0,r0,#1", 1, &[0xea4f, 0x0050]),
    ("mul r0,r0,r1", 2, &[0xfb00, 0xf001]),
    ("mla r0,r1,r2,r0", 1, &[0xfb01, 0x0002]),
    ("umlal r0,r1,r2,r3", 1, &[0xfbe2, 0x0103]),
    ("smlabb r0,r1,r2,r0", 1, &[0xfb11, 0x0002]),
    ("mla r0,r0,r1,r2", 2, &[0xfb00, 0x2001]),
    ("eor.w r0,r0,r1; mla r0,r2,r3,r0", 2, &[0xea80, 0x0001, 0xfb02, 0x0003]),
    ("ldr.w r0,[r8]; eor.w r1,r0,r2", 1, &[0xf8d8, 0x0000, 0xea80, 0x0102]),
    (
        "ldr.w r0,[r8]; nop.w; eor.w r1,r0,r2; nop.w",
        2,
        &[0xf8d8, 0x0000, 0xf3af, 0x8000, 0xea80, 0x0102, 0xf3af, 0x8000],
    ),
    ("ldr.w r8,[r8]", 2, &[0xf8d8, 0x8000]),
    (
        "ldr.w r0,[r8]; nop.w; eor.w r1,r2,r0,ror #8; nop.w",
        3,
        &[0xf8d8, 0x0000, 0xf3af, 0x8000, 0xea82, 0x2130, 0xf3af, 0x8000],
    ),
    ("ubfx r0,r0,#0,#31", 2, &[0xf3c0, 0x001e]),
    ("rev.w r0,r0", 2, &[0xfa90, 0xf080]),
    ("uxtb.w r0,r0", 1, &[0xfa5f, 0xf080]),
    ("qadd r0,r0,r1", 3, &[0xfa81, 0xf080]),
    ("adcs.w r0,r0,r1", 1, &[0xeb50, 0x0001]),
    ("add.w r0,r1,#1; str.w r0,[r8]", 1, &[0xf101, 0x0001, 0xf8c8, 0x0000]),
    ("ldr.w r0,[r8]; str.w r0,[r9,#4]", 1, &[0xf8d8, 0x0000, 0xf8c9, 0x0004]),
    ("eor.w r0,r0,r1; str.w r0,[r8]", 1, &[0xea80, 0x0001, 0xf8c8, 0x0000]),
    ("usat r0,#5,r0", 3, &[0xf380, 0x0005]),
    ("cmp.w r0,r1; adc.w r2,r3,r4", 1, &[0xebb0, 0x0f01, 0xeb43, 0x0204]),
    ("cmp.w r0,r1,lsl #2; adc.w r2,r3,r4", 2, &[0xebb0, 0x0f81, 0xeb43, 0x0204]),
    (
        "add.w r7,r8,#0; nop.w; ldr.w r0,[r7]; nop.w",
        2,
        &[0xf108, 0x0700, 0xf3af, 0x8000, 0xf8d7, 0x0000, 0xf3af, 0x8000],
    ),
    (
        "eor.w r7,r8,#0; nop.w; ldr.w r0,[r7]; nop.w",
        3,
        &[0xf088, 0x0700, 0xf3af, 0x8000, 0xf8d7, 0x0000, 0xf3af, 0x8000],
    ),
    ("cmp.w r0,r1; it ne; addne.w r2,r3,r4; nop.w", 2, &[0xebb0, 0x0f01, 0xbf18, 0xeb03, 0x0204, 0xf3af, 0x8000]),
    ("cmp.w r0,r0; it ne; ldmne.w r8,{r1-r4}", 3, &[0xebb0, 0x0f00, 0xbf18, 0xe898, 0x001e]),
];

/// JL: banks, multiple transfers, store buffer, unaligned accesses; SLOTHY: load after store.
pub const MEMORY: &[Row] = &[
    ("ldr.w r0,[r8]; ldr.w r1,[r8,#4]", 1, &[0xf8d8, 0x0000, 0xf8d8, 0x1004]),
    ("ldr.w r0,[r8]; ldr.w r1,[r8,#8]", 2, &[0xf8d8, 0x0000, 0xf8d8, 0x1008]),
    ("ldr.w r0,[r8]; str.w r1,[r9]", 1, &[0xf8d8, 0x0000, 0xf8c9, 0x1000]),
    ("str.w r0,[r8]; str.w r1,[r9]", 2, &[0xf8c8, 0x0000, 0xf8c9, 0x1000]),
    ("ldr.w r0,[r8],#4; ldr.w r1,[r9,#4]!", 1, &[0xf858, 0x0b04, 0xf859, 0x1f04]),
    ("ldrd r0,r1,[r8]", 1, &[0xe9d8, 0x0100]),
    ("ldrd r0,r1,[r8]; nop.w", 2, &[0xe9d8, 0x0100, 0xf3af, 0x8000]),
    ("ldm.w r8,{r0-r3}", 2, &[0xe898, 0x000f]),
    ("ldm.w r8,{r0-r4}", 3, &[0xe898, 0x001f]),
    ("stm.w r8,{r0-r3}", 2, &[0xe888, 0x000f]),
    ("stm.w r10,{r0-r3}", 3, &[0xe88a, 0x000f]),
    ("stm.w r10,{r0-r2}", 2, &[0xe88a, 0x0007]),
    ("strb.w r0,[r8]", 4, &[0xf888, 0x0000]),
    ("strb.w r0,[r8]; strb.w r0,[r8,#4]", 4, &[0xf888, 0x0000, 0xf888, 0x0004]),
    ("strh.w r0,[r8]", 4, &[0xf8a8, 0x0000]),
    ("str.w r0,[r8]", 1, &[0xf8c8, 0x0000]),
    ("ldr.w r0,[r11]", 4, &[0xf8db, 0x0000]),
    ("str.w r0,[r11]", 4, &[0xf8cb, 0x0000]),
    (
        "str.w r0,[r8]; ldr.w r1,[r8]; nop.w; nop.w; nop.w; nop.w; nop.w; nop.w; nop.w; nop.w",
        8,
        &[
            0xf8c8, 0x0000, 0xf8d8, 0x1000, 0xf3af, 0x8000, 0xf3af, 0x8000, 0xf3af, 0x8000, 0xf3af, 0x8000, 0xf3af,
            0x8000, 0xf3af, 0x8000, 0xf3af, 0x8000, 0xf3af, 0x8000,
        ],
    ),
];

/// LLVM, OTAWA: what issues alone; JL: floating point.
pub const SINGLE: &[Row] = &[
    ("udiv r0,r1,r2", 4, &[0xfbb1, 0xf0f2]),
    ("mrs r0,basepri", 3, &[0xf3ef, 0x8011]),
    ("dmb", 3, &[0xf3bf, 0x8f5f]),
    ("vadd.f32 s0,s1,s2", 1, &[0xee30, 0x0a81]),
    ("vadd.f32 s0,s1,s2; vadd.f32 s3,s4,s5", 2, &[0xee30, 0x0a81, 0xee72, 0x1a22]),
    ("vadd.f32 s0,s0,s2", 3, &[0xee30, 0x0a01]),
    ("vmul.f32 s0,s0,s2", 3, &[0xee20, 0x0a01]),
    ("vadd.f32 s0,s1,s2; add.w r0,r1,r2", 1, &[0xee30, 0x0a81, 0xeb01, 0x0002]),
    ("vfma.f32 s0,s1,s2", 3, &[0xeea0, 0x0a81]),
    ("vmla.f32 s0,s1,s2", 3, &[0xee00, 0x0a81]),
    ("vfma.f32 s0,s0,s2", 5, &[0xeea0, 0x0a01]),
    ("vmla.f32 s0,s0,s2", 6, &[0xee00, 0x0a01]),
    ("vfma.f32 s0,s1,s2; vfma.f32 s3,s4,s5; vfma.f32 s6,s7,s8", 3, &[0xeea0, 0x0a81, 0xeee2, 0x1a22, 0xeea3, 0x3a84]),
    ("vfma.f32 s0,s1,s2; vadd.f32 s3,s4,s5", 5, &[0xeea0, 0x0a81, 0xee72, 0x1a22]),
    ("vmul.f32 s0,s1,s2; vadd.f32 s3,s4,s5", 2, &[0xee20, 0x0a81, 0xee72, 0x1a22]),
    ("vdiv.f32 s0,s1,s2", 16, &[0xee80, 0x0a81]),
    ("vdiv.f32 s0,s1,s2; add.w r0,r1,r2", 16, &[0xee80, 0x0a81, 0xeb01, 0x0002]),
    ("vsqrt.f32 s0,s1", 14, &[0xeeb1, 0x0ae0]),
    ("vldr s0,[r8]; add.w r0,r1,r2", 1, &[0xed98, 0x0a00, 0xeb01, 0x0002]),
    ("vldr d0,[r8]; nop.w", 2, &[0xed98, 0x0b00, 0xf3af, 0x8000]),
    ("vldr s0,[r8]; vldr s1,[r8,#4]", 1, &[0xed98, 0x0a00, 0xedd8, 0x0a01]),
    ("vadd.f64 d0,d1,d2", 2, &[0xee31, 0x0b02]),
    ("vmul.f64 d0,d1,d2", 5, &[0xee21, 0x0b02]),
    ("vfma.f64 d0,d1,d2", 8, &[0xeea1, 0x0b02]),
    ("vdiv.f64 d0,d1,d2", 30, &[0xee81, 0x0b02]),
    ("vmov s0,r0; vmov r0,s0", 4, &[0xee00, 0x0a10, 0xee10, 0x0a10]),
    ("vldr s0,[r8]; vfma.f32 s0,s1,s2", 4, &[0xed98, 0x0a00, 0xeea0, 0x0a81]),
    ("vldr s0,[r8]; vmla.f32 s0,s1,s2", 3, &[0xed98, 0x0a00, 0xee00, 0x0a81]),
    ("vadd.f32 s0,s1,s2; vstr s0,[r8]", 1, &[0xee30, 0x0a81, 0xed88, 0x0a00]),
    ("vfma.f32 s0,s1,s2; vstr s0,[r8]", 4, &[0xeea0, 0x0a81, 0xed88, 0x0a00]),
    ("vldm r8,{s0-s3}", 2, &[0xec98, 0x0a04]),
    ("vsqrt.f64 d0,d1", 30, &[0xeeb1, 0x0bc1]),
    ("vmrs r0,fpscr", 1, &[0xeef1, 0x0a10]),
];

/// Loops of JL's kind: what is in them, cycles of 40 iterations, cycles around them, opcodes. They lose a prediction
/// when they start and one when they end: 8 cycles each, 6 if the flags are early.
pub const LOOPS: &[(&str, u64, u64, &[u16])] = &[
    (
        "subs early, 14 opcodes",
        280,
        13,
        &[
            0x2014, 0xbf00, 0xf3af, 0x8000, 0xf3af, 0x8000, 0xf3af, 0x8000, 0xf3af, 0x8000, 0xf3af, 0x8000, 0xf1b0,
            0x0001, 0xf3af, 0x8000, 0xf3af, 0x8000, 0xf3af, 0x8000, 0xf3af, 0x8000, 0xf3af, 0x8000, 0xf3af, 0x8000,
            0xf3af, 0x8000, 0xf3af, 0x8000, 0xf47f, 0xafe4,
        ],
    ),
    (
        "subs beside the branch, 14 opcodes",
        280,
        15,
        &[
            0x2014, 0xbf00, 0xf3af, 0x8000, 0xf3af, 0x8000, 0xf3af, 0x8000, 0xf3af, 0x8000, 0xf3af, 0x8000, 0xf3af,
            0x8000, 0xf3af, 0x8000, 0xf3af, 0x8000, 0xf3af, 0x8000, 0xf3af, 0x8000, 0xf3af, 0x8000, 0xf3af, 0x8000,
            0xf3af, 0x8000, 0xf1b0, 0x0001, 0xf47f, 0xafe4,
        ],
    ),
    (
        "15 wide opcodes",
        320,
        12,
        &[
            0x2014, 0xbf00, 0xf3af, 0x8000, 0xf3af, 0x8000, 0xf3af, 0x8000, 0xf3af, 0x8000, 0xf3af, 0x8000, 0xf1b0,
            0x0001, 0xf3af, 0x8000, 0xf3af, 0x8000, 0xf3af, 0x8000, 0xf3af, 0x8000, 0xf3af, 0x8000, 0xf3af, 0x8000,
            0xf3af, 0x8000, 0xf3af, 0x8000, 0xf3af, 0x8000, 0xf47f, 0xafe2,
        ],
    ),
    (
        "9 opcodes, some narrow",
        180,
        14,
        &[
            0x2014, 0xbf00, 0xf3af, 0x8000, 0xf3af, 0x8000, 0xf3af, 0x8000, 0xf3af, 0x8000, 0x3801, 0xbf00, 0xbf00,
            0xf3af, 0x8000, 0xf3af, 0x8000, 0xd1f1,
        ],
    ),
    (
        "call and return",
        120,
        26,
        &[0x2014, 0xbf00, 0xf3af, 0x8000, 0xf000, 0xf803, 0x3801, 0xd1fb, 0xe000, 0x4770, 0xbf00],
    ),
];
