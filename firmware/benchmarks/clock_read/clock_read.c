/* The kernel's clock: what a read of the tick's number costs, and the time from one number to the next.
 *
 * Starts the clock   before the read, or behind the read that sees a new number.
 * Ends the clock     behind the read, or behind the read that sees the next number.
 * Inside by design   the read alone; from one number to the next the tick's interrupt and the reads
 *                    that wait for it, in the last tenth of a tick.
 * Excluded           testing the numbers, the loop.
 *
 * Steps: 1 the task reads until the number changes; 2 it reads until the number changes again; 3 it reads once more, long
 * before the next tick. */
#include "bench/latency.h"

/* Reported as check: numbers that did not follow the one before, or that changed before their tick. */
static uint32_t wrong_ticks;

/* Prepares a task of the benchmark, once, on the task's own core. The clock needs no preparation. */
static bool prepare(struct bench_task *self)
{
    (void)self;
    return true;
}

/* Reads the clock until its number is another one than `now`. Called right behind a change, so it first lets most of a tick
 * pass by the board's timer. Returns the new number. */
static __attribute__((noinline)) uint32_t read_until_change(uint32_t now)
{
    uint64_t start = board_timer_ticks();
    uint32_t next;

    while (board_timer_ticks() - start < BOARD_TIMER_HZ / PORT_TICK_HZ * 9u / 10u) {
    }
    do {
        next = port_tick_now();
    } while (next == now);
    return next;
}

/* Does the work of each task. Called for the warm-up, and again for the measured window. */
static void body(struct bench_task *self)
{
    while (bench_running()) {
        uint32_t first, second, read;

        first = read_until_change(port_tick_now()); /* 1 */
        bench_start(SERIES_CLOCK_TICK_STEP);         /* 2 */
        second = read_until_change(first);
        bench_stop(SERIES_CLOCK_TICK_STEP);
        bench_start(SERIES_CLOCK_TICK_READ); /* 3 */
        read = port_tick_now();
        bench_stop(SERIES_CLOCK_TICK_READ);
        wrong_ticks += second == first + 1u && read == second ? 0 : 1;
        bench_count(self);
    }
}

/* Sends the benchmark's check records, after the bodies of all its tasks have returned. */
static void report(unsigned core)
{
    bench_check("wrong_ticks", core, wrong_ticks);
}

const struct bench_program bench_program = {
    .priority = {1},
    .prepare = prepare,
    .body = body,
    .report = report,
};
