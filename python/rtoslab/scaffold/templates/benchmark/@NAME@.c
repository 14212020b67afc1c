/* @TITLE@: one task per core takes and gives a binary semaphore of its own.
 *
 * Starts the clock   the window opens while the task waits at the gate.
 * Ends the clock     the window closes, wherever the task is.
 * Inside by design   one take that succeeds at once and one give that wakes nobody, a test of each result, the run flag,
 *                    the count, and the kernel's tick.
 * Excluded           making the semaphore. */
#include "bench/bench.h"

static port_semaphore_t semaphores[BENCH_CORES];

static bool prepare(struct bench_task *self)
{
    return port_semaphore_create(&semaphores[self->core], 1, 1);
}

static void body(struct bench_task *self)
{
    port_semaphore_t *semaphore = &semaphores[self->core];

    while (bench_running()) {
        if (!port_semaphore_take(semaphore)) {
            self->failures++;
        }
        if (!port_semaphore_give(semaphore)) {
            self->failures++;
        }
        bench_count(self);
    }
}

const struct bench_program bench_program = {
    .priority = {1},
    .prepare = prepare,
    .body = body,
};
