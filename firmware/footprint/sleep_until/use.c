/* Sleeping until a tick, over sleeping for some ticks. */
#include "bench_footprint.h"

/* Returns true: footprint_use needs no kernel object. */
bool footprint_prepare(void)
{
    return true;
}

/* Calls the kernel's service whose size is measured. */
void footprint_use(void)
{
    uint32_t tick = port_tick_now();

    port_sleep_ticks(2);
    port_sleep_until(&tick, 4);
}
