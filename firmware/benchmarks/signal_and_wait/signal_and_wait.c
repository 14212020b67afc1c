/* Signal and wait: event, semaphore and mailbox in four scenarios, one operation behind each tick.
 *
 * Starts the clock   before the call.
 * Ends the clock     1 preempt: the more urgent task is back from its wait. 2 block: the less urgent task, which spins,
 *                    sees that it runs. 3 no_waiter, 4 available: the call has returned.
 * Inside by design   the call, and in 1 and 2 the switch; in 2 up to one round of the spinning loop, as in the paper.
 * Excluded           making the objects, sleeping until the tick, what brings the object back to its state; with the
 *                    parameter `drift` a wait behind the tick, which is longer in each round (bench/drift.h).
 *
 * Task 0 is the more urgent one. For each object in turn, across both tasks:
 *     1 task 0 waits; task 1 sleeps to the next tick and signals     -> task 0 is back        preempt
 *     2 task 0 sleeps to the next tick, task 1 spins; task 0 waits   -> task 1 sees it        block
 *       task 1 signals, so task 0 goes on
 *     3 task 0 sleeps to the next tick and signals; nobody waits                              no_waiter
 *     4 task 0 sleeps to the next tick and waits for what is there                            available
 * The wait of scenario 2 lasts for ever here, and task 1 ends it; a wait that ends by its time-out, as in the paper's
 * listings, is the benchmark timed_wait. A kernel without events or mailboxes has the others' rounds alone. */
#include "bench/drift.h"
#include "bench/latency.h"

#define AWAITED_BIT 1u

enum step { STEP_NONE, STEP_WAITS, STEP_BLOCKS, STEP_LEAVES };

#if BENCH_NEEDS_EVENT
static port_event_t event;
#endif
static port_semaphore_t semaphore;
#if BENCH_NEEDS_MAILBOX
static port_mailbox_t mailbox;
#endif

/* What task 0 is about to do, for task 1; written by both, never at the same time. */
static volatile enum step step;

/* Reported as check: times task 0 went on from a wait that nobody had answered. */
static uint32_t unanswered;
static volatile uint32_t answers;

/* How far behind its tick an operation begins; moved on by task 0. */
static volatile uint32_t drift;

/* Prepares a task of the benchmark, once, on the task's own core. Returns false if that fails. */
static bool prepare(struct bench_task *self)
{
    bool made = true;

    if (self->index != 0) {
        return true;
    }
#if BENCH_NEEDS_EVENT
    made = port_event_create(&event);
#endif
    made = made && port_semaphore_create(&semaphore, 1, 0);
#if BENCH_NEEDS_MAILBOX
    made = made && port_mailbox_create(&mailbox);
#endif
    return made;
}

#if BENCH_NEEDS_EVENT
/* Sets the awaited bit of the event. Returns whether that succeeded. */
static inline bool event_signal(void)
{
    port_event_set(&event, AWAITED_BIT);
    return true;
}

/* Waits for the awaited bit of the event. Returns whether it came. */
static inline bool event_wait(void)
{
    return (port_event_wait_any(&event, AWAITED_BIT) & AWAITED_BIT) != 0;
}
#endif

/* Gives the semaphore. Returns whether that succeeded. */
static inline bool semaphore_signal(void)
{
    return port_semaphore_give(&semaphore);
}

/* Takes the semaphore. Returns whether that succeeded. */
static inline bool semaphore_wait(void)
{
    return port_semaphore_take(&semaphore);
}

#if BENCH_NEEDS_MAILBOX
/* Sends a message to the mailbox. Returns whether that succeeded. */
static inline bool mailbox_signal(void)
{
    return port_mailbox_send(&mailbox, &mailbox);
}

/* Receives from the mailbox. Returns whether the right message came. */
static inline bool mailbox_wait(void)
{
    void *letter = NULL;

    return port_mailbox_receive(&mailbox, &letter) && letter == &mailbox;
}
#endif

/* Waits until the scenario has reached a step. */
static void spin_until(enum step wanted)
{
    while (step != wanted) {
    }
}

