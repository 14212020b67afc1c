/* Rows about exceptions: the software interrupt, PendSV behind it, SysTick as the more urgent one that comes at a chosen
 * cycle. SysTick's handler is the kernel port's; what it delays is what shows. */
#include "../bench_calibration.h"
#include "bench_rows.h"

#define URGENT 0u
#define LATER 1u
#define PEND_PENDSV (1u << 28)
#if BENCH_PARAM_AXI_RAM /* a Cortex-M7, which does two a cycle */
#define NOPS 240
#else
#define NOPS 120 /* between SysTick's start and the store that pends, and behind the interval */
#endif
#define FIRST_TICK 116u
#define TEXT_(n) #n
#define TEXT(n) TEXT_(n)

/* The cycle counter at the software interrupt's first and last instructions, and at PendSV's first. */
static volatile uint32_t stamps[3];

void BOARD_SOFT_IRQ_HANDLER(void);
void isr_pendsv(void);

/* Handles the software interrupt: stores the cycle counter at its first and last instructions. */
void __attribute__((naked)) BOARD_SOFT_IRQ_HANDLER(void)
{
    __asm volatile("ldr r0, 1f\n\tldr r1, [r0]\n\tldr r2, 2f\n\tstr r1, [r2]\n\tldr r1, [r0]\n\tstr r1, [r2, #4]\n\t"
                   "bx lr\n\t.balign 4\n1:\t.word 0xE0001004\n2:\t.word %c0" ::"i"(stamps));
}

/* Handles PendSV: stores the cycle counter at its first instruction. */
void __attribute__((naked)) isr_pendsv(void)
{
    __asm volatile("ldr r0, 1f\n\tldr r1, [r0]\n\tldr r2, 2f\n\tstr r1, [r2, #8]\n\t"
                   "bx lr\n\t.balign 4\n1:\t.word 0xE0001004\n2:\t.word %c0" ::"i"(stamps));
}

/* Enables the software interrupt. Makes SysTick more urgent than it, and PendSV the least urgent. */
static void arm(void)
{
    board_soft_irq_enable(LATER);
    CPU_SCB_SHPR3 = CPU_SHPR3_SYSTICK(URGENT) | CPU_SHPR3_PENDSV(CPU_LEAST_URGENT);
}

struct edges {
    uint32_t from, to;
};

/* Pends the software interrupt while it is unmasked, and returns the cycle counter before the store that pends it and
 * at the instruction after its handler. */
static struct edges interrupted(void)
{
    struct edges seen;

    arm();
    __asm volatile("cpsie i\n\t.balign 16\n\tldr %0, [%2]\n\tstr %3, [%4]\n\tdsb\n\tisb\n\tldr %1, [%2]\n\tcpsid i"
                   : "=&r"(seen.from), "=&r"(seen.to)
                   : "r"(&CPU_DWT_CYCCNT), "r"(1u << (BOARD_IRQ_SOFT & 31u)), "r"(&CPU_NVIC_ISPR(BOARD_IRQ_SOFT >> 5))
                   : "memory");
    return seen;
}

/* Measures row `entry`: cycles from the store that pends the interrupt to its handler's first instruction. */
void row_entry(uint32_t *values)
{
    struct edges seen = interrupted();

    values[0] = stamps[0] - seen.from;
}

/* Measures row `exit`: cycles from the handler's last instruction to the interrupted code. */
void row_exit(uint32_t *values)
{
    struct edges seen = interrupted();

    values[0] = seen.to - stamps[1];
}

/* Measures row `tail_chain`: cycles from the end of one handler to the begin of the next. Both interrupts are pended
 * while masked, so the less urgent one follows the other without a return between. */
void row_tail_chain(uint32_t *values)
{
    arm();
    CPU_REGISTER(0xE000ED04u) = PEND_PENDSV;
    CPU_NVIC_ISPR(BOARD_IRQ_SOFT >> 5) = 1u << (BOARD_IRQ_SOFT & 31u);
    __asm volatile("dsb\n\tisb\n\tcpsie i\n\tisb\n\tcpsid i" ::: "memory");
    values[0] = stamps[2] - stamps[1];
}

/* Does what `interrupted` does, and lets the more urgent SysTick come in its cycle `phase`. */
static struct edges disturbed(uint32_t phase)
{
    struct edges seen;

    arm();
    CPU_SYST_RVR = FIRST_TICK + phase;
    CPU_SYST_CVR = 0;
    __asm volatile("cpsie i\n\t.balign 16\n\tstr %5, [%6]\n\t.rept " TEXT(NOPS) "\n\tnop\n\t.endr\n\t"
                   "ldr %0, [%2]\n\tstr %3, [%4]\n\tdsb\n\tisb\n\tldr %1, [%2]\n\t"
                   ".rept " TEXT(NOPS) "\n\tnop\n\t.endr\n\tcpsid i"
                   : "=&r"(seen.from), "=&r"(seen.to)
                   : "r"(&CPU_DWT_CYCCNT), "r"(1u << (BOARD_IRQ_SOFT & 31u)), "r"(&CPU_NVIC_ISPR(BOARD_IRQ_SOFT >> 5)),
                     "r"(CPU_SYST_CORE_CLOCK_INTERRUPT_ON), "r"(&CPU_SYST_CSR)
                   : "memory");
    CPU_SYST_CSR = 0;
    CPU_REGISTER(0xE000ED04u) = 1u << 25; /* and if it had pended once more, no longer */
    return seen;
}

/* Measures row `late_handler`: when the handler begins, with SysTick in each cycle of its entry. */
void row_late_handler(uint32_t *values)
{
    for (uint32_t phase = 0; phase < VALUES_MOST; phase++) {
        struct edges seen = disturbed(phase);

        values[phase] = stamps[0] - seen.from;
    }
}

/* Measures row `late_return`: when the interrupted code goes on, with SysTick in each cycle. */
void row_late_return(uint32_t *values)
{
    for (uint32_t phase = 0; phase < VALUES_MOST; phase++) {
        struct edges seen = disturbed(phase);

        values[phase] = seen.to - seen.from;
    }
}
