/* The kernel's binary semaphore: calls that nobody waits for, and a give that wakes a task.
 *
 * Starts the clock   before the call.
 * Ends the clock     behind the call, or behind the call of the task that the switch leads to.
 * Inside by design   the calls and the switches. In the interval of a take that blocks also the end of the give that the
 *                    switch comes back to.
 * Excluded           creating the semaphore, testing results, the loop.
 *
 * Steps: 1 task 1 gives, and the more urgent task 0 has taken; 2 task 0 gives the empty semaphore and 3 takes it;
 * 4 it takes the empty one and waits, and task 1 continues. */
#include "bench/binary_semaphore.h"
#include "bench/latency.h"

static port_binary_semaphore_t semaphore;
static volatile bool draining; /* the give that follows is the last one */

/* Prepares a task of the benchmark, once, on the task's own core. Returns false if that fails. */
static bool prepare(struct bench_task *self)
{
    return self->index != 0 || port_binary_semaphore_create(&semaphore);
}

/* Does the work of the more urgent task. */
static void urgent(struct bench_task *self)
{
    bool woken = port_binary_semaphore_take(&semaphore);

    for (;;) {
        bool given, taken;

        bench_stop(SERIES_BINARY_SEMAPHORE_GIVE_PREEMPT); /* 1 */
        if (draining) {
            break;
        }
        bench_start(SERIES_BINARY_SEMAPHORE_GIVE_NO_WAITER); /* 2 */
        given = port_binary_semaphore_give(&semaphore);
        bench_stop(SERIES_BINARY_SEMAPHORE_GIVE_NO_WAITER);
        bench_start(SERIES_BINARY_SEMAPHORE_TAKE_AVAILABLE); /* 3 */
        taken = port_binary_semaphore_take(&semaphore);
        bench_stop(SERIES_BINARY_SEMAPHORE_TAKE_AVAILABLE);
        self->failures += given && taken && woken ? 0 : 1;
        bench_count(self);
        bench_start(SERIES_BINARY_SEMAPHORE_TAKE_BLOCK); /* 4 */
        woken = port_binary_semaphore_take(&semaphore);
    }
}

/* Does the work of the less urgent task, and lets the other go at the end of the phase. */
static void give(struct bench_task *self)
{
    bool given;

    while (bench_running()) {
        bench_start(SERIES_BINARY_SEMAPHORE_GIVE_PREEMPT); /* 1 */
        given = port_binary_semaphore_give(&semaphore);
        bench_stop(SERIES_BINARY_SEMAPHORE_TAKE_BLOCK);    /* 4 */
        self->failures += given ? 0 : 1;
        bench_count(self);
    }
    draining = true;
    bench_start(SERIES_BINARY_SEMAPHORE_GIVE_PREEMPT); /* which the other task ends, as before */
    given = port_binary_semaphore_give(&semaphore);
    self->failures += given ? 0 : 1;
    draining = false;
}

/* Does the work of each task. Called for the warm-up, and again for the measured window. */
static void body(struct bench_task *self)
{
    if (self->index == 0) {
        urgent(self);
    } else {
        give(self);
    }
}

const struct bench_program bench_program = {
    .priority = {2, 1},
    .prepare = prepare,
    .body = body,
};
