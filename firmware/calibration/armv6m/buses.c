/* Rows about the buses behind an ARMv6-M core, and the RP2040's flash. */
#include "../bench_calibration.h"
#include "bench_rows.h"

/* Loads with room around them; stores one behind the other. */
#define BUS(name, access)                                                                                            \
    static uint32_t name(uint32_t address)                                                                           \
    {                                                                                                                \
        uint32_t from, to;                                                                                           \
                                                                                                                     \
        __asm volatile(UNIFIED "movs r1, #0\n\t" ALIGN_LINE "ldr %0, [%2]\n\t" TIMES(8, access) "ldr %1, [%2]"               \
                       : "=&l"(from), "=&l"(to)                                                                      \
                       : "l"(&RULER), "l"(address)                                                                   \
                       : SAVED);                                                                                     \
        return cpu_ruler_cycles(from, to);                                                                           \
    }

BUS(bus_load, "ldr r0, [%3]\n\tnop\n\tnop")
BUS(bus_store, "str r1, [%3]")

void row_ahb_read(uint32_t *values)
{
    values[0] = bus_load(BENCH_PARAM_AHB_READ);
}

void row_ahb_write(uint32_t *values)
{
    values[0] = bus_store(BENCH_PARAM_AHB_WRITE);
}

/* The first access ends with a clock of the bus; the second comes `phase` cycles later. */
#define PHASE(phase)                                                                                  \
    {                                                                                                 \
        uint32_t from, to;                                                                            \
                                                                                                      \
        __asm volatile(UNIFIED "ldr r0, [%3]\n\tdsb\n\t" ALIGN_LINE                                           \
                       "ldr %0, [%2]\n\tldr r0, [%3]\n\t" TIMES(phase, "nop") "ldr r0, [%3]\n\tldr %1, [%2]" \
                       : "=&l"(from), "=&l"(to)                                                       \
                       : "l"(&RULER), "l"(address)                                                    \
                       : SAVED);                                                                      \
        values[phase] = cpu_ruler_cycles(from, to);                                                   \
    }

static void in_phases(uint32_t address, uint32_t *values)
{
    PHASE(0) PHASE(1) PHASE(2) PHASE(3) PHASE(4) PHASE(5) PHASE(6) PHASE(7)
}

void row_apb1_read(uint32_t *values)
{
    in_phases(BENCH_PARAM_APB1, values);
}

void row_apb2_read(uint32_t *values)
{
    in_phases(BENCH_PARAM_APB2, values);
}

#if BENCH_PARAM_APB1_DIVIDER
#define PPRE1 (7u << 8)
#define PPRE1_BY_4 (5u << 8)

/* What was sent must have left: the serial port counts the same clock. */
void row_apb1_divided(uint32_t *values)
{
    uint32_t before;

    board_serial_flush();
    before = CPU_REGISTER(BENCH_PARAM_APB1_DIVIDER);
    CPU_REGISTER(BENCH_PARAM_APB1_DIVIDER) = (before & ~PPRE1) | PPRE1_BY_4;
    in_phases(BENCH_PARAM_APB1, values);
    CPU_REGISTER(BENCH_PARAM_APB1_DIVIDER) = before;
}
#endif

#if BENCH_PARAM_XIP_WORD
#define CACHED 0x10000000u
#define WAY_BYTES 8192u

void row_apb_write(uint32_t *values)
{
    values[0] = bus_store(BENCH_PARAM_APB_WRITE);
}

void row_apb_alias(uint32_t *values)
{
    values[0] = bus_store(BENCH_PARAM_APB_ALIAS);
}

/* Past the cache, a word at a time. */
void row_xip_word(uint32_t *values)
{
    values[0] = bus_load(BENCH_PARAM_XIP_WORD);
}

/* Three lines of one set, which has two ways: each load misses, whatever is replaced in turn. The set is one in which
 * this code does not lie. */
void row_xip_line(uint32_t *values)
{
    uint32_t set = ((uint32_t)(uintptr_t)row_xip_line + WAY_BYTES / 2u) % WAY_BYTES & ~7u;
    uint32_t from, to;

    __asm volatile(UNIFIED "movs r2, #1\n\tlsls r2, #13\n\tmov r0, %3\n\tadds r1, r0, r2\n\tadds r2, r1, r2\n\t" ALIGN_LINE
                   "ldr %0, [%2]\n\t" TIMES(3, "ldr r3, [r0]\n\tldr r3, [r1]\n\tldr r3, [r2]") "ldr %1, [%2]"
                   : "=&l"(from), "=&l"(to)
                   : "l"(&RULER), "l"(CACHED + set)
                   : SAVED);
    values[0] = cpu_ruler_cycles(from, to);
}
#endif
