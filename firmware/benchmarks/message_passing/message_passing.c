/* Message passing: a more urgent task sends, a less urgent one receives, through a queue of one message.
 *
 * Starts the clock   before task 0's first loop.
 * Ends the clock     task 1 has its last message.
 * Inside by design   of each message: writing its number, the send (which waits while the queue is full), the switch to
 *                    the receiver, the receive, the switch back, a comparison.
 * Excluded           the same loops without send and receive, which are a series of their own and subtracted in the
 *                    analysis; like the paper's they hold one switch between the tasks.
 *
 * A loop: 1 task 0 sends; the queue is full and it waits, 2 task 1 receives, 3 task 0 preempts it and is back, and again.
 * Between the rounds task 0 waits for a semaphore that task 1 gives. */
#include "bench/latency.h"

#define WORDS (BENCH_PARAM_MESSAGE_BYTES / 4)

_Static_assert(BENCH_PARAM_MESSAGE_BYTES % 4 == 0 && WORDS >= 1 && WORDS <= 64,
               "parameter message_bytes: a multiple of 4 from 4 to 256");

static port_queue_t queue;
static port_semaphore_t received;
static volatile uint32_t begun;
static volatile bool leaving;

/* Reported as check: messages that came out of turn. */
static uint32_t wrong_messages;

/* Prepares a task of the benchmark, once, on the task's own core. Returns false if that fails. */
static bool prepare(struct bench_task *self)
{
    return self->index != 0 ||
           (port_queue_create(&queue, 1, BENCH_PARAM_MESSAGE_BYTES) && port_semaphore_create(&received, 1, 0));
}

/* Tells the compiler that the message is used here, so that it keeps the loops and moves nothing out of them. */
static inline void touch(uint32_t *message)
{
    __asm volatile("" ::"r"(message) : "memory");
}

/* Executes the sender's loops, with the sends or without them. */
static inline __attribute__((always_inline)) void produce(struct bench_task *self, bool with_queue)
{
    uint32_t message[WORDS] = {0};

    for (uint32_t loop = 0; loop < BENCH_PARAM_LOOPS; loop++) {
        message[0] = loop;
        touch(message);
        if (with_queue) {
            self->failures += port_queue_send(&queue, message) ? 0 : 1; /* 1, 3 */
        }
    }
}

/* Executes the receiver's loops, with the receives or without them. */
static inline __attribute__((always_inline)) void consume(struct bench_task *self, bool with_queue)
{
    uint32_t message[WORDS] = {0};

    for (uint32_t loop = 0; loop < BENCH_PARAM_LOOPS; loop++) {
        if (with_queue) {
            self->failures += port_queue_receive(&queue, message) ? 0 : 1; /* 2 */
            wrong_messages += message[0] == loop ? 0 : 1;
        }
        touch(message);
    }
}

/* Makes the sender wait until the receiver has finished its loops. */
static void wait_for_the_receiver(struct bench_task *self)
{
    self->failures += port_semaphore_take(&received) ? 0 : 1;
}

/* Does the work of the sender's task. */
static void sending(struct bench_task *self)
{
    leaving = false;
    while (bench_running()) {
        begun = begun + 1u;
        bench_start(SERIES_QUEUE_PASS_OVERHEAD);
        produce(self, false);
        wait_for_the_receiver(self);
        begun = begun + 1u;
        bench_start(SERIES_QUEUE_PASS);
        produce(self, true);
        wait_for_the_receiver(self);
        bench_count(self);
    }
    leaving = true;
}

/* Tells the sender that the receiver has finished its loops. */
static void tell_the_sender(struct bench_task *self)
{
    self->failures += port_semaphore_give(&received) ? 0 : 1;
}

/* Does the work of the receiver's task. */
static void receiving(struct bench_task *self)
{
    for (;;) {
        if (leaving) {
            return;
        }
        if (begun % 2u == 1u) {
            consume(self, false);
            bench_stop(SERIES_QUEUE_PASS_OVERHEAD);
        } else {
            consume(self, true);
            bench_stop(SERIES_QUEUE_PASS);
        }
        tell_the_sender(self);
    }
}

/* Does the work of each task. Called for the warm-up, and again for the measured window. */
static void body(struct bench_task *self)
{
    if (self->index == 0) {
        sending(self);
    } else {
        receiving(self);
    }
}

/* Sends the benchmark's check records, after the bodies of all its tasks have returned. */
static void report(unsigned core)
{
    bench_check("wrong_messages", core, wrong_messages);
}

const struct bench_program bench_program = {
    .priority = {2, 1},
    .prepare = prepare,
    .body = body,
    .report = report,
};
