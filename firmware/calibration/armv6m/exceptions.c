/* Rows about exceptions of an ARMv6-M core: the software interrupt, PendSV behind it, SysTick as the more urgent one that
 * comes at a chosen cycle. SysTick also is the clock: at zero, where it interrupts, it goes on from its largest value, so
 * differences stay what they are. Its handler is the kernel port's; what it delays is what shows. */
#include "bench_body.h"
#include "bench_rows.h"

#define URGENT 0u
#define LATER 1u
#define PEND_PENDSV (1u << 28)
#define CLEAR_SYSTICK (1u << 25)
#define CPU_ICSR CPU_REGISTER(0xE000ED04u)
#define NOPS 120 /* between SysTick's start and the store that pends */
#define FIRST_TICK 126u
#define TEXT_(n) #n
#define TEXT(n) TEXT_(n)

/* SysTick at the software interrupt's first and last instructions, and at PendSV's first. */
static volatile uint32_t stamps[3];

void BOARD_SOFT_IRQ_HANDLER(void);
void isr_pendsv(void);

/* Handles the software interrupt: stores the clock at its first and last instructions. */
void __attribute__((naked)) BOARD_SOFT_IRQ_HANDLER(void)
{
    __asm volatile(UNIFIED "ldr r0, 1f\n\tldr r1, [r0]\n\tldr r2, 2f\n\tstr r1, [r2]\n\tldr r1, [r0]\n\tstr r1, [r2, #4]\n\t"
                   "bx lr\n\t.balign 4\n1:\t.word 0xE000E018\n2:\t.word %c0" ::"i"(stamps));
}

/* Handles PendSV: stores the clock at its first instruction. */
void __attribute__((naked)) isr_pendsv(void)
{
    __asm volatile(UNIFIED "ldr r0, 1f\n\tldr r1, [r0]\n\tldr r2, 2f\n\tstr r1, [r2, #8]\n\t"
                   "bx lr\n\t.balign 4\n1:\t.word 0xE000E018\n2:\t.word %c0" ::"i"(stamps));
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

/* Pends the software interrupt while it is unmasked, and returns the clock before the store that pends it and at the
 * instruction after its handler. */
static struct edges interrupted(void)
{
    struct edges seen;

    arm();
    __asm volatile(UNIFIED "cpsie i\n\t" ALIGN_LINE "ldr %0, [%2]\n\tstr %3, [%4]\n\tdsb\n\tisb\n\tldr %1, [%2]\n\tcpsid i"
                   : "=&l"(seen.from), "=&l"(seen.to)
                   : "l"(&CPU_SYST_CVR), "l"(1u << BOARD_IRQ_SOFT), "l"(&CPU_NVIC_ISPR(0))
                   : "memory");
    return seen;
}

/* Measures row `entry`: cycles from the store that pends the interrupt to its handler's first instruction. */
void row_entry(uint32_t *values)
{
    struct edges seen = interrupted();

    values[0] = cpu_ruler_cycles(seen.from, stamps[0]);
}

/* Measures row `exit`: cycles from the handler's last instruction to the interrupted code. */
void row_exit(uint32_t *values)
{
    struct edges seen = interrupted();

    values[0] = cpu_ruler_cycles(stamps[1], seen.to);
}

/* Measures row `tail_chain`: cycles from the end of one handler to the begin of the next. Both interrupts are pended
 * while masked, so the less urgent one follows the other without a return between. */
void row_tail_chain(uint32_t *values)
{
    arm();
    CPU_ICSR = PEND_PENDSV;
    CPU_NVIC_ISPR(0) = 1u << BOARD_IRQ_SOFT;
    __asm volatile("dsb\n\tisb\n\tcpsie i\n\tisb\n\tcpsid i" ::: "memory");
    values[0] = cpu_ruler_cycles(stamps[1], stamps[2]);
}

/* Does what `interrupted` does, and lets the more urgent SysTick come in its cycle `phase`. SysTick takes its reload
 * value when it starts, so the reload value for afterwards is written after that. */
static struct edges disturbed(uint32_t phase)
{
    struct edges seen;

    arm();
    cpu_ruler_stop();
    CPU_SYST_RVR = FIRST_TICK + phase;
    CPU_SYST_CVR = 0;
    __asm volatile(UNIFIED "movs r0, #7\n\tmovs r1, #0\n\tmvns r1, r1\n\tlsrs r1, r1, #8\n\tcpsie i\n\t" ALIGN_LINE
                   "str r0, [%2]\n\tnop\n\tnop\n\tnop\n\tnop\n\tstr r1, [%2, #4]\n\t.rept " TEXT(NOPS) "\n\tnop\n\t.endr\n\t"
                   "ldr %0, [%2, #8]\n\tstr %3, [%4]\n\tdsb\n\tisb\n\tldr %1, [%2, #8]\n\t"
                   ".rept 120\n\tnop\n\t.endr\n\tcpsid i"
                   : "=&l"(seen.from), "=&l"(seen.to)
                   : "l"(&CPU_SYST_CSR), "l"(1u << BOARD_IRQ_SOFT), "l"(&CPU_NVIC_ISPR(0))
                   : "r0", "r1", "cc", "memory");
    CPU_SYST_CSR = 0;
    CPU_ICSR = CLEAR_SYSTICK; /* and if it had pended once more, no longer */
    (void)cpu_ruler_start();
    return seen;
}

/* Measures row `late_handler`: when the handler begins, with SysTick in each cycle of its entry. */
void row_late_handler(uint32_t *values)
{
    for (uint32_t phase = 0; phase < VALUES_MOST; phase++) {
        struct edges seen = disturbed(phase);

        values[phase] = cpu_ruler_cycles(seen.from, stamps[0]);
    }
}

/* Measures row `late_return`: when the interrupted code goes on, with SysTick in each cycle. */
void row_late_return(uint32_t *values)
{
    for (uint32_t phase = 0; phase < VALUES_MOST; phase++) {
        struct edges seen = disturbed(phase);

        values[phase] = cpu_ruler_cycles(seen.from, seen.to);
    }
}
