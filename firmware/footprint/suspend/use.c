/* Suspension. Resuming a task that runs does nothing; after the suspension nobody resumes it. */
#include "bench_footprint.h"

bool footprint_prepare(void)
{
    return true;
}

void footprint_use(void)
{
    port_resume(footprint_task);
    port_suspend_self(footprint_task);
}
