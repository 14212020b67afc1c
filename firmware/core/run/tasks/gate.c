/* The start barrier over all tasks of all cores and the control task.
 *
 * The paper's barrier spins with yield. That works only among equal priorities: with five different ones (T3) the
 * most urgent task would spin for ever and the others never arrive. Here a waiting task sleeps between its looks, so
 * every task gets the processor, whatever the priorities. The looks are some milliseconds apart, not one tick: with a
 * quick tick and many tasks, looking could itself fill the processor and starve the least urgent.
 *
 * Going on is agreed by tick, not by flag: the control task announces a tick further away than two looks, and every
 * task sleeps until that very one. On the control task's core it runs first (most urgent) and can open the window
 * before any body runs; nothing is preempted half way through its loop, so each task's counts start whole.
 * Another core starts a little later than the tick: its tasks are woken across cores. The control task keeps core 0 until
 * a task has left the gate on each of the others, so that no core's switch out of idling falls into the window.
 *
 * Each slot is written by its owner only and read by the control task: no lock, no atomic operation. */
#include "bench_gate.h"

#include "bench/bench.h"
#include "bench_core.h"

#define GATE_SLOTS (BENCH_TASKS_PER_CORE * BENCH_CORES)

/* Longest wait for the others to arrive: set-up and the last iteration of a body take far less. */
#define GATE_LIMIT_TICKS (5u * PORT_TICK_HZ)

/* Between two looks of a waiting task. */
#define LOOK_TICKS (PORT_TICK_HZ >= 500 ? PORT_TICK_HZ / 250 : 2)

static volatile uint32_t arrivals[GATE_SLOTS];
static volatile uint32_t opened;    /* gates opened so far */
static volatile uint32_t open_tick; /* tick on which gate number `opened` lets go */
static volatile uint32_t departed[BENCH_CORES]; /* number of the gate last left by one of this core's tasks */
static uint32_t gates;

/* Sleeps until this tick, or not at all if it has passed. */
static void sleep_until(uint32_t tick)
{
    int32_t left = (int32_t)(tick - port_tick_now());

    if (left > 0) {
        port_sleep_ticks((uint32_t)left);
    }
}

/* Blocks a task at the gate until the control task opens it, and returns at the agreed tick. */
void gate_arrive(unsigned slot)
{
    uint32_t gate = arrivals[slot] + 1u;

    arrivals[slot] = gate;
    while (opened < gate) {
        port_sleep_ticks(LOOK_TICKS);
    }
    sleep_until(open_tick);
    departed[slot / BENCH_TASKS_PER_CORE] = gate;
}

/* Ends a task for good after its last body: it sleeps for ever. */
void gate_finish(unsigned slot)
{
    arrivals[slot] = arrivals[slot] + 1u;
    for (;;) {
        port_sleep_ticks(1000u * PORT_TICK_HZ);
    }
}

/* Waits in the control task until all tasks are at the gate. `what` is the error if they take too long. */
void gate_collect(const char *what)
{
    uint32_t started = port_tick_now();

    gates++;
    for (unsigned slot = 0; slot < GATE_SLOTS; slot++) {
        while (arrivals[slot] < gates) {
            if (port_tick_now() - started > GATE_LIMIT_TICKS) {
                last_words_error(ERROR_STUCK, what);
            }
            port_sleep_ticks(LOOK_TICKS);
        }
    }
}

#if BENCH_ANY_CORE
/* Returns whether some task has left the gate. Whose task leaves it on another core is the kernel's choice. */
static bool others_run(void)
{
    for (unsigned core = 0; core < BENCH_CORES; core++) {
        if (departed[core] == gates) {
            return true;
        }
    }
    return false;
}
#endif

/* Opens the gate in the control task, and returns at the agreed tick, when tasks of all other cores have left it. */
void gate_open(void)
{
    open_tick = port_tick_now() + 2u * LOOK_TICKS + 1u;
    opened = gates;
    sleep_until(open_tick);
#if BENCH_ANY_CORE
    while (!others_run()) {
        if (port_tick_now() - open_tick > GATE_LIMIT_TICKS) {
            last_words_error(ERROR_STUCK, "no task left the gate on another core");
        }
    }
#else
    for (unsigned core = 1; core < BENCH_CORES; core++) {
        while (departed[core] < gates) {
            if (port_tick_now() - open_tick > GATE_LIMIT_TICKS) {
                last_words_error(ERROR_STUCK, "no task of another core left the gate");
            }
        }
    }
#endif
}
