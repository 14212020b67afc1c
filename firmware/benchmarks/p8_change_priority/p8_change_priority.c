/* Access pattern 8: one task per core changes the priority of a task that waits for a semaphore, its own core's or core 0's.
 *
 * Starts the clock   the window opens while the tasks wait at the gate.
 * Ends the clock     the window closes, wherever the task is.
 * Inside by design   one change of the priority, with whatever the kernel does to the semaphore's list of waiting
 *                    tasks, the run flag, the count, the kernel's tick.
 * Excluded           making tasks and semaphores. The changed task never runs in the window: it waits.
 *
 * With `shared` 1 both cores change the same task, core 1 from elsewhere; a change to the priority that the other core has just
 * set finds nothing to do.
 *
 * Steps: 1 task 0 changes the priority of a task 1 to one of two by turns, both less urgent than its own, 2 it counts, and
 * again. After the window it sets the first priority again, and gives the semaphore to its own core's task 1. */
#include "bench/bench.h"

#define CHANGED 1u
#define LOWER 1u
#define HIGHER 2u

static port_semaphore_t window_ended[BENCH_CORES];

/* Prepares a task of the benchmark, once, on the task's own core. Returns false if that fails. */
static bool prepare(struct bench_task *self)
{
    return self->index != 0 || port_semaphore_create(&window_ended[self->core], 1, 0);
}

/* Changes the priority of the waiting task to one of two by turns, and counts each change, until the phase ends. */
static void change(struct bench_task *self)
{
    port_task_t task = bench_task(BENCH_PARAM_SHARED != 0 ? 0 : self->core, CHANGED)->handle;
    uint32_t now = PORT_PRIORITY(LOWER), next = PORT_PRIORITY(HIGHER);

    while (bench_running()) {
        uint32_t before = now;

        port_priority_set(task, next); /* 1 */
        now = next;
        next = before;
        bench_count(self); /* 2 */
    }
}

/* Does the work of each task. Called for the warm-up, and again for the measured window. */
static void body(struct bench_task *self)
{
    if (self->index == CHANGED) {
        self->failures += port_semaphore_take(&window_ended[self->core]) ? 0 : 1;
        port_priority_set(self->handle, PORT_PRIORITY(LOWER)); /* whoever was the last to change it */
        return;
    }
    change(self);
    self->failures += port_semaphore_give(&window_ended[self->core]) ? 0 : 1;
}

/* Sends how often the task whose priority is changed has counted in the window. It waits all the
 * time, so this must be 0. */
static void report(unsigned core)
{
    bench_check("counted_by_changed", core, bench_window_count(core, CHANGED));
}

const struct bench_program bench_program = {
    .priority = {3, LOWER},
    .prepare = prepare,
    .body = body,
    .report = report,
};
