/* The one clock the port asks for. */
#pragma once

#include "bench_board_facts.h"
#include "pico.h"

enum clock_index { clk_sys };

/* Returns the frequency of a clock, as the Pico SDK's function does. */
static inline uint32_t clock_get_hz(enum clock_index clock)
{
    (void)clock;
    return BOARD_CLOCK_SYS_HZ;
}
