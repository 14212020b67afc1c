/* Events of one task: flags that a task or a handler sets, and for which only their task waits.
 *
 * Starts the clock   before the set or the wait.
 * Ends the clock     behind the call, or behind the call of the task that the switch leads to.
 * Inside by design   the calls and the switches. In the interval of a wait that blocks also the end of the set that the switch
 *                    comes back to; from a handler also the way out of it.
 * Excluded           the interrupt's entry, testing the flags, the loop.
 *
 * Steps: 1 task 1 sets a flag of the more urgent task 0, whose wait returns; 2 task 0 sets one of its own flags; 3 it waits for
 * what is set; 4 it waits, and task 1 continues; 5 that one pends the software interrupt, whose handler sets a flag of task 0,
 * and task 0's wait returns; it waits again. */
#include "bench/latency.h"
#include "bench/task_events.h"

#define FLAG_OF_TASK 1u
#define FLAG_OF_SELF 2u
#define FLAG_OF_HANDLER 4u
#define FLAG_OF_END 8u

static port_task_t waiting;

/* Reported as check: waits that returned other flags than those that were set. */
static uint32_t wrong_flags;

void BOARD_SOFT_IRQ_HANDLER(void);

/* Handles the software interrupt: sets a flag of task 0. */
void BOARD_SOFT_IRQ_HANDLER(void)
{
    port_isr_enter();
    bench_start(SERIES_TASK_EVENTS_SET_HANDLER); /* 5 */
    port_task_events_set_from_isr(waiting, FLAG_OF_HANDLER);
    port_isr_exit();
}

/* Prepares a task of the benchmark, once, on the task's own core. Returns false if that fails. */
static bool prepare(struct bench_task *self)
{
    if (self->index == 0) {
        waiting = self->handle;
        board_soft_irq_enable(PORT_ISR_URGENCY);
    }
    return true;
}

/* Does the work of the task that waits. */
static void wait_for_flags(struct bench_task *self)
{
    for (;;) {
        uint32_t of_task, of_self, of_handler;

        of_task = port_task_events_wait(waiting);
        bench_stop(SERIES_TASK_EVENTS_SET_PREEMPT); /* 1 */
        if (of_task == FLAG_OF_END) {
            break;
        }
        bench_start(SERIES_TASK_EVENTS_SET_NO_WAITER); /* 2 */
        port_task_events_set(waiting, FLAG_OF_SELF);
        bench_stop(SERIES_TASK_EVENTS_SET_NO_WAITER);
        bench_start(SERIES_TASK_EVENTS_WAIT_AVAILABLE); /* 3 */
        of_self = port_task_events_wait(waiting);
        bench_stop(SERIES_TASK_EVENTS_WAIT_AVAILABLE);
        bench_start(SERIES_TASK_EVENTS_WAIT_BLOCK); /* 4 */
        of_handler = port_task_events_wait(waiting);
        bench_stop(SERIES_TASK_EVENTS_SET_HANDLER); /* 5 */
        wrong_flags += of_task == FLAG_OF_TASK && of_self == FLAG_OF_SELF && of_handler == FLAG_OF_HANDLER ? 0 : 1;
        bench_count(self);
    }
}

/* Does the work of the task that sets flags, and lets the other go at the end of the phase. */
static void set_flags(struct bench_task *self)
{
    while (bench_running()) {
        bench_start(SERIES_TASK_EVENTS_SET_PREEMPT); /* 1 */
        port_task_events_set(waiting, FLAG_OF_TASK);
        bench_stop(SERIES_TASK_EVENTS_WAIT_BLOCK); /* 4 */
        board_soft_irq_pend();                     /* 5 */
        bench_count(self);
    }
    bench_start(SERIES_TASK_EVENTS_SET_PREEMPT); /* which the other task ends, as before */
    port_task_events_set(waiting, FLAG_OF_END);
}

/* Does the work of each task. Called for the warm-up, and again for the measured window. */
static void body(struct bench_task *self)
{
    if (self->index == 0) {
        wait_for_flags(self);
    } else {
        set_flags(self);
    }
}

/* Sends the benchmark's check records, after the bodies of all its tasks have returned. */
static void report(unsigned core)
{
    bench_check("wrong_flags", core, wrong_flags);
}

const struct bench_program bench_program = {
    .priority = {2, 1},
    .prepare = prepare,
    .body = body,
    .report = report,
};
