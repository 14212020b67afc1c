/* What the rows of one architecture give to the runner, and what they are written with. */
#pragma once

#include "bench/board.h"
#include "bench_core.h"

#define VALUES_MOST 80u

/* Pieces of the assembler between two readings. */
#define UNIFIED ".syntax unified\n\t" /* without it GCC means the older spelling where the core knows Thumb-1 alone */
#define ALIGN_LINE ".balign 16\n\t"
#define TIMES(n, what) ".rept " #n "\n\t" what "\n\t.endr\n\t"
#define SAVED "r0", "r1", "r2", "r3", "cc", "memory"

struct row {
    const char *name;
    uint32_t values;
    void (*measure)(uint32_t *values); /* interrupts are masked, and masked again when it returns */
};

extern const struct row rows[];
extern const size_t row_count;

/* Rows whose text is the same for every architecture: exceptions.c. */
void row_entry(uint32_t *values);
void row_exit(uint32_t *values);
void row_tail_chain(uint32_t *values);
void row_late_handler(uint32_t *values);
void row_late_return(uint32_t *values);
