/* T7, synchronisation: one task per core takes and gives a binary semaphore of its own.
 *
 * Starts the clock   the window opens while the task waits at the gate.
 * Ends the clock     the window closes, wherever the task is.
 * Inside by design   one take that succeeds at once and one give that wakes nobody, a test of each call's result, the
 *                    run flag, the count, and the kernel's tick.
 * Excluded           making the semaphore. No task ever waits: this is the price of the calls, not of blocking.
 *
 * Steps: 1 the semaphore is free: take it, 2 give it back, 3 count, and again. */
#include "bench/bench.h"

static port_semaphore_t semaphores[BENCH_CORES];

/* Prepares a task of the benchmark, once, on the task's own core. Returns false if that fails. */
static bool prepare(struct bench_task *self)
{
    return port_semaphore_create(&semaphores[self->core], 1, 1);
}

/* Does the work of each task. Called for the warm-up, and again for the measured window. */
static void body(struct bench_task *self)
{
    port_semaphore_t *semaphore = &semaphores[self->core];

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
