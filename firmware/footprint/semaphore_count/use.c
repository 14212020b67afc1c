/* A semaphore that is asked for its count. */
#include "bench_footprint.h"

static port_semaphore_t semaphore;
static volatile uint32_t count; /* the compiler must not see that nobody reads it */

/* Creates the kernel objects that footprint_use needs. Returns false if that fails. */
bool footprint_prepare(void)
{
    return port_semaphore_create(&semaphore, 1, 1);
}

/* Calls the kernel's service whose size is measured. */
void footprint_use(void)
{
    (void)port_semaphore_take(&semaphore);
    (void)port_semaphore_give(&semaphore);
    count = port_semaphore_count(&semaphore);
}
