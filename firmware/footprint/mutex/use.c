/* A mutex with priority inheritance. */
#include "bench_footprint.h"

static port_mutex_t mutex;

/* Creates the kernel objects that footprint_use needs. Returns false if that fails. */
bool footprint_prepare(void)
{
    return port_mutex_create(&mutex);
}

/* Calls the kernel's service whose size is measured. */
void footprint_use(void)
{
    (void)port_mutex_lock(&mutex);
    (void)port_mutex_unlock(&mutex);
}
