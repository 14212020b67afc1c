/* Deadlock break: how long the most urgent task is stopped by a less urgent one that holds what it needs (Rhealstone).
 *
 * Starts the clock   inheritance: before the most urgent task locks the mutex that the least urgent holds, while one
 *                    between the two is ready. try: before the least urgent one finds out that waiting would close a
 *                    cycle.
 * Ends the clock     the most urgent task has what it needs.
 * Inside by design   inheritance: the lock that waits, the switch to the holder, its way out of the call in which it was
 *                    preempted, its unlock, the switch back. try: the try that fails, the unlock of the other mutex, the
 *                    switch.
 * Excluded           the time for which the holder needs the mutex: none here, as in Rhealstone's difference.
 *
 * Task 0 is the most urgent, task 1 between, task 2 the least urgent. A round, across all three:
 *     1 task 2 locks the first mutex and wakes task 1, which wakes task 0
 *     2 task 0 locks the first mutex, waits; task 2 has inherited, so not task 1 goes on but
 *     3 task 2, which unlocks  -> 4 task 0 has it              deadlock.break.inheritance
 *     5 task 0 unlocks and waits to be woken, task 1 goes on and waits, then task 2 does
 *     6 task 2 locks the second mutex and wakes task 0, which locks the first and wants the second: it waits
 *     7 task 2 tries the first, in vain, and lets go of the second -> 8 task 0 has both   deadlock.break.try
 *     9 task 0 unlocks both and waits to be woken, and again.
 * At the end of a phase task 2 wakes both others behind the flag `draining`, and they leave. */
#include "bench/latency.h"

static port_mutex_t first, second;
static port_semaphore_t wake_urgent, wake_between;
static volatile bool draining;
static volatile bool urgent_waits;

/* Reported as checks: times task 1 went on while task 0 waited, and tries that should have failed. */
static uint32_t inversions, tries_that_got_it;

/* Prepares a task of the benchmark, once, on the task's own core. Returns false if that fails. */
static bool prepare(struct bench_task *self)
{
    return self->index != 0 || (port_mutex_create(&first) && port_mutex_create(&second) &&
                                port_semaphore_create(&wake_urgent, 1, 0) &&
                                port_semaphore_create(&wake_between, 1, 0));
}

/* Counts a failure if a call did not succeed. */
static void must(struct bench_task *self, bool done)
{
    self->failures += done ? 0 : 1;
}

/* Does the work of the most urgent task, which locks the first mutex while the holder has it. */
static void urgent(struct bench_task *self)
{
    for (;;) {
        must(self, port_semaphore_take(&wake_urgent));
        if (draining) {
            return;
        }
        urgent_waits = true;
        bench_start(SERIES_DEADLOCK_BREAK_INHERITANCE); /* 2 */
        must(self, port_mutex_lock(&first));
        bench_stop(SERIES_DEADLOCK_BREAK_INHERITANCE); /* 4 */
        urgent_waits = false;
        must(self, port_mutex_unlock(&first)); /* 5 */
        must(self, port_semaphore_take(&wake_urgent));
        must(self, port_mutex_lock(&first)); /* 6 */
        must(self, port_mutex_lock(&second));
        bench_stop(SERIES_DEADLOCK_BREAK_TRY); /* 8 */
        must(self, port_mutex_unlock(&second)); /* 9 */
        must(self, port_mutex_unlock(&first));
    }
}

/* Does the work of the task of medium priority, which would delay the holder without inheritance. */
static void between(struct bench_task *self)
{
    for (;;) {
        must(self, port_semaphore_take(&wake_between));
        if (draining) {
            return;
        }
        must(self, port_semaphore_give(&wake_urgent));
        inversions += urgent_waits ? 1 : 0;
    }
}

/* Does the work of the least urgent task, which holds what the most urgent one needs. */
static void holder(struct bench_task *self)
{
    while (bench_running()) {
        must(self, port_mutex_lock(&first)); /* 1 */
        must(self, port_semaphore_give(&wake_between));
        must(self, port_mutex_unlock(&first));  /* 3 */
        must(self, port_mutex_lock(&second));   /* 6 */
        must(self, port_semaphore_give(&wake_urgent));
        bench_start(SERIES_DEADLOCK_BREAK_TRY); /* 7 */
        if (port_mutex_lock_for(&first, 0)) {
            tries_that_got_it++;
        }
        must(self, port_mutex_unlock(&second));
        bench_count(self);
    }
    draining = true;
    must(self, port_semaphore_give(&wake_urgent));
    must(self, port_semaphore_give(&wake_between));
    draining = false;
}

/* Does the work of each task. Called for the warm-up, and again for the measured window. */
static void body(struct bench_task *self)
{
    static void (*const parts[BENCH_TASKS_PER_CORE])(struct bench_task *) = {urgent, between, holder};

    parts[self->index](self);
}

/* Sends the benchmark's check records, after the bodies of all its tasks have returned. */
static void report(unsigned core)
{
    bench_check("inversions", core, inversions);
    bench_check("tries_that_got_it", core, tries_that_got_it);
}

const struct bench_program bench_program = {
    .priority = {3, 2, 1},
    .prepare = prepare,
    .body = body,
    .report = report,
};
