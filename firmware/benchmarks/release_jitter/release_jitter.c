/* Release jitter: how evenly a periodic task is released, alone and under load.
 *
 * Starts the clock   the task's first statement behind one of its sleeps of one tick.
 * Ends the clock     the same behind the next one: a period, as the task itself sees it.
 * Inside by design   everything that happens in a period: the tick, the switches; under load the less urgent tasks' calls,
 *                    during which the kernel masks interrupts, and the other tasks that the same tick wakes.
 * Excluded           the first periods after the load has been let in or shut out.
 * The figure is the spread of a series. Its middle is the tick's period, less the few cycles from one reading to the next.
 *
 * Task 0, the most urgent, is released by every tick. It lets the load in for BLOCK periods and shuts it out for as many:
 * tasks 1 and 2 sleep for two and three ticks and are woken by the same tick as task 0 every now and then; task 3 gives
 * and takes, sends and receives in a mixed order (a generator with the parameter `seed`), and never waits. */
#include "bench/draw.h"
#include "bench/latency.h"

#define BLOCK 12u
#define SETTLE 4u /* the longest sleep of the load, and one */
#define LOADERS 3u

_Static_assert(BENCH_PARAM_SEED != 0, "parameter seed: not 0, from which the generator does not get away");

static port_semaphore_t let_in[LOADERS], semaphore;
static port_queue_t queue;
static volatile bool loading, draining;
static volatile uint32_t load_calls;
static uint32_t state = BENCH_PARAM_SEED;

/* Reported as checks: periods under load in which nothing was loaded, and periods without load in which something was. */
static uint32_t load_missing, load_unasked;

/* Prepares a task of the benchmark, once, on the task's own core. Returns false if that fails. */
static bool prepare(struct bench_task *self)
{
    if (self->index != 0) {
        return true;
    }
    for (unsigned i = 0; i < LOADERS; i++) {
        if (!port_semaphore_create(&let_in[i], 1, 0)) {
            return false;
        }
    }
    return port_semaphore_create(&semaphore, 1, 0) && port_queue_create(&queue, 1, 4);
}

/* Starts or stops the tasks that load the core, as `in` says. */
static void let_load_in(bool in)
{
    loading = in;
    for (unsigned i = 0; in && i < LOADERS; i++) {
        (void)port_semaphore_give(&let_in[i]);
    }
}

/* Does the work of the periodic task: measures from tick to tick, with and without load by turns. It counts the load's
 * calls inside the measured interval, where that cannot delay the end of a period. */
static void periodic(struct bench_task *self)
{
    uint32_t period = 0;

    port_sleep_ticks(1);
    while (bench_running()) {
        uint32_t before = load_calls;
        bool loaded = loading, settled = period % BLOCK >= SETTLE;

        if (settled && loaded) {
            bench_start(SERIES_RELEASE_PERIOD_LOADED);
            port_sleep_ticks(1);
            bench_stop(SERIES_RELEASE_PERIOD_LOADED);
            load_missing += load_calls != before ? 0 : 1;
        } else if (settled) {
            bench_start(SERIES_RELEASE_PERIOD_IDLE);
            port_sleep_ticks(1);
            bench_stop(SERIES_RELEASE_PERIOD_IDLE);
            load_unasked += load_calls == before ? 0 : 1;
        } else {
            if (period % BLOCK == 0) {
                let_load_in(!loaded);
            }
            port_sleep_ticks(1);
        }
        period++;
        bench_count(self);
    }
    draining = true;
    let_load_in(true);
    port_sleep_ticks(2u * LOADERS); /* all are through */
    loading = draining = false;
}

/* Does the work of a load task that sleeps for `ticks` again and again. */
static void sleeping(unsigned ticks)
{
    while (!draining) {
        (void)port_semaphore_take(&let_in[ticks - 2u]);
        while (loading && !draining) {
            load_calls = load_calls + 1u;
            port_sleep_ticks(ticks);
        }
    }
}

/* Does the work of the load task that calls kernel services. */
static void calling(struct bench_task *self)
{
    uint32_t item = 0;

    while (!draining) {
        (void)port_semaphore_take(&let_in[2]);
        while (loading && !draining) {
            bool done;

            if ((bench_draw(&state) & 1u) != 0) {
                done = port_semaphore_give(&semaphore) && port_semaphore_take(&semaphore);
            } else {
                done = port_queue_send(&queue, &item) && port_queue_receive(&queue, &item);
            }
            self->failures += done ? 0 : 1;
            load_calls = load_calls + 1u;
        }
    }
}

/* Does the work of each task. Called for the warm-up, and again for the measured window. */
static void body(struct bench_task *self)
{
    switch (self->index) {
    case 0:
        periodic(self);
        break;
    case 3:
        calling(self);
        break;
    default:
        sleeping(self->index + 1u);
        break;
    }
}

/* Sends the benchmark's check records, after the bodies of all its tasks have returned. */
static void report(unsigned core)
{
    bench_check("load_missing", core, load_missing);
    bench_check("load_unasked", core, load_unasked);
    bench_check("load_calls", core, load_calls);
}

const struct bench_program bench_program = {
    .priority = {4, 3, 2, 1},
    .prepare = prepare,
    .body = body,
    .report = report,
};
