/* Rows about instructions, fetch, memories and buses of an ARMv7-M core. A body is one piece of assembler between the two
 * readings, begun on 16 bytes, so that the compiler has no say in where its instructions lie. */
#include "../bench_calibration.h"
#include "bench_rows.h"

#define ALIGN_LINE ".balign 16\n\t"
#define TIMES(n, what) ".rept " #n "\n\t" what "\n\t.endr\n\t"
#define SAVED "r0", "r1", "r2", "r3", "r12", "cc", "memory"

/* A row of one value: `before` prepares registers outside the interval. */
#define ROW(name, before, body)                                                             \
    void row_##name(uint32_t *values)                                                       \
    {                                                                                       \
        uint32_t from, to;                                                                  \
                                                                                            \
        __asm volatile(before ALIGN_LINE "ldr %0, [%2]\n\t" body "ldr %1, [%2]"                  \
                       : "=&r"(from), "=&r"(to)                                             \
                       : "r"(&CPU_DWT_CYCCNT), "r"(scratch)                                 \
                       : SAVED);                                                            \
        values[0] = to - from;                                                              \
    }

static uint32_t scratch[64] __attribute__((aligned(64)));

ROW(ruler, "", "")
ROW(alu, "", TIMES(16, "adds r0, r1"))
ROW(alu_wide, "", TIMES(16, "add.w r0, r0, r1"))
ROW(multiply_long, "mvn r0, #0\n\tmvn r1, #0\n\t", TIMES(8, "umull r2, r3, r0, r1"))
ROW(mrs, "", TIMES(16, "mrs r0, primask"))
ROW(msr, "mrs r0, psp\n\t", TIMES(16, "msr psp, r0"))
ROW(cps, "", TIMES(16, "cpsid i"))
ROW(table_branch, "movs r0, #0\n\t", TIMES(8, "tbb [pc, r0]\n\t.byte 1, 1"))
ROW(it, "cmp r0, r0\n\t", TIMES(8, "adds r1, r2, #0\n\tcmp r0, r0\n\tit eq\n\taddeq r3, r2"))
ROW(dsb, "", TIMES(16, "dsb"))
ROW(isb, "", TIMES(16, "isb"))
ROW(branch_taken, "movs r0, #20\n\t", "77: subs r0, #1\n\tbne 77b\n\t")
ROW(branch_not_taken, "cmp r0, r0\n\t", TIMES(16, "bne.w 78f") "78:\n\t")
ROW(call, "push {lr}\n\t", TIMES(8, "bl 79f") "b 80f\n\t79: bx lr\n\t80:\n\tpop {r0}\n\tmov lr, r0\n\t")
ROW(literal, "", TIMES(8, "ldr r0, 81f") "b 82f\n\t.balign 4\n\t81: .word 1\n\t82:\n\t")
ROW(bit_band_stores, "ldr r0, =0x22000000\n\tubfx r1, %3, #0, #20\n\tadd r0, r0, r1, lsl #5\n\tmovs r1, #0\n\t",
    TIMES(8, "str r1, [r0]\n\tldr r2, [%3]") "b 83f\n\t.ltorg\n\t83:\n\t")

/* Measures row `divide`: cycles of 4 UDIV, for quotients of 0 to 32 bits. */
void row_divide(uint32_t *values)
{
    static const uint32_t dividends[] = {0, 1, 0xF, 0xFF, 0xFFF, 0xFFFF, 0xFFFFF, 0xFFFFFFF, 0xFFFFFFFF};

    for (unsigned i = 0; i < sizeof dividends / sizeof dividends[0]; i++) {
        uint32_t from, to;

        __asm volatile(ALIGN_LINE "ldr %0, [%2]\n\t" TIMES(4, "udiv r1, %3, %4") "ldr %1, [%2]"
                       : "=&r"(from), "=&r"(to)
                       : "r"(&CPU_DWT_CYCCNT), "r"(dividends[i]), "r"(1)
                       : SAVED);
        values[i] = to - from;
    }
}

