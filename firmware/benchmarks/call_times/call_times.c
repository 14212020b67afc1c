/* Call times: what one call costs when nothing waits and nothing is woken.
 *
 * Starts the clock   before the call.
 * Ends the clock     behind it.
 * Inside by design   the call alone; the kernel's tick where it falls into one.
 * Excluded           making the objects, testing results, the loop.
 *
 * Steps, by the only task: 1 pin up, 2 pin down, 3 give a taken binary semaphore, 4 take it, 5 send to an empty queue of
 * one message, 6 receive it, and again. */
#include "bench/latency.h"

#define WORDS (BENCH_PARAM_MESSAGE_BYTES / 4)

_Static_assert(BENCH_PARAM_MESSAGE_BYTES % 4 == 0 && WORDS >= 1 && WORDS <= 64,
               "parameter message_bytes: a multiple of 4 from 4 to 256");

static port_semaphore_t semaphore;
#if BENCH_NEEDS_QUEUE
static port_queue_t queue;
#endif

/* Reported as check: messages that came back other than they were sent. */
static uint32_t wrong_messages;

/* Prepares a task of the benchmark, once, on the task's own core. Returns false if that fails. */
static bool prepare(struct bench_task *self)
{
    bool made = true;

    (void)self;
    made = port_semaphore_create(&semaphore, 1, 0);
#if BENCH_NEEDS_QUEUE
    made = made && port_queue_create(&queue, 1, BENCH_PARAM_MESSAGE_BYTES);
#endif
    return made;
}

/* Measures setting and clearing a pin. */
static void toggle_pin(void)
{
    bench_start(SERIES_PIN_SET); /* 1 */
    board_pin_raise();
    bench_stop(SERIES_PIN_SET);
    bench_start(SERIES_PIN_CLEAR); /* 2 */
    board_pin_drop();
    bench_stop(SERIES_PIN_CLEAR);
}

/* Measures a semaphore's give and take, for which no task waits. */
static void give_and_take(struct bench_task *self)
{
    bool given, taken;

    bench_start(SERIES_SEMAPHORE_GIVE_NO_WAITER); /* 3 */
    given = port_semaphore_give(&semaphore);
    bench_stop(SERIES_SEMAPHORE_GIVE_NO_WAITER);
    bench_start(SERIES_SEMAPHORE_TAKE_AVAILABLE); /* 4 */
    taken = port_semaphore_take(&semaphore);
    bench_stop(SERIES_SEMAPHORE_TAKE_AVAILABLE);
    self->failures += given && taken ? 0 : 1;
}

#if BENCH_NEEDS_QUEUE
/* Measures a queue's send and receive, for which no task waits. */
static void send_and_receive(struct bench_task *self)
{
    uint32_t out[WORDS] = {0}, in[WORDS] = {0};
    bool sent, received;

    out[WORDS - 1] = ~self->count;
    out[0] = self->count;
    bench_start(SERIES_QUEUE_SEND_NO_WAITER); /* 5 */
    sent = port_queue_send(&queue, out);
    bench_stop(SERIES_QUEUE_SEND_NO_WAITER);
    bench_start(SERIES_QUEUE_RECEIVE_AVAILABLE); /* 6 */
    received = port_queue_receive(&queue, in);
    bench_stop(SERIES_QUEUE_RECEIVE_AVAILABLE);
    self->failures += sent && received ? 0 : 1;
    wrong_messages += in[0] == out[0] && in[WORDS - 1] == out[WORDS - 1] ? 0 : 1;
}
#endif

/* Does the work of each task. Called for the warm-up, and again for the measured window. */
static void body(struct bench_task *self)
{
    while (bench_running()) {
        toggle_pin();
        give_and_take(self);
#if BENCH_NEEDS_QUEUE
        send_and_receive(self);
#endif
        bench_count(self);
    }
}

/* Sends the benchmark's check records, after the bodies of all its tasks have returned. */
static void report(unsigned core)
{
    bench_check("wrong_messages", core, wrong_messages);
}

const struct bench_program bench_program = {
    .priority = {1},
    .prepare = prepare,
    .body = body,
    .report = report,
};
