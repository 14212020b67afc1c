/* A notification; the task gives it to itself, which it may. */
#include "bench_footprint.h"

bool footprint_prepare(void)
{
    return true;
}

void footprint_use(void)
{
    port_notify_give(footprint_task);
    port_notify_take(footprint_task);
}
