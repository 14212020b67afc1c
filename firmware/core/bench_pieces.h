/* Memory for a kernel that allocates none of its own: tasks, stacks and queues are cut from one array, the board's
 * allowance for what a kernel takes from its heap. A kernel that keeps tasks, objects and the idle task's stack in tables
 * of its own says in PIECES_ELSEWHERE_BYTES how large they are, before it includes this: they are part of the allowance.
 * Included by a port's port.c and by nobody else; `memory` and `memory_used` are what kernel.toml names for `rtoslab
 * footprint`. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "bench_board_facts.h"
#include "bench_cut.h"

#ifndef PIECES_ELSEWHERE_BYTES
#define PIECES_ELSEWHERE_BYTES 0u
#endif

static _Alignas(8) unsigned char memory[BOARD_LIMITS_HEAP_BYTES - PIECES_ELSEWHERE_BYTES];
static size_t memory_used;

/* Returns memory for a kernel object from the port's array, aligned to 8, or NULL if it is used up. */
static void *cut(size_t bytes)
{
    return cut_from(memory, sizeof memory, &memory_used, bytes);
}

/* Returns how many bytes of a stack, from its lowest address on, still contain the fill value. */
static inline uint32_t untouched_bytes(const unsigned char *stack, uint32_t stack_bytes, unsigned char fill)
{
    uint32_t untouched = 0;

    while (untouched < stack_bytes && stack[untouched] == fill) {
        untouched++;
    }
    return untouched;
}
