/* Rows about instructions, fetch and memories of an ARMv6-M core. */
#include "bench_body.h"
#include "bench_rows.h"

static uint32_t scratch[64] __attribute__((aligned(64)));

/* A row of one value. */
#define ROW(name, before, body)                       \
    void row_##name(uint32_t *values)                 \
    {                                                 \
        MEASURED(values[0], before, body, scratch);   \
    }

/* A row of two. */
#define ROW_OF_TWO(name, before, body, other)         \
    void row_##name(uint32_t *values)                 \
    {                                                 \
        MEASURED(values[0], before, body, scratch);   \
        MEASURED(values[1], before, other, scratch);  \
    }

ROW(ruler, "", "")
ROW(alu, "", TIMES(16, "adds r0, r1"))
ROW(multiply, "", TIMES(16, "muls r0, r1"))
ROW(mrs, "", TIMES(16, "mrs r0, primask"))
ROW(msr, "mrs r0, psp\n\t", TIMES(16, "msr psp, r0"))
ROW(cps, "", TIMES(16, "cpsid i"))
ROW(dsb, "", TIMES(16, "dsb"))
ROW(isb, "", TIMES(16, "isb"))
ROW(branch_taken, "movs r0, #20\n\t", "77: subs r0, #1\n\tbne 77b\n\t")
ROW(branch_passed, "cmp r0, r0\n\t", TIMES(16, "bne 78f") "78:\n\t")
ROW(call, "push {lr}\n\t", TIMES(8, "bl 79f") "b 80f\n\t79: bx lr\n\t80:\n\tpop {r0}\n\tmov lr, r0\n\t")
ROW(literal, "", TIMES(8, "ldr r0, 81f") "b 82f\n\t.balign 4\n\t81: .word 1\n\t82:\n\t")
ROW_OF_TWO(load, "movs r1, #4\n\t", TIMES(8, "ldr r0, [%3]"), TIMES(8, "ldrh r0, [%3, r1]"))
ROW_OF_TWO(store, "movs r1, #4\n\t", TIMES(8, "str r0, [%3, #4]"), TIMES(8, "strb r0, [%3, r1]"))
ROW_OF_TWO(multiple, "mov r0, %3\n\t", TIMES(4, "ldmia r0!, {r1, r2}"), TIMES(4, "stmia r0!, {r1, r2}"))

/* Returns the cycles of straight code that is longer than what reading ahead gains. It is one piece of code, however
 * often it runs. */
static uint32_t __attribute__((noinline)) straight(void)
{
    uint32_t cycles;

    MEASURED(cycles, "", TIMES(192, "adds r0, r1"), scratch);
    return cycles;
}

/* Measures row `flash_cold`: cycles of straight code with what the row before has left in the buffers,
 * and of the same code again. */
void row_flash_cold(uint32_t *values)
{
    for (unsigned time = 0; time < 2; time++) {
        values[time] = straight();
    }
}

/* 16 NOPs, 16 branches to what follows, BX LR: data, so it lies in SRAM. */
static uint16_t sram_code[33] __attribute__((aligned(16)));

/* Measures row `fetch_sram`: cycles of 16 NOPs and 16 branches that are executed from SRAM. */
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
