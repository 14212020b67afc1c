/* Contention between two kernels: a target task on core 0 takes and gives the hardware spinlock between the images without
 * pause; a stress task of the other kernel on core 1 draws a number in each iteration and, for `stress_percent` of a hundred
 * numbers, takes and gives it, too.
 *
 * Starts the clock   the window opens while the tasks wait at the gate.
 * Ends the clock     the window closes, wherever the tasks are.
 * Inside by design   one take and one give, the holder's mark: checked, set, checked and cleared while holding; the run
 *                    flag, the count, the tick; and the waiting for the lock.
 * Excluded           the stress task counts its iterations, which are the figure of its own image.
 *
 * The same as `contention` is between two cores of one kernel, with what two kernels have in the place of a semaphore.
 *
 * Steps of an access: 1 take the lock, at once or by polling, 2 see that nobody's mark stands there, mark it, 3 see that our
 * mark still does, clear it, 4 give the lock. */
#if !__has_include("bench/pair.h")
#error "pair_contention is for two kernels: build it with firmware/amp/amp.cmake."
#endif
#include "bench/bench.h"
#include "bench/draw.h"
#include "bench/pair.h"

_Static_assert(BENCH_PARAM_STRESS_PERCENT <= 100, "parameter stress_percent: 0 to 100");
_Static_assert(BENCH_PARAM_SEED != 0, "parameter seed: not 0, from which the generator does not get away");

#define NOBODY 0u

/* What stood there as the body began is taken off in the report. */
struct tally {
    uint32_t accesses;
    uint32_t found_taken; /* takes that did not get the lock at once */
};
static struct tally tally, before_window;
static uint32_t intruders; /* marks of somebody else while holding: the lock does not exclude */

/* A variable, so that every level runs the same code at the same addresses. */
static volatile uint32_t stress_percent = BENCH_PARAM_STRESS_PERCENT;

/* Prepares a task of the benchmark, once, on the task's own core. Returns false if that fails. */
static bool prepare(struct bench_task *self)
{
    (void)self;
    return true;
}

/* Waits for the spinlock between the images and takes it. It is a function of its own, so that everything else in a
 * round is executed a known number of times. */
static __attribute__((noinline)) void wait_for_lock(void)
{
    pair_lock();
}

/* Takes and gives the spinlock between the images, and checks that the other core did not have it at the same time. */
static inline void access_lock(void)
{
    const uint32_t mark = PAIR_CORE + 1u;

    if (!pair_try_lock()) { /* 1 */
        tally.found_taken++;
        wait_for_lock();
    }
    if (PAIR_HOLDER != NOBODY) { /* 2 */
        intruders++;
    }
    PAIR_HOLDER = mark;
    if (PAIR_HOLDER != mark) { /* 3 */
        intruders++;
    }
    PAIR_HOLDER = NOBODY;
    pair_unlock(); /* 4 */
    tally.accesses++;
}

/* Does the work of the measured task on core 0. */
static void target(struct bench_task *self)
{
    while (bench_running()) {
        access_lock();
        bench_count(self);
    }
}

/* Returns a number from 0 to 99: the upper half of the generator's state, scaled without a division. */
static inline uint32_t draw(uint32_t *state)
{
    return (bench_draw(state) >> 16) * 100u >> 16;
}

/* Does the work of the stress task on core 1. */
static void stress(struct bench_task *self)
{
    uint32_t state = BENCH_PARAM_SEED;
    uint32_t percent = stress_percent;

    while (bench_running()) {
        if (draw(&state) < percent) {
            access_lock();
        }
        bench_count(self);
    }
}

/* Does the work of each task. Called for the warm-up, and again for the measured window. */
static void body(struct bench_task *self)
{
    before_window = tally;
    if (PAIR_CORE == 0) {
        target(self);
    } else {
        stress(self);
    }
}

/* Sends the benchmark's check records, after the bodies of all its tasks have returned. */
static void report(unsigned core)
{
    uint32_t accesses = tally.accesses - before_window.accesses;
    uint32_t found_taken = tally.found_taken - before_window.found_taken;

    bench_check("accesses", core, accesses);
    bench_check("found_taken", core, found_taken);
    bench_check("at_once", core, accesses - found_taken);
    bench_check("passed_by", core, bench_window_count(core, 0) - accesses);
    bench_check("intruders", core, intruders);
}

const struct bench_program bench_program = {
    .priority = {1},
    .prepare = prepare,
    .body = body,
    .report = report,
};
