/* Scenes for one flow of control: heaps and pools. */
#include <string.h>

#include "bench_conformance.h"

#if KERNEL_SERVICES_HEAP || KERNEL_SERVICES_POOL
/* Fills a block of memory with a pattern, if there is one. */
static void fill_block(void *block, uint8_t pattern, size_t bytes)
{
    if (block != NULL) {
        memset(block, pattern, bytes);
    }
}

/* Returns whether a block of memory still contains its pattern. */
static bool does_block_hold_pattern(const void *block, uint8_t pattern, size_t bytes)
{
    const uint8_t *byte = block;

    for (size_t i = 0; byte != NULL && i < bytes; i++) {
        if (byte[i] != pattern) {
            return false;
        }
    }
    return byte != NULL;
}
#endif

#if KERNEL_SERVICES_HEAP
/* Plays a scene: blocks of the heap are aligned and do not overlap. Notes what all blocks are aligned to, but at
 * most what the port promises, and 1 if no block lies in another one. The sizes differ by 4, so that one block
 * reveals an alignment to 4 only. */
static void heap_blocks(void)
{
    static const uint8_t sizes[] = {4, 8, 12, 16, 20};
    void *blocks[sizeof sizes];
    uintptr_t bits = PORT_HEAP_ALIGN_BYTES;
    bool whole = true;

    for (uint8_t i = 0; i < sizeof sizes; i++) {
        blocks[i] = port_malloc(sizes[i]);
        bits |= (uintptr_t)blocks[i];
        fill_block(blocks[i], i, sizes[i]);
    }
    for (uint8_t i = 0; i < sizeof sizes; i++) {
        whole = whole && does_block_hold_pattern(blocks[i], i, sizes[i]);
    }
    note(bits & (~bits + 1u));
    note(whole);
    for (size_t i = 0; i < sizeof sizes; i++) {
        port_free(blocks[i]);
    }
}
#endif

#if KERNEL_SERVICES_HEAP_PEAK || KERNEL_SERVICES_HEAP_PIECES
#define BLOCK_BYTES 64u
#endif

#if KERNEL_SERVICES_HEAP_PEAK
/* Returns whether the heap counted this number of allocations, or does not count them. */
static bool are_allocations_counted(const struct port_heap_figures *before, const struct port_heap_figures *after, uint32_t allocations)
{
#if KERNEL_SERVICES_HEAP_ALLOCATIONS
    return after->allocations == before->allocations + allocations;
#else
    (void)before;
    (void)after;
    (void)allocations;
    return true; /* it does not say that it counts them */
#endif
}

/* Allocates blocks until the heap's peak is exceeded, so that further blocks increase it. Each block points to the one
 * before. Returns the last one. */
static void **up_to_the_peak(void)
{
    struct port_heap_figures before, now;
    void **last = NULL;

    port_heap_figures(&before);
    do {
        void **block = port_malloc(BLOCK_BYTES);

        if (block == NULL) {
            break;
        }
        *block = last;
        last = block;
        port_heap_figures(&now);
    } while (now.peak_bytes == before.peak_bytes);
    return last;
}

/* Plays a scene: the heap reports its peak correctly. Notes 1 each time it does: when the peak has grown by both
 * blocks, when they are free again, and when they are used again. */
static void heap_figures(void)
{
    struct port_heap_figures before, after, freed, again;
    void **below = up_to_the_peak();
    void *one, *two;

    port_heap_figures(&before);
    one = port_malloc(BLOCK_BYTES);
    two = port_malloc(BLOCK_BYTES);
    port_heap_figures(&after);
    note(after.peak_bytes >= before.peak_bytes + 2u * BLOCK_BYTES && after.peak_bytes <= after.size_bytes);
    port_free(one);
    port_free(two);
    port_heap_figures(&freed);
    note(freed.peak_bytes == after.peak_bytes);
    one = port_malloc(BLOCK_BYTES);
    two = port_malloc(BLOCK_BYTES);
    port_heap_figures(&again);
    note(again.peak_bytes == after.peak_bytes && are_allocations_counted(&after, &again, 2u));
    port_free(two);
    port_free(one);
    while (below != NULL) {
        void **next = *below;

        port_free(below);
        below = next;
    }
}
#endif

#if KERNEL_SERVICES_HEAP_PIECES
/* Plays a scene: the heap reports its free memory correctly. Notes 1 each time it does: the free bytes shrink by both
 * blocks, a hole between two blocks is one more piece, the largest piece stays as it was, and all bytes come back. */
static void heap_pieces(void)
{
    struct port_heap_free before, both, hole, after;
    void *one, *two;

    port_heap_free(&before);
    one = port_malloc(BLOCK_BYTES);
    two = port_malloc(BLOCK_BYTES);
    port_heap_free(&both);
    note(both.bytes + 2u * BLOCK_BYTES <= before.bytes);
    port_free(one);
    port_heap_free(&hole);
    note(hole.pieces == both.pieces + 1u && hole.bytes >= both.bytes + BLOCK_BYTES);
    note(hole.largest_bytes == both.largest_bytes && hole.largest_bytes < hole.bytes);
    port_free(two);
    port_heap_free(&after);
    note(after.bytes == before.bytes && after.pieces == before.pieces);
}
#endif

#if KERNEL_SERVICES_POOL
/* Plays a scene: a pool hands out each of its blocks once. Takes all blocks twice, and notes each time 1 for each block
 * that is there, 0 for one more, and 1 if the blocks are aligned to words and no block lies in another one. */
static void pool_blocks(void)
{
    for (unsigned round = 0; round < 2; round++) {
        void *blocks[POOL_BLOCKS + 1u];
        bool whole = true;

        for (uint8_t i = 0; i <= POOL_BLOCKS; i++) {
            blocks[i] = port_pool_take(&pool);
            note(blocks[i] != NULL);
            fill_block(blocks[i], i, POOL_BLOCK_BYTES);
        }
        for (uint8_t i = 0; i < POOL_BLOCKS; i++) {
            whole = whole && does_block_hold_pattern(blocks[i], i, POOL_BLOCK_BYTES) && ((uintptr_t)blocks[i] & 3u) == 0;
        }
        note(whole);
        for (unsigned i = 0; i <= POOL_BLOCKS; i++) {
            if (blocks[i] != NULL) {
                port_pool_give(&pool, blocks[i]);
            }
        }
    }
}
#endif

const struct solo memory_solos[] = {
#if KERNEL_SERVICES_HEAP_PEAK
    {"heap_figures", heap_figures, true}, /* first: what others take has its peak too */
#endif
#if KERNEL_SERVICES_HEAP_PIECES
    {"heap_pieces", heap_pieces, true},
#endif
#if KERNEL_SERVICES_HEAP
    {"heap_blocks", heap_blocks, true},
#endif
#if KERNEL_SERVICES_POOL
    {"pool_blocks", pool_blocks, true},
#endif
    {NULL, NULL, false}, /* a kernel may have none of these services */
};
const size_t memory_solo_count = sizeof memory_solos / sizeof memory_solos[0] - 1u;
