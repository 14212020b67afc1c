/* T4, interrupt processing: an interrupt handler gives a semaphore, the task of the same core takes it.
 *
 * Starts the clock   the window opens while the task waits at the gate.
 * Ends the clock     the window closes, wherever the task is.
 * Inside by design   pending the interrupt by software, its entry and exit, one give from the handler, one take; one
 *                    comparison that the handler has run; the run flag, the count, the tick.
 * Excluded           making the semaphore, enabling the interrupt. The handler stands in the vector table itself.
 *
 * The interrupt is more urgent than any task and taken at once, so the take finds the semaphore given and does not
 * block: the paper's order of calls, and what it comes to when core and handler are the same.
 *
 * Steps: 1 the task pends the interrupt, 2 the handler gives the semaphore, 3 the task takes it, 4 counts, and again. */
#include "bench/asker.h"

static port_semaphore_t semaphores[BENCH_CORES];
static volatile uint32_t handler_entries[BENCH_CORES];

/* Reported as check: times the task went on although its handler had not run. */
static uint32_t not_interrupted[BENCH_CORES];

void BOARD_SOFT_IRQ_HANDLER(void);

/* Handles the software interrupt: gives the semaphore of the core whose task asked for it. */
void BOARD_SOFT_IRQ_HANDLER(void)
{
    unsigned core;

    port_isr_enter();
    core = bench_asked();
    handler_entries[core]++;
    port_semaphore_give_from_isr(&semaphores[core]); /* 2 */
    port_isr_exit();
}

/* Prepares a task of the benchmark, once, on the task's own core. Returns false if that fails. */
static bool prepare(struct bench_task *self)
{
    if (!port_semaphore_create(&semaphores[self->core], 1, 0)) {
        return false;
    }
    board_soft_irq_enable(PORT_ISR_URGENCY);
    return true;
}

/* Does the work of each task. Called for the warm-up, and again for the measured window. */
static void body(struct bench_task *self)
{
    port_semaphore_t *semaphore = &semaphores[self->core];
    volatile uint32_t *entries = &handler_entries[self->core];

    while (bench_running()) {
        bench_ask(self); /* 1 */
        if (*entries != self->count + 1u) {
            not_interrupted[self->core]++;
        }
        if (!port_semaphore_take(semaphore)) { /* 3 */
            self->failures++;
        }
        bench_count(self); /* 4 */
    }
}

/* Sends the benchmark's check records, after the bodies of all its tasks have returned. */
static void report(unsigned core)
{
    bench_check("not_interrupted", core, not_interrupted[core]);
    bench_check("handler_entries", core, handler_entries[core]);
    bench_check("iterations", core, bench_task(core, 0)->count);
}

const struct bench_program bench_program = {
    .priority = {1},
    .prepare = prepare,
    .body = body,
    .report = report,
};
