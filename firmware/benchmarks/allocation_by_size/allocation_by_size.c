/* Allocation by size, from one place: blocks of one size from the kernel's heap, and back.
 *
 * Starts the clock   before the allocation; before the release.
 * Ends the clock     the pointer is there; the release has returned.
 * Inside by design   the heap's own work, whatever lock guards it; the kernel's tick, where it comes.
 * Excluded           marking and checking the block; with the parameter `drift` a wait that is longer each time (bench/drift.h).
 *                    The heap is as it was before each allocation: not fragmented.
 *
 * In memory_allocation each size has a call of its own, and where each lies in flash moves its figure. Here the size is a
 * parameter and a variable: images of different sizes have the same code at the same addresses.
 *
 * Steps: 1 allocate, 2 mark and check both ends, 3 release, and again. */
#include "bench/drift.h"
#include "bench/latency.h"

_Static_assert(BENCH_PARAM_BYTES % 4 == 0 && BENCH_PARAM_BYTES >= 8, "parameter bytes: a multiple of 4, at least 8");

/* The compiler must not know it. */
static volatile uint32_t block_bytes = BENCH_PARAM_BYTES;

/* How long the way to the next allocation is. */
static volatile uint32_t drift;

/* Reported as check: blocks that were misaligned or did not hold what was written. */
static uint32_t bad_blocks;

/* Prepares a task of the benchmark, once, on the task's own core. Returns false if that fails. */
static bool prepare(struct bench_task *self)
{
    (void)self;
    return true;
}

/* Writes both ends of an allocated block and checks them. Counts a failure without a block. */
static void use(struct bench_task *self, volatile uint32_t *block, size_t words)
{
    if (block == NULL) {
        self->failures++;
        return;
    }
    block[words - 1u] = ~self->count;
    block[0] = self->count;
    if (!bench_block_is_aligned(block) || block[0] != self->count || block[words - 1u] != ~self->count) {
        bad_blocks++;
    }
}

/* Does the work of each task. Called for the warm-up, and again for the measured window. */
static void body(struct bench_task *self)
{
    while (bench_running()) {
        uint32_t bytes = block_bytes;
        void *block;

        bench_start(SERIES_HEAP_ALLOCATE); /* 1 */
        block = port_malloc(bytes);
        bench_stop(SERIES_HEAP_ALLOCATE);
        use(self, block, bytes / 4u);     /* 2 */
        bench_start(SERIES_HEAP_RELEASE); /* 3 */
        port_free(block);
        bench_stop(SERIES_HEAP_RELEASE);
        bench_drift(drift);
        bench_drift_on(&drift);
        bench_count(self);
    }
}

/* Sends the benchmark's check records, after the bodies of all its tasks have returned. */
static void report(unsigned core)
{
    bench_check("bad_blocks", core, bad_blocks);
}

const struct bench_program bench_program = {
    .priority = {1},
    .prepare = prepare,
    .body = body,
    .report = report,
};
