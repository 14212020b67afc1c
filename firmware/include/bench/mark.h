/* A mark is no instruction, but an address and a tag in a section that is not loaded: the virtual board probes the address.
 * Memory accesses and calls do not move across it. Where code is inlined or unrolled a mark stands in several places. */
#pragma once

/* Leaves a mark with this tag at the place where the macro stands. */
#define BENCH_MARK_(tag)                           \
    __asm volatile("1:\n\t"                        \
                   ".pushsection .bench_marks\n\t" \
                   ".word 1b, %c0\n\t"             \
                   ".popsection" ::"i"(tag)        \
                   : "memory")
