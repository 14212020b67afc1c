/* T6, message processing: one task per core sends a message to a queue of its own and receives it.
 *
 * Starts the clock   the window opens while the task waits at the gate.
 * Ends the clock     the window closes, wherever the task is.
 * Inside by design   one send (a copy into the queue) and one receive (a copy out of it), neither of which waits;
 *                    writing and checking the first and last word of the message; a test of each call's result; the
 *                    run flag, the count, the tick.
 * Excluded           making the queue. No task ever waits: this is the price of the calls and copies, not of blocking.
 *
 * Steps: 1 write the message's number at both ends, 2 send it, 3 receive it, 4 check both ends, 5 count, and again. */
#include "bench/bench.h"

#define WORDS (BENCH_PARAM_MESSAGE_BYTES / 4)

_Static_assert(BENCH_PARAM_MESSAGE_BYTES % 4 == 0 && WORDS >= 2 && WORDS <= 64,
               "parameter message_bytes: a multiple of 4 from 8 to 256");

static port_queue_t queues[BENCH_CORES];

/* Reported as check: messages that came back other than they were sent. */
static uint32_t wrong_messages[BENCH_CORES];

/* Prepares a task of the benchmark, once, on the task's own core. Returns false if that fails. */
static bool prepare(struct bench_task *self)
{
    return port_queue_create(&queues[self->core], BENCH_PARAM_QUEUE_LENGTH, BENCH_PARAM_MESSAGE_BYTES);
}

/* Does the work of each task. Called for the warm-up, and again for the measured window. */
static void body(struct bench_task *self)
{
    port_queue_t *queue = &queues[self->core];
    uint32_t out[WORDS] = {0}, in[WORDS];

    while (bench_running()) {
        uint32_t number = self->count;

        out[0] = number; /* 1 */
        out[WORDS - 1] = ~number;
        if (!port_queue_send(queue, out)) { /* 2 */
            self->failures++;
        }
        if (!port_queue_receive(queue, in)) { /* 3 */
            self->failures++;
        }
        if (in[0] != number || in[WORDS - 1] != ~number) { /* 4 */
            wrong_messages[self->core]++;
        }
        bench_count(self); /* 5 */
    }
}

/* Sends the benchmark's check records, after the bodies of all its tasks have returned. */
static void report(unsigned core)
{
    bench_check("wrong_messages", core, wrong_messages[core]);
}

const struct bench_program bench_program = {
    .priority = {1},
    .prepare = prepare,
    .body = body,
    .report = report,
};
