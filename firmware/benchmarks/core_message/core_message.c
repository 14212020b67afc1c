/* Messages between the cores of one kernel: from a task pinned to core 0 to a task pinned to core 1, and back.
 *
 * Starts the clock   the sender is about to send.
 * Ends the clock     the receiver is back from its wait.
 * Inside by design   the send or the notification, the kernel's interrupt of the other core, the switch to the task that
 *                    waits there, its way out of the receive or take; and all waiting for the kernel's locks.
 * Excluded           what the receiver does after that. No instrument is in the image: the virtual board sees the marks on
 *                    both cores. A real board gives the rounds of messages.
 *
 * The same as pair_message is between two kernels: core 0 sends at instants that are PERIOD_CYCLES apart, which shares no
 * large factor with a tick, so the messages meet every phase of it; core 1 answers ANSWER_CYCLES after it has received, when
 * core 0 waits.
 *
 * Steps: 1 core 0 waits for the next instant, 2 it sends to a queue, 3 core 1 receives it, 4 core 1 sends to the other queue,
 * 5 core 0 receives it; then the same by notification. The last message of a phase says that core 1 may leave. */
#include "bench/bench.h"
#include "bench/mark.h"

_Static_assert(BENCH_CORES == 2, "from one core to the other: CORES=2");

/* In the order of benchmark.toml; 0 is no series of it. */
#define SERIES_QUEUE 1
#define SERIES_NOTIFY 2
#define MARK_START(series) BENCH_MARK_(2 * (series))
#define MARK_STOP(series) BENCH_MARK_(2 * (series) + 1)

/* Long enough for the receiver of an answer to be asleep before it comes. */
#ifdef __OPTIMIZE__
#define PERIOD_CYCLES 15686u
#else
#define PERIOD_CYCLES 31357u
#endif
#define ANSWER_CYCLES (PERIOD_CYCLES / 2u)
#define COUNTER_MASK 0xFFFFu
#define PING 1u
#define STOP 2u

_Static_assert(CYCLE_COUNTER_BITS >= 16 && PERIOD_CYCLES < 0x8000u, "an instant has 16 bits");

static port_queue_t queues[BENCH_CORES]; /* of messages to each core */

/* Prepares a task of the benchmark, once, on the task's own core. Returns false if that fails. */
static bool prepare(struct bench_task *self)
{
    if (self->core == 0) {
        cycle_counter_start();
    }
    return port_queue_create(&queues[self->core], 1, sizeof(uint32_t));
}

/* Sends a message to the other core's queue. */
static void queue_ping(struct bench_task *self)
{
    uint32_t word = PING;

    MARK_START(SERIES_QUEUE);
    self->failures += port_queue_send(&queues[1u - self->core], &word) ? 0 : 1; /* 2, 4 */
}

/* Waits for a message in this core's queue. Returns false if it was no ping, which ends the phase. */
static bool queue_receive(struct bench_task *self)
{
    uint32_t word = 0;

    self->failures += port_queue_receive(&queues[self->core], &word) ? 0 : 1; /* 3, 5 */
    if (word != PING) {
        return false;
    }
    MARK_STOP(SERIES_QUEUE);
    return true;
}

/* Notifies the other core's task. */
static void notify_ping(struct bench_task *self)
{
    port_task_t other = bench_task(1u - self->core, 0)->handle;

    MARK_START(SERIES_NOTIFY);
    port_notify_give(other); /* 2, 4 */
}

/* Waits for a notification by the other core's task. */
static void notify_receive(struct bench_task *self)
{
    port_notify_take(self->handle); /* 3, 5 */
    MARK_STOP(SERIES_NOTIFY);
}

/* Waits until the cycle counter has reached `instant`. */
static void wait_until(uint32_t instant)
{
    while (((cycle_counter_read() - instant) & COUNTER_MASK) >= 0x8000u) { /* 1 */
    }
}

/* Does the work of core 0's task, which sends first. */
static void ask(struct bench_task *self)
{
    uint32_t instant = cycle_counter_read(), word = STOP;

    while (bench_running()) {
        instant += PERIOD_CYCLES;
        wait_until(instant);
        queue_ping(self);
        self->failures += queue_receive(self) ? 0 : 1;
        instant += PERIOD_CYCLES;
        wait_until(instant);
        notify_ping(self);
        notify_receive(self);
        bench_count(self);
    }
    self->failures += port_queue_send(&queues[1], &word) ? 0 : 1;
}

/* Does the work of core 1's task, which answers each message. */
static void answer(struct bench_task *self)
{
    while (queue_receive(self)) {
        wait_until(cycle_counter_read() + ANSWER_CYCLES);
        queue_ping(self);
        notify_receive(self);
        wait_until(cycle_counter_read() + ANSWER_CYCLES);
        notify_ping(self);
        bench_count(self);
    }
}

/* Does the work of each task. Called for the warm-up, and again for the measured window. */
static void body(struct bench_task *self)
{
    if (self->core == 0) {
        ask(self);
    } else {
        answer(self);
    }
}

const struct bench_program bench_program = {
    .priority = {1},
    .prepare = prepare,
    .body = body,
};
