/* Instrument `probe`: no instruction at all. The virtual board probes the marks that bench_start and bench_stop leave in
 * every image, so here is measured what is measured when nobody measures. A real board gives no samples this way. */
#pragma once

#include <stdint.h>

/* Does nothing: the virtual board probes the mark that begins an interval. */
static inline void instrument_start(void)
{
}

/* Does nothing: the virtual board probes the mark that begins an interval. */
static inline void instrument_start_by_pin(void)
{
}

/* Does nothing: the virtual board probes the mark that ends an interval. Returns 0. */
static inline uint32_t instrument_stop(void)
{
    return 0;
}
