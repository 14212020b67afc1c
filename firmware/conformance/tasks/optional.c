/* Scenes for several tasks with optional services: broadcasts, read-write locks, events of one task, signals, joins,
 * binary semaphores. */
#include "bench_scene.h"

#if KERNEL_SERVICES_CONDITION && SUITE_HAS_CONDITION_BROADCAST
#include "bench/condition_broadcast.h"

/* condition_broadcasts: two more urgent tasks wait for a condition. The other has the mutex (1) and broadcasts (2). Both
 * go on behind its unlock, each with the mutex (3, 4), before the other does (5). */
static volatile bool all_may_go;

/* Waits for the condition, and notes a value with the mutex held. */
static void wait_for_broadcast(uint32_t value)
{
    (void)port_mutex_lock(&mutex);
    while (!all_may_go) {
        port_condition_wait(&condition, &mutex);
    }
    note(value);
    (void)port_mutex_unlock(&mutex);
}

/* Waits for the condition as the more urgent of two tasks. */
static void wait_for_broadcast_high(void)
{
    wait_for_broadcast(3);
}

/* Waits for the condition as the less urgent of two tasks. */
static void wait_for_broadcast_mid(void)
{
    wait_for_broadcast(4);
}

/* Broadcasts to the condition while it has the mutex, with notes before and after. */
static void broadcast_between_notes(void)
{
    port_sleep_ticks(LATER_TICKS);
    (void)port_mutex_lock(&mutex);
    note(1);
    all_may_go = true;
    port_condition_broadcast(&condition);
    note(2);
    (void)port_mutex_unlock(&mutex);
    note(5);
    all_may_go = false;
}
#endif

#if SUITE_HAS_RWLOCK
#include "bench/rwlock.h"

/* rwlock_shares: two readers have the lock at once (1, 2). A writer waits for both, the last of which (4) comes later than
 * the first (3), and has it (5). Two readers wait for the writer (6), and have it then (7, 8). */
static port_rwlock_t lock;

/* Creates the lock, once. Every part calls it, and the first of them creates the lock. */
static void make_lock(void)
{
    static volatile bool made;

    if (!made && !port_rwlock_create(&lock)) {
        last_words_error(ERROR_PREPARE, "a read-write lock of the conformance suite");
    }
    made = true;
}

/* Reads as the first reader, and again while the writer has the lock. */
static void read_first(void)
{
    make_lock();
    (void)port_rwlock_read_lock(&lock);
    note(1);
    port_sleep_ticks(3u * LATER_TICKS);
    note(3);
    (void)port_rwlock_read_unlock(&lock);
    port_sleep_ticks(3u * LATER_TICKS);
    (void)port_rwlock_read_lock(&lock);
    note(8);
    (void)port_rwlock_read_unlock(&lock);
}

/* Reads beside the first reader, and again while the writer has the lock. */
static void read_second(void)
{
    make_lock();
    port_sleep_ticks(LATER_TICKS);
    (void)port_rwlock_read_lock(&lock);
    note(2);
    port_sleep_ticks(4u * LATER_TICKS);
    note(4);
    (void)port_rwlock_read_unlock(&lock);
    (void)port_rwlock_read_lock(&lock);
    note(7);
    (void)port_rwlock_read_unlock(&lock);
}

/* Writes after both readers have left. */
static void write_after_readers(void)
{
    make_lock();
    port_sleep_ticks(2u * LATER_TICKS);
    (void)port_rwlock_write_lock(&lock);
    note(5);
    port_sleep_ticks(4u * LATER_TICKS);
    note(6);
    (void)port_rwlock_write_unlock(&lock);
}

/* Writes first (1, 2), in scene rwlock_excludes. There a second writer waits for the first and has the lock then (3, 4),
 * and a reader waits for the second writer (5). */
