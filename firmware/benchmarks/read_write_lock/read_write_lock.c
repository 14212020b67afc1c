/* Read-write locks: calls that nobody waits for, and the way of a lock from readers to a writer and back.
 *
 * Starts the clock   before the call.
 * Ends the clock     behind the call, or behind the call of the task that the switch leads to.
 * Inside by design   the calls and the switches. In the interval of a lock that waits also the end of the give that the switch
 *                    comes back to.
 * Excluded           creating the objects, waking the more urgent task by a semaphore, testing results.
 *
 * Steps, by task 1 and the more urgent task 0, which waits for the semaphore between them:
 *     1 task 1 locks and unlocks a free lock for reading, 2 and for writing
 *     3 task 1 has a read lock and wakes task 0, which gets a second one and returns it
 *     4 task 0 locks for writing and waits for the reader, task 1; 5 that one unlocks, and task 0 has the lock
 *     6 task 1 locks for writing and wakes task 0, which locks for reading and waits; 7 task 1 unlocks, and task 0 has it */
#include "bench/latency.h"
#include "bench/rwlock.h"

static port_rwlock_t lock;
static port_semaphore_t wake;
static volatile bool draining; /* the wake that follows is the last one */

/* Prepares a task of the benchmark, once, on the task's own core. Returns false if that fails. */
static bool prepare(struct bench_task *self)
{
    return self->index != 0 || (port_rwlock_create(&lock) && port_semaphore_create(&wake, 1, 0));
}

/* Counts a failure if not all calls succeeded. */
static void count_failure(struct bench_task *self, bool done)
{
    self->failures += done ? 0 : 1;
}

/* Does the work of the more urgent task. */
static void urgent(struct bench_task *self)
{
    for (;;) {
        bool done, locked;

        count_failure(self, port_semaphore_take(&wake));
        if (draining) {
            break;
        }
        bench_start(SERIES_RWLOCK_READ_LOCK_SHARED); /* 3 */
        locked = port_rwlock_read_lock(&lock);
        bench_stop(SERIES_RWLOCK_READ_LOCK_SHARED);
        done = port_rwlock_read_unlock(&lock) && locked;
        done = port_semaphore_take(&wake) && done;
        bench_start(SERIES_RWLOCK_WRITE_LOCK_BLOCK); /* 4 */
        locked = port_rwlock_write_lock(&lock);
        bench_stop(SERIES_RWLOCK_READ_UNLOCK_PREEMPT); /* 5 */
        done = port_rwlock_write_unlock(&lock) && locked && done;
        done = port_semaphore_take(&wake) && done;
        bench_start(SERIES_RWLOCK_READ_LOCK_BLOCK); /* 6 */
        locked = port_rwlock_read_lock(&lock);
        bench_stop(SERIES_RWLOCK_WRITE_UNLOCK_PREEMPT); /* 7 */
        done = port_rwlock_read_unlock(&lock) && locked && done;
        count_failure(self, done);
        bench_count(self);
    }
}

/* Measures the calls on a free lock. */
static void use_free_lock(struct bench_task *self)
{
    bool read_locked, read_unlocked, write_locked, write_unlocked;

    bench_start(SERIES_RWLOCK_READ_LOCK_FREE); /* 1 */
    read_locked = port_rwlock_read_lock(&lock);
    bench_stop(SERIES_RWLOCK_READ_LOCK_FREE);
    bench_start(SERIES_RWLOCK_READ_UNLOCK_NO_WAITER);
    read_unlocked = port_rwlock_read_unlock(&lock);
    bench_stop(SERIES_RWLOCK_READ_UNLOCK_NO_WAITER);
    bench_start(SERIES_RWLOCK_WRITE_LOCK_FREE); /* 2 */
    write_locked = port_rwlock_write_lock(&lock);
    bench_stop(SERIES_RWLOCK_WRITE_LOCK_FREE);
    bench_start(SERIES_RWLOCK_WRITE_UNLOCK_NO_WAITER);
    write_unlocked = port_rwlock_write_unlock(&lock);
    bench_stop(SERIES_RWLOCK_WRITE_UNLOCK_NO_WAITER);
    count_failure(self, read_locked && read_unlocked && write_locked && write_unlocked);
}

/* Measures how the lock passes to the more urgent task, and wakes that task for it. */
static void pass_lock(struct bench_task *self)
{
    bool done, unlocked;

    done = port_rwlock_read_lock(&lock);
    done = port_semaphore_give(&wake) && done; /* 3 */
    done = port_semaphore_give(&wake) && done; /* 4 */
    bench_stop(SERIES_RWLOCK_WRITE_LOCK_BLOCK);
    bench_start(SERIES_RWLOCK_READ_UNLOCK_PREEMPT); /* 5 */
    unlocked = port_rwlock_read_unlock(&lock);
    done = port_rwlock_write_lock(&lock) && unlocked && done;
    done = port_semaphore_give(&wake) && done; /* 6 */
    bench_stop(SERIES_RWLOCK_READ_LOCK_BLOCK);
    bench_start(SERIES_RWLOCK_WRITE_UNLOCK_PREEMPT); /* 7 */
    unlocked = port_rwlock_write_unlock(&lock);
    count_failure(self, unlocked && done);
}

/* Does the work of each task. Called for the warm-up, and again for the measured window. */
static void body(struct bench_task *self)
{
    if (self->index == 0) {
        urgent(self);
        return;
    }
    while (bench_running()) {
        use_free_lock(self);
        pass_lock(self);
        bench_count(self);
    }
    draining = true;
    count_failure(self, port_semaphore_give(&wake));
    draining = false;
}

const struct bench_program bench_program = {
    .priority = {2, 1},
    .prepare = prepare,
    .body = body,
};
