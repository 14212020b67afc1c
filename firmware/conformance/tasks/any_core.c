/* Tasks that may run on any core: the kernel runs them where there is room. */
#include "bench_scene.h"

#if BENCH_ANY_CORE
#define LOOK_TICKS 2u
#define HELD_TICKS 6u

/* Whether the unpinned task counts, and how far it has counted on each core. */
static volatile bool is_counting;
static volatile uint32_t counts[BENCH_CORES];

/* Counts on whichever core the kernel runs this task, as long as it is wanted. */
static void run_unpinned_task(void *argument)
{
    (void)argument;
    for (;;) {
        while (is_counting) {
            unsigned core = port_core();

            counts[core] = counts[core] + 1u;
        }
        port_sleep_ticks(LOOK_TICKS);
    }
}

port_task_t unpinned_task;

/* Creates the task that may run on any core. */
void make_unpinned_task(void)
{
    if (!port_task_create(&unpinned_task, &(struct port_task_request){.name = "unpinned",
                                                                      .entry = run_unpinned_task,
                                                                      .stack_bytes = BENCH_STACK_BYTES,
                                                                      .priority = PRIORITY_BELOW,
                                                                      .core = PORT_ANY_CORE})) {
        last_words_error(ERROR_TASK_CREATE, "unpinned");
    }
}

/* Returns how far the unpinned task has counted on other cores than this one. */
static uint32_t count_on_other_cores(void)
{
    uint32_t sum = 0;

    for (unsigned core = 0; core < BENCH_CORES; core++) {
        sum += core == port_core() ? 0 : counts[core];
    }
    return sum;
}

/* Keeps this core busy for some ticks, and notes whether the unpinned task ran on it meanwhile (0) and elsewhere (1).
 * Scene any_core plays on each core in turn, so each core is once the busy one. The unpinned task may be moved while it
 * counts, so the counts are compared from one tick later on. */
static void hold_the_core(void)
{
    uint32_t start, here, elsewhere;

    is_counting = true;
    port_sleep_ticks(2u * LOOK_TICKS);
    start = port_tick_now();
    while (port_tick_now() - start < 1u) {
    }
    here = counts[port_core()];
    elsewhere = count_on_other_cores();
    while (port_tick_now() - start < HELD_TICKS) {
    }
    note(counts[port_core()] != here);
    note(count_on_other_cores() != elsewhere);
    is_counting = false;
}

const struct scene any_core_scene = {"any_core", {[HIGH] = hold_the_core}, NULL};
#endif
