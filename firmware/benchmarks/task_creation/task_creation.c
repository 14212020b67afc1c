/* Task creation: a task made and deleted while the kernel runs.
 *
 * Starts the clock   before the call that makes or deletes.
 * Ends the clock     behind it; "preempt": at the first statement of the new task, which is more urgent than its maker.
 * Inside by design   the memory for stack and control block taken and given back, the stack's first frame, the lists;
 *                    preempt: also the switch and the way to the new task's first statement.
 * Excluded           what the tasks do; the request, which is a constant.
 *
 * Steps, by task 0: 1 make a less urgent task, 2 delete it before it has run, 3 make a more urgent one, which runs at once
 * (4) and waits for what nobody gives, 5 delete it while it waits, and again. */
#include "bench/latency.h"

#define OWN_PRIORITY 2

static port_semaphore_t never;

/* Reported as checks: what is left of the children that ran, and of those that should not have. */
static uint32_t urgent_runs, idle_runs, rounds;

/* Blocks the calling task on a semaphore that nobody gives. */
static void wait_for_ever(void)
{
    for (;;) {
        (void)port_semaphore_take(&never);
    }
}

/* Runs as the created task that is more urgent than its creator. */
static void urgent_entry(void *argument)
{
    bench_stop(SERIES_TASK_CREATE_PREEMPT); /* 4 */
    (void)argument;
    urgent_runs++;
    wait_for_ever();
}

/* Runs as the created task that is less urgent than its creator, which must not happen. */
static void idle_entry(void *argument)
{
    (void)argument;
    idle_runs++;
    wait_for_ever();
}

/* Core 0: latencies are measured on one core. */
static const struct port_task_request urgent_request = {
    .name = "urgent", .entry = urgent_entry, .stack_bytes = BENCH_STACK_BYTES, .priority = OWN_PRIORITY + 1};
static const struct port_task_request idle_request = {
    .name = "idle", .entry = idle_entry, .stack_bytes = BENCH_STACK_BYTES, .priority = OWN_PRIORITY - 1};

/* Prepares a task of the benchmark, once, on the task's own core. Returns false if that fails. */
static bool prepare(struct bench_task *self)
{
    (void)self;
    return port_semaphore_create(&never, 1, 0);
}

/* Does the work of each task. Called for the warm-up, and again for the measured window. */
static void body(struct bench_task *self)
{
    while (bench_running()) {
        port_task_t child;
        bool made;

        bench_start(SERIES_TASK_CREATE_LESS_URGENT); /* 1 */
        made = port_task_spawn(&child, &idle_request);
        bench_stop(SERIES_TASK_CREATE_LESS_URGENT);
        if (!made) {
            bench_error(ERROR_TASK_CREATE, "a task could not be made");
        }
        bench_start(SERIES_TASK_DELETE_READY); /* 2 */
        port_task_delete(child);
        bench_stop(SERIES_TASK_DELETE_READY);
        bench_start(SERIES_TASK_CREATE_PREEMPT); /* 3 */
        made = port_task_spawn(&child, &urgent_request);
        if (!made) {
            bench_error(ERROR_TASK_CREATE, "a task could not be made");
        }
        bench_start(SERIES_TASK_DELETE_WAITING); /* 5 */
        port_task_delete(child);
        bench_stop(SERIES_TASK_DELETE_WAITING);
        rounds++;
        bench_count(self);
    }
}

/* Sends the benchmark's check records, after the bodies of all its tasks have returned. */
static void report(unsigned core)
{
    bench_check("less_urgent_ran", core, idle_runs);
    bench_check("rounds", core, rounds);
    bench_check("more_urgent_ran", core, urgent_runs);
}

const struct bench_program bench_program = {
    .priority = {OWN_PRIORITY},
    .prepare = prepare,
    .body = body,
    .report = report,
};