static void write_first(void)
{
    make_lock();
    (void)port_rwlock_write_lock(&lock);
    note(1);
    port_sleep_ticks(2u * LATER_TICKS);
    note(2);
    (void)port_rwlock_write_unlock(&lock);
}

/* Writes as soon as the first writer has left. */
static void write_second(void)
{
    make_lock();
    port_sleep_ticks(LATER_TICKS);
    (void)port_rwlock_write_lock(&lock);
    note(3);
    port_sleep_ticks(2u * LATER_TICKS);
    note(4);
    (void)port_rwlock_write_unlock(&lock);
}

/* Reads as soon as the second writer has left. */
static void read_after_writers(void)
{
    make_lock();
    port_sleep_ticks(3u * LATER_TICKS);
    (void)port_rwlock_read_lock(&lock);
    note(5);
    (void)port_rwlock_read_unlock(&lock);
}
#endif

#if SUITE_HAS_TASK_EVENTS
#include "bench/task_events.h"

/* task_events_wake notes 100 and the flags that a wait returned. A set wakes the waiting task at once (1, 102, 3). Flags
 * that were set before the wait are all returned (109), and are cleared: the next wait lasts until the next set (4, 116, 5). */
static void wait_for_flags(void)
{
    port_task_t self = worker(HIGH)->handle;

    note(100u + port_task_events_wait(self));
    port_sleep_ticks(2u * LATER_TICKS);
    note(100u + port_task_events_wait(self));
    note(100u + port_task_events_wait(self));
}

/* Sets flags of the more urgent task, with notes in between. */
static void set_flags_between_notes(void)
{
    port_task_t waiting = worker(HIGH)->handle;

    port_sleep_ticks(LATER_TICKS);
    note(1);
    port_task_events_set(waiting, 2u);
    note(3);
    port_task_events_set(waiting, 1u);
    port_task_events_set(waiting, 8u);
    port_sleep_ticks(4u * LATER_TICKS);
    note(4);
    port_task_events_set(waiting, 16u);
    note(5);
}

/* Notes 2 and sets a flag of the more urgent task, in the handler of scene isr_sets_task_events. */
static void set_flag_in_handler(void)
{
    note(2);
    port_task_events_set_from_isr(worker(HIGH)->handle, 32u);
}

/* Waits for a flag, and notes 3 if it came. */
static void wait_for_flag_of_handler(void)
{
    note(port_task_events_wait(worker(HIGH)->handle) == 32u ? 3 : 0);
}

/* Pends the interrupt whose handler sets a flag. */
static void pend_to_set_flag(void)
{
    pend_and_note(set_flag_in_handler);
}
#endif

#if SUITE_HAS_SIGNAL
#include "bench/signal.h"

/* signals_arrive: the more urgent task waits for a signal and has it (1, 2, 3). It waits again, until the next signal
 * (4, 5, 6). A signal that comes before the wait ends the wait at once (7), and the next wait lasts until the next one (8, 9). */

/* Waits for four signals. */
static void wait_for_signals(void)
{
    if (!port_signal_prepare()) {
        last_words_error(ERROR_PREPARE, "a signal of the conformance suite");
    }
    note(port_signal_wait() ? 2 : 0);
    note(port_signal_wait() ? 5 : 0);
    port_sleep_ticks(2u * LATER_TICKS);
    note(port_signal_wait() ? 7 : 0);
    note(port_signal_wait() ? 9 : 0);
}

/* Signals the more urgent task, with notes in between. */
static void signal_between_notes(void)
{
    port_task_t waiting = worker(HIGH)->handle;

    port_sleep_ticks(LATER_TICKS);
    note(1);
    (void)port_signal_send(waiting);
    note(3);
    note(4);
    (void)port_signal_send(waiting);
    note(6);
    (void)port_signal_send(waiting);
    port_sleep_ticks(4u * LATER_TICKS);
    note(8);
    (void)port_signal_send(waiting);
}
#endif

#if SUITE_HAS_TASK_JOIN
#include "bench/task_join.h"

