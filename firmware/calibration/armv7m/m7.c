/* Rows about what the Cortex-M7 parts alone have: caches, memories behind AXI, branches that the predictor does not know.
 * Loads form chains, each one's address being what the one before loaded, so that none goes on under another one's miss. */
#include "../bench_calibration.h"
#include "bench_rows.h"

#if BENCH_PARAM_AXI_RAM

#define ALIGN_LINE ".balign 32\n\t"
#define TIMES(n, what) ".rept " #n "\n\t" what "\n\t.endr\n\t"
#define SAVED "r0", "r1", "r2", "r3", "r12", "cc", "memory"
#define LINES 8u
#define LINE_WORDS 8u
#define CPU_SCB_ICIALLU CPU_REGISTER(0xE000EF50u)
#define CPU_SCB_DCCIMVAC CPU_REGISTER(0xE000EF70u)

/* In flash: a word a line, which is the address of the next line's; the last one's is the first's. */
#define NEXT(n) [(n) * LINE_WORDS] = (uintptr_t)&flash_lines[((n) + 1u) % LINES * LINE_WORDS]
static const uintptr_t flash_lines[LINES * LINE_WORDS] __attribute__((aligned(32))) = {
    NEXT(0), NEXT(1), NEXT(2), NEXT(3), NEXT(4), NEXT(5), NEXT(6), NEXT(7)};

/* Waits until all memory accesses are complete (DSB, ISB). */
static void barrier(void)
{
    __asm volatile("dsb\n\tisb" ::: "memory");
}

/* Removes lines of memory from the data cache. */
static void forget(const uintptr_t *lines)
{
    barrier();
    for (unsigned i = 0; i < LINES; i++) {
        CPU_SCB_DCCIMVAC = (uintptr_t)&lines[i * LINE_WORDS];
    }
    barrier();
}

/* As many loads in a chain as lines, with `between` them; the second reading of the counter waits for the last one. */
#define CHAIN(name, between)                                                                               \
    static uint32_t __attribute__((noinline)) name(const uintptr_t *lines)                                 \
    {                                                                                                      \
        uint32_t from, to;                                                                                 \
                                                                                                           \
        __asm volatile("mov r0, %3\n\tdsb\n\t" ALIGN_LINE "ldr %0, [%2]\n\t" TIMES(8, "ldr r0, [r0]" between) \
                       "and r0, r0, #0\n\tldr %1, [%2, r0]"                                                \
                       : "=&r"(from), "=&r"(to)                                                            \
                       : "r"(&CPU_DWT_CYCCNT), "r"(lines)                                                  \
                       : SAVED);                                                                           \
        return to - from;                                                                                  \
    }

#define ADD "\n\tadd r0, r0, #0"
CHAIN(chain, "")
CHAIN(chain_1, ADD)
CHAIN(chain_2, ADD ADD)
CHAIN(chain_3, ADD ADD ADD)

/* Returns the cycles of one load from a line. */
static uint32_t once(const uintptr_t *line)
{
    uint32_t from, to;

    __asm volatile("mov r0, %3\n\tdsb\n\t" ALIGN_LINE "ldr %0, [%2]\n\tldr r0, [r0]\n\tand r0, r0, #0\n\tldr %1, [%2, r0]"
                   : "=&r"(from), "=&r"(to)
                   : "r"(&CPU_DWT_CYCCNT), "r"(line)
                   : SAVED);
    return to - from;
}

/* Measures row `axi_ram`: cycles of 8 chained loads from RAM behind AXI, without and with their lines in the cache. */
void row_axi_ram(uint32_t *values)
{
    uintptr_t *lines = (uintptr_t *)(uintptr_t)BENCH_PARAM_AXI_RAM;

    for (unsigned i = 0; i < LINES; i++) {
        lines[i * LINE_WORDS] = (uintptr_t)&lines[(i + 1u) % LINES * LINE_WORDS];
    }
    forget(lines);
    values[0] = chain(lines);
    values[1] = chain(lines); /* now the cache has them */
}

/* Measures row `axi_flash`: cycles of loads from lines of flash that no cache has. The flash may have a slower clock,
 * so there are four chains, in which the next load comes later and later. The last value is of one load whose line the
 * interface has read last. */
void row_axi_flash(uint32_t *values)
{
    static uint32_t (*const chains[])(const uintptr_t *) = {chain, chain_1, chain_2, chain_3};

    for (unsigned i = 0; i < 4; i++) {
        forget(flash_lines);
        values[i] = chains[i](flash_lines);
    }
    forget(flash_lines);
    (void)once(flash_lines);
    forget(flash_lines);
    values[4] = once(flash_lines);
}

/* Returns the cycles of straight code of twelve lines. It is one piece of code, however often it runs. */
static uint32_t __attribute__((noinline)) straight(void)
{
    uint32_t from, to;

    __asm volatile(ALIGN_LINE "ldr %0, [%2]\n\t" TIMES(96, "add.w r0, r0, r1") "ldr %1, [%2]"
                   : "=&r"(from), "=&r"(to)
                   : "r"(&CPU_DWT_CYCCNT)
                   : SAVED);
    return to - from;
}

/* Measures row `axi_code`: cycles of straight code in flash while the cache has it not, and of the same code again. */
void row_axi_code(uint32_t *values)
{
    CPU_SCB_ICIALLU = 0;
    barrier();
    for (unsigned time = 0; time < 2; time++) {
        values[time] = straight();
    }
}

/* Measures row `branch_unknown`: cycles of 160 branches to what follows them. They are more than the predictor can know
 * when the first one comes again. */
void row_branch_unknown(uint32_t *values)
{
    uint32_t from, to;

    __asm volatile(ALIGN_LINE "ldr %0, [%2]\n\t" TIMES(160, ".hword 0xE7FF") "ldr %1, [%2]"
                   : "=&r"(from), "=&r"(to)
                   : "r"(&CPU_DWT_CYCCNT)
                   : SAVED);
    values[0] = to - from;
}

static uint32_t words[2] __attribute__((aligned(8)));

/* A store and a load of the same doubleword behind it, with so many cycles between. */
#define STORE_AND_LOAD(value, between)                                                                        \
    do {                                                                                                      \
        uint32_t from_, to_;                                                                                  \
                                                                                                              \
        __asm volatile("dsb\n\t" ALIGN_LINE "ldr %0, [%2]\n\t"                                                  \
                       TIMES(4, "str r1, [%3]\n\t" between "ldr r1, [%3]\n\tadd r1, r1, #1")                  \
                       "and r1, r1, #0\n\tldr %1, [%2, r1]"                                                   \
                       : "=&r"(from_), "=&r"(to_)                                                             \
                       : "r"(&CPU_DWT_CYCCNT), "r"(words)                                                     \
                       : SAVED);                                                                              \
        (value) = to_ - from_;                                                                                \
    } while (0)

/* Measures row `store_to_load`: cycles of loads of what was stored 0 to 16 NOPs before. */
void row_store_to_load(uint32_t *values)
{
    STORE_AND_LOAD(values[0], "");
    STORE_AND_LOAD(values[1], "nop\n\tnop\n\t");
    STORE_AND_LOAD(values[2], TIMES(4, "nop"));
    STORE_AND_LOAD(values[3], TIMES(8, "nop"));
    STORE_AND_LOAD(values[4], TIMES(16, "nop"));
}

#endif
