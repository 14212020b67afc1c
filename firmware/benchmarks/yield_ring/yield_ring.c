/* Yield among a number of tasks: T2 with as many equal tasks as the parameter `ready_tasks` says.
 *
 * Starts the clock   the window opens while all wait at the gate.
 * Ends the clock     the window closes, whichever task runs.
 * Inside by design   one yield that switches to the next of `ready_tasks` equal tasks, the run flag, the count, the tick.
 * Excluded           making the tasks. No task of the ring ever blocks inside the window. The others wait for a
 *                    semaphore from the window's opening to its end.
 *
 * Steps, for the tasks of the ring in turn: 1 task i counts, 2 task i yields, and the kernel goes on with task i+1,
 * after the last with the first. */
#include "bench/bench.h"

#define RING ((unsigned)BENCH_PARAM_READY_TASKS)

_Static_assert(RING >= 2 && RING <= BENCH_TASKS_PER_CORE, "parameter ready_tasks: from 2 to 6");

static port_semaphore_t window_ended[BENCH_CORES];

/* Prepares a task of the benchmark, once, on the task's own core. Returns false if that fails. */
static bool prepare(struct bench_task *self)
{
    return self->index != 0 || port_semaphore_create(&window_ended[self->core], BENCH_TASKS_PER_CORE, 0);
}

/* Does the work of each task. Called for the warm-up, and again for the measured window. */
static void body(struct bench_task *self)
{
    if (self->index >= RING) {
        self->failures += port_semaphore_take(&window_ended[self->core]) ? 0 : 1;
        return;
    }
    while (bench_running()) {
        bench_count(self); /* 1 */
        port_yield();      /* 2 */
    }
    for (unsigned waiting = RING; self->index == 0 && waiting < BENCH_TASKS_PER_CORE; waiting++) {
        self->failures += port_semaphore_give(&window_ended[self->core]) ? 0 : 1;
    }
}

/* Sends the counts of the tasks outside the ring as a check. */
static void report(unsigned core)
{
    uint32_t outside = 0;

    for (unsigned index = RING; index < BENCH_TASKS_PER_CORE; index++) {
        outside += bench_window_count(core, index);
    }
    bench_check("counted_outside", core, outside);
}

const struct bench_program bench_program = {
    .priority = {1, 1, 1, 1, 1, 1},
    .prepare = prepare,
    .body = body,
    .report = report,
};
