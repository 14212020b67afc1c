/* Message processing by pointer: one task per core sends the address of a message to a queue of its own and receives it.
 * T6 copies the message into its queue and out of it, which is other work.
 *
 * Starts the clock   the window opens while the task waits at the gate.
 * Ends the clock     the window closes, wherever the task is.
 * Inside by design   one send and one receive of a pointer, neither of which waits; writing and checking the first and last
 *                    word of the message, which stays where it is; a test of each call's result; the run flag, the count,
 *                    the tick.
 * Excluded           making the queue. No task ever waits, and no message is copied.
 *
 * Steps: 1 write the message's number at both ends, 2 send its address, 3 receive one, 4 check the address and both ends
 * through it, 5 count, and again. */
#include "bench/bench.h"

#define WORDS (BENCH_PARAM_MESSAGE_BYTES / 4)

_Static_assert(BENCH_PARAM_MESSAGE_BYTES % 4 == 0 && WORDS >= 2 && WORDS <= 64,
               "parameter message_bytes: a multiple of 4 from 8 to 256");

static port_pointer_queue_t queues[BENCH_CORES];

/* Reported as check: messages that came back from elsewhere, or other than they were sent. */
static uint32_t wrong_messages[BENCH_CORES];

/* Prepares a task of the benchmark, once, on the task's own core. Returns false if that fails. */
static bool prepare(struct bench_task *self)
{
    return port_pointer_queue_create(&queues[self->core], BENCH_PARAM_QUEUE_LENGTH);
}

/* Does the work of each task. Called for the warm-up, and again for the measured window. */
static void body(struct bench_task *self)
{
    port_pointer_queue_t *queue = &queues[self->core];
    volatile uint32_t message[WORDS];

    while (bench_running()) {
        uint32_t number = self->count;
        void *received = NULL;
        volatile uint32_t *in;

        message[0] = number; /* 1 */
        message[WORDS - 1] = ~number;
        if (!port_pointer_queue_send(queue, (void *)(uintptr_t)message)) { /* 2 */
            self->failures++;
        }
        if (!port_pointer_queue_receive(queue, &received)) { /* 3 */
            self->failures++;
        }
        in = received;
        if (in != message || in[0] != number || in[WORDS - 1] != ~number) { /* 4 */
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
