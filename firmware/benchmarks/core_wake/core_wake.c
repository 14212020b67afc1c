/* Wake-ups of a task that waits for a semaphore: by a handler and by a task of core 0, on core 0 or on another core.
 *
 * Starts the clock   core 0's task 0 is about to pend its core's interrupt, whose handler gives; or it is about to give itself.
 * Ends the clock     the woken task is back from its take.
 * Inside by design   the interrupt and its handler with the give, or the task's give; the kernel's interrupt of the other core,
 *                    the switch to the task that waits there, its way out of the take; and all waiting for the kernel's locks.
 * Excluded           what the woken task does after that. No instrument is in the image: the virtual board sees the marks on
 *                    both cores. A real board gives the rounds of wake-ups.
 *
 * Core 0 wakes at instants that are PERIOD_CYCLES apart, which shares no large factor with a tick, so the wake-ups meet every
 * phase of it. Task 2 of the core that the parameter `own_core` chooses is woken. With `busy`, task 0 of each other core gives
 * and takes a semaphore of its own meanwhile.
 *
 * With events=0 the image wakes nobody. `rtoslab worst-case` then raises core 0's interrupt in each cycle. The handler wakes
 * task 2, or with `relay` task 1 of core 0, which wakes task 2. Task 0 of core 0 polls meanwhile, or with `busy` gives and takes.
 *
 * Steps: 1 task 0 waits for the next instant, 2 it pends the interrupt, 3 the handler gives, 4 task 2 is back from its take;
 * 5 task 0 waits for the next instant, 6 it gives, 7 task 2 is back. At the end of a phase task 0 gives once more behind the
 * flag `draining`, and the others leave. */
#include "bench/bench.h"
#include "bench/mark.h"

#define EVENTS BENCH_PARAM_EVENTS
#define RELAY BENCH_PARAM_RELAY
#define BUSY BENCH_PARAM_BUSY
#define WOKEN_CORE (BENCH_PARAM_OWN_CORE || BENCH_CORES == 1 ? 0u : 1u)

_Static_assert(EVENTS <= 1 && RELAY <= 1 && BUSY <= 1 && BENCH_PARAM_OWN_CORE <= 1, "the parameters are 0 or 1");
_Static_assert(!(EVENTS && RELAY), "parameter relay: only with events=0");

/* In the order of benchmark.toml; 0 is no series of it. */
#define SERIES_HANDLER 1
#define SERIES_TASK 2
#define MARK_START(series) BENCH_MARK_(2 * (series))
#define MARK_STOP(series) BENCH_MARK_(2 * (series) + 1)

/* The marks that benchmark.toml names under [phase], in images with events=0. */
enum phase_mark { PHASE_PERIOD = 1, PHASE_WOKEN = 2, PHASE_GIVEN = 3 };

/* Long enough for the woken task to wait again before the next wake-up. */
#ifdef __OPTIMIZE__
#define PERIOD_CYCLES 15686u
#else
#define PERIOD_CYCLES 31357u
#endif
#define COUNTER_MASK 0xFFFFu

_Static_assert(CYCLE_COUNTER_BITS >= 16 && PERIOD_CYCLES < 0x8000u, "an instant has 16 bits");

static port_semaphore_t awaited; /* by task 2 */
#if RELAY
static port_semaphore_t relayed; /* awaited by task 1 of core 0 */
#endif
#if BUSY
static port_semaphore_t own[BENCH_CORES]; /* of each core's task 0 */
#endif
static volatile bool draining; /* the next give is the last one of the phase */

/* Reported as check: with events=0 a task was woken although nobody raises the interrupt. */
static uint32_t wakes;

void BOARD_SOFT_IRQ_HANDLER(void);

/* Handles the interrupt of core 0: wakes task 2, or the task that wakes it. */
void BOARD_SOFT_IRQ_HANDLER(void)
{
    port_isr_enter();
#if RELAY
    port_semaphore_give_from_isr(&relayed);
#else
    port_semaphore_give_from_isr(&awaited); /* 3 */
#endif
    port_isr_exit();
}

