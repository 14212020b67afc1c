/* Who pends the software interrupt, for a handler that answers a task. Pinned, a core's interrupt is of the core's own tasks,
 * and nothing of this is there. Where a task may run on any core (BENCH_ANY_CORE), it is pended by whoever runs there just
 * then: the task says who it is while interrupts are masked, so that it cannot be moved between that and the pending. */
#pragma once

#include "bench/bench.h"

#if BENCH_ANY_CORE
/* By the core that takes the interrupt: whose tasks it is about, and whether the line is enabled there. */
static struct {
    unsigned asker;
    bool enabled;
} bench_lines[BENCH_CORES];

/* Pends the software interrupt on behalf of a task, in place of board_soft_irq_pend(). The handler
 * runs before this returns. */
static inline void bench_ask(const struct bench_task *self)
{
    unsigned core;

    __asm volatile("cpsid i" ::: "memory");
    core = board_core();
    bench_lines[core].asker = self->core;
    if (!bench_lines[core].enabled) {
        board_soft_irq_enable(PORT_ISR_URGENCY);
        bench_lines[core].enabled = true;
    }
    board_soft_irq_pend();
    __asm volatile("cpsie i\n\tisb" ::: "memory");
}

/* Returns the core of the task that has pended the software interrupt. The handler calls it. */
static inline unsigned bench_asked(void)
{
    return bench_lines[board_core()].asker;
}
#else
/* Pends the software interrupt on behalf of a task, whose core bench_asked tells. */
static inline void bench_ask(const struct bench_task *self)
{
    (void)self;
    board_soft_irq_pend();
}

/* Returns the core of the task that has pended the software interrupt. */
static inline unsigned bench_asked(void)
{
    return port_core();
}
#endif
