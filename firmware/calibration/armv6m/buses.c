/* Rows about the buses between an ARMv6-M core and registers. */
#include "bench_body.h"
#include "bench_rows.h"

#define SPACED_LOADS TIMES(8, "ldr r0, [%3]\n\tnop\n\tnop\n\tnop\n\tnop")
#define STORED(value, address) MEASURED(value, "movs r1, #0\n\t", TIMES(8, "str r1, [%3]"), address)

#if BENCH_PARAM_IO_PORT
/* Measures row `io_port`: cycles of 8 loads and of 8 stores at the single-cycle port. */
void row_io_port(uint32_t *values)
{
    MEASURED(values[0], "", TIMES(8, "ldr r0, [%3]"), BENCH_PARAM_IO_PORT);
    STORED(values[1], BENCH_PARAM_IO_PORT_WRITE);
}
#endif

#if BENCH_PARAM_AHB_READ
/* Measures row `ahb_read`: cycles of 8 loads from an AHB peripheral. */
void row_ahb_read(uint32_t *values)
{
    MEASURED(values[0], "", SPACED_LOADS, BENCH_PARAM_AHB_READ);
}

/* Measures row `ahb_write`: cycles of 8 stores to an AHB peripheral. */
void row_ahb_write(uint32_t *values)
{
    STORED(values[0], BENCH_PARAM_AHB_WRITE);
}

/* Measures a load from a bus register in each of 8 phases of the bus's clock. The first access ends with a clock of the
 * bus, and the second one comes `phase` cycles later, because that many of the NOPs are executed. */
static void in_phases(uint32_t address, uint32_t *values)
{
    for (uint32_t phase = 0; phase < 8; phase++) {
        uint32_t from, to;

        __asm volatile(UNIFIED "adr r2, 91f\n\tlsls r1, %4, #1\n\tsubs r2, r2, r1\n\tadds r2, #1\n\t"
                       "ldr r0, [%3]\n\tdsb\n\t" ALIGN_LINE "ldr %0, [%2]\n\tldr r0, [%3]\n\tbx r2\n\t"
                       TIMES(8, "nop") ".balign 4\n\t91: ldr r0, [%3]\n\tldr %1, [%2]"
                       : "=&l"(from), "=&l"(to)
                       : "l"(&CPU_SYST_CVR), "l"(address), "l"(phase)
                       : "r0", "r1", "r2", "cc", "memory");
        values[phase] = cpu_ruler_cycles(from, to);
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
#endif

#if BENCH_PARAM_APB2_DIVIDER
/* Measures row `apb2_divided`: as `apb2_read`, with the bus at half the core's clock. No timer of the board notices
 * that, because a timer has twice the clock of a divided bus. */
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
