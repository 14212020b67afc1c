/* Sleeping until a tick, over sleeping for some ticks. */
#include "bench_footprint.h"

/* Creates the kernel objects that footprint_use needs. Returns false if that fails. */
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
