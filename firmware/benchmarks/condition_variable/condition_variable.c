/* Condition variables: a signal that wakes one task, a wait, and a broadcast that wakes two.
 *
 * Starts the clock   before the signal, the wait or the broadcast.
 * Ends the clock     behind the call of the task that the switch leads to (see below).
 * Inside by design   the calls, the switches, the release of the mutex in a wait, and taking it again. In the wait's interval
 *                    also the end of the signal that the switch comes back to.
 * Excluded           creating the objects, testing results, the loop.
 *
 * Steps: 1 the less urgent task signals, and task 0 has woken with the mutex; 2 task 0 waits again, and the less urgent task
 * continues; 3 the less urgent task broadcasts; task 1 wakes with the other mutex, unlocks it and takes an empty semaphore;
 * task 2 has woken with that mutex, and does likewise; 4 the less urgent task gives the semaphore twice, and both wait for the
 * condition again. Nobody holds a mutex when the less urgent task signals or broadcasts.
 *
 * Tasks 1 and 2 test in a loop that there was a broadcast, as applications do: after a broadcast, a wait of rt returns once
 * without waiting. Task 0 needs no such loop, because each signal of the benchmark has a waiter. No task waits again while a
 * broadcast is under way, because NuttX would wake it again and again. */
#include "bench/latency.h"
#if BENCH_NEEDS_CONDITION_BROADCAST
#include "bench/condition_broadcast.h"
#endif

enum role { SIGNALLED, FIRST, LAST, SIGNALLING };

static port_mutex_t mutex;
static port_condition_t condition;
#if BENCH_NEEDS_CONDITION_BROADCAST
static port_mutex_t shared_mutex;
static port_condition_t shared_condition;
static port_semaphore_t parked;
static volatile uint32_t broadcasts;
#endif
static volatile bool draining; /* the wakes that follow are the last ones */

/* Prepares a task of the benchmark, once, on the task's own core. Returns false if that fails. */
static bool prepare(struct bench_task *self)
{
    bool made = true;

    if (self->index == SIGNALLED) {
        made = port_mutex_create(&mutex) && port_condition_create(&condition);
#if BENCH_NEEDS_CONDITION_BROADCAST
        made = made && port_mutex_create(&shared_mutex) && port_condition_create(&shared_condition) &&
               port_semaphore_create(&parked, 2, 0);
#endif
    }
    return made;
}

/* Does the work of the task that signals wake. */
static void wait_for_signals(struct bench_task *self)
{
    self->failures += port_mutex_lock(&mutex) ? 0 : 1;
    port_condition_wait(&condition, &mutex);
    for (;;) {
        bench_stop(SERIES_CONDITION_SIGNAL_PREEMPT); /* 1 */
        if (draining) {
            break;
        }
        bench_count(self);
        bench_start(SERIES_CONDITION_WAIT_BLOCK); /* 2 */
        port_condition_wait(&condition, &mutex);
    }
    self->failures += port_mutex_unlock(&mutex) ? 0 : 1;
}

#if BENCH_NEEDS_CONDITION_BROADCAST
/* Does the work of both tasks that broadcasts wake. A kernel may store a broadcast, so a wait may return at once. */
static void wait_for_broadcasts(struct bench_task *self)
{
    do {
        uint32_t seen;
        bool done = port_mutex_lock(&shared_mutex);

        seen = broadcasts;
        do {
            port_condition_wait(&shared_condition, &shared_mutex);
        } while (broadcasts == seen);
        if (self->index == LAST) {
            bench_stop(SERIES_CONDITION_BROADCAST_BOTH); /* 3 */
        }
        done = port_mutex_unlock(&shared_mutex) && done;
        done = port_semaphore_take(&parked) && done; /* 4 */
        self->failures += done ? 0 : 1;
    } while (!draining);
}

/* Wakes both tasks by a broadcast, and then lets them wait again, one after the other. */
static void broadcast(struct bench_task *self)
{
    bool done;

    broadcasts = broadcasts + 1u;
    bench_start(SERIES_CONDITION_BROADCAST_BOTH); /* 3 */
    port_condition_broadcast(&shared_condition);
    done = port_semaphore_give(&parked); /* 4 */
    done = port_semaphore_give(&parked) && done;
    self->failures += done ? 0 : 1;
}
#endif

/* Does the work of the task that signals and broadcasts, and lets the others go at the end of the phase. */
static void signal_all(struct bench_task *self)
{
    while (bench_running()) {
        bench_start(SERIES_CONDITION_SIGNAL_PREEMPT); /* 1 */
        port_condition_signal(&condition);
        bench_stop(SERIES_CONDITION_WAIT_BLOCK); /* 2 */
#if BENCH_NEEDS_CONDITION_BROADCAST
        broadcast(self);
#endif
        bench_count(self);
    }
    draining = true;
    bench_start(SERIES_CONDITION_SIGNAL_PREEMPT); /* which the other task ends, as before */
    port_condition_signal(&condition);
#if BENCH_NEEDS_CONDITION_BROADCAST
    broadcast(self);
#endif
    draining = false;
}

/* Does the work of each task. Called for the warm-up, and again for the measured window. */
static void body(struct bench_task *self)
{
    if (self->index == SIGNALLED) {
        wait_for_signals(self);
    } else if (self->index == SIGNALLING) {
        signal_all(self);
    }
#if BENCH_NEEDS_CONDITION_BROADCAST
    if (self->index == FIRST || self->index == LAST) {
        wait_for_broadcasts(self);
    }
#endif
}

const struct bench_program bench_program = {
    .priority = {4, 3, 2, 1},
    .prepare = prepare,
    .body = body,
};
