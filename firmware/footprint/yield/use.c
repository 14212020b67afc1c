/* Giving the processor away, here to nobody. */
#include "bench_footprint.h"

bool footprint_prepare(void)
{
    return true;
}

void footprint_use(void)
{
    port_yield();
}
