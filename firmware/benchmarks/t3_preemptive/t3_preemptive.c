/* T3, preemptive scheduling: five priorities per core, a chain of notifications of which each one preempts its giver.
 *
 * Starts the clock   the window opens; the control task then releases task 0 by a notification.
 * Ends the clock     the window closes, wherever the chain is.
 * Inside by design   per round: four gives that preempt the giver at once, four takes that block, five counts, and the
 *                    return down the chain; after each give one comparison that the preemption took place; the run
 *                    flag, the tick.
 * Excluded           making the tasks; the release of task 0.
 *
 * The paper gives the chain upwards and says that the timer task releases its first member; it leaves open what starts
 * the next round. Here, as in Thread-Metric, the lowest task does: when everything above it has blocked again it simply
 * goes on to its next round.
 *
 * Steps of a round (a higher number is more urgent):
 *   1 task 0 counts          2 task 0 notifies task 1 and is preempted by it
 *   3 task 1 counts          4 task 1 notifies task 2 and is preempted by it
 *   5 task 2 counts          6 task 2 notifies task 3 and is preempted by it
 *   7 task 3 counts          8 task 3 notifies task 4 and is preempted by it
 *   9 task 4 counts, waits again and blocks
 *  10 tasks 3, 2, 1 return from their give in this order, wait again and block
 *  11 task 0 returns from its give: the round is over
 * With pinned=0 the task above may run on another core while its giver goes on; each giver then waits, computing, until
 * the task above has counted this round too, so that no give is lost and a chain is at most one round apart from task to
 * task.
 * The end of a phase travels up the same chain, behind the flag `draining`, so that only whole rounds are counted and
 * no notification is left over. With pinned=0 each task has a flag of its own: the one above may still have the last
 * round's notification before it, which it must count. */
#include "bench/bench.h"

#define LAST (BENCH_TASKS_PER_CORE - 1u)

#if BENCH_ANY_CORE
static volatile bool draining[BENCH_CORES][BENCH_TASKS_PER_CORE];

/* Reported as check: gives after which the more urgent task had not yet counted: it runs on another core. */
static volatile uint32_t beside[BENCH_CORES];
#else
static volatile bool draining[BENCH_CORES];

/* Reported as check: gives after which the more urgent task had not yet run. */
static volatile uint32_t not_preempted[BENCH_CORES];
#endif

/* Sets the flag by which the next more urgent task knows that the phase ends. */
static inline void tell_end(struct bench_task *self)
{
#if BENCH_ANY_CORE
    draining[self->core][self->index + 1u] = true;
#else
    draining[self->core] = true;
#endif
}

/* Returns whether the phase ends. Called once for each notification, because a task's own flag is cleared by it. */
static inline bool is_told_end(struct bench_task *self)
{
#if BENCH_ANY_CORE
    bool told = draining[self->core][self->index];

    draining[self->core][self->index] = false; /* for the next phase */
    return told;
#else
    return draining[self->core];
#endif
}

/* Prepares a task of the benchmark, once, on the task's own core. Returns false if that fails. */
static bool prepare(struct bench_task *self)
{
    (void)self;
    return true;
}

/* Counts a pass, notifies the more urgent task, and checks that it ran at once. It did if both counts are equal: it has
 * then counted this very round before the giver ran on. */
static inline void count_and_notify(struct bench_task *self, struct bench_task *above)
{
    bench_count(self);              /* 1, 3, 5, 7 */
    port_notify_give(above->handle); /* 2, 4, 6, 8 */
#if BENCH_ANY_CORE
    if (above->count != self->count) {
        beside[self->core]++;
        while (above->count != self->count) { /* a give before that would be lost */
        }
    }
#else
    if (above->count != self->count) {
        not_preempted[self->core]++;
    }
#endif
}

/* Does the work of the least urgent task, which begins each round of notifications. */
static void lowest(struct bench_task *self)
{
    struct bench_task *above = bench_task(self->core, 1);

#if !BENCH_ANY_CORE
    draining[self->core] = false;
#endif
    port_notify_take(self->handle); /* the control task's release */
    while (bench_running()) {
        count_and_notify(self, above);
    }
    tell_end(self);
    port_notify_give(above->handle);
}

/* Does the work of a task between, which passes the notification on. */
static void middle(struct bench_task *self)
{
    struct bench_task *above = bench_task(self->core, self->index + 1u);

    for (;;) {
        port_notify_take(self->handle); /* 10 */
        if (is_told_end(self)) {
#if BENCH_ANY_CORE
            tell_end(self);
#endif
            port_notify_give(above->handle);
            return;
        }
        count_and_notify(self, above);
    }
}

/* Does the work of the most urgent task, which ends the chain of notifications. */
static void highest(struct bench_task *self)
{
    for (;;) {
        port_notify_take(self->handle);
        if (is_told_end(self)) {
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

/* Notifies task 0 of a core once the bodies may run, which starts the chain. */
static void release(unsigned core)
{
    port_notify_give(bench_task(core, 0)->handle);
}

/* Sends the benchmark's check records, after the bodies of all its tasks have returned. */
static void report(unsigned core)
{
#if BENCH_ANY_CORE
    bench_check("beside", core, beside[core]);
#else
    bench_check("not_preempted", core, not_preempted[core]);
#endif
}

const struct bench_program bench_program = {
    .priority = {0, 1, 2, 3, 4},
    .prepare = prepare,
    .body = body,
    .release = release,
    .report = report,
};
