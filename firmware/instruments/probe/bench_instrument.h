/* Instrument `probe`: no instruction at all. The virtual board probes the marks that bench_start and bench_stop leave in
 * every image, so here is measured what is measured when nobody measures. A real board gives no samples this way. */
#pragma once

#include <stdint.h>

static inline void instrument_start(void)
{
}

static inline void instrument_start_by_pin(void)
{
}

static inline uint32_t instrument_stop(void)
{
    return 0;
}
