/* Contention: a target task on core 0 takes and gives a binary semaphore without pause; on every other core a stress
 * task draws a number in each iteration and, for `stress_percent` of a hundred numbers, takes and gives the same one.
 *
 * Starts the clock   the window opens while the tasks wait at the gate.
 * Ends the clock     the window closes, wherever the tasks are.
 * Inside by design   the target's take and give, a test of each result; the holder's mark: one look before the take
 *                    (was it taken just now?), set, checked and cleared while holding; the run flag, the count, the
 *                    tick; and the waiting, for the semaphore or inside the kernel.
 * Excluded           making the semaphore. The stress tasks count their iterations too, but those are not the result.
 *
 * The draw decides about an iteration, not about a share of time: an iteration without access is much shorter than one
 * with it, so that at 10 % the stress task already spends far more than a tenth of its time at the semaphore.
 *
 * Steps of an access: 1 look whether somebody holds the semaphore, 2 take it, 3 mark it and see that nobody else's mark
 * stands there, 4 see that ours still does, clear it, 5 give the semaphore back. */
#include "bench/bench.h"

_Static_assert(BENCH_CORES >= 2, "a target and a stress task on different cores: CORES=2");
_Static_assert(BENCH_PARAM_STRESS_PERCENT <= 100, "parameter stress_percent: 0 to 100");

#define TARGET_CORE 0u
#define NOBODY 0u

static port_semaphore_t semaphore;
static volatile uint32_t holder; /* core + 1 while the semaphore is held */

/* A variable, so that every level runs the same code at the same addresses; the compiler would drop the draw at 0 %. */
static volatile uint32_t stress_percent = BENCH_PARAM_STRESS_PERCENT;

/* Each core writes its own; what stood there as the window opened is taken off in the report. */
struct tally {
    uint32_t found_taken; /* looks before a take that saw a holder */
    uint32_t accesses;
};
static struct tally tallies[BENCH_CORES], before_window[BENCH_CORES];
static uint32_t intruders[BENCH_CORES]; /* marks of somebody else while holding: the semaphore does not exclude */

/* Prepares a task of the benchmark, once, on the task's own core. Returns false if that fails. */
static bool prepare(struct bench_task *self)
{
    return self->core != TARGET_CORE || port_semaphore_create(&semaphore, 1, 1);
}

/* Takes and gives the contended semaphore, and checks that no other core had it meanwhile. */
static inline void access_semaphore(struct bench_task *self)
{
    uint32_t mark = self->core + 1u;

    if (holder != NOBODY) { /* 1 */
        tallies[self->core].found_taken++;
    }
    if (!port_semaphore_take(&semaphore)) { /* 2 */
        self->failures++;
    }
    if (holder != NOBODY) { /* 3 */
        intruders[self->core]++;
    }
    holder = mark;
    if (holder != mark) { /* 4 */
        intruders[self->core]++;
    }
    holder = NOBODY;
    if (!port_semaphore_give(&semaphore)) { /* 5 */
        self->failures++;
    }
}

/* Does the work of the measured task on core 0. */
static void target(struct bench_task *self)
{
    while (bench_running()) {
        access_semaphore(self);
        bench_count(self);
    }
}

/* Returns a number from 0 to 99: the upper half of a xorshift generator's state, scaled without a division. */
static inline uint32_t draw(uint32_t *state)
{
    uint32_t x = *state;

    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    *state = x;
    return (x >> 16) * 100u >> 16;
}

/* Does the work of the stress task on every other core. */
static void stress(struct bench_task *self)
{
    uint32_t state = (BENCH_PARAM_SEED + self->core) * 0x9E3779B9u;
    uint32_t percent = stress_percent;

    while (bench_running()) {
        if (draw(&state) < percent) {
            access_semaphore(self);
            tallies[self->core].accesses++;
        }
        bench_count(self);
    }
}

/* Does the work of each task. Called for the warm-up, and again for the measured window. */
static void body(struct bench_task *self)
{
    if (self->core == TARGET_CORE) {
        target(self);
    } else {
        stress(self);
    }
}

/* Stores the tallies of a core before its tasks' bodies run. */
static void release(unsigned core)
{
    before_window[core] = tallies[core];
}

/* Sends the benchmark's check records, after the bodies of all its tasks have returned. */
static void report(unsigned core)
{
    bench_check("found_taken", core, tallies[core].found_taken - before_window[core].found_taken);
    bench_check("accesses", core, tallies[core].accesses - before_window[core].accesses);
    bench_check("intruders", core, intruders[core]);
}

const struct bench_program bench_program = {
    .priority = {1},
    .prepare = prepare,
    .body = body,
    .release = release,
    .report = report,
};
