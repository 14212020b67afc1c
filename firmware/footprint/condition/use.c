/* A condition, over a mutex alone. There is nobody who would signal it while the task waits. */
#include "bench_footprint.h"

static port_mutex_t mutex;
static port_condition_t condition;

/* Creates the kernel objects that footprint_use needs. Returns false if that fails. */
bool footprint_prepare(void)
{
    return port_mutex_create(&mutex) && port_condition_create(&condition);
}

/* Calls the kernel's service whose size is measured. */
void footprint_use(void)
{
    (void)port_mutex_lock(&mutex);
    port_condition_signal(&condition);
    port_condition_wait(&condition, &mutex);
    (void)port_mutex_unlock(&mutex);
}
