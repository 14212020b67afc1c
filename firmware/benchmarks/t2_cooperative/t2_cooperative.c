/* T2, cooperative scheduling: five tasks of one priority per core hand the processor round with yield.
 *
 * Starts the clock   the window opens while all five wait at the gate.
 * Ends the clock     the window closes, whichever task runs.
 * Inside by design   one yield that switches to the next of five equal tasks, the run flag, the count, the tick.
 * Excluded           making the tasks. No task ever blocks inside the window.
 *
 * Steps, for tasks 0 to 4 in turn: 1 task i counts, 2 task i yields, and the kernel goes on with task i+1, after the
 * last with the first. A task that leaves last yields to nobody: the others have already gone to the gate. */
#include "bench/bench.h"

/* Prepares a task of the benchmark, once, on the task's own core. Returns false if that fails. */
static bool prepare(struct bench_task *self)
{
    (void)self;
    return true;
}

/* Does the work of each task. Called for the warm-up, and again for the measured window. */
static void body(struct bench_task *self)
{
    while (bench_running()) {
        bench_count(self); /* 1 */
        port_yield();      /* 2 */
    }
}

/* Sends the difference between the largest and the smallest count of the core's tasks. With round robin it is at most
 * 1, because the window may cut the last round anywhere. */
static void report(unsigned core)
{
    uint32_t least = UINT32_MAX, most = 0;

    for (unsigned index = 0; index < BENCH_TASKS_PER_CORE; index++) {
        uint32_t count = bench_window_count(core, index);

        least = count < least ? count : least;
        most = count > most ? count : most;
    }
    bench_check("spread", core, most - least);
}

const struct bench_program bench_program = {
    .priority = {1, 1, 1, 1, 1},
    .prepare = prepare,
    .body = body,
    .report = report,
};
