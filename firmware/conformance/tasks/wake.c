/* Who is woken, when, and by whom: semaphores, notifications, suspension, queues, mutexes, time-outs. */
#include "bench_scene.h"

#if KERNEL_SERVICES_SEMAPHORE
/* Waits for the semaphore and notes 2. Scene preempt_by_give notes 1 before the give, 2 in the more urgent task that
 * it wakes, and 3 after it. */
static void take_and_note_2(void)
{
    (void)port_semaphore_take(&semaphores[0]);
    note(2);
}

/* Notes 1, gives the semaphore, and notes 3. */
static void give_between_notes(void)
{
    port_sleep_ticks(LATER_TICKS);
    note(1);
    (void)port_semaphore_give(&semaphores[0]);
    note(3);
}

/* Waits for its turn, then for the semaphore, and notes a value. In scene wake_urgent three tasks wait for one
 * semaphore, the less urgent first, and each give must wake the most urgent one. In scene wake_first they are equal,
 * and each give must wake the one that came first: B, C, A. */
static void wait_and_note(uint32_t turn, uint32_t value)
{
    port_sleep_ticks(turn * LATER_TICKS);
    (void)port_semaphore_take(&semaphores[0]);
    note(value);
}

/* Waits as the least urgent of three tasks. */
static void wait_low(void)
{
    wait_and_note(1, 1);
}

/* Waits as the middle one of three tasks. */
static void wait_mid(void)
{
    wait_and_note(2, 2);
}

/* Waits as the most urgent of three tasks. */
static void wait_high(void)
{
    wait_and_note(3, 3);
}

#if KERNEL_SERVICES_EQUAL_PRIORITIES
/* Waits as the third of three equal tasks. */
static void wait_third(void)
{
    wait_and_note(3, 3);
}

/* Waits as the first of three equal tasks. */
static void wait_first(void)
{
    wait_and_note(1, 1);
}

/* Waits as the second of three equal tasks. */
static void wait_second(void)
{
    wait_and_note(2, 2);
}
#endif

/* Gives the semaphore three times. It notes 10 between one wake and the next, so that a give that wakes
 * two tasks would be seen. */
static void give_three_times(void)
{
    port_sleep_ticks(6u * LATER_TICKS);
    for (unsigned i = 0; i < 3; i++) {
        (void)port_semaphore_give(&semaphores[0]);
        port_sleep_ticks(LATER_TICKS);
        note(10);
    }
}
#endif

#if KERNEL_SERVICES_TIMEOUT
/* Waits for the semaphore with a time-out, and notes whether it was taken (1) and the ticks that it took. In scene
 * timeout_given it is given in time, so the wait ends then. */
static void take_in_time(void)
{
    uint32_t start;

    port_sleep_ticks(1);
    start = port_tick_now();
    note(port_semaphore_take_for(&semaphores[0], 10));
    note(port_tick_now() - start);
}

/* Gives the semaphore after three ticks. */
static void give_after_three(void)
{
    port_sleep_ticks(4);
    (void)port_semaphore_give(&semaphores[0]);
}
#endif

#if KERNEL_SERVICES_NOTIFY
/* Waits for a notification, and notes 2. In scene notify_order a notification to this more urgent task preempts the
 * giver (1 2 3). One to a task that does not wait yet is kept (4 5). */
static void take_notification(void)
{
    port_notify_take(worker(HIGH)->handle);
    note(2);
}

/* Takes a notification that came before, and notes it. */
static void take_late(void)
{
    port_sleep_ticks(3u * LATER_TICKS);
    port_notify_take(worker(MID_A)->handle);
    note(5);
}

/* Notifies a waiting task, and a task that does not wait yet, with notes in between. */
static void give_notifications(void)
{
    port_sleep_ticks(LATER_TICKS);
    note(1);
    port_notify_give(worker(HIGH)->handle);
    note(3);
    port_notify_give(worker(MID_A)->handle);
    note(4);
}
#endif

#if KERNEL_SERVICES_SUSPEND
/* Notes 1, suspends itself, and notes 3 when it is resumed. In scene suspend_order the other task notes 2 before the
 * resume and 4 after it, and this one runs at once. */
