/* Sleeping for some ticks: the idle task runs meanwhile. */
#include "bench_footprint.h"

/* Creates the kernel objects that footprint_use needs. Returns false if that fails. */
bool footprint_prepare(void)
{
    return true;
}

/* Calls the kernel's service whose size is measured. */
void footprint_use(void)
{
    port_sleep_ticks(2);
}
