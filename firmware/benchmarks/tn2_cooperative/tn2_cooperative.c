/* TN2, cooperative scheduling of a number of tasks: T2 with as many tasks on each core as the parameter `tasks` says.
 *
 * Starts the clock   the window opens while all tasks wait at the gate.
 * Ends the clock     the window closes, whichever task runs.
 * Inside by design   one yield that switches to the next of the equal tasks, the run flag, the count, the tick.
 * Excluded           making the tasks. No task ever blocks inside the window.
 *
 * Steps, for all tasks in turn: 1 task i counts, 2 task i yields, and the kernel goes on with task i+1, after the last
 * with the first. A task that leaves last yields to nobody: the others have already gone to the gate. */
#include "bench/bench.h"

_Static_assert(BENCH_TASKS_PER_CORE >= 2, "tasks take turns: parameter tasks is 2 or more");

/* Prepares a task of the benchmark, once, on the task's own core. False if that fails. */
static bool prepare(struct bench_task *self)
{
    (void)self;
    return true;
}

/* The work of each task: called for the warm-up, and again for the measured window. */
static void body(struct bench_task *self)
{
    while (bench_running()) {
        bench_count(self); /* 1 */
        port_yield();      /* 2 */
    }
}

/* Round robin gives every task the same number of turns; a window cuts the last round anywhere, so one apart is even. */
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
    .priority = {[0 ... BENCH_TASKS_PER_CORE - 1] = 1},
    .prepare = prepare,
    .body = body,
    .report = report,
};
