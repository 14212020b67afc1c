/* A task's priority, asked for and set. */
#include "bench_footprint.h"

bool footprint_prepare(void)
{
    return true;
}

void footprint_use(void)
{
    port_priority_set(footprint_task, port_priority_get(footprint_task));
}
