/* Signals to a task, which waits for them.
 *
 * Starts the clock   before the send or the wait.
 * Ends the clock     behind the call, or behind the call of the task that the switch leads to.
 * Inside by design   the calls and the switches. In the interval of a wait that blocks also the end of the send that the
 *                    switch comes back to.
 * Excluded           preparing the task, testing results, the loop.
 *
 * Steps: 1 task 1 sends the signal that the more urgent task 0 waits for; 2 task 0 sends it to itself, and 3 takes it; 4 task 0
 * waits, and task 1 continues. */
#include "bench/latency.h"
#include "bench/signal.h"

static port_task_t waiting;
static volatile bool draining; /* the signal that follows is the last one */

/* Prepares a task of the benchmark, once, on the task's own core. Returns false if that fails. */
static bool prepare(struct bench_task *self)
{
    if (self->index == 0) {
        waiting = self->handle;
    }
    return true;
}

/* Does the work of the task that is signalled. */
static void wait_for_signals(struct bench_task *self)
{
    bool came;

    self->failures += port_signal_prepare() ? 0 : 1;
    came = port_signal_wait();
    for (;;) {
        bool sent, taken;

        bench_stop(SERIES_SIGNAL_SEND_PREEMPT); /* 1 */
        if (draining) {
            break;
        }
        bench_start(SERIES_SIGNAL_SEND_NO_WAITER); /* 2 */
        sent = port_signal_send(waiting);
        bench_stop(SERIES_SIGNAL_SEND_NO_WAITER);
        bench_start(SERIES_SIGNAL_WAIT_AVAILABLE); /* 3 */
        taken = port_signal_wait();
        bench_stop(SERIES_SIGNAL_WAIT_AVAILABLE);
        self->failures += came && sent && taken ? 0 : 1;
        bench_count(self);
        bench_start(SERIES_SIGNAL_WAIT_BLOCK); /* 4 */
        came = port_signal_wait();
    }
}

/* Does the work of the task that signals, and lets the other go at the end of the phase. */
static void signal_task(struct bench_task *self)
{
    bool sent;

    while (bench_running()) {
        bench_start(SERIES_SIGNAL_SEND_PREEMPT); /* 1 */
        sent = port_signal_send(waiting);
        bench_stop(SERIES_SIGNAL_WAIT_BLOCK); /* 4 */
        self->failures += sent ? 0 : 1;
        bench_count(self);
    }
    draining = true;
    bench_start(SERIES_SIGNAL_SEND_PREEMPT); /* which the other task ends, as before */
    sent = port_signal_send(waiting);
    self->failures += sent ? 0 : 1;
    draining = false;
}

/* Does the work of each task. Called for the warm-up, and again for the measured window. */
static void body(struct bench_task *self)
{
    if (self->index == 0) {
        wait_for_signals(self);
    } else {
        signal_task(self);
    }
}

const struct bench_program bench_program = {
    .priority = {2, 1},
    .prepare = prepare,
    .body = body,
};
