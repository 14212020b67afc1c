/* Sleeping for some ticks: the idle task runs meanwhile. */
#include "bench_footprint.h"

bool footprint_prepare(void)
{
    return true;
}

void footprint_use(void)
{
    port_sleep_ticks(2);
}
