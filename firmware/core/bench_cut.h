/* Pieces of an array, one behind the other; nothing is given back. */
#pragma once

#include <stddef.h>

/* Aligned to 8, as the array is; NULL when there is no more. `used` is how many bytes of the array are gone. */
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
