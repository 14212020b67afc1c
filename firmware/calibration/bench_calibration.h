/* What the rows of one architecture give to the runner. */
#pragma once

#include "bench/board.h"
#include "bench_core.h"

#define VALUES_MOST 80u

struct row {
    const char *name;
    uint32_t values;
    void (*measure)(uint32_t *values); /* interrupts are masked, and masked again when it returns */
};

extern const struct row rows[];
extern const size_t row_count;
