/* Access patterns 2 and 3: one task per core takes and gives a binary semaphore, its own or one shared by all cores.
 *
 * Starts the clock   the window opens while the task waits at the gate.
 * Ends the clock     the window closes, wherever the task is.
 * Inside by design   one take and one give, a test of each call's result, the run flag, the count, the kernel's tick.
 *                    With a semaphore of one's own no task ever waits; with the shared one a take may, and the core
 *                    then idles until the other one gives.
 * Excluded           making the semaphore.
 *
 * Steps: 1 take the semaphore, 2 give it back, 3 count, and again. */
#include "bench/bench.h"

static port_semaphore_t semaphores[BENCH_CORES];

/* Returns the index of the kernel object that a task uses: that of its core, or the one shared by all cores. */
static unsigned object_of(const struct bench_task *self)
{
    return BENCH_PARAM_SHARED != 0 ? 0 : self->core;
}

/* Prepares a task of the benchmark, once, on the task's own core. Returns false if that fails. */
static bool prepare(struct bench_task *self)
{
    unsigned object = object_of(self);

    return object != self->core || port_semaphore_create(&semaphores[object], 1, 1);
}

/* Does the work of each task. Called for the warm-up, and again for the measured window. */
static void body(struct bench_task *self)
{
    port_semaphore_t *semaphore = &semaphores[object_of(self)];

    while (bench_running()) {
        if (!port_semaphore_take(semaphore)) { /* 1 */
            self->failures++;
        }
        if (!port_semaphore_give(semaphore)) { /* 2 */
            self->failures++;
        }
        bench_count(self); /* 3 */
    }
}

const struct bench_program bench_program = {
    .priority = {1},
    .prepare = prepare,
    .body = body,
};
