/* A task's priority, asked for and set. */
#include "bench_footprint.h"

/* Returns true: footprint_use needs no kernel object. */
bool footprint_prepare(void)
{
    return true;
}

/* Calls the kernel's service whose size is measured. */
void footprint_use(void)
{
    port_priority_set(footprint_task, port_priority_get(footprint_task));
}
