/* Rows about instructions and fetch of an ARMv6-M core. A body is one piece of assembler between the two readings, begun
 * on 16 bytes, so that the compiler has no say in where its instructions lie. */
#include "../bench_calibration.h"
#include "bench_rows.h"

/* A row of one value: `before` prepares registers outside the interval. */
#define VALUE(before, body)                                                          \
    {                                                                                \
        uint32_t from, to;                                                           \
                                                                                     \
        __asm volatile(UNIFIED before ALIGN_LINE "ldr %0, [%2]\n\t" body "ldr %1, [%2]"      \
                       : "=&l"(from), "=&l"(to)                                      \
                       : "l"(&RULER), "l"(scratch)                                   \
                       : SAVED);                                                     \
        *values++ = cpu_ruler_cycles(from, to);                                      \
    }
#define ROW(name, before, body)          \
    void row_##name(uint32_t *values)    \
    {                                    \
        VALUE(before, body)              \
    }

static uint32_t scratch[4];

ROW(ruler, "", "")
ROW(alu, "", TIMES(16, "adds r0, r1"))
ROW(multiply, "", TIMES(8, "muls r0, r1"))
ROW(mrs, "", TIMES(16, "mrs r0, primask"))
ROW(msr, "mrs r0, psp\n\t", TIMES(16, "msr psp, r0"))
ROW(cps, "", TIMES(16, "cpsid i"))
ROW(dsb, "", TIMES(16, "dsb"))
ROW(isb, "", TIMES(16, "isb"))
ROW(branch_taken, "movs r0, #20\n\t", "77: subs r0, #1\n\tbne 77b\n\t")
ROW(branch_not_taken, "cmp r0, r0\n\t", TIMES(16, "bne 78f") "78:\n\t")
ROW(call, "mov r0, lr\n\t", TIMES(8, "bl 79f") "b 80f\n\t79: bx lr\n\t80:\n\tmov lr, r0\n\t")
ROW(literal, "", TIMES(8, "ldr r0, 81f") "b 82f\n\t.balign 4\n\t81: .word 1\n\t82:\n\t")

void row_load(uint32_t *values)
{
    scratch[0] = (uint32_t)(uintptr_t)scratch;
    VALUE("", TIMES(8, "ldr r0, [%3]"))
    VALUE("mov r0, %3\n\t", TIMES(8, "ldr r0, [r0]"))
}

void row_store(uint32_t *values)
{
    VALUE("", TIMES(8, "str r0, [%3, #4]"))
    VALUE("movs r1, #4\n\t", TIMES(8, "str r0, [%3, r1]"))
}

/* Four registers four times: loaded, pushed. */
void row_multiple(uint32_t *values)
{
    VALUE("", TIMES(4, "mov r0, %3\n\tldm r0!, {r1, r2, r3}"))
    VALUE("", TIMES(4, "push {r0, r1, r2, r3}\n\tadd sp, #16"))
}

/* Straight code that is longer than what reading ahead gains: with what the row before has left in the buffers, and again. */
void row_flash_straight(uint32_t *values)
{
    uint32_t *end = values + 2;

    while (values < end) {
        VALUE("", TIMES(192, "adds r0, r1"))
    }
}

/* 16 NOPs, 16 branches to what follows, BX LR: data, so it lies in SRAM. */
static uint16_t sram_code[33] __attribute__((aligned(16)));

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
    values[0] = cpu_ruler_cycles(from, cpu_ruler_read());
}
