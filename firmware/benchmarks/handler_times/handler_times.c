/* Handler times from inside: four periodic tasks of one priority make the kernel tick, release and choose; its own trace
 * points are the ends of the intervals.
 *
 * Starts the clock   the kernel's handler calls the first of two trace points.
 * Ends the clock     it calls the second one.
 * Inside by design   the handler's work between the two: of the tick, counting it and releasing tasks; of a switch,
 *                    choosing the next task.
 * Excluded           entering and leaving the handlers, the trace points' own calls, contexts saved and restored.
 *
 * Steps, by every task: 1 sleep until the period begins, 2 count. */
#include "bench/latency.h"

static const uint32_t periods_ms[BENCH_TASKS_PER_CORE] = {BENCH_PARAM_PERIOD_0_MS, BENCH_PARAM_PERIOD_1_MS,
                                                          BENCH_PARAM_PERIOD_2_MS, BENCH_PARAM_PERIOD_3_MS};

_Static_assert(PORT_TICK_HZ == 1000, "the periods are told in milliseconds and kept in ticks");

static uint32_t base_tick;

/* Starts the measurement of the tick. The kernel calls it at the begin of the tick's handler. */
void port_hook_tick_begin(void)
{
    bench_start(SERIES_TICK_BODY);
}

/* Ends the measurement of the tick. The kernel calls it at the end of the tick's handler. */
void port_hook_tick_end(void)
{
    bench_stop(SERIES_TICK_BODY);
}

/* Starts the measurement of a choice. The kernel calls it before it chooses the next task. */
void port_hook_choice_begin(void)
{
    bench_start(SERIES_CHOICE_BODY);
}

/* Ends the measurement of a choice. The kernel calls it when it has chosen the next task. */
void port_hook_choice_end(void)
{
    bench_stop(SERIES_CHOICE_BODY);
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
    uint32_t next = base_tick;

    while (bench_running()) {
        next += period;
        port_sleep_ticks(next - port_tick_now()); /* 1 */
        bench_count(self);                        /* 2 */
    }
}

const struct bench_program bench_program = {
    .priority = {1, 1, 1, 1},
    .prepare = prepare,
    .release = release,
    .body = body,
};
