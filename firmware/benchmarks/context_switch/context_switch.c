/* Context switch: two tasks of one priority yield to each other.
 *
 * Starts the clock   before task 0 yields.
 * Ends the clock     task 0 runs again.
 * Inside by design   two yields, two switches; the other task's loop: the run flag, its count.
 * Excluded           keeping the sample.
 *
 * Steps: 1 task 0 yields, 2 task 1 counts and yields, 3 task 0 is back. Analyses give half of a sample: one switch. */
#include "bench/latency.h"

/* Prepares a task of the benchmark, once, on the task's own core. Returns false if that fails. */
static bool prepare(struct bench_task *self)
{
    (void)self;
    return true;
}

/* Does the work of each task. Called for the warm-up, and again for the measured window. */
static void body(struct bench_task *self)
{
    while (bench_running()) {
        if (self->index == 0) {
            bench_start(SERIES_TASK_YIELD_SWITCH); /* 1 */
            port_yield();
            bench_stop(SERIES_TASK_YIELD_SWITCH); /* 3 */
        } else {
            bench_count(self); /* 2 */
            port_yield();
        }
    }
}

const struct bench_program bench_program = {
    .priority = {1, 1},
    .prepare = prepare,
    .body = body,
};