/* task_joins: a more urgent task runs as soon as it is started (1, 2, 3), and a wait for it returns at once (4). A less
 * urgent one runs when its starter waits for it (5, 6, 7). */
static port_task_join_t short_lived, slow;

/* Notes 2, as the more urgent task. */
static void note_2_and_end(void)
{
    note(2);
}

/* Notes 6, as the less urgent task. */
static void note_6_and_end(void)
{
    note(6);
}

/* Starts both tasks, one after the other, and waits for the end of each. */
static void start_and_join(void)
{
    if (!(port_task_join_prepare(&short_lived, note_2_and_end, PRIORITY_RAISED) &&
          port_task_join_prepare(&slow, note_6_and_end, PRIORITY_BELOW))) {
        last_words_error(ERROR_PREPARE, "a short-lived task of the conformance suite");
    }
    note(1);
    (void)port_task_join_start(&short_lived);
    note(3);
    (void)port_task_join_wait(&short_lived);
    note(4);
    (void)port_task_join_start(&slow);
    note(5);
    (void)port_task_join_wait(&slow);
    note(7);
}
#endif

#if SUITE_HAS_BINARY_SEMAPHORE
#include "bench/binary_semaphore.h"

/* binary_semaphore_fills: two gives (1) fill the semaphore once. The first take ends at once (2), the second at the third
 * give (3, 4, 5). */
static port_binary_semaphore_t binary;

/* Creates the semaphore and gives it twice, and once more later. */
static void give_thrice(void)
{
    if (!port_binary_semaphore_create(&binary)) {
        last_words_error(ERROR_PREPARE, "a binary semaphore of the conformance suite");
    }
    (void)port_binary_semaphore_give(&binary);
    (void)port_binary_semaphore_give(&binary);
    note(1);
    port_sleep_ticks(3u * LATER_TICKS);
    note(3);
    (void)port_binary_semaphore_give(&binary);
    note(5);
}

/* Takes the semaphore twice, after the first two gives. */
static void take_twice(void)
{
    port_sleep_ticks(LATER_TICKS);
    (void)port_binary_semaphore_take(&binary);
    note(2);
    (void)port_binary_semaphore_take(&binary);
    note(4);
}
#endif

const struct scene optional_scenes[] = {
#if KERNEL_SERVICES_CONDITION && SUITE_HAS_CONDITION_BROADCAST
    {"condition_broadcasts", {broadcast_between_notes, wait_for_broadcast_mid, wait_for_broadcast_high, NULL, NULL}, NULL},
#endif
#if SUITE_HAS_RWLOCK
    {"rwlock_shares", {read_first, read_second, write_after_readers, NULL, NULL}, NULL},
    {"rwlock_excludes", {read_after_writers, write_second, write_first, NULL, NULL}, NULL},
#endif
#if SUITE_HAS_TASK_EVENTS
    {"task_events_wake", {set_flags_between_notes, NULL, wait_for_flags, NULL, NULL}, NULL},
    {"isr_sets_task_events", {pend_to_set_flag, NULL, wait_for_flag_of_handler, NULL, NULL}, NULL},
#endif
#if SUITE_HAS_SIGNAL
    {"signals_arrive", {signal_between_notes, NULL, wait_for_signals, NULL, NULL}, NULL},
#endif
#if SUITE_HAS_TASK_JOIN
    {"task_joins", {NULL, start_and_join, NULL, NULL, NULL}, NULL},
#endif
#if SUITE_HAS_BINARY_SEMAPHORE
    {"binary_semaphore_fills", {give_thrice, NULL, take_twice, NULL, NULL}, NULL},
#endif
    {NULL, {NULL, NULL, NULL, NULL, NULL}, NULL}, /* a kernel may have none of these services */
};
const size_t optional_scene_count = sizeof optional_scenes / sizeof optional_scenes[0] - 1u;
