/* A mutex with priority inheritance. */
#include "bench_footprint.h"

static port_mutex_t mutex;

bool footprint_prepare(void)
{
    return port_mutex_create(&mutex);
}

void footprint_use(void)
{
    (void)port_mutex_lock(&mutex);
    (void)port_mutex_unlock(&mutex);
}
