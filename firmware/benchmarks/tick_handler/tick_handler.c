/* Tick handler: ten periodic tasks of one priority, released by the tick whenever a period begins.
 *
 * Starts the clock   the tick's exception is taken: its handler's first cycle.
 * Ends the clock     the handler returns.
 * Inside by design   counting the tick, moving each task whose period begins from the delayed tasks to the ready ones.
 * Excluded           the tasks: each only counts its release and sleeps again. The exception's entry, before the handler.
 *
 * Steps, by every task: 1 sleep until the period begins, 2 count. The run begins phase_ms into the pattern of all periods,
 * so that a short window can hold the instant at which they all begin together. */
#include "bench/bench.h"

static const uint32_t periods_ms[BENCH_TASKS_PER_CORE] = {
    BENCH_PARAM_PERIOD_0_MS, BENCH_PARAM_PERIOD_1_MS, BENCH_PARAM_PERIOD_2_MS, BENCH_PARAM_PERIOD_3_MS, BENCH_PARAM_PERIOD_4_MS,
    BENCH_PARAM_PERIOD_5_MS, BENCH_PARAM_PERIOD_6_MS, BENCH_PARAM_PERIOD_7_MS, BENCH_PARAM_PERIOD_8_MS, BENCH_PARAM_PERIOD_9_MS};

_Static_assert(PORT_TICK_HZ == 1000, "the periods are told in milliseconds and kept in ticks");

static uint32_t base_tick; /* the window's first; phase_ms into the pattern */

/* Stores the tick from which the tasks' periods are counted, once the bodies may run. */
static void release(unsigned core)
{
    (void)core;
    base_tick = port_tick_now();
}

/* Prepares a task of the benchmark, once, on the task's own core. Returns false if that fails. */
static bool prepare(struct bench_task *self)
{
    (void)self;
    return true;
}

/* Does the work of each task. Called for the warm-up, and again for the measured window. */
static void body(struct bench_task *self)
{
    uint32_t period = periods_ms[self->index];
    uint32_t next = base_tick + period - BENCH_PARAM_PHASE_MS % period;

    while (bench_running()) {
        port_sleep_ticks(next - port_tick_now()); /* 1 */
        next += period;
        bench_count(self); /* 2 */
    }
}

/* Sends the benchmark's check records, after the bodies of all its tasks have returned. */
static void report(unsigned core)
{
    bench_check("base_tick", core, base_tick);
}

const struct bench_program bench_program = {
    .priority = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
    .prepare = prepare,
    .release = release,
    .body = body,
    .report = report,
};
