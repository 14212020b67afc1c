/* A task's priority, asked for and set. */
#include "bench_footprint.h"

/* Creates the kernel objects that footprint_use needs. Returns false if that fails. */
bool footprint_prepare(void)
{
    return true;
}

/* Calls the kernel's service whose size is measured. */
void footprint_use(void)
{
    port_priority_set(footprint_task, port_priority_get(footprint_task));
}
