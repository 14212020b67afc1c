/* Migration: a task moves itself from core to core. Access pattern 7 (p7_migrate_task) is the same for kernels that also run
 * tasks on any core; here each task is created for a core, so kernels whose tasks always belong to a core take part.
 *
 * Starts the clock   the window opens while the tasks wait at the gate.
 * Ends the clock     the window closes, wherever the task is.
 * Inside by design   one call that binds the task to the other core, the switch away from this core, the kernel's interrupt of
 *                    the other one, the switch to the task there, a look at the core that it runs on, the run flag, the count,
 *                    the kernel's tick, all waiting for the kernel's locks.
 * Excluded           making the tasks. The other core has nothing else to do; core 1's own task waits.
 *
 * Steps: 1 core 0's task binds itself to the other core, 2 it continues there and sees so, 3 it counts, and again. After the
 * window it binds itself to core 0 again, and wakes core 1's task. */
#include "bench/affinity.h"
#include "bench/bench.h"

_Static_assert(BENCH_CORES == 2, "from one core to the other: CORES=2");

static port_semaphore_t window_ended;

/* Prepares a task of the benchmark, once, on the task's own core. Returns false if that fails. */
static bool prepare(struct bench_task *self)
{
    return self->core != 0 || port_semaphore_create(&window_ended, 1, 0);
}

/* Does the work of core 0's task: moves to the other core, again and again, checks where it runs, and counts. */
static void migrate(struct bench_task *self)
{
    while (bench_running()) {
        unsigned next = 1u - port_core();

        port_affinity_set(self->handle, next); /* 1 */
        self->failures += port_core() == next ? 0 : 1; /* 2 */
        bench_count(self); /* 3 */
    }
    port_affinity_set(self->handle, 0);
    self->failures += port_semaphore_give(&window_ended) ? 0 : 1;
}

/* Does the work of each task. Called for the warm-up, and again for the measured window. */
static void body(struct bench_task *self)
{
    if (self->core == 0) {
        migrate(self);
    } else {
        self->failures += port_semaphore_take(&window_ended) ? 0 : 1;
    }
}

const struct bench_program bench_program = {
    .priority = {1},
    .prepare = prepare,
    .body = body,
};