/* Prepares a task of the benchmark, once, on the task's own core. Returns false if that fails. */
static bool prepare(struct bench_task *self)
{
    bool made = true;

    if (self->index != 0) {
        return true;
    }
#if BUSY
    made = port_semaphore_create(&own[self->core], 1, 0);
#endif
    if (self->core != 0) {
        return made;
    }
#if RELAY
    made = made && port_semaphore_create(&relayed, 1, 0);
#endif
    cycle_counter_start();
    board_soft_irq_enable(PORT_ISR_URGENCY);
    return made && port_semaphore_create(&awaited, 1, 0);
}

#if EVENTS
/* Waits until the cycle counter has reached `instant`. */
static void wait_until(uint32_t instant)
{
    while (((cycle_counter_read() - instant) & COUNTER_MASK) >= 0x8000u) { /* 1, 5 */
    }
}

/* Wakes task 2 by the handler and by a give, in turn. */
static void wake_by_turns(struct bench_task *self)
{
    uint32_t instant = cycle_counter_read();

    while (bench_running()) {
        instant += PERIOD_CYCLES;
        wait_until(instant);
        MARK_START(SERIES_HANDLER);
        board_soft_irq_pend(); /* 2 */
        instant += PERIOD_CYCLES;
        wait_until(instant);
        MARK_START(SERIES_TASK);
        self->failures += port_semaphore_give(&awaited) ? 0 : 1; /* 6 */
        bench_count(self);
    }
    wait_until(instant + PERIOD_CYCLES); /* for task 2 to wait again: two gives may count as one */
}

/* Does the work of the task that is woken. */
static void be_woken(struct bench_task *self)
{
    for (;;) {
        bool taken = port_semaphore_take(&awaited);

        MARK_STOP(SERIES_HANDLER); /* 4 */
        self->failures += taken ? 0 : 1;
        if (draining) {
            return;
        }
        taken = port_semaphore_take(&awaited);
        MARK_STOP(SERIES_TASK); /* 7 */
        self->failures += taken ? 0 : 1;
        bench_count(self);
    }
}
#else
/* Does the work of the task that is woken, by nobody but a sweep. */
static void be_woken(struct bench_task *self)
{
    for (;;) {
        bool taken = port_semaphore_take(&awaited);

        BENCH_MARK_(PHASE_WOKEN);
        self->failures += taken ? 0 : 1;
        if (draining) {
            return;
        }
        wakes++;
    }
}
#endif

#if RELAY
/* Does the work of the task that the handler wakes, and that wakes task 2. */
static void relay(struct bench_task *self)
{
    for (;;) {
        self->failures += port_semaphore_take(&relayed) ? 0 : 1;
        if (draining) {
            return;
        }
        BENCH_MARK_(PHASE_GIVEN);
        self->failures += port_semaphore_give(&awaited) ? 0 : 1;
    }
}
#endif

#if BUSY || !EVENTS
/* Gives and takes the core's own semaphore until the phase ends, or without `busy` only polls. */
static void call_or_poll(struct bench_task *self)
{
    while (bench_running()) {
#if !EVENTS
        BENCH_MARK_(PHASE_PERIOD);
#endif
#if BUSY
        bool done = port_semaphore_give(&own[self->core]) && port_semaphore_take(&own[self->core]);

        self->failures += done ? 0 : 1;
#endif
        bench_count(self);
    }
}
#endif

/* Does the work of core 0's task 0, which wakes the others. */
static void wake(struct bench_task *self)
{
    draining = false;
#if EVENTS
    wake_by_turns(self);
#else
    call_or_poll(self);
#endif
    draining = true;
#if RELAY
    self->failures += port_semaphore_give(&relayed) ? 0 : 1;
#endif
    self->failures += port_semaphore_give(&awaited) ? 0 : 1;
}

/* Does the work of each task. Called for the warm-up, and again for the measured window. */
static void body(struct bench_task *self)
{
    if (self->index == 0 && self->core == 0) {
        wake(self);
    } else if (self->index == 2 && self->core == WOKEN_CORE) {
        be_woken(self);
#if RELAY
    } else if (self->index == 1 && self->core == 0) {
        relay(self);
#endif
#if BUSY
    } else if (self->index == 0) {
        call_or_poll(self);
#endif
    }
}

/* Sends the benchmark's check records, after the bodies of all its tasks have returned. */
static void report(unsigned core)
{
    bench_check("wakes", core, core == 0 ? wakes : 0);
}

const struct bench_program bench_program = {
    .priority = {1, 2, 3},
    .prepare = prepare,
    .body = body,
    .report = report,
};
