/* Seeded draws: the same sequence on every kernel and board. */
#pragma once

#include <stdint.h>

/* Returns the next number of Marsaglia's xorshift generator of 32 bits, and stores it as the state. The state must not
 * be 0, because it would stay 0. */
static inline uint32_t bench_draw(uint32_t *state)
{
    uint32_t x = *state;

    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    *state = x;
    return x;
}
