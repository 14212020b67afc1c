/* What the images of two kernels share: a page of SRAM, and how they wait for each other.
 *
 * Core 0's image clears the page before it starts core 1. Each word but those of messages is written by one core
 * alone, so no lock is needed. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "bench_amp_config.h"
#include "bench_amp_facts.h"

#define AMP_CORES 2u
#define AMP_OTHER_CORE (1 - AMP_CORE)

struct amp_shared {
    volatile uint32_t meetings[AMP_CORES]; /* how often each core has come to a meeting */
    volatile uint32_t ended[AMP_CORES];    /* 1: the core's image has said its last word */
    volatile uint32_t words[AMP_CORES];    /* a benchmark's message to each core, and whether there is one */
    volatile uint32_t is_full[AMP_CORES];
    volatile uint32_t holder; /* a benchmark's mark of the core that holds the spinlock */
    volatile uint32_t start_us; /* the timer's reading at which both programs begin */
};

/* The RP2040's addresses at which a store sets or clears the bits of a register, from the register's own. */
#define AMP_REGISTER_SET 0x2000u
#define AMP_REGISTER_CLEAR 0x3000u

#define AMP_SHARED ((struct amp_shared *)AMP_SHARED_START)

_Static_assert(sizeof(struct amp_shared) <= AMP_SHARED_BYTES, "the shared page of map.toml is too small");

/* Waits until the other core has called this as often. Both cores go on within a few cycles of each other. If the other
 * core's image has ended, this one ends with an error record. */
void amp_meet(void);
