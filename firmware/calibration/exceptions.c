/* Rows about exceptions: the software interrupt, PendSV behind it, SysTick as the more urgent one that comes at a chosen
 * cycle. SysTick's handler is the kernel port's; what it delays is what shows.
 *
 * Where SysTick is also the ruler (ARMv6-M), it goes on counting from its greatest value once it has come. */
#include "bench_calibration.h"
#include "bench_rows.h"

#define URGENT 0u
#define LATER 1u
#define ICSR CPU_REGISTER(0xE000ED04u)
#define PEND_PENDSV (1u << 28)
#define CLEAR_SYSTICK (1u << 25)
#define EARLIEST 8u /* how many cycles before the store that pends SysTick comes at the earliest */

/* The ruler at the software interrupt's first and last instructions, and at PendSV's first. */
static volatile uint32_t stamps[3];

void BOARD_SOFT_IRQ_HANDLER(void);
void isr_pendsv(void);

void __attribute__((naked)) BOARD_SOFT_IRQ_HANDLER(void)
{
    __asm volatile("ldr r0, 1f\n\tldr r1, [r0]\n\tldr r2, 2f\n\tstr r1, [r2]\n\tldr r1, [r0]\n\tstr r1, [r2, #4]\n\t"
                   "bx lr\n\t.balign 4\n1:\t.word " RULER_TEXT "\n2:\t.word %c0" ::"i"(stamps));
}

void __attribute__((naked)) isr_pendsv(void)
{
    __asm volatile("ldr r0, 1f\n\tldr r1, [r0]\n\tldr r2, 2f\n\tstr r1, [r2, #8]\n\t"
                   "bx lr\n\t.balign 4\n1:\t.word " RULER_TEXT "\n2:\t.word %c0" ::"i"(stamps));
}

static void arm(void)
{
    board_soft_irq_enable(LATER);
    CPU_SCB_SHPR3 = CPU_SHPR3_SYSTICK(URGENT) | CPU_SHPR3_PENDSV(CPU_LEAST_URGENT);
}

struct edges {
    uint32_t from, to;
};

/* From the store that pends the software interrupt to the instruction behind its handler; unmasked for that alone. */
static struct edges interrupted(void)
{
    struct edges seen;

    arm();
    __asm volatile("cpsie i\n\t" ALIGN_LINE "ldr %0, [%2]\n\tstr %3, [%4]\n\tdsb\n\tisb\n\tldr %1, [%2]\n\tcpsid i"
                   : "=&l"(seen.from), "=&l"(seen.to)
                   : "l"(&RULER), "l"(1u << (BOARD_IRQ_SOFT & 31u)), "l"(&CPU_NVIC_ISPR(BOARD_IRQ_SOFT >> 5))
                   : "memory");
    return seen;
}

void row_entry(uint32_t *values)
{
    struct edges seen = interrupted();

    values[0] = cpu_ruler_cycles(seen.from, stamps[0]);
}

void row_exit(uint32_t *values)
{
    struct edges seen = interrupted();

    values[0] = cpu_ruler_cycles(stamps[1], seen.to);
}

/* Both are pended while masked; the less urgent one follows the other without a return between. */
void row_tail_chain(uint32_t *values)
{
    arm();
    ICSR = PEND_PENDSV;
    CPU_NVIC_ISPR(BOARD_IRQ_SOFT >> 5) = 1u << (BOARD_IRQ_SOFT & 31u);
    __asm volatile("dsb\n\tisb\n\tcpsie i\n\tisb\n\tcpsid i" ::: "memory");
    values[0] = cpu_ruler_cycles(stamps[1], stamps[2]);
}

/* SysTick starts with `control`, counts `first` cycles and then from its greatest value. `before`, if it is not null,
 * gets how many cycles it had counted just before what `interrupted` does. */
static struct edges disturbed(uint32_t first, uint32_t control, uint32_t *before)
{
    struct edges seen = {control, CPU_SYST_RELOAD_MOST};
    uint32_t left;

    arm();
    CPU_SYST_CSR = 0;
    CPU_SYST_RVR = first;
    CPU_SYST_CVR = 0;
    __asm volatile("cpsie i\n\t" ALIGN_LINE "str %0, [%6]\n\tdsb\n\tnop\n\tnop\n\tstr %1, [%6, #4]\n\t"
                   TIMES(60, "nop") "ldr %2, [%6, #8]\n\t"
                   "ldr %0, [%3]\n\tstr %4, [%5]\n\tdsb\n\tisb\n\tldr %1, [%3]\n\t" TIMES(120, "nop") "cpsid i"
                   : "+l"(seen.from), "+l"(seen.to), "=&l"(left)
                   : "l"(&RULER), "l"(1u << (BOARD_IRQ_SOFT & 31u)), "l"(&CPU_NVIC_ISPR(BOARD_IRQ_SOFT >> 5)),
                     "l"(&CPU_SYST_CSR)
                   : "memory");
    CPU_SYST_CSR = 0;
    ICSR = CLEAR_SYSTICK; /* if it has pended once more, no longer */
    if (before != NULL) {
        *before = first - left;
    }
    return seen;
}

/* SysTick comes in each of VALUES_MOST cycles, the first EARLIEST of them before the store that pends. Its handler must
 * not have run when the distance to that store is measured: the interrupt is off then. */
static void in_every_cycle(uint32_t *values, bool until_handler)
{
    uint32_t distance;

    (void)disturbed(CPU_SYST_RELOAD_MOST, CPU_SYST_CORE_CLOCK_INTERRUPT_ON & ~2u, &distance);
    for (uint32_t phase = 0; phase < VALUES_MOST; phase++) {
        struct edges seen = disturbed(distance - EARLIEST + phase, CPU_SYST_CORE_CLOCK_INTERRUPT_ON, NULL);

        values[phase] = cpu_ruler_cycles(seen.from, until_handler ? stamps[0] : seen.to);
    }
#if RULER_IS_SYSTICK
    (void)cpu_ruler_start();
#endif
}

void row_late_handler(uint32_t *values)
{
    in_every_cycle(values, true);
}

void row_late_return(uint32_t *values)
{
    in_every_cycle(values, false);
}
