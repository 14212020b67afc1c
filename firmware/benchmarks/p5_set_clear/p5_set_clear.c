/* Access pattern 5: one task per core sets and clears a bit of an event, its own event or one shared by all cores.
 *
 * Starts the clock   the window opens while the task waits at the gate.
 * Ends the clock     the window closes, wherever the task is.
 * Inside by design   one set and one clear of a bit that nobody waits for, the run flag, the count, the kernel's tick.
 * Excluded           making the event. Each core has a bit of its own also on the shared event, so that none undoes
 *                    what another has just done.
 *
 * The paper pairs this with signalling and waiting for a condition on another kernel. That is other work, with two
 * switches of tasks in it, and is measured by itself: p5_signal_wait.
 *
 * Steps: 1 set the core's bit, 2 clear it, 3 count, and again. */
#include "bench/bench.h"

static port_event_t events[BENCH_CORES];

/* Returns the index of the kernel object that a task uses: that of its core, or the one shared by all cores. */
static unsigned object_of(const struct bench_task *self)
{
    return BENCH_PARAM_SHARED != 0 ? 0 : self->core;
}

/* Prepares a task of the benchmark, once, on the task's own core. Returns false if that fails. */
static bool prepare(struct bench_task *self)
{
    unsigned object = object_of(self);

    return object != self->core || port_event_create(&events[object]);
}

/* Does the work of each task. Called for the warm-up, and again for the measured window. */
static void body(struct bench_task *self)
{
    port_event_t *event = &events[object_of(self)];
    uint32_t bit = 1u << self->core;

    while (bench_running()) {
        port_event_set(event, bit);   /* 1 */
        port_event_clear(event, bit); /* 2 */
        bench_count(self);            /* 3 */
    }
    /* The event does what it says: a bit that is set is there, and a wait takes it. */
    port_event_set(event, bit);
    if ((port_event_wait_any(event, bit) & bit) == 0) {
        self->failures++;
    }
}

const struct bench_program bench_program = {
    .priority = {1},
    .prepare = prepare,
    .body = body,
};
