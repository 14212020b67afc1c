/* Preemption: a more urgent task is made ready and runs at once, and the way back when it waits again.
 *
 * Starts the clock   preempt: before the less urgent task's give or send; return: before the more urgent one's next wait.
 * Ends the clock     preempt: the more urgent task is back from its wait; return: the other one is back from its give.
 * Inside by design   preempt: the call, waking the waiter, the switch, the waiter's way out of its call.
 *                    return: the call that finds nothing, blocking, the switch, the giver's way out of its call.
 * Excluded           making the objects and tasks; the wake-ups between the semaphore's round and the queue's.
 *
 * Task 0 is the more urgent one. A round, across both tasks (0 waits for the semaphore as it begins):
 *     1 task 1 gives           -> 2 task 0 has taken       preempt by semaphore
 *     3 task 0 takes, waits    -> 4 task 1 is back         return by semaphore
 *     5 task 1 gives, task 0 goes to wait at the queue (not measured)
 *     6 task 1 sends           -> 7 task 0 has received    preempt by queue
 *     8 task 0 receives, waits -> 9 task 1 is back         return by queue
 *    10 task 1 sends, task 0 goes to wait at the semaphore (not measured), and again.
 * At the end of a phase task 1 gives once more behind the flag `draining`, and task 0 leaves.
 * A kernel without queues has only the steps 1 to 5, after which task 0 goes to wait for the semaphore again. */
#include "bench/latency.h"

#define WORDS (BENCH_PARAM_MESSAGE_BYTES / 4)

_Static_assert(BENCH_PARAM_MESSAGE_BYTES % 4 == 0 && WORDS >= 1 && WORDS <= 64,
               "parameter message_bytes: a multiple of 4 from 4 to 256");

static port_semaphore_t semaphore;
#if BENCH_NEEDS_QUEUE
static port_queue_t queue;
#endif
static volatile bool draining;
static volatile uint32_t wake_ups; /* of task 0 */

/* Reported as check: times task 1 went on although task 0 had not run. */
static uint32_t not_preempted;

/* Prepares a task of the benchmark, once, on the task's own core. Returns false if that fails. */
static bool prepare(struct bench_task *self)
{
    bool made = true;

    if (self->index != 0) {
        return true;
    }
    made = port_semaphore_create(&semaphore, 1, 0);
#if BENCH_NEEDS_QUEUE
    made = made && port_queue_create(&queue, 1, BENCH_PARAM_MESSAGE_BYTES);
#endif
    return made;
}

/* Takes the semaphore and counts a failure. */
static void take(struct bench_task *self)
{
    self->failures += port_semaphore_take(&semaphore) ? 0 : 1;
}

#if BENCH_NEEDS_QUEUE
/* Receives a message and counts a failure. */
static void receive(struct bench_task *self)
{
    uint32_t message[WORDS];

    self->failures += port_queue_receive(&queue, message) ? 0 : 1;
}
#endif

/* Does the work of the more urgent task, which waits for semaphore and queue. */
static void waiting(struct bench_task *self)
{
    draining = false;
    for (;;) {
        take(self);
        if (draining) {
            return;
        }
        bench_stop(SERIES_SEMAPHORE_GIVE_PREEMPT); /* 2 */
        wake_ups = wake_ups + 1u;
        bench_start(SERIES_SEMAPHORE_TAKE_RETURN); /* 3 */
        take(self);
#if BENCH_NEEDS_QUEUE
        receive(self);
        bench_stop(SERIES_QUEUE_SEND_PREEMPT); /* 7 */
        wake_ups = wake_ups + 1u;
        bench_start(SERIES_QUEUE_RECEIVE_RETURN); /* 8 */
        receive(self);
#endif
    }
}

/* Gives the semaphore and counts a failure. */
static void give(struct bench_task *self)
{
    self->failures += port_semaphore_give(&semaphore) ? 0 : 1;
}

#if BENCH_NEEDS_QUEUE
/* Sends a message and counts a failure. */
static void send(struct bench_task *self)
{
    uint32_t message[WORDS] = {self->count};

    self->failures += port_queue_send(&queue, message) ? 0 : 1;
}
#endif

/* Does the work of the less urgent task, which wakes the other one. */
static void waking(struct bench_task *self)
{
    while (bench_running()) {
        uint32_t before = wake_ups;

        bench_start(SERIES_SEMAPHORE_GIVE_PREEMPT); /* 1 */
        give(self);
        bench_stop(SERIES_SEMAPHORE_TAKE_RETURN); /* 4 */
        give(self);                               /* 5 */
#if BENCH_NEEDS_QUEUE
        bench_start(SERIES_QUEUE_SEND_PREEMPT); /* 6 */
        send(self);
        bench_stop(SERIES_QUEUE_RECEIVE_RETURN); /* 9 */
        send(self);                              /* 10 */
#endif
        not_preempted += wake_ups == before + 1u + BENCH_NEEDS_QUEUE ? 0 : 1;
        bench_count(self);
    }
    draining = true;
    give(self);
}

/* Does the work of each task. Called for the warm-up, and again for the measured window. */
static void body(struct bench_task *self)
{
    if (self->index == 0) {
        waiting(self);
    } else {
        waking(self);
    }
}

/* Sends the benchmark's check records, after the bodies of all its tasks have returned. */
static void report(unsigned core)
{
    bench_check("not_preempted", core, not_preempted);
}

const struct bench_program bench_program = {
    .priority = {2, 1},
    .prepare = prepare,
    .body = body,
    .report = report,
};
