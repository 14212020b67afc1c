/* Heap under mixed sizes: the kernel's allocator with many sizes and lifetimes at once.
 *
 * Starts the clock   before the allocation or the release.
 * Ends the clock     behind it.
 * Inside by design   the call: the search through free blocks, splitting, joining with neighbours.
 * Excluded           choosing block and size, filling and checking the block.
 *
 * Steps, by the only task: 1 draw a place; 2 if it is empty, draw a size and allocate; 3 if not, check that the block is as
 * it was filled, and release it; and again. Draws come from a generator with the parameter `seed`, so the sequence is
 * the same on every kernel and board. After every step 4 the heap is looked at, and kept is how it lay in the most
 * pieces: how much was free, and in how many. Everything is released at the end of a phase. */
#include <string.h>

#include "bench/draw.h"
#include "bench/latency.h"

#define PLACES BENCH_PARAM_PLACES

_Static_assert(BENCH_PARAM_SEED != 0, "parameter seed: not 0, from which the generator does not get away");

/* From a byte buffer's to a packet's; as likely each. */
static const uint16_t sizes[] = {8, 12, 16, 24, 32, 40, 64, 96, 128, 192, 256};

static struct {
    uint8_t *block; /* NULL: nothing here */
    uint16_t bytes;
} places[PLACES];
static uint32_t state;

/* Reported as checks. */
static struct port_heap_free most_pieces;
static uint32_t corrupted, live_bytes;

/* Returns the generator's next number, from 0 to `below` - 1. */
static uint32_t draw(uint32_t below)
{
    return bench_draw(&state) % below;
}

/* Allocates a block of a drawn size for an empty place, measures the call, and fills the block. */
static void allocate(struct bench_task *self, unsigned place)
{
    uint16_t bytes = sizes[draw(sizeof sizes / sizeof sizes[0])];
    uint8_t *block;

    bench_start(SERIES_HEAP_MALLOC_MIXED); /* 2 */
    block = port_malloc(bytes);
    bench_stop(SERIES_HEAP_MALLOC_MIXED);
    if (block == NULL) {
        self->failures++;
        return;
    }
    memset(block, (int)place + 1, bytes);
    places[place].block = block;
    places[place].bytes = bytes;
}

/* Checks that a place's block is as it was filled, releases the block, and measures the call. */
static void release(unsigned place)
{
    uint8_t *block = places[place].block;

    for (unsigned i = 0; i < places[place].bytes; i++) {
        corrupted += block[i] == place + 1u ? 0 : 1;
    }
    places[place].block = NULL;
    bench_start(SERIES_HEAP_FREE_MIXED); /* 3 */
    port_free(block);
    bench_stop(SERIES_HEAP_FREE_MIXED);
}

/* Reads how the heap's free memory lies, and keeps the reading with the most pieces. */
static void look(void)
{
    struct port_heap_free now;

    port_heap_free(&now); /* 4 */
    if (now.pieces <= most_pieces.pieces) {
        return;
    }
    most_pieces = now;
    live_bytes = 0;
    for (unsigned place = 0; place < PLACES; place++) {
        live_bytes += places[place].block == NULL ? 0 : places[place].bytes;
    }
}

/* Does the work of each task. Called for the warm-up, and again for the measured window. */
static void body(struct bench_task *self)
{
    state = BENCH_PARAM_SEED;
    most_pieces.pieces = 0;
    while (bench_running()) {
        unsigned place = draw(PLACES); /* 1 */

        if (places[place].block == NULL) {
            allocate(self, place);
        } else {
            release(place);
        }
        look();
        bench_count(self);
    }
    for (unsigned place = 0; place < PLACES; place++) {
        if (places[place].block != NULL) {
            release(place);
        }
    }
}

/* Prepares a task of the benchmark, once, on the task's own core. Returns false if that fails. */
static bool prepare(struct bench_task *self)
{
    (void)self;
    return true;
}

/* Sends the benchmark's check records, after the bodies of all its tasks have returned. */
static void report(unsigned core)
{
    bench_check("corrupted_bytes", core, corrupted);
    bench_check("heap_live_bytes", core, live_bytes);
    bench_check("heap_free_bytes", core, most_pieces.bytes);
    bench_check("heap_largest_free_bytes", core, most_pieces.largest_bytes);
    bench_check("heap_free_pieces", core, most_pieces.pieces);
}

const struct bench_program bench_program = {
    .priority = {1},
    .prepare = prepare,
    .body = body,
    .report = report,
};
