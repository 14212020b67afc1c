/* Suspension. Resuming a task that runs does nothing; after the suspension nobody resumes it. */
#include "bench_footprint.h"

/* Returns true: footprint_use needs no kernel object. */
bool footprint_prepare(void)
{
    return true;
}

/* Calls the kernel's service whose size is measured. */
void footprint_use(void)
{
    port_resume(footprint_task);
    port_suspend_self(footprint_task);
}
