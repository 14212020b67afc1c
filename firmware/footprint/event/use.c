/* An event: its bits are set, then waited for, so that nobody waits long. */
#include "bench_footprint.h"

static port_event_t event;

/* Creates the kernel objects that footprint_use needs. Returns false if that fails. */
bool footprint_prepare(void)
{
    return port_event_create(&event);
}

/* Calls the kernel's service whose size is measured. */
void footprint_use(void)
{
    port_event_set(&event, 1);
    (void)port_event_wait_any(&event, 1);
}
