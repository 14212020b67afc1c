/* Sleeping for some ticks: the idle task runs meanwhile. */
#include "bench_footprint.h"

/* Returns true: footprint_use needs no kernel object. */
bool footprint_prepare(void)
{
    return true;
}

/* Calls the kernel's service whose size is measured. */
void footprint_use(void)
{
    port_sleep_ticks(2);
}