/* Task 0's part and task 1's for one object; the calls stand in line. */
#define SCENARIOS(object, PREEMPT, BLOCK, NO_WAITER, AVAILABLE)       \
    static void object##_urgent(struct bench_task *self)              \
    {                                                                 \
        uint32_t before = answers;                                    \
        bool done;                                                    \
                                                                      \
        step = STEP_WAITS;                                            \
        done = object##_wait();                                       \
        bench_stop(PREEMPT); /* 1 */                                  \
        port_sleep_ticks(1);                                          \
        step = STEP_BLOCKS;                                           \
        bench_drift(drift);                                           \
        bench_start(BLOCK); /* 2 */                                   \
        done = object##_wait() && done;                               \
        unanswered += answers == before + 2u ? 0 : 1;                 \
        port_sleep_ticks(1);                                          \
        bench_drift(drift);                                           \
        bench_start(NO_WAITER); /* 3 */                               \
        done = object##_signal() && done;                             \
        bench_stop(NO_WAITER);                                        \
        port_sleep_ticks(1);                                          \
        bench_drift(drift);                                           \
        bench_start(AVAILABLE); /* 4 */                               \
        done = object##_wait() && done;                               \
        bench_stop(AVAILABLE);                                        \
        self->failures += done ? 0 : 1;                               \
    }                                                                 \
                                                                      \
    static void object##_spinning(struct bench_task *self)            \
    {                                                                 \
        bool done;                                                    \
                                                                      \
        step = STEP_NONE;                                             \
        port_sleep_ticks(1);                                          \
        answers = answers + 1u;                                       \
        bench_drift(drift);                                           \
        bench_start(PREEMPT); /* 1 */                                 \
        done = object##_signal();                                     \
        spin_until(STEP_BLOCKS);                                      \
        bench_stop(BLOCK); /* 2 */                                    \
        answers = answers + 1u;                                       \
        step = STEP_NONE;                                             \
        done = object##_signal() && done;                             \
        self->failures += done ? 0 : 1;                               \
    }

#if BENCH_NEEDS_EVENT
SCENARIOS(event, SERIES_EVENT_SET_PREEMPT, SERIES_EVENT_WAIT_BLOCK, SERIES_EVENT_SET_NO_WAITER,
          SERIES_EVENT_WAIT_AVAILABLE)
#endif
SCENARIOS(semaphore, SERIES_SEMAPHORE_GIVE_PREEMPT, SERIES_SEMAPHORE_TAKE_BLOCK, SERIES_SEMAPHORE_GIVE_NO_WAITER,
          SERIES_SEMAPHORE_TAKE_AVAILABLE)
#if BENCH_NEEDS_MAILBOX
SCENARIOS(mailbox, SERIES_MAILBOX_SEND_PREEMPT, SERIES_MAILBOX_RECEIVE_BLOCK, SERIES_MAILBOX_SEND_NO_WAITER,
          SERIES_MAILBOX_RECEIVE_AVAILABLE)
#endif

/* Does the work of the more urgent task, which waits and signals. */
static void urgent(struct bench_task *self)
{
    while (bench_running()) {
#if BENCH_NEEDS_EVENT
        event_urgent(self);
#endif
        semaphore_urgent(self);
#if BENCH_NEEDS_MAILBOX
        mailbox_urgent(self);
#endif
        bench_drift_on(&drift);
        bench_count(self);
    }
    step = STEP_LEAVES;
}

/* Waits until task 0 waits for an object, or leaves. Returns false if task 0 leaves, because the phase ends. */
static bool awaited(void)
{
    while (step != STEP_WAITS && step != STEP_LEAVES) {
    }
    return step == STEP_WAITS;
}

/* Does the work of the less urgent task, which spins meanwhile. */
static void spinning(struct bench_task *self)
{
    while (awaited()) {
#if BENCH_NEEDS_EVENT
        event_spinning(self);
        (void)awaited();
#endif
        semaphore_spinning(self);
#if BENCH_NEEDS_MAILBOX
        (void)awaited();
        mailbox_spinning(self);
#endif
    }
    step = STEP_NONE;
}

/* Does the work of each task. Called for the warm-up, and again for the measured window. */
static void body(struct bench_task *self)
{
    if (self->index == 0) {
        urgent(self);
    } else {
        spinning(self);
    }
}

/* Sends the benchmark's check records, after the bodies of all its tasks have returned. */
static void report(unsigned core)
{
    bench_check("unanswered", core, unanswered);
}

const struct bench_program bench_program = {
    .priority = {2, 1},
    .prepare = prepare,
    .body = body,
    .report = report,
};
