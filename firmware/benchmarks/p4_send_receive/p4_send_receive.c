/* Access pattern 4: one task per core sends an item to a queue and receives one from it, its own queue or one shared by
 * all cores.
 *
 * Starts the clock   the window opens while the task waits at the gate.
 * Ends the clock     the window closes, wherever the task is.
 * Inside by design   one send (a copy into the queue) and one receive (a copy out of it); writing the item and checking
 *                    that it came back whole; a test of each call's result; the run flag, the count, the tick.
 * Excluded           making the queue. No task ever waits: a queue holds more items than there are tasks, and who has
 *                    sent one finds one (on the shared queue perhaps the other core's).
 *
 * Steps: 1 write the item, 2 send it, 3 receive one, 4 check its two words against each other, 5 count, and again. */
#include "bench/bench.h"

struct item {
    uint32_t number;
    uint32_t inverse;
};

_Static_assert(BENCH_PARAM_QUEUE_LENGTH >= BENCH_CORES, "parameter queue_length: at least the number of cores");

static port_queue_t queues[BENCH_CORES];

/* Reported as check: items that came back other than any was sent. */
static uint32_t wrong_items[BENCH_CORES];

/* Returns the index of the kernel object that a task uses: that of its core, or the one shared by all cores. */
static unsigned object_of(const struct bench_task *self)
{
    return BENCH_PARAM_SHARED != 0 ? 0 : self->core;
}

/* Prepares a task of the benchmark, once, on the task's own core. Returns false if that fails. */
static bool prepare(struct bench_task *self)
{
    unsigned object = object_of(self);

    return object != self->core ||
           port_queue_create(&queues[object], BENCH_PARAM_QUEUE_LENGTH, sizeof(struct item));
}

/* Does the work of each task. Called for the warm-up, and again for the measured window. */
static void body(struct bench_task *self)
{
    port_queue_t *queue = &queues[object_of(self)];

    while (bench_running()) {
        struct item out = {.number = self->count, .inverse = ~self->count}, in; /* 1 */

        if (!port_queue_send(queue, &out)) { /* 2 */
            self->failures++;
        }
        if (!port_queue_receive(queue, &in)) { /* 3 */
            self->failures++;
        }
        if (in.number != ~in.inverse) { /* 4 */
            wrong_items[self->core]++;
        }
        bench_count(self); /* 5 */
    }
}

/* Sends the benchmark's check records, after the bodies of all its tasks have returned. */
static void report(unsigned core)
{
    bench_check("wrong_items", core, wrong_items[core]);
}

const struct bench_program bench_program = {
    .priority = {1},
    .prepare = prepare,
    .body = body,
    .report = report,
};
