/* Task control: a task suspends, resumes and re-prioritises another.
 *
 * Starts the clock   before the call.
 * Ends the clock     without a switch: behind the call. preempt: the other, more urgent task is back from the call that
 *                    had stopped it. self, lower: the other task is back from the call that had let this one run.
 * Inside by design   the call; with a switch also the switch and the other task's way out of its call.
 * Excluded           everything between the steps.
 *
 * Task 0 is the most urgent and suspends itself; task 1 is in charge; task 2 is the least urgent and always ready. A round:
 *     1 task 1 suspends task 2, 2 resumes it                    both without a switch
 *     3 task 1 asks for the priority of task 2                  (it stays as it was)
 *     4 task 1 lowers task 2 by one, 5 and raises it again      both without a switch, the first is sampled
 *     6 task 1 resumes task 0       -> 7 task 0 is back         resume preempt
 *     8 task 0 suspends itself      -> 9 task 1 is back         suspend self
 *    10 task 1 raises task 2 over itself -> 11 task 2 is back   priority preempt
 *    12 task 2 lowers itself again  -> 13 task 1 is back        priority lower
 * Each phase begins with 10 and 12 unmeasured, which brings task 2 from the gate to its place. */
#include "bench/latency.h"

#define LEAST PORT_PRIORITY(0)
#define LOW PORT_PRIORITY(1)
#define RAISED PORT_PRIORITY(3)

static volatile bool draining;
static volatile uint32_t urgent_runs, low_runs;

/* Reported as checks: runs of the others that should have happened and did not, or the other way; wrong priorities told. */
static uint32_t misplaced, wrong_priorities;

/* Prepares a task of the benchmark, once, on the task's own core. Returns false if that fails. */
static bool prepare(struct bench_task *self)
{
    (void)self;
    return true;
}

/* Does the work of the more urgent task, which suspends itself until it is resumed. */
static void urgent(struct bench_task *self)
{
    port_suspend_self(self->handle);
    while (!draining) {
        bench_stop(SERIES_TASK_RESUME_PREEMPT); /* 7 */
        urgent_runs = urgent_runs + 1u;
        bench_start(SERIES_TASK_SUSPEND_SELF); /* 8 */
        port_suspend_self(self->handle);
    }
}

/* Does the work of the less urgent task, which lowers its own priority after each rise. */
static void low(struct bench_task *self)
{
    port_priority_set(self->handle, LOW);
    while (!draining) {
        bench_stop(SERIES_TASK_PRIORITY_PREEMPT); /* 11 */
        low_runs = low_runs + 1u;
        bench_start(SERIES_TASK_PRIORITY_LOWER); /* 12 */
        port_priority_set(self->handle, LOW);
    }
}

/* Measures the calls that cause no switch. */
static void without_switch(port_task_t other)
{
    uint32_t told;

    bench_start(SERIES_TASK_SUSPEND_OTHER); /* 1 */
    port_suspend(other);
    bench_stop(SERIES_TASK_SUSPEND_OTHER);
    bench_start(SERIES_TASK_RESUME_LESS_URGENT); /* 2 */
    port_resume(other);
    bench_stop(SERIES_TASK_RESUME_LESS_URGENT);
    bench_start(SERIES_TASK_PRIORITY_GET); /* 3 */
    told = port_priority_get(other);
    bench_stop(SERIES_TASK_PRIORITY_GET);
    wrong_priorities += told == LOW ? 0 : 1;
    bench_start(SERIES_TASK_PRIORITY_SET); /* 4 */
    port_priority_set(other, LEAST);
    bench_stop(SERIES_TASK_PRIORITY_SET);
    wrong_priorities += port_priority_get(other) == LEAST ? 0 : 1;
    port_priority_set(other, LOW); /* 5 */
}

/* Measures the calls that cause a switch. */
static void with_switch(port_task_t above, port_task_t below)
{
    bench_start(SERIES_TASK_RESUME_PREEMPT); /* 6 */
    port_resume(above);
    bench_stop(SERIES_TASK_SUSPEND_SELF);      /* 9 */
    bench_start(SERIES_TASK_PRIORITY_PREEMPT); /* 10 */
    port_priority_set(below, RAISED);
    bench_stop(SERIES_TASK_PRIORITY_LOWER); /* 13 */
}

/* Does the work of the task between, which controls the other two. */
static void in_charge(struct bench_task *self)
{
    port_task_t above = bench_task(self->core, 0)->handle;
    port_task_t below = bench_task(self->core, 2)->handle;

    port_priority_set(below, RAISED);
    while (bench_running()) {
        uint32_t urgent_before = urgent_runs, low_before = low_runs;

        without_switch(below);
        misplaced += urgent_runs == urgent_before && low_runs == low_before ? 0 : 1;
        with_switch(above, below);
        misplaced += urgent_runs == urgent_before + 1u && low_runs == low_before + 1u ? 0 : 1;
        bench_count(self);
    }
    draining = true;
    port_resume(above);
    port_priority_set(below, RAISED);
    draining = false;
}

/* Does the work of each task. Called for the warm-up, and again for the measured window. */
static void body(struct bench_task *self)
{
    static void (*const parts[BENCH_TASKS_PER_CORE])(struct bench_task *) = {urgent, in_charge, low};

    parts[self->index](self);
    if (self->index == 2) {
        port_priority_set(self->handle, LOW);
    }
}

/* Sends the benchmark's check records, after the bodies of all its tasks have returned. */
static void report(unsigned core)
{
    bench_check("misplaced", core, misplaced);
    bench_check("wrong_priorities", core, wrong_priorities);
}

const struct bench_program bench_program = {
    .priority = {4, 2, 1},
    .prepare = prepare,
    .body = body,
    .report = report,
};
