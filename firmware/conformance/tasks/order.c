/* Who runs first: by priority, by the order of getting ready, by yield, by time slice; and when who was held up goes on. */
#include "bench_scene.h"

#define SLICE_SCENE_TICKS 7u

/* Notes 1, as the least urgent task. In scene priority_order one tick wakes all five tasks, and each notes its
 * urgency. */
static void note_low(void)
{
    note(1);
}

/* Notes 2, as one of three equal tasks. */
static void note_mid(void)
{
    note(2);
}

/* Notes 3, as the most urgent task. */
static void note_high(void)
{
    note(3);
}

#if KERNEL_SERVICES_SEMAPHORE && KERNEL_SERVICES_EQUAL_PRIORITIES
/* Wakes the three equal tasks from the more urgent one, B first, C, then A, without giving the core away in between. */
static void let_go(void)
{
    port_sleep_ticks(LATER_TICKS);
    (void)port_semaphore_give(&semaphores[1]);
    (void)port_semaphore_give(&semaphores[2]);
    (void)port_semaphore_give(&semaphores[0]);
}

/* Waits until this task is let go. */
static void wait_for_go(unsigned index)
{
    (void)port_semaphore_take(&semaphores[index]);
}

/* Notes 1 when task A runs, in scene ready_order. */
static void ready_a(void)
{
    wait_for_go(0);
    note(1);
}

/* Notes 2 when task B runs. */
static void ready_b(void)
{
    wait_for_go(1);
    note(2);
}

/* Notes 3 when task C runs. */
static void ready_c(void)
{
    wait_for_go(2);
    note(3);
}

#if KERNEL_SERVICES_YIELD
/* Notes its number and yields, three times, in scene yield_order. */
static void yielding(unsigned index)
{
    wait_for_go(index);
    for (unsigned round = 0; round < 3; round++) {
        note(index + 1u);
        port_yield();
    }
}

/* Yields as task A. */
static void yield_a(void)
{
    yielding(0);
}

/* Yields as task B. */
static void yield_b(void)
{
    yielding(1);
}

/* Yields as task C. */
static void yield_c(void)
{
    yielding(2);
}
#endif

/* time_slice: two equal tasks want the core until the same tick; each notes when it finds that the other ran last. */
static volatile uint32_t ran_last, slice_end_tick;

/* Sleeps until the scene is over. Nobody else may wake meanwhile: some kernels hand the core to the next equal whenever
 * a more urgent task has run. */
static void stay_away(void)
{
    port_sleep_ticks(LATER_TICKS + SLICE_SCENE_TICKS + 2u);
}

/* Wakes two equal tasks that compute until the same tick. */
static void let_two_go(void)
{
    port_sleep_ticks(LATER_TICKS);
    ran_last = 0;
    slice_end_tick = port_tick_now() + SLICE_SCENE_TICKS;
    (void)port_semaphore_give(&semaphores[0]);
    (void)port_semaphore_give(&semaphores[1]);
    stay_away();
}

/* Computes until the agreed tick, and notes its number whenever the other task ran last. */
static void computing(uint32_t self)
{
    bool ran = false;

    wait_for_go(self - 1u);
    while ((int32_t)(slice_end_tick - port_tick_now()) > 0) {
        if (ran_last != self) {
            ran_last = self;
            ran = true;
            note(self);
        }
    }
    if (!ran) { /* without slices the other has used up the time */
        note(self);
    }
}

/* Computes as task A. */
static void compute_a(void)
{
    computing(1);
}

/* Computes as task B. */
static void compute_b(void)
{
    computing(2);
}
#endif

#if KERNEL_SERVICES_SLEEP_UNTIL
/* sleep_until_held: the most urgent computes past the tick until which the least urgent sleeps. */
#define HELD_UNTIL_TICKS 5u

/* Computes past the tick until which a less urgent task sleeps. */
static void hold_up(void)
{
    uint32_t start = port_tick_now();

    port_sleep_ticks(1);
    while (port_tick_now() - start < HELD_UNTIL_TICKS) {
    }
}

/* Sleeps until a tick at which a more urgent task computes, and notes when it goes on. */
static void sleep_until_held(void)
{
    uint32_t start = port_tick_now(), tick = start;

    for (unsigned round = 0; round < 2; round++) {
        port_sleep_until(&tick, 3);
        note(port_tick_now() - start);
    }
}
#endif

const struct scene order_scenes[] = {
    {"priority_order", {note_low, note_mid, note_high, note_mid, note_mid}, NULL},
#if KERNEL_SERVICES_SEMAPHORE && KERNEL_SERVICES_EQUAL_PRIORITIES
    {"ready_order", {NULL, ready_a, let_go, ready_b, ready_c}, NULL},
    {"time_slice", {stay_away, compute_a, let_two_go, compute_b, stay_away}, stay_away},
#if KERNEL_SERVICES_YIELD
    {"yield_order", {NULL, yield_a, let_go, yield_b, yield_c}, NULL},
#endif
#endif
#if KERNEL_SERVICES_SLEEP_UNTIL
    {"sleep_until_held", {[LOW] = sleep_until_held, [HIGH] = hold_up}, NULL},
#endif
};
const size_t order_scene_count = sizeof order_scenes / sizeof order_scenes[0];
