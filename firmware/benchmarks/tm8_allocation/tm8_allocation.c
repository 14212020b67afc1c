/* TM8, memory allocation as Thread-Metric does it: one task per core takes a block of fixed size from a pool of its own
 * and gives it back. T8 takes a block of any size from the kernel's heap, which is other work.
 *
 * Starts the clock   the window opens while the task waits at the gate.
 * Ends the clock     the window closes, wherever the task is.
 * Inside by design   one take and one give, neither of which waits; a test for failure; the run flag, the count, the
 *                    tick. The block is not written: the pool's work alone is measured.
 * Excluded           making the pool; before the first take every block is taken once, written, and given back.
 *
 * Steps: 1 take a block, 2 give it back, 3 count, and again. */
#include "bench/bench.h"

#define WORDS (BENCH_PARAM_BLOCK_BYTES / 4)
#define BLOCKS BENCH_PARAM_BLOCKS

_Static_assert(BENCH_PARAM_BLOCK_BYTES % 8 == 0 && WORDS >= 2, "parameter block_bytes: a multiple of 8");
_Static_assert(BLOCKS >= 1 && BLOCKS <= 64, "parameter blocks: 1 to 64");

static port_pool_t pools[BENCH_CORES];

/* Reported as check: blocks that could not be had, or did not hold what was written to all of them. */
static uint32_t bad_blocks[BENCH_CORES];

/* Returns the value that a word of a block is expected to keep. */
static uint32_t mark(unsigned block, unsigned word)
{
    return 0xA5000000u + block * WORDS + word;
}

/* Takes and fills all blocks of a core's pool, and counts those that lose their contents. Blocks that are too small, or
 * that overlap, do not keep them. */
static void try_all(unsigned core)
{
    uint32_t *blocks[BLOCKS];

    for (unsigned i = 0; i < BLOCKS; i++) {
        blocks[i] = port_pool_take(&pools[core]);
        bad_blocks[core] += blocks[i] == NULL ? 1 : 0;
        for (unsigned k = 0; blocks[i] != NULL && k < WORDS; k++) {
            blocks[i][k] = mark(i, k);
        }
    }
    bad_blocks[core] += port_pool_take(&pools[core]) != NULL ? 1 : 0; /* as many as asked for, and no more */
    for (unsigned i = 0; i < BLOCKS; i++) {
        for (unsigned k = 0; blocks[i] != NULL && k < WORDS; k++) {
            bad_blocks[core] += blocks[i][k] != mark(i, k) ? 1 : 0;
        }
    }
    for (unsigned i = 0; i < BLOCKS; i++) {
        if (blocks[i] != NULL) {
            port_pool_give(&pools[core], blocks[i]);
        }
    }
}

/* Prepares a task of the benchmark, once, on the task's own core. Returns false if that fails. */
static bool prepare(struct bench_task *self)
{
    if (!port_pool_create(&pools[self->core], BLOCKS, BENCH_PARAM_BLOCK_BYTES)) {
        return false;
    }
    try_all(self->core);
    return true;
}

/* Does the work of each task. Called for the warm-up, and again for the measured window. */
static void body(struct bench_task *self)
{
    port_pool_t *pool = &pools[self->core];

    while (bench_running()) {
        void *block = port_pool_take(pool); /* 1 */

        if (block == NULL) {
            self->failures++;
            continue;
        }
        port_pool_give(pool, block); /* 2 */
        bench_count(self);           /* 3 */
    }
}

/* Sends the benchmark's check records, after the bodies of all its tasks have returned. */
static void report(unsigned core)
{
    bench_check("bad_blocks", core, bad_blocks[core]);
}

const struct bench_program bench_program = {
    .priority = {1},
    .prepare = prepare,
    .body = body,
    .report = report,
};
