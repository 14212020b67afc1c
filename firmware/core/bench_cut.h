/* Pieces of an array, one behind the other; nothing is given back. */
#pragma once

#include <stddef.h>

/* Returns the next piece of an array, aligned to 8, or NULL if it is used up. `used` counts the bytes that are taken. */
static inline void *cut_from(unsigned char *array, size_t array_bytes, size_t *used, size_t bytes)
{
    size_t rounded = (bytes + 7u) & ~(size_t)7u;
    void *piece = array + *used;

    if (rounded > array_bytes - *used) {
        return NULL;
    }
    *used += rounded;
    return piece;
}
