/* RP2040: the FIFOs between the cores (RP2040 datasheet, 2.3.1.4). */
#pragma once

#include "bench_cortexm.h"
#include "bench_rp2040.h"

#define SIO_FIFO_WR 0xD0000054u
#define SIO_FIFO_RD 0xD0000058u
#define SIO_FIFO_VALID 1u

/* Returns whether the FIFO between the cores has a word for this core. */
static inline bool fifo_has_word(void)
{
    return (CPU_REGISTER(SIO_FIFO_ST) & SIO_FIFO_VALID) != 0;
}

/* Drops all words that the FIFO has for this core. */
static inline void fifo_drain(void)
{
    while (fifo_has_word()) {
        (void)CPU_REGISTER(SIO_FIFO_RD);
    }
}
