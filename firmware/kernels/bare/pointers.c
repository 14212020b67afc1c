/* Queues of pointers, and pools of blocks. */
#include "bench/board.h"
#include "bench/port.h"
#include "bench_cut.h"

/* What these objects are made from: the queues of port.c leave it to them. */
#define PIECES_BYTES (BOARD_LIMITS_HEAP_BYTES / 4 < 1280 ? BOARD_LIMITS_HEAP_BYTES / 4 : 1280)

static _Alignas(8) unsigned char pieces[PIECES_BYTES];
static size_t pieces_used;

/* Returns the next piece of this file's memory, aligned to 8, or NULL if it is used up. */
static void *cut(size_t bytes)
{
    return cut_from(pieces, sizeof pieces, &pieces_used, bytes);
}

/* Creates a queue of `length` pointers. Returns false if it fails. */
bool port_pointer_queue_create(port_pointer_queue_t *queue, uint32_t length)
{
    *queue = (struct bare_pointer_queue){.length = length, .pointers = cut(length * sizeof(void *))};
    return queue->pointers != NULL;
}

/* Returns the slot after this one; after the last slot comes the first. */
static uint32_t next_slot(const struct bare_pointer_queue *queue, uint32_t slot)
{
    return slot + 1u == queue->length ? 0u : slot + 1u;
}

/* Puts a pointer into a queue, without waiting. Returns false if the queue is full. */
bool bare_pointer_queue_send(struct bare_pointer_queue *queue, void *pointer)
{
    if (queue->written - queue->read == queue->length) {
        return false;
    }
    queue->pointers[queue->write_slot] = pointer;
    queue->write_slot = next_slot(queue, queue->write_slot);
    __asm volatile("" ::: "memory"); /* the pointer is there before the reader is told */
    queue->written = queue->written + 1u;
    return true;
}

/* Waits for a pointer in a queue, and returns it. */
void *bare_pointer_queue_receive(struct bare_pointer_queue *queue)
{
    void *pointer;

    while (queue->written == queue->read) {
    }
    pointer = queue->pointers[queue->read_slot];
    queue->read_slot = next_slot(queue, queue->read_slot);
    __asm volatile("" ::: "memory"); /* the pointer is out before the writer may use its place */
    queue->read = queue->read + 1u;
    return pointer;
}

/* Creates a pool of blocks of one size. Returns false if it fails. */
bool port_pool_create(port_pool_t *pool, uint32_t blocks, uint32_t block_bytes)
{
    pool->free = NULL;
    for (uint32_t i = 0; i < blocks; i++) {
        void *block = cut(block_bytes);

        if (block == NULL || block_bytes < sizeof(void *)) {
            return false;
        }
        bare_pool_give(pool, block);
    }
    return true;
}

/* Takes a block from a pool, without waiting. Returns NULL if none is left. */
void *bare_pool_take(struct bare_pool *pool)
{
    uint32_t masked = cpu_mask_interrupts();
    void *block = pool->free;

    if (block != NULL) {
        pool->free = *(void **)block;
    }
    cpu_restore_interrupts(masked);
    return block;
}

/* Gives a block back to its pool. */
void bare_pool_give(struct bare_pool *pool, void *block)
{
    uint32_t masked = cpu_mask_interrupts();

    *(void **)block = pool->free;
    pool->free = block;
    cpu_restore_interrupts(masked);
}
