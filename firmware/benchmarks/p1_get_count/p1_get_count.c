/* Access pattern 1: one task per core asks for the count of a semaphore, its own or one shared by all cores.
 *
 * Starts the clock   the window opens while the task waits at the gate.
 * Ends the clock     the window closes, wherever the task is.
 * Inside by design   one call for the count, a test that it says what the semaphore was made with, the run flag, the
 *                    count, the kernel's tick.
 * Excluded           making the semaphore. Nobody takes or gives it, so the answer never changes and no task waits.
 *
 * Steps: 1 ask for the count, 2 count, and again. */
#include "bench/bench.h"

#define MAXIMUM 3u
#define INITIAL 2u

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

    return object != self->core || port_semaphore_create(&semaphores[object], MAXIMUM, INITIAL);
}

/* Does the work of each task. Called for the warm-up, and again for the measured window. */
static void body(struct bench_task *self)
{
    port_semaphore_t *semaphore = &semaphores[object_of(self)];

    while (bench_running()) {
        if (port_semaphore_count(semaphore) != INITIAL) { /* 1 */
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
