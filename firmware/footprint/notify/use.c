/* A notification; the task gives it to itself, which it may. */
#include "bench_footprint.h"

/* Returns true: footprint_use needs no kernel object. */
bool footprint_prepare(void)
{
    return true;
}

/* Calls the kernel's service whose size is measured. */
void footprint_use(void)
{
    port_notify_give(footprint_task);
    port_notify_take(footprint_task);
}
