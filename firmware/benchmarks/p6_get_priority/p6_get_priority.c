/* Access pattern 6: one task per core asks for the priority of a task, its own or that of core 0's task.
 *
 * Starts the clock   the window opens while the task waits at the gate.
 * Ends the clock     the window closes, wherever the task is.
 * Inside by design   one call for the priority, a test of its answer, the run flag, the count, the kernel's tick.
 * Excluded           making the tasks. Nobody changes a priority.
 *
 * Steps: 1 ask for the priority, 2 count, and again. */
#include "bench/bench.h"

/* Prepares a task of the benchmark, once, on the task's own core. Returns false if that fails. */
static bool prepare(struct bench_task *self)
{
    (void)self;
    return true;
}

/* Does the work of each task. Called for the warm-up, and again for the measured window. */
static void body(struct bench_task *self)
{
    const struct bench_task *asked = BENCH_PARAM_SHARED != 0 ? bench_task(0, 0) : self;
    port_task_t task = asked->handle;
    uint32_t priority = PORT_PRIORITY(asked->priority);

    while (bench_running()) {
        if (port_priority_get(task) != priority) { /* 1 */
            self->failures++;
        }
        bench_count(self); /* 2 */
    }
}

const struct bench_program bench_program = {
    .priority = {1},
    .prepare = prepare,
    .body = body,
};
