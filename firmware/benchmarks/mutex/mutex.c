/* Mutex: lock and unlock, free and with priority inheritance.
 *
 * Starts the clock   before the lock or unlock.
 * Ends the clock     free: behind the call. contended: the holder, which has inherited, is back from what it did.
 *                    hand over: the waiter is back from its lock, with the mutex.
 * Inside by design   free: the call alone. contended: the lock that finds it held, lending the priority, the switch, the
 *                    holder's way out of the give that woke the other. hand over: the unlock, giving the priority back,
 *                    waking the waiter, the switch, the waiter's way out of its lock.
 * Excluded           making the objects, waking the tasks, testing results.
 *
 * Task 0 is the most urgent, task 1 stands between, task 2 holds the mutex. A round, across all three:
 *     1 task 2 locks the free mutex, and wakes task 0   lock free
 *     2 task 0 locks, waits   -> 3 task 2 is back       lock contended
 *     4 task 2 makes task 1 ready, which must not run: task 2 has inherited
 *     5 task 2 unlocks        -> 6 task 0 has it        unlock hand over
 *     7 task 0 unlocks, nobody waits                    unlock free
 *     8 task 0 waits to be woken, task 1 runs, then task 2, and again.
 * At the end of a phase task 2 wakes both others behind the flag `draining`, and they leave. */
#include "bench/latency.h"

static port_mutex_t mutex;
static port_semaphore_t wake_urgent, wake_between;
static volatile bool draining;
static volatile uint32_t runs_between; /* of task 1 */

/* Reported as checks: times task 1 ran while task 2 held what task 0 waited for, and times it did not run after. */
static uint32_t inversions, missed;

/* Prepares a task of the benchmark, once, on the task's own core. Returns false if that fails. */
static bool prepare(struct bench_task *self)
{
    return self->index != 0 || (port_mutex_create(&mutex) && port_semaphore_create(&wake_urgent, 1, 0) &&
                                port_semaphore_create(&wake_between, 1, 0));
}

/* Does the work of the most urgent task, which locks the mutex while the holder has it. */
static void urgent(struct bench_task *self)
{
    for (;;) {
        bool locked, unlocked;

        self->failures += port_semaphore_take(&wake_urgent) ? 0 : 1; /* 8 */
        if (draining) {
            return;
        }
        bench_start(SERIES_MUTEX_LOCK_CONTENDED); /* 2 */
        locked = port_mutex_lock(&mutex);
        bench_stop(SERIES_MUTEX_UNLOCK_HAND_OVER);  /* 6 */
        bench_start(SERIES_MUTEX_UNLOCK_NO_WAITER); /* 7 */
        unlocked = port_mutex_unlock(&mutex);
        bench_stop(SERIES_MUTEX_UNLOCK_NO_WAITER);
        self->failures += locked && unlocked ? 0 : 1;
    }
}

/* Does the work of the task of medium priority, which must not run while the mutex is contended. */
static void between(struct bench_task *self)
{
    for (;;) {
        self->failures += port_semaphore_take(&wake_between) ? 0 : 1;
        if (draining) {
            return;
        }
        runs_between = runs_between + 1u;
    }
}

/* Does the work of the least urgent task, which locks the mutex first. */
static void holder(struct bench_task *self)
{
    while (bench_running()) {
        uint32_t before = runs_between;
        bool locked, unlocked;

        bench_start(SERIES_MUTEX_LOCK_FREE); /* 1 */
        locked = port_mutex_lock(&mutex);
        bench_stop(SERIES_MUTEX_LOCK_FREE);
        (void)port_semaphore_give(&wake_urgent);
        bench_stop(SERIES_MUTEX_LOCK_CONTENDED);  /* 3 */
        (void)port_semaphore_give(&wake_between); /* 4 */
        inversions += runs_between - before;
        bench_start(SERIES_MUTEX_UNLOCK_HAND_OVER); /* 5 */
        unlocked = port_mutex_unlock(&mutex);
        self->failures += locked && unlocked ? 0 : 1;
        missed += runs_between == before + 1u ? 0 : 1;
        bench_count(self);
    }
    draining = true;
    (void)port_semaphore_give(&wake_urgent);
    (void)port_semaphore_give(&wake_between);
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
    bench_check("missed", core, missed);
}

const struct bench_program bench_program = {
    .priority = {3, 2, 1},
    .prepare = prepare,
    .body = body,
    .report = report,
};
