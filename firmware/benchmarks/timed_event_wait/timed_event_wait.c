/* Timed wait for an event: a more urgent task waits one tick for bits that nobody sets; a less urgent one spins.
 *
 * Starts the clock   before the call.
 * Ends the clock     the less urgent task, which spins, sees that the other one waits.
 * Inside by design   the call up to where it waits, which also enters the task among those that wait for a tick; the switch;
 *                    up to one round of the spinning loop, as in the paper.
 * Excluded           making the event, sleeping until the tick, the way out of the wait when its time is over; with the
 *                    parameter `drift` a wait behind the tick, which is longer in each round (bench/drift.h).
 *
 * Steps: 1 task 0 sleeps to the next tick, 2 it waits in vain for one tick, 3 task 1 sees it; 4 the time is over, task 0 goes
 * on. Its wait in scenario 2 of signal_and_wait lasts for ever and another task ends it: another way through the kernel. */
#include "bench/drift.h"
#include "bench/latency.h"

#define WAIT_TICKS 1u
#define WAITED_BITS 3u

static port_event_t event;

/* Task 0 is about to wait; task 1 takes it back. Written by both, never at the same time. */
static volatile bool waiting;
static volatile bool leaving;

/* How far behind its tick the wait begins. */
static volatile uint32_t drift;

/* Reported as check: waits whose begin task 1 had not seen when they were over. */
static uint32_t unseen;

/* Prepares a task of the benchmark, once, on the task's own core. Returns false if that fails. */
static bool prepare(struct bench_task *self)
{
    return self->index != 0 || port_event_create(&event);
}

/* Does the work of the more urgent task, whose call waits until its time-out. */
static void urgent(struct bench_task *self)
{
    leaving = false;
    while (bench_running()) {
        port_sleep_ticks(1); /* 1 */
        bench_drift(drift);
        waiting = true;
        bench_start(SERIES_EVENT_WAIT_TIMES_OUT); /* 2 */
        self->failures += port_event_wait_any_for(&event, WAITED_BITS, WAIT_TICKS) ? 1 : 0; /* 4 */
        unseen += waiting ? 1 : 0;
        bench_drift_on(&drift);
        bench_count(self);
    }
    leaving = true;
}

/* Does the work of the less urgent task, which spins and sees that the other one waits. */
static void spinning(void)
{
    while (!leaving) {
        if (waiting) {
            bench_stop(SERIES_EVENT_WAIT_TIMES_OUT); /* 3 */
            waiting = false;
        }
    }
}

/* Does the work of each task. Called for the warm-up, and again for the measured window. */
static void body(struct bench_task *self)
{
    if (self->index == 0) {
        urgent(self);
    } else {
        spinning();
    }
}

/* Sends the benchmark's check records, after the bodies of all its tasks have returned. */
static void report(unsigned core)
{
    bench_check("unseen", core, unseen);
}

const struct bench_program bench_program = {
    .priority = {2, 1},
    .prepare = prepare,
    .body = body,
    .report = report,
};
