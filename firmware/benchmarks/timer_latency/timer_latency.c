/* Timer latency: from the tick on which a one-shot timer expires to the first instruction of the function that it calls.
 *
 * Starts the clock   the tick becomes due: SysTick has counted down to 0, and counts on from there.
 * Ends the clock     the timer's function reads SysTick.
 * Inside by design   the tick's interrupt, its handler, the kernel's search among the armed timers, the switch to the task that
 *                    calls the function where the kernel has one, masked interrupts that the tick has to wait for.
 * Excluded           what the function does after it has read SysTick; starting the timer.
 * As many further timers as the parameter `armed` says are armed all the time and never expire.
 *
 * Steps: 1 task 0 starts the timer; 2 it computes, calling nothing, or, shortly before a tick, gives and takes a semaphore
 * of its own, by turns; 3 on the second tick the kernel calls the function. Before the start task 0 computes for as long as was drawn (a generator with
 * the parameter `seed`), so that the tick comes at any phase of its loop. */
#include "bench/draw.h"
#include "bench/latency.h"
#include "bench/timer.h"

#define WAIT_TICKS 2u
#define ARMED_MOST 8u
/* Hours, of which no two are alike. */
#define ARMED_TICKS 10000000u
#define DELAY_MASK 511u
/* Before a tick: calls, as many as matter to it. A fast core would make thousands in a tick. */
#define CALLING_CYCLES 8192u

_Static_assert(BENCH_PARAM_SEED != 0, "parameter seed: not 0, from which the generator does not get away");
_Static_assert(BENCH_PARAM_ARMED >= 0 && BENCH_PARAM_ARMED <= ARMED_MOST, "parameter armed: from 0 to 8");

static port_timer_t timer, armed[ARMED_MOST];
static port_semaphore_t semaphore;
static volatile bool calling, fired;
static volatile uint32_t strays, calls;
static uint32_t starts;
static uint32_t state = BENCH_PARAM_SEED;

/* The computing's result; nobody needs it, but the compiler must think so. */
static volatile uint32_t computed;

/* Stores the cycles since the timer's tick became due. The kernel calls it when the one-shot timer expires. */
static PORT_TIMER_CALLBACK(expired)
{
    uint32_t elapsed_cycles = tick_elapsed_cycles(); /* 3 */

    if (calling) {
        bench_stamp(SERIES_TIMER_LATENCY_CALLING, elapsed_cycles);
    } else {
        bench_stamp(SERIES_TIMER_LATENCY_COMPUTING, elapsed_cycles);
    }
    strays = strays + (fired ? 1u : 0u); /* a second call for one start */
    calls = calls + 1u;
    fired = true;
}

/* Counts an expiry of one of the further timers, which must not expire. The kernel would call it. */
static PORT_TIMER_CALLBACK(never)
{
    strays = strays + 1u;
}

/* Prepares a task of the benchmark, once, on the task's own core. Returns false if that fails. */
static bool prepare(struct bench_task *self)
{
    bool made = port_semaphore_create(&semaphore, 1, 0) && port_timer_create(&timer, expired, WAIT_TICKS, false);

    (void)self;
    for (uint32_t left = BENCH_PARAM_ARMED; made && left > 0; left--) {
        port_timer_t *further = &armed[left - 1u];

        made = port_timer_create(further, never, ARMED_TICKS + 7u * left, false) && port_timer_start(further);
    }
    return made;
}

/* Gives and takes the semaphore once, and counts a failure. */
static void call(struct bench_task *self)
{
    bool done = port_semaphore_give(&semaphore) && port_semaphore_take(&semaphore);

    self->failures += done ? 0 : 1;
}

/* Computes on a number for a while, without any kernel call. */
static void compute(uint32_t passes)
{
    uint32_t value = computed;

    for (; passes > 0; passes--) {
        value = value * 1664525u + 1013904223u;
    }
    computed = value;
}

/* Does the work of each task. Called for the warm-up, and again for the measured window. */
static void body(struct bench_task *self)
{
    while (bench_running()) {
        compute(bench_draw(&state) & DELAY_MASK);
        fired = false;
        starts++;
        self->failures += port_timer_start(&timer) ? 0 : 1; /* 1 */
        while (!fired) {
            if (calling && tick_remaining_cycles() < CALLING_CYCLES) {
                call(self); /* 2 */
            } else {
                compute(16);
            }
        }
        calling = !calling;
        bench_count(self);
    }
}

/* Sends the benchmark's check records, after the bodies of all its tasks have returned. */
static void report(unsigned core)
{
    bench_check("strays", core, strays);
    bench_check("starts", core, starts);
    bench_check("calls", core, calls);
}

const struct bench_program bench_program = {
    .priority = {1},
    .prepare = prepare,
    .body = body,
    .report = report,
};
