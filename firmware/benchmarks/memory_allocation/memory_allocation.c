/* Memory allocation: one block of each size from the kernel's heap, and back.
 *
 * Starts the clock   before the allocation; before the release.
 * Ends the clock     the pointer is there; the release has returned.
 * Inside by design   the heap's own work, whatever lock guards it.
 * Excluded           marking and checking the block. The heap is as it was before each allocation: not fragmented.
 *
 * Steps, for each size: 1 allocate, 2 mark and check both ends, 3 release, and again. */
#include "bench/latency.h"

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
    if (!bench_block_is_aligned(block) || block[0] != self->count || (words > 1 && block[words - 1u] != ~self->count)) {
        bad_blocks++;
    }
}

/* The two measured calls of one size, in line. */
#define ALLOCATE_AND_RELEASE(self, bytes, ALLOCATE, RELEASE)      \
    do {                                                          \
        void *block;                                              \
                                                                  \
        bench_start(ALLOCATE); /* 1 */                            \
        block = port_malloc(bytes);                               \
        bench_stop(ALLOCATE);                                     \
        use((self), block, (bytes) / 4u); /* 2 */                 \
        bench_start(RELEASE); /* 3 */                             \
        port_free(block);                                         \
        bench_stop(RELEASE);                                      \
    } while (0)

/* Does the work of each task. Called for the warm-up, and again for the measured window. */
static void body(struct bench_task *self)
{
    while (bench_running()) {
        ALLOCATE_AND_RELEASE(self, 8u, SERIES_HEAP_ALLOCATE_8_BYTES, SERIES_HEAP_RELEASE_8_BYTES);
        ALLOCATE_AND_RELEASE(self, 64u, SERIES_HEAP_ALLOCATE_64_BYTES, SERIES_HEAP_RELEASE_64_BYTES);
        ALLOCATE_AND_RELEASE(self, 512u, SERIES_HEAP_ALLOCATE_512_BYTES, SERIES_HEAP_RELEASE_512_BYTES);
        ALLOCATE_AND_RELEASE(self, 1024u, SERIES_HEAP_ALLOCATE_1024_BYTES, SERIES_HEAP_RELEASE_1024_BYTES);
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
