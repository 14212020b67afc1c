/* Timer jitter: how evenly a periodic timer calls its function, while the core computes and while it calls the kernel.
 *
 * Starts the clock   the timer's function, behind the end of the period before.
 * Ends the clock     the first statement of the function at its next call.
 * Inside by design   a whole period: its ticks, the kernel's search among the armed timers, the switches to the task that calls
 *                    the function where the kernel has one; where task 0 calls the kernel, the masked interrupts in its calls.
 * Excluded           the few cycles from the end of one period to the start of the next.
 * The figure is the spread of a series. Its middle is the nominal period, less those few cycles. Each period of the window is
 * in a series, so that the periods add up to the time that has passed.
 *
 * As many further periodic timers as the parameter `others` says are armed, with other periods: now and then they expire on the
 * same tick.
 *
 * Steps: 1 task 0 starts the timers; 2 the kernel calls the function on every `period_ticks`-th tick; 3 meanwhile task 0
 * computes, calling nothing, or, shortly before a tick, gives and takes a semaphore of its own. By turns, BLOCK periods each:
 * the function says which. */
#include "bench/latency.h"
#include "bench/timer.h"

#define BLOCK 8u
#define OTHERS_MOST 4u
/* Before a tick: calls, as many as matter to it. A fast core would make thousands in a tick. */
#define CALLING_CYCLES 8192u

_Static_assert(BENCH_PARAM_PERIOD_TICKS >= 1 && BENCH_PARAM_PERIOD_TICKS <= 100, "parameter period_ticks: from 1 to 100");
_Static_assert(BENCH_PARAM_OTHERS >= 0 && BENCH_PARAM_OTHERS <= OTHERS_MOST, "parameter others: from 0 to 4");

/* Of no common divisor, nor one with four. */
static const uint8_t other_ticks[OTHERS_MOST] = {3, 5, 7, 11};

static port_timer_t timer, others[OTHERS_MOST];
static port_semaphore_t semaphore;
static volatile bool calling;
static volatile uint32_t calls, other_calls;

/* The computing's result; nobody needs it, but the compiler must think so. */
static volatile uint32_t computed;

/* Ends the measurement of a timer's period. */
static inline void end_period(void)
{
    if (calls != 0 && calling) {
        bench_stop(SERIES_TIMER_PERIOD_CALLING);
    } else if (calls != 0) {
        bench_stop(SERIES_TIMER_PERIOD_COMPUTING);
    }
}

/* Starts the measurement of a period with kernel calls. A mark is an address, so each of the two starts is a function
 * of its own: their addresses differ, whatever follows them. */
static __attribute__((noinline)) void start_calling(void)
{
    bench_start(SERIES_TIMER_PERIOD_CALLING);
}

/* Starts the measurement of a period without kernel calls. */
static __attribute__((noinline)) void start_computing(void)
{
    bench_start(SERIES_TIMER_PERIOD_COMPUTING);
}

/* Ends one period's measurement and starts the next one. The kernel calls it when the periodic timer expires. */
static PORT_TIMER_CALLBACK(expired)
{
    end_period();
    calls = calls + 1u;
    calling = calls / BLOCK % 2u == 1u; /* 3 */
    if (calling) {
        start_calling();
    } else {
        start_computing();
    }
}

/* Counts an expiry of one of the further timers. The kernel calls it. */
static PORT_TIMER_CALLBACK(other_expired)
{
    other_calls = other_calls + 1u;
}

/* Prepares a task of the benchmark, once, on the task's own core. Returns false if that fails. */
static bool prepare(struct bench_task *self)
{
    bool made = port_semaphore_create(&semaphore, 1, 0) &&
                port_timer_create(&timer, expired, BENCH_PARAM_PERIOD_TICKS, true);

    (void)self;
    for (uint32_t left = BENCH_PARAM_OTHERS; made && left > 0; left--) {
        made = port_timer_create(&others[left - 1u], other_expired, other_ticks[left - 1u], true);
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
static void compute(void)
{
    uint32_t value = computed;

    for (unsigned i = 0; i < 16; i++) {
        value = value * 1664525u + 1013904223u;
    }
    computed = value;
}

/* Does the work of each task. Called for the warm-up, and again for the measured window. */
static void body(struct bench_task *self)
{
    calls = 0;
    calling = false;
    for (uint32_t left = BENCH_PARAM_OTHERS; left > 0; left--) {
        self->failures += port_timer_start(&others[left - 1u]) ? 0 : 1; /* 1 */
    }
    self->failures += port_timer_start(&timer) ? 0 : 1;
    while (bench_running()) {
        if (calling && tick_remaining_cycles() < CALLING_CYCLES) {
            call(self);
        } else {
            compute();
        }
        bench_count(self);
    }
    self->failures += port_timer_stop(&timer) ? 0 : 1;
    end_period(); /* that has begun and counts no more */
    for (uint32_t left = BENCH_PARAM_OTHERS; left > 0; left--) {
        self->failures += port_timer_stop(&others[left - 1u]) ? 0 : 1;
    }
}

/* Sends the benchmark's check records, after the bodies of all its tasks have returned. */
static void report(unsigned core)
{
    bench_check("calls", core, calls);
    bench_check("other_calls", core, other_calls);
}

const struct bench_program bench_program = {
    .priority = {1},
    .prepare = prepare,
    .body = body,
    .report = report,
};
