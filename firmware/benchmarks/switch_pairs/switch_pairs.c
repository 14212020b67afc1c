/* Context switches: four periodic tasks of different priorities, which work so long that every one of them is preempted
 * by, and followed by, every other and the idle task.
 *
 * Starts the clock   the switch's exception is taken: its handler's first cycle.
 * Ends the clock     the handler returns.
 * Inside by design   saving one context, choosing the most urgent ready task, restoring the other context.
 * Excluded           what asked for the switch: a task that sleeps, or the tick that releases one. The exception's entry.
 *
 * Steps, by every task: 1 sleep until the period begins, 2 work, 3 count. */
#include "bench/bench.h"

static const uint32_t periods_ms[BENCH_TASKS_PER_CORE] = {BENCH_PARAM_PERIOD_0_MS, BENCH_PARAM_PERIOD_1_MS,
                                                          BENCH_PARAM_PERIOD_2_MS, BENCH_PARAM_PERIOD_3_MS};
static const uint32_t work_us[BENCH_TASKS_PER_CORE] = {BENCH_PARAM_WORK_0_US, BENCH_PARAM_WORK_1_US, BENCH_PARAM_WORK_2_US,
                                                       BENCH_PARAM_WORK_3_US};

_Static_assert(PORT_TICK_HZ == 1000, "the periods are told in milliseconds and kept in ticks");

#define CALIBRATION_ROUNDS 20000u

static uint32_t base_tick;
static uint32_t rounds_per_ms;

/* Spins for `rounds` rounds of a loop. The instructions and their place are the same for any optimisation and any
 * caller, so the time of a round depends on core and memory alone; `prepare` measures it. The function is naked:
 * after a prologue the loop would lie across two lines of flash, and the time of a round without a cache would
 * depend on how it is entered. */
static __attribute__((noinline, noclone, naked, aligned(32))) void work(uint32_t rounds __attribute__((unused)))
{
    __asm volatile(".syntax unified\n1:\n\tsubs r0, #1\n\tbne 1b\n\tbx lr");
}

/* Stores the tick from which the tasks' periods are counted, once the bodies may run. */
static void release(unsigned core)
{
    (void)core;
    base_tick = port_tick_now();
}

/* Measures the rounds of `work` in a millisecond. Returns false if that fails. Only task 0 does this: the other tasks
 * have not run yet, so nothing but the tick disturbs it. */
static bool prepare(struct bench_task *self)
{
    uint64_t start, ticks;

    if (self->index != 0) {
        return true;
    }
    start = board_timer_ticks();
    work(CALIBRATION_ROUNDS);
    ticks = board_timer_ticks() - start;
    rounds_per_ms = (uint32_t)((uint64_t)CALIBRATION_ROUNDS * BOARD_TIMER_HZ / 1000u / ticks);
    return ticks > 0 && rounds_per_ms > 0;
}

/* Does the work of each task. Called for the warm-up, and again for the measured window. */
static void body(struct bench_task *self)
{
    uint32_t period = periods_ms[self->index];
    uint32_t rounds = (uint32_t)((uint64_t)rounds_per_ms * work_us[self->index] / 1000u);
    uint32_t next = base_tick;

    while (bench_running()) {
        next += period;
        port_sleep_ticks(next - port_tick_now()); /* 1 */
        work(rounds);                             /* 2 */
        bench_count(self);                        /* 3 */
    }
}

/* Sends the benchmark's check records, after the bodies of all its tasks have returned. */
static void report(unsigned core)
{
    bench_check("base_tick", core, base_tick);
    bench_check("rounds_per_ms", core, rounds_per_ms);
}

const struct bench_program bench_program = {
    .priority = {5, 4, 3, 2},
    .prepare = prepare,
    .release = release,
    .body = body,
    .report = report,
};
