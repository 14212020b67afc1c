/* T8, dynamic memory: one task per core takes a block from the kernel's heap and gives it back.
 *
 * Starts the clock   the window opens while the task waits at the gate.
 * Ends the clock     the window closes, wherever the task is.
 * Inside by design   one allocation and one release of a block of fixed size; writing and reading back its first and
 *                    last word; a test for failure; the run flag, the count, the tick. With two cores both use the one
 *                    heap of the kernel, and whatever lock guards it.
 * Excluded           nothing of the heap's work. The heap is not fragmented: each block is free again before the next.
 *
 * Steps: 1 allocate, 2 mark both ends, 3 check both ends, 4 release, 5 count, and again. */
#include "bench/bench.h"

#define WORDS (BENCH_PARAM_BLOCK_BYTES / 4)

_Static_assert(BENCH_PARAM_BLOCK_BYTES % 4 == 0 && WORDS >= 2, "parameter block_bytes: a multiple of 4, 8 or more");

/* Reported as check: blocks that were misaligned, or did not hold what was written (somebody else had them too). */
static uint32_t bad_blocks[BENCH_CORES];

/* Prepares a task of the benchmark, once, on the task's own core. Returns false if that fails. */
static bool prepare(struct bench_task *self)
{
    (void)self;
    return true;
}

/* Does the work of each task. Called for the warm-up, and again for the measured window. */
static void body(struct bench_task *self)
{
    uint32_t mark_of_core = 0xA5000000u << self->core;

    while (bench_running()) {
        volatile uint32_t *block = port_malloc(BENCH_PARAM_BLOCK_BYTES); /* 1 */
        uint32_t mark = self->count ^ mark_of_core;

        if (block == NULL) {
            self->failures++;
            continue;
        }
        block[0] = mark; /* 2 */
        block[WORDS - 1] = ~mark;
        if (!bench_block_is_aligned(block) || block[0] != mark || block[WORDS - 1] != ~mark) { /* 3 */
            bad_blocks[self->core]++;
        }
        port_free((void *)(uintptr_t)block); /* 4 */
        bench_count(self);                   /* 5 */
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
