/* The life of a task: it is started, runs, ends, and another task waits for its end.
 *
 * Starts the clock   before the start or the wait, or at the task's last statement.
 * Ends the clock     behind the call, or at the new task's first statement.
 * Inside by design   the calls, the memory that a start takes and a join gives back, the switches, the way to the new task's
 *                    function, and the end of that task after its last statement.
 * Excluded           testing the results, the loop.
 *
 * Steps: 1 task 0 starts a more urgent task, which runs at once and ends; 2 task 0 joins it; 3 task 0 starts a less urgent
 * task, which stays ready; 4 task 0 joins it, so it runs; 5 it ends, and task 0 continues. */
#include "bench/latency.h"
#include "bench/task_join.h"

#define OWN_PRIORITY 2

static port_task_join_t urgent_task, slow_task;

/* Reported as checks. */
static uint32_t rounds, urgent_runs, slow_runs;

/* Runs as the more urgent task. */
static void run_urgent(void)
{
    bench_stop(SERIES_TASK_START_PREEMPT); /* 1 */
    urgent_runs++;
}

/* Runs as the less urgent task. */
static void run_slow(void)
{
    bench_stop(SERIES_TASK_JOIN_BLOCK); /* 4 */
    slow_runs++;
    bench_start(SERIES_TASK_END_JOINED); /* 5 */
}

/* Prepares a task of the benchmark, once, on the task's own core. Returns false if that fails. */
static bool prepare(struct bench_task *self)
{
    (void)self;
    return port_task_join_prepare(&urgent_task, run_urgent, OWN_PRIORITY + 1) &&
           port_task_join_prepare(&slow_task, run_slow, OWN_PRIORITY - 1);
}

/* Does the work of each task. Called for the warm-up, and again for the measured window. */
static void body(struct bench_task *self)
{
    while (bench_running()) {
        bool started, joined, slow_started, slow_joined;

        bench_start(SERIES_TASK_START_PREEMPT); /* 1 */
        started = port_task_join_start(&urgent_task);
        bench_start(SERIES_TASK_JOIN_ENDED); /* 2 */
        joined = port_task_join_wait(&urgent_task);
        bench_stop(SERIES_TASK_JOIN_ENDED);
        bench_start(SERIES_TASK_START_LESS_URGENT); /* 3 */
        slow_started = port_task_join_start(&slow_task);
        bench_stop(SERIES_TASK_START_LESS_URGENT);
        bench_start(SERIES_TASK_JOIN_BLOCK); /* 4 */
        slow_joined = port_task_join_wait(&slow_task);
        bench_stop(SERIES_TASK_END_JOINED); /* 5 */
        self->failures += started && joined && slow_started && slow_joined ? 0 : 1;
        rounds++;
        bench_count(self);
    }
}

/* Sends the benchmark's check records, after the bodies of all its tasks have returned. */
static void report(unsigned core)
{
    bench_check("rounds", core, rounds);
    bench_check("urgent_runs", core, urgent_runs);
    bench_check("slow_runs", core, slow_runs);
}

const struct bench_program bench_program = {
    .priority = {OWN_PRIORITY},
    .prepare = prepare,
    .body = body,
    .report = report,
};
