/* The run of a benchmark without a kernel: the body is a plain call from main, and the tick's handler ends it.
 *
 * Warm-up and window begin right behind a tick and end in the handler of the last one, so that both last a whole number
 * of ticks. The handler is the control task's stand-in: it stops the clock first and the body second. A body that is
 * through earlier (it has its samples) closes the window itself, and the handler comes too late. */
#include "../bench_run.h"

_Static_assert(BENCH_CORES == 1 && BENCH_TASKS_PER_CORE == 1, "without tasks there is one flow of control");
DEMAND_A_TICK(BENCH_WARMUP_MS);
DEMAND_A_TICK(BENCH_WINDOW_MS);

/* Ends the running body. */
static void stop(void)
{
    bench_run = 0;
}

/* Closes the measured window, and ends the running body. */
static void close_and_stop(void)
{
    if (bench_window_state == 1) {
        window_close();
    }
    stop();
}

/* Waits until the tick counter changes. */
static void wait_for_a_tick(void)
{
    uint32_t now = port_tick_now();

    while (port_tick_now() == now) {
    }
}

/* Waits for a tick, and starts a period of `ms` in which the body may run. At its end the tick's handler calls `end`. */
static void release(uint32_t ms, void (*end)(void))
{
    bench_run = 1;
    wait_for_a_tick();
    port_alarm(TICKS_OF_MS(ms), end);
}

/* Runs the benchmark without a kernel: warm-up, measured window, records. */
noreturn void run_program(void)
{
    struct bench_task *task = bench_task(0, 0);

    measure_prepare();
    ruler_measure(0);
    port_start();
    task->priority = bench_program.priority[0];
    if (!bench_program.prepare(task)) {
        last_words_error(ERROR_PREPARE, "the only task");
    }
    release(BENCH_WARMUP_MS, stop);
    bench_program.body(task);
    release(BENCH_WINDOW_MS, close_and_stop);
    window_open();
    measure_opened();
    bench_program.body(task);
    if (bench_window_state == 1) {
        window_close();
    }
    report_task(&(struct task_facts){.name = "main", .priority = task->priority});
    ruler_report();
    window_report();
    measure_report();
    report_checks();
    report_heap();
    run_finish();
}