/* Measures 8 loads from SRAM that do not overlap. */
static void load_apart(uint32_t *value)
{
    uint32_t from, to;

    scratch[0] = (uint32_t)(uintptr_t)scratch;
    __asm volatile("mov r0, %3\n\t" ALIGN_LINE "ldr %0, [%2]\n\t" TIMES(8, "ldr r0, [r0]") "ldr %1, [%2]"
                   : "=&r"(from), "=&r"(to)
                   : "r"(&CPU_DWT_CYCCNT), "r"(scratch)
                   : SAVED);
    *value = to - from;
}

/* Measures row `load`: cycles of 8 loads from SRAM that overlap, and of 8 that do not. */
void row_load(uint32_t *values)
{
    uint32_t from, to;

    __asm volatile(ALIGN_LINE "ldr %0, [%2]\n\t" TIMES(8, "ldr r0, [%3]") "ldr %1, [%2]"
                   : "=&r"(from), "=&r"(to)
                   : "r"(&CPU_DWT_CYCCNT), "r"(scratch)
                   : SAVED);
    values[0] = to - from;
    load_apart(&values[1]);
}

/* Measures row `store`: cycles of 8 stores with an offset in the opcode, and of 8 with one in a register. */
void row_store(uint32_t *values)
{
    uint32_t from, to;

    __asm volatile(ALIGN_LINE "ldr %0, [%2]\n\t" TIMES(8, "str r0, [%3, #4]") "ldr %1, [%2]"
                   : "=&r"(from), "=&r"(to)
                   : "r"(&CPU_DWT_CYCCNT), "r"(scratch)
                   : SAVED);
    values[0] = to - from;
    __asm volatile("movs r1, #4\n\t" ALIGN_LINE "ldr %0, [%2]\n\t" TIMES(8, "str r0, [%3, r1]") "ldr %1, [%2]"
                   : "=&r"(from), "=&r"(to)
                   : "r"(&CPU_DWT_CYCCNT), "r"(scratch)
                   : SAVED);
    values[1] = to - from;
}

/* Measures row `flash_cold`: cycles of straight code with what the row before has left in the buffers, and of the same
 * code again. The code is longer than what reading ahead gains. */
void row_flash_cold(uint32_t *values)
{
    for (unsigned time = 0; time < 2; time++) {
        uint32_t from, to;

        __asm volatile(ALIGN_LINE "ldr %0, [%2]\n\t" TIMES(96, "add.w r0, r0, r1") "ldr %1, [%2]"
                       : "=&r"(from), "=&r"(to)
                       : "r"(&CPU_DWT_CYCCNT)
                       : SAVED);
        values[time] = to - from;
    }
}

/* 16 NOPs, 16 branches to what follows, BX LR: data, so it lies in SRAM. */
static uint16_t sram_code[33] __attribute__((aligned(16)));

/* Measures row `fetch_sram`: cycles of 16 instructions and 16 branches that are executed from SRAM. */
void row_fetch_sram(uint32_t *values)
{
    void (*run)(void) = (void (*)(void))((uintptr_t)sram_code | 1u);
    uint32_t from;

    for (unsigned i = 0; i < 16; i++) {
        sram_code[i] = 0xBF00u;
        sram_code[i + 16] = 0xE7FFu;
    }
    sram_code[32] = 0x4770u;
    __asm volatile("dsb\n\tisb" ::: "memory");
    from = cpu_ruler_read();
    run();
    values[0] = cpu_ruler_read() - from;
}

/* Loads with room around them. Stores without, and so many that they fill the M7's buffer: one in it is felt by the next
 * access that finds it full. */
