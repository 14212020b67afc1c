/* What one task may do to another: change its priority, suspend it, make and delete it; and give up waiting for what it
 * holds. */
#include "bench_scene.h"

#if KERNEL_SERVICES_PRIORITY_GET
/* Notes, for a task, whose priority the kernel says it has: 1 for that of the least urgent task, 2 for that of a middle
 * one, and 3 for that of the most urgent one. Scene priority_figures consists of one such note for each of the
 * three. */
static void note_priority(enum part part)
{
    uint32_t own = port_priority_get(worker(part)->handle);

    static const enum part told[] = {LOW, MID_B, HIGH};

    for (uint32_t i = 0; i < 3; i++) {
        if (own == PORT_PRIORITY(part_priorities[told[i]])) {
            note(i + 1u);
        }
    }
}

/* Notes the priorities that the kernel reports of three tasks. */
static void note_priorities(void)
{
    note_priority(LOW);
    note_priority(MID_B);
    note_priority(HIGH);
}
#endif

#if KERNEL_SERVICES_PRIORITY_SET
/* priority_changes: 1 the least urgent computes, 2 the most urgent makes it more urgent still, so that it goes on at once
 * (3) until it makes itself the least urgent again: 4 the raiser, 5 the raised. */
static volatile bool raised;

/* Raises the priority of the least urgent task, with notes before and after. */
static void raise_low(void)
{
    port_sleep_ticks(LATER_TICKS);
    note(2);
    raised = true;
    port_priority_set(worker(LOW)->handle, PORT_PRIORITY(PRIORITY_RAISED));
    note(4);
    raised = false;
}

/* Computes until it is raised, and then lowers its own priority, with notes in between. */
static void be_raised(void)
{
    note(1);
    while (!raised) {
    }
    note(3);
    port_priority_set(worker(LOW)->handle, PORT_PRIORITY(PRIORITY_LOW));
    note(5);
}
#endif

#if KERNEL_SERVICES_SUSPEND_OTHER
/* suspend_another: whether the computing task gets on before, while, and after it is suspended. */
static volatile uint32_t progress;
static volatile bool enough;

/* Counts until it has done enough, so that others can see whether it runs. */
static void note_next_step(void)
{
    enough = false;
    while (!enough) {
        progress = progress + 1u;
    }
}

/* Notes whether the counting task has run for some ticks. */
static void note_progress(uint32_t before)
{
    port_sleep_ticks(LATER_TICKS);
    note(progress != before);
}

/* Notes whether the counting task runs before, while and after it is suspended. */
static void suspend_the_other(void)
{
    note_progress(progress);
    port_suspend(worker(LOW)->handle);
    note_progress(progress);
    port_resume(worker(LOW)->handle);
    note_progress(progress);
    enough = true;
}
#endif

#if KERNEL_SERVICES_DYNAMIC_TASKS && KERNEL_SERVICES_TIMEOUT
#define ROUNDS 20u
/* The smallest board has no room for more, and some kernel wants a multiple of 8. */
#define SPAWNED_STACK_BYTES (BENCH_STACK_BYTES * 5u / 8u & ~7u)

/* Notes 2 and waits for the semaphore, as the task that is created at run time. Scene dynamic_tasks notes 1 before
 * that task is created. The task is more urgent, so it runs at once (2) and waits; 3 follows. It is deleted while it
 * waits, so it does not take what is given then (1). The last note is how many of 20 tasks could be created and
 * deleted one after the other. */
static void note_2_and_wait(void *argument)
{
    (void)argument;
    note(2);
    (void)port_semaphore_take(&semaphores[0]);
    note(9);
    for (;;) {
        port_sleep_ticks(LATER_TICKS);
    }
}

/* Creates a task at run time. Returns false if the kernel could not. */
static bool spawn_task(port_task_t *task, uint8_t priority)
{
    return port_task_spawn(task, &(struct port_task_request){.name = "spawned",
                                                             .entry = note_2_and_wait,
                                                             .stack_bytes = SPAWNED_STACK_BYTES,
                                                             .priority = priority,
                                                             .core = (uint8_t)port_core()});
}

