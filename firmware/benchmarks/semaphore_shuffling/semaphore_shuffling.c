/* Semaphore shuffling: two equal tasks pass one binary semaphore to and fro; then the same loops without it.
 *
 * Starts the clock   before task 0's first loop.
 * Ends the clock     after its last.
 * Inside by design   of each task and loop: take, yield, give, yield. Every take finds the semaphore with the other task
 *                    and blocks, but for the first.
 * Excluded           the same loops without take and give, which are a series of their own and subtracted in the analysis.
 *
 * A loop, once both tasks are under way: 1 task 0 takes and waits, 2 task 1 gives and yields, 3 task 0 yields, 4 task 1
 * takes and waits, 5 task 0 gives and yields, 6 task 1 yields, and again. */
#include "bench/latency.h"

static port_semaphore_t semaphore;

/* Task 1 follows task 0 into each round of loops, and task 0 waits until it is through. */
static volatile uint32_t begun, finished;
static volatile bool leaving;

/* Prepares a task of the benchmark, once, on the task's own core. Returns false if that fails. */
static bool prepare(struct bench_task *self)
{
    return self->index != 0 || port_semaphore_create(&semaphore, 1, 1);
}

/* Executes the loops of one task, with the calls of the semaphore or without them. */
static inline __attribute__((always_inline)) void shuffle(struct bench_task *self, bool with_semaphore)
{
    for (uint32_t loop = 0; loop < BENCH_PARAM_LOOPS; loop++) {
        if (with_semaphore) {
            self->failures += port_semaphore_take(&semaphore) ? 0 : 1;
        }
        port_yield();
        if (with_semaphore) {
            self->failures += port_semaphore_give(&semaphore) ? 0 : 1;
        }
        port_yield();
    }
}

/* Begins a round of loops, which lets task 1 follow. */
static void begin(void)
{
    begun = begun + 1u;
}

/* Makes task 0 yield until task 1 has finished its loops of this round. */
static void wait_for_the_other(void)
{
    while (finished != begun) {
        port_yield();
    }
}

/* Does the work of task 0, which begins and measures each round of loops. */
static void leading(struct bench_task *self)
{
    while (bench_running()) {
        begin();
        bench_start(SERIES_SEMAPHORE_SHUFFLE_OVERHEAD);
        shuffle(self, false);
        bench_stop(SERIES_SEMAPHORE_SHUFFLE_OVERHEAD);
        wait_for_the_other();
        begin();
        bench_start(SERIES_SEMAPHORE_SHUFFLE);
        shuffle(self, true);
        bench_stop(SERIES_SEMAPHORE_SHUFFLE);
        wait_for_the_other();
        bench_count(self);
    }
    leaving = true;
}

/* Does the work of task 1, which executes the same loops as task 0 in each round. */
static void following(struct bench_task *self)
{
    while (!leaving) {
        if (finished == begun) {
            port_yield();
            continue;
        }
        if (begun % 2u == 1u) {
            shuffle(self, false);
        } else {
            shuffle(self, true);
        }
        finished = finished + 1u;
    }
    leaving = false;
}

/* Does the work of each task. Called for the warm-up, and again for the measured window. */
static void body(struct bench_task *self)
{
    if (self->index == 0) {
        leading(self);
    } else {
        following(self);
    }
}

const struct bench_program bench_program = {
    .priority = {1, 1},
    .prepare = prepare,
    .body = body,
};