#define BUS(name, count, access)                                                                  \
    static uint32_t name(uint32_t address)                                                        \
    {                                                                                             \
        uint32_t from, to;                                                                        \
                                                                                                  \
        __asm volatile("movs r1, #0\n\t" ALIGN_LINE "ldr %0, [%2]\n\t" TIMES(count, access) "ldr %1, [%2]" \
                       : "=&r"(from), "=&r"(to)                                                   \
                       : "r"(&CPU_DWT_CYCCNT), "r"(address)                                       \
                       : SAVED);                                                                  \
        return to - from;                                                                         \
    }

BUS(bus_load, 8, "ldr r0, [%3]\n\tnop\n\tnop\n\tnop\n\tnop")
BUS(bus_store, 24, "str r1, [%3]")

/* Measures row `ahb_read`: cycles of 8 loads from an AHB peripheral. */
void row_ahb_read(uint32_t *values)
{
    values[0] = bus_load(BENCH_PARAM_AHB_READ);
}

/* Measures row `ahb_write`: cycles of successive stores to an AHB peripheral. */
void row_ahb_write(uint32_t *values)
{
    values[0] = bus_store(BENCH_PARAM_AHB_WRITE);
}

/* Measures row `near_read`: cycles of the same loads as `ahb_read`, from a peripheral in the core's own clock
 * domain. */
void row_near_read(uint32_t *values)
{
    values[0] = bus_load(BENCH_PARAM_NEAR_READ);
}

/* Measures row `near_write`: cycles of the same stores as `ahb_write`, to a peripheral in the core's own clock
 * domain. */
void row_near_write(uint32_t *values)
{
    values[0] = bus_store(BENCH_PARAM_NEAR_WRITE);
}

/* Measures a load from a bus register in each of 8 phases of the bus's clock. */
static void in_phases(uint32_t address, uint32_t *values)
{
    for (uint32_t phase = 0; phase < 8; phase++) {
        uint32_t from, to;

        /* The first access ends with a clock of the bus; the second comes `phase` cycles later. */
        __asm volatile("ldr r0, [%3]\n\tdsb\n\t" ALIGN_LINE
                       "ldr %0, [%2]\n\tldr r0, [%3]\n\tlsls r1, %4, #1\n\tadr.w r2, 91f\n\tsubs r2, r2, r1\n\t"
                       "adds r2, #1\n\tbx r2\n\t" TIMES(8, "nop") ".balign 4\n\t91: ldr r0, [%3]\n\tldr %1, [%2]"
                       : "=&r"(from), "=&r"(to)
                       : "r"(&CPU_DWT_CYCCNT), "r"(address), "r"(phase)
                       : SAVED);
        values[phase] = to - from;
    }
}

/* Measures row `apb1_read`: cycles of a load from the first APB, in 8 phases of its clock. */
void row_apb1_read(uint32_t *values)
{
    in_phases(BENCH_PARAM_APB1, values);
}

/* Measures row `apb2_read`: cycles of a load from the second APB, in 8 phases of its clock. */
void row_apb2_read(uint32_t *values)
{
    in_phases(BENCH_PARAM_APB2, values);
}

#if BENCH_PARAM_APB2_DIVIDER
/* Measures row `apb2_divided`: as `apb2_read`, with the bus at half its clock, which nothing else notices. */
void row_apb2_divided(uint32_t *values)
{
    uint32_t before = CPU_REGISTER(BENCH_PARAM_APB2_DIVIDER);

    CPU_REGISTER(BENCH_PARAM_APB2_DIVIDER) = before | BENCH_PARAM_APB2_HALF;
    for (unsigned i = 0; i < 16; i++) { /* it takes effect within 16 cycles */
        (void)CPU_REGISTER(BENCH_PARAM_APB2_DIVIDER);
    }
    in_phases(BENCH_PARAM_APB2, values);
    CPU_REGISTER(BENCH_PARAM_APB2_DIVIDER) = before;
    (void)CPU_REGISTER(BENCH_PARAM_APB2_DIVIDER);
}
#endif
