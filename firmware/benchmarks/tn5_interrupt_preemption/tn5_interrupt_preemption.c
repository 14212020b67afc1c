/* TN5, preemption induced by an interrupt, by notification: the handler notifies a task that waits for that and is more
 * urgent than the one it interrupted. T5 is the same by suspend and resume.
 *
 * Starts the clock   the window opens while both tasks wait at the gate.
 * Ends the clock     the window closes, wherever they are.
 * Inside by design   pending the interrupt by software, its entry, one give from the handler, the switch to task 0, its
 *                    count, its blocking take, the switch back to task 1; one comparison that task 0 ran before the
 *                    next statement of task 1; task 1's own count, the run flag, the tick.
 * Excluded           making the tasks, enabling the interrupt. The handler stands in the vector table itself.
 *
 * Task 0's count is the benchmark's figure. Task 1 counts the interrupts it has pended: the two must agree, save that
 * task 0 counts once at the start of each phase before its first take.
 *
 * Steps: 1 task 1 (less urgent) pends the interrupt, 2 the handler notifies task 0, which preempts task 1, 3 task 0
 * counts, 4 task 0 takes the next notification, which is not there yet, and blocks, 5 task 1 goes on and counts, and
 * again.
 * At the end of a phase task 1 pends once more behind the flag `draining`, and task 0 leaves. */
#include "bench/bench.h"

static volatile bool draining[BENCH_CORES];
static volatile uint32_t handler_entries[BENCH_CORES];

/* Reported as check: times task 1 went on although task 0 had not run. */
static uint32_t not_preempted[BENCH_CORES];

void BOARD_SOFT_IRQ_HANDLER(void);

/* Handles the software interrupt: notifies task 0 of this core. */
void BOARD_SOFT_IRQ_HANDLER(void)
{
    unsigned core;

    port_isr_enter();
    core = port_core();
    handler_entries[core]++;
    port_notify_give_from_isr(bench_task(core, 0)->handle); /* 2 */
    port_isr_exit();
}

/* Prepares a task of the benchmark, once, on the task's own core. Returns false if that fails. */
static bool prepare(struct bench_task *self)
{
    if (self->index == 1) {
        board_soft_irq_enable(PORT_ISR_URGENCY);
    }
    return true;
}

/* Does the work of task 0, the more urgent one, which waits for the handler's notification. */
static void taking(struct bench_task *self)
{
    draining[self->core] = false;
    do {
        bench_count(self);              /* 3 */
        port_notify_take(self->handle); /* 4 */
    } while (!draining[self->core]);
}

/* Does the work of task 1, which pends the interrupt. */
static void pending(struct bench_task *self)
{
    struct bench_task *above = bench_task(self->core, 0);

    while (bench_running()) {
        uint32_t before = above->count;

        board_soft_irq_pend(); /* 1 */
        if (above->count != before + 1u) {
            not_preempted[self->core]++;
        }
        bench_count(self); /* 5 */
    }
    draining[self->core] = true;
    board_soft_irq_pend();
}

/* Does the work of each task. Called for the warm-up, and again for the measured window. */
static void body(struct bench_task *self)
{
    if (self->index == 0) {
        taking(self);
    } else {
        pending(self);
    }
}

/* Sends the checks of a core: its handler entries, activations and pended interrupts must be equal. The bodies run
 * twice. Each time one activation of task 0 has no interrupt (its start), and one interrupt has no activation (its
 * end), which the last sum corrects. */
static void report(unsigned core)
{
    bench_check("not_preempted", core, not_preempted[core]);
    bench_check("handler_entries", core, handler_entries[core]);
    bench_check("activations", core, bench_task(core, 0)->count);
    bench_check("pended", core, bench_task(core, 1)->count + 2u);
}

const struct bench_program bench_program = {
    .priority = {2, 1},
    .prepare = prepare,
    .body = body,
    .report = report,
};