static void suspend_and_note(void)
{
    note(1);
    port_suspend_self(worker(HIGH)->handle);
    note(3);
}

/* Resumes the suspended task, with notes before and after. */
static void resume_between_notes(void)
{
    port_sleep_ticks(LATER_TICKS);
    note(2);
    port_resume(worker(HIGH)->handle);
    note(4);
}
#endif

#if KERNEL_SERVICES_QUEUE
#define ITEMS (2u * QUEUE_LENGTH)

/* queue_blocks: the more urgent task fills the queue and waits for room, the other takes item by item: 100 and its
 * number when one is sent (200 where there was no room and no waiting), its number when one is received. */
#define ITEMS_THAT_COME (KERNEL_SERVICES_QUEUE_SEND_WAITS ? ITEMS : QUEUE_LENGTH)

/* Sends more items than the queue has room for, and notes each. */
static void send_many(void)
{
    for (uint32_t number = 1; number <= ITEMS; number++) {
        uint32_t item[2] = {number, ~number};

        note((port_queue_send(&queue, item) ? 100u : 200u) + number);
    }
}

/* Receives the items from the queue, and notes each. */
static void receive_many(void)
{
    port_sleep_ticks(LATER_TICKS);
    for (uint32_t number = 1; number <= ITEMS_THAT_COME; number++) {
        uint32_t item[2] = {0, 0};

        (void)port_queue_receive(&queue, item);
        note(item[1] == ~item[0] ? item[0] : 0);
    }
}
#endif

#if KERNEL_SERVICES_MUTEX
/* Locks the mutex, which a more urgent task wants, computes and unlocks it. Scene mutex_inherits notes 1 when this
 * least urgent task locks, and 2 when the most urgent one begins to wait. Until 3, the unlock, the task between must
 * not run. Then the most urgent one has the mutex (4), the one between runs (5), and this one goes on (6). */
static void hold_the_mutex(void)
{
    uint32_t start = port_tick_now();

    (void)port_mutex_lock(&mutex);
    note(1);
    while (port_tick_now() - start < 4u * LATER_TICKS) {
    }
    note(3);
    (void)port_mutex_unlock(&mutex);
    note(6);
}

/* Locks the mutex that the least urgent task holds, and notes it. */
static void want_the_mutex(void)
{
    port_sleep_ticks(LATER_TICKS);
    note(2);
    (void)port_mutex_lock(&mutex);
    note(4);
    (void)port_mutex_unlock(&mutex);
}

/* Notes its run, which must come after the task that waits for the mutex. */
static void run_medium_task(void)
{
    port_sleep_ticks(2u * LATER_TICKS);
    note(5);
}
#endif

const struct scene wake_scenes[] = {
#if KERNEL_SERVICES_SEMAPHORE
    {"preempt_by_give", {give_between_notes, NULL, take_and_note_2, NULL, NULL}, NULL},
    {"wake_urgent", {wait_low, wait_mid, wait_high, NULL, NULL}, give_three_times},
#if KERNEL_SERVICES_EQUAL_PRIORITIES
    {"wake_first", {NULL, wait_third, NULL, wait_first, wait_second}, give_three_times},
#endif
#endif
#if KERNEL_SERVICES_TIMEOUT
    {"timeout_given", {give_after_three, take_in_time, NULL, NULL, NULL}, NULL},
#endif
#if KERNEL_SERVICES_NOTIFY
    {"notify_order", {give_notifications, take_late, take_notification, NULL, NULL}, NULL},
#endif
#if KERNEL_SERVICES_SUSPEND
    {"suspend_order", {resume_between_notes, NULL, suspend_and_note, NULL, NULL}, NULL},
#endif
#if KERNEL_SERVICES_QUEUE
    {"queue_blocks", {receive_many, send_many, NULL, NULL, NULL}, NULL},
#endif
#if KERNEL_SERVICES_MUTEX
    {"mutex_inherits", {hold_the_mutex, run_medium_task, want_the_mutex, NULL, NULL}, NULL},
#endif
};
const size_t wake_scene_count = sizeof wake_scenes / sizeof wake_scenes[0];
