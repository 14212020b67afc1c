/* Tasks that may run on any core: the kernel runs them where there is room. */
#include "bench_scene.h"

#if BENCH_ANY_CORE
#define LOOK_TICKS 2u
#define HELD_TICKS 6u

/* The rover computes as long as it is wanted; how far it came on each core. */
static volatile bool wanted;
static volatile uint32_t came[BENCH_CORES];

/* Counts on whichever core the kernel runs this task, as long as it is wanted. */
static void rover_entry(void *argument)
{
    (void)argument;
    for (;;) {
        while (wanted) {
            unsigned core = port_core();

            came[core] = came[core] + 1u;
        }
        port_sleep_ticks(LOOK_TICKS);
    }
}

port_task_t rover;

/* Creates the task that may run on any core. */
void make_rover(void)
{
    if (!port_task_create(&rover, &(struct port_task_request){.name = "rover",
                                                              .entry = rover_entry,
                                                              .stack_bytes = BENCH_STACK_BYTES,
                                                              .priority = PRIORITY_BELOW,
                                                              .core = PORT_ANY_CORE})) {
        last_words_error(ERROR_TASK_CREATE, "rover");
    }
}

/* Returns how far the rover has counted on other cores than this one. */
static uint32_t came_elsewhere(void)
{
    uint32_t sum = 0;

    for (unsigned core = 0; core < BENCH_CORES; core++) {
        sum += core == port_core() ? 0 : came[core];
    }
    return sum;
}

/* Keeps this core busy for some ticks, and notes whether the rover ran on it meanwhile (0) and elsewhere (1). Scene
 * any_core plays on each core in turn, so each core is once the busy one. The rover may be moved while it counts, so
 * the counts are compared from one tick later on. */
static void hold_the_core(void)
{
    uint32_t start, here, elsewhere;

    wanted = true;
    port_sleep_ticks(2u * LOOK_TICKS);
    start = port_tick_now();
    while (port_tick_now() - start < 1u) {
    }
    here = came[port_core()];
    elsewhere = came_elsewhere();
    while (port_tick_now() - start < HELD_TICKS) {
    }
    note(came[port_core()] != here);
    note(came_elsewhere() != elsewhere);
    wanted = false;
}

const struct scene any_core_scene = {"any_core", {[HIGH] = hold_the_core}, NULL};
#endif