/* Creates and deletes tasks at run time, and notes what they did. */
static void make_and_delete(void)
{
    port_task_t task;
    uint32_t made = 0;

    note(1);
    if (spawn_task(&task, PRIORITY_ABOVE)) {
        note(port_stack_used_bytes(task, SPAWNED_STACK_BYTES) < SPAWNED_STACK_BYTES ? 3 : 0);
        port_task_delete(task);
    }
    (void)port_semaphore_give(&semaphores[0]);
    note(port_semaphore_take_for(&semaphores[0], 0));
    for (unsigned round = 0; round < ROUNDS; round++) {
        if (spawn_task(&task, PRIORITY_BELOW)) {
            made++;
            port_task_delete(task);
        }
    }
    note(made);
}
#endif

#if KERNEL_SERVICES_MUTEX_TIMEOUT
/* While the least urgent holds the mutex and sleeps, the most urgent waits for it in vain. The holder sleeps because, while
 * it has the waiter's priority and computes, the waiter's time is up without effect on some kernels: equals do not preempt
 * each other. It lets go of the mutex in the end, whatever happens.
 *
 * mutex_gives_up: a try (0), a wait of 3 ticks (0 3), and in the end it is got in time (1). */
#define HELD_ASLEEP_TICKS 6u
#define HELD_TICKS 20u

static volatile bool let_go_of_it;

/* Locks the mutex, sleeps, computes until it is asked to let go, and unlocks it. */
static void hold_lock_until_end(void)
{
    uint32_t start = port_tick_now();

    let_go_of_it = false;
    (void)port_mutex_lock(&mutex);
    port_sleep_ticks(HELD_ASLEEP_TICKS);
    while (!let_go_of_it && port_tick_now() - start < HELD_TICKS) {
    }
    (void)port_mutex_unlock(&mutex);
}

/* Asks the holder to let go of the mutex, and notes whether it is then locked in time. */
static void lock_in_the_end(void)
{
    let_go_of_it = true;
    note(port_mutex_lock_for(&mutex, HELD_TICKS));
    (void)port_mutex_unlock(&mutex);
}

/* Waits for the mutex in vain, without and with a time-out, and locks it in the end. Notes the results. */
static void give_up(void)
{
    uint32_t start;

    port_sleep_ticks(1);
    note(port_mutex_lock_for(&mutex, 0));
    start = port_tick_now();
    note(port_mutex_lock_for(&mutex, 3));
    note(port_tick_now() - start);
    lock_in_the_end();
}

/* Notes 5, if it runs before the task that waits for the mutex. In scene mutex_gives_back that task first waits in vain
 * (0). The holder of the mutex must then no longer have the priority that it inherited: this task preempts it (5)
 * before the waiting one has the mutex (1). */
static void run_medium_task(void)
{
    port_sleep_ticks(HELD_ASLEEP_TICKS + 2u);
    note(5);
}

/* Waits for the mutex in vain, sleeps, and locks it in the end. */
static void give_up_and_stay_away(void)
{
    port_sleep_ticks(1);
    note(port_mutex_lock_for(&mutex, 3));
    port_sleep_ticks(HELD_ASLEEP_TICKS);
    lock_in_the_end();
}
#endif

const struct scene manage_scenes[] = {
#if KERNEL_SERVICES_PRIORITY_GET
    {"priority_figures", {NULL, NULL, NULL, NULL, note_priorities}, NULL},
#endif
#if KERNEL_SERVICES_PRIORITY_SET
    {"priority_changes", {be_raised, NULL, raise_low, NULL, NULL}, NULL},
#endif
#if KERNEL_SERVICES_SUSPEND_OTHER
    {"suspend_another", {note_next_step, NULL, suspend_the_other, NULL, NULL}, NULL},
#endif
#if KERNEL_SERVICES_DYNAMIC_TASKS && KERNEL_SERVICES_TIMEOUT
    {"dynamic_tasks", {make_and_delete, NULL, NULL, NULL, NULL}, NULL},
#endif
#if KERNEL_SERVICES_MUTEX_TIMEOUT
    {"mutex_gives_up", {hold_lock_until_end, NULL, give_up, NULL, NULL}, NULL},
    {"mutex_gives_back", {hold_lock_until_end, run_medium_task, give_up_and_stay_away, NULL, NULL}, NULL},
#endif
    {NULL, {NULL, NULL, NULL, NULL, NULL}, NULL}, /* a kernel may have none of these services */
};
const size_t manage_scene_count = sizeof manage_scenes / sizeof manage_scenes[0] - 1u;
