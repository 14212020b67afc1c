/* Instrument `probe`: no instruction at all. The virtual board probes the marks that bench_start and bench_stop leave in
 * every image, so here is measured what is measured when nobody measures. A real board gives no samples this way. */
#pragma once

#include <stdint.h>

/* Starts the measurement of an interval. */
static inline void instrument_start(void)
{
}

/* Starts the measurement of an interval that the rise of the output pin begins. */
static inline void instrument_start_by_pin(void)
{
}

/* Ends the measurement of an interval. Returns its length if the instrument knows it. */
static inline uint32_t instrument_stop(void)
{
    return 0;
}
