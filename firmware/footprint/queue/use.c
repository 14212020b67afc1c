/* A queue of four words. */
#include "bench_footprint.h"

static port_queue_t queue;

/* Creates the kernel objects that footprint_use needs. Returns false if that fails. */
bool footprint_prepare(void)
{
    return port_queue_create(&queue, 4, sizeof(uint32_t));
}

/* Calls the kernel's service whose size is measured. */
void footprint_use(void)
{
    uint32_t item = 0;

    (void)port_queue_send(&queue, &item);
    (void)port_queue_receive(&queue, &item);
}
