/* A semaphore waited for with a time-out, over one waited for for ever. */
#include "bench_footprint.h"

static port_semaphore_t semaphore;

/* Creates the kernel objects that footprint_use needs. Returns false if that fails. */
bool footprint_prepare(void)
{
    return port_semaphore_create(&semaphore, 1, 1);
}

/* Calls the kernel's service whose size is measured. */
void footprint_use(void)
{
    (void)port_semaphore_take(&semaphore);
    (void)port_semaphore_take_for(&semaphore, 2);
    (void)port_semaphore_give(&semaphore);
}
