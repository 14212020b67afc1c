/* Tick by pins: the kernel's own trace points call functions that raise and drop a pin, as who has nothing but a logic
 * analyser does it; ten periodic tasks of one priority, as in tick_handler, which times the same handler without any of it.
 *
 * Starts the clock   the tick's handler calls the first of two trace points.
 * Ends the clock     it calls the second one.
 * Inside by design   counting the tick, moving each task whose period begins to the ready ones; of the instrument the way out
 *                    of the first call and into the second one, which the analyser's times hold, too.
 * Excluded           entering and leaving the handler, the tasks.
 *
 * Steps, by every task: 1 sleep until the period begins, 2 count. The run begins phase_ms into the pattern of all periods. */
#include "bench/latency.h"

static const uint32_t periods_ms[BENCH_TASKS_PER_CORE] = {
    BENCH_PARAM_PERIOD_0_MS, BENCH_PARAM_PERIOD_1_MS, BENCH_PARAM_PERIOD_2_MS, BENCH_PARAM_PERIOD_3_MS, BENCH_PARAM_PERIOD_4_MS,
    BENCH_PARAM_PERIOD_5_MS, BENCH_PARAM_PERIOD_6_MS, BENCH_PARAM_PERIOD_7_MS, BENCH_PARAM_PERIOD_8_MS, BENCH_PARAM_PERIOD_9_MS};

_Static_assert(PORT_TICK_HZ == 1000, "the periods are told in milliseconds and kept in ticks");

static uint32_t base_tick; /* the window's first; phase_ms into the pattern */

/* Starts the measurement of the tick, which raises the pin. The kernel calls it at the begin of the tick's handler. */
void port_hook_tick_begin(void)
{
    bench_start(SERIES_TICK_BODY);
}

/* Ends the measurement of the tick, which drops the pin. The kernel calls it at the end of the tick's handler. */
void port_hook_tick_end(void)
{
    bench_stop(SERIES_TICK_BODY);
}

/* Does nothing. The kernel calls it before it chooses the next task. */
void port_hook_choice_begin(void)
{
}

/* Does nothing. The kernel calls it when it has chosen the next task. */
void port_hook_choice_end(void)
{
}

/* Prepares a task of the benchmark, once, on the task's own core. Returns false if that fails. */
static bool prepare(struct bench_task *self)
{
    (void)self;
    return true;
}

/* Stores the tick from which the tasks' periods are counted, once the bodies may run. */
static void release(unsigned core)
{
    (void)core;
    base_tick = port_tick_now();
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
