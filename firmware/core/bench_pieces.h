/* Memory for a kernel that allocates none of its own: tasks, stacks and queues are cut from one array, the board's
 * allowance for what a kernel takes from its heap. Included by a port's port.c and by nobody else; `memory` and
 * `memory_used` are what kernel.toml names for `rtoslab footprint`. */
#pragma once

#include <stddef.h>

#include "bench_board_facts.h"

static _Alignas(8) unsigned char memory[BOARD_LIMITS_HEAP_BYTES];
static size_t memory_used;

/* Aligned to 8; NULL when there is no more. */
static void *cut(size_t bytes)
{
    size_t rounded = (bytes + 7u) & ~(size_t)7u;
    void *piece = memory + memory_used;

    if (rounded > sizeof memory - memory_used) {
        return NULL;
    }
    memory_used += rounded;
    return piece;
}
