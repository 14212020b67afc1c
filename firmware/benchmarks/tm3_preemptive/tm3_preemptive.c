/* TM3, preemptive scheduling by suspend and resume, as Thread-Metric does it: five priorities per core, a chain of
 * resumptions of which each one preempts its caller. T3 is the same chain by notifications.
 *
 * Starts the clock   the window opens while all tasks wait at the gate.
 * Ends the clock     the window closes, wherever the chain is.
 * Inside by design   per round: four resumptions that preempt the caller at once, four suspensions, five counts, and the
 *                    return down the chain; after each resumption one comparison that the preemption took place; the run
 *                    flag, the tick.
 * Excluded           making the tasks. The four more urgent tasks leave the gate first and suspend themselves; only then
 *                    does task 0 run.
 *
 * Steps of a round (a higher number is more urgent):
 *   1 task 0 counts          2 task 0 resumes task 1 and is preempted by it
 *   3 task 1 counts          4 task 1 resumes task 2 and is preempted by it
 *   5 task 2 counts          6 task 2 resumes task 3 and is preempted by it
 *   7 task 3 counts          8 task 3 resumes task 4 and is preempted by it
 *   9 task 4 counts and suspends itself
 *  10 tasks 3, 2, 1 return from their resumption in this order and suspend themselves
 *  11 task 0 returns from its resumption: the round is over
 * The end of a phase travels up the same chain, behind the flag `draining`, so that only whole rounds are counted. */
#include "bench/bench.h"

#define LAST (BENCH_TASKS_PER_CORE - 1u)

static volatile bool draining[BENCH_CORES];

/* Reported as check: resumptions after which the more urgent task had not yet run. */
static volatile uint32_t not_preempted[BENCH_CORES];

/* Prepares a task of the benchmark, once, on the task's own core. Returns false if that fails. */
static bool prepare(struct bench_task *self)
{
    (void)self;
    return true;
}

/* Counts a pass, resumes the more urgent task, and checks that it ran at once. It did if both counts are equal: it has
 * then counted this very round before its caller ran on. */
static inline void count_and_resume(struct bench_task *self, struct bench_task *above)
{
    bench_count(self);          /* 1, 3, 5, 7 */
    port_resume(above->handle); /* 2, 4, 6, 8 */
    if (above->count != self->count) {
        not_preempted[self->core]++;
    }
}

/* Does the work of the least urgent task, which begins each round. */
static void lowest(struct bench_task *self)
{
    struct bench_task *above = bench_task(self->core, 1);

    draining[self->core] = false;
    while (bench_running()) {
        count_and_resume(self, above);
    }
    draining[self->core] = true;
    port_resume(above->handle);
}

/* Does the work of a task between, which resumes the next more urgent one. */
static void middle(struct bench_task *self)
{
    struct bench_task *above = bench_task(self->core, self->index + 1u);

    for (;;) {
        port_suspend_self(self->handle); /* 10 */
        if (draining[self->core]) {
            port_resume(above->handle);
            return;
        }
        count_and_resume(self, above);
    }
}

/* Does the work of the most urgent task, which ends the chain. */
static void highest(struct bench_task *self)
{
    for (;;) {
        port_suspend_self(self->handle);
        if (draining[self->core]) {
            return;
        }
        bench_count(self); /* 9 */
    }
}

/* Does the work of each task. Called for the warm-up, and again for the measured window. */
static void body(struct bench_task *self)
{
    if (self->index == 0) {
        lowest(self);
    } else if (self->index < LAST) {
        middle(self);
    } else {
        highest(self);
    }
}

/* Sends the benchmark's check records, after the bodies of all its tasks have returned. */
static void report(unsigned core)
{
    bench_check("not_preempted", core, not_preempted[core]);
}

const struct bench_program bench_program = {
    .priority = {0, 1, 2, 3, 4},
    .prepare = prepare,
    .body = body,
    .report = report,
};
